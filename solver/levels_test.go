package solver

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/internal/fleet"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Every number of a graph large enough to be shared out over processors is the one that a single processor finds: with
// one-of and inner waiters, with roots at different percentiles, and with SLOs that fit and that do not.
func TestProcessors(t *testing.T) {
	for _, slo := range []model.Duration{fleet.SLO, 24 * 3600 * model.Second} {
		plan := fleet.New(60_000, 7).Plan()
		for i := range plan.Entrypoints {
			e := &plan.Entrypoints[i]
			e.SLO.V = slo
			if i%3 == 0 {
				e.Percentile = model.At[model.Fraction](model.Whole/2, diag.Span{File: "x", Line: 1})
			}
		}
		for i := range plan.Services {
			if f := &plan.Services[i].Flow; i%5 == 0 && len(f.Of) > 1 {
				f.Kind = model.OneOf
			}
		}
		for i := range plan.Calls {
			if c := &plan.Calls[i]; i%7 == 0 {
				c.Waiters = append(c.Waiters, model.Waiter{Name: "sidecar", Attempts: model.At[int32](2, c.At)})
			}
		}
		g, found := Compile(plan)
		if len(found) > 0 {
			t.Fatal(found[0])
		}
		at := func(processors int) *Solution {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			return Solve(g, Options{Allowed: true})
		}
		one, four := at(1), at(4)
		for i := range one.Legs {
			if one.Legs[i] != four.Legs[i] {
				t.Fatalf("leg %s: %s", g.LegName(LegID(i)), cmp.Diff(one.Legs[i], four.Legs[i]))
			}
		}
		for i := range one.Nodes {
			if one.Nodes[i] != four.Nodes[i] {
				t.Fatalf("node %d: %s", i, cmp.Diff(one.Nodes[i], four.Nodes[i]))
			}
		}
		if d := cmp.Diff(one.Roots, four.Roots); d != "" {
			t.Fatal(d)
		}
	}
}
