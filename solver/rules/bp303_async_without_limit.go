package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// AsyncWithoutLimit is raised for background work that ends with its request, or that nothing ends.
var AsyncWithoutLimit = &diag.Code{
	ID: "BP303", Name: "async-without-limit", Severity: diag.Warning,
	Summary: "background work under a request's deadline, or without any limit of its own",
}

var asyncWithoutLimit = &Rule{
	Code: AsyncWithoutLimit,
	Leg:  (*Pass).background,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` sets no timeout by itself: nothing ends %s in the background", d.Platform, counted(int64(n), "call"))
	},
}

// background looks at the first waiter of a call: who forgets about the call, and whose request it was.
func (p *Pass) background(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if !leg.Async || t.Rounds == 0 {
		return
	}
	id := p.Graph.LegName(l)
	if carried := w.Propagates.Or(0); carried != 0 {
		f := AsyncWithoutLimit.New(id, diag.Span{}, "`%s` runs in the background under the %s of its request: it ends when the request does", id, plain(carried))
		f.Detail, f.Cause, f.Touched = "deadline", w.Propagates.From, p.Sol.Nodes[leg.From].Touched
		f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is marked `async: true`: nobody waits for it", c.ID), At: c.Async.From}}
		f.Fixes = []diag.Fix{p.setFix(l, "propagates", w.Propagates.From, carries(w), "nothing")}
		f.Help = fmt.Sprintf("let `%s` propagate `nothing`, and end it by a timeout of its own", id)
		p.Report(f)
	}
	if t.Patience.Finite() || t.CalleeBusy.Finite() {
		return
	}
	f := AsyncWithoutLimit.New(id, diag.Span{}, "nothing ends `%s`: it runs in the background without any limit", id)
	f.Detail, f.Cause, f.Touched = "limit", w.Timeout.From, p.Sol.Nodes[leg.From].Touched
	if f.Cause == nil {
		f.Cause = diag.At(c.At)
	}
	f.Notes = []diag.Note{{Text: "nobody waits for it, so nobody notices when it hangs: such calls pile up", At: c.Async.From}}
	f.Help = fmt.Sprintf("give `%s` a timeout", id)
	p.Report(f)
}
