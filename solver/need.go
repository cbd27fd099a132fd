package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// group is the roots that ask for one percentile, and the needs at it. Almost every plan has one group.
type group struct {
	percentile model.Fraction
	every      bool // calls with a percentile of their own are asked for this one, too
	roots      []int32
	// in marks the nodes that its roots reach; nil where that is all of them.
	in   []bool
	one  []Need // by leg: one attempt, as its caller sees it
	leg  []Need // by leg: the whole call
	node []Need // by node: one attempt, by its structure
}

// has reports whether some root of the group reaches the node.
func (gr *group) has(n NodeID) bool { return gr.in == nil || gr.in[n] }

// groupRoots sorts the roots by the percentile that they ask for.
func (s *solve) groupRoots() {
	for r := range s.g.Roots {
		p := s.g.Roots[r].Percentile
		i := slices.IndexFunc(s.groups, func(gr *group) bool { return gr.percentile == p })
		if i < 0 {
			i = len(s.groups)
			s.groups = append(s.groups, &group{percentile: p})
		}
		s.groups[i].roots = append(s.groups[i].roots, int32(r))
	}
	for _, gr := range s.groups {
		if len(s.groups) > 1 {
			gr.in = make([]bool, len(s.g.Nodes))
			for _, r := range gr.roots {
				gr.in[s.g.Roots[r].Node] = true
			}
			for _, n := range s.g.Order {
				if gr.in[n] {
					s.g.Out(n, func(l LegID) { gr.in[s.g.Legs[l].To] = true })
				}
			}
		}
		gr.one = make([]Need, len(s.g.Legs))
		gr.leg = make([]Need, len(s.g.Legs))
		gr.node = make([]Need, len(s.g.Nodes))
	}
}

// needs computes every need once for every percentile that a root asks for, and what that means for the roots.
func (s *solve) needs() {
	s.groupRoots()
	for _, gr := range s.groups {
		s.needsOf(gr)
		s.rootNeeds(gr)
	}
}

// needsOf computes, callees before callers, the least time that everything needs (DESIGN.md §1, numbers.md 5–8).
func (s *solve) needsOf(gr *group) {
	s.g.up(func(n NodeID) {
		if !gr.has(n) {
			return
		}
		s.g.Out(n, func(l LegID) {
			gr.one[l] = s.oneNeed(gr, l, gr.node[s.g.Legs[l].To])
			gr.leg[l] = s.legNeed(l, gr.one[l])
		})
		gr.node[n] = s.nodeNeed(n, func(l LegID) Need { return gr.leg[l] })
	})
}

func (s *solve) rootNeeds(gr *group) {
	for _, r := range gr.roots {
		root, t := &s.g.Roots[r], &s.sol.Roots[r]
		need := gr.node[root.Node]
		need.V = need.V.Add(root.Overhead)
		t.Need = need.settle()
		t.Slack = model.Unknown
		if root.SLO == model.NoLimit {
			continue
		}
		t.Feasible = need.V <= root.SLO
		t.FeasibleKnown = !t.Feasible || t.Need.Known == Complete
		if t.Need.Known != Nothing && need.V.Finite() {
			t.Slack, t.SlackKnown = root.SLO-need.V, t.Need.Known
		}
	}
}

// oneNeed is what one attempt of a leg needs.
func (s *solve) oneNeed(gr *group, id LegID, callee Need) Need {
	measured, known := s.measured(gr, id)
	l := &s.g.Legs[id]
	return l.one(measured, known, l.leaf, callee)
}

// one is what one attempt needs: the larger of the measured latency with headroom, and network time plus what
// the callee's structure needs. A leaf needs its latency, else its local work.
func (l *Leg) one(measured model.Duration, known, leaf bool, callee Need) Need {
	if known && leaf {
		return Need{measured, Complete}.settle()
	}
	return Need{max(measured, l.Network.Add(callee.V)), callee.Known}.settle()
}

// measured is the latency at the percentile that sizes the call, with headroom unless it is exact.
func (s *solve) measured(gr *group, id LegID) (model.Duration, bool) {
	l := &s.g.Legs[id]
	if !l.Last || !gr.every && (l.ownPercentile || gr.percentile == DefaultPercentile) {
		return l.measured, l.hasMeasured
	}
	call, _ := s.g.CallOf(id)
	if gr.every {
		return measured(call, gr.percentile)
	}
	return measured(call, call.Percentile().Or(gr.percentile))
}

