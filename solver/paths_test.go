package solver_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Two calls beside each other, then a third: the paths by hand.
func TestPaths(t *testing.T) {
	b := plan()
	e := b.entry("a", 500*ms)
	e.Overhead = val(40 * ms)
	b.service("a").Before, b.service("a").Margin = val(10*ms), val(model.Margin{Share: 500_000})
	latency := func(d model.Duration, n int32) func(*model.Call, *model.Waiter) {
		return func(c *model.Call, w *model.Waiter) { c.Latency, w.Attempts = &model.Latency{Exact: val(d)}, val(n) }
	}
	slow := b.call("a", "slow", latency(60*ms, 1))
	fast := b.call("a", "fast", latency(20*ms, 2))
	last := b.call("a", "last", latency(30*ms, 1))
	one := func(c model.CallID) model.Flow { return model.Flow{Kind: model.One, Call: c} }
	b.service("a").Flow.Of = []model.Flow{{Kind: model.Parallel, Of: []model.Flow{one(slow), one(fast)}}, one(last)}
	g, sol := b.solve(t)

	paths := solver.Paths(g, sol, 0, 9)
	want := []struct {
		leg           solver.LegID
		length, slack model.Duration
	}{
		{solver.LegID(slow), 230 * ms, 270 * ms}, // 40 + 10 + (60 + 30) × 2
		{solver.LegID(last), 230 * ms, 270 * ms},
		{solver.LegID(fast), 190 * ms, 310 * ms}, // 40 + 10 + (2 × 20 + 30) × 2
	}
	equal(t, "paths", len(paths), len(want))
	for i, p := range paths {
		equal(t, "length", p.Length, want[i].length)
		equal(t, "slack", p.Slack, want[i].slack)
		equal(t, "hops", len(p.Hops), 2)
		equal(t, "call", p.Hops[1].Leg, want[i].leg)
		equal(t, "sensitivity", p.Hops[1].Sensitivity, 2)
		equal(t, "total", p.Hops[1].Total.V, p.Length)
	}
	equal(t, "what is not the call", paths[0].Hops[0].Delta.V, 170*ms)
	equal(t, "the need is the longest path", sol.Roots[0].Need.V, paths[0].Length)
	equal(t, "one path", len(solver.Paths(g, sol, 0, 1)), 1)
	equal(t, "no path", len(solver.Paths(g, sol, 0, 0)), 0)
}

// One more ms at the database of V7 costs 3.83 ms of the SLO: 2 attempts, four margins of 15 %.
func TestSensitivity(t *testing.T) {
	g, sol := v7().solve(t)
	hops := solver.Paths(g, sol, 0, 1)[0].Hops
	equal(t, "hops", len(hops), 5)
	// 1 ÷ .85⁴ a ms of the call's need; the callee's own ms are two.
	if call, attempt := hops[4].Sensitivity, hops[4].PerAttempt; call < 1.91565 || call > 1.91575 || attempt < 3.83135 || attempt > 3.83145 {
		t.Errorf("sensitivity: got %v and %v, want 1.9157 and 3.8314", call, attempt)
	}
}

// A service without calls is a path by itself.
func TestPathWithoutCalls(t *testing.T) {
	b := plan()
	b.entry("a", 500*ms)
	b.service("a").Before = val(10 * ms)
	g, sol := b.solve(t)
	paths := solver.Paths(g, sol, 0, 5)
	equal(t, "paths", len(paths), 1)
	equal(t, "length", paths[0].Length, 10*ms)
}

// What nobody knows is not 0: it makes what stands above it a lower bound, and a path of nothing else unknown.
func TestPathsOfUnknownNeeds(t *testing.T) {
	b := plan()
	b.entry("a", 500*ms)
	b.call("a", "b", nil)
	g, sol := b.solve(t)
	p := solver.Paths(g, sol, 0, 1)[0]
	equal(t, "length", p.Known, solver.Nothing)
	equal(t, "slack", p.Slack, model.Unknown)
	for _, h := range p.Hops {
		equal(t, "takes", h.Delta.Known, solver.Nothing)
		equal(t, "sum", h.Total.Known, solver.Nothing)
	}

	b.service("a").Before = val(10 * ms)
	g, sol = b.solve(t)
	p = solver.Paths(g, sol, 0, 1)[0]
	equal(t, "length", p.Length, 10*ms)
	equal(t, "length, at least", p.Known, solver.Partial)
	equal(t, "slack, at most", p.Slack, 490*ms)
	equal(t, "work and margin, at least", p.Hops[0].Delta, solver.Need{V: 10 * ms, Known: solver.Partial})
	equal(t, "the call", p.Hops[1].Delta.Known, solver.Nothing)
	equal(t, "the sum", p.Hops[1].Total, solver.Need{V: 10 * ms, Known: solver.Partial})
}

