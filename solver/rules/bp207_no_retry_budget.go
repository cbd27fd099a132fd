package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// NoRetryBudget is raised for retries that nothing limits when everything fails.
var NoRetryBudget = &diag.Code{
	ID: "BP207", Name: "no-retry-budget", Severity: diag.Info,
	Summary: "retries without a budget, where one request becomes more than two attempts",
}

var noRetryBudget = &Rule{
	Code: NoRetryBudget, Leg: retrying((*Pass).unbudgeted),
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` retries by itself, without a budget: %s", d.Platform, counted(int64(n), "call"))
	},
}

// tolerable is how many attempts one request may become without a budget.
const tolerable = 2

func (p *Pass) unbudgeted(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if leg.Budget >= 0 || !leg.RetryOn.Reaches() {
		return
	}
	// Repeats and fan-out are the flow's own doing.
	first := p.Sol.Nodes[leg.From].Visits * float64(leg.Repeat) * float64(leg.FanOut)
	if first <= 0 || float64(t.Amplification.Configured) <= tolerable*first {
		return
	}
	id := p.Graph.LegName(l)
	f := found(NoRetryBudget, id, say("`%s` retries without a budget: when `%s` fails, one request becomes %s",
		id, p.Plan.Services[c.To].Name, attemptsText(t.Amplification.Configured)))
	f.Cause, f.Touched = p.layerOrigin(l, -1), p.Sol.Nodes[leg.To].Touched
	f.Help = say("give `%s` a `retry_budget`: with 10%, ten requests make one retry when everything fails", id)
	f.Fixes = []diag.Fix{p.setFix(l, "retry_budget", w.RetryBudget().From, "", "10%")}
	p.Report(f)
}
