package solver

import (
	"cmp"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// maxFixCandidates bounds the changes that are tried for one root: those with the largest effect are.
const maxFixCandidates = 200

// fixes lists, for every root that needs more than its SLO, the single changes and what it would need after each.
// Those that suffice come first, in the order of FixKind, the smallest change first (solver.md §2.3).
func (s *solve) fixes() {
	for _, gr := range s.groups {
		var ask *whatIf
		for _, r := range gr.roots {
			t := &s.sol.Roots[r]
			if s.g.Roots[r].SLO == model.NoLimit || t.Feasible {
				continue
			}
			if ask == nil {
				ask = newWhatIf(s, gr)
			}
			f := fixer{solve: s, gr: gr, root: r, slo: s.g.Roots[r].SLO, ask: ask}
			t.Fixes = f.run()
		}
	}
}

type fixer struct {
	*solve
	gr   *group
	root int32
	slo  model.Duration
	ask  *whatIf
	out  []RootFix
	// short has the retries and neighbours that are not enough by themselves, nodes whose margins are not.
	short []shortFix
	nodes []NodeID
}

// shortFix is a change that is not enough by itself.
type shortFix struct {
	fix RootFix
	c   change
}

// candidate is a critical node or leg with the root's need per unit of its own.
type candidate struct {
	node NodeID
	leg  LegID
	gain float64
}

func (f *fixer) run() []RootFix {
	for _, c := range f.critical() {
		if c.leg < 0 {
			f.margin(c.node)
			f.parallel(c.node)
			continue
		}
		f.retry(c.leg)
		f.optional(c.leg)
		f.drop(c.leg)
		f.latency(c.leg)
	}
	f.margins(nil)
	f.pairs()
	need := f.sol.Roots[f.root].Need.V
	if need.Finite() {
		f.out = append(f.out, RootFix{Kind: FixSLO, Node: -1, Leg: -1, Other: -1, Time: need, Need: need, Feasible: true})
	}
	slices.SortStableFunc(f.out, func(a, b RootFix) int {
		if a.Feasible != b.Feasible {
			if a.Feasible {
				return -1
			}
			return 1
		}
		if a.With != nil && b.With != nil {
			return byChange(a, b)
		}
		return cmp.Or(cmp.Compare(a.size(), b.size()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Need, b.Need)*sign(a.Feasible))
	})
	return f.out
}

// sign ranks sufficient changes by the largest need that is left (the smallest change), others by the least.
func sign(feasible bool) int {
	if feasible {
		return -1
	}
	return 1
}

// critical walks down from the root along what decides its need, and keeps what weighs most.
func (f *fixer) critical() []candidate {
	weight := map[NodeID]float64{f.g.Roots[f.root].Node: 1}
	var out []candidate
	for _, n := range f.g.Order {
		w, node := weight[n], &f.g.Nodes[n]
		if w == 0 || node.Leaf {
			continue
		}
		delete(weight, n)
		out = append(out, candidate{n, -1, w * float64(f.gr.node[n].V)})
		w /= 1 - node.Margin.Share.Float()
		f.criticalLegs(f.gr, node.flowAt, func(id LegID) {
			l := &f.g.Legs[id]
			out = append(out, candidate{n, id, w * float64(f.gr.leg[id].V)})
			if l.Optional || !l.Awaited() {
				return
			}
			attempts, _ := l.planned()
			if f.gr.one[id].V == l.Network.Add(f.gr.node[l.To].V) {
				weight[l.To] += w * float64(attempts) * float64(l.Repeat)
			}
		})
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return -cmp.Compare(a.gain, b.gain) })
	return out[:min(len(out), maxFixCandidates)]
}

// try books a change with the need that follows from it.
func (f *fixer) try(fix RootFix, c change) bool {
	fix.Need = f.ask.root(f.root, c).V
	fix.Feasible = fix.Need <= f.slo
	if fix.Need >= f.sol.Roots[f.root].Need.V {
		return false // changes nothing
	}
	f.out = append(f.out, fix)
	return fix.Feasible
}

