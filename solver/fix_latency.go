package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// latency finds the latency target with which the root fits, once for all calls that take the latency from one place.
func (f *fixer) latency(id LegID) {
	measured, known := f.measured(f.gr, id)
	if !known || f.g.Legs[id].Optional || measured != f.gr.one[id].V {
		return
	}
	for i := range f.targets {
		if slices.Contains(f.targets[i].Calls, id) {
			return
		}
	}
	fix, c, ok := f.target(f.takers(id))
	f.targets = append(f.targets, fix)
	if ok {
		f.try(fix, c)
	}
}

// takers gives the latency of a call as it is written, and the calls of its callee that take it from there.
func (f *fixer) takers(id LegID) RootFix {
	to := f.g.Legs[id].To
	d, used, _ := f.written(f.gr, id)
	fix := RootFix{Kind: FixLatency, Leg: id, Node: to, Other: -1, Latency: d, Percentile: used}
	for _, l := range f.g.In(to) {
		if !f.gr.has(f.g.Legs[l].From) {
			continue
		}
		if other, _, _ := f.written(f.gr, l); other.From.Same(d.From) {
			fix.Calls = append(fix.Calls, l)
		}
	}
	return fix
}

// target finds the largest latency with which the root fits once others changes are made, 0 where none does.
func (f *fixer) target(fix RootFix, others ...change) (RootFix, change, bool) {
	set := func(x model.Duration) change {
		return change{leg: -1, node: -1, what: setLatency, value: x, legs: fix.Calls}
	}
	fix.Time = max(0, most(fix.Latency.V, func(x model.Duration) model.Duration {
		return f.ask.root(f.root, append(others[:len(others):len(others)], set(x))...).V.Sub(f.slo)
	}))
	return fix, set(fix.Time), fix.Time > 0
}
