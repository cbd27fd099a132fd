package merge

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// joiner joins what a source says of one thing to what is known of it, key by key. A value that only one of them
// gives is taken. Of two, the mode decides.
type joiner struct {
	mode    mode
	subject string
	plans   map[string]bool // the names of plan files
	found   *[]diag.Finding
}

type mode uint8

const (
	// merging uses what runs: a config's value, then a config's default, then a plan's; of equals the known one.
	// That two differ is reported.
	merging mode = iota
	// filling keeps what is known: defaults and other inherited values.
	filling
	// overriding uses what is said, without a word: somebody asks what would be.
	overriding
)

var (
	fill     = &joiner{mode: filling}
	override = &joiner{mode: overriding}
)

// wins reports whether of two values the one that is said is used.
func (j *joiner) wins(known, said *diag.Origin) bool {
	switch j.mode {
	case filling:
		return false
	case overriding:
		return true
	}
	return j.rank(said) > j.rank(known)
}

func (j *joiner) rank(o *diag.Origin) int {
	switch {
	case o == nil:
		return 0
	case o.Default != nil:
		return 2
	case j.plans[o.File]:
		return 1
	}
	return 3
}

func take[T any](j *joiner, key string, dst *model.Val[T], src model.Val[T]) {
	switch {
	case !src.Set():
	case !dst.Set():
		*dst = src
	default:
		if j.mode == merging && !reflect.DeepEqual(dst.V, src.V) {
			j.report(key, show(dst.V), dst.From, show(src.V), src.From)
		}
		if j.wins(dst.From, src.From) {
			*dst = src
		}
	}
}

// takeLimit joins a limit as take does, except that a platform which sets none by itself says nothing against a limit
// that somebody has: it stops nothing, and the other one still does.
func takeLimit(j *joiner, key string, dst *model.Val[model.Duration], src model.Val[model.Duration]) {
	silent := func(v model.Val[model.Duration]) bool { return v.Set() && !v.Written() && !v.V.Finite() }
	switch {
	case j.mode == merging && silent(src) && dst.Set():
	case j.mode == merging && silent(*dst) && src.Set():
		*dst = src
	default:
		take(j, key, dst, src)
	}
}

// show writes a value as the plan language does.
func show(v any) string {
	switch v := v.(type) {
	case int32:
		if v == model.Unlimited {
			return "unlimited"
		}
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []model.Duration:
		words := make([]string, len(v))
		for i, d := range v {
			words[i] = d.String()
		}
		return "[" + strings.Join(words, ", ") + "]"
	case model.Thresholds:
		return fmt.Sprintf("{warning: %d, error: %d}", v.Warning, v.Error)
	case model.MinRemaining:
		if v.Percentile > 0 {
			return v.Percentile.Percentile()
		}
		return v.D.String()
	case model.Fixed:
		if v.All {
			return "true"
		}
		return fmt.Sprint(v.Keys)
	}
	return fmt.Sprint(v)
}

// report says that two sources give one value differently: BP004 of two plan files, BP008 where a config is one of
// them. A platform's default that is not used was nobody's word.
func (j *joiner) report(key, known string, knownAt *diag.Origin, said string, saidAt *diag.Origin) {
	if j.mode != merging {
		return
	}
	used, usedAt, left, leftAt := known, knownAt, said, saidAt
	if j.wins(knownAt, saidAt) {
		used, usedAt, left, leftAt = said, saidAt, known, knownAt
	}
	if !leftAt.Written() {
		return
	}
	// Of a config's value and a plan's the config's is what runs, and the plan's is the note. In two plan files, and in
	// two configs, the later value is in the way.
	code, at := disagree, usedAt
	message := fmt.Sprintf("`%s` of `%s` is %s here, but %s %s, which is not used", key, j.subject, used, left, whence(leftAt))
	note := diag.Note{Text: fmt.Sprintf("`%s` is %s here", key, left), At: leftAt}
	help := fmt.Sprintf("if %s is meant, write it into the config; else leave `%s` out of the plan", left, key)
	if j.rank(leftAt) != 1 || j.rank(usedAt) == 1 {
		at = leftAt
		message = fmt.Sprintf("`%s` of `%s` is %s here, but %s %s, which is used", key, j.subject, left, used, whence(usedAt))
		note = diag.Note{Text: fmt.Sprintf("`%s` is %s here", key, used), At: usedAt}
		help = fmt.Sprintf("keep `%s` in one of the two files", key)
	}
	if j.rank(usedAt) == 1 {
		code = duplicate
	}
	f := code.New(j.subject, diag.Span{}, "%s", message)
	f.Detail, f.Cause, f.Help, f.Notes = key, at, help, []diag.Note{note}
	*j.found = append(*j.found, f)
}

