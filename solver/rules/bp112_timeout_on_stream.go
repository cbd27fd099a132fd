package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// TimeoutOnStream is raised for a stream that a limit on whole calls ends.
var TimeoutOnStream = &diag.Code{
	ID: "BP112", Name: "timeout-on-stream", Severity: diag.Error,
	Summary: "a limit on whole calls ends a call that streams",
}

var timeoutOnStream = &Rule{
	Code: TimeoutOnStream,
	Leg:  (*Pass).streamTimeout,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` ends a call after %s by itself, also one that streams: %s", d.Platform, d.Value, counted(int64(n), "stream"))
	},
}

// streamTimeout reports the shorter of the timeout and the per-try timeout. Envoy's per-try clock stops with the first
// byte of the answer (envoyproxy/envoy source/common/router/upstream_request.cc), so it ends no stream.
func (p *Pass) streamTimeout(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if !c.Stream().Or(false) || t.Rounds == 0 {
		return
	}
	lim, other := limit{"timeout", "timeout", w.Timeout}, limit{"per_try_timeout", "per-try timeout", w.PerTry}
	if w.Dialect == "envoy" {
		other = limit{}
	} else if leg.PerTry.Finite() && leg.PerTry < leg.Timeout {
		lim, other = other, lim
	}
	if !lim.Set() || !lim.V.Finite() {
		return
	}
	id := p.Graph.LegName(l)
	f := TimeoutOnStream.New(id, diag.Span{}, "`%s` streams, and its %s ends the stream after %s", id, lim.name, lim.V)
	f.Cause, f.Touched = lim.From, p.Sol.Nodes[leg.From].Touched
	f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is marked `stream: true`", c.ID), At: c.Stream().From}}
	f.Fixes = []diag.Fix{p.limitFix(l, lim.key, lim.Val, "", model.NoLimit)}
	none := fmt.Sprintf("`%s: none`", lim.key)
	if other.Set() && other.V.Finite() { // the longer one would end it then
		f.Fixes[0].With = []diag.Fix{p.limitFix(l, other.key, other.Val, "", model.NoLimit)}
		none += fmt.Sprintf(" and `%s: none`", other.key)
	}
	f.Help = fmt.Sprintf("give `%s` %s, and a `read_timeout` that ends a stream that went silent", id, none)
	if leg.Read.Finite() {
		f.Help = fmt.Sprintf("give `%s` %s: its read timeout of %s ends a stream that went silent", id, none, leg.Read)
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	capped(&f, lim.From)
	p.Report(f)
}