// The longest paths are those that walking all of them finds.
func TestPathsAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		p.Entrypoints = p.Entrypoints[:min(1, len(p.Entrypoints))]
		for i := range p.Entrypoints {
			p.Entrypoints[i].Percentile = model.Val[model.Fraction]{} // one percentile, so that the solution has its needs
		}
		g, _ := solver.Compile(p)
		sol := solver.Solve(g, solver.Options{})
		e := enumeration{p, g, sol}
		for r := range g.Roots {
			all := e.node(g.Roots[r].Node)
			for i := range all {
				all[i] = all[i].Add(g.Roots[r].Overhead)
			}
			slices.SortFunc(all, func(a, b model.Duration) int { return int(b - a) })
			k := rapid.IntRange(1, 12).Draw(t, "k")
			paths := solver.Paths(g, sol, int32(r), k)
			var got []model.Duration
			for _, p := range paths {
				got = append(got, p.Length)
				if total := p.Hops[len(p.Hops)-1].Total.V; total != p.Length {
					t.Fatalf("the hops of a path of %s add up to %s", p.Length, total)
				}
			}
			if want := all[:min(k, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("root %d, the %d longest: got %v, want %v", r, k, got, want)
			}
		}
	})
}

// enumeration walks every path.
type enumeration struct {
	p   *model.Plan
	g   *solver.Graph
	sol *solver.Solution
}

// node gives what a node needs on each path below it.
func (e *enumeration) node(n solver.NodeID) (needs []model.Duration) {
	node := &e.g.Nodes[n]
	if node.Leaf {
		return []model.Duration{node.Local()}
	}
	e.g.Out(n, func(l solver.LegID) {
		if !e.g.Legs[l].Awaited() {
			return
		}
		for _, v := range e.leg(l) {
			forced := v
			if node.Waiter < 0 {
				forced, _ = e.flow(e.p.Services[node.Service].Flow, e.g.Legs[l].Call, v)
			}
			if forced > 0 || e.known(n) {
				forced = node.Margin.Gross(forced)
			}
			needs = append(needs, node.Local().Add(forced))
		}
	})
	return needs
}

// known reports whether all calls of a node are known in full.
func (e *enumeration) known(n solver.NodeID) bool {
	known := true
	e.g.Out(n, func(l solver.LegID) { known = known && e.sol.Legs[l].Need.Known == solver.Complete })
	return known
}

func (e *enumeration) leg(id solver.LegID) (needs []model.Duration) {
	l, t := &e.g.Legs[id], &e.sol.Legs[id]
	if l.Optional || e.g.Nodes[l.To].Leaf {
		return []model.Duration{t.Need.V}
	}
	whole := func(one model.Duration) model.Duration { return one.Mul(l.Attempts).Add(t.BackoffSum).Mul(l.Repeat) }
	call, _ := e.g.CallOf(id)
	if d, _, exact := call.Latency.Quantile(call.Percentile().Or(solver.DefaultPercentile)); l.Last && d.Set() {
		if !exact {
			d.V = d.V.MulUp(model.Whole + call.Headroom().Or(solver.DefaultHeadroom))
		}
		needs = append(needs, whole(d.V))
	}
	for _, v := range e.node(l.To) {
		needs = append(needs, whole(l.Network.Add(v)))
	}
	return needs
}

// flow gives what a flow needs when one of its calls needs v and is the longest everywhere; has is false where the call
// is not in it, and what it needs as it is.
func (e *enumeration) flow(f model.Flow, call model.CallID, v model.Duration) (need model.Duration, has bool) {
	if f.Kind == model.One {
		if f.Call == call {
			return v, true
		}
		if l := e.g.FirstLeg[f.Call]; l >= 0 {
			return e.sol.Legs[l].Need.V, false
		}
		return 0, false
	}
	var sum, longest model.Duration
	for _, of := range f.Of {
		n, in := e.flow(of, call, v)
		if in && !f.Kind.Sums(false) {
			return n, true
		}
		has = has || in
		sum, longest = sum.Add(n), max(longest, n)
	}
	if f.Kind.Sums(false) {
		return sum, has
	}
	return longest, has
}
