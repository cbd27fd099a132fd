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
	j.localWork(dst, src)
	take(j, "margin", &dst.Margin, src.Margin)
	take(j, "server_timeout", &dst.ServerTimeout, src.ServerTimeout)
	take(j, "queue_timeout", &dst.QueueTimeout, src.QueueTimeout)
	take(j, "idle_timeout", &dst.IdleTimeout, src.IdleTimeout)
	take(j, "honors", &dst.Honors, src.Honors)
	take(j, "min_remaining", &dst.MinRemaining, src.MinRemaining)
	take(j, "default_deadline", &dst.DefaultDeadline, src.DefaultDeadline)
	take(j, "max_amplification", &dst.MaxAmplify, src.MaxAmplify)
	take(j, "max_depth", &dst.MaxDepth, src.MaxDepth)
	take(j, "concurrency.workers", &dst.Workers, src.Workers)
	take(j, "concurrency.queue", &dst.Queue, src.Queue)
	take(j, "owner", &dst.Owner, src.Owner)
	j.latency(&dst.Latency, &src.Latency)
	take(j, "failure_rate", &dst.FailureRate, src.FailureRate)
	take(j, "idempotent", &dst.Idempotent, src.Idempotent)
	if len(dst.Front) == 0 {
		dst.Front = src.Front
	}
	j.ignores(&dst.Ignores, src.Ignores)
}

// ignores belong to the thing that they stand at: they are joined, never inherited.
func (j *joiner) ignores(dst *[]model.Ignore, src []model.Ignore) {
	if j.mode != filling {
		*dst = append(*dst, src...)
	}
}

// localWork is one key: who writes `local_work: 30ms` has said all of it, whatever a default has after the calls.
func (j *joiner) localWork(dst, src *model.Service) {
	if j.mode == filling && (dst.Before.Set() || dst.After.Set()) {
		return
	}
	take(j, "local_work.before", &dst.Before, src.Before)
	take(j, "local_work.after", &dst.After, src.After)
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
	take(j, "stream", &dst.Stream, src.Stream)
	take(j, "idempotent", &dst.Idempotent, src.Idempotent)
	take(j, "repeat", &dst.Repeat, src.Repeat)
	take(j, "fan_out", &dst.FanOut, src.FanOut)
	take(j, "probability", &dst.Probability, src.Probability)
	j.latency(&dst.Latency, &src.Latency)
	take(j, "headroom", &dst.Headroom, src.Headroom)
	take(j, "percentile", &dst.Percentile, src.Percentile)
	take(j, "network", &dst.Network, src.Network)
	take(j, "failure_rate", &dst.FailureRate, src.FailureRate)
	take(j, "fixed", &dst.Fixed, src.Fixed)
	take(j, "client", &dst.Client, src.Client)
	j.ignores(&dst.Ignores, src.Ignores)
	j.waiters(dst, src)
}

