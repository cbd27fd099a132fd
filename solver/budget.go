package solver

import "github.com/budgetplan/budgetplan/model"

// budgets runs need and budget once for every percentile that a root asks for, and keeps the worst of each.
// One pass serves all roots of a group: a budget only grows with what its service receives, so the least over
// the roots is the budget of the least.
func (s *solve) budgets() {
	s.groupRoots()
	s.legSeen, s.legGap = make([]bool, len(s.g.Legs)), make([]bool, len(s.g.Legs))
	s.nodeSeen, s.nodeGap = make([]bool, len(s.g.Nodes)), make([]bool, len(s.g.Nodes))
	for i := range s.sol.Legs {
		t := &s.sol.Legs[i]
		t.Budget, t.BudgetBy, t.Slack, t.Given = model.Unknown, -1, model.Unknown, model.Unknown
	}
	for i := range s.sol.Nodes {
		t := &s.sol.Nodes[i]
		t.Received, t.ReceivedBy, t.ReceivedRoot, t.Slack = model.Unknown, -1, -1, model.Unknown
	}
	for _, gr := range s.groups {
		s.needs(gr)
		s.rootNeeds(gr)
		s.spend(gr)
	}
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

// spending is one top-down pass: what each node receives under an SLO, and where none reaches it.
type spending struct {
	*solve
	gr *group
	// funded is what requests under an SLO give, Unknown where nothing does; bare what others give.
	funded, bare []given
	under        []bool // requests under an SLO reach the node
	split        splitter
}

// given is a time, the leg that gives it (-1: the root itself), and the root that it comes from.
type given struct {
	time model.Duration
	by   LegID
	root int32
}

func (s *solve) spend(gr *group) {
	p := spending{solve: s, gr: gr, funded: make([]given, len(s.g.Nodes)), bare: make([]given, len(s.g.Nodes)), under: make([]bool, len(s.g.Nodes))}
	for i := range p.funded {
		p.funded[i] = given{model.Unknown, -1, -1}
		p.bare[i] = p.funded[i]
	}
	p.split = newSplitter(s, gr)
	for _, r := range gr.roots {
		root := &s.g.Roots[r]
		p.needRow(root.Node, gr.node[root.Node])
		if root.SLO != model.NoLimit {
			time := max(0, root.SLO.Sub(root.Overhead))
			p.under[root.Node] = true
			p.give(p.funded, root.Node, given{time, -1, r})
			p.slack(root.Node, time, gr.node[root.Node])
		} else {
			p.give(p.bare, root.Node, given{max(0, root.Timeout.Sub(root.Overhead)), -1, r})
		}
	}
	for _, n := range s.g.Order {
		if gr.has(n) {
			p.node(n)
		}
	}
}

// give keeps the tightest giver; a root without any limit gives nothing.
func (p *spending) give(to []given, n NodeID, g given) {
	if g.time.Finite() && (!to[n].time.Finite() || g.time < to[n].time) {
		to[n] = g
	}
}

func (p *spending) node(n NodeID) {
	t, node := &p.sol.Nodes[n], &p.g.Nodes[n]
	from := p.funded[n]
	for _, g := range []given{from, p.bare[n]} {
		if g.time < t.Received {
			t.Received, t.ReceivedBy, t.ReceivedRoot = g.time, g.by, g.root
		}
	}
	if node.flowAt == node.flowEnd {
		return
	}
	funded := from.time.Finite()
	if funded {
		p.split.split(node.flowAt, node.Margin.Keep(min(from.time, node.Limit).Sub(node.Local())))
	}
	p.g.Out(n, func(l LegID) { p.leg(l, funded, from.root) })
}

// leg books one call: its budget and slack, and what its callee is given (numbers.md 7, 11, 21).
func (p *spending) leg(id LegID, funded bool, root int32) {
	l, t := &p.g.Legs[id], &p.sol.Legs[id]
	one, need := p.gr.one[id], p.gr.leg[id]
	first := !p.legSeen[id]
	p.legSeen[id] = true
	t.One, t.Need = t.One.worst(one, first), t.Need.worst(need, first)
	callee := p.calleeNeed(l, one)
	p.needRow(l.To, callee)
	p.under[l.To] = p.under[l.To] || p.under[l.From]
	if !l.Awaited() || !funded {
		to := p.bare
		if p.under[l.From] {
			to = p.funded // no budget leads here, but a request under an SLO does
		}
		p.give(to, l.To, given{t.Patience, id, root})
		t.Given = min(t.Given, t.Patience)
		return
	}
	budget := p.split.budget[id]
	n, waits := l.planned(t)
	time := max(0, min(budget.Div(l.Repeat).Sub(waits).Div(n).Sub(l.Network), t.Patience))
	p.give(p.funded, l.To, given{time, id, root})
	p.slack(l.To, time, callee)
	if budget < t.Budget {
		t.Budget, t.BudgetBy = budget, root
	}
	t.Given = min(t.Given, time)
	t.Slack, t.SlackKnown = least(t.Slack, t.SlackKnown, budget, need, &p.legGap[id])
}

// calleeNeed is what one attempt needs of the callee, the network out.
func (p *spending) calleeNeed(l *Leg, one Need) Need {
	v := max(0, one.V.Sub(l.Network))
	if !p.g.Nodes[l.To].Leaf {
		v = max(v, p.gr.node[l.To].V)
	}
	return Need{v, one.Known}.settle()
}

// needRow keeps what the most demanding caller needs.
func (p *spending) needRow(id NodeID, need Need) {
	t := &p.sol.Nodes[id]
	t.Need = t.Need.worst(need, !p.nodeSeen[id])
	p.nodeSeen[id] = true
}

// worst is the larger need, of which only a part is known as soon as that holds for either.
func (n Need) worst(m Need, first bool) Need {
	if first {
		return m
	}
	if n.Known == Complete && m.Known == Complete {
		return Need{max(n.V, m.V), Complete} // 0 too, of calls that nobody waits for
	}
	return Need{max(n.V, m.V), min(n.Known, m.Known)}.settle()
}

// slack keeps the least of given − needed over a node's callers.
func (p *spending) slack(id NodeID, given model.Duration, need Need) {
	t := &p.sol.Nodes[id]
	t.Slack, t.SlackKnown = least(t.Slack, t.SlackKnown, given, need, &p.nodeGap[id])
}

// least keeps the least of given − needed. It is an upper bound as soon as one of the needs is not known in full;
// gap remembers one of which nothing is known.
func least(slack model.Duration, known Knowledge, given model.Duration, need Need, gap *bool) (model.Duration, Knowledge) {
	if need.Known == Nothing || !need.V.Finite() {
		*gap = true
		return slack, min(known, Partial)
	}
	if known == Nothing {
		known = Complete
	}
	if *gap {
		known = Partial
	}
	return min(slack, given-need.V), min(known, need.Known)
}
