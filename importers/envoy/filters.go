package envoy

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// callingFilter is an HTTP filter that calls a service before the route does.
type callingFilter struct {
	name    string // by which a route switches it on and off
	enabled bool   // where no route says
	// described tells that it asks only about requests that `rate_limits` describe.
	described bool
	call      model.Call
	to        target
}

// same reports whether two filters make the same call.
func (f *callingFilter) same(g *callingFilter) bool {
	return f.name == g.name && f.enabled == g.enabled && f.to.name == g.to.name && f.call.Waiters[0].Timeout.V == g.call.Waiters[0].Timeout.V
}

// maxFilters bounds the calling filters of one connection manager: a route has a bit for each.
const maxFilters = 64

// serviceCalls say of each filter that calls a service where its config has the service, its limit and what an answer
// that fails does, by the last part of its type.
var serviceCalls = map[string]struct {
	// word names the call. service is the field that has grpc_service, empty for the message itself; limit the one
	// that has the time, empty for the service's own.
	word, service, limit string
	unset                *dialect.Default[model.Duration]
	// optional tells that a request goes on without the answer.
	optional func(*message) model.Val[bool]
}{
	"ExtAuthz":          {"ext_authz", "", "", &dialect.EnvoyExtAuthz, func(m *message) model.Val[bool] { return m.flag("failure_mode_allow") }},
	"ExternalProcessor": {"ext_proc", "", "message_timeout", &dialect.EnvoyExtProc, func(m *message) model.Val[bool] { return m.flag("failure_mode_allow") }},
	"RateLimit": {"ratelimit", "rate_limit_service", "timeout", &dialect.EnvoyRateLimit, func(m *message) model.Val[bool] {
		if m.flag("failure_mode_deny").V {
			return model.Val[bool]{}
		}
		return model.At(true, m.at())
	}},
}

// flag reads a truth value, unset where it is absent.
func (m *message) flag(snake string) (v model.Val[bool]) {
	if n := m.get(snake); n != nil {
		return model.At(strings.EqualFold(n.Text(), "true"), n.Span())
	}
	return v
}

// httpFilter reads a filter of a connection manager that adds calls or time of its own to requests.
func (r *reader) httpFilter(f *yamlsrc.Node, hcm *manager) {
	config := field(f, "typed_config")
	if config == nil {
		return
	}
	name, t := field(f, "name").Text(), config.Get("@type").Text()
	disabled := strings.EqualFold(field(f, "disabled").Text(), "true")
	kind := t[strings.LastIndexByte(t, '.')+1:]
	if kind == "RateLimit" && !strings.Contains(t, ".http.") {
		kind = ""
	}
	switch _, calls := serviceCalls[kind]; {
	case calls && len(hcm.filters) < maxFilters:
		if c := r.serviceCall(kind, r.message(kind, config)); c != nil {
			c.name, c.enabled = name, !disabled
			hcm.filters = append(hcm.filters, c)
		}
	case disabled:
	case kind == "OAuth2":
		r.unread("filter OAuth2", f.Span(), "describe the call in the plan", "the filter `%s` calls a token service before some requests, which is not read", name)
	case kind == "HTTPFault":
		r.fault(config)
	case kind == "Router":
		if n := field(config, "respect_expected_rq_timeout"); strings.EqualFold(n.Text(), "true") {
			r.unread("respect_expected_rq_timeout", n.Span(), "say in the plan what its callers send",
				"`respect_expected_rq_timeout` lets a caller's header replace every route timeout, which is not read")
		}
	}
}

