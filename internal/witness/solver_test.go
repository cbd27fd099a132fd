package witness_test

import (
	"fmt"
	"strconv"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// product gives the solver's numbers under the witness's names.
type product struct {
	g   *solver.Graph
	s   *solver.Solution
	out witness.Numbers
}

func solve(p *model.Plan, policy string) witness.Numbers {
	g, _ := solver.Compile(p)
	x := product{g, solver.Solve(g, solver.Options{Policy: policy, Allowed: true}), witness.Numbers{}}
	for i := range g.Legs {
		x.leg(solver.LegID(i))
	}
	for i := range p.Services {
		x.service(p.Services[i].Name, &x.s.Nodes[i])
	}
	for i := range p.Entrypoints {
		x.entrypoint(p.Entrypoints[i].Name, &x.s.Roots[i])
	}
	return x.out
}

func (x *product) put(value any, format string, args ...any) {
	x.out[fmt.Sprintf(format, args...)] = fmt.Sprint(value)
}

// dur is a duration as the witness writes it.
func dur(d model.Duration) string {
	switch {
	case d == model.NoLimit:
		return "none"
	case d == model.Unknown:
		return "unknown"
	case d < 0:
		return "-" + dur(-d)
	}
	return strconv.FormatFloat(float64(d/model.Millisecond), 'f', -1, 64) + fraction(int64(d%model.Millisecond)) + "ms"
}

func fraction(n int64) string {
	if n == 0 {
		return ""
	}
	digits := fmt.Sprintf("%06d", n)
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return "." + digits
}

func partly(word string, v model.Duration, known solver.Knowledge) string {
	switch known {
	case solver.Nothing:
		return "unknown"
	case solver.Partial:
		return word + " " + dur(v)
	}
	return dur(v)
}

func (x *product) leg(l solver.LegID) {
	id, t := x.g.LegName(l), &x.s.Legs[l]
	_, w := x.g.CallOf(l)
	backoffLeast, _ := w.Backoff.Sum(x.g.Legs[l].Attempts - 1)
	for name, d := range map[string]model.Duration{
		"attempt limit": t.Limit, "patience": t.Patience, "back-off most": t.BackoffSum, "back-off least": backoffLeast,
		"sequence": t.Sequence, "uncut": t.Uncut, "wait": t.Wait, "busy": t.Busy, "orphan": t.Orphan,
		"starts": t.Starts, "stop": t.Stop, "left": t.Left, "budget": t.Budget, "given": t.Given, "allowed": t.Allowed,
		"recommended timeout": t.Recommended.Timeout, "recommended per-try": t.Recommended.PerTry,
	} {
		x.put(dur(d), "call %s %s", id, name)
	}
	for name, w := range map[string]solver.Way{"if hangs": t.Hang, "if fails late": t.Late, "if fails fast": t.Fast} {
		x.put(w.Started, "call %s %s started", id, name)
		x.put(dur(w.Last), "call %s %s last attempt", id, name)
		x.put(dur(w.Wait), "call %s %s wait", id, name)
	}
	x.put(t.Enforced, "call %s enforced", id)
	x.put(x.g.Legs[l].Attempts, "call %s attempts", id)
	x.put(t.Started, "call %s attempts started", id)
	x.put(t.Full, "call %s attempts full", id)
	x.put(t.Possible, "call %s attempts possible", id)
	x.put(partly("at least", t.Need.V, t.Need.Known), "call %s need", id)
	x.put(partly("at most", t.Slack, t.SlackKnown), "call %s slack", id)
	x.counts(t.Amplification, "call "+id+" amplification")
}

func (x *product) counts(c solver.Counts, what string) {
	for name, n := range map[string]float64{
		"configured": float64(c.Configured), "time limited": float64(c.TimeLimited), "with retry budgets": c.Budgeted,
	} {
		x.put(strconv.FormatFloat(n, 'g', 9, 64), "%s %s", what, name)
	}
}

func (x *product) service(name string, t *solver.NodeTimes) {
	for what, d := range map[string]model.Duration{
		"received": t.Received, "flow": t.Flow, "busy": t.Busy, "waited": t.Waited, "work": t.Work,
	} {
		x.put(dur(d), "service %s %s", name, what)
	}
	x.put(partly("at least", t.Need.V, t.Need.Known), "service %s need", name)
	x.put(partly("at most", t.Slack, t.SlackKnown), "service %s slack", name)
	x.counts(t.Attempts, "service "+name+" attempts")
}

func (x *product) entrypoint(name string, t *solver.RootTimes) {
	feasible := "unknown"
	if t.FeasibleKnown {
		feasible = strconv.FormatBool(t.Feasible)
	}
	x.put(feasible, "entrypoint %s feasible", name)
	x.put(partly("at least", t.Need.V, t.Need.Known), "entrypoint %s need", name)
	x.put(partly("at most", t.Slack, t.SlackKnown), "entrypoint %s slack", name)
	x.put(dur(t.Wait), "entrypoint %s wait", name)
	x.put(dur(t.WorkEnds), "entrypoint %s work ends", name)
}
