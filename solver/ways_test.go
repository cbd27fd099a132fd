package solver_test

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// TestAttemptsWithoutEnd: where nobody said what ends a round, no number of attempts is made of the longest time that
// a duration can be.
func TestAttemptsWithoutEnd(t *testing.T) {
	b := plan()
	id := b.call("a", "b", func(_ *model.Call, w *model.Waiter) {
		w.Attempts, w.PerTry = val(model.Unlimited), val(model.Second)
	})
	g, sol := b.solve(t)
	l := sol.Legs[g.FirstLeg[id]]
	equal(t, "started", solver.CountText(l.Hang.Started), "unlimited")
	equal(t, "possible", solver.CountText(l.Possible), "unlimited")
	equal(t, "time-limited", solver.CountText(l.Amplification.TimeLimited), "unlimited")
	equal(t, "wait", l.Hang.Wait, model.Unknown)
}
