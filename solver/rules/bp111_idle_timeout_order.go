package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// IdleTimeoutOrder is raised for a connection that its server closes first.
var IdleTimeoutOrder = &diag.Code{
	ID: "BP111", Name: "idle-timeout-order", Severity: diag.Warning,
	Summary: "the server closes an idle connection before its client does: a request can meet one that is being closed",
}

var idleTimeoutOrder = &Rule{
	Code: IdleTimeoutOrder,
	Leg:  (*Pass).idleOrder,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` keeps idle connections for %s by itself, at least as long as their servers do: %s", d.Platform, d.Value, counted(int64(n), "call"))
	},
}

// idleOrder compares the two ends of a connection: the waiter next to the callee, and the callee. Where nobody wrote
// either of them, it is worth a line and no more.
func (p *Pass) idleOrder(l solver.LegID) {
	leg, t, _, w := p.call(l)
	s := p.service(leg.To)
	if t.Rounds == 0 || !leg.Last || s == nil || !w.Idle().Set() || !s.IdleTimeout().Set() {
		return
	}
	client, server := w.Idle(), s.IdleTimeout()
	if !server.V.Finite() || client.V < server.V {
		return
	}
	id := p.Graph.LegName(l)
	f := IdleTimeoutOrder.New(id, diag.Span{}, "`%s` closes a connection that was idle for %s, `%s` keeps it for %s: a request can meet one that is being closed",
		s.Name, server.V, id, client.V)
	switch {
	case client.V == server.V:
		f.Message = fmt.Sprintf("`%s` and `%s` both close a connection that was idle for %s: a request can meet one that is being closed", s.Name, id, server.V)
	case !client.V.Finite():
		f.Message = fmt.Sprintf("`%s` closes a connection that was idle for %s, `%s` never does: a request can meet one that is being closed", s.Name, server.V, id)
	}
	f.Touched = p.Sol.Nodes[leg.To].Touched
	cause, other := server.From, diag.Note{Text: fmt.Sprintf("the idle timeout of `%s` is %s", id, client.V), At: client.From}
	if !server.Written() && client.Written() {
		cause, other = client.From, diag.Note{Text: fmt.Sprintf("the idle timeout of `%s` is %s", s.Name, server.V), At: server.From}
	}
	f.Cause, f.Notes = cause, []diag.Note{other}
	if !client.Written() && !server.Written() {
		f.Severity = diag.Info
	}
	p.idleFixes(&f, l, client, s)
	p.Report(f)
}

// idleFixes adds the change of either end after which the client gives a connection up first.
func (p *Pass) idleFixes(f *diag.Finding, l solver.LegID, client model.Val[model.Duration], s *model.Service) {
	id, server := p.Graph.LegName(l), s.IdleTimeout()
	margin := p.Graph.Nodes[p.Graph.Legs[l].From].Margin
	most := floor(min(margin.Keep(server.V), server.V.Sub(step)))
	if most > 0 {
		f.Fixes = append(f.Fixes, p.limitFix(l, "idle_timeout", client, "most", most))
		f.Help = fmt.Sprintf("give `%s` an idle timeout of %s or less", id, most)
	}
	if client.V.Finite() {
		least := ceil(max(margin.Gross(client.V), client.V.Add(step)))
		fix := diag.Fix{Subject: s.Name, Key: "idle_timeout", At: server.Span(), From: server.V.String(), Bound: "least", To: least.String()}
		if fix.At.Nowhere() {
			fix.At = s.At
		}
		f.Fixes = append(f.Fixes, fix)
		if f.Help == "" {
			f.Help = "give"
		} else {
			f.Help += ", or"
		}
		f.Help += fmt.Sprintf(" `%s` one of %s or more", s.Name, least)
	}
}
