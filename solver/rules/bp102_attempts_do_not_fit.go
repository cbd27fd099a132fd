package rules

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// AttemptsDoNotFit is raised for a call whose attempts need more than its own timeout.
var AttemptsDoNotFit = &diag.Code{
	ID: "BP102", Name: "attempts-do-not-fit", Severity: diag.Error,
	Summary: "the attempts of a call need more time than its own timeout gives them",
}

var attemptsDoNotFit = &Rule{Code: AttemptsDoNotFit, Leg: (*Pass).attemptsFit}

// attemptsFit compares what all attempts need with the timeout. One attempt needs its patience, or what the callee
// may take where that is less; connect time is BP110's. Without a limit of an attempt's own one hang uses all of
// the timeout, and BP204 says so. Attempts without end are meant to be ended by their timeout.
func (p *Pass) attemptsFit(l solver.LegID) {
	leg, t, _, w := p.call(l)
	try := perTry(w)
	if leg.Stream || leg.Attempts <= 1 || endless(leg.Attempts) || !leg.Timeout.Finite() || !try.Set() {
		return
	}
	callee := t.CalleeBusy.Add(leg.Network)
	if !leg.RetryOn.Late() && (!leg.RetryOn.Timeout() || callee < t.Patience) {
		return
	}
	one := min(t.Patience, callee)
	total := p.allAttempts(l, one)
	if total < leg.Timeout {
		return
	}
	id := p.Graph.LegName(l)
	need := ages(total)
	f := found(AttemptsDoNotFit, id, say("the %s of `%s` need %s, its timeout is %s", attemptsText(leg.Attempts), id, need, p.spell(leg.Timeout)))
	if total == leg.Timeout {
		f.Severity = diag.Warning
		f.Message = say("the %s of `%s` exactly fill its timeout of %s", attemptsText(leg.Attempts), id, p.spell(leg.Timeout))
	}
	f.Cause, f.Touched = w.Timeout.From, p.Sol.Nodes[leg.From].Touched
	f.Notes = append(f.Notes, p.attemptsNote(l, try, one, total))
	if t.Hang.Started < leg.Attempts && t.Hang.Started > 0 && leg.RetryOn.Timeout() && callee >= t.Patience {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("when `%s` hangs, %s, the last with %s",
			p.nodeName(leg.To), started(t.Hang.Started, leg.Attempts), t.Hang.Last)})
	}
	p.fitFixes(&f, l, try, one)
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	capped(&f, w.Timeout.From, try.From)
	p.Report(f)
}

// allAttempts is what the attempts of a round need when each takes the same time.
func (p *Pass) allAttempts(l solver.LegID, one model.Duration) model.Duration {
	leg, t, _, _ := p.call(l)
	return min(one.Mul(leg.Attempts-1).Add(t.BackoffSum), leg.Window).Add(one)
}

// started words how many of the attempts begin.
func started(n, of int64) string {
	verb := "start"
	if n == 1 {
		verb = "starts"
	}
	return fmt.Sprintf("%d of %s %s", n, attemptsText(of), verb)
}

// perTry is the limit that one attempt has of its own, not set without one.
func perTry(w *model.Waiter) limit {
	var least limit
	all, n := limits(w)
	for _, l := range all[:n] {
		if l.key != "timeout" && (!least.Set() || l.V < least.V) {
			least = l
		}
	}
	return least
}

func (p *Pass) attemptsNote(l solver.LegID, try limit, one, total model.Duration) diag.Note {
	leg, t, _, _ := p.call(l)
	text := times(leg.Attempts, "attempt", one) + backoffText(t.BackoffSum)
	switch {
	case !total.Finite():
	case one.Mul(leg.Attempts).Add(t.BackoffSum) == total:
		text += " = " + total.String()
	default:
		text += fmt.Sprintf(", started within a retry window of %s", leg.Window)
	}
	at := try.From
	if one < t.Patience {
		var decides []*diag.Origin
		if _, decides = p.calleeNote(l); len(decides) > 0 {
			at = decides[0]
		}
		text += say(": `%s` may take that long", p.nodeName(leg.To))
	} else if try.V >= leg.Timeout {
		text += say(": a %s of %s is not below the timeout", try.name, p.spell(try.V))
	}
	return diag.Note{Text: text, At: at}
}

// fitFixes adds the changes that make the attempts end strictly before the timeout. Where connect time is written
// they leave room for it too: else the change would only turn the finding into BP110.
func (p *Pass) fitFixes(f *diag.Finding, l solver.LegID, try limit, one model.Duration) {
	leg, t, _, w := p.call(l)
	var connect model.Duration
	if w.Connect.Written() && (leg.Extra || try.key == "read_timeout") {
		connect = leg.Connect
	}
	within, callee := leg.Timeout.Sub(1), t.CalleeBusy.Add(leg.Network)
	var ways []string
	// A longer timeout lets a per-try limit act that was above it.
	free := p.allAttempts(l, min(try.V, callee).Add(connect))
	if least := ceil(free.Add(1)); least.Finite() {
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
		ways = append(ways, say("a timeout of %s or more", p.spell(least)))
	}
	if q := floor(within.Sub(t.BackoffSum).Div(leg.Attempts).Sub(connect)); q > 0 && leg.Attempts <= manyAttempts {
		f.Fixes = append(f.Fixes, p.limitFix(l, try.key, try.Val, "most", q))
		ways = append(ways, say("a %s of %s or less", try.name, p.spell(q)))
	}
	before, n := model.Duration(0), int64(1)
	for ; n < min(leg.Attempts, manyAttempts); n++ {
		_, hi := w.Backoff.Wait(n)
		before = before.Add(one).Add(connect).Add(hi)
		if before.Add(one).Add(connect) > within {
			break
		}
	}
	if n < leg.Attempts {
		f.Fixes = append(f.Fixes, p.retriesFix(l, n))
		ways = append(ways, retriesText(n))
	}
	if connect > 0 {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s to connect come before each attempt", connect), At: w.Connect.From})
	}
	f.Help = say("give `%s` %s", p.Graph.LegName(l), either(ways))
}

// either joins alternatives: `a`, `a, or b`, `a, b, or c`.
func either(ways []string) string {
	if len(ways) < 2 {
		return strings.Join(ways, "")
	}
	return strings.Join(ways[:len(ways)-1], ", ") + ", or " + ways[len(ways)-1]
}
