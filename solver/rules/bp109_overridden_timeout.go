package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// OverriddenTimeout is raised for a written limit that another waiter of the same call always undercuts.
var OverriddenTimeout = &diag.Code{
	ID: "BP109", Name: "overridden-timeout", Severity: diag.Warning,
	Summary: "a waiter on the hop cuts the call before a limit that a person wrote",
}

var overriddenTimeout = &Rule{Code: OverriddenTimeout, Leg: (*Pass).overridden}

// overridden compares a leg with the waiters around it on the same call. The inner one cuts the outer when its own
// timeout ends all of its attempts well before: within the outer's margin it is the nesting that is recommended.
// The outer one cuts the inner whenever it is not longer; what the inner then does for nobody is BP101's.
func (p *Pass) overridden(l solver.LegID) {
	leg, _, c, w := p.call(l)
	if len(c.Waiters) < 2 {
		return
	}
	mine := patience(w)
	if leg.Stream || !mine.Written() {
		return
	}
	first := p.Graph.FirstLeg[leg.Call]
	margin := p.Graph.Nodes[p.Graph.Legs[first].From].Margin
	var cut limit
	var by solver.LegID
	for i := range c.Waiters {
		k := first + solver.LegID(i)
		other := patience(&c.Waiters[i])
		if k > l {
			other = limit{"timeout", "timeout", c.Waiters[i].Timeout}
		}
		if k == l || !other.Set() || !other.V.Finite() {
			continue
		}
		shorter := other.V < mine.V
		if k > l {
			shorter = other.V < margin.Keep(mine.V)
		}
		if shorter && (!cut.Set() || other.V < cut.V) {
			cut, by = other, k
		}
	}
	if cut.Set() {
		p.reportOverridden(l, mine, by, cut)
	}
}

func (p *Pass) reportOverridden(l solver.LegID, mine limit, by solver.LegID, cut limit) {
	leg, _, _, _ := p.call(l)
	id, other := p.Graph.LegName(l), p.Graph.LegName(by)
	f := OverriddenTimeout.New(id, diag.Span{}, "the %s of `%s`, %s, is never reached: `%s` cuts the call at %s", mine.name, id, mine.V, other, cut.V)
	f.Cause, f.Touched = mine.From, p.Sol.Nodes[leg.From].Touched
	said := ""
	if cut.From.Default != nil {
		said = ", which nobody wrote"
	}
	f.Notes = []diag.Note{{Text: fmt.Sprintf("the %s of `%s` is %s%s", cut.name, other, cut.V, said), At: cut.From}}
	f.Help = fmt.Sprintf("give `%s` a %s above %s, or lower the one of `%s` to what really holds", other, cut.name, mine.V, id)
	if fix, _, ok := p.raise(by, ceil(mine.V.Add(step))); ok {
		f.Fixes = append(f.Fixes, fix)
	}
	f.Fixes = append(f.Fixes, p.limitFix(l, mine.key, mine.Val, "most", cut.V))
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f, ref{code: InvertedTimeout, subject: p.Graph.LegName(by)})
}
