package solver

import "github.com/budgetplan/budgetplan/model"

// Corner is what everything needs if every call takes its latency at one percentile, with headroom, whatever the plan
// asks for elsewhere.
type Corner struct {
	Legs  []Need // by leg
	Roots []Need // by root, overhead in it
}

// CornerAt computes the needs at a percentile. A latency that is not known there counts as the next higher one that is.
func CornerAt(g *Graph, sol *Solution, percentile model.Fraction) Corner {
	s := &solve{g: g, sol: sol}
	gr := &group{
		percentile: percentile, every: true,
		one: make([]Need, len(g.Legs)), leg: make([]Need, len(g.Legs)), node: make([]Need, len(g.Nodes)),
	}
	s.needsOf(gr)
	c := Corner{Legs: gr.leg, Roots: make([]Need, len(g.Roots))}
	for r := range g.Roots {
		c.Roots[r] = gr.node[g.Roots[r].Node]
		c.Roots[r].V = c.Roots[r].V.Add(g.Roots[r].Overhead)
		c.Roots[r] = c.Roots[r].settle()
	}
	return c
}

// Violations sum the roots up that need more than their SLO.
type Violations struct {
	// Worst is the least slack, at most 0, and Root the root that has it, -1 where none is late. Total adds the slacks of
	// all Late ones. Both are −NoLimit as soon as one root has no bound.
	Worst, Total model.Duration
	Root         int32
	Late         int
	// Known says whether Worst and Total are exact, upper bounds because a need is not known in full, or unknown: nobody is
	// known to be late, and somebody may be, or no root has an SLO.
	Known Knowledge
}

// Late compares the needs of roots with their SLOs.
func Late(g *Graph, needs []Need) Violations {
	v := Violations{Root: -1}
	targets, doubt := false, false
	for r := range g.Roots {
		n, slo := needs[r], g.Roots[r].SLO
		if slo == model.NoLimit {
			continue
		}
		targets, doubt = true, doubt || n.Known != Complete
		if n.Known == Nothing || n.V <= slo {
			continue
		}
		slack := -model.NoLimit
		if n.V.Finite() {
			slack = slo - n.V
		}
		v.Late++
		v.Total = -(-v.Total).Add(-slack)
		if slack < v.Worst || v.Root < 0 {
			v.Worst, v.Root = slack, int32(r)
		}
	}
	switch {
	case targets && (!doubt || v.Worst == -model.NoLimit):
		v.Known = Complete
	case v.Late > 0:
		v.Known = Partial
	}
	return v
}

// Unconstrained lists the calls that are waited for and that no SLO gives a budget, in plan order.
func Unconstrained(g *Graph, sol *Solution) []LegID {
	var out []LegID
	for i := range g.Legs {
		if g.Legs[i].Awaited() && !sol.Legs[i].Budget.Finite() {
			out = append(out, LegID(i))
		}
	}
	return out
}
