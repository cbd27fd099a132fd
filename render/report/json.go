package report

import (
	"bufio"
	"io"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// JSON writes the numbers and findings of a plan, one record a line, as docs/json.md and Schema describe them.
// Several plans of one run are the elements of `plans`.
var JSON = &render.Renderer{
	Name: "json", Kind: render.Check | render.Plan, Allowed: true, Title: "every number and finding, for programs",
	Render:   func(w io.Writer, in *render.Input) error { return document(w, []*render.Input{in}, writePlan) },
	Together: func(w io.Writer, ins []*render.Input) error { return document(w, ins, writePlan) },
}

// document writes the lists of a plan, of several plans under `plans`.
func document(w io.Writer, ins []*render.Input, lists func(out *bufio.Writer, in *render.Input, indent string)) error {
	out := bufio.NewWriter(w)
	out.WriteString("{\"version\": 1")
	if len(ins) == 1 {
		lists(out, ins[0], " ")
		out.WriteString("\n}\n")
		return out.Flush()
	}
	out.WriteString(",\n \"plans\": [")
	for i, in := range ins {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  {\"plan\": ")
		out.Write(appendString(nil, in.PlanName()))
		lists(out, in, "   ")
		out.WriteString("\n  }")
	}
	out.WriteString("\n ]\n}\n")
	return out.Flush()
}

// writePlan writes the five lists of a plan.
func writePlan(out *bufio.Writer, in *render.Input, indent string) {
	var roots, services, legs, read int
	if solved(in) {
		roots, services, legs = len(in.Graph.Roots), len(in.Plan.Services), len(in.Graph.Legs)
	}
	if in.Plan != nil {
		read = len(in.Plan.Read)
	}
	records(out, indent, "entrypoints", roots, func(o *object, i int) { jsonRoot(o, in, i) })
	records(out, indent, "services", services, func(o *object, i int) { jsonService(o, in, i) })
	records(out, indent, "calls", legs, func(o *object, i int) { jsonLeg(o, in, solver.LegID(i)) })
	records(out, indent, "findings", len(in.Findings), func(o *object, i int) { jsonFinding(o, &in.Findings[i]) })
	records(out, indent, "read", read, func(o *object, i int) { jsonRead(o, &in.Plan.Read[i]) })
}

// records writes one list, one record a line.
func records(out *bufio.Writer, indent, key string, n int, fill func(o *object, i int)) {
	out.WriteString(",\n" + indent + `"` + key + `": [`)
	var buffer []byte
	for i := range n {
		if i > 0 {
			out.WriteString(",")
		}
		o := object{b: append(buffer[:0], '{')}
		fill(&o, i)
		buffer = append(o.b, '}')
		out.WriteString("\n" + indent + "  ")
		out.Write(buffer)
	}
	if n > 0 {
		out.WriteString("\n" + indent)
	}
	out.WriteString("]")
}

func jsonRoot(o *object, in *render.Input, i int) {
	root, times := &in.Graph.Roots[i], &in.Solution.Roots[i]
	o.text("name", rootName(in, i))
	o.text("call", nodeName(in, root.Node))
	o.ms("slo", unsetIsUnknown(root.SLO))
	o.ms("timeout", rootTimeout(root))
	o.ms("overhead", root.Overhead)
	o.need(times.Need)
	o.slack(times.Slack, times.SlackKnown)
	if times.FeasibleKnown {
		o.boolean("feasible", times.Feasible)
	} else {
		o.null("feasible")
	}
	o.ms("wait", times.Wait)
	o.ms("work_ends", times.WorkEnds)
	o.objects("fixes", len(times.Fixes), func(o *object, k int) {
		fix := &times.Fixes[k]
		o.text("change", changeText(in, fix))
		settings := in.Graph.Settings(int32(i), fix)
		o.objects("set", len(settings), func(o *object, i int) { jsonFix(o, &settings[i]) })
		o.ms("need", fix.Need)
		o.boolean("feasible", fix.Feasible)
	})
}

func jsonService(o *object, in *render.Input, i int) {
	times := &in.Solution.Nodes[i]
	o.text("name", in.Plan.Services[i].Name)
	o.ms("received", times.Received)
	o.textOrNull("received_by", receivedBy(in, times))
	o.need(times.Need)
	o.slack(times.Slack, times.SlackKnown)
	o.ms("flow", times.Flow)
	o.ms("busy", times.Busy)
	o.ms("waited", times.Waited)
	o.ms("work", times.Work)
	o.counts("attempts", times.Attempts)
}

func jsonLeg(o *object, in *render.Input, id solver.LegID) {
	leg, times := &in.Graph.Legs[id], &in.Solution.Legs[id]
	call, waiter := in.Graph.CallOf(id)
	o.text("id", in.Graph.LegName(id))
	o.text("from", in.Plan.Services[call.From].Name)
	o.text("to", in.Plan.Services[call.To].Name)
	o.count("attempts", leg.Attempts)
	o.ms("timeout", leg.Timeout)
	o.ms("per_try_timeout", leg.PerTry)
	o.ms("attempt_limit", times.Limit)
	o.ms("patience", times.Patience)
	o.list("backoff_ms", int(min(leg.Attempts-1, mostWaits)), func(b []byte, k int) []byte {
		_, hi := waiter.Backoff.Wait(int64(k) + 1)
		return appendMS(b, hi)
	})
	o.ms("backoff_sum", times.BackoffSum)
	o.ms("sequence", times.Sequence)
	o.ms("uncut", times.Uncut)
	o.ms("wait", times.Wait)
	o.ms("busy", times.Busy)
	o.ms("orphan", times.Orphan)
	o.boolean("enforced", times.Enforced)
	o.ms("starts", times.Starts)
	o.ms("left", times.Left)
	o.product("attempts_started", times.Started)
	o.product("attempts_full", times.Full)
	o.product("attempts_possible", times.Possible)
	jsonWay(o, "if_hangs", &times.Hang)
	jsonWay(o, "if_fails_late", &times.Late)
	jsonWay(o, "if_fails_fast", &times.Fast)
	jsonLatency(o, leg, call)
	if share, known := leg.FalseTimeout(); known {
		o.number("false_timeout", share)
	} else {
		o.null("false_timeout")
	}
	o.ms("budget", times.Budget)
	o.textOrNull("budget_by", rootNameIf(in, times.Budget.Finite(), times.BudgetBy))
	o.need(times.Need)
	o.ms("allowed", times.Allowed)
	o.slack(times.Slack, times.SlackKnown)
	o.counts("amplification", times.Amplification)
	jsonRecommended(o, leg, times)
	o.at(legPlace(call, waiter, leg))
}

// mostWaits is how many back-off waits of one call are listed.
const mostWaits = 64

func jsonWay(o *object, key string, way *solver.Way) {
	o.object(key, func(o *object) {
		o.product("attempts_started", way.Started)
		o.ms("last_attempt", way.Last)
		o.ms("wait", way.Wait)
	})
}

// jsonLatency writes what is known of the callee's latency: p99 always, the others where they are given.
func jsonLatency(o *object, leg *solver.Leg, call *model.Call) {
	var l model.Latency
	if leg.Last {
		l = call.Latency.Get()
	}
	o.object("latency_ms", func(o *object) {
		known := func(key string, v model.Val[model.Duration]) {
			if v.Set() {
				o.key(key)
				o.b = appendMS(o.b, v.V)
			}
		}
		known("min", l.Least())
		p99 := l.Exact
		for _, points := range [][]model.Point{l.Points, l.Histogram} {
			for _, p := range points {
				switch {
				case p.P == p99Fraction:
					p99 = p.V
				case p.P < model.Whole && !repeated(l.Points, points, p.P):
					known(p.P.Percentile(), p.V)
				}
			}
		}
		if p99.Set() {
			known("p99", p99)
		} else {
			o.null("p99")
		}
		known("max", l.Most())
	})
	if !l.Set() {
		o.text("latency", "unknown")
	}
}

const p99Fraction model.Fraction = 990_000

// repeated reports whether a bucket of a histogram repeats a percentile that was given as one.
func repeated(given, points []model.Point, p model.Fraction) bool {
	if len(given) == 0 || &given[0] == &points[0] {
		return false
	}
	for _, g := range given {
		if g.P == p {
			return true
		}
	}
	return false
}

func jsonRecommended(o *object, leg *solver.Leg, times *solver.LegTimes) {
	o.object("recommended", func(o *object) {
		timeout := times.Recommended.Timeout
		if timeout == 0 && !times.Budget.Finite() {
			timeout = model.Unknown
		}
		o.msOrNull("timeout", timeout)
		o.msOrNull("per_try_timeout", times.Recommended.PerTry)
		attempts := times.Recommended.Attempts
		if attempts == 0 {
			attempts = leg.Attempts
		}
		o.count("retries", attempts-1)
	})
}

func jsonFinding(o *object, f *diag.Finding) {
	o.text("code", f.Code.ID)
	o.text("name", f.Code.Name)
	o.text("severity", f.Severity.String())
	o.text("subject", f.Subject)
	o.text("detail", f.Detail)
	o.text("message", f.Message)
	o.text("help", f.Help)
	o.at(f.Place())
	jsonDefault(o, f.Cause)
	o.objects("notes", len(f.Notes), func(o *object, i int) {
		n := &f.Notes[i]
		o.text("text", n.Text)
		var at diag.Span
		if n.At != nil {
			at = n.At.Place()
		}
		o.at(at)
		jsonDefault(o, n.At)
	})
	subjects := f.Subjects
	if len(subjects) == 0 {
		subjects = []string{f.Subject}
	}
	o.count("count", int64(max(1, f.Count)))
	o.list("subjects", len(subjects), func(b []byte, i int) []byte { return appendString(b, subjects[i]) })
	o.objects("fixes", len(f.Fixes), func(o *object, i int) { jsonFix(o, &f.Fixes[i]) })
	if f.Ignored == nil {
		o.null("ignored")
		return
	}
	o.object("ignored", func(o *object) {
		o.text("reason", f.Ignored.Reason)
		o.at(f.Ignored.At)
	})
}

func jsonFix(o *object, fix *diag.Fix) {
	o.text("subject", fix.Subject)
	o.text("key", fix.Key)
	o.at(fix.At)
	o.textOrNull("from", fix.From)
	o.textOrNull("bound", fix.Bound)
	o.text("to", fix.To)
	if len(fix.With) > 0 {
		o.objects("with", len(fix.With), func(o *object, i int) { jsonFix(o, &fix.With[i]) })
	}
}

// jsonDefault names the default that supplied a value, null where nobody's did.
func jsonDefault(o *object, from *diag.Origin) {
	if from == nil || from.Default == nil {
		o.null("default")
		return
	}
	d := from.Default
	o.object("default", func(o *object) {
		o.text("platform", d.Platform)
		o.text("field", d.Field)
		o.text("value", d.Value)
		o.textOrNull("since", d.Since)
		o.textOrNull("source", d.Source)
	})
}

func jsonRead(o *object, r *model.Read) {
	o.text("file", r.File)
	o.textOrNull("as", r.As)
	o.count("calls", int64(r.Calls))
	o.textOrNull("skipped", r.Skipped)
}
