package envoy

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// table is a route configuration, or virtual hosts or routes that stand alone.
type table struct {
	name  string
	node  *yamlsrc.Node
	hosts []*yamlsrc.Node
	bare  []*yamlsrc.Node
	scope scope
	// read are the connection managers that it was read for, nil among them where it stands for itself.
	read []*manager
}

// batch collects the calls of one table, whose caller may have to be named after the table.
type batch struct {
	r     *reader
	scope scope
	hints []string
	first int // its first call in the fragment
	// inbound tells that calls to the service beside the proxy are no calls of it.
	inbound  bool
	branches []branch
	of       []model.Flow
}

func (r *reader) batch(sc scope, hints []string, inbound bool) *batch {
	return &batch{r: r, scope: sc, hints: hints, inbound: inbound, first: len(r.frag.Calls)}
}

// add makes a call to a target, except to the proxy's own service, to a mesh's machinery, and beyond the limit.
func (b *batch) add(c model.Call, t target) (model.Flow, bool) {
	r := b.r
	switch {
	case t.name == "" || dialect.EnvoyInfrastructure(t.name):
		return model.Flow{}, false
	case dialect.EnvoyInbound(t.name), b.inbound && t.cluster != nil && t.cluster.local:
		b.ownService(c.Waiters[0])
		return model.Flow{}, false
	}
	if !r.room(perCall, t.at) {
		return model.Flow{}, false
	}
	c.To = r.frag.Service(t.name, t.at)
	r.frag.Calls = append(r.frag.Calls, c)
	return model.Flow{Kind: model.One, Call: model.CallID(len(r.frag.Calls) - 1)}, true
}

// rareCall has what a route says of a call itself, nil for nothing.
func rareCall(share model.Val[float64], method model.Val[string]) *model.CallRare {
	if !share.Set() && !method.Set() {
		return nil
	}
	return &model.CallRare{Probability: share, Method: method}
}

// alternatives ends a route: one of the flows takes each request that has gone through the filters.
func (b *batch) alternatives(filters uint64, of []model.Flow) {
	if len(of) > 0 {
		b.branch(filters, oneOf(of))
	}
}

func (b *batch) branch(filters uint64, f model.Flow) {
	i := slices.IndexFunc(b.branches, func(br branch) bool { return br.filters == filters })
	if i < 0 {
		i = len(b.branches)
		b.branches = append(b.branches, branch{filters: filters})
	}
	b.branches[i].of = append(b.branches[i].of, f)
}

// ownService notes how long a proxy waits for the service beside it. The way to it is no network's.
func (b *batch) ownService(w model.Waiter) {
	r := b.r
	w.Name = inbound
	w.Connect = model.Val[model.Duration]{}
	rare := w.Edit()
	rare.ConnectExtra, rare.Idle = model.Val[bool]{}, model.Val[model.Duration]{}
	if b.scope.caller == "" {
		if limits(&w) {
			r.unread(inbound, w.At, "say under `sources`, by `service`, whose proxy it is",
				"the proxy limits what its own service is asked, and the file does not say which service that is")
		}
		return
	}
	if r.own == nil {
		r.own = map[scope]model.Waiter{}
	}
	// A caller's port is not known: the longest way in holds for all.
	if known, ok := r.own[b.scope]; !ok || w.Timeout.Or(model.NoLimit) > known.Timeout.Or(model.NoLimit) {
		r.own[b.scope] = w
	}
}

// inbound names the waiter that a sidecar is before its own service.
const inbound = "inbound"

// limits reports whether a waiter bounds or repeats anything.
func limits(w *model.Waiter) bool {
	return w.Timeout.Set() && w.Timeout.V.Finite() || w.PerTry.Set() || w.Retries()
}

// done gives the calls to their caller: the proxy's name, else the first hint that is no callee itself.
func (b *batch) done() {
	r := b.r
	calls := r.frag.Calls[b.first:]
	if len(calls) == 0 {
		return
	}
	name, at := b.scope.caller, b.scope.at
	if name == "" {
		name, at = b.hint(), calls[0].At
	}
	caller := r.frag.Service(name, at)
	r.frag.Services[caller].Declared = true
	for i := range calls {
		calls[i].From = caller
	}
	for _, f := range b.of {
		r.add(caller, f)
	}
}

func (b *batch) hint() string {
	callees := make(map[string]bool)
	for i := range b.r.frag.Calls[b.first:] {
		callees[b.r.frag.Services[b.r.frag.Calls[b.first+i].To].Name] = true
	}
	for _, h := range b.hints {
		if h != "" && !placeholder(h) && !callees[h] {
			return h
		}
	}
	return "envoy"
}

