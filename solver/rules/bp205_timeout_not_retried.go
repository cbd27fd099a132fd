package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// TimeoutNotRetried is a per-try timeout that ends the call instead of the attempt.
var TimeoutNotRetried = &diag.Code{
	ID: "BP205", Name: "timeout-not-retried", Severity: diag.Warning,
	Summary: "the retry conditions leave timeouts out, so the per-try timeout ends the whole call",
}

var timeoutNotRetried = &Rule{Code: TimeoutNotRetried, Leg: retrying((*Pass).hardPerTry)}

func (p *Pass) hardPerTry(l solver.LegID) {
	leg, t, c, w := p.call(l)
	// Without a per-try limit of its own an attempt has the whole timeout, and nothing is lost.
	if leg.RetryOn.Timeout() || !leg.PerTry.Finite() || leg.PerTry >= leg.Timeout || leg.PerTry > t.Patience {
		return
	}
	if t.CalleeBusy.Add(leg.Network) <= leg.PerTry {
		return // the callee ends first
	}
	id := p.Graph.LegName(l)
	f := TimeoutNotRetried.New(id, diag.Span{}, "`%s` ends at its per-try timeout of %s, whatever its timeout%s and %s: a timeout is not retried",
		id, leg.PerTry, ofFinite(leg.Timeout), retriesLeft(leg.Attempts))
	f.Cause, f.Touched = w.RetryOn().From, p.Sol.Nodes[leg.To].Touched
	f.Notes = []diag.Note{
		{Text: "retried: " + w.Retried().String(), At: w.RetryOn().From},
		{Text: fmt.Sprintf("the per-try timeout is %s", leg.PerTry), At: w.PerTry.From},
	}
	f.Help = fmt.Sprintf("drop the per-try timeout of `%s`", id)
	f.Fixes = []diag.Fix{p.setFix(l, "per_try_timeout", w.PerTry.From, leg.PerTry.String(), "none")}
	if why, _, known := repeatable(c); !known || why == "" {
		with := w.Retried()
		with.Kinds |= model.OnTimeout
		f.Help = fmt.Sprintf("let `%s` retry timeouts too (`retry_on: %s`), or drop its per-try timeout", id, with)
		f.Fixes = append([]diag.Fix{p.setFix(l, "retry_on", w.RetryOn().From, w.Retried().String(), with.String())}, f.Fixes...)
	}
	p.Report(f)
}

// ofFinite gives ` of 4s` where there is a number.
func ofFinite(d model.Duration) string {
	if d.Finite() {
		return " of " + d.String()
	}
	return ""
}

func retriesLeft(attempts int64) string {
	switch {
	case endless(attempts):
		return "unlimited retries"
	case attempts == 2:
		return "1 retry"
	}
	return thousands(attempts-1) + " retries"
}

// setFix sets a key of a call to a value; the place is the call's where nobody wrote the key.
func (p *Pass) setFix(l solver.LegID, key string, now *diag.Origin, from, to string) diag.Fix {
	f := diag.Fix{Subject: p.Graph.LegName(l), Key: key, From: from, To: to}
	if now.Written() {
		f.At = now.Span()
		return f
	}
	_, _, c, _ := p.call(l)
	f.At = c.At
	return f
}
