package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// UnreachableRetry is a retry for which no time is ever left.
var UnreachableRetry = &diag.Code{
	ID: "BP204", Name: "unreachable-retry", Severity: diag.Warning,
	Summary: "attempts that cannot start in time when the callee hangs, however back-off is drawn",
}

var unreachableRetry = &Rule{
	Code: UnreachableRetry, Leg: retrying((*Pass).unreachable),
	Default: func(d *diag.Default, n int) string {
		if n == 1 {
			return fmt.Sprintf("`%s` retries by itself: 1 call has no time for it when its callee hangs", d.Platform)
		}
		return fmt.Sprintf("`%s` retries by itself: %s calls have no time for it when their callee hangs", d.Platform, thousands(int64(n)))
	},
}

func (p *Pass) unreachable(l solver.LegID) {
	leg, t, _, w := p.call(l)
	cost, again := p.failing(l)
	// A number of attempts without end is ended by its limits, and a window is there to end attempts.
	if !again || !cost.Finite() || !t.Stop.Finite() || endless(leg.Attempts) || leg.Window < t.Stop ||
		t.Possible >= leg.Attempts || t.Possible < 1 {
		return
	}
	stop, at := p.stopText(l)
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	f := UnreachableRetry.New(id, diag.Span{}, "%s of `%s` cannot start when `%s` %s: ",
		ordinals(t.Possible, leg.Attempts-1), id, callee, hangs(cost < t.Patience))
	f.Cause, f.Touched = p.layerOrigin(l, -1), p.Sol.Nodes[leg.To].Touched
	whole := cost == leg.Timeout && t.Stop == leg.Timeout
	if whole {
		f.Message += fmt.Sprintf("its first attempt uses the whole timeout of %s", leg.Timeout)
	} else {
		low, _ := w.Backoff.Sum(t.Possible)
		f.Message += fmt.Sprintf("%s = %s, and %s ends it", times(t.Possible, "attempt", cost)+backoffText(low),
			cost.Mul(t.Possible).Add(low), stop)
	}
	f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s, %d of them can start", makes(id, leg.Attempts), t.Possible), At: w.Attempts.From},
		diag.Note{Text: "what ends it is " + stop, At: at})
	if whole {
		f.Notes = append(f.Notes, diag.Note{Text: wholeText(w), At: w.PerTry.From})
	}
	f.Fixes, f.Help = p.reach(l, cost)
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f)
}

func hangs(late bool) string {
	if late {
		return "fails late"
	}
	return "hangs"
}

// wholeText says why an attempt may use the whole timeout.
func wholeText(w *model.Waiter) string {
	if w.PerTry.Set() && w.PerTry.V.Finite() {
		return fmt.Sprintf("the per-try timeout of %s does not end an attempt before the timeout does", w.PerTry.V)
	}
	return "without a `per_try_timeout` a hanging attempt is waited for until the timeout"
}

// reach lists the single changes that let every attempt run, back-off at its longest, and words the best.
func (p *Pass) reach(l solver.LegID, cost model.Duration) (fixes []diag.Fix, help string) {
	leg, t, _, w := p.call(l)
	id := p.Graph.LegName(l)
	if q := floor(t.Stop.Sub(t.BackoffSum).Sub(1).Div(leg.Attempts)); q > 0 {
		fixes = append(fixes, p.limitFix(l, "per_try_timeout", w.PerTry, "most", q))
		help = fmt.Sprintf("a per-try timeout of %s or less (%s ÷ %d), ", q, lessBackoff(t.Stop, t.BackoffSum), leg.Attempts)
	}
	if t.Stop == leg.Timeout && cost < leg.Timeout {
		if least := ceil(cost.Mul(leg.Attempts).Add(t.BackoffSum).Add(1)); least.Finite() {
			fixes = append(fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
			help += fmt.Sprintf("a timeout of %s or more (%s%s), ", least, times(leg.Attempts, "attempt", cost), backoffText(t.BackoffSum))
		}
	}
	fixes = append(fixes, p.retriesFix(l, t.Possible))
	if help == "" {
		return fixes, fmt.Sprintf("give `%s` %s", id, retriesText(t.Possible))
	}
	return fixes, fmt.Sprintf("give `%s` %sor %s", id, help, retriesText(t.Possible))
}

// lessBackoff writes what back-off leaves of a limit.
func lessBackoff(limit, sum model.Duration) string {
	if sum == 0 {
		return limit.String()
	}
	return fmt.Sprintf("(%s − %s back-off)", limit, sum)
}
