package planfile

import (
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// limits are the keys of whoever waits on a call: the caller's own client, and each element of `via`.
var limits = slices.Concat([]*key[model.Waiter]{
	field("timeout", "The longest the whole call is waited for, all attempts and back-off included. Unset is unknown.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Timeout }),
	field("per_try_timeout", "The longest one attempt is waited for.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.PerTry }),
	field("read_timeout", "The longest silence, or wait for the first byte. It bounds a hang, not a slow drip.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Edit().Read }),
	field("connect_timeout", "The longest wait for a connection, TLS included.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Connect }),
	field("connect_extra", "Whether the per-try clock starts once connected, as Envoy's does.", boolean, func(w *model.Waiter) *model.Val[bool] { return &w.Edit().ConnectExtra }),
	field("pool_timeout", "The longest wait for a free connection, before every other clock.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Edit().Pool }),
	field("idle_timeout", "How long an unused connection is kept.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Edit().Idle }),
}, retryKeys(func(w *model.Waiter) *model.Val[int32] { return &w.Attempts }, func(w *model.Waiter, key string) { w.RetriesKey = key }), []*key[model.Waiter]{
	field("retry_on", "What happened to an attempt that is retried. Unset is everything.", failures, func(w *model.Waiter) *model.Val[model.Failures] { return &w.Edit().RetryOn }),
	custom("backoff", "The wait before each retry: a constant, a list whose last repeats, or base × multiplier^(k−1) cut at max. Unset is none.", backoffForm, readBackoff),
	field("retry_window", "No attempt starts later than this after the first.", limit, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Edit().RetryWindow }),
	field("retry_after", "The longest wait that a server may ask for.", duration, func(w *model.Waiter) *model.Val[model.Duration] { return &w.Edit().RetryAfter }),
	field("min_remaining", "No attempt starts with less time left than this: a duration, or a percentile of the latency.", remaining, func(w *model.Waiter) *model.Val[model.MinRemaining] { return &w.Edit().MinRemaining }),
	field("retry_budget", "The most retries, as a share of first attempts.", percent, func(w *model.Waiter) *model.Val[model.Fraction] { return &w.Edit().RetryBudget }),
	custom("hedge", "Further copies of a request that is slow to answer.", hedgeForm, func(r *reader, n *yamlsrc.Node, w *model.Waiter) { hedgeTable.read(r, n, &w.Edit().Hedge) }),
	field("propagates", "What the caller tells the callee. Unset is nothing.", propagation, func(w *model.Waiter) *model.Val[model.Propagation] { return &w.Propagates }),
	field("header", "The header that carries the deadline.", headerName, func(w *model.Waiter) *model.Val[string] { return &w.Edit().Header }),
})

// fixedKey is a key whose value the solver can be told to keep.
var fixedKey = enum("fixedKey", (&table[model.Waiter]{keys: limits}).names(), itself)

var fixed = either(&formInfo{
	name: "fixed", takes: "`true`, or a list of keys", parts: []*formInfo{boolean.formInfo, fixedKey.formInfo},
	schema: anyOf(boolean.ref(), arrayOf(fixedKey.formInfo, 1)), examples: []any{true, []any{"timeout", "retries"}},
}, func(r *reader, n *yamlsrc.Node) (model.Fixed, bool) {
	all, ok := boolean.read(r, n)
	return model.Fixed{All: all}, ok
}, func(r *reader, n *yamlsrc.Node) (model.Fixed, bool) {
	keys, ok := listOf(fixedKey, 1)(r, n)
	return model.Fixed{Keys: keys}, ok
}, nil)

// viaTable has the keys of one further waiter.
var viaTable = table[model.Waiter]{
	what: "an element of `via`",
	keys: append([]*key[model.Waiter]{
		plain("name", "Who waits: `sdk`, `sidecar`. The leg of the call is called `caller/callee@name`.", name, func(w *model.Waiter) *string { return &w.Name }),
		field("honors", "What this waiter itself obeys. Unset is nothing.", propagation, func(w *model.Waiter) *model.Val[model.Propagation] { return &w.Edit().Honors }),
	}, limits...),
	required:  []string{"name"},
	exclusive: []exclusive{oneSpelling},
}

// nature are the keys of a call besides its limits that `defaults` may have too.
var nature = []*key[model.Call]{
	field("optional", "Whether the answer is partial, and not an error, without this call: it is skipped at its timeout.", boolean, func(c *model.Call) *model.Val[bool] { return &c.Optional }),
	field("async", "Fire and forget: nobody waits, and it needs a limit of its own.", boolean, func(c *model.Call) *model.Val[bool] { return &c.Async }),
	field("stream", "Whether the call streams: it is left out of wait and need.", boolean, func(c *model.Call) *model.Val[bool] { return &c.Edit().Stream }),
	field("repeat", "How often the call is made, one after the other. Unset is 1.", counting, func(c *model.Call) *model.Val[int32] { return &c.Edit().Repeat }),
	field("fan_out", "How often the call is made, all at once. Unset is 1.", counting, func(c *model.Call) *model.Val[int32] { return &c.Edit().FanOut }),
	field("probability", "How likely a request makes the call. Predictions use it, bounds do not.", probability, func(c *model.Call) *model.Val[float64] { return &c.Edit().Probability }),
	field("headroom", "Added to measured percentiles. Unset is 10%.", percent, func(c *model.Call) *model.Val[model.Fraction] { return &c.Edit().Headroom }),
	field("percentile", "Which percentile of the latency sizes the timeout. Unset is the entrypoint's, else p99.", percentile, func(c *model.Call) *model.Val[model.Fraction] { return &c.Edit().Percentile }),
	field("network", "Time on the wire, only where the latency was not measured by the caller. Unset is 0.", duration, func(c *model.Call) *model.Val[model.Duration] { return &c.Edit().Network }),
	field("fixed", "Which values the solver keeps: all, or the keys listed.", fixed, func(c *model.Call) *model.Val[model.Fixed] { return &c.Edit().Fixed }),
	field("client", "The client library or proxy that makes the call, such as `envoy`: what it would change of the values is told. Its defaults are not applied; import its configuration for them.", word, func(c *model.Call) *model.Val[string] { return &c.Edit().Client }),
}

// measured are what holds for one call, or on a service for every call to it.
func measured[T any](latency func(*T) **model.Latency, failureRate func(*T) *model.Val[float64], idempotent func(*T) *model.Val[bool]) []*key[T] {
	return []*key[T]{
		custom("latency", "What the callee takes for one attempt, as its caller sees it, network included.", latencyForm, func(r *reader, n *yamlsrc.Node, to *T) { *latency(to) = readLatency(r, n) }),
		field("failure_rate", "The share of attempts that fail.", probability, failureRate),
		field("idempotent", "Whether a second execution does no harm.", boolean, idempotent),
	}
}

var callTable = table[model.Call]{
	what: "a call",
	keys: slices.Concat(
		only(
			custom("call", "The service that is called.", name.formInfo, func(*reader, *yamlsrc.Node, *model.Call) {}), // read first, by readCall
			field("name", "Tells calls of one caller to one callee apart: `caller/callee:name`.", name, func(c *model.Call) *model.Val[string] { return &c.Edit().Name }),
			custom("via", "Further waiters between caller and callee, the caller's side first.", viaForm, readVia),
			custom("ignore", ignoreDoc, ignoreForm, func(r *reader, n *yamlsrc.Node, c *model.Call) { readIgnores(r, n, &c.Edit().Ignores) }),
		),
		lift(limits, func(c *model.Call) *model.Waiter { return &c.Waiters[0] }),
		nature,
		measured(func(c *model.Call) **model.Latency { return &c.Latency }, func(c *model.Call) *model.Val[float64] { return &c.Edit().FailureRate }, func(c *model.Call) *model.Val[bool] { return &c.Idempotent }),
	),
	required:  []string{"call"},
	exclusive: []exclusive{oneSpelling},
}

var viaForm = &formInfo{
	name: "via", takes: "a list of mappings, each with a `name`", parts: viaTable.forms(),
	schema: object{"type": "array", "items": viaTable.schema()}, examples: []any{[]any{object{"name": "sdk", "attempts": 3}}},
}

func readVia(r *reader, n *yamlsrc.Node, c *model.Call) {
	if n.Kind() != yamlsrc.Seq {
		r.wrongShape(n, viaForm.takes)
		return
	}
	named := map[string]diag.Span{}
	for _, item := range n.Items() {
		if !r.room(item) {
			return
		}
		if item.Broken() {
			continue
		}
		if item.Kind() != yamlsrc.Map {
			r.wrongShape(item, "mappings as its elements")
			continue
		}
		w := model.Waiter{At: item.Span()}
		viaTable.read(r, item, &w)
		if w.Name == "" {
			continue // told
		}
		if first, known := named[w.Name]; known {
			r.duplicate(item.Get("name").Span(), fmt.Sprintf("two elements of `via` are named `%s`", w.Name), first)
		} else {
			named[w.Name] = w.At
		}
		c.Waiters = append(c.Waiters, w)
	}
}

var localWorkTable = table[model.Service]{
	what: "a `local_work`",
	keys: []*key[model.Service]{
		field("before", "Work before the calls.", duration, func(s *model.Service) *model.Val[model.Duration] { return &s.Before }),
		field("after", "Work after the calls.", duration, func(s *model.Service) *model.Val[model.Duration] { return &s.Edit().After }),
	},
}

var localWorkForm = &formInfo{
	name: "localWork", takes: "a duration, or a mapping with `before` and `after`", parts: []*formInfo{duration.formInfo},
	schema: anyOf(duration.ref(), localWorkTable.schema()), examples: []any{"30ms", object{"before": "20ms", "after": "10ms"}},
}

func readLocalWork(r *reader, n *yamlsrc.Node, s *model.Service) {
	switch n.Kind() {
	case yamlsrc.Scalar:
		if d, ok := duration.read(r, n); ok {
			s.Before = written(r, d, n)
		}
	case yamlsrc.Map:
		localWorkTable.read(r, n, s)
	default:
		r.wrongShape(n, localWorkForm.takes)
	}
}

// marginPart is a share or a time, each leaving the other at 0.
var marginPart = scalar(&formInfo{
	name: "marginPart", takes: "a percentage below 100% or a duration", examples: []any{"5%", "50ms"},
	parts: []*formInfo{belowWhole.formInfo, duration.formInfo}, schema: anyOf(belowWhole.ref(), duration.ref()),
}, func(n *yamlsrc.Node) (model.Margin, *problem) {
	if f, ok := model.ParsePercent(n.Text()); ok {
		if f >= model.Whole {
			return model.Margin{}, &problem{fmt.Sprintf("`%s` is not below 100%%: nothing would be left", n.Text()), ""}
		}
		return model.Margin{Share: f}, nil
	}
	d, p := parseDuration(n)
	if p != nil && isNumber(n) {
		p = &problem{fmt.Sprintf("`%s` has no unit", n.Text()), fmt.Sprintf("write `%s%%` or `%sms`", n.Text(), n.Text())}
	}
	return model.Margin{Fixed: d}, p
})

var margin = either(&formInfo{
	name: "margin", takes: "a percentage, a duration, or both in a list", parts: []*formInfo{marginPart.formInfo},
	schema: anyOf(marginPart.ref(), object{
		"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": []any{belowWhole.ref(), duration.ref()},
	}), examples: []any{"5%", "50ms", []any{"5%", "50ms"}},
}, marginPart.read, func(r *reader, n *yamlsrc.Node) (m model.Margin, ok bool) {
	items := n.Items()
	if len(items) != 2 {
		r.bad(n, problem{"the list has not two elements", "write a percentage and a duration, such as `[5%, 50ms]`: the larger holds"})
		return m, false
	}
	share, shareOK := belowWhole.read(r, items[0])
	d, ok := duration.read(r, items[1])
	return model.Margin{Share: share, Fixed: d}, ok && shareOK
}, nil)

var (
	threshold       = count[int64]("threshold", 1, "", 8, 24)
	thresholdsTable = table[model.Thresholds]{
		what: "a `max_amplification`",
		keys: []*key[model.Thresholds]{
			plain("warning", "Attempts a request above which there is a warning. Unset is 8.", threshold, func(t *model.Thresholds) *int64 { return &t.Warning }),
			plain("error", "Attempts a request above which there is an error. Unset is 24.", threshold, func(t *model.Thresholds) *int64 { return &t.Error }),
		},
	}
)

var thresholds = either(&formInfo{
	name: "thresholds", takes: "a whole number, or a mapping with `warning` and `error`", parts: []*formInfo{threshold.formInfo},
	schema: anyOf(threshold.ref(), thresholdsTable.schema()), examples: []any{24, object{"warning": 8, "error": 24}},
}, func(r *reader, n *yamlsrc.Node) (model.Thresholds, bool) {
	v, ok := threshold.read(r, n)
	return model.Thresholds{Error: v}, ok
}, nil, func(r *reader, n *yamlsrc.Node) (t model.Thresholds, ok bool) {
	before := len(r.findings)
	thresholdsTable.read(r, n, &t)
	if t.Warning > 0 && t.Error > 0 && t.Warning > t.Error {
		r.bad(n, problem{fmt.Sprintf("`warning` %d is above `error` %d", t.Warning, t.Error), "exchange the two"})
	}
	return t, len(r.findings) == before
})

var concurrencyTable = table[model.Service]{
	what: "a `concurrency`",
	keys: []*key[model.Service]{
		field("workers", "How many requests are worked on at once.", counting, func(s *model.Service) *model.Val[int32] { return &s.Edit().Workers }),
		field("queue", "How many requests wait for a worker.", capacity, func(s *model.Service) *model.Val[int32] { return &s.Edit().Queue }),
	},
}

var concurrencyForm = &formInfo{
	name: "concurrency", takes: "a mapping with `workers` and `queue`", parts: concurrencyTable.forms(),
	schema: concurrencyTable.schema(), examples: []any{object{"workers": 64, "queue": 128}},
}

var serviceTable = table[model.Service]{
	what: "a service",
	keys: slices.Concat([]*key[model.Service]{
		field("kind", "What it is: http, grpc, postgres, mysql, redis, queue, external and others. It decides messages, clamps and targets, never a value.", word, func(s *model.Service) *model.Val[string] { return &s.Kind }),
		custom("local_work", "The service's own work, before and after its calls. Unset is 0.", localWorkForm, readLocalWork),
		field("margin", "What the service keeps of its time: a share, a time, or the larger of both. Unset is 5%.", margin, func(s *model.Service) *model.Val[model.Margin] { return &s.Margin }),
		field("server_timeout", "When the service itself gives up: statement_timeout, handler timeout.", limit, func(s *model.Service) *model.Val[model.Duration] { return &s.ServerTimeout }),
		field("queue_timeout", "The longest a request waits before work on it begins.", limit, func(s *model.Service) *model.Val[model.Duration] { return &s.Edit().QueueTimeout }),
		field("idle_timeout", "How long the service keeps an unused connection.", limit, func(s *model.Service) *model.Val[model.Duration] { return &s.Edit().IdleTimeout }),
		field("honors", "What the service obeys of what its callers tell it. Unset is nothing.", propagation, func(s *model.Service) *model.Val[model.Propagation] { return &s.Honors }),
		field("min_remaining", "The service rejects on arrival what has less time left than this.", duration, func(s *model.Service) *model.Val[model.Duration] { return &s.Edit().MinRemaining }),
		field("default_deadline", "The deadline assumed when none arrives.", positive, func(s *model.Service) *model.Val[model.Duration] { return &s.Edit().DefaultDeadline }),
		field("max_amplification", "How many attempts a request may bring here: the error limit, or a warning and an error limit.", thresholds, func(s *model.Service) *model.Val[model.Thresholds] { return &s.Edit().MaxAmplify }),
		field("max_depth", "How deep a recursion through the service may go.", counting, func(s *model.Service) *model.Val[int32] { return &s.Edit().MaxDepth }),
		custom("concurrency", "How many requests are worked on at once, and how many wait.", concurrencyForm, func(r *reader, n *yamlsrc.Node, s *model.Service) { concurrencyTable.read(r, n, s) }),
		field("owner", "Who looks after the service.", name, func(s *model.Service) *model.Val[string] { return &s.Edit().Owner }),
	},
		measured(func(s *model.Service) **model.Latency { return &s.Latency }, func(s *model.Service) *model.Val[float64] { return &s.Edit().FailureRate }, func(s *model.Service) *model.Val[bool] { return &s.Edit().Idempotent }),
		only(
			custom("calls", "What the service calls, in order.", flowForm, readCalls),
			custom("ignore", ignoreDoc, ignoreForm, func(r *reader, n *yamlsrc.Node, s *model.Service) { readIgnores(r, n, &s.Edit().Ignores) }),
		),
	),
}

var entrypointTable = table[model.Entrypoint]{
	what: "an entrypoint",
	keys: slices.Concat([]*key[model.Entrypoint]{
		custom("call", "The service that requests come in at.", name.formInfo, readEntry),
		field("slo", "The target for an answer, at `percentile`. It stops nothing.", positive, func(e *model.Entrypoint) *model.Val[model.Duration] { return &e.SLO }),
		field("percentile", "Which share of the answers the target is for. Unset is p99.", percentile, func(e *model.Entrypoint) *model.Val[model.Fraction] { return &e.Percentile }),
		field("overhead", "Time that never reaches the first service: client, network, TLS, load balancer. Unset is 0.", duration, func(e *model.Entrypoint) *model.Val[model.Duration] { return &e.Overhead }),
		field("timeout", "When the client gives up.", limit, func(e *model.Entrypoint) *model.Val[model.Duration] { return &e.Timeout }),
		field("rate", "Requests a second.", rate, func(e *model.Entrypoint) *model.Val[float64] { return &e.Rate }),
		custom("ignore", ignoreDoc, ignoreForm, func(r *reader, n *yamlsrc.Node, e *model.Entrypoint) { readIgnores(r, n, &e.Ignores) }),
	}, retryKeys(func(e *model.Entrypoint) *model.Val[int32] { return &e.Attempts }, func(e *model.Entrypoint, key string) { e.RetriesKey = key })),
	required:  []string{"call"},
	exclusive: []exclusive{oneSpelling},
}

// defaultsTable has every key of a service or a call that is not one thing's own. What both have goes to both, but
// what is measured goes to services alone, whose calls inherit it.
var defaultsTable = makeDefaults()

func makeDefaults() table[model.Defaults] {
	t := table[model.Defaults]{what: "`defaults`", exclusive: []exclusive{oneSpelling}}
	service := lift(serviceTable.keys, func(d *model.Defaults) *model.Service { return &d.Service })
	call := lift(slices.Concat(lift(limits, func(c *model.Call) *model.Waiter { return &c.Waiters[0] }), nature), func(d *model.Defaults) *model.Call {
		if len(d.Call.Waiters) == 0 {
			d.Call.Waiters = make([]model.Waiter, 1)
		}
		return &d.Call
	})
	for _, k := range append(call, service...) {
		if k.scope == own {
			continue
		}
		if first := t.find(k.name); first != nil {
			forCall := first.read
			// The call's form takes whatever the service's does. It has told what is bad; the service then takes
			// the value only where its own form holds it.
			first.read = func(r *reader, n *yamlsrc.Node, d *model.Defaults) {
				before := len(r.findings)
				forCall(r, n, d)
				if told := len(r.findings); told == before {
					k.read(r, n, d)
					r.findings = r.findings[:told]
				}
			}
			first.doc += " On a service: " + k.doc
			continue
		}
		t.keys = append(t.keys, k)
	}
	return t
}
