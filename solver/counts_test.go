package solver_test

import (
	"math"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// A finite product that is more than is counted is a bound; with unlimited attempts in it, on whatever path, it is
// unlimited, and a retry budget bounds those.
func TestCountsThatSaturate(t *testing.T) {
	b := plan()
	retry := func(n int32, budget model.Fraction) func(*model.Call, *model.Waiter) {
		return func(_ *model.Call, w *model.Waiter) {
			w.Attempts, w.PerTry = val(n), val(model.Second)
			if budget > 0 {
				w.Rare = &model.WaiterRare{RetryBudget: val(budget)}
			}
		}
	}
	b.entry("a", model.Second)
	b.call("a", "b", retry(1_000_000, 0))
	b.call("b", "c", retry(1_000_000, 0))
	b.call("c", "d", retry(1_000_000, 0))
	b.call("d", "e", retry(3, 0))
	b.entry("u", model.Second)
	b.call("u", "v", retry(model.Unlimited, 200_000))
	b.call("v", "w", retry(2, 0))
	b.call("w", "x", retry(model.Unlimited, 0))
	b.call("w", "x", retry(model.Unlimited, 0))
	b.call("x", "d", retry(1, 0))
	_, sol := b.solve(t)
	for name, want := range map[string][2]string{
		"c": {"1,000,000,000,000", "1,000,000,000,000"},
		"v": {"unlimited", "1.2"},
		"w": {"unlimited", "2.4"},
		"x": {"unlimited", "unlimited"},
		"e": {"unlimited", "unlimited"},
	} {
		c := sol.Nodes[b.ids[name]].Attempts
		equal(t, name, [2]string{solver.CountText(c.Configured), solver.RatioText(c.Budgeted)}, want)
	}
	leg := sol.Legs[2].Amplification
	equal(t, "a finite product", solver.CountText(leg.Configured), "at least 10^15")
	equal(t, "with retry budgets", solver.RatioText(leg.Budgeted), "at least 10^15")
	equal(t, "its sign", solver.CountSign(leg.Configured), "≥10^15")
	equal(t, "unlimited", sol.Nodes[b.ids["e"]].Attempts.Budgeted, math.Inf(1))
}
