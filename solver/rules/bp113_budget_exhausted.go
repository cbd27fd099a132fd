package rules

import (
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// BudgetExhausted is raised for a service that receives less than its own work takes.
var BudgetExhausted = &diag.Code{
	ID: "BP113", Name: "budget-exhausted", Severity: diag.Error,
	Summary: "nothing is left at this depth: the service receives less than its own work takes",
}

var budgetExhausted = &Rule{Code: BudgetExhausted, Node: (*Pass).exhausted}

// spent reports whether a node receives less than its own work takes.
func (p *Pass) spent(n solver.NodeID) bool {
	t := &p.Sol.Nodes[n]
	if p.Graph.Nodes[n].Leaf {
		// The latency of a leaf contains its work, and BP105 to BP107 speak of it.
		if slices.ContainsFunc(p.Graph.In(n), func(l solver.LegID) bool { _, _, c, _ := p.call(l); return c.Latency.Set() }) {
			return false
		}
	}
	return t.Received.Finite() && t.Received < p.Graph.Nodes[n].Local()
}

// exhausted reports the first service of a path where the time runs out; those below it follow from it.
func (p *Pass) exhausted(n solver.NodeID) {
	s, t := p.service(n), &p.Sol.Nodes[n]
	if s == nil || !p.spent(n) || t.ReceivedBy >= 0 && p.spent(p.Graph.Legs[t.ReceivedBy].From) {
		return
	}
	local := p.Graph.Nodes[n].Local()
	f := BudgetExhausted.New(s.Name, diag.Span{}, "nothing is left at `%s`: it receives %s, its own work takes %s", s.Name, max(0, t.Received).Down(), local)
	if local == 0 {
		f.Message = fmt.Sprintf("nothing is left at `%s`: the back-off before its attempts uses up what it has", s.Name)
	}
	f.Cause, f.Touched = s.Before.From, t.Touched
	if f.Cause == nil {
		f.Cause = s.After().From
	}
	if f.Cause == nil {
		f.Cause = diag.At(s.At)
	}
	after := p.infeasibleRoot(n)
	f.Help = fmt.Sprintf("give `%s` more than %s, or let it work less", s.Name, local)
	if by := t.ReceivedBy; by >= 0 {
		leg, lt, c, _ := p.call(by)
		id := p.Graph.LegName(by)
		after = append(after, ref{code: ImpossibleCall, subject: id})
		note := p.receivedNote(n)
		if t.Received < 0 || leg.Attempts > 1 {
			note = diag.Note{
				Text: fmt.Sprintf("`%s` has a budget of %s for %s%s", id, max(0, lt.Budget).Down(), attemptsText(leg.Attempts), backoffText(lt.BackoffSum)),
				At:   diag.At(c.At),
			}
		}
		f.Notes = append(f.Notes, note)
		if leg.Attempts > 1 {
			p.retryLess(&f, n, by)
		}
	} else {
		f.Notes = append(f.Notes, p.receivedNote(n))
	}
	p.Report(f, after...)
}

// retryLess adds the most retries of the call that gives a node its time with which the node has enough for its own
// work. Where none is few enough, it says what the node would receive.
func (p *Pass) retryLess(f *diag.Finding, n solver.NodeID, by solver.LegID) {
	leg, t, _, _ := p.call(by)
	local, id := p.Graph.Nodes[n].Local(), p.Graph.LegName(by)
	if t.Patience < local {
		f.Help += fmt.Sprintf("; fewer retries are not enough: an attempt of `%s` is given up after %s", id, t.Patience)
		return
	}
	q := p.again(by, p.retriesFix(by, 1))
	if q == nil {
		return
	}
	if q.spent(n) {
		f.Help += fmt.Sprintf("; with no retries on `%s` it would receive %s", id, max(0, q.Sol.Nodes[n].Received).Down())
		return
	}
	most := int64(1) // enough; the first that is too many is above it
	for lo, hi := most, min(leg.Attempts, manyAttempts); hi-lo > 1; {
		mid := lo + (hi-lo)/2
		switch q := p.again(by, p.retriesFix(by, mid)); {
		case q == nil:
			hi = lo
		case q.spent(n):
			hi = mid
		default:
			lo, most = mid, mid
		}
	}
	f.Fixes = append(f.Fixes, p.retriesFix(by, most))
	f.Help = fmt.Sprintf("give `%s` %s, `%s` more than %s, or let it work less", id, retriesText(most), p.nodeName(n), local)
}
