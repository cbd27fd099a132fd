package solver_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Needs at two percentiles, the second of which only one latency has: the other takes its p99 for it.
func TestCorners(t *testing.T) {
	b := plan()
	b.entry("a", 200*ms)
	b.entry("b", 50*ms)
	b.service("a").Margin, b.service("b").Margin = val(model.Margin{}), val(model.Margin{})
	points := func(p50, p99 model.Duration) func(*model.Call, *model.Waiter) {
		return func(c *model.Call, _ *model.Waiter) {
			c.Latency = &model.Latency{}
			if p50 > 0 {
				c.Latency.Points = append(c.Latency.Points, model.Point{P: 500_000, V: val(p50)})
			}
			c.Latency.Points = append(c.Latency.Points, model.Point{P: 990_000, V: val(p99)})
			c.Rare = &model.CallRare{Headroom: val(model.Fraction(0)), Percentile: val(model.Fraction(990_000))}
		}
	}
	b.call("a", "x", points(20*ms, 100*ms))
	b.call("a", "y", points(0, 130*ms))
	b.call("b", "x", points(30*ms, 70*ms))
	b.call("c", "x", points(1*ms, 2*ms))
	g, sol := b.solve(t)

	p50, p99 := solver.CornerAt(g, sol, 500_000), solver.CornerAt(g, sol, 990_000)
	equal(t, "a at p50", p50.Roots[0].V, 150*ms)
	equal(t, "a at p99", p99.Roots[0].V, 230*ms)
	equal(t, "a/x at p50, a percentile of its own or not", p50.Legs[0].V, 20*ms)
	equal(t, "b at p50", p50.Roots[1].V, 30*ms)

	late := solver.Late(g, p99.Roots)
	equal(t, "worst and total at p99", late, solver.Violations{Worst: -30 * ms, Total: -50 * ms, Root: 0, Late: 2, Known: solver.Complete})
	late = solver.Late(g, p50.Roots)
	equal(t, "at p50 all fit", late, solver.Violations{Root: -1, Known: solver.Complete})

	unknown := func(known ...solver.Need) solver.Violations {
		needs := make([]solver.Need, len(g.Roots))
		copy(needs, known)
		return solver.Late(g, needs)
	}
	equal(t, "nothing known", unknown(), solver.Violations{Root: -1})
	equal(t, "one fits, one is unknown", unknown(solver.Need{V: 9 * ms, Known: solver.Complete}), solver.Violations{Root: -1})
	equal(t, "one is late, one is unknown", unknown(solver.Need{V: 230 * ms, Known: solver.Complete}),
		solver.Violations{Worst: -30 * ms, Total: -30 * ms, Root: 0, Late: 1, Known: solver.Partial})
	equal(t, "one has no bound, one is unknown", unknown(solver.Need{V: model.NoLimit, Known: solver.Complete}),
		solver.Violations{Worst: -model.NoLimit, Total: -model.NoLimit, Root: 0, Late: 1, Known: solver.Complete})

	free := solver.Unconstrained(g, sol)
	equal(t, "calls without an SLO", len(free), 1)
	equal(t, "the call", g.LegName(free[0]), "c/x")
}

// A question to WhatIf is a plan with that change, solved anew.
func TestWhatIf(t *testing.T) {
	g, sol := v7().solve(t)
	w := solver.NewWhatIf(g, sol)
	ask := func(c solver.Change) string {
		out := w.Ask(c)
		if len(out) != 1 || out[0].Root != 0 {
			t.Fatalf("%+v: got %v", c, out)
		}
		return out[0].Need.V.String()
	}
	equal(t, "no retry", ask(solver.Change{Leg: 3, Kind: solver.ChangeAttempts, Attempts: 1}), "385.548906ms")
	equal(t, "a need of 0", ask(solver.Change{Leg: 0}), "30ms")
	equal(t, "as allowed", ask(solver.Change{Leg: 3, Time: sol.Legs[3].Allowed}), "350ms")
	equal(t, "a timeout of a required call", len(w.Ask(solver.Change{Leg: 3, Kind: solver.ChangeTimeout, Time: ms})), 0)
	equal(t, "the same as it is", len(w.Ask(solver.Change{Leg: 3, Time: sol.Legs[3].Need.V})), 0)

	b := v7()
	b.Calls[1].Optional, b.Calls[1].Waiters[0].Timeout = val(true), val(100*ms)
	g, sol = b.solve(t)
	w = solver.NewWhatIf(g, sol)
	b.Calls[1].Waiters[0].Timeout = val(60 * ms)
	_, after := b.solve(t)
	equal(t, "another timeout of an optional call", ask(solver.Change{Leg: 1, Kind: solver.ChangeTimeout, Time: 60 * ms}), after.Roots[0].Need.V.String())
	if n := testing.AllocsPerRun(100, func() { w.Ask(solver.Change{Leg: 0, Time: 40 * ms}) }); n != 0 {
		t.Errorf("a question allocates %v times", n)
	}
}

// On random plans a question to WhatIf gives what solving the changed plan gives.
func TestWhatIfAgainstSolving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		g, _ := solver.Compile(p)
		if len(g.Legs) == 0 {
			return
		}
		sol := solver.Solve(g, solver.Options{})
		w := solver.NewWhatIf(g, sol)
		leg := solver.LegID(rapid.IntRange(0, len(g.Legs)-1).Draw(t, "leg"))
		c := solver.Change{Leg: leg, Kind: solver.ChangeAttempts, Attempts: rapid.Int64Range(1, 4).Draw(t, "attempts")}
		_, waiter := g.CallOf(leg)
		waiter.Attempts = val(int32(c.Attempts))
		if rapid.Bool().Draw(t, "timeout") && g.Legs[leg].Optional && waiter.Timeout.Set() && waiter.Timeout.V.Finite() {
			c = solver.Change{Leg: leg, Kind: solver.ChangeTimeout, Time: 77 * ms}
			waiter.Timeout = val(77 * ms)
		}
		got := make([]solver.Need, len(g.Roots))
		for r := range got {
			got[r] = sol.Roots[r].Need
		}
		for _, n := range w.Ask(c) {
			got[n.Root] = n.Need
		}
		changed, _ := solver.Compile(p)
		after := solver.Solve(changed, solver.Options{})
		for r := range got {
			if got[r] != after.Roots[r].Need {
				t.Fatalf("%+v: root %d needs %v by the question, %v by solving", c, r, got[r], after.Roots[r].Need)
			}
		}
	})
}
