package solver_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Compile and gonum agree on which call graphs have cycles; without the calls that Compile cuts none is left, every
// service stands behind its callers in Order, and no more is cut than closes a cycle.
func TestCyclesAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "services")
		b := plan()
		for i := range n {
			b.service(fmt.Sprint("s", i))
		}
		node := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 2*n).Draw(t, "calls") {
			b.call(fmt.Sprint("s", node.Draw(t, "from")), fmt.Sprint("s", node.Draw(t, "to")), nil)
		}
		b.entry("s0", s)
		g, findings := solver.Compile(&b.Plan)

		left := graphOf(&b.Plan, func(c model.CallID) bool { return g.FirstLeg[c] >= 0 })
		if cyclic(left) {
			t.Fatalf("a cycle is left after cutting %d calls", len(findings))
		}
		if all := graphOf(&b.Plan, func(model.CallID) bool { return true }); cyclic(all) != (len(findings) > 0) {
			t.Fatalf("gonum sees a cycle: %t, Compile cut %d calls", cyclic(all), len(findings))
		}
		at := make(map[solver.NodeID]int)
		for i, n := range g.Order {
			at[n] = i
		}
		for c, leg := range g.FirstLeg {
			call := b.Calls[c]
			if leg < 0 {
				back := graphOf(&b.Plan, func(o model.CallID) bool { return g.FirstLeg[o] >= 0 || o == model.CallID(c) })
				if !cyclic(back) {
					t.Fatalf("%s is cut and closes no cycle", call.ID)
				}
			} else if at[solver.NodeID(call.From)] >= at[solver.NodeID(call.To)] {
				t.Fatalf("%s stands before its caller", call.ID)
			}
		}
	})
}

func graphOf(p *model.Plan, keep func(model.CallID) bool) *multi.DirectedGraph {
	g := multi.NewDirectedGraph()
	for i := range p.Services {
		g.AddNode(multi.Node(i))
	}
	for i, c := range p.Calls {
		if keep(model.CallID(i)) {
			g.SetLine(g.NewLine(multi.Node(c.From), multi.Node(c.To)))
		}
	}
	return g
}

// cyclic: a component of several services, or a service that calls itself.
func cyclic(g *multi.DirectedGraph) bool {
	for _, c := range topo.TarjanSCC(g) {
		if len(c) > 1 || g.HasEdgeFromTo(c[0].ID(), c[0].ID()) {
			return true
		}
	}
	return false
}
