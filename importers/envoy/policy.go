package envoy

import (
	"errors"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

var errZero = errors.New("the time must be above 0s")

// route is one route being read: where its limits come from.
type route struct {
	r      *reader
	host   *host
	action *message
	match  match
}

// harmless marks what a route says beyond its limits. The first two bound the flush of an answer and shorten a
// limit that only a request's header brings; a request is redirected inside of Envoy at most as often as said.
func (rt *route) harmless() {
	a := rt.action
	a.harmless("flush_timeout", "grpc_timeout_offset", "max_grpc_timeout", "retry_policy", "hedge_policy")
	if n := a.get("internal_redirect_policy"); n != nil {
		rt.r.unread("internal_redirect_policy", n.Span(), "describe the further calls in the plan",
			"internal redirects make a request take a further route, which is not read")
	}
}

// waiter gives the limits of the route to one of its clusters, nil where the source does not have it.
func (rt *route) waiter(c *cluster) model.Waiter {
	w := model.Waiter{Dialect: "envoy", At: rt.action.at(), Rare: afterConnect(rt.action.at())}
	rt.timeout(&w)
	silence := rt.silence(&w)
	policy := rt.policy(&w, c)
	rt.attempts(&w, policy)
	rt.perTry(&w, policy, c)
	if d := policy.duration("per_try_idle_timeout"); d.Set() && trim(d.V) > 0 {
		silence = shorter(silence, orNone(d))
	}
	if silence.Set() {
		w.Edit().Read = silence
	}
	rt.hedge(&w)
	rt.propagation(&w)
	if c != nil {
		c.bounds(&w)
	}
	policy.harmless("retry_priority", "retry_host_predicate", "host_selection_retry_max_attempts", "retry_options_predicates",
		"retriable_headers", "retriable_request_headers")
	policy.done()
	return w
}

// afterConnect is what every waiter of Envoy has: the clock of an attempt starts once connected.
func afterConnect(at diag.Span) *model.WaiterRare {
	return &model.WaiterRare{ConnectExtra: dialect.EnvoyConnectExtra.At(at)}
}

// bounds gives a waiter the limits of a cluster.
func (c *cluster) bounds(w *model.Waiter) {
	w.Connect = c.connect
	if !c.idle.Set() && !c.budget.Set() {
		return
	}
	rare := w.Edit()
	rare.Idle, rare.RetryBudget = c.idle, c.budget
}

// dead keeps a value without effect, with the reason.
func dead(w *model.Waiter, key, value string, at diag.Span, reason string) {
	w.Edit().Dead = append(slices.Clip(w.Dead()), model.Dead{Key: key, Value: value, Reason: reason, At: at})
}

// timeout sets the limit of the whole route: `timeout`, for gRPC requests `max_grpc_timeout` in its place, both
// switched off by the presence of `max_stream_duration`, whose own value holds then.
func (rt *route) timeout(w *model.Waiter) {
	a := rt.action
	key, d := "timeout", a.duration("timeout")
	switch {
	case !d.given:
		w.Timeout = dialect.EnvoyTimeout.At(a.at())
	case d.Set():
		w.Timeout = orNone(d)
		tooFine(w, key, d)
	}
	if g := a.duration("max_grpc_timeout"); g.Set() && rt.match.grpc {
		if w.Timeout.Written() && w.Timeout.V.Finite() {
			dead(w, key, d.text, d.Span(), "`max_grpc_timeout` replaces it for gRPC requests")
		}
		key, d, w.Timeout = "max_grpc_timeout", g, orNone(g)
	}
	stream := rt.host.maxStream()
	if m := a.sub("max_stream_duration"); m != nil {
		if w.Timeout.Written() && w.Timeout.V.Finite() {
			dead(w, key, d.text, d.Span(), "the presence of `max_stream_duration` switches it off")
		}
		w.Timeout = model.At(model.NoLimit, m.at())
		switch own := m.duration("max_stream_duration"); {
		case own.Set():
			w.Timeout = orNone(own)
			tooFine(w, "max_stream_duration", own)
		case own.given:
			w.Timeout = model.Val[model.Duration]{} // unreadable, and said so
		case stream.Set():
			w.Timeout = stream
		}
		m.harmless("grpc_timeout_header_max", "grpc_timeout_header_offset")
		m.done()
		return
	}
	if stream.Set() && w.Timeout.Set() && stream.V < w.Timeout.V {
		if w.Timeout.Written() && w.Timeout.V.Finite() {
			dead(w, key, d.text, d.Span(), "`max_stream_duration` of the listener ends the request after "+stream.V.String())
		}
		w.Timeout = stream
	}
}

func (h *host) maxStream() (v model.Val[model.Duration]) {
	if h.hcm != nil {
		return h.hcm.maxStream
	}
	return v
}

// tooFine keeps a time that Envoy cuts down to 0, which switches the limit off.
func tooFine(w *model.Waiter, key string, d duration) {
	if d.V > 0 && trim(d.V) == 0 {
		dead(w, key, d.text, d.Span(), "below 1ms it is cut down to 0s")
	}
}

// silence gives the limit on the silence of a request, where it can act before the route's timeout does. It bounds
// the request, not one attempt, so for a call with retries it is an upper bound.
func (rt *route) silence(w *model.Waiter) (v model.Val[model.Duration]) {
	if d := rt.action.duration("idle_timeout"); d.given {
		v = orNone(d)
	} else if rt.host.hcm != nil {
		v = rt.host.hcm.streamIdle
	}
	if v.Set() && (!v.V.Finite() || w.Timeout.Set() && v.V >= w.Timeout.V) {
		return model.Val[model.Duration]{}
	}
	return v
}

func shorter(a, b model.Val[model.Duration]) model.Val[model.Duration] {
	if !a.Set() || b.Set() && b.V < a.V {
		return b
	}
	return a
}

// policy picks the retry policy that holds: the cluster's, else the route's, else the virtual host's. One replaces
// the other whole.
func (rt *route) policy(w *model.Waiter, c *cluster) *message {
	own := rt.action.sub("retry_policy")
	switch {
	case c != nil && c.policy != nil:
		if own != nil {
			reason := "the retry policy of cluster `" + field(c.node, "name").Text() + "` replaces that of the route"
			for _, key := range []string{"retry_on", "num_retries", "per_try_timeout"} {
				if n := own.get(key); n != nil {
					dead(w, key, n.Text(), n.Span(), reason)
				}
			}
		}
		return c.policy
	case own != nil:
		return own
	}
	return rt.host.retry
}

// attempts sets how often, on what and after which waits an attempt is repeated.
func (rt *route) attempts(w *model.Waiter, p *message) {
	w.RetriesKey = dialect.Envoy.RetriesKey
	if p == nil {
		w.Attempts = dialect.EnvoyNoRetry.At(rt.action.at())
		return
	}
	on, why := rt.conditions(w, p)
	n := p.count("num_retries")
	retries := model.Val[int32]{V: int32(min(n.V+1, int64(model.Unlimited))), From: n.From}
	back := p.sub("retry_back_off")
	if !on.Set() {
		w.Attempts = dialect.EnvoyNoRetry.At(p.at())
		if n.Set() && n.V > 0 {
			dead(w, "num_retries", p.get("num_retries").Text(), n.Span(), why)
		} else if back != nil {
			dead(w, "retry_back_off", back.get("base_interval").Text(), back.at(), why)
		}
		return
	}
	w.Edit().RetryOn, w.Attempts = on, retries
	if p.get("num_retries") == nil {
		w.Attempts = dialect.EnvoyRetries.At(p.at())
	}
	if !w.Retries() {
		return
	}
	rt.backoff(w, p, back)
	if limited := p.sub("rate_limited_retry_back_off"); limited != nil {
		w.Edit().RetryAfter = dialect.EnvoyRetryAfter.At(limited.at())
		if d := limited.duration("max_interval"); d.given {
			w.Edit().RetryAfter = d.Val
		}
	}
}

// conditions reads what is retried; unset means nothing, and why says so.
func (rt *route) conditions(w *model.Waiter, p *message) (on model.Val[model.Failures], why string) {
	text := p.text("retry_on")
	var tokens []string
	for t := range strings.SplitSeq(text.V, ",") {
		t = strings.TrimSpace(t)
		if t == "" || t == "retriable-headers" && len(list(p.get("retriable_headers"))) == 0 {
			continue
		}
		tokens = append(tokens, t)
	}
	var statuses []string
	codes := p.get("retriable_status_codes")
	for _, n := range codes.Items() {
		statuses = append(statuses, n.Text())
	}
	f, unknown, listed := dialect.Envoy.Failures(tokens, statuses)
	for _, t := range unknown {
		rt.r.unread("retry_on "+t, text.Span(), "remove it, or write one of Envoy's words", "`retry_on` has the word `%s`, which Envoy ignores", t)
	}
	if len(statuses) > 0 && !listed {
		dead(w, "retriable_status_codes", strings.Join(statuses, ", "), codes.Span(), "`retry_on` has no `retriable-status-codes`")
	}
	switch {
	case strings.Trim(text.V, ", ") == "":
		return on, "nothing is retried without `retry_on`"
	case f.Kinds == 0 && len(f.Statuses) == 0:
		return on, "no word of `retry_on` can apply"
	}
	return model.At(f, text.Span()), ""
}

// backoff sets the waits before the retries.
func (rt *route) backoff(w *model.Waiter, p, back *message) {
	if back == nil {
		w.Backoff = &model.Backoff{Waits: dialect.EnvoyWaits.At(p.at()), Jitter: dialect.EnvoyJitter.At(p.at())}
		return
	}
	base, most := back.duration("base_interval"), back.duration("max_interval")
	switch {
	case !base.Set():
		if !base.given {
			rt.r.bad(back.at(), "retry_back_off", "base_interval", errors.New("it is required"))
		}
		return
	case base.V == 0:
		rt.r.bad(base.Span(), "retry_back_off", "base_interval", errZero)
		return
	case most.Set() && most.V < base.V:
		rt.r.bad(most.Span(), "retry_back_off", "max_interval", errors.New("it is below `base_interval`"))
		return
	}
	w.Backoff = &model.Backoff{
		Waits:  model.Val[[]model.Duration]{V: dialect.EnvoyBackoff(trim(base.V), trim(most.V)), From: base.From},
		Jitter: dialect.EnvoyJitter.At(back.at()),
	}
}

// perTry sets the limit of one attempt. Envoy drops one that is not below the route's timeout.
func (rt *route) perTry(w *model.Waiter, p *message, c *cluster) {
	if d := p.duration("per_try_timeout"); d.Set() && d.V > 0 {
		switch v := trim(d.V); {
		case v == 0:
			tooFine(w, "per_try_timeout", d)
		case w.Timeout.Set() && v >= w.Timeout.V:
			dead(w, "per_try_timeout", d.text, d.Span(), "it is not below the "+w.Timeout.V.String()+" of the whole route")
		default:
			w.PerTry = model.Val[model.Duration]{V: v, From: d.From}
		}
	}
	// A cluster's limit on streams resets the attempt, which is retried as a per-try timeout is.
	if c != nil && c.maxStream.Set() && trim(c.maxStream.V) > 0 && (!w.Timeout.Set() || c.maxStream.V < w.Timeout.V) {
		w.PerTry = shorter(w.PerTry, orNone(c.maxStream))
	}
}

// hedge turns a per-try timeout that starts a further attempt, and leaves the first in flight, into copies of a
// request: `num_retries` bounds them as it does retries.
func (rt *route) hedge(w *model.Waiter) {
	h := rt.action.sub("hedge_policy")
	if h == nil {
		h = rt.host.hedge
	}
	for _, key := range []string{"initial_requests", "additional_request_chance"} {
		if n := h.get(key); n != nil {
			dead(w, key, n.Text(), n.Span(), "Envoy does not implement it")
		}
	}
	on := h.get("hedge_on_per_try_timeout")
	if !strings.EqualFold(on.Text(), "true") {
		return
	}
	switch {
	case !w.PerTry.Set():
		dead(w, "hedge_on_per_try_timeout", on.Text(), on.Span(), "there is no per-try timeout")
	case !w.Retries():
		dead(w, "hedge_on_per_try_timeout", on.Text(), on.Span(), "there is no retry to send early")
	default:
		w.Edit().Hedge = model.Hedge{After: w.PerTry, Attempts: w.Attempts}
		w.PerTry = model.Val[model.Duration]{}
		w.Attempts = model.At[int32](1, on.Span())
	}
}

// propagation claims a deadline only where Envoy always writes one that callees are known to read: `grpc-timeout`
// is overwritten where `max_grpc_timeout` is set and something bounds the attempt. `x-envoy-expected-rq-timeout-ms`
// is sent, too, but the next Envoy ignores it unless it was told not to.
func (rt *route) propagation(w *model.Waiter) {
	n := rt.action.get("max_grpc_timeout")
	if n == nil || !rt.match.grpc || rt.action.get("max_stream_duration") != nil {
		return
	}
	if w.PerTry.Set() || w.Timeout.Set() && w.Timeout.V.Finite() {
		w.Propagates, w.Edit().Header = model.At(model.Deadline, n.Span()), model.At("grpc-timeout", n.Span())
	}
}
