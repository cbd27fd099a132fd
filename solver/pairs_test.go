package solver_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// v7 is the chain of the reference that needs 615.431 ms under an SLO of 350 ms.
func v7() *builder {
	b := plan()
	b.entry("A", 350*ms)
	names := []string{"A", "B", "C", "D", "db"}
	for i, n := range names[:4] {
		sv := b.service(n)
		sv.Before, sv.Margin = val(30*ms), val(model.Margin{Share: 150_000})
		b.call(n, names[i+1], func(c *model.Call, w *model.Waiter) {
			if n == "D" {
				w.Attempts = val(int32(2))
				c.Latency = &model.Latency{Points: []model.Point{{P: 990_000, V: val(120 * ms)}}}
				c.Edit().Headroom = val(model.Fraction(0))
			}
		})
	}
	return b
}

// No margin and no retry of V7 is enough; without the retry these margins are, rounded down to what fits.
func TestPairs(t *testing.T) {
	b := v7()
	g, sol := b.solve(t)
	got, latency := map[string]model.Fraction{}, false
	for _, x := range sol.Roots[0].Fixes {
		if x.With == nil {
			continue
		}
		if x.Kind != solver.FixRetry || x.Attempts != 1 || !x.Feasible || x.Need > 350*ms {
			t.Errorf("pair %+v with %+v", x, *x.With)
		}
		name := "everywhere"
		switch x.With.Kind {
		case solver.FixMargin:
			name = b.Services[g.Nodes[x.With.Node].Service].Name
		case solver.FixLatency:
			equal(t, "latency target without the retry", x.With.Time.String(), "101.44325ms")
			latency = true
			continue
		}
		got[name] = x.With.Margin
	}
	want := map[string]model.Fraction{"A": 5557, "B": 4386, "C": 2574, "everywhere": 12254}
	for name, m := range want {
		equal(t, "margin of "+name, got[name]/10, m)
	}
	equal(t, "pairs of margins", len(got), len(want))
	equal(t, "a pair with a latency target", latency, true)

	// A pair is what a plan with both changes says of itself, and one part per million more does not fit.
	for name, m := range got {
		for more, feasible := range map[model.Fraction]bool{0: true, 1: false} {
			c := v7()
			c.Calls[3].Waiters[0].Attempts = val(int32(1))
			for i := range c.Services {
				if name == "everywhere" || c.Services[i].Name == name {
					c.Services[i].Margin = val(model.Margin{Share: m + more})
				}
			}
			_, after := c.solve(t)
			equal(t, fmt.Sprintf("%s at %s fits", name, m+more), after.Roots[0].Feasible, feasible)
		}
	}
}

// Where one margin or one retry is enough, no pair is listed, and single changes come before pairs.
func TestPairsOnlyWhereNeeded(t *testing.T) {
	b := v7()
	b.Entrypoints[0].SLO = val(400 * ms) // without the retry 385.549 ms
	_, sol := b.solve(t)
	fixes := sol.Roots[0].Fixes
	if slices.ContainsFunc(fixes, func(x solver.RootFix) bool { return x.With != nil }) {
		t.Error("a pair beside a single change that is enough")
	}
	_, sol = v7().solve(t)
	pairs := false
	for _, x := range sol.Roots[0].Fixes {
		if x.Feasible && pairs && x.With == nil {
			t.Error("a single change that is enough behind a pair")
		}
		pairs = pairs || x.With != nil
	}
}

// A latency is the service's where all calls to it change, else that of the calls that take it.
func TestLatencyOf(t *testing.T) {
	at := func(line int32) *model.Latency {
		p99 := model.At(60*ms, diag.Span{File: "t.yaml", Line: line})
		return &model.Latency{Points: []model.Point{{P: 990_000, V: p99}}}
	}
	for _, c := range []struct {
		name        string
		own, common *model.Latency
		want        []string
	}{
		{"one place for both", at(1), at(1), []string{"db"}},
		{"each its own", at(2), at(1), []string{"b/db"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := plan()
			b.entry("a", 100*ms)
			b.call("a", "db", func(call *model.Call, _ *model.Waiter) { call.Latency = c.own })
			b.call("a", "b", nil)
			b.call("b", "db", func(call *model.Call, _ *model.Waiter) { call.Latency = c.common })
			g, sol := b.solve(t)
			i := slices.IndexFunc(sol.Roots[0].Fixes, func(x solver.RootFix) bool { return x.Kind == solver.FixLatency && x.With == nil })
			if i < 0 {
				t.Fatal("no target")
			}
			if got := g.LatencyOf(&sol.Roots[0].Fixes[i]); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
