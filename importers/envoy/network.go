package envoy

import (
	"math"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// listener is one listener, or one HTTP connection manager that stands alone.
type listener struct {
	node, manager *yamlsrc.Node
	scope         scope
}

// manager is what an HTTP connection manager says of all its routes.
type manager struct {
	// streamIdle bounds the silence of a request, maxStream all of it.
	streamIdle, maxStream model.Val[model.Duration]
	// idle is when a client's connection without requests is closed, where somebody wrote it.
	idle  model.Val[model.Duration]
	scope scope
}

func (r *reader) listener(l *listener) {
	if l.manager != nil {
		r.httpManager(l.manager, l.scope, "")
		return
	}
	m := r.message("listener", l.node)
	name := m.text("name").V
	for _, f := range list(m.get("listener_filters")) {
		r.networkFilter(f, l.scope, name)
	}
	chains := list(m.get("filter_chains"))
	if c := m.get("default_filter_chain"); c != nil {
		chains = append(chains[:len(chains):len(chains)], c)
	}
	for _, chain := range chains {
		for _, f := range list(field(chain, "filters")) {
			r.networkFilter(f, l.scope, name)
		}
	}
}

// networkFilter reads a filter that makes calls. Its type says what it is, in old files its name does.
func (r *reader) networkFilter(f *yamlsrc.Node, sc scope, listener string) {
	config := field(f, "typed_config")
	if config == nil {
		config = field(f, "config")
	}
	name := field(f, "name").Text()
	kind := name[strings.LastIndexByte(name, '.')+1:]
	if t := config.Get("@type").Text(); t != "" && !strings.HasSuffix(t, "TypedStruct") {
		kind = t[strings.LastIndexByte(t, '.')+1:]
	}
	switch kind {
	case "HttpConnectionManager", "http_connection_manager":
		r.httpManager(config, sc, listener)
	case "TcpProxy", "tcp_proxy":
		r.tcpProxy(r.message("tcp_proxy", config), sc, listener)
	case "RedisProxy", "redis_proxy":
		r.redisProxy(r.message("redis_proxy", config), sc, listener)
	default:
		if strings.HasSuffix(strings.ToLower(kind), "proxy") || strings.HasSuffix(kind, "ProxyConfig") {
			r.unread("filter "+kind, f.Span(), "describe its calls in the plan",
				"the filter `%s` calls services that are not read", name)
		}
	}
}

func (r *reader) httpManager(n *yamlsrc.Node, sc scope, listener string) {
	m := r.message("http_connection_manager", n)
	if m == nil {
		return
	}
	hcm := &manager{scope: sc, streamIdle: dialect.EnvoyStreamIdle.At(m.at())}
	if d := m.duration("stream_idle_timeout"); d.Set() {
		hcm.streamIdle = orNone(d)
	}
	options := m.sub("common_http_protocol_options")
	hcm.idle = orNone(options.duration("idle_timeout"))
	if d := options.duration("max_stream_duration"); d.Set() && trim(d.V) > 0 {
		hcm.maxStream = orNone(d)
	}
	options.harmless("max_connection_duration")
	options.done()
	for _, f := range list(m.get("http_filters")) {
		r.httpFilter(f)
	}
	// These bound how long a client may take to send, to leave, or to be flushed.
	m.harmless("request_timeout", "request_headers_timeout", "drain_timeout", "delayed_close_timeout", "stream_flush_timeout")
	r.routesOf(m, hcm, listener)
	m.done()
}

// routesOf finds the routes of a connection manager: inline, or under a name elsewhere in the source.
func (r *reader) routesOf(m *message, hcm *manager, listener string) {
	if inline := m.get("route_config"); inline != nil {
		t := table{node: inline, scope: hcm.scope}
		if at, known := r.byName[field(inline, "name").Text()]; known {
			r.tables[at].used = true
		}
		r.table(&t, hcm)
		return
	}
	if rds := m.sub("rds"); rds != nil {
		name := rds.text("route_config_name")
		if at, known := r.byName[name.V]; known && name.V != "" {
			r.tables[at].used = true
			r.table(&r.tables[at], hcm)
			return
		}
		r.unread("rds "+name.V, rds.at(), "check the file that has them, too",
			"the routes of the listener `%s`, named `%s`, are not in this file and are not read", listener, name.V)
		return
	}
	if scoped := m.get("scoped_routes"); scoped != nil {
		r.unread("scoped_routes", scoped.Span(), "check the route configurations that it picks from, too",
			"the scoped routes of the listener `%s` are not read", listener)
	}
}

// callingFilters are the HTTP filters that add calls or time of their own to every request, by their type.
var callingFilters = map[string]string{
	"ExtAuthz": "calls an authorization service before each request", "ExternalProcessor": "calls a processing service for each request",
	"RateLimit": "calls a rate limit service before each request", "OAuth2": "calls a token service before some requests",
}

func (r *reader) httpFilter(f *yamlsrc.Node) {
	config := field(f, "typed_config")
	if strings.EqualFold(field(f, "disabled").Text(), "true") || config == nil {
		return
	}
	t := config.Get("@type").Text()
	kind := t[strings.LastIndexByte(t, '.')+1:]
	switch does := callingFilters[kind]; {
	case does != "":
		r.unread("filter "+kind, f.Span(), "describe the call in the plan", "the filter `%s` %s, which is not read", field(f, "name").Text(), does)
	case kind == "HTTPFault":
		r.fault(config)
	case kind == "Router":
		if n := field(config, "respect_expected_rq_timeout"); strings.EqualFold(n.Text(), "true") {
			r.unread("respect_expected_rq_timeout", n.Span(), "say in the plan what its callers send",
				"`respect_expected_rq_timeout` lets a caller's header replace every route timeout, which is not read")
		}
	}
}

// fault reports a delay that a fault filter adds.
func (r *reader) fault(config *yamlsrc.Node) {
	if d := field(config, "delay"); d != nil {
		r.unread("fault delay", d.Span(), "add the delay to the latency of the callee in the plan",
			"the fault filter delays requests, which is not read")
	}
}

// tcpProxy reads a connection that is passed through: only connecting and silence are bounded.
func (r *reader) tcpProxy(m *message, sc scope, listener string) {
	w := model.Waiter{Dialect: "envoy", At: m.at(), RetriesKey: "max_connect_attempts"}
	w.Idle = dialect.EnvoyTCPIdle.At(m.at())
	if d := m.duration("idle_timeout"); d.Set() {
		w.Idle = orNone(d)
	}
	if d := m.duration("max_downstream_connection_duration"); d.Set() {
		w.Timeout = orNone(d)
	}
	w.Attempts = dialect.EnvoyTCPConnects.At(m.at())
	if n := m.count("max_connect_attempts"); n.Set() {
		w.Attempts = model.Val[int32]{V: int32(min(max(n.V, 1), math.MaxInt32-1)), From: n.From}
	}
	if w.Retries() {
		w.RetryOn = model.Val[model.Failures]{V: model.Failures{Kinds: model.OnConnect}, From: w.Attempts.From}
	}
	if back := m.get("backoff_options"); back != nil {
		r.unread("tcp_proxy.backoff_options", back.Span(), "describe the call in the plan", "`backoff_options` of `tcp_proxy` is not read")
	}
	var to []target
	if c := m.text("cluster"); c.Set() {
		to = r.targets(c.V, c.Span())
	}
	to = append(to, r.weighted(m.sub("weighted_clusters"))...)
	m.done()
	r.passThrough(to, w, sc, listener, "")
}

// redisProxy reads the clusters behind a Redis proxy, whose one limit holds for every operation.
func (r *reader) redisProxy(m *message, sc scope, listener string) {
	w := model.Waiter{Dialect: "envoy", At: m.at(), ConnectExtra: dialect.EnvoyConnectExtra.At(m.at())}
	settings := m.sub("settings")
	if d := settings.duration("op_timeout"); d.Set() {
		w.Timeout = orNone(d)
	}
	prefixes := m.sub("prefix_routes")
	routes := list(prefixes.get("routes"))
	if c := prefixes.get("catch_all_route"); c != nil {
		routes = append(routes[:len(routes):len(routes)], c)
	}
	var to []target
	for _, n := range routes {
		if c := field(n, "cluster"); c != nil {
			to = append(to, r.targets(c.Text(), c.Span())...)
		}
	}
	m.done()
	r.passThrough(to, w, sc, listener, "redis")
}

// passThrough adds a call for each cluster behind a proxy that does not speak HTTP.
func (r *reader) passThrough(to []target, w model.Waiter, sc scope, listener, kind string) {
	b := r.batch(sc, []string{listener})
	var of []model.Flow
	for _, t := range to {
		c := w
		if t.cluster != nil {
			c.Connect = t.cluster.connect
		}
		call := model.Call{At: t.at, Route: listener, Waiters: []model.Waiter{c}, Probability: t.share}
		if f, ok := b.add(call, t); ok {
			of = append(of, f)
			if s := &r.frag.Services[r.frag.Calls[f.Call].To]; kind != "" && !s.Kind.Set() {
				s.Kind = model.At(kind, w.At)
			}
		}
	}
	b.alternatives(of, w.At)
	b.done()
}
