package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// OptionalHoldsResponse is raised for an optional call that the answer waits for longer than for what it needs.
var OptionalHoldsResponse = &diag.Code{
	ID: "BP114", Name: "optional-holds-response", Severity: diag.Warning,
	Summary: "an optional call without a cap, or one that outlasts the required ones beside it",
}

var optionalHoldsResponse = &Rule{Code: OptionalHoldsResponse, Leg: (*Pass).uncapped, Node: func(p *Pass, n solver.NodeID) {
	p.outlasting(n, p.body(n))
}}

// uncapped reports an optional call that nothing bounds; where `none` is written BP104 does.
func (p *Pass) uncapped(l solver.LegID) {
	leg, t, c, w := p.call(l)
	open := p.unlimited(l)
	if !leg.Optional || !leg.Awaited() || open == bounded || open == none {
		return
	}
	id := p.Graph.LegName(l)
	f := OptionalHoldsResponse.New(id, diag.Span{}, "`%s` is optional and has no cap: the answer waits for it as for a required call", id)
	if open == summed {
		f.Message = fmt.Sprintf("`%s` is optional, and only the sum of its attempts caps it: %s", id, p.sumText(l))
	}
	f.Detail, f.Cause, f.Touched = "uncapped", diag.At(c.At), p.Sol.Nodes[leg.From].Touched
	f.Help = fmt.Sprintf("give `%s` a timeout: what it costs the answer at most", id)
	if share := t.Recommended.Timeout; share > 0 && share.Finite() {
		f.Help = fmt.Sprintf("give `%s` a timeout of %s or less", id, share)
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "most", share))
	}
	p.Report(f)
}

// outlasting compares, in every parallel group, the optional elements with the longest required one.
func (p *Pass) outlasting(n solver.NodeID, e element) {
	for _, g := range e.of {
		p.outlasting(n, g)
	}
	if e.kind != model.Parallel {
		return
	}
	var required element
	var most model.Duration
	for _, g := range e.of {
		if w := g.fold(p.wait, true); !p.optional(g) && w > most {
			required, most = g, w
		}
	}
	if most == 0 || !most.Finite() {
		return
	}
	for _, g := range e.of {
		if wait := g.fold(p.wait, true); p.optional(g) && wait.Finite() && wait > most {
			p.reportOutlasting(n, g, wait, required, most)
		}
	}
}

// optional reports whether an element has awaited calls, all of them optional.
func (p *Pass) optional(e element) bool {
	some := false
	return e.legs(func(l solver.LegID) bool {
		leg := &p.Graph.Legs[l]
		some = some || leg.Awaited()
		return !leg.Awaited() || leg.Optional
	}) && some
}

func (p *Pass) reportOutlasting(n solver.NodeID, e element, wait model.Duration, required element, most model.Duration) {
	legs := p.longest(e)
	if len(legs) == 0 {
		return
	}
	l := legs[0]
	for _, k := range legs {
		if p.wait(k) > p.wait(l) {
			l = k
		}
	}
	if p.unlimited(l) != bounded {
		return
	}
	id := p.Graph.LegName(l)
	f := OptionalHoldsResponse.New(id, diag.Span{}, "`%s` is optional, and `%s` may wait %s longer for it than for what it requires", id, p.nodeName(n), wait-most)
	f.Detail, f.Cause, f.Touched = "outlasting", p.decider(l), p.Sol.Nodes[n].Touched
	f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("the optional part may take %s", wait), At: p.decider(l)})
	if r := p.longest(required); len(r) > 0 {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("the required part takes %s at most: `%s`", most, p.Graph.LegName(r[0])), At: p.decider(r[0])})
	}
	others := wait.Sub(p.wait(l))
	within := room{most.Sub(others), fmt.Sprintf("no longer than the required ones, %s", most)}
	f.Fixes, f.Help = p.shorten(l, within), p.shorter(l, within)
	if f.Help == "" {
		f.Help = fmt.Sprintf("let `%s` end within %s", id, most)
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f)
}
