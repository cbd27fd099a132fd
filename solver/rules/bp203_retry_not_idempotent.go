package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// RetryNotIdempotent is a retry that may execute a request twice.
var RetryNotIdempotent = &diag.Code{
	ID: "BP203", Name: "retry-not-idempotent", Severity: diag.Error,
	Summary: "a retry can execute a request twice that is not marked as safe to repeat",
}

var retryNotIdempotent = &Rule{
	Code: RetryNotIdempotent, Leg: retrying((*Pass).executesTwice),
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` retries by itself: %s not marked as safe to repeat", d.Platform, are(n))
	},
}

func are(n int) string {
	if n == 1 {
		return "1 call is"
	}
	return thousands(int64(n)) + " calls are"
}

func (p *Pass) executesTwice(l solver.LegID) {
	leg, t, c, w := p.call(l)
	why, at, known := repeatable(c)
	if known && why == "" || !leg.RetryOn.Reaches() {
		return
	}
	// Only timeouts are retried, and no retry of a timeout can start: BP204 has that.
	if !leg.RetryOn.Late() && t.Patience.Finite() && t.Possible < 2 {
		return
	}
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	f := found(RetryNotIdempotent, id, say("`%s` may execute %s for one request: %s, and %s",
		callee, timesText(leg.Attempts), makes(id, leg.Attempts), why))
	f.Cause, f.Touched = p.layerOrigin(l, -1), p.Sol.Nodes[leg.To].Touched
	safe := model.Failures{Kinds: model.OnConnect | model.OnRefused}
	f.Fixes = []diag.Fix{p.retriesFix(l, 1), p.setFix(l, "retry_on", w.RetryOn().From, given(w.RetryOn()), safe.String())}
	f.Help = say("give `%s` no retries, or `retry_on: %s`, which never executes twice", id, safe.String())
	if known {
		f.Notes = append(f.Notes, diag.Note{Text: "what is not idempotent must not be sent again once it may have begun", At: at})
	} else {
		f.Severity = diag.Info
		// The call is, whoever waits for it.
		f.Help = say("say `idempotent: true` on `%s` if a repeat changes nothing; else %s", c.ID, f.Help)
		f.Fixes = append([]diag.Fix{{Subject: c.ID, Key: "idempotent", At: c.At, To: "true"}}, f.Fixes...)
	}
	retried := diag.Note{Text: "retried: " + w.Retried().String(), At: w.RetryOn().From}
	if !w.RetryOn().Set() {
		retried.Text += ", which is everything: `retry_on` is not set"
	}
	f.Notes = append(append(f.Notes, retried), p.sharedNotes(f.Fixes[len(f.Fixes)-2:])...)
	p.Report(f)
}

// repeatable says why a call must not be repeated, "" where it may be; known is false where nobody said.
func repeatable(c *model.Call) (why string, at *diag.Origin, known bool) {
	switch {
	case c.Idempotent.Set() && c.Idempotent.V:
		return "", nil, true
	case c.Idempotent.Set():
		return "it is marked `idempotent: false`", c.Idempotent.From, true
	case !c.Method().Set():
		return "nobody says that it is idempotent", nil, false
	}
	switch c.Method().V {
	case "POST", "PATCH":
		return "its route matches " + c.Method().V, c.Method().From, true
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return "", nil, true
	}
	return "nobody says that it is idempotent", nil, false
}

// given writes a list of failures as it stands, "" where it does not.
func given(v model.Val[model.Failures]) string {
	if !v.Set() {
		return ""
	}
	return v.V.String()
}

func makes(id string, attempts int64) string {
	return say("`%s` makes %s", id, attemptsText(attempts))
}

func timesText(n int64) string {
	switch {
	case endless(n):
		return "any number of times"
	case n == 2:
		return "twice"
	}
	return thousands(n) + " times"
}
