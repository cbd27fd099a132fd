package planfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
)

// plain makes a key whose value is stored without its place.
//
//go:noinline
func plain[T, V any](name, doc string, f form[V], at func(*T) *V) *key[T] {
	return &key[T]{name: name, doc: doc, form: f.formInfo, read: func(r *reader, n *yamlsrc.Node, to *T) {
		if v, ok := f.read(r, n); ok {
			*at(to) = v
		}
	}}
}

// forms gives the forms of the table's values.
func (t *table[T]) forms() []*formInfo {
	out := make([]*formInfo, len(t.keys))
	for i, k := range t.keys {
		out[i] = k.form
	}
	return out
}

// either makes a form that is one thing as a scalar and another as a list or mapping. A nil reader is a shape that
// the form does not take.
func either[V any](info *formInfo, one, seq, mapping func(*reader, *yamlsrc.Node) (V, bool)) form[V] {
	return form[V]{info, func(r *reader, n *yamlsrc.Node) (v V, ok bool) {
		read := [...]func(*reader, *yamlsrc.Node) (V, bool){yamlsrc.Scalar: one, yamlsrc.Seq: seq, yamlsrc.Map: mapping}[n.Kind()]
		if read == nil {
			r.wrongShape(n, info.takes)
			return v, false
		}
		return read(r, n)
	}}
}

// listOf reads a list whose elements have one form; what is bad is left out.
func listOf[V any](f form[V], least int) func(*reader, *yamlsrc.Node) ([]V, bool) {
	return func(r *reader, n *yamlsrc.Node) ([]V, bool) {
		if len(n.Items()) < least {
			r.bad(n, problem{"the list is empty", "write an element, or leave the key out"})
			return nil, false
		}
		out := make([]V, 0, len(n.Items()))
		for _, item := range n.Items() {
			if item.Broken() {
				continue
			}
			if v, ok := f.read(r, item); ok {
				out = append(out, v)
			}
		}
		return out, len(out) == len(n.Items())
	}
}

func arrayOf(f *formInfo, least int) object {
	s := object{"type": "array", "items": f.ref()}
	if least > 0 {
		s["minItems"] = least
	}
	return s
}

func anyOf(schemas ...any) object { return object{"anyOf": schemas} }

// tries makes a form of counts that may be unlimited; add turns the count into attempts.
func tries(name string, least float64, add int32, why string) form[int32] {
	return scalar(&formInfo{
		name: name, takes: "a whole number, or `unlimited`", examples: []any{1, 3, "unlimited"},
		schema: anyOf(object{"type": "integer", "minimum": least, "maximum": maxCount}, object{"const": "unlimited"}),
	}, func(n *yamlsrc.Node) (int32, *problem) {
		if n.Text() == "unlimited" {
			return model.Unlimited, nil
		}
		v, p := parseCount[int32](n, least, why)
		return v + add, p
	})
}

var (
	attempts = tries("attempts", 1, 0, ": attempts include the first")
	retries  = tries("retries", 0, 1, "")
)

// retryKeys are the two spellings of one key, for whatever counts attempts.
func retryKeys[T any](at func(*T) *model.Val[int32], spelled func(to *T, key string)) []*key[T] {
	one := func(name, doc string, f form[int32]) *key[T] {
		return custom(name, doc, f.formInfo, func(r *reader, n *yamlsrc.Node, to *T) {
			if v, ok := f.read(r, n); ok {
				*at(to) = written(r, v, n)
				spelled(to, name)
			}
		})
	}
	return []*key[T]{
		one("attempts", "Attempts in all, the first included; attempts = 1 + retries. Unset is 1.", attempts),
		one("retries", "Attempts after the first. Unset is 0.", retries),
	}
}

var oneSpelling = exclusive{"attempts", []string{"retries"}, "they are one key in two spellings, attempts = 1 + retries"}

var grpcStatuses = []string{
	"cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
	"resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable",
	"data_loss", "unauthenticated",
}

const statusPattern = `^[1-5]([0-9][0-9]|xx)$`

var statusText = regexp.MustCompile(statusPattern)

