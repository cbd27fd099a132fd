package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// MissingTimeout is raised for a call that nothing bounds.
var MissingTimeout = &diag.Code{
	ID: "BP104", Name: "missing-timeout", Severity: diag.Error,
	Summary: "nothing bounds the call",
}

var missingTimeout = &Rule{
	Code: MissingTimeout,
	Leg:  (*Pass).missing,
	Default: func(d *diag.Default, n int) string {
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		return fmt.Sprintf("`%s` sets no timeout by itself: %s %s unbounded", d.Platform, counted(int64(n), "call"), verb)
	},
}

// openness says why the timeout of a call bounds it, or does not.
type openness uint8

const (
	bounded openness = iota
	none             // `none` is written, or a default
	unset            // nobody said
	summed           // only the sum of its attempts bounds it
)

// unlimited classifies one waiter. One attempt with a limit of its own is bounded by that.
func (p *Pass) unlimited(l solver.LegID) openness {
	leg, t, _, w := p.call(l)
	switch {
	case leg.Timeout.Finite():
		return bounded
	case t.Patience.Finite() && leg.Attempts <= 1:
		return bounded
	case t.Patience.Finite() && t.Uncut.Finite():
		return summed
	case w.Timeout.Set():
		return none
	}
	return unset
}

// missing reports one call. Background work without a limit is BP303, a stream needs none, and an optional call
// without a cap is BP114 unless somebody wrote `none`.
func (p *Pass) missing(l solver.LegID) {
	leg, t, c, w := p.call(l)
	open := p.unlimited(l)
	if !leg.Awaited() || open == bounded || leg.Optional && open != none {
		return
	}
	id := p.Graph.LegName(l)
	f := found(MissingTimeout, id, "")
	f.Cause, f.Touched = w.Timeout.From, p.Sol.Nodes[leg.From].Touched
	switch open {
	case none:
		f.Message = fmt.Sprintf("nothing bounds `%s`: its timeout is `none`", id)
		if t.Patience.Finite() {
			f.Message = fmt.Sprintf("nothing bounds `%s`: its timeout is `none`, %s", id, whatIsEndless(leg))
		}
	case unset:
		f.Severity = diag.Warning
		f.Message = say("nothing bounds `%s`: no timeout is set, and no per-try or read timeout", id)
		if t.Patience.Finite() {
			f.Message = fmt.Sprintf("nothing bounds `%s`: no timeout is set, %s", id, whatIsEndless(leg))
		}
	case summed:
		f.Severity = diag.Warning
		f.Message = say("only the sum of its attempts bounds `%s`: %s", id, p.sumText(l))
	}
	if f.Cause == nil || open == summed {
		f.Cause = diag.At(c.At)
		if try := perTry(w); open == summed && try.Set() {
			f.Cause = try.From
		}
	}
	if t.Wait.Finite() && open != summed {
		f.Notes = append(f.Notes, diag.Note{Text: say("only `%s` ends it, after %s at most: a lost connection never does",
			p.nodeName(leg.To), p.spell(t.Wait))})
	}
	p.timeoutFor(&f, l)
	capped(&f, f.Cause)
	p.Report(f)
}

// whatIsEndless says why attempts that are limited each are not limited together.
func whatIsEndless(leg *solver.Leg) string {
	if !leg.Connect.Finite() {
		return "its connect timeout is `none`"
	}
	return "its attempts are without end"
}

// sumText writes what the attempts of a round take, connect time in it, as a sum where it is one.
func (p *Pass) sumText(l solver.LegID) string {
	leg, t, _, _ := p.call(l)
	if text := roundText(leg, t); text != "" {
		return text + " = " + p.spell(t.Uncut)
	}
	return p.spell(t.Uncut)
}

// timeoutFor adds the timeout that fits: the share of the call, else one that its attempts fit into.
func (p *Pass) timeoutFor(f *diag.Finding, l solver.LegID) {
	leg, t, _, w := p.call(l)
	id := p.Graph.LegName(l)
	share := t.Recommended.Timeout
	switch {
	case share > 0 && share.Finite() && t.Need.Known != solver.Nothing && t.Need.V > t.Budget:
		// A timeout that cuts what the call needs would only move the trouble.
		f.Help = say("give `%s` a timeout; its share of what `%s` has is %s and it needs %s, so that something else must give way first",
			id, p.nodeName(leg.From), p.spell(t.Budget.Down()), p.spell(t.Need.V.Up()))
	case share > 0 && share.Finite():
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "most", share))
		f.Help = say("give `%s` a timeout of %s or less, its share of what `%s` has", id, p.spell(share), p.nodeName(leg.From))
	case t.Patience.Finite() && t.Uncut.Finite():
		least := ceil(t.Uncut.Add(1))
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
		f.Help = fmt.Sprintf("give `%s` a timeout: from %s on all of its attempts fit", id, least)
	case t.Need.Known == solver.Complete && t.Need.V > 0 && t.Need.V.Finite():
		least := ceil(t.Need.V.Div(max(1, leg.Repeat)).Add(1))
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
		f.Help = fmt.Sprintf("give `%s` a timeout of %s or more: that is what it needs", id, least)
	case t.Budget.Finite():
		f.Help = say("give `%s` a timeout, and the calls beside it less time: nothing of what `%s` has is left for it", id, p.nodeName(leg.From))
	default:
		f.Help = fmt.Sprintf("give `%s` a timeout; an `slo` of its entrypoint would say which", id)
	}
}
