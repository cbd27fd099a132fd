package rules

import (
	"slices"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// mostAgain bounds the work that goes into solving a plan anew for changes whose effect is nowhere else to be read: a
// share of a budget follows the needs of all calls beside it. It is counted in calls, for all findings of a plan.
const mostAgain = 4_000

// again gives the plan as a change of a call leaves it, solved anew, for a look at it alone: it reports
// nothing. It is nil where that was done too often. It knows the limits and the counts of a call.
func (p *Pass) again(l solver.LegID, x diag.Fix) *Pass {
	if p.solved += len(p.Graph.Legs) + len(p.Graph.Nodes); p.solved > mostAgain {
		return nil
	}
	plan, leg := *p.Plan, &p.Graph.Legs[l]
	plan.Calls = slices.Clone(plan.Calls)
	for i := range plan.Calls {
		c := &plan.Calls[i]
		for k := range c.Waiters {
			// A value that is written once for several calls changes for all of them.
			own := model.CallID(i) == leg.Call && int32(k) == leg.Waiter
			if own || x.From != "" && writtenAt(&c.Waiters[k], x.Key) == x.At && !x.At.Nowhere() {
				c.Waiters = slices.Clone(c.Waiters)
				setKey(&c.Waiters[k], x)
			}
		}
	}
	g, _ := solver.Compile(&plan)
	return &Pass{Plan: &plan, Graph: g, Sol: solver.Solve(g, solver.Options{Policy: p.allocation}), allocation: p.allocation}
}

// writtenAt is the place of a key of a waiter.
func writtenAt(w *model.Waiter, key string) diag.Span {
	switch key {
	case "timeout":
		return w.Timeout.Span()
	case "per_try_timeout":
		return w.PerTry.Span()
	case "retries", "attempts":
		return w.Attempts.Span()
	}
	return diag.Span{}
}

// setKey sets a key of a waiter as a change says.
func setKey(w *model.Waiter, x diag.Fix) {
	switch x.Key {
	case "timeout", "per_try_timeout":
		d, err := model.ParseDuration(x.To)
		if err != nil {
			return
		}
		if x.Key == "timeout" {
			w.Timeout = model.At(d, x.At)
		} else {
			w.PerTry = model.At(d, x.At)
		}
	case "retries", "attempts":
		n, err := strconv.ParseInt(x.To, 10, 32)
		if err != nil {
			return
		}
		_, less := spelling(x.Key)
		w.Attempts = model.At(int32(n+less), x.At)
	case "retry_budget":
		if share, ok := model.ParsePercent(x.To); ok {
			w.Edit().RetryBudget = model.At(share, x.At)
		}
	}
}