// failure is one thing that is retried.
var failure = scalar(&formInfo{
	name: "failure", takes: "what happened, such as `timeout` or `503`",
	examples: []any{"connect", "refused", "reset", "timeout", "error", "5xx", 503, "unavailable"},
	schema: anyOf(
		object{"enum": append([]string{"connect", "refused", "reset", "timeout", "error"}, grpcStatuses...)},
		object{"type": "integer", "minimum": 100, "maximum": 599},
		object{"type": "string", "pattern": statusPattern},
	),
}, func(n *yamlsrc.Node) (string, *problem) {
	t := n.Text()
	if model.FailureNamed(t) != 0 || slices.Contains(grpcStatuses, t) || statusText.MatchString(t) {
		return t, nil
	}
	words := append([]string{"connect", "refused", "reset", "timeout", "error"}, grpcStatuses...)
	p := &problem{
		fmt.Sprintf("`%s` is nothing that can be retried", t),
		"write `connect`, `refused`, `reset`, `timeout`, `error`, a status such as `503` or `5xx`, or a gRPC status such as `unavailable`",
	}
	if near := nearest(t, words); near != "" {
		p.help = fmt.Sprintf("write `%s`", near)
	}
	return "", p
})

var failures = either(&formInfo{
	name: "failures", takes: "what happened, such as `timeout`, or a list of it", parts: []*formInfo{failure.formInfo},
	schema: anyOf(failure.ref(), arrayOf(failure.formInfo, 0)), examples: []any{"timeout", []any{"5xx", "reset", "refused", "connect", "timeout"}},
}, func(r *reader, n *yamlsrc.Node) (f model.Failures, ok bool) {
	w, ok := failure.read(r, n)
	return failuresOf(w), ok
}, func(r *reader, n *yamlsrc.Node) (model.Failures, bool) {
	words, ok := listOf(failure, 0)(r, n)
	return failuresOf(words...), ok
}, nil)

func failuresOf(words ...string) (f model.Failures) {
	for _, w := range words {
		if kind := model.FailureNamed(w); kind != 0 {
			f.Kinds |= kind
		} else if !f.HasStatus(w) {
			f.Statuses = append(f.Statuses, w)
		}
	}
	return f
}

// jitter spreads a back-off.
var jitter = scalar(&formInfo{
	name: "jitter", takes: "`none`, `full`, `equal`, or a percentage either side", examples: []any{"none", "full", "equal", "20%"},
	schema: anyOf(object{"enum": []string{"none", "full", "equal"}}, object{"type": "string", "pattern": upToPattern}),
}, func(n *yamlsrc.Node) (model.Jitter, *problem) {
	kind := slices.Index([]string{"none", "full", "equal"}, n.Text())
	if kind >= 0 {
		return model.Jitter{Kind: model.JitterKind(kind)}, nil
	}
	f, ok := model.ParsePercent(n.Text())
	switch {
	case !ok:
		return model.Jitter{}, &problem{fmt.Sprintf("`%s` is no jitter", n.Text()), "write `none`, `full`, `equal`, or a percentage either side such as `20%`"}
	case f > model.Whole:
		return model.Jitter{}, &problem{fmt.Sprintf("`%s` is above 100%%", n.Text()), ""}
	}
	return model.Jitter{Kind: model.JitterShare, Share: f}, nil
})

// maxMultiplier keeps a multiplier in parts per million within range.
const maxMultiplier = 1_000_000

var multiplier = scalar(&formInfo{
	name: "multiplier", takes: "a number of 1 or more", examples: []any{1, 1.5, 2},
	schema: object{"type": "number", "minimum": 1, "maximum": maxMultiplier},
}, func(n *yamlsrc.Node) (model.Fraction, *problem) {
	v, p := number(n)
	switch {
	case p != nil:
		return 0, p
	case v < 1:
		return 0, &problem{fmt.Sprintf("`%s` is less than 1: each wait would be shorter than the one before", n.Text()), ""}
	case v > maxMultiplier:
		return 0, &problem{fmt.Sprintf("`%s` is more than %d", n.Text(), maxMultiplier), ""}
	}
	return model.Fraction(v*model.Whole + 0.5), nil
})

var durations = form[[]model.Duration]{&formInfo{
	name: "durations", takes: "a list of durations", parts: []*formInfo{duration.formInfo},
	schema: arrayOf(duration.formInfo, 1), examples: []any{[]any{"25ms", "75ms", "175ms"}},
}, func(r *reader, n *yamlsrc.Node) ([]model.Duration, bool) {
	if n.Kind() != yamlsrc.Seq {
		r.wrongShape(n, "a list of durations")
		return nil, false
	}
	return listOf(duration, 1)(r, n)
}}

