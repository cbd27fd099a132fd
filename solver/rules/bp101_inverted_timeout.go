package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// InvertedTimeout is raised for a call whose callee may work longer than it is waited for.
var InvertedTimeout = &diag.Code{
	ID: "BP101", Name: "inverted-timeout", Severity: diag.Error,
	Summary: "the callee may work longer than it is waited for, and nothing stops it",
}

var invertedTimeout = &Rule{Code: InvertedTimeout, Leg: (*Pass).invertedLeg, Root: (*Pass).invertedRoot}

// inverted reports whether work of this length outlasts a wait, or ties with it. An unknown bound is neither.
func inverted(busy, wait model.Duration) bool {
	return wait.Finite() && busy != model.Unknown && busy >= wait
}

func (p *Pass) invertedLeg(l solver.LegID) {
	leg, t, _, w := p.call(l)
	if leg.Stream || t.Enforced || !inverted(t.CalleeBusy, t.Patience) {
		return
	}
	least := patience(w)
	callee, id := p.nodeName(leg.To), p.Graph.LegName(l)
	f := found(InvertedTimeout, id, p.overrun(callee, p.nodeName(leg.From), t.CalleeBusy, t.Patience))
	f.Cause, f.Touched = least.From, p.Sol.Nodes[leg.From].Touched
	if t.CalleeBusy == t.Patience {
		f.Severity = diag.Warning
	}
	work, decides := p.calleeNote(l)
	f.Notes = append(f.Notes, work, p.enforcementNote(l))
	help := p.bringWithin(&f, l, leg.To, t.CalleeBusy, t.Patience)
	if fix, name, ok := p.raise(l, p.beyond(leg.To, t.CalleeBusy)); ok {
		f.Fixes = append(f.Fixes, fix)
		if help == "" {
			help = say("give `%s` a %s of %s or more", id, name, fix.To)
		}
	}
	if help == "" {
		f.Help = p.enforcementHelp(l)
	} else {
		f.Help = help + "; or " + p.enforcementHelp(l)
	}
	f.Fixes = append(f.Fixes, p.enforcementFix(l)...)
	p.apart(&f, append(decides, least.From)...)
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	capped(&f, append(decides, least.From)...)
	p.Report(f, p.unboundedBy(t.CalleeBusy, leg.To)...)
}

// invertedRoot compares the first service with the time at which the client gives up.
func (p *Pass) invertedRoot(r int32) {
	root := &p.Graph.Roots[r]
	busy := p.Sol.Nodes[root.Node].Busy
	if root.Entrypoint < 0 || !root.Timeout.Finite() {
		return
	}
	e := &p.Plan.Entrypoints[root.Entrypoint]
	wait := root.Timeout.Sub(root.Overhead)
	if wait <= 0 || !inverted(busy, wait) {
		return
	}
	f := found(InvertedTimeout, e.Name, p.overrun(p.nodeName(root.Node), e.Name, busy, wait))
	f.Cause, f.Touched = e.Timeout.From, p.Sol.Nodes[root.Node].Touched
	if busy == wait {
		f.Severity = diag.Warning
	}
	if root.Overhead > 0 {
		f.Notes = append(f.Notes, diag.Note{
			Text: fmt.Sprintf("`%s` has %s of the client's %s: %s are overhead", p.nodeName(root.Node), wait, root.Timeout, root.Overhead),
			At:   e.Overhead.From,
		})
	}
	f.Notes = append(f.Notes, p.workNote(root.Node))
	f.Help = p.bringWithin(&f, -1, root.Node, busy, wait)
	if least := p.beyond(root.Node, busy).Add(root.Overhead); least.Finite() {
		f.Fixes = append(f.Fixes, diag.Fix{
			Subject: e.Name, Key: "timeout", At: e.Timeout.Span(), From: e.Timeout.V.String(), Bound: "least", To: least.String(),
		})
		if f.Help == "" {
			f.Help = fmt.Sprintf("give `%s` a timeout of %s or more", e.Name, least)
		}
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f, p.unboundedBy(busy, root.Node)...)
}

// overrun states by how much a callee outlasts its caller.
func (p *Pass) overrun(callee, caller string, busy, wait model.Duration) string {
	switch {
	case !busy.Finite():
		return say("`%s` may go on without end after `%s` gave up at %s", callee, caller, p.spell(wait))
	case busy == wait:
		return say("`%s` may work for %s, exactly as long as `%s` waits for it", callee, p.spell(busy), caller)
	}
	return say("`%s` may go on for %s after `%s` gave up", callee, p.spell(busy-wait), caller)
}

