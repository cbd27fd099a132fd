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

var unsafeHedge = &Rule{Code: UnsafeHedge, Run: func(p *Pass) {
	for l := range p.Graph.Legs {
		p.hedged(solver.LegID(l))
	}
}}

// early is the share of healthy attempts beyond which hedging is load and no remedy: those slower than p95.
const early model.Fraction = 50_000

func (p *Pass) hedged(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if leg.Copies <= 1 || t.Rounds == 0 {
		return
	}
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	f := UnsafeHedge.New(id, diag.Span{}, "")
	f.Severity, f.Cause, f.Touched = diag.Warning, hedgeOrigin(w), p.Sol.Nodes[leg.To].Touched
	say := func(text string, at *diag.Origin, help string, fixes ...diag.Fix) {
		if f.Message == "" {
			f.Message, f.Help = text, help
		} else {
			f.Notes = append(f.Notes, diag.Note{Text: text, At: at})
			f.Help += "; " + help
		}
		f.Fixes = append(f.Fixes, fixes...)
	}
	why, at, known := repeatable(c)
	if known && why != "" {
		f.Severity = diag.Error
		say(fmt.Sprintf("`%s` hedges, and `%s` must not execute a request twice: %s", id, callee, why), at,
			fmt.Sprintf("do not hedge `%s`", id), p.setFix(l, "hedge.attempts", w.Hedge.Attempts.From, fmt.Sprint(leg.Copies), "1"))
	}
	// Where a copy early is certain; a percentile above p95 proves nothing.
	if slower, _, known := c.Latency.Above(leg.After); leg.Last && w.Hedge.After.Set() && known && slower > early {
		help, fixes := fmt.Sprintf("let `%s` hedge from its p95 on", id), []diag.Fix(nil)
		if p95, used, exact := c.Latency.Quantile(model.Whole - early); p95.Set() && !exact {
			help += fmt.Sprintf(": `after: %s` or more, its %s", p95.V, used.Percentile())
			fixes = []diag.Fix{p.setFix(l, "hedge.after", w.Hedge.After.From, leg.After.String(), p95.V.String())}
			fixes[0].Bound = "least"
		}
		say(fmt.Sprintf("`%s` hedges after %s, earlier than its p95: at least %s of healthy attempts are still running then", id, leg.After, slower),
			w.Hedge.After.From, help, fixes...)
	}
	if !w.Hedge.Budget.Set() && leg.Budget < 0 {
		say(fmt.Sprintf("`%s` hedges without a cap: when `%s` is slow, every request becomes %s copies", id, callee, thousands(leg.Copies)), hedgeOrigin(w),
			fmt.Sprintf("give the hedging of `%s` a `budget`, such as the 5%% that are slower than p95", id),
			p.setFix(l, "hedge.budget", nil, "", "5%"))
	}
	if f.Message == "" {
		return
	}
	if !known {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("nobody says that `%s` may execute a request twice: a hedge does", callee)})
	}
	p.Report(f)
}

// hedgeOrigin is where hedging was asked for.
func hedgeOrigin(w *model.Waiter) *diag.Origin {
	switch {
	case w.Hedge.After.Set():
		return w.Hedge.After.From
	case w.Hedge.Attempts.Set():
		return w.Hedge.Attempts.From
	}
	return w.Hedge.Budget.From
}
