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
	// short has the retries and neighbours that are not enough by themselves, nodes whose margins are not. targets are the
	// latencies that were asked for, each with the target that is enough by itself, 0 where none is.
	short   []shortFix
	nodes   []NodeID
	targets []RootFix
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
		of := func(l LegID) Need { return leg[l] }
		for i := range changes {
			if c := &changes[i]; c.what == joinLegs && c.node == n {
				of = joined(c.legs[0], c.legs[1], of)
			}
		}
		margin := m
		if f.g.Nodes[n].Waiter >= 0 {
			margin = model.Margin{}
		}
		var calls Need
		if !f.g.Nodes[n].Leaf {
			calls = f.foldNeed(f.g.Nodes[n].flowAt, of)
		}
		node[n] = f.g.Nodes[n].need(calls, margin)
	})
	return node[f.g.Roots[f.root].Node].V
}

// joined makes a sequence last as if two neighbours in it ran beside each other: the first takes the time of both.
func joined(a, b LegID, of func(LegID) Need) func(LegID) Need {
	return func(l LegID) Need {
		n := of(l)
		switch l {
		case a:
			n.V = max(n.V, of(b).V)
		case b:
			n.V = 0
		}
		return n
	}
}

// retry takes retries away until the root fits, or none is left.
func (f *fixer) retry(id LegID) {
	if n := f.g.Legs[id].Attempts; n > 1 && n != unlimited && !f.g.Legs[id].Optional {
		f.tryShort(f.retryOf(id))
	}
}

// retryOf is the largest number of attempts, below a leg's own, with which the root fits once others changes are made; 1
// where none does. It is found by halving: fewer attempts never need more.
func (f *fixer) retryOf(id LegID, others ...change) (RootFix, change) {
	set := func(n int64) change { return change{leg: id, what: setAttempts, n: n} }
	lo, hi := int64(1), f.g.Legs[id].Attempts
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if f.ask.root(f.root, append(others[:len(others):len(others)], set(mid))...).V <= f.slo {
			lo = mid
		} else {
			hi = mid
		}
	}
	return RootFix{Kind: FixRetry, Leg: id, Node: -1, Other: -1, Attempts: lo}, set(lo)
}

// optional caps a call so that the root fits.
func (f *fixer) optional(id LegID) {
	l := &f.g.Legs[id]
	if l.Optional && l.Timeout == model.Unknown || l.Waiter > 0 || l.Fixed&FixedAll != 0 {
		return
	}
	set := func(x model.Duration) change { return change{leg: id, what: setNeed, value: x.Mul(l.Repeat)} }
	limit := most(f.gr.leg[id].V.Div(l.Repeat), func(x model.Duration) model.Duration { return f.need(set(x)).Sub(f.slo) })
	if limit > 0 {
		f.try(RootFix{Kind: FixOptional, Leg: id, Node: -1, Other: -1, Time: limit}, set(limit))
	}
}

// parallel runs two neighbours of a sequence beside each other.
func (f *fixer) parallel(n NodeID) {
	f.neighbours(f.g.Nodes[n].flowAt, func(a, b LegID) {
		f.tryShort(RootFix{Kind: FixParallel, Node: n, Leg: a, Other: b}, change{leg: -1, node: n, what: joinLegs, legs: []LegID{a, b}})
	})
}

// neighbours visits the single calls that follow each other where a body's need rests on both.
func (f *fixer) neighbours(at int32, visit func(a, b LegID)) {
	n := &f.g.flow[at]
	if n.kind == model.One {
		return
	}
	of := func(l LegID) Need { return f.gr.leg[l] }
	longest := f.foldNeed(at, of).V
	before := int32(-1)
	for i := at + 1; i < n.end; i = f.g.flow[i].end {
		if n.kind == model.Sequence && before >= 0 && f.g.flow[i].kind == model.One && f.g.flow[before].kind == model.One {
			visit(f.g.flow[before].leg, f.g.flow[i].leg)
		}
		if n.kind.Sums(false) || f.foldNeed(i, of).V == longest {
			f.neighbours(i, visit)
		}
		before = i
	}
}

// drop removes a hop, or serves it from a cache. A caller that waits for nobody then is a leaf.
func (f *fixer) drop(id LegID) {
	l := &f.g.Legs[id]
	if l.Waiter > 0 {
		return
	}
	c := change{leg: id, node: l.From, what: dropLeg}
	f.g.Out(l.From, func(other LegID) {
		if other != id && f.g.Legs[other].Awaited() {
			c.node = -1
		}
	})
	f.try(RootFix{Kind: FixDrop, Leg: id, Node: -1, Other: -1}, c)
}