func (f *fixer) need(c change) model.Duration { return f.ask.root(f.root, c).V }

// margin finds the largest margin of one service with which the root fits, rounded down to a part per million.
func (f *fixer) margin(n NodeID) {
	fix, c, ok := f.marginOf(n)
	if ok && !f.try(fix, c) {
		f.nodes = append(f.nodes, n)
	}
}

// marginOf is the largest margin of a service with which the root fits once others changes are made; ok is false for a
// service without one.
func (f *fixer) marginOf(n NodeID, others ...change) (fix RootFix, c change, ok bool) {
	m := f.g.Nodes[n].Margin
	if m == (model.Margin{}) {
		return fix, c, false
	}
	set := func(share model.Fraction) change { return change{leg: -1, node: n, what: setMargin, share: share} }
	share := f.share(m, func(share model.Fraction) model.Duration {
		return f.ask.root(f.root, append(others[:len(others):len(others)], set(share))...).V
	})
	return RootFix{Kind: FixMargin, Node: n, Leg: -1, Other: -1, Margin: share}, set(share), true
}

// share is the largest share up to the margin's own that fits, 0 where none does.
func (f *fixer) share(m model.Margin, need func(model.Fraction) model.Duration) model.Fraction {
	top := m.Share
	if m.Fixed > 0 {
		top = model.Whole - 1
	}
	x := most(model.Duration(top), func(x model.Duration) model.Duration { return need(model.Fraction(x)).Sub(f.slo) })
	return model.Fraction(max(0, x))
}

// margins finds one margin for every service with which the root fits, once a change that is not enough is made.
func (f *fixer) margins(with *shortFix) {
	var top model.Margin
	for i := range f.g.Nodes {
		if f.g.Nodes[i].Waiter < 0 && f.gr.has(NodeID(i)) {
			top.Share = max(top.Share, f.g.Nodes[i].Margin.Share)
			top.Fixed = max(top.Fixed, f.g.Nodes[i].Margin.Fixed)
		}
	}
	if top == (model.Margin{}) {
		return
	}
	var changes []change
	if with != nil {
		changes = append(changes, with.c)
	}
	need := func(share model.Fraction) model.Duration {
		return f.with(model.Margin{Share: share}, changes).Add(f.g.Roots[f.root].Overhead)
	}
	share := f.share(top, need)
	fix := RootFix{Kind: FixMargins, Node: -1, Leg: -1, Other: -1, Margin: share, Need: need(share)}
	fix.Feasible = fix.Need <= f.slo
	switch {
	case with != nil:
		f.together(*with, fix)
	case fix.Need < f.sol.Roots[f.root].Need.V:
		f.out = append(f.out, fix)
	}
}

// with computes the root's need with one margin at every service, and the changes made.
func (f *fixer) with(m model.Margin, changes []change) model.Duration {
	node, leg := make([]Need, len(f.g.Nodes)), make([]Need, len(f.g.Legs))
	f.g.up(func(n NodeID) {
		if !f.gr.has(n) {
			return
		}
		f.g.Out(n, func(l LegID) { leg[l] = f.ask.legAbove(l, node[f.g.Legs[l].To], changes) })
		node[n] = f.gr.node[n]
		if s := &f.g.Nodes[n]; !s.Leaf {
			calls := f.foldNeed(s.flowAt, func(l LegID) Need { return leg[l] })
			for i := range changes {
				if changes[i].leg < 0 && changes[i].node == n {
					calls.V = max(0, calls.V.Sub(changes[i].value)) // neighbours made parallel
				}
			}
			if s.Waiter < 0 {
				calls.V = m.Gross(calls.V)
			}
			node[n] = Need{s.Local().Add(calls.V), calls.Known}.settle()
		}
	})
	return node[f.g.Roots[f.root].Node].V
}