// host is what a virtual host, and the table around it, says of its routes.
type host struct {
	hcm     *manager
	retry   *message
	hedge   *message
	mirrors []*yamlsrc.Node
	// filters and tableFilters say of the filters of the manager which are on.
	filters, tableFilters *yamlsrc.Node
	// limited tells that the host describes requests to a rate limit service.
	limited bool
	// domain tells the routes of several hosts apart, empty where there is one host.
	domain string
}

// table reads a route configuration under the connection manager that uses it, if that is known.
// What another listener says the same of is read once.
func (r *reader) table(t *table, hcm *manager) {
	if slices.ContainsFunc(t.read, func(m *manager) bool { return m.same(hcm) }) {
		return
	}
	t.read = append(t.read, hcm)
	sc := t.scope
	if hcm != nil {
		sc = hcm.scope
	}
	m := r.message("route_config", t.node)
	mirrors := list(m.get("request_mirror_policies"))
	hosts := append(list(m.get("virtual_hosts")), t.hosts...)
	hints := []string{m.text("name").V}
	for _, h := range hosts {
		hints = append(hints, field(h, "name").Text())
	}
	b := r.batch(sc, hints, hcm != nil && hcm.inbound)
	for _, n := range hosts {
		vh := r.message("virtual_host", n)
		h := host{hcm: hcm, retry: vh.sub("retry_policy"), hedge: vh.sub("hedge_policy"), mirrors: list(vh.get("request_mirror_policies"))}
		if len(h.mirrors) == 0 {
			h.mirrors = mirrors
		}
		h.limited = vh.get("rate_limits") != nil
		h.filters, h.tableFilters = vh.get("typed_per_filter_config"), m.get("typed_per_filter_config")
		if domains := list(vh.get("domains")); len(hosts) > 1 && len(domains) > 0 && domains[0].Text() != "*" {
			h.domain = domains[0].Text()
		}
		for _, route := range list(vh.get("routes")) {
			b.route(route, &h)
		}
		vh.done()
	}
	for _, route := range t.bare {
		b.route(route, &host{hcm: hcm})
	}
	if n := m.get("vhds"); n != nil {
		r.unread("vhds", n.Span(), "check the virtual hosts, too", "virtual hosts that come on demand are not read")
	}
	m.done()
	b.behind(hcm)
	b.done()
	b.listenerIdle(hcm)
}

// listenerIdle gives the caller the shortest time after which one of its listeners closes a silent connection.
func (b *batch) listenerIdle(hcm *manager) {
	if hcm == nil || !hcm.idle.Set() || len(b.of) == 0 {
		return
	}
	s := &b.r.frag.Services[b.r.frag.Calls[b.first].From]
	if !s.IdleTimeout().Set() || hcm.idle.V < s.IdleTimeout().V {
		s.Edit().IdleTimeout = hcm.idle
	}
}

// route reads one route: what it matches, and the clusters that it may call.
func (b *batch) route(n *yamlsrc.Node, h *host) {
	r := b.r
	m := r.message("route", n)
	if m == nil || r.things.Full() {
		return
	}
	action := m.sub("route")
	m.done()
	if action == nil {
		return // a redirect or a direct response calls nobody
	}
	match := r.match(m.sub("match"))
	label := m.text("name").V
	if label == "" {
		label = strings.TrimSpace(h.domain + " " + match.text)
	}
	for _, p := range m.get("typed_per_filter_config").Pairs() {
		if strings.HasSuffix(p.Value.Get("@type").Text(), ".HTTPFault") {
			r.fault(p.Value)
		}
	}
	rt := &route{r: r, host: h, action: action, match: match}
	var of []model.Flow
	for _, t := range r.destinations(action) {
		call := model.Call{At: t.at, Route: label, Waiters: []model.Waiter{rt.waiter(t.cluster)}, Rare: rareCall(t.share, match.method)}
		if f, ok := b.add(call, t); ok {
			of = append(of, f)
		}
	}
	mirrors, filters := b.mirrors(action, h, label), h.active(n)
	rt.harmless()
	action.done()
	if len(mirrors) == 0 {
		b.alternatives(filters, of)
		return
	}
	if len(of) > 0 {
		mirrors = append([]model.Flow{oneOf(of)}, mirrors...)
	}
	b.branch(filters, model.Flow{Kind: model.Parallel, Of: mirrors})
}

