package rules

import (
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// SharedLimitConflict is raised for one limit that serves calls which need different ones.
var SharedLimitConflict = &diag.Code{
	ID: "BP306", Name: "shared-limit-conflict", Severity: diag.Warning,
	Summary: "one client config, or one server limit, serves callers that need different ones",
}

var sharedLimitConflict = &Rule{Code: SharedLimitConflict, Run: func(p *Pass) {
	p.sharedTimeouts()
	for n := range p.Plan.Services {
		p.sharedServer(solver.NodeID(n))
		p.sharedService(solver.NodeID(n))
	}
}}

// demand is what a call needs of one round, and what its caller has for one.
type demand struct {
	leg       solver.LegID
	need, has model.Duration
}

// sharedTimeouts finds timeouts that are written once for calls of which one needs more than another may take. A call
// that does not fit by itself is no conflict.
func (p *Pass) sharedTimeouts() {
	type use struct {
		most, least demand
		calls       int
	}
	by := make(map[diag.Span]int)
	var all []use
	for i := range p.Graph.Legs {
		l := solver.LegID(i)
		leg, t := &p.Graph.Legs[l], &p.Sol.Legs[l]
		if leg.Optional || !leg.Awaited() || t.Need.Known != solver.Complete || !t.Budget.Finite() || t.Need.V > t.Budget {
			continue
		}
		_, w := p.Graph.CallOf(l)
		at := w.Timeout.Span()
		if !w.Timeout.Written() || at.Nowhere() || p.shared(at) < 2 {
			continue
		}
		d := demand{l, t.Need.V.Div(leg.Repeat), t.Budget.Div(leg.Repeat)}
		k, known := by[at]
		if !known {
			by[at] = len(all)
			all = append(all, use{d, d, 1})
			continue
		}
		u := &all[k]
		u.calls++
		if d.need > u.most.need {
			u.most = d
		}
		if d.has < u.least.has {
			u.least = d
		}
	}
	for _, u := range all {
		if u.most.need > u.least.has {
			p.reportShared(u.most, u.least, u.calls)
		}
	}
}

func (p *Pass) reportShared(most, least demand, calls int) {
	_, _, c, w := p.call(least.leg)
	id, other := p.Graph.LegName(least.leg), p.Graph.LegName(most.leg)
	f := SharedLimitConflict.New(id, diag.Span{}, "one timeout of %s is written for `%s`, which has %s, and `%s`, which needs %s: no value is right for both",
		w.Timeout.V, id, least.has.Down(), other, most.need.Up())
	f.Cause, f.Touched = w.Timeout.From, p.Sol.Nodes[p.Graph.Legs[least.leg].From].Touched
	f.Notes = []diag.Note{{Text: fmt.Sprintf("the value is written once for %s", counted(int64(calls), "call"))}}
	fix := p.limitFix(least.leg, "timeout", model.Val[model.Duration]{}, "most", floor(least.has))
	fix.At = c.At
	f.Fixes = []diag.Fix{fix}
	f.Help = fmt.Sprintf("write `%s` a timeout of its own, %s or less", id, fix.To)
	p.Report(f)
}

// sharedServer finds a server limit that must stay below the wait of one caller and above the need of another.
func (p *Pass) sharedServer(n solver.NodeID) {
	s := p.service(n)
	if !s.ServerTimeout.Set() || !s.ServerTimeout.V.Finite() {
		return
	}
	short, others, long := p.cutShort(n)
	if short < 0 {
		return
	}
	_, t, _, w := p.call(short)
	id, other := p.Graph.LegName(short), p.Graph.LegName(long)
	f := SharedLimitConflict.New(s.Name, diag.Span{}, "no `server_timeout` of `%s` is right for all its callers: `%s` waits %s, `%s` needs %s",
		s.Name, id, t.Patience, other, p.atCallee(long).Up())
	f.Cause, f.Touched = s.ServerTimeout.From, p.Sol.Nodes[n].Touched
	_, _, lc, _ := p.call(long)
	f.Notes = []diag.Note{
		{Text: fmt.Sprintf("above %s, work goes on after `%s` left", t.Patience, id), At: patience(w).From},
		{Text: fmt.Sprintf("below %s, healthy requests of `%s` are cut", p.atCallee(long).Up(), other), At: diag.At(lc.At)},
	}
	f.Help = fmt.Sprintf("let a limit of the request, and not of the server, end the work: %s", p.enforcementHelp(short))
	f.Fixes = p.enforcementFix(short)
	if len(others) > 0 {
		var names []string
		for _, l := range others {
			names = append(names, "`"+p.Graph.LegName(l)+"`")
		}
		f.Help += ", and likewise on " + sentence(names, "and")
		f.Fixes = p.enforcedTogether(f.Fixes, others)
	}
	p.Report(f)
}

// cutShort finds the caller of a service that needs most, and those that wait less than that and leave work behind: the
// most impatient one and the others, in plan order. Short is -1 where there is no conflict.
func (p *Pass) cutShort(n solver.NodeID) (short solver.LegID, others []solver.LegID, long solver.LegID) {
	short, long = -1, -1
	for _, l := range p.Graph.In(n) {
		if leg, t, _, _ := p.call(l); leg.Awaited() && t.One.Known == solver.Complete && (long < 0 || t.One.V > p.Sol.Legs[long].One.V) {
			long = l
		}
	}
	for _, l := range p.Graph.In(n) {
		leg, t, _, _ := p.call(l)
		// What does not fit into its own wait is no conflict between two.
		if l == long || !leg.Awaited() || t.One.Known != solver.Complete || t.Enforced || !t.Patience.Finite() ||
			p.atCallee(l) >= t.Patience || p.atCallee(long) < t.Patience {
			continue
		}
		others = append(others, l)
		if short < 0 || t.Patience < p.Sol.Legs[short].Patience {
			short = l
		}
	}
	return short, slices.DeleteFunc(others, func(l solver.LegID) bool { return l == short }), long
}

// enforcedTogether adds to the change that enforces one call those that enforce others too. Where that one is a change
// of the service there is none: whether it enforces the others depends on what they tell.
func (p *Pass) enforcedTogether(first []diag.Fix, others []solver.LegID) []diag.Fix {
	if len(first) != 1 || first[0].Key != "propagates" {
		return nil
	}
	for _, l := range others {
		first[0].With = append(first[0].With, p.enforcementFix(l)...)
	}
	return first
}

// atCallee is what one attempt of a call needs of the callee, the network out.
func (p *Pass) atCallee(l solver.LegID) model.Duration {
	leg, t, _, _ := p.call(l)
	return t.One.V.Sub(leg.Network)
}

// sharedService finds a service with calls of its own, and so with one client config, that one caller gives the time it
// needs and another does not.
func (p *Pass) sharedService(n solver.NodeID) {
	t, name := &p.Sol.Nodes[n], p.nodeName(n)
	if p.Graph.Nodes[n].Leaf || t.Need.Known != solver.Complete || !t.Received.Finite() || t.Received >= t.Need.V {
		return
	}
	var given model.Duration
	by, root := solver.LegID(-1), int32(-1)
	offer := func(l solver.LegID, r int32, has model.Duration) {
		if has.Finite() && has >= t.Need.V && has > given {
			given, by, root = has, l, r
		}
	}
	for _, l := range p.Graph.In(n) {
		offer(l, -1, p.Sol.Legs[l].Given)
	}
	for _, r := range p.rootsAt(n) {
		if root := &p.Graph.Roots[r]; root.SLO.Finite() {
			offer(-1, r, root.SLO.Sub(root.Overhead))
		}
	}
	if given == 0 {
		return
	}
	from := ""
	if by >= 0 {
		from = "`" + p.Graph.LegName(by) + "`"
	} else {
		from = "`" + p.rootName(root) + "`"
	}
	tight := "its tightest caller"
	if t.ReceivedBy >= 0 {
		tight = "`" + p.Graph.LegName(t.ReceivedBy) + "`"
	} else if r := t.ReceivedRoot; r >= 0 {
		tight = "`" + p.rootName(r) + "`"
	}
	f := SharedLimitConflict.New(name, diag.Span{}, "the limits of `%s` cannot fit all its callers: it needs %s, %s gives it %s, %s %s",
		name, t.Need.V.Up(), tight, t.Received.Down(), from, given.Down())
	f.Cause, f.Touched = diag.At(p.service(n).At), t.Touched
	f.Detail = "service"
	f.Notes = []diag.Note{p.receivedNote(n)}
	f.Help = fmt.Sprintf("give %s a shorter way through `%s`, an operation or a config of its own, or more time", tight, name)
	p.Report(f, p.infeasibleRoot(n)...)
}
