package solver

import (
	"sync"

	"github.com/budgetplan/budgetplan/model"
)

// nothing marks a node at which nothing fits.
const nothing model.Duration = -1

// allowed computes what each call may need, everything else unchanged, with the SLOs still met, in one top-down
// pass (solver.md §2.2). Where a service is reached on several paths the least of them is an upper bound: one question
// says whether it is the answer, and where several paths add up a search finds it.
func (s *solve) allowed() {
	s.g.each(len(s.g.Legs), func(i int) { s.sol.Legs[i].Allowed = model.NoLimit })
	funded := make([]bool, len(s.g.Nodes))
	for _, gr := range s.groups {
		p := allowing{
			solve: s, gr: gr, node: make([]room, len(s.g.Nodes)), below: make([]bool, len(s.g.Nodes)),
			late: make([]bool, len(s.g.Nodes)), critical: make([]bool, len(s.g.Nodes)),
			gave: make([]room, len(s.g.Legs)), rests: make([]bool, len(s.g.Legs)), seen: make([]int32, len(s.g.Nodes)),
		}
		p.run()
		for n, below := range p.below {
			funded[n] = funded[n] || below
		}
	}
	s.g.each(len(s.g.Legs), func(i int) {
		if !funded[s.g.Legs[i].From] {
			s.sol.Legs[i].Allowed = model.Unknown
		}
	})
}

// room is what something may need: the least over the requests whose other needs are all known, and over those of
// which some other need is unknown. NoLimit is where nothing above feels it, and where there is no such request.
type room struct {
	sure, doubtful model.Duration
	doubt          bool // there is a request of the second kind
}

var anything = room{sure: model.NoLimit, doubtful: model.NoLimit}

// least keeps the tighter of two rooms.
func (r room) least(o room) room {
	return room{min(r.sure, o.sure), min(r.doubtful, o.doubtful), r.doubt || o.doubt}
}

// unknown is the room when another need is unknown. Where nothing is felt, that neither is.
func (r room) unknown() room {
	if r.sure == model.NoLimit {
		return r
	}
	return room{model.NoLimit, min(r.sure, r.doubtful), true}
}

// through gives what is left of the room further down.
func (r room) through(left func(model.Duration) model.Duration) room {
	for _, d := range []*model.Duration{&r.sure, &r.doubtful} {
		if d.Finite() && *d >= 0 {
			*d = left(*d)
		}
	}
	return r
}

// allowed is what the room means for a call: 0 where nothing fits, else the least that is sure, Unknown where none
// is and another need decides, NoLimit where nothing does.
func (r room) allowed() model.Duration {
	switch {
	case min(r.sure, r.doubtful) <= 0:
		return 0
	case r.sure == model.NoLimit && r.doubt:
		return model.Unknown
	}
	return r.sure
}

type allowing struct {
	*solve
	gr   *group
	node []room
	// below marks the nodes below a root with an SLO, late those below one whose need exceeds it, critical those of them
	// on which some such need rests.
	below, late, critical []bool
	// gave is, by leg, the room that a call leaves its callee, rests whether a need that exceeds its SLO rests on the call;
	// both are written by its caller and read by its callee.
	gave  []room
	rests []bool
	// questions are asked one at a time; asking, seen, stamp and todo belong to who asks.
	questions sync.Mutex
	asking    *whatIf // see ask
	seen      []int32
	stamp     int32
	todo      []NodeID
}

func (p *allowing) run() {
	for i := range p.node {
		p.node[i] = anything
	}
	for _, r := range p.gr.roots {
		root := &p.g.Roots[r]
		if root.SLO == model.NoLimit {
			continue
		}
		p.below[root.Node] = true
		late := p.gr.node[root.Node].V.Add(root.Overhead) > root.SLO
		p.late[root.Node], p.critical[root.Node] = p.late[root.Node] || late, p.critical[root.Node] || late
		has := anything
		has.sure = max(nothing, root.SLO-root.Overhead)
		p.give(root.Node, p.gr.node[root.Node], has)
	}
	p.g.down(func(n NodeID) {
		p.receive(n)
		if p.below[n] {
			p.hand(n)
		}
	})
}