// serviceCall reads the call of a filter, nil where it names no service.
func (r *reader) serviceCall(kind string, m *message) *callingFilter {
	if m == nil {
		return nil
	}
	is := serviceCalls[kind]
	from := m
	if is.service != "" {
		from = m.sub(is.service)
	}
	service := from.sub("grpc_service")
	uri := from.sub("http_service").sub("server_uri")
	cluster := service.sub("envoy_grpc").text("cluster_name")
	if !cluster.Set() {
		cluster = service.sub("google_grpc").text("target_uri")
	}
	limit := service.duration("timeout")
	retry := service.sub("retry_policy")
	if service == nil {
		cluster, limit = uri.text("cluster"), uri.duration("timeout")
		retry = from.sub("http_service").sub("retry_policy")
	}
	if is.limit != "" {
		limit = m.duration(is.limit)
	}
	if !cluster.Set() {
		r.unread("filter "+kind, m.at(), "describe the call in the plan", "the filter `%s` calls a service before each request that it does not name", is.word)
		return nil
	}
	f := &callingFilter{to: target{name: cluster.V, at: cluster.Span(), cluster: r.cluster(cluster.V)}}
	rt := &route{r: r, host: &host{}, action: m}
	w := model.Waiter{Dialect: "envoy", At: cluster.Span(), Rare: afterConnect(cluster.Span())}
	switch {
	case !limit.given:
		w.Timeout = is.unset.At(cluster.Span())
	case limit.Set():
		w.Timeout = orNone(limit)
	}
	rt.attempts(&w, retry)
	if c := f.to.cluster; c != nil {
		c.bounds(&w)
	}
	f.call = model.Call{At: cluster.Span(), Route: is.word, Optional: is.optional(m), Waiters: []model.Waiter{w}}
	if !f.call.Optional.V {
		f.call.Optional = model.Val[bool]{}
	}
	f.described = kind == "RateLimit" && field(m.node, "rate_limits") == nil
	if kind == "ExternalProcessor" {
		r.processing(m, &f.call)
	}
	return f
}

// processing counts the messages of an external processor, each of which is waited for. Of a streamed body nobody
// knows the number; it counts as one.
func (r *reader) processing(m *message, c *model.Call) {
	if v := m.flag("observability_mode"); v.V {
		c.Async = v
		return
	}
	mode := m.sub("processing_mode")
	count, at := int32(0), m.at()
	for _, part := range []struct {
		key, off string
		on       bool // where nobody says
	}{
		{"request_header_mode", "SKIP", true},
		{"response_header_mode", "SKIP", true},
		{"request_body_mode", "NONE", false},
		{"response_body_mode", "NONE", false},
		{"request_trailer_mode", "SKIP", false},
		{"response_trailer_mode", "SKIP", false},
	} {
		said := mode.text(part.key)
		on := part.on
		if said.Set() && !strings.EqualFold(said.V, "DEFAULT") && said.V != "0" {
			on, at = !strings.EqualFold(said.V, part.off), said.Span()
		}
		if on {
			count++
		}
	}
	if count == 0 {
		c.Async = model.At(true, at) // it is never asked
		return
	}
	if count > 1 {
		c.Edit().Repeat = model.At(count, at)
	}
}

// active tells by a bit each which filters of the manager a route goes through: the route's word counts, else the
// virtual host's, else the table's, else the filter's own. Rate limits ask about what the route or the host describes.
func (h *host) active(route *yamlsrc.Node) (mask uint64) {
	if h.hcm == nil {
		return 0
	}
	for i, f := range h.hcm.filters {
		on, described := f.enabled, !f.described || h.limited || field(field(route, "route"), "rate_limits") != nil
		for _, n := range []*yamlsrc.Node{field(route, "typed_per_filter_config"), h.filters, h.tableFilters} {
			own := n.Get(f.name)
			if own == nil {
				continue
			}
			on = !strings.EqualFold(field(own, "disabled").Text(), "true")
			described = described || field(own, "rate_limits") != nil
			break
		}
		if on && described {
			mask |= 1 << i
		}
	}
	return mask
}

// branch is the routes of a table that go through the same filters.
type branch struct {
	filters uint64
	of      []model.Flow
}

// behind puts the calls of a manager's filters before the routes that go through them.
func (b *batch) behind(hcm *manager) {
	for _, br := range b.branches {
		var steps []model.Flow
		if hcm != nil {
			for i, f := range hcm.filters {
				if br.filters&(1<<i) == 0 {
					continue
				}
				call := f.call
				call.Waiters = slices.Clone(f.call.Waiters)
				if flow, ok := b.add(call, f.to); ok {
					steps = append(steps, flow)
				}
			}
		}
		routes := br.of
		if len(steps) > 0 {
			routes = []model.Flow{{Kind: model.Sequence, Of: append(steps, oneOf(br.of))}}
		}
		b.of = append(b.of, routes...)
	}
	b.branches = nil
}
