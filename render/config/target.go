package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
)

// Target writes the recommended limits of a plan as the configuration of one platform. What the platform cannot say is a
// finding and a comment in the output, never silently dropped.
type Target struct {
	// Name is the word of `generate`; Title says in a few words what is written.
	Name, Title string
	// Separator stands between several files on one stream; empty where the format has no way to join them.
	Separator string
	// Formats are the values of `--format`, the first the default; empty where there is one form alone.
	Formats []string
	// Generate gives a file a service, sorted by name. Files are empty where nothing of the plan is the platform's.
	Generate func(*render.Input, Options) ([]File, []diag.Finding)
}

// Options say what of a plan to write, and how.
type Options struct {
	// Service keeps only the file of this service; empty keeps all.
	Service string
	// Format is one of Target.Formats; empty is the first.
	Format string
}

// File is one generated file.
type File struct {
	// Name is the file's, without a folder; Service is whose limits it has.
	Name, Service string
	Text          []byte
	// Values is how many limits it sets.
	Values int
}

// Targets has every target, sorted by name.
var Targets = []*Target{Card, Envoy, GRPC, Postgres}

// TargetNamed gives the target of a name, nil where there is none.
func TargetNamed(name string) *Target {
	i := slices.IndexFunc(Targets, func(t *Target) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return Targets[i]
}

// TargetNames gives the names of all targets, sorted.
func TargetNames() []string {
	names := make([]string, len(Targets))
	for i, t := range Targets {
		names[i] = t.Name
	}
	return names
}

// output collects what one target writes of one plan.
type output struct {
	*render.Input
	Options
	dialect  *dialect.Dialect
	files    []File
	findings []diag.Finding
	names    map[string]int
}

func newOutput(in *render.Input, opt Options, d *dialect.Dialect) *output {
	return &output{Input: in, Options: opt, dialect: d, names: map[string]int{}}
}

// wants reports whether the file of a service was asked for.
func (o *output) wants(service string) bool { return o.Service == "" || o.Service == service }

// file adds a file. Its name is made of the service's, which may hold anything.
func (o *output) file(service, suffix, text string, values int) {
	name := hostName(service)
	o.names[name]++
	if n := o.names[name]; n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	o.files = append(o.files, File{Name: name + suffix, Service: service, Text: []byte(text), Values: values})
}

func (o *output) done() ([]File, []diag.Finding) {
	slices.SortStableFunc(o.files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return o.files, o.findings
}

// hostName makes of a name one that a file and a host can have.
func hostName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
	s = strings.Trim(s, ".-")
	if len(s) > maxName {
		s = s[:maxName]
	}
	return cmp.Or(s, "service")
}

// maxName is the longest name of a host, and shorter than any file system's.
const maxName = 200

// say reports what the platform cannot say of a call. Cause is the value that is lost, nil where none is written.
// It gives the message, for a comment.
func (o *output) say(code *diag.Code, l *limits, cause *diag.Origin, help, format string, args ...any) string {
	f := code.New(l.id, diag.Span{}, format, args...)
	f.Detail, f.Help, f.Cause = o.dialect.Name, help, cause
	if f.At = l.call.At; cause != nil && cause.Default == nil && !cause.Nowhere() {
		f.At = diag.Span{}
	}
	f.Touched = o.Solution.Nodes[o.Graph.Legs[l.leg].From].Touched
	o.findings = append(o.findings, f)
	return f.Message
}

// limits are what one waiter of one call is to have: recommended where there is a budget, else as configured.
type limits struct {
	id     string
	leg    int
	call   *model.Call
	waiter *model.Waiter
	callee *model.Service
	caller *model.Service
	// Timeout is NoLimit for none and Unknown where there is nothing to write. PerTry is 0 for none.
	Timeout, PerTry model.Duration
	Attempts        int64
	RetryOn         model.Failures
	Stream          bool
	// fixed says that the per-try timeout is the plan's own word.
	fixed bool
	// Kept says why the timeout is the configured one; empty for a recommended one.
	Kept string
	// waits are the upper bounds of the waits before each retry.
	waits []model.Duration
}

// mostWaits is how many waits before a retry are told one by one.
const mostWaits = 64

// limitsOf collects what a call is to have at the waiter that speaks the dialect: the one that was read from it or is
// called after it, else the caller's own client.
func (o *output) limitsOf(id model.CallID) (limits, bool) {
	first := o.Graph.FirstLeg[id]
	if first < 0 {
		return limits{}, false
	}
	c := &o.Plan.Calls[id]
	at := 0
	for i := range c.Waiters {
		if w := &c.Waiters[i]; w.Dialect == o.dialect.Name || w.Name == o.dialect.Name {
			at = i
			break
		}
	}
	leg := int(first) + at
	l, t, w := &o.Graph.Legs[leg], &o.Solution.Legs[leg], &c.Waiters[at]
	out := limits{
		id: o.Graph.LegName(first) + legSuffix(at, w), leg: leg, call: c, waiter: w,
		caller: &o.Plan.Services[c.From], callee: &o.Plan.Services[c.To],
		Timeout: t.Recommended.Timeout, PerTry: t.Recommended.PerTry, Attempts: t.Recommended.Attempts,
		RetryOn: w.Retried(), Stream: l.Stream, fixed: l.Fixed.PerTry(),
	}
	switch {
	case l.Stream:
		out.Timeout, out.PerTry, out.Kept = model.NoLimit, 0, "a stream has no end that a timeout could know"
	case out.Timeout > 0 && l.Fixed.Timeout():
		out.Kept = "fixed"
	case out.Timeout > 0:
	default:
		out.Timeout, out.PerTry, out.Kept = w.Timeout.Or(model.Unknown), w.PerTry.Or(0), "as configured: no SLO reaches the call"
		if out.PerTry >= out.Timeout || !out.PerTry.Finite() {
			out.PerTry = 0
		}
	}
	if out.Attempts > 1 {
		for k := int64(1); k < min(out.Attempts, mostWaits); k++ {
			_, hi := w.Backoff.Wait(k)
			out.waits = append(out.waits, hi)
		}
	}
	return out, true
}

func legSuffix(at int, w *model.Waiter) string {
	if at == 0 {
		return ""
	}
	return "@" + w.Name
}

// fit gives the per-try timeout with which all attempts and the waits that the platform can say end before the timeout,
// 0 where none does. A fixed one stays, where it can act at all.
func (l *limits) fit(waits model.Duration) model.Duration {
	switch {
	case l.PerTry == 0 || !l.Timeout.Finite():
		return l.PerTry
	case l.PerTry >= l.Timeout:
		if l.fixed {
			return 0
		}
	case l.fixed:
		return l.PerTry
	}
	most := (l.Timeout - 1).Sub(waits).Div(max(1, l.Attempts))
	if l.PerTry <= most {
		return l.PerTry
	}
	return max(0, most-most%model.Millisecond)
}

// change says what a value was and what it becomes.
func change(before model.Val[model.Duration], now model.Duration) string {
	was := "not set"
	if before.Set() {
		was = before.V.String()
	}
	if was == now.String() {
		return was + ", unchanged"
	}
	return was + " → " + now.String()
}

// callsOf gives the limits of the calls of a service that a filter takes, in plan order.
func (o *output) callsOf(s model.ServiceID, take func(*model.Service) bool) []limits {
	var out []limits
	o.Plan.Services[s].Flow.Walk(func(id model.CallID) {
		if l, ok := o.limitsOf(id); ok && take(l.callee) {
			out = append(out, l)
		}
	})
	return out
}

// others are kinds of service that speak neither HTTP nor gRPC.
var others = []string{"postgres", "mysql", "redis", "mongodb", "queue", "kafka", "database", "cache"}

// http reports whether requests to a service can be HTTP: every kind but those known to be none.
func http(s *model.Service) bool { return !slices.Contains(others, s.Kind.V) }

// elsewhere reports the calls of a service that the platform does not carry at all.
func (o *output) elsewhere(s model.ServiceID) (comments []string) {
	for _, l := range o.callsOf(s, func(callee *model.Service) bool { return !http(callee) }) {
		comments = append(comments, o.say(NotCarried, &l, l.callee.Kind.From, elsewhereHelp(l.callee.Kind.V),
			"%s does not carry `%s`: `%s` is of kind `%s`", o.dialect.Title, l.id, l.callee.Name, l.callee.Kind.V))
	}
	return comments
}

func elsewhereHelp(kind string) string {
	if kind == Postgres.Name {
		return "`budgetplan generate postgres` writes its limits"
	}
	return "set its limit in the client that makes the call"
}

// without reports a call that there is nothing to write for, and leaves it out.
func (o *output) without(l *limits) string {
	return o.say(NothingToSay, l, nil, "give the entrypoint that reaches it an slo, or the call a timeout",
		"`%s` has neither a budget nor a timeout, and is left out", l.id)
}

// unsaid reports further keys of a call that the platform has no word for.
func (o *output) unsaid(l *limits, said ...string) (comments []string) {
	w := l.waiter
	for _, k := range []struct {
		key, text string
		from      *diag.Origin
	}{
		{"read_timeout", plain(w.Read().V), w.Read().From},
		{"connect_timeout", plain(w.Connect.V), w.Connect.From},
		{"pool_timeout", plain(w.Pool().V), w.Pool().From},
		{"idle_timeout", plain(w.Idle().V), w.Idle().From},
		{"retry_window", plain(w.RetryWindow().V), w.RetryWindow().From},
		{"min_remaining", minRemaining(w.MinRemaining().V), w.MinRemaining().From},
		{"retry_budget", plain(w.RetryBudget().V), w.RetryBudget().From},
		{"hedge", "copies of a request", cmp.Or(w.Hedge().After.From, w.Hedge().Attempts.From)},
	} {
		if !k.from.Written() || slices.Contains(said, k.key) {
			continue
		}
		comments = append(comments, o.say(KeyNotSaid, l, k.from, "set it in the client, or take it out of the plan",
			"%s cannot say `%s` (%s) of `%s`", o.dialect.Title, k.key, k.text, l.id))
	}
	return comments
}

// banner writes the comment that every file opens with: what it is, where it goes, what it changes, how to undo it.
type banner struct {
	what, where, undo string
	changes, caveats  []string
}

func (b *banner) lines(in *render.Input) []string {
	out := []string{b.what, "Generated by budgetplan; change the plan and generate again.", b.where}
	if unproven(in) {
		out = append(out, "Not all needs are known: the values fill the budgets, and nothing proves that they suffice.")
	}
	if len(b.changes) > 0 {
		out = append(out, "Changes, before → after:")
		for _, c := range b.changes {
			out = append(out, "  "+c)
		}
	}
	for _, c := range b.caveats {
		out = append(out, "Not said here: "+c)
	}
	return append(out, b.undo)
}

// text writes the lines behind a mark, each on one line whatever the names in it hold.
func (b *banner) text(in *render.Input, mark string) string {
	var s strings.Builder
	for _, l := range b.lines(in) {
		s.WriteString(mark + " " + oneLine(l) + "\n")
	}
	return s.String()
}

// unproven reports whether an entrypoint with an SLO has a need that is not known in full.
func unproven(in *render.Input) bool {
	for i := range in.Graph.Roots {
		if in.Graph.Roots[i].SLO != model.NoLimit && !in.Solution.Roots[i].FeasibleKnown {
			return true
		}
	}
	return false
}