// destinations gives every cluster that may take a request of a route.
func (r *reader) destinations(action *message) []target {
	if c := action.text("cluster"); c.Set() {
		return r.targets(c.V, c.Span())
	}
	if header := action.text("cluster_header"); header.Set() {
		return []target{r.byHeader(header)}
	}
	if plugin := action.text("cluster_specifier_plugin"); plugin.Set() {
		r.unread("cluster_specifier_plugin", plugin.Span(), "describe the call in the plan",
			"a plugin picks the cluster of the route, which is not read")
	}
	return r.weighted(action.sub("weighted_clusters"))
}

// byHeader is a callee that the request names. It is called by the header, so that an alias can say what it is.
func (r *reader) byHeader(header model.Val[string]) target {
	name := "[" + header.V + "]"
	r.unread("cluster_header "+header.V, header.Span(), "name the service under `aliases`, as `order: [\""+name+"\"]`",
		"the request header `%s` names the cluster, so the file does not say which service is called", header.V)
	return target{name: name, at: header.Span()}
}

// weighted gives the alternatives of weighted clusters, with their shares.
func (r *reader) weighted(m *message) []target {
	var out []target
	var weights []model.Val[int64]
	sum := int64(0)
	for _, n := range list(m.get("clusters")) {
		if r.things.Full() {
			return nil
		}
		c := r.message("weighted_cluster", n)
		weight := c.count("weight")
		var to []target
		if name := c.text("name"); name.Set() {
			to = r.targets(name.V, name.Span())
		} else if header := c.text("cluster_header"); header.Set() {
			to = []target{r.byHeader(header)}
		}
		sum += weight.Or(0)
		for _, t := range to {
			out, weights = append(out, t), append(weights, weight)
		}
	}
	if total := m.count("total_weight"); total.Set() && total.V > 0 {
		sum = total.V
	}
	for i, w := range weights {
		if w.Set() && sum > 0 {
			out[i].share = model.Val[float64]{V: min(1, float64(w.V)/float64(sum)), From: w.From}
		}
	}
	return out
}

// mirrors adds the calls that copy a request. They wait for nobody, for at most the route's timeout.
func (b *batch) mirrors(action *message, h *host, label string) []model.Flow {
	r := b.r
	policies := list(action.get("request_mirror_policies"))
	if len(policies) == 0 {
		policies = h.mirrors
	}
	var of []model.Flow
	for _, n := range policies {
		if r.things.Full() {
			break
		}
		m := r.message("request_mirror_policy", n)
		var to []target
		if c := m.text("cluster"); c.Set() {
			to = r.targets(c.V, c.Span())
		} else if header := m.text("cluster_header"); header.Set() {
			to = []target{r.byHeader(header)}
		}
		rt := &route{r: r, host: h, action: action}
		for _, t := range to {
			w := model.Waiter{Dialect: "envoy", At: m.at(), Attempts: dialect.EnvoyNoRetry.At(m.at())}
			rt.timeout(&w)
			if len(w.Dead()) > 0 {
				w.Edit().Dead = nil // the route's own call has them
			}
			if t.cluster != nil {
				w.Connect = t.cluster.connect
			}
			call := model.Call{At: t.at, Route: label, Async: model.At(true, n.Span()), Waiters: []model.Waiter{w}}
			if f, ok := b.add(call, t); ok {
				of = append(of, f)
			}
		}
	}
	return of
}

// match is what a route asks of a request.
type match struct {
	text   string
	method model.Val[string]
	grpc   bool
}

var matchFields = []struct{ name, word string }{
	{"prefix", "prefix "}, {"path", "path "}, {"path_separated_prefix", "prefix "}, {"regex", "regex "},
}

func (r *reader) match(m *message) match {
	var out match
	var words []string
	for _, f := range matchFields {
		if v := m.text(f.name); v.Set() {
			words = append(words, f.word+v.V)
		}
	}
	if re := field(m.get("safe_regex"), "regex"); re != nil {
		words = append(words, "regex "+re.Text())
	}
	if m.get("connect_matcher") != nil {
		words = append(words, "connect")
	}
	out.grpc = m.get("grpc") != nil
	for _, n := range list(m.get("headers")) {
		name, exact := field(n, "name").Text(), field(n, "exact_match")
		if exact == nil {
			exact = field(field(n, "string_match"), "exact")
		}
		inverted := strings.EqualFold(field(n, "invert_match").Text(), "true")
		switch {
		case name == ":method" && exact != nil && !inverted:
			out.method = model.At(exact.Text(), exact.Span())
			words = append([]string{exact.Text()}, words...)
		case name == "content-type" && exact.Text() == "application/grpc" && !inverted:
			out.grpc = true
		case name != "":
			words = append(words, "with "+name)
		}
	}
	m.done()
	out.text = strings.Join(words, " ")
	return out
}
