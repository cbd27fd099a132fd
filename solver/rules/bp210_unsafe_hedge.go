package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// UnsafeHedge is raised for hedging that executes twice, that nothing limits, or that starts too early.
var UnsafeHedge = &diag.Code{
	ID: "BP210", Name: "unsafe-hedge", Severity: diag.Error,
	Summary: "hedging of a call that is not idempotent, without a cap, or earlier than p95",
}

var unsafeHedge = &Rule{Code: UnsafeHedge, Leg: (*Pass).hedged}

// early is the share of healthy attempts beyond which hedging is load and no remedy: those slower than p95.
const early model.Fraction = 50_000

// hedged reports each danger by itself: each has a change of its own that ends it.
func (p *Pass) hedged(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if leg.Copies <= 1 || t.Rounds == 0 {
		return
	}
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	report := func(s diag.Severity, detail string, cause *diag.Origin, help string, fixes []diag.Fix, format string, args ...any) {
		f := UnsafeHedge.New(id, diag.Span{}, format, args...)
		f.Severity, f.Detail, f.Cause, f.Touched, f.Help, f.Fixes = s, detail, cause, p.Sol.Nodes[leg.To].Touched, help, fixes
		p.Report(f)
	}
	if why, at, known := repeatable(c); known && why != "" {
		report(diag.Error, "twice", at, fmt.Sprintf("do not hedge `%s`", id),
			[]diag.Fix{p.setFix(l, "hedge.attempts", w.Hedge().Attempts.From, fmt.Sprint(leg.Copies), "1")},
			"`%s` hedges, and `%s` must not execute a request twice: %s", id, callee, why)
	}
	// Where a copy too early is certain: a percentile above p95 proves nothing.
	if slower, most, known := c.Latency.Above(leg.After); leg.Last && w.Hedge().After.Set() && known && slower > early {
		help, fixes := fmt.Sprintf("let `%s` hedge from its p95 on", id), []diag.Fix(nil)
		if p95, used, exact := c.Latency.Quantile(model.Whole - early); p95.Set() && !exact {
			help += fmt.Sprintf(": `after: %s` or more, its %s", p95.V.Up(), used.Percentile())
			fixes = []diag.Fix{p.setFix(l, "hedge.after", w.Hedge().After.From, leg.After.String(), p95.V.Up().String())}
			fixes[0].Bound = "least"
		}
		share := "at least " + slower.String()
		if slower == most {
			share = slower.String()
		}
		report(diag.Warning, "early", w.Hedge().After.From, help, fixes,
			"`%s` hedges after %s, earlier than its p95: %s of healthy attempts still run then", id, leg.After, share)
	}
	if !w.Hedge().Budget.Set() && leg.Budget < 0 {
		cause := w.Hedge().Attempts.From
		if cause == nil {
			cause = diag.At(c.At)
		}
		report(diag.Warning, "cap", cause, fmt.Sprintf("give the hedging of `%s` a `budget`, such as the 5%% that are slower than p95", id),
			[]diag.Fix{p.setFix(l, "hedge.budget", nil, "", "5%")},
			"`%s` hedges without a cap: when `%s` is slow, every request becomes %s copies", id, callee, thousands(leg.Copies))
	}
}