// calleeNote says where the bound of a call's callee comes from, and which limits decide it: a latency and local work
// are facts, not limits.
func (p *Pass) calleeNote(l solver.LegID) (diag.Note, []*diag.Origin) {
	leg, t, c, _ := p.call(l)
	name := p.nodeName(leg.To)
	s := p.service(leg.To)
	if s != nil && s.DefaultDeadline().Set() && s.DefaultDeadline().V == t.CalleeBusy {
		return diag.Note{
			Text: fmt.Sprintf("`%s` assumes a deadline of %s where none arrives", name, t.CalleeBusy), At: s.DefaultDeadline().From,
		}, []*diag.Origin{s.DefaultDeadline().From}
	}
	if s != nil && s.ServerTimeout.Set() && s.ServerTimeout.V == t.CalleeBusy {
		return diag.Note{
			Text: say("`%s` stops at its `server_timeout` of %s", name, p.spell(t.CalleeBusy)), At: s.ServerTimeout.From,
		}, []*diag.Origin{s.ServerTimeout.From}
	}
	if most := c.Latency.Most(); p.Graph.Nodes[leg.To].Leaf && most.Set() {
		return diag.Note{Text: say("`%s` takes up to %s", name, p.spell(most.V)), At: most.From}, nil
	}
	return p.workNote(leg.To), p.deciders(leg.To)
}

// bringWithin adds the changes that make a node end before its caller leaves, and words the first.
func (p *Pass) bringWithin(f *diag.Finding, l solver.LegID, n solver.NodeID, busy, wait model.Duration) string {
	node, t := &p.Graph.Nodes[n], &p.Sol.Nodes[n]
	var help string
	if !node.Leaf && busy == t.Flow {
		var fixes []diag.Fix
		fixes, help = p.shrink(n, p.within(n, wait, wait))
		f.Fixes = append(f.Fixes, fixes...)
	}
	keep, less := node.Margin.Keep(wait), ""
	if keep >= wait {
		keep, less = wait-step, p.spell(step)
	}
	if fix, ok := p.stop(n, floor(keep)); ok {
		f.Fixes = append(f.Fixes, fix)
		if help == "" {
			if less == "" {
				less = node.Margin.String() + " margin"
			}
			help = say("give `%s` a `server_timeout` of %s or less (%s, less %s)", fix.Subject, fix.To, p.spell(wait), less)
			if l >= 0 {
				if up, name, ok := p.raise(l, p.beyond(n, busy)); ok {
					help += say(", or `%s` a %s of %s or more", p.Graph.LegName(l), name, up.To)
				}
			}
		}
	}
	return help
}

// enforcementFix is the one key that lets the callee stop with its caller, where one is enough.
func (p *Pass) enforcementFix(l solver.LegID) []diag.Fix {
	leg, _, c, w := p.call(l)
	honors := p.Graph.Nodes[leg.To].Honors
	s := p.service(leg.To)
	switch tells := w.Propagates.Or(0); {
	case honors != 0:
		f := diag.Fix{Subject: p.Graph.LegName(l), Key: "propagates", At: w.Propagates.Span(), To: honors.String()}
		if w.Propagates.Set() {
			f.From = tells.String()
		}
		if f.At.Nowhere() {
			f.At = c.At
		}
		return []diag.Fix{f}
	case tells != 0 && s != nil:
		f := diag.Fix{Subject: s.Name, Key: "honors", At: s.Honors.Span(), To: tells.String()}
		if f.At.Nowhere() {
			f.At = s.At
		}
		return []diag.Fix{f}
	}
	return nil
}

// unboundedBy names the call without any limit that makes a node's work unbounded: BP104 speaks for it.
func (p *Pass) unboundedBy(busy model.Duration, n solver.NodeID) []ref {
	if busy != model.NoLimit {
		return nil
	}
	return once(&p.about(n).endless, func() (first []ref) {
		p.body(n).legs(func(l solver.LegID) bool {
			if p.Graph.Legs[l].Awaited() && p.wait(l) == model.NoLimit {
				first = []ref{{code: MissingTimeout, subject: p.Graph.LegName(l)}}
			}
			return first == nil
		})
		return first
	})
}
