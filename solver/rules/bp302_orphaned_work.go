package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// OrphanedWork is raised for a call that goes on when a deadline has stopped its caller.
var OrphanedWork = &diag.Code{
	ID: "BP302", Name: "orphaned-work", Severity: diag.Warning,
	Summary: "work goes on after a deadline has stopped its caller, where the rest of the path is enforced",
}

var orphanedWork = &Rule{Code: OrphanedWork, Leg: (*Pass).orphaned}

// orphaned reports a call that no deadline stops while its caller is stopped by one. A callee that outlasts its own call
// is BP101's, and a deadline that was only not passed on BP301's.
func (p *Pass) orphaned(l solver.LegID) {
	leg, t, c, _ := p.call(l)
	if c.Stream().Or(false) || c.Async.Or(false) || !t.Overhang.Finite() || t.Overhang <= 0 {
		return
	}
	id, callee, from := p.Graph.LegName(l), p.nodeName(leg.To), p.nodeName(leg.From)
	f := OrphanedWork.New(id, diag.Span{}, "`%s` may work on for %s after `%s` was stopped", callee, t.Overhang, from)
	stopped := min(p.Sol.Nodes[leg.From].Told, p.Graph.Nodes[leg.From].Limit)
	work, decides := p.calleeNote(l)
	f.Touched = p.Sol.Nodes[leg.From].Touched
	if f.Cause = work.At; f.Cause == nil && len(decides) > 0 {
		f.Cause = decides[0]
	}
	if f.Cause == nil || f.Cause.Default != nil {
		f.Cause = diag.At(c.At)
	}
	f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("`%s` is stopped after %s at the latest", from, stopped), At: p.stopper(leg.From)},
		work, p.enforcementNote(l))
	f.Help = p.enforcementHelp(l)
	f.Fixes = p.enforcementFix(l)
	// The last attempt starts when the overhang begins to count, less what it works.
	started := stopped.Add(t.Overhang).Sub(t.CalleeBusy).Sub(leg.Connect)
	if room := floor(stopped.Sub(started).Sub(leg.Connect)); room > 0 {
		if fix, ok := p.stop(leg.To, room); ok {
			f.Fixes = append(f.Fixes, fix)
			f.Help += fmt.Sprintf("; or give `%s` a `server_timeout` of %s or less", callee, room)
		}
	}
	p.Report(f, ref{code: InvertedTimeout, subject: id, restates: true}, ref{code: DeadlineDropped, subject: id})
}

// stopper is the place of what stops a service at the latest: its own limit, or the longest deadline that it is told.
func (p *Pass) stopper(n solver.NodeID) *diag.Origin {
	return note(&p.about(n).stopper, func() diag.Note { return diag.Note{At: p.stops(n)} }).At
}

func (p *Pass) stops(n solver.NodeID) *diag.Origin {
	if s := p.service(n); s != nil && p.Graph.Nodes[n].Limit <= p.Sol.Nodes[n].Told {
		return s.ServerTimeout.From
	}
	var at *diag.Origin
	longest := model.Duration(-1)
	for _, l := range p.Graph.In(n) {
		if _, t, _, w := p.call(l); min(t.Patience, t.Stop) > longest {
			longest, at = min(t.Patience, t.Stop), patience(w).From
		}
	}
	return at
}
