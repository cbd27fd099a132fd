package solver

import "github.com/budgetplan/budgetplan/model"

// nothing marks a node at which nothing fits.
const nothing model.Duration = -1

// allowed computes what each call may need, everything else unchanged, with the SLOs still met: in one top-down
// pass where a service is reached on one path, by search where on several (solver.md §2.2).
func (s *solve) allowed() {
	for i := range s.sol.Legs {
		s.sol.Legs[i].Allowed = model.NoLimit
	}
	funded := make([]bool, len(s.g.Nodes))
	for _, gr := range s.groups {
		p := allowing{solve: s, gr: gr, node: make([]model.Duration, len(s.g.Nodes)), ask: newWhatIf(s, gr)}
		p.run(funded)
	}
	for i := range s.g.Legs {
		if !funded[s.g.Legs[i].From] {
			s.sol.Legs[i].Allowed = model.Unknown
		}
	}
}

type allowing struct {
	*solve
	gr *group
	// node is what a node may need: nothing, a time, Unknown, or NoLimit where nothing above feels it.
	node []model.Duration
	ask  *whatIf
}

func (p *allowing) run(funded []bool) {
	below := make([]bool, len(p.g.Nodes))
	for i := range p.node {
		p.node[i] = model.NoLimit
	}
	for _, r := range p.gr.roots {
		root := &p.g.Roots[r]
		if root.SLO == model.NoLimit {
			continue
		}
		below[root.Node] = true
		p.node[root.Node] = min(p.node[root.Node], p.unlessUnknown(root.Node, p.gr.node[root.Node], max(nothing, root.SLO-root.Overhead)))
	}
	for _, n := range p.g.Order {
		if !below[n] {
			continue
		}
		funded[n] = true
		p.g.Out(n, func(l LegID) { below[p.g.Legs[l].To] = true })
		node := &p.g.Nodes[n]
		if node.flowAt == node.flowEnd {
			continue
		}
		if p.shared[n] {
			roots := p.rootsAbove(n)
			p.g.Out(n, func(l LegID) { p.set(l, p.search(l, roots)) })
			continue
		}
		has := p.node[n]
		if has.Finite() {
			if has -= node.Local(); has < 0 {
				has = nothing
			} else {
				has = p.keep(node.Margin, has)
			}
		}
		p.flow(node.flowAt, has)
	}
}

// keep is the largest time whose gross fits, nothing where not even none does.
func (p *allowing) keep(m model.Margin, has model.Duration) model.Duration {
	if m.Gross(0) > has {
		return nothing
	}
	return m.Keep(has)
}

// flow hands a time down a body: in a sequence each element may need what the others leave, beside others all of
// it, as long as those fit.
func (p *allowing) flow(at int32, has model.Duration) {
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
		others := unknown
		if n.Known != Complete {
			others--
		}
		left := has
		if has.Finite() && has >= 0 {
			switch {
			case f.kind.Sums(false):
				left = max(nothing, has-(sum-n.V))
			case i == longestAt && second > has, i != longestAt && longest > has:
				left = nothing
			}
		}
		if left.Finite() && left >= 0 && others > 0 {
			left = model.Unknown
		}
		p.flow(i, left)
	}
}

// call sets what a call may need, and what that leaves one attempt at its callee.
func (p *allowing) call(id LegID, has model.Duration) {
	l := &p.g.Legs[id]
	to := has
	switch need := p.gr.leg[id]; {
	case !l.Awaited() || l.Optional:
		// What the callee needs is not felt above: either all fits, or nothing helps.
		switch {
		case has.Finite() && need.V > has:
			to = nothing
		case need.Known != Complete:
			to = model.Unknown
		case has.Finite():
			to = model.NoLimit
		}
	case has.Finite() && has >= 0:
		n, waits := l.planned(&p.sol.Legs[id])
		to = has.Div(l.Repeat).Sub(waits).Div(n)
		if measured, _ := p.measured(p.gr.percentile, id); measured > to {
			to = nothing
		}
		to = p.unlessUnknown(l.To, p.gr.one[id], max(nothing, to.Sub(l.Network)))
	}
	p.node[l.To] = min(p.node[l.To], to)
	if !l.Awaited() {
		has = to // it needs nothing, so that the SLO is met or not whatever it does
	}
	p.set(id, has)
}

// unlessUnknown is what a node may need; for what stands below a leaf, what the leaf itself needs may decide.
func (p *allowing) unlessUnknown(n NodeID, need Need, has model.Duration) model.Duration {
	if has >= 0 && p.g.Nodes[n].Leaf && need.Known != Complete {
		return model.Unknown
	}
	return has
}

func (p *allowing) set(id LegID, has model.Duration) {
	t := &p.sol.Legs[id]
	t.Allowed = min(t.Allowed, max(0, has))
}

// rootsAbove lists the roots with an SLO from which requests reach a node.
func (p *allowing) rootsAbove(n NodeID) []int32 {
	seen := map[NodeID]bool{n: true}
	for todo := []NodeID{n}; len(todo) > 0; {
		n, todo = todo[len(todo)-1], todo[:len(todo)-1]
		for _, l := range p.g.In(n) {
			if from := p.g.Legs[l].From; !seen[from] {
				seen[from] = true
				todo = append(todo, from)
			}
		}
	}
	var roots []int32
	for _, r := range p.gr.roots {
		if p.g.Roots[r].SLO != model.NoLimit && seen[p.g.Roots[r].Node] {
			roots = append(roots, r)
		}
	}
	return roots
}

// search asks for the largest need of a call with which every root that feels it still meets its SLO.
func (p *allowing) search(id LegID, roots []int32) model.Duration {
	var top model.Duration
	for _, r := range roots {
		top = max(top, p.g.Roots[r].SLO)
	}
	unknown := false
	over := func(x model.Duration) model.Duration {
		worst := -model.NoLimit
		if !p.g.Legs[id].Awaited() {
			x = 0
		}
		p.ask.ask(change{leg: id, what: setNeed, value: x}, func() {
			for _, r := range roots {
				root := &p.g.Roots[r]
				n := p.ask.node[root.Node]
				// A need of 0 counts as unknown, which it is not for want of a fact here.
				unknown = unknown || x > 0 && n.Known != Complete
				worst = max(worst, n.V.Add(root.Overhead)-root.SLO)
			}
		})
		return worst
	}
	x := most(top+1, over)
	switch {
	case x < 0:
		return nothing
	case unknown:
		return model.Unknown
	case x > top:
		return model.NoLimit
	}
	return x
}