// name takes what a source calls the call. A plan's name for it is not a value to disagree about.
func (j *joiner) name(dst, src *model.Call) {
	take(j, "name", &dst.Name, src.Name)
	take(j, "method", &dst.Method, src.Method)
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
	take(j, "read_timeout", &dst.Read, src.Read)
	take(j, "connect_timeout", &dst.Connect, src.Connect)
	take(j, "pool_timeout", &dst.Pool, src.Pool)
	take(j, "idle_timeout", &dst.Idle, src.Idle)
	take(j, "connect_extra", &dst.ConnectExtra, src.ConnectExtra)
	j.attempts(&dst.Attempts, &dst.RetriesKey, src.Attempts, src.RetriesKey)
	take(j, "retry_on", &dst.RetryOn, src.RetryOn)
	j.backoff(&dst.Backoff, src.Backoff)
	take(j, "retry_window", &dst.RetryWindow, src.RetryWindow)
	take(j, "retry_after", &dst.RetryAfter, src.RetryAfter)
	take(j, "min_remaining", &dst.MinRemaining, src.MinRemaining)
	take(j, "retry_budget", &dst.RetryBudget, src.RetryBudget)
	take(j, "hedge.after", &dst.Hedge.After, src.Hedge.After)
	take(j, "hedge.attempts", &dst.Hedge.Attempts, src.Hedge.Attempts)
	take(j, "hedge.budget", &dst.Hedge.Budget, src.Hedge.Budget)
	take(j, "propagates", &dst.Propagates, src.Propagates)
	take(j, "header", &dst.Header, src.Header)
	take(j, "honors", &dst.Honors, src.Honors)
	if dst.Dialect == "" {
		dst.Dialect = src.Dialect
	}
	if j.mode != filling {
		dst.Dead = append(dst.Dead, src.Dead...)
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
func (j *joiner) backoff(dst *model.Backoff, src model.Backoff) {
	known, knownAt := shape(dst)
	said, saidAt := shape(&src)
	if knownAt != nil && saidAt != nil && dst.Waits.Set() != src.Waits.Set() {
		j.report("backoff", known, knownAt, said, saidAt)
		hidden := &src
		if j.wins(knownAt, saidAt) {
			hidden = dst
		}
		*hidden = model.Backoff{Jitter: hidden.Jitter}
	}
	take(j, "backoff.waits", &dst.Waits, src.Waits)
	take(j, "backoff.base", &dst.Base, src.Base)
	take(j, "backoff.max", &dst.Max, src.Max)
	take(j, "backoff.multiplier", &dst.Multiplier, src.Multiplier)
	take(j, "backoff.jitter", &dst.Jitter, src.Jitter)
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

// latency joins field by field. One duration says everything: it hides the fields of a mapping, and the reverse. What
// was measured is never mixed with percentiles of another origin.
func (j *joiner) latency(dst, src *model.Latency) {
	if !src.Set() && !src.Samples.Set() && !src.Window.Set() {
		return
	}
	if dst.Set() && src.Set() && j.mode != overriding && (dst.Caveats.Set() || src.Caveats.Set()) {
		j.measured(dst, src)
		return
	}
	said := *src
	wins := j.wins(latencyAt(dst), latencyAt(&said))
	if dst.Set() && said.Set() && dst.Exact.Set() != said.Exact.Set() {
		if wins {
			*dst = model.Latency{}
		} else {
			said = model.Latency{}
		}
	}
	take(j, "latency", &dst.Exact, said.Exact)
	take(j, "latency.min", &dst.Min, said.Min)
	take(j, "latency.max", &dst.Max, said.Max)
	dst.Points = j.points(dst.Points, said.Points)
	if len(dst.Histogram) == 0 || wins && len(said.Histogram) > 0 {
		dst.Histogram = said.Histogram
	}
	take(j, "latency.samples", &dst.Samples, said.Samples)
	take(j, "latency.window", &dst.Window, said.Window)
	take(fill, "", &dst.Timeouts, said.Timeouts)
	take(fill, "", &dst.Caveats, said.Caveats)
}

// measured joins two latencies of which one, or both, were measured. Of two measurements the one with more samples is
// used. Percentiles that somebody wrote give way to measured ones, which is information and no fault; bounds that
// somebody wrote stay, since no measurement knows them.
func (j *joiner) measured(dst, src *model.Latency) {
	used, left := *dst, *src
	if j.mode == merging && (!dst.Caveats.Set() || src.Caveats.Set() && src.Samples.Or(0) > dst.Samples.Or(0)) {
		used, left = left, used
	}
	if j.mode == merging {
		j.differ(&used, &left)
	}
	take(fill, "", &used.Min, left.Min)
	take(fill, "", &used.Max, left.Max)
	*dst = used
}

// differ says once that two sources have different latencies: at the highest percentile that both have.
func (j *joiner) differ(used, left *model.Latency) {
	for i := len(used.Points) - 1; i >= 0; i-- {
		p := used.Points[i]
		if k, found := slices.BinarySearchFunc(left.Points, p.P, byShare); found {
			if q := left.Points[k]; p.V.V != q.V.V {
				name := "latency." + p.P.Percentile()
				f := disagree.New(j.subject, diag.Span{}, "`%s` of `%s` is %s here, but %s %s, which is not used", name, j.subject, p.V.V, q.V.V, whence(q.V.From))
				f.Severity, f.Detail, f.Cause = diag.Info, name, p.V.From
				f.Help = "leave the latency out of the plan where it is measured"
				f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is %s here", name, q.V.V), At: q.V.From}}
				*j.found = append(*j.found, f)
			}
			return
		}
	}
}

func byShare(p model.Point, share model.Fraction) int { return cmp.Compare(p.P, share) }

// latencyAt is where the first of its values was written, nil where there is none.
func latencyAt(l *model.Latency) *diag.Origin {
	for _, v := range []model.Val[model.Duration]{l.Exact, l.Min, l.Max} {
		if v.Set() {
			return v.From
		}
	}
	for _, points := range [][]model.Point{l.Points, l.Histogram} {
		if len(points) > 0 {
			return points[0].V.From
		}
	}
	return nil
}

// points joins percentiles, in rising order, without touching either slice.
func (j *joiner) points(known, said []model.Point) []model.Point {
	switch {
	case len(said) == 0:
		return known
	case len(known) == 0:
		return said
	}
	joined := slices.Clone(known)
	for _, p := range said {
		i, found := slices.BinarySearchFunc(joined, p.P, byShare)
		if found {
			take(j, "latency."+p.P.Percentile(), &joined[i].V, p.V)
			continue
		}
		joined = slices.Insert(joined, i, p)
	}
	return joined
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
