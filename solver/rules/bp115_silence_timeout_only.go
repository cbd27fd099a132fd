package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// SilenceTimeoutOnly is raised for a call that only silence ends.
var SilenceTimeoutOnly = &diag.Code{
	ID: "BP115", Name: "silence-timeout-only", Severity: diag.Info,
	Summary: "only a read timeout limits the call: an answer that drips never ends",
}

var silenceTimeoutOnly = &Rule{
	Code: SilenceTimeoutOnly,
	Leg:  (*Pass).silenceOnly,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` limits nothing but silence by itself: %s can drip without end", d.Platform, counted(int64(n), "answer"))
	},
}

// silenceOnly reports a call whose one limit is on silence. A callee that is known to end by itself cannot drip for ever.
func (p *Pass) silenceOnly(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if c.Stream().Or(false) || t.Rounds == 0 || !leg.Read.Finite() || leg.Timeout.Finite() || leg.PerTry.Finite() || t.CalleeBusy.Finite() {
		return
	}
	id := p.Graph.LegName(l)
	f := SilenceTimeoutOnly.New(id, diag.Span{}, "only silence ends `%s`: its read timeout of %s starts again with every byte", id, leg.Read)
	f.Cause, f.Touched = w.Read().From, p.Sol.Nodes[leg.From].Touched
	f.Help = fmt.Sprintf("give `%s` a timeout for the whole call", id)
	if share := t.Recommended.Timeout; share > 0 && share.Finite() {
		f.Help += fmt.Sprintf(": %s or less, its share of what `%s` has", share, p.nodeName(leg.From))
		f.Fixes = []diag.Fix{p.limitFix(l, "timeout", w.Timeout, "most", share)}
	}
	p.Report(f, ref{code: MissingTimeout, subject: id})
}
