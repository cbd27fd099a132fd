package solver_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// On random plans the timeline ends when the solver says that the last work does, calls start after their callers,
// and what is enforced ends with its caller.
func TestTimelineOfRandomPlans(t *testing.T) {
	legs := 0
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		g, _ := solver.Compile(p)
		sol := solver.Solve(g, solver.Options{})
		for r := range g.Roots {
			line := sol.Timeline(g, int32(r))
			ends := model.Duration(0)
			for n := range line.Nodes {
				v := &line.Nodes[n]
				if v.Reached {
					ends = max(ends, v.Ends)
				}
				if v.Reached && (v.First > v.Starts || v.Starts > v.Ends) {
					t.Fatalf("root %d: node %d: %+v", r, n, *v)
				}
			}
			if ends != sol.Roots[r].WorkEnds {
				t.Fatalf("root %d: the last visit ends at %s, the last work at %s", r, ends, sol.Roots[r].WorkEnds)
			}
			for l := range line.Legs {
				m := &line.Legs[l]
				if !m.Reached {
					continue
				}
				legs++
				caller := &line.Nodes[g.Legs[l].From]
				if m.Starts < caller.Starts || m.Starts > m.Round || m.First > m.Starts {
					t.Fatalf("root %d, %s: %+v under %+v", r, g.LegName(solver.LegID(l)), *m, *caller)
				}
				if sol.Legs[l].Enforced && m.Ends > caller.Ends {
					t.Fatalf("root %d, %s: enforced, and ends at %s after its caller's %s", r, g.LegName(solver.LegID(l)), m.Ends, caller.Ends)
				}
			}
		}
	})
	if legs == 0 {
		t.Error("no call was looked at")
	}
}

// The checkout of the incident: the gateway has no answer for 30 s, and each layer below starts its last attempt
// when the one above has begun its own.
func TestTimelineOfCheckout(t *testing.T) {
	b := plan()
	b.entry("gateway", 5*s)
	limits := func(try model.Duration, attempts int32) func(*model.Call, *model.Waiter) {
		return func(_ *model.Call, w *model.Waiter) { w.PerTry, w.Attempts = val(try), val(attempts) }
	}
	calls := []model.CallID{
		b.call("gateway", "order", limits(10*s, 3)), b.call("order", "inventory", limits(5*s, 4)), b.call("inventory", "warehouse", limits(3*s, 4)),
	}
	g, _ := solver.Compile(&b.Plan)
	line := solver.Solve(g, solver.Options{}).Timeline(g, 0)
	for i, want := range []solver.Moments{
		{Reached: true, GivesUp: 30 * s, Last: 20 * s, Left: 30 * s, Ends: 40 * s},
		{Reached: true, Starts: 20 * s, Round: 20 * s, GivesUp: 40 * s, Last: 35 * s, Left: 40 * s, Ends: 47 * s},
		{Reached: true, Starts: 35 * s, Round: 35 * s, GivesUp: 47 * s, Last: 44 * s, Left: 47 * s, Ends: model.Unknown},
	} {
		if got := line.Legs[g.FirstLeg[calls[i]]]; got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", b.Calls[calls[i]].ID, got, want)
		}
	}
	for name, gone := range map[string]model.Duration{"gateway": 30 * s, "order": 30 * s, "inventory": 30 * s, "warehouse": 30 * s} {
		if got := line.Nodes[b.ids[name]].Gone; got != gone {
			t.Errorf("%s works for nobody from %s on, want %s", name, got, gone)
		}
	}
}
