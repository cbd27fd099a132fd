package solver

import "github.com/budgetplan/budgetplan/model"

// budgets runs the budget once for every percentile that a root asks for, and keeps the worst of each.
// One pass serves all roots of a group: a budget only grows with what its service receives, so the least over
// the roots is the budget of the least.
func (s *solve) budgets() {
	s.legSeen, s.legGap = make([]bool, len(s.g.Legs)), make([]bool, len(s.g.Legs))
	s.nodeSeen, s.nodeGap = make([]bool, len(s.g.Nodes)), make([]bool, len(s.g.Nodes))
	s.g.each(len(s.g.Legs), func(i int) {
		t := &s.sol.Legs[i]
		t.Budget, t.BudgetBy, t.Slack, t.Given = model.Unknown, -1, model.Unknown, model.Unknown
	})
	s.g.each(len(s.g.Nodes), func(i int) {
		t := &s.sol.Nodes[i]
		t.Received, t.ReceivedBy, t.ReceivedRoot, t.Slack = model.Unknown, -1, -1, model.Unknown
	})
	for _, gr := range s.groups {
		s.spend(gr)
	}
}

// spending is one top-down pass: what each node receives under an SLO, and where none reaches it.
type spending struct {
	*solve
	gr *group
	// funded is what requests under an SLO give, Unknown where nothing does; bare what others give.
	funded, bare []given
	under        []bool // requests under an SLO reach the node
	gave         []gift // by leg, written by its caller and read by its callee
	split        splitter
}

// given is a time, the leg that gives it (-1: the root itself), and the root that it comes from.
type given struct {
	time model.Duration
	by   LegID
	root int32
}

// gift is what a call gives its callee, packed: every callee looks it up.
type gift struct {
	time      model.Duration
	need      model.Duration // of one attempt, the network out
	root      int32
	known     Knowledge
	funded    bool // a budget leads here
	under     bool // requests under an SLO come here
	belongsTo bool // to the group
}

func (s *solve) spend(gr *group) {
	p := spending{
		solve: s, gr: gr, funded: make([]given, len(s.g.Nodes)), bare: make([]given, len(s.g.Nodes)),
		under: make([]bool, len(s.g.Nodes)), gave: make([]gift, len(s.g.Legs)), split: newSplitter(s, gr),
	}
	s.g.each(len(s.g.Nodes), func(i int) { p.funded[i], p.bare[i] = nobody, nobody })
	for _, r := range gr.roots {
		root := &s.g.Roots[r]
		p.needRow(root.Node, gr.node[root.Node])
		if root.SLO != model.NoLimit {
			time := max(0, root.SLO.Sub(root.Overhead))
			p.under[root.Node] = true
			p.funded[root.Node].tighten(given{time, -1, r})
			p.slack(root.Node, time, gr.node[root.Node])
		} else {
			p.bare[root.Node].tighten(given{max(0, root.Timeout.Sub(root.Overhead)), -1, r})
		}
	}
	s.g.down(func(n NodeID) {
		if gr.has(n) {
			p.receive(n)
			p.hand(n)
		}
	})
}

// nobody gives anything.
var nobody = given{model.Unknown, -1, -1}

// tighten keeps the tightest giver; a root without any limit gives nothing.
func (g *given) tighten(by given) {
	if by.time.Finite() && (!g.time.Finite() || by.time < g.time) {
		*g = by
	}
}

// receive takes what all callers of a node give it, and keeps the least.
func (p *spending) receive(n NodeID) {
	t, node := &p.sol.Nodes[n], &p.g.Nodes[n]
	for _, in := range p.g.In(n) {
		from := &p.gave[in]
		if !from.belongsTo {
			continue
		}
		need := Need{from.need, from.known}
		if !node.Leaf {
			need.V = max(need.V, p.gr.node[n].V)
		}
		need = need.settle()
		p.needRow(n, need)
		p.under[n] = p.under[n] || from.under
		switch to := (given{from.time, in, from.root}); {
		case from.funded:
			p.funded[n].tighten(to)
			p.slack(n, from.time, need)
		case from.under: // no budget leads here, but a request under an SLO does
			p.funded[n].tighten(to)
		default:
			p.bare[n].tighten(to)
		}
	}
	for _, g := range [...]given{p.funded[n], p.bare[n]} {
		if g.time < t.Received {
			t.Received, t.ReceivedBy, t.ReceivedRoot = g.time, g.by, g.root
		}
	}
}

// hand splits what a node has over its calls.
func (p *spending) hand(n NodeID) {
	node, from := &p.g.Nodes[n], p.funded[n]
	if node.flowAt == node.flowEnd {
		return
	}
	funded := from.time.Finite()
	if funded {
		p.split.over(node, node.Margin.Keep(min(from.time, node.Limit).Sub(node.Local())))
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
	to := gift{
		time: t.Patience, need: max(0, one.V.Sub(l.Network)), known: one.Known, root: root,
		under: p.under[l.From], belongsTo: true,
	}
	if l.Awaited() && funded {
		budget := p.split.budget[id]
		n, waits := l.planned()
		to.time = max(0, min(budget.Div(l.Repeat).Sub(waits).Div(n).Sub(l.Network), t.Patience))
		to.funded = true
		if budget < t.Budget {
			t.Budget, t.BudgetBy = budget, root
		}
		t.Slack, t.SlackKnown = least(t.Slack, t.SlackKnown, budget, need, &p.legGap[id])
	}
	t.Given = min(t.Given, to.time)
	p.gave[id] = to
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