// retry takes retries away one by one until the root fits, or none is left.
func (f *fixer) retry(id LegID) {
	n := f.g.Legs[id].Attempts
	if n <= 1 || n == unlimited || f.g.Legs[id].Optional {
		return
	}
	set := func(n int64) change { return change{leg: id, what: setAttempts, n: n} }
	// The largest number of attempts that fits, by halving: fewer attempts never need more.
	lo, hi := int64(1), n
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; f.need(set(mid)) <= f.slo {
			lo = mid
		} else {
			hi = mid
		}
	}
	f.tryShort(RootFix{Kind: FixRetry, Leg: id, Node: -1, Other: -1, Attempts: lo}, set(lo))
}

// optional caps a call so that the root fits.
func (f *fixer) optional(id LegID) {
	l := &f.g.Legs[id]
	if l.Optional && l.Timeout == model.Unknown || l.Waiter > 0 || l.Fixed&FixedAll != 0 {
		return
	}
	set := func(x model.Duration) change { return change{leg: id, what: setNeed, value: x} }
	limit := most(f.gr.leg[id].V, func(x model.Duration) model.Duration { return f.need(set(x)).Sub(f.slo) })
	if limit > 0 {
		f.try(RootFix{Kind: FixOptional, Leg: id, Node: -1, Other: -1, Time: limit.Div(l.Repeat)}, set(limit))
	}
}

// parallel runs two neighbours of a sequence beside each other.
func (f *fixer) parallel(n NodeID) {
	f.neighbours(f.g.Nodes[n].flowAt, func(a, b LegID, gain model.Duration) {
		f.tryShort(RootFix{Kind: FixParallel, Node: n, Leg: a, Other: b}, change{leg: -1, node: n, what: cutFlow, value: gain})
	})
}

// neighbours visits the single calls that follow each other where a body's need rests on both.
func (f *fixer) neighbours(at int32, visit func(a, b LegID, gain model.Duration)) {
	n := &f.g.flow[at]
	if n.kind == model.One {
		return
	}
	of := func(l LegID) Need { return f.gr.leg[l] }
	longest := f.foldNeed(at, of).V
	before := int32(-1)
	for i := at + 1; i < n.end; i = f.g.flow[i].end {
		if n.kind == model.Sequence && before >= 0 && f.g.flow[i].kind == model.One && f.g.flow[before].kind == model.One {
			a, b := f.g.flow[before].leg, f.g.flow[i].leg
			visit(a, b, min(f.gr.leg[a].V, f.gr.leg[b].V))
		}
		if n.kind.Sums(false) || f.foldNeed(i, of).V == longest {
			f.neighbours(i, visit)
		}
		before = i
	}
}

// drop removes a hop, or serves it from a cache.
func (f *fixer) drop(id LegID) {
	if f.g.Legs[id].Waiter == 0 {
		f.try(RootFix{Kind: FixDrop, Leg: id, Node: -1, Other: -1}, change{leg: id, what: setNeed})
	}
}

// latency finds the latency target, headroom taken off, with which the root fits.
func (f *fixer) latency(id LegID) {
	l := &f.g.Legs[id]
	measured, known := f.measured(f.gr, id)
	if !known || l.Optional || measured != f.gr.one[id].V {
		return
	}
	set := func(x model.Duration) change { return change{leg: id, what: setOne, value: x} }
	one := most(measured, func(x model.Duration) model.Duration { return f.need(set(x)).Sub(f.slo) })
	if one <= 0 {
		return
	}
	call, _ := f.g.CallOf(id)
	target := one
	if _, _, exact := call.Latency.Quantile(call.Percentile().Or(f.gr.percentile)); !exact {
		target = one.MulDivDown(model.Whole, model.Whole+call.Headroom().Or(DefaultHeadroom))
	}
	f.try(RootFix{Kind: FixLatency, Leg: id, Node: l.To, Other: -1, Time: target}, set(one))
}
