package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// UnsafeBackoff is a back-off that outlasts the limit it runs under, or that is no protection.
var UnsafeBackoff = &diag.Code{
	ID: "BP206", Name: "unsafe-backoff", Severity: diag.Error,
	Summary: "the waits between attempts outlast the limit they run under, or there are none, or none with jitter",
}

var unsafeBackoff = &Rule{
	Code: UnsafeBackoff, Leg: retrying((*Pass).badBackoff),
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` retries by itself: %s without jitter, without back-off, or with too much of it", d.Platform, retry(n))
	},
}

// badBackoff reports each danger by itself, told apart by the detail: each has a change of its own that ends it.
func (p *Pass) badBackoff(l solver.LegID) {
	leg, t, _, w := p.call(l)
	if !leg.RetryOn.Fast() && !leg.RetryOn.Timeout() {
		return
	}
	limit := p.backoffLimit(l)
	p.longRetryAfter(l, limit)
	if limit.Finite() && !endless(leg.Attempts) && t.BackoffSum >= limit.Duration {
		p.longWaits(l, limit)
		return
	}
	id := p.Graph.LegName(l)
	f := UnsafeBackoff.New(id, diag.Span{}, "")
	f.Severity, f.Touched = diag.Info, p.Sol.Nodes[leg.To].Touched
	switch {
	case t.BackoffSum == 0:
		f.Message = fmt.Sprintf("`%s` sends %s at once: no back-off is set", id, retryWords(leg.Attempts))
		f.Help = "set a `backoff` with a `base`, a `max` and `jitter: full`, so that a callee in trouble is not hit again at once"
		f.Cause = p.layerOrigin(l, -1)
	case w.Backoff.Get().Jitter.V.Kind == model.JitterNone:
		f.Message = fmt.Sprintf("`%s` waits without jitter: callers that failed together retry together", id)
		f.Help = "add `jitter: full` to its `backoff`"
		f.Cause = backoffOrigin(w)
		f.Fixes = []diag.Fix{p.setFix(l, "backoff.jitter", w.Backoff.Get().Jitter.From, "none", "full")}
	default:
		return
	}
	p.Report(f)
}

func retryWords(attempts int64) string {
	if attempts == 2 {
		return "its retry"
	}
	return "its retries"
}

// backoffOrigin is where the waits of a waiter come from.
func backoffOrigin(w *model.Waiter) *diag.Origin {
	if w.Backoff.Get().Waits.Set() {
		return w.Backoff.Get().Waits.From
	}
	return w.Backoff.Get().Base.From
}

// bound is a limit that waits run under, with its words and its place.
type bound struct {
	model.Duration
	text string
	at   *diag.Origin
}

// waiting is who waits shortest for a node, and how long after it started: a leg, or the client of a root.
type waiting struct {
	model.Duration
	leg  solver.LegID
	root int32
}

// tightest finds, for every node, who waits shortest for it; NoLimit where nobody has a limit.
func (p *Pass) tightest() []waiting {
	if p.waited != nil {
		return p.waited
	}
	all := make([]waiting, len(p.Graph.Nodes))
	for i := range all {
		all[i].Duration = model.NoLimit
	}
	for i := range p.Graph.Legs {
		leg, t := &p.Graph.Legs[i], &p.Sol.Legs[i]
		if at := &all[leg.To]; t.Rounds > 0 && leg.Awaited() && t.Patience.Finite() && t.Patience < at.Duration {
			*at = waiting{t.Patience, solver.LegID(i), -1}
		}
	}
	for r := range p.Graph.Roots {
		root := &p.Graph.Roots[r]
		if at := &all[root.Node]; root.Timeout.Finite() && root.Timeout.Sub(root.Overhead) < at.Duration {
			*at = waiting{root.Timeout.Sub(root.Overhead), solver.ByRoot, int32(r)}
		}
	}
	p.waited = all
	return all
}

// backoffLimit is the least of what stops the attempts of a leg, and of how long its caller is waited for.
func (p *Pass) backoffLimit(l solver.LegID) bound {
	leg, t, _, w := p.call(l)
	least := bound{Duration: t.Stop}
	if t.Stop.Finite() {
		least.text, least.at = p.stopText(l)
	}
	if leg.Window.Finite() && leg.Window < least.Duration {
		least = bound{leg.Window, fmt.Sprintf("its retry window of %s", leg.Window), w.RetryWindow().From}
	}
	above := p.tightest()[leg.From]
	has := above.Sub(p.Graph.Nodes[leg.From].Before)
	if leg.Async || !has.Finite() || has >= least.Duration {
		return least
	}
	if above.leg == solver.ByRoot {
		root := &p.Graph.Roots[above.root]
		return bound{
			has, fmt.Sprintf("the timeout of `%s`, %s", p.rootName(above.root), root.Timeout),
			p.Plan.Entrypoints[root.Entrypoint].Timeout.From,
		}
	}
	outer, _, _, aw := p.call(above.leg)
	return bound{
		has, fmt.Sprintf("the %s that `%s` waits for `%s`", above.Duration, p.nodeName(outer.From), p.nodeName(leg.From)),
		patience(aw).From,
	}
}

// longWaits reports waits that no attempt's speed can make fit.
func (p *Pass) longWaits(l solver.LegID, limit bound) {
	leg, t, _, w := p.call(l)
	id := p.Graph.LegName(l)
	f := UnsafeBackoff.New(id, diag.Span{}, "the waits of `%s` alone come to %s, which %s %s",
		id, ages(t.BackoffSum), outlasts(t.BackoffSum > limit.Duration), limit.text)
	f.Detail, f.Cause, f.Touched = "waits", backoffOrigin(w), p.Sol.Nodes[leg.To].Touched
	f.Notes = []diag.Note{
		{Text: fmt.Sprintf("%s, %s between them: %s", makes(id, leg.Attempts), counted(leg.Attempts-1, "wait"), p.waitList(l)), At: w.Attempts.From},
		{Text: fmt.Sprintf("they run under %s", limit.text), At: limit.at},
	}
	if limit.Duration <= 0 {
		f.Notes[1].Text += ", of which local work leaves nothing"
	}
	most := int64(1)
	for n := int64(2); n < min(leg.Attempts, manyAttempts); n++ {
		if _, sum := w.Backoff.Sum(n - 1); sum >= limit.Duration {
			break
		}
		most = n
	}
	_, sum := w.Backoff.Sum(most - 1)
	f.Fixes = []diag.Fix{p.retriesFix(l, most)}
	f.Help = fmt.Sprintf("give `%s` %s", id, retriesText(most))
	if most > 1 {
		f.Help += fmt.Sprintf(" (%s of waits)", sum)
	}
	f.Help += ", or shorter waits"
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	capped(&f, backoffOrigin(w), w.Attempts.From, limit.at)
	p.Report(f)
}

func outlasts(more bool) string {
	if more {
		return "outlasts"
	}
	return "is all of"
}

// waitList writes the longest waits of a leg, the first few where there are many.
func (p *Pass) waitList(l solver.LegID) string {
	leg, _, _, w := p.call(l)
	text := ""
	for k := int64(1); k < leg.Attempts; k++ {
		if k > maxParts {
			return text + " + …"
		}
		_, hi := w.Backoff.Wait(k)
		if k > 1 {
			text += " + "
		}
		text += hi.String()
	}
	return text
}

// longRetryAfter reports that a callee may ask for a wait that the limit does not leave.
func (p *Pass) longRetryAfter(l solver.LegID, limit bound) {
	leg, _, _, w := p.call(l)
	asked := w.RetryAfter()
	if !asked.Set() || asked.V.Finite() && asked.V < limit.Duration || asked.V.Finite() && !limit.Finite() || asked.V == model.Unknown {
		return
	}
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	f := UnsafeBackoff.New(id, diag.Span{}, "")
	f.Severity, f.Detail, f.Cause, f.Touched = diag.Warning, "retry_after", asked.From, p.Sol.Nodes[leg.To].Touched
	long := "as long as it likes"
	if asked.V.Finite() {
		long = asked.V.String()
	}
	f.Message = fmt.Sprintf("`%s` may ask `%s` to wait %s before it retries", callee, id, long)
	if limit.Finite() {
		f.Message += ", beyond " + limit.text
		f.Notes = []diag.Note{{Text: "the wait runs under " + limit.text, At: limit.at}}
		if most := floor(limit.Sub(1)); most > 0 {
			f.Fixes = []diag.Fix{p.setFix(l, "retry_after", asked.From, asked.V.String(), most.String())}
			f.Fixes[0].Bound = "most"
			f.Help = fmt.Sprintf("set `retry_after` to %s or less, and give up when the callee asks for more", most)
		}
	}
	if f.Help == "" {
		f.Help = "set `retry_after` to the longest wait that the caller has time for"
	}
	p.Report(f)
}