func whence(at *diag.Origin) string {
	switch {
	case at == nil:
		return "elsewhere"
	case at.Default != nil:
		return "by " + at.Default.Platform + "'s default"
	}
	return "in `" + at.File + "`"
}

func originOf(at diag.Span) *diag.Origin { return diag.At(at) }

func (j *joiner) service(dst, src *model.Service) {
	take(j, "kind", &dst.Kind, src.Kind)
	after := j.localWork(dst, src)
	take(j, "margin", &dst.Margin, src.Margin)
	take(j, "server_timeout", &dst.ServerTimeout, src.ServerTimeout)
	take(j, "honors", &dst.Honors, src.Honors)
	j.latency(&dst.Latency, src.Latency)
	j.serviceRare(dst, src, after)
}

func (j *joiner) serviceRare(dst, src *model.Service, after bool) {
	s := src.Rare
	switch {
	case s == nil:
		return
	case dst.Rare == nil && len(s.Ignores) == 0 && (after || !s.After.Set()):
		dst.Rare = s
		return
	}
	d := dst.Edit()
	if after {
		take(j, "local_work.after", &d.After, s.After)
	}
	take(j, "queue_timeout", &d.QueueTimeout, s.QueueTimeout)
	take(j, "idle_timeout", &d.IdleTimeout, s.IdleTimeout)
	take(j, "min_remaining", &d.MinRemaining, s.MinRemaining)
	take(j, "default_deadline", &d.DefaultDeadline, s.DefaultDeadline)
	take(j, "max_amplification", &d.MaxAmplify, s.MaxAmplify)
	take(j, "max_depth", &d.MaxDepth, s.MaxDepth)
	take(j, "concurrency.workers", &d.Workers, s.Workers)
	take(j, "concurrency.queue", &d.Queue, s.Queue)
	take(j, "owner", &d.Owner, s.Owner)
	take(j, "failure_rate", &d.FailureRate, s.FailureRate)
	take(j, "idempotent", &d.Idempotent, s.Idempotent)
	if len(d.Front) == 0 {
		d.Front = s.Front
	}
	j.ignores(&d.Ignores, s.Ignores)
}

// ignores belong to the thing that they stand at: they are joined, never inherited.
func (j *joiner) ignores(dst *[]model.Ignore, src []model.Ignore) {
	if j.mode != filling {
		*dst = append(slices.Clip(*dst), src...)
	}
}

// localWork is one key: who writes `local_work: 30ms` has said all of it, whatever a default has after the calls.
// It tells whether the work after the calls is still to be joined.
func (j *joiner) localWork(dst, src *model.Service) (after bool) {
	if j.mode == filling && (dst.Before.Set() || dst.After().Set()) {
		return false
	}
	take(j, "local_work.before", &dst.Before, src.Before)
	return true
}

func (j *joiner) entrypoint(dst, src *model.Entrypoint) {
	take(j, "slo", &dst.SLO, src.SLO)
	take(j, "percentile", &dst.Percentile, src.Percentile)
	take(j, "overhead", &dst.Overhead, src.Overhead)
	take(j, "timeout", &dst.Timeout, src.Timeout)
	j.attempts(&dst.Attempts, &dst.RetriesKey, src.Attempts, src.RetriesKey)
	take(j, "rate", &dst.Rate, src.Rate)
	j.ignores(&dst.Ignores, src.Ignores)
}

