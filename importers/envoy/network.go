package envoy

import (
	"math"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// listener is one listener, or one HTTP connection manager that stands alone.
type listener struct {
	node, manager *yamlsrc.Node
	scope         scope
	name          string
	// inbound tells that it takes what others send to the service beside it.
	inbound bool
}

// manager is what an HTTP connection manager says of all its routes.
type manager struct {
	// streamIdle bounds the silence of a request, maxStream all of it.
	streamIdle, maxStream model.Val[model.Duration]
	// idle is when a client's connection without requests is closed, where somebody wrote it.
	idle    model.Val[model.Duration]
	scope   scope
	inbound bool
	// filters are those that call a service before each route.
	filters []*callingFilter
}

// same reports whether two managers say the same of their routes, so that a route that both have is one.
func (m *manager) same(n *manager) bool {
	if m == nil || n == nil {
		return m == n
	}
	return m.scope.caller == n.scope.caller && m.inbound == n.inbound && slices.EqualFunc(m.filters, n.filters, (*callingFilter).same) &&
		m.streamIdle.V == n.streamIdle.V && m.maxStream.V == n.maxStream.V && m.maxStream.Set() == n.maxStream.Set()
}

func (r *reader) listener(l *listener) {
	if l.manager != nil {
		r.httpManager(l.manager, l)
		return
	}
	m := r.message("listener", l.node)
	l.name, l.inbound = m.text("name").V, strings.EqualFold(m.text("traffic_direction").V, "INBOUND")
	for _, f := range list(m.get("listener_filters")) {
		r.networkFilter(f, l)
	}
	chains := list(m.get("filter_chains"))
	if c := m.get("default_filter_chain"); c != nil {
		chains = append(chains[:len(chains):len(chains)], c)
	}
	for _, chain := range chains {
		for _, f := range list(field(chain, "filters")) {
			r.networkFilter(f, l)
		}
	}
}

// networkFilter reads a filter that makes calls. Its type says what it is, in old files its name does.
func (r *reader) networkFilter(f *yamlsrc.Node, l *listener) {
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
		r.httpManager(config, l)
	case "TcpProxy", "tcp_proxy":
		r.tcpProxy(r.message("tcp_proxy", config), l)
	case "RedisProxy", "redis_proxy":
		r.redisProxy(r.message("redis_proxy", config), l)
	case "ExtAuthz", "ext_authz", "RateLimit", "ratelimit":
		r.unread("filter "+kind, f.Span(), "describe its calls in the plan",
			"the filter `%s` calls a service before each connection, which is not read", name)
	default:
		if strings.HasSuffix(strings.ToLower(kind), "proxy") || strings.HasSuffix(kind, "ProxyConfig") {
			r.unread("filter "+kind, f.Span(), "describe its calls in the plan",
				"the filter `%s` calls services that are not read", name)
		}
	}
}

func (r *reader) httpManager(n *yamlsrc.Node, l *listener) {
	m := r.message("http_connection_manager", n)
	if m == nil {
		return
	}
	hcm := &manager{scope: l.scope, inbound: l.inbound, streamIdle: dialect.EnvoyStreamIdle.At(m.at())}
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
		r.httpFilter(f, hcm)
	}
	// These bound how long a client may take to send, to leave, or to be flushed.
	m.harmless("request_timeout", "request_headers_timeout", "drain_timeout", "delayed_close_timeout", "stream_flush_timeout")
	r.routesOf(m, hcm, l.name)
	m.done()
}

// routesOf finds the routes of a connection manager: inline, or under a name elsewhere.
func (r *reader) routesOf(m *message, hcm *manager, listener string) {
	if inline := m.get("route_config"); inline != nil {
		if at, known := r.byName[field(inline, "name").Text()]; known {
			r.tables[at].read = append(r.tables[at].read, hcm) // a dump repeats it
		}
		r.table(&table{node: inline, scope: hcm.scope}, hcm)
		return
	}
	if rds := m.sub("rds"); rds != nil {
		name := rds.text("route_config_name")
		if home, t := r.named(name.V); t != nil {
			home.table(t, hcm)
			return
		}
		r.routeless = true
		r.unread("rds "+name.V, rds.at(), "check the file that has them, too",
			"the routes of the listener `%s`, named `%s`, are in no file that is read here", listener, name.V)
		return
	}
	if scoped := m.get("scoped_routes"); scoped != nil {
		r.unread("scoped_routes", scoped.Span(), "check the route configurations that it picks from, too",
			"the scoped routes of the listener `%s` are not read", listener)
	}
}

// named finds a route configuration in the source, else in the first other one of the proxy.
func (r *reader) named(name string) (home *reader, t *table) {
	if home = r; name == "" {
		return nil, nil
	}
	at, known := r.byName[name]
	if !known {
		if home = r.proxy.tables[name]; home == nil {
			return nil, nil
		}
		at = home.byName[name]
	}
	return home, &home.tables[at]
}

// fault reports a delay that a fault filter adds.
func (r *reader) fault(config *yamlsrc.Node) {
	if d := field(config, "delay"); d != nil {
		r.unread("fault delay", d.Span(), "add the delay to the latency of the callee in the plan",
			"the fault filter delays requests, which is not read")
	}
}

// tcpProxy reads a connection that is passed through: only connecting and silence are bounded.
func (r *reader) tcpProxy(m *message, l *listener) {
	w := model.Waiter{Dialect: "envoy", At: m.at(), RetriesKey: "max_connect_attempts"}
	w.Edit().Idle = dialect.EnvoyTCPIdle.At(m.at())
	if d := m.duration("idle_timeout"); d.Set() {
		w.Edit().Idle = orNone(d)
	}
	if d := m.duration("max_downstream_connection_duration"); d.Set() {
		w.Timeout = orNone(d)
	}
	w.Attempts = dialect.EnvoyTCPConnects.At(m.at())
	if n := m.count("max_connect_attempts"); n.Set() {
		w.Attempts = model.Val[int32]{V: int32(min(max(n.V, 1), math.MaxInt32-1)), From: n.From}
	}
	if w.Retries() {
		w.Edit().RetryOn = model.Val[model.Failures]{V: model.Failures{Kinds: model.OnConnect}, From: w.Attempts.From}
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
	r.passThrough(to, w, l, "")
}

// redisProxy reads the clusters behind a Redis proxy, whose one limit holds for every operation.
func (r *reader) redisProxy(m *message, l *listener) {
	w := model.Waiter{Dialect: "envoy", At: m.at(), Rare: afterConnect(m.at())}
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
	r.passThrough(to, w, l, "redis")
}

// passThrough adds a call for each cluster behind a proxy that does not speak HTTP.
func (r *reader) passThrough(to []target, w model.Waiter, l *listener, kind string) {
	b := r.batch(l.scope, []string{l.name}, l.inbound)
	var of []model.Flow
	for _, t := range to {
		c := w
		if t.cluster != nil {
			c.Connect = t.cluster.connect
		}
		call := model.Call{At: t.at, Route: l.name, Waiters: []model.Waiter{c}, Rare: rareCall(t.share, model.Val[string]{})}
		if f, ok := b.add(call, t); ok {
			of = append(of, f)
			if s := &r.frag.Services[r.frag.Calls[f.Call].To]; kind != "" && !s.Kind.Set() {
				s.Kind = model.At(kind, w.At)
			}
		}
	}
	b.alternatives(0, of)
	b.behind(nil)
	b.done()
}
