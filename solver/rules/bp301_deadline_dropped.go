package rules

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// DeadlineDropped is raised for a call that does not pass on the deadline that its caller was told.
var DeadlineDropped = &diag.Code{
	ID: "BP301", Name: "deadline-dropped", Severity: diag.Warning,
	Summary: "a deadline that was carried to here stops here",
}

var deadlineDropped = &Rule{Code: DeadlineDropped, Node: func(p *Pass, n solver.NodeID) {
	if in := p.toldBy(n); in >= 0 {
		p.Graph.Out(n, func(l solver.LegID) { p.dropped(l, in) })
	}
}}

// tellable has the kinds of service whose protocol has a place for a deadline; a service without a kind may be any.
var tellable = map[string]bool{"": true, "http": true, "https": true, "grpc": true}

// toldBy is the first call that carries a deadline to a node, -1 where none does.
func (p *Pass) toldBy(n solver.NodeID) solver.LegID {
	for _, l := range p.Graph.In(n) {
		if _, _, _, w := p.call(l); w.Propagates.Or(0)&model.Deadline != 0 {
			return l
		}
	}
	return -1
}

// dropped reports a call of a service that was told a deadline. Background work must not inherit one. A callee that says
// what it honors and leaves deadlines out could do nothing with one, nor could a database or a queue; of a further waiter that says
// nothing, nobody knows that it does not pass on what it gets.
func (p *Pass) dropped(l, told solver.LegID) {
	leg, t, c, w := p.call(l)
	if !leg.Awaited() || t.Enforced || w.Propagates.Or(0)&model.Deadline != 0 || leg.Waiter > 0 && !w.Propagates.Set() {
		return
	}
	callee := &p.Plan.Services[c.To]
	if callee.Honors.Or(0)&model.Deadline == 0 && (callee.Honors.Set() || !tellable[strings.ToLower(callee.Kind.Or(""))]) {
		return
	}
	id, from := p.Graph.LegName(l), p.nodeName(leg.From)
	f := found(DeadlineDropped, id, say("`%s` is told a deadline and does not pass it on to `%s`", from, callee.Name))
	f.Cause, f.Touched = w.Propagates.From, p.Sol.Nodes[leg.From].Touched
	if !w.Propagates.Set() {
		// One service that passes nothing on is one cause, however many it calls.
		f.Cause, f.At = diag.At(p.Plan.Services[c.From].At), c.At
	}
	_, _, _, tw := p.call(told)
	f.Notes = []diag.Note{{Text: say("`%s` carries the deadline to `%s`", p.Graph.LegName(told), from), At: tw.Propagates.From}}
	if w.Propagates.Set() {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("`propagates` of `%s` is `%s`", id, w.Propagates.V), At: w.Propagates.From})
	} else {
		f.Notes = append(f.Notes, diag.Note{Text: say("`propagates` is not set on `%s`", id)})
	}
	with := w.Propagates.Or(0) | model.Deadline
	f.Fixes = []diag.Fix{p.setFix(l, "propagates", w.Propagates.From, carries(w), with.String())}
	f.Help = say("propagate the deadline on `%s`", id)
	if callee.Honors.Or(0)&model.Deadline == 0 {
		f.Help += say(", and let `%s` honor it", callee.Name)
	}
	p.Report(f)
}

// carries writes what a waiter propagates, "" where nobody said.
func carries(w *model.Waiter) string {
	if !w.Propagates.Set() {
		return ""
	}
	return w.Propagates.V.String()
}
