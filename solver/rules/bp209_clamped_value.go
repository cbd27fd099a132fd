package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/solver"
)

// ClampedValue is raised for a value that the platform clamps or ignores.
var ClampedValue = &diag.Code{
	ID: "BP209", Name: "clamped-value", Severity: diag.Warning,
	Summary: "the platform clamps or ignores the value",
}

var clampedValue = &Rule{Code: ClampedValue, Leg: (*Pass).clamped}

// clamped reports what the importers kept as dead, limits aside, which are BP108's; and attempts beyond those of the
// client that a plan names.
func (p *Pass) clamped(l solver.LegID) {
	leg, _, c, w := p.call(l)
	id, touched := p.Graph.LegName(l), p.Sol.Nodes[leg.From].Touched
	for _, d := range w.Dead() {
		if deadLimit(d) {
			continue
		}
		f := ClampedValue.New(id, d.At, "`%s: %s` of `%s` does not hold: %s", d.Key, d.Value, id, d.Reason)
		f.Cause, f.Touched, f.Detail = diag.At(d.At), touched, d.Key
		f.Help = fmt.Sprintf("write `%s` so that it holds, or remove it", d.Key)
		p.Report(f)
	}
	p.neverRetried(l)
	client := dialect.Named(c.Client().Or(""))
	if client == nil || client.MaxAttempts == 0 || leg.Waiter > 0 {
		return
	}
	for _, asked := range []struct {
		key string
		model.Val[int32]
	}{{"attempts", w.Attempts}, {"hedge.attempts", w.Hedge().Attempts}} {
		if !asked.Written() || asked.V <= client.MaxAttempts {
			continue
		}
		f := ClampedValue.New(id, diag.Span{}, "`%s` asks for %s, `%s` makes %d at most", id, attemptsText(attemptsOf(asked.V)), client.Name, client.MaxAttempts)
		f.Cause, f.Touched, f.Detail = asked.From, touched, asked.key
		f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is its client", client.Name), At: c.Client().From}}
		fix := p.retriesFix(l, int64(client.MaxAttempts))
		if asked.key != "attempts" {
			fix = p.setFix(l, asked.key, asked.From, fmt.Sprint(asked.V), fmt.Sprint(client.MaxAttempts))
			fix.Bound = "most"
		}
		f.Fixes = []diag.Fix{fix}
		f.Help = fmt.Sprintf("write what holds: `%s: %s`", fix.Key, fix.To)
		p.Report(f)
	}
}

// neverRetried reports retries for which no failure is named.
func (p *Pass) neverRetried(l solver.LegID) {
	leg, _, _, w := p.call(l)
	if !w.RetryOn().Written() || !w.Attempts.Written() || leg.Attempts <= 1 || leg.RetryOn.Reaches() || leg.RetryOn.Unsent() {
		return
	}
	id := p.Graph.LegName(l)
	f := ClampedValue.New(id, diag.Span{}, "`%s` asks for %s and is never retried: its `retry_on` names no failure", id, attemptsText(leg.Attempts))
	f.Cause, f.Touched, f.Detail = w.RetryOn().From, p.Sol.Nodes[leg.From].Touched, "retry_on"
	f.Notes = []diag.Note{{Text: "the attempts are asked for here", At: w.Attempts.From}}
	f.Help = "name in `retry_on` what is to be retried, or leave the retries out"
	p.Report(f)
}

// attemptsOf gives a written count as the solver counts it.
func attemptsOf(n int32) int64 {
	if n == model.Unlimited {
		return solver.MaxCount + 1 // as everything unlimited is
	}
	return int64(n)
}