// receive keeps the tightest of what all callers of a node leave it.
func (p *allowing) receive(n NodeID) {
	callers := p.g.callers(n)
	for i, in := range p.g.In(n) {
		if from := callers[i]; p.below[from] {
			p.below[n] = true
			p.late[n] = p.late[n] || p.late[from]
			p.critical[n] = p.critical[n] || p.rests[in]
			p.give(n, p.gr.one[in], p.gave[in])
		}
	}
}

// hand gives a node's calls what they may need.
func (p *allowing) hand(n NodeID) {
	node := &p.g.Nodes[n]
	if node.flowAt == node.flowEnd {
		return
	}
	if p.critical[n] {
		p.criticalLegs(p.gr, node.flowAt, func(l LegID) { p.rests[l] = true })
	}
	if p.shared[n] {
		p.node[n] = p.joint(n)
	}
	p.flow(node.flowAt, p.node[n].through(func(d model.Duration) model.Duration {
		if d -= node.Local(); d < 0 {
			return nothing
		}
		return node.Margin.Keep(d)
	}))
}

// ask answers questions about the group; most plans have none.
func (p *allowing) ask() *whatIf {
	if p.asking == nil {
		p.asking = newWhatIf(p.solve, p.gr)
	}
	return p.asking
}

// give keeps the tightest room of a node. For what stands below a leaf, what the leaf itself needs may be unknown.
func (p *allowing) give(n NodeID, need Need, has room) {
	if p.g.Nodes[n].Leaf && need.Known != Complete {
		has = has.unknown()
	}
	p.node[n] = p.node[n].least(has)
}

// flow hands room down a body: in a sequence each element may need what the others leave, beside others all of
// it, as long as those fit.
func (p *allowing) flow(at int32, has room) {
	f := &p.g.flow[at]
	if f.kind == model.One {
		p.call(f.leg, has)
		return
	}
	need := func(i int32) Need { return p.foldNeed(i, func(l LegID) Need { return p.gr.leg[l] }) }
	var sum, longest, second model.Duration
	unknown, longestAt := 0, int32(-1)
	for i := at + 1; i < f.end; i = p.g.flow[i].end {
		n := need(i)
		sum = sum.Add(n.V)
		if n.Known != Complete {
			unknown++
		}
		if n.V > longest || longestAt < 0 {
			second, longest, longestAt = longest, n.V, i
		} else {
			second = max(second, n.V)
		}
	}
	for i := at + 1; i < f.end; i = p.g.flow[i].end {
		n := need(i)
		others, beside := unknown, longest
		if n.Known != Complete {
			others--
		}
		if i == longestAt {
			beside = second
		}
		left := has.through(func(d model.Duration) model.Duration {
			switch {
			case f.kind.Sums(false):
				return max(nothing, d-(sum-n.V))
			case beside > d:
				return nothing
			}
			return d
		})
		if others > 0 {
			left = left.unknown()
		}
		p.flow(i, left)
	}
}

// call sets what a call may need, and what that leaves one attempt at its callee.
func (p *allowing) call(id LegID, has room) {
	l, need := &p.g.Legs[id], p.gr.leg[id]
	to := has
	if !l.Awaited() || l.Optional {
		// What the callee needs is not felt above: either all fits, or nothing helps.
		if need.Known != Complete {
			to = to.unknown()
		}
		to = to.through(func(d model.Duration) model.Duration {
			if need.V > d {
				return nothing
			}
			return model.NoLimit
		})
		if !l.Awaited() {
			if !p.late[l.From] && min(to.sure, to.doubtful) < 0 {
				to = room{model.NoLimit, model.NoLimit, true} // its caller may need nothing more, and with it fits
			}
			has = to // it needs nothing, so that the SLO is met or not whatever it does
		}
	} else {
		n, waits := l.planned()
		measured, known := p.measured(p.gr, id)
		to = has.through(func(d model.Duration) model.Duration {
			d = d.Div(l.Repeat).Sub(waits).Div(n)
			switch {
			case measured > d:
				return nothing
			case known && p.g.Nodes[l.To].Leaf:
				return model.NoLimit // a leaf needs its latency, whatever it calls
			}
			return max(nothing, d.Sub(l.Network))
		})
	}
	p.gave[id] = to
	p.set(id, has.allowed())
}

func (p *allowing) set(id LegID, allowed model.Duration) {
	t := &p.sol.Legs[id]
	t.Allowed = min(t.Allowed, allowed)
}