func (j *joiner) call(dst, src *model.Call) {
	fill.name(dst, src)
	take(j, "optional", &dst.Optional, src.Optional)
	take(j, "async", &dst.Async, src.Async)
	take(j, "idempotent", &dst.Idempotent, src.Idempotent)
	j.latency(&dst.Latency, src.Latency)
	j.callRare(dst, src)
	j.waiters(dst, src)
}

func (j *joiner) callRare(dst, src *model.Call) {
	switch s := src.Rare; {
	case s == nil:
	case dst.Rare == nil && len(s.Ignores) == 0:
		dst.Rare = s
	default:
		d := dst.Edit()
		take(j, "stream", &d.Stream, s.Stream)
		take(j, "repeat", &d.Repeat, s.Repeat)
		take(j, "fan_out", &d.FanOut, s.FanOut)
		take(j, "probability", &d.Probability, s.Probability)
		take(j, "headroom", &d.Headroom, s.Headroom)
		take(j, "percentile", &d.Percentile, s.Percentile)
		take(j, "network", &d.Network, s.Network)
		take(j, "failure_rate", &d.FailureRate, s.FailureRate)
		take(j, "fixed", &d.Fixed, s.Fixed)
		take(j, "client", &d.Client, s.Client)
		j.ignores(&d.Ignores, s.Ignores)
	}
}

// name takes what a source calls the call. A plan's name for it is not a value to disagree about.
func (j *joiner) name(dst, src *model.Call) {
	if name := src.Name(); name.Set() && !dst.Name().Set() {
		dst.Edit().Name = name
	}
	if method := src.Method(); method.Set() && !dst.Method().Set() {
		dst.Edit().Method = method
	}
	if dst.Route == "" {
		dst.Route = src.Route
	}
}

// waiters joins the caller's own clients, then the further waiters by name. Inherited values reach the first
// waiter alone.
func (j *joiner) waiters(dst, src *model.Call) {
	if len(src.Waiters) == 0 {
		return
	}
	if len(dst.Waiters) == 0 {
		dst.Waiters = slices.Clone(src.Waiters)
		return
	}
	j.waiter(&dst.Waiters[0], &src.Waiters[0])
	if j.mode == filling {
		return
	}
	for i := 1; i < len(src.Waiters); i++ {
		w := &src.Waiters[i]
		k := slices.IndexFunc(dst.Waiters[1:], func(d model.Waiter) bool { return d.Name == w.Name })
		if k < 0 {
			dst.Waiters = append(slices.Clip(dst.Waiters), *w)
			continue
		}
		j.waiter(&dst.Waiters[k+1], w)
	}
}

func (j *joiner) waiter(dst, src *model.Waiter) {
	takeLimit(j, "timeout", &dst.Timeout, src.Timeout)
	take(j, "per_try_timeout", &dst.PerTry, src.PerTry)
	take(j, "connect_timeout", &dst.Connect, src.Connect)
	j.attempts(&dst.Attempts, &dst.RetriesKey, src.Attempts, src.RetriesKey)
	j.backoff(&dst.Backoff, src.Backoff)
	take(j, "propagates", &dst.Propagates, src.Propagates)
	if dst.Dialect == "" {
		dst.Dialect = src.Dialect
	}
	j.waiterRare(dst, src)
}

func (j *joiner) waiterRare(dst, src *model.Waiter) {
	switch s := src.Rare; {
	case s == nil:
	case dst.Rare == nil && len(s.Dead) == 0:
		dst.Rare = s
	default:
		d := dst.Edit()
		take(j, "read_timeout", &d.Read, s.Read)
		take(j, "pool_timeout", &d.Pool, s.Pool)
		take(j, "idle_timeout", &d.Idle, s.Idle)
		take(j, "connect_extra", &d.ConnectExtra, s.ConnectExtra)
		take(j, "retry_on", &d.RetryOn, s.RetryOn)
		take(j, "retry_window", &d.RetryWindow, s.RetryWindow)
		take(j, "retry_after", &d.RetryAfter, s.RetryAfter)
		take(j, "min_remaining", &d.MinRemaining, s.MinRemaining)
		take(j, "retry_budget", &d.RetryBudget, s.RetryBudget)
		take(j, "hedge.after", &d.Hedge.After, s.Hedge.After)
		take(j, "hedge.attempts", &d.Hedge.Attempts, s.Hedge.Attempts)
		take(j, "hedge.budget", &d.Hedge.Budget, s.Hedge.Budget)
		take(j, "header", &d.Header, s.Header)
		take(j, "honors", &d.Honors, s.Honors)
		if j.mode != filling {
			d.Dead = append(slices.Clip(d.Dead), s.Dead...)
		}
	}
}

