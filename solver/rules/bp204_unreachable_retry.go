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
	if leg.MinLeft > 0 {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("none starts with less than %s left", leg.MinLeft), At: w.MinRemaining().From})
	}
	if whole {
		f.Notes = append(f.Notes, diag.Note{Text: wholeText(w), At: w.PerTry.From})
	}
	p.reach(&f, l, cost)
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

// reach adds the single changes that let every attempt run, back-off at its longest, and words them. The last attempt
// needs its own time or the least that must be left for it, whichever is longer.
func (p *Pass) reach(f *diag.Finding, l solver.LegID, cost model.Duration) {
	leg, t, _, w := p.call(l)
	var ways []string
	if q, why := p.reachingTry(l); q > 0 {
		f.Fixes = append(f.Fixes, p.limitFix(l, "per_try_timeout", w.PerTry, "most", q))
		ways = append(ways, fmt.Sprintf("a per-try timeout of %s or less (%s)", q, why))
	}
	if t.Stop == leg.Timeout && cost < leg.Timeout {
		least, why := ceil(cost.Mul(leg.Attempts).Add(t.BackoffSum).Add(1)), times(leg.Attempts, "attempt", cost)+backoffText(t.BackoffSum)
		if leg.MinLeft > cost {
			least = ceil(cost.Mul(leg.Attempts - 1).Add(t.BackoffSum).Add(leg.MinLeft))
			why = fmt.Sprintf("%s%s + %s that must be left", times(leg.Attempts-1, "attempt", cost), backoffText(t.BackoffSum), leg.MinLeft)
		}
		switch outer := p.stoppedAbove(leg.From); {
		case !least.Finite():
		case least > outer: // another limit must give way too
			f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("a longer timeout is not enough: %s would fit into %s, and `%s` is stopped after %s",
				attemptsText(leg.Attempts), least, p.nodeName(leg.From), outer), At: p.stopper(leg.From)})
		default:
			f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
			ways = append(ways, fmt.Sprintf("a timeout of %s or more (%s)", least, why))
		}
	}
	f.Fixes = append(f.Fixes, p.retriesFix(l, t.Possible))
	f.Help = fmt.Sprintf("give `%s` %s", p.Graph.LegName(l), either(append(ways, retriesText(t.Possible))))
}

// reachingTry is the longest per-try timeout with which every attempt can start, and its arithmetic; 0 without one.
func (p *Pass) reachingTry(l solver.LegID) (q model.Duration, why string) {
	leg, t, _, _ := p.call(l)
	q = floor(t.Stop.Sub(t.BackoffSum).Sub(1).Div(leg.Attempts))
	if q <= 0 || leg.MinLeft <= q {
		return q, fmt.Sprintf("%s ÷ %d", lessBackoff(t.Stop, t.BackoffSum), leg.Attempts)
	}
	q = floor(t.Stop.Sub(t.BackoffSum).Sub(leg.MinLeft).Div(leg.Attempts - 1))
	return q, fmt.Sprintf("(%s − %s back-off − %s that must be left) ÷ %d", t.Stop, t.BackoffSum, leg.MinLeft, leg.Attempts-1)
}

// stoppedAbove is when a node's calls are stopped by its own server timeout or the deadline that it is told.
func (p *Pass) stoppedAbove(n solver.NodeID) model.Duration {
	node := &p.Graph.Nodes[n]
	outer := min(node.Limit, p.Sol.Nodes[n].Told)
	if !outer.Finite() {
		return model.NoLimit
	}
	return max(0, outer.Sub(node.Before))
}

// lessBackoff writes what back-off leaves of a limit.
func lessBackoff(limit, sum model.Duration) string {
	if sum == 0 {
		return limit.String()
	}
	return fmt.Sprintf("(%s − %s back-off)", limit, sum)
}