// joint is the room of a node that several paths of one request reach, all of which feel what it needs. Above what it
// needs now each path by itself gives an upper bound, since the others only take more; below it they take less.
func (p *allowing) joint(n NodeID) room {
	has, now := p.node[n], p.gr.node[n]
	if p.late[n] && !p.critical[n] {
		// A need that exceeds its SLO does not rest on this node, and would whatever became of it.
		has = anything
		has.sure = nothing
	} else if min(has.sure, has.doubtful) < now.V || has.doubt && now.Known != Complete && p.decides(n) {
		has = p.roomUnder(n)
	} else {
		has.sure = p.most(n, has.sure, true)
		has.doubtful = p.most(n, has.doubtful, false)
	}
	if p.g.Nodes[n].Leaf && now.Known != Complete {
		has = has.unknown()
	}
	return has
}

// decides reports whether some root would be known in full if the node were.
func (p *allowing) decides(n NodeID) (known bool) {
	p.questions.Lock()
	defer p.questions.Unlock()
	p.ask().ask(func() {
		for _, at := range p.ask().touched {
			known = known || len(p.ask().roots[at]) > 0 && p.ask().node[at].Known == Complete
		}
	}, change{leg: -1, node: n, what: setNode, value: 1})
	return known
}

// most is the largest need of a node, at most top, with which all roots that feel it fit: of those that are then known
// in full, or of the others. As it is, all fit.
func (p *allowing) most(n NodeID, top model.Duration, sure bool) model.Duration {
	now := p.gr.node[n].V
	if !top.Finite() || top <= now {
		return top
	}
	p.questions.Lock()
	defer p.questions.Unlock()
	return now + most(top-now, func(more model.Duration) model.Duration { return p.over(n, now+more, sure) })
}

// over is by how much a root of that kind exceeds its SLO, at most, when a node needs x.
func (p *allowing) over(n NodeID, x model.Duration, sure bool) model.Duration {
	over := -model.Unknown / 2
	p.ask().apply(change{leg: -1, node: n, what: setNode, value: x})
	for _, at := range p.ask().touched {
		for _, r := range p.ask().roots[at] {
			need, slo := p.ask().rootNeed(r), p.g.Roots[r].SLO
			if slo != model.NoLimit && (need.Known == Complete) == sure {
				over = max(over, need.V-slo)
			}
		}
	}
	p.ask().undo()
	return over
}

// roomUnder asks every root above a node by itself: one may not fit as it is, or some other need of it be unknown.
func (p *allowing) roomUnder(n NodeID) room {
	p.questions.Lock()
	defer p.questions.Unlock()
	roots := p.rootsAbove(n)
	first := make([]Need, len(roots))
	p.ask().apply(change{leg: -1, node: n, what: setNode, value: 1})
	for i, r := range roots {
		first[i] = p.ask().rootNeed(r)
	}
	p.ask().undo()
	has := anything
	for i, r := range roots {
		if first[i].V > p.g.Roots[r].SLO {
			has.sure = nothing
			return has
		}
	}
	for i, r := range roots {
		slo, under := p.g.Roots[r].SLO, anything
		over := func(x model.Duration) model.Duration {
			return p.ask().root(r, change{leg: -1, node: n, what: setNode, value: x}).V - slo
		}
		if over(slo+1) > 0 {
			under.sure = max(nothing, most(slo+1, over))
		}
		if first[i].Known != Complete {
			under = room{model.NoLimit, under.sure, true}
		}
		has = has.least(under)
	}
	return has
}

// rootsAbove lists the roots with an SLO from which requests reach a node.
func (p *allowing) rootsAbove(n NodeID) []int32 {
	p.stamp++
	p.seen[n] = p.stamp
	todo, roots := append(p.todo[:0], n), []int32{}
	for i := 0; i < len(todo); i++ {
		for _, r := range p.ask().roots[todo[i]] {
			if p.g.Roots[r].SLO != model.NoLimit {
				roots = append(roots, r)
			}
		}
		for _, l := range p.g.In(todo[i]) {
			if from := p.g.Legs[l].From; p.seen[from] != p.stamp {
				p.seen[from] = p.stamp
				todo = append(todo, from)
			}
		}
	}
	p.todo = todo
	return roots
}