// attempts joins a count with the key that it was written as. Two counts of retries are told as such.
func (j *joiner) attempts(dst *model.Val[int32], key *string, src model.Val[int32], srcKey string) {
	wins := src.Set() && (!dst.Set() || j.wins(dst.From, src.From))
	switch {
	case j.mode == merging && src.Set() && dst.Set() && src.V != dst.V && *key == "retries" && srcKey == "retries":
		j.report("retries", retries(dst.V), dst.From, retries(src.V), src.From)
		if wins {
			*dst = src
		}
	default:
		take(j, "attempts", dst, src)
	}
	if wins {
		*key = srcKey
	}
}

// retries writes a number of attempts as the retries among them.
func retries(attempts int32) string {
	if attempts == model.Unlimited {
		return show(attempts)
	}
	return show(attempts - 1)
}

// backoff joins the two ways to write one: who gives `waits` hides a growing back-off, and the reverse.
func (j *joiner) backoff(to **model.Backoff, from *model.Backoff) {
	if from == nil || *to == nil {
		*to = cmp.Or(*to, from)
		return
	}
	dst, src := **to, *from
	known, knownAt := shape(&dst)
	said, saidAt := shape(&src)
	if knownAt != nil && saidAt != nil && dst.Waits.Set() != src.Waits.Set() {
		j.report("backoff", known, knownAt, said, saidAt)
		hidden := &src
		if j.wins(knownAt, saidAt) {
			hidden = &dst
		}
		*hidden = model.Backoff{Jitter: hidden.Jitter}
	}
	take(j, "backoff.waits", &dst.Waits, src.Waits)
	take(j, "backoff.base", &dst.Base, src.Base)
	take(j, "backoff.max", &dst.Max, src.Max)
	take(j, "backoff.multiplier", &dst.Multiplier, src.Multiplier)
	take(j, "backoff.jitter", &dst.Jitter, src.Jitter)
	*to = &dst
}

// shape says how a back-off is written, and where; nil where only its jitter is, if anything.
func shape(b *model.Backoff) (string, *diag.Origin) {
	switch {
	case b.Waits.Set():
		return show(b.Waits.V), b.Waits.From
	case b.Base.Set():
		return "base " + show(b.Base.V), b.Base.From
	case b.Max.Set():
		return "max " + show(b.Max.V), b.Max.From
	}
	return "multiplier " + b.Multiplier.V.String(), b.Multiplier.From
}

func (j *joiner) policy(dst, src *model.Policy) {
	take(j, "preset", &dst.Preset, src.Preset)
	take(j, "max_amplification", &dst.MaxAmplify, src.MaxAmplify)
	take(j, "samples", &dst.Samples, src.Samples)
	take(j, "allocation", &dst.Allocation, src.Allocation)
	takeMap(j, &dst.Rules, src.Rules)
}

// takeMap joins two mappings key by key, in the order of the keys.
func takeMap[T any](j *joiner, dst *map[string]model.Val[T], src map[string]model.Val[T]) {
	if len(src) == 0 {
		return
	}
	joined := maps.Clone(*dst)
	if joined == nil {
		joined = make(map[string]model.Val[T], len(src))
	}
	for _, key := range slices.Sorted(maps.Keys(src)) {
		v := joined[key]
		take(j, key, &v, src[key])
		joined[key] = v
	}
	*dst = joined
}