var backoffTable = table[model.Backoff]{
	what: "a `backoff`",
	keys: []*key[model.Backoff]{
		field("base", "The wait before the first retry.", duration, func(b *model.Backoff) *model.Val[model.Duration] { return &b.Base }),
		field("multiplier", "Each wait is the one before times this. Unset is 2.", multiplier, func(b *model.Backoff) *model.Val[model.Fraction] { return &b.Multiplier }),
		field("max", "The longest wait.", duration, func(b *model.Backoff) *model.Val[model.Duration] { return &b.Max }),
		field("waits", "The waits one by one, as a platform documents them; the last repeats.", durations, func(b *model.Backoff) *model.Val[[]model.Duration] { return &b.Waits }),
		field("jitter", "How a wait w is spread: none [w, w], full [0, w], equal [w/2, w], or a share either side. Unset is none.", jitter, func(b *model.Backoff) *model.Val[model.Jitter] { return &b.Jitter }),
	},
	exclusive: []exclusive{{"waits", []string{"base", "multiplier", "max"}, "`waits` lists every wait"}},
}

var backoffForm = &formInfo{
	name: "backoff", takes: "a duration, a list of durations, or a mapping with `base` or `waits`",
	parts:    append(backoffTable.forms(), duration.formInfo),
	schema:   anyOf(duration.ref(), arrayOf(duration.formInfo, 1), backoffTable.schema()),
	examples: []any{"600ms", []any{"0ms", "50ms", "100ms"}, object{"base": "25ms", "max": "250ms", "jitter": "full"}, object{"waits": []any{"25ms", "75ms"}, "jitter": "full"}},
}

// readBackoff stores a constant or a list as waits without jitter: it replaces all of an inherited back-off.
func readBackoff(r *reader, n *yamlsrc.Node, w *model.Waiter) {
	fixed := func(waits []model.Duration) {
		w.Backoff = &model.Backoff{Waits: written(r, waits, n), Jitter: written(r, model.Jitter{}, n)}
	}
	switch n.Kind() {
	case yamlsrc.Scalar:
		if d, ok := duration.read(r, n); ok {
			fixed([]model.Duration{d})
		}
	case yamlsrc.Seq:
		if waits, ok := durations.read(r, n); ok {
			fixed(waits)
		}
	case yamlsrc.Map:
		b := w.Backoff.Get()
		backoffTable.read(r, n, &b)
		w.Backoff = &b
	default:
		r.wrongShape(n, backoffForm.takes)
	}
}

var hedgeTable = table[model.Hedge]{
	what: "a `hedge`",
	keys: []*key[model.Hedge]{
		field("after", "How long the first copy is waited for before the next is sent.", duration, func(h *model.Hedge) *model.Val[model.Duration] { return &h.After }),
		field("attempts", "Copies in all, the first included. Unset is 2.", counting, func(h *model.Hedge) *model.Val[int32] { return &h.Attempts }),
		field("budget", "The share of requests that may be hedged.", upToWhole, func(h *model.Hedge) *model.Val[model.Fraction] { return &h.Budget }),
	},
}

var hedgeForm = &formInfo{
	name: "hedge", takes: "a mapping with `after`, `attempts` and `budget`", parts: hedgeTable.forms(),
	schema: hedgeTable.schema(), examples: []any{object{"after": "50ms", "attempts": 2, "budget": "5%"}},
}

// carried is one of the things that a call can carry and a service obey.
var carried = enum("carried", []string{"deadline", "cancel"}, propagationOf)

func propagationOf(w string) model.Propagation {
	switch w {
	case "deadline":
		return model.Deadline
	case "cancel":
		return model.Cancel
	}
	return 0
}

// promise is `propagates` or `honors` in one word.
var promise = enum("", []string{"deadline", "cancel", "nothing"}, propagationOf)

var propagation = either(&formInfo{
	name: "propagation", takes: "`deadline`, `cancel`, a list of both, or `nothing`", parts: []*formInfo{carried.formInfo},
	schema:   anyOf(object{"enum": []string{"deadline", "cancel", "nothing"}}, arrayOf(carried.formInfo, 1)),
	examples: []any{"deadline", "cancel", []any{"deadline", "cancel"}, "nothing"},
}, promise.read, func(r *reader, n *yamlsrc.Node) (all model.Propagation, ok bool) {
	list, ok := listOf(carried, 1)(r, n)
	for _, p := range list {
		all |= p
	}
	return all, ok
}, nil)

var remaining = scalar(&formInfo{
	name: "remaining", takes: "a duration, or a percentile of the latency such as `p95`", examples: []any{"20ms", "p95"},
	parts:  []*formInfo{duration.formInfo},
	schema: anyOf(duration.ref(), percentileSchema),
}, func(n *yamlsrc.Node) (model.MinRemaining, *problem) {
	if strings.HasPrefix(n.Text(), "p") {
		p, bad := parsePercentile(n)
		return model.MinRemaining{Percentile: p}, bad
	}
	d, bad := parseDuration(n)
	return model.MinRemaining{D: d}, bad
})