// written is the latency that sizes a leg, as it was written, and the percentile that it is one of; exact for one that
// gets no headroom.
func (s *solve) written(gr *group, id LegID) (d model.Val[model.Duration], used model.Fraction, exact bool) {
	call, _ := s.g.CallOf(id)
	if gr.every {
		return call.Latency.Quantile(gr.percentile)
	}
	return call.Latency.Quantile(call.Percentile().Or(gr.percentile))
}

// withHeadroom is what would size a leg if its latency were written as d.
func (s *solve) withHeadroom(gr *group, id LegID, d model.Duration) model.Duration {
	call, _ := s.g.CallOf(id)
	if _, _, exact := s.written(gr, id); exact {
		return d
	}
	return d.MulUp(model.Whole + call.Headroom().Or(DefaultHeadroom))
}

// legNeed is what a whole call needs. Unlimited attempts need one.
func (s *solve) legNeed(id LegID, one Need) Need {
	l := &s.g.Legs[id]
	switch {
	case !l.Awaited():
		return Need{0, Complete}
	case l.Optional:
		own := l.own(&s.sol.Legs[id])
		if !own.Finite() {
			return Need{}
		}
		return Need{own, Complete}
	}
	n, waits := l.planned()
	return Need{one.V.Mul(n).Add(waits).Mul(l.Repeat), one.Known}.settle()
}

// own is a call's own limit for all its repeats: its timeout, else its sequence.
func (l *Leg) own(t *LegTimes) model.Duration {
	if l.Timeout.Finite() {
		return l.Timeout.Mul(l.Repeat)
	}
	return t.Sequence.Mul(l.Repeat)
}

// planned gives the attempts and the back-off that a budget is made for.
func (l *Leg) planned() (attempts int64, backoff model.Duration) {
	if l.Attempts == unlimited {
		return 1, 0
	}
	return l.Attempts, l.backoffSum
}

// settle says "at least" for a need of which only a part is known, and nothing for one whose known parts sum to 0.
func (n Need) settle() Need {
	switch {
	case n.V == 0:
		n.Known = Nothing
	case n.Known != Complete:
		n.Known = Partial
	}
	return n
}

// nodeNeed is what one attempt at a service needs: its work, and what its calls need with the margin on top.
func (s *solve) nodeNeed(id NodeID, of func(LegID) Need) Need {
	n := &s.g.Nodes[id]
	var calls Need
	if !n.Leaf {
		calls = s.foldNeed(n.flowAt, of)
	}
	return n.need(calls, n.Margin)
}

// need is what one attempt needs when the calls do, under a margin; a margin of a fixed time is
// none where they need nothing. A leaf needs its local work, where that is known.
func (n *Node) need(calls Need, margin model.Margin) Need {
	if n.Leaf {
		return n.leafNeed()
	}
	gross := model.Duration(0)
	if calls.V > 0 {
		gross = margin.Gross(calls.V)
	}
	return Need{n.Local().Add(gross), calls.Known}.settle()
}

// leafNeed is what one attempt needs at a node that waits for nobody.
func (n *Node) leafNeed() Need {
	if n.hasLocal {
		return Need{n.Local(), Complete}.settle()
	}
	return Need{}
}

// foldNeed composes needs over a body: what nobody ordered needs at least its longest.
func (s *solve) foldNeed(at int32, of func(LegID) Need) Need {
	f := &s.g.flow[at]
	if f.kind == model.One {
		return of(f.leg)
	}
	total := Need{Known: Complete}
	for i := at + 1; i < f.end; i = s.g.flow[i].end {
		n := s.foldNeed(i, of)
		if f.kind.Sums(false) {
			total.V = total.V.Add(n.V)
		} else {
			total.V = max(total.V, n.V)
		}
		if n.Known != Complete {
			total.Known = Partial
		}
	}
	return total
}

// criticalLegs visits the legs that a body's need rests on: all of a sequence, the longest beside others.
func (s *solve) criticalLegs(gr *group, at int32, visit func(LegID)) {
	n := &s.g.flow[at]
	if n.kind == model.One {
		if gr.leg[n.leg].V > 0 {
			visit(n.leg)
		}
		return
	}
	need := func(i int32) model.Duration { return s.foldNeed(i, func(l LegID) Need { return gr.leg[l] }).V }
	longest := need(at)
	for i := at + 1; i < n.end; i = s.g.flow[i].end {
		if n.kind.Sums(false) || need(i) == longest {
			s.criticalLegs(gr, i, visit)
		}
	}
}
