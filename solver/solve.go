package solver

import "github.com/budgetplan/budgetplan/model"

// Options choose what Solve computes.
type Options struct {
	// Policy splits budgets: `eqf` (the default, also for ""), `eqs` or `equal`.
	Policy string
	// Allowed asks for LegTimes.Allowed, and Fixes for RootTimes.Fixes; without them they stay unset.
	Allowed, Fixes bool
}

// Solve computes every number of a graph.
func Solve(g *Graph, o Options) *Solution {
	s := newSolve(g, o)
	s.bounds()
	s.stops()
	s.attempts()
	s.needs()
	s.budgets()
	s.left()
	s.recommend()
	if o.Allowed {
		s.allowed()
	}
	if o.Fixes {
		s.fixes()
	}
	return s.sol
}

func newSolve(g *Graph, o Options) *solve {
	return &solve{g: g, opt: o, sol: &Solution{
		Legs:  make([]LegTimes, len(g.Legs)),
		Nodes: make([]NodeTimes, len(g.Nodes)),
		Roots: make([]RootTimes, len(g.Roots)),
	}}
}

// solve is the work in progress of Solve.
type solve struct {
	g   *Graph
	opt Options
	sol *Solution
	// groups has, for each percentile in use, the roots that ask for it and the needs at it.
	groups []*group
	// sends has, by leg, what one request at its caller sends; attempts is done with it.
	sends []weight
	// shared marks the nodes that some root reaches on more than one path.
	shared []bool
	// legSeen and nodeSeen mark what already has a need, legGap and nodeGap where one of the needs is unknown.
	legSeen, legGap, nodeSeen, nodeGap []bool
}

// left is what the caller has when a call starts at the latest (numbers.md 16).
func (s *solve) left() {
	s.g.each(len(s.g.Legs), func(i int) {
		l, t := &s.g.Legs[i], &s.sol.Legs[i]
		has := min(s.sol.Nodes[l.From].Received, s.g.Nodes[l.From].Limit)
		switch {
		case !has.Finite():
			t.Left = has
		case t.Starts == model.NoLimit:
			t.Left = 0
		case t.Starts == model.Unknown:
			t.Left = model.Unknown
		default:
			t.Left = max(0, has.Sub(t.Starts))
		}
	})
}
