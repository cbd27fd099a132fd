package solver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/internal/fleet"
	"github.com/budgetplan/budgetplan/model"
)

// A pass that lists what its roots reach counts what one finds that looks at all nodes, to the last bit: with one-of,
// inner waiters, retry budgets, and a service that is two roots.
func TestFewAndMany(t *testing.T) {
	plan := fleet.New(3_000, 3).Plan()
	for i := range plan.Services {
		if f := &plan.Services[i].Flow; i%3 == 0 && len(f.Of) > 1 {
			f.Kind = model.OneOf
		}
	}
	for i := range plan.Calls {
		c := &plan.Calls[i]
		c.Waiters[0].Attempts = model.At(int32(1+i%3), c.At)
		c.Waiters[0].Edit().RetryBudget = model.At(model.Fraction(100_003*(1+i%2)), c.At)
		if i%7 == 0 {
			c.Waiters = append(c.Waiters, model.Waiter{Name: "sidecar", Attempts: model.At[int32](2, c.At)})
		}
	}
	for i := range 30 {
		plan.Entrypoints = append(plan.Entrypoints, model.Entrypoint{
			Call: model.ServiceID(i * 17 % 300), Rate: model.At(float64(i)/7, plan.Calls[0].At),
		})
	}
	plan.Entrypoints = append(plan.Entrypoints, plan.Entrypoints[len(plan.Entrypoints)-1])
	g, _ := Compile(plan)
	count := func(few int) (*Solution, int) {
		s := newSolve(g, Options{})
		s.bounds()
		s.stops()
		s.shared = make([]bool, len(g.Nodes))
		p := rootPass{s: s, apart: s.apart(), few: few, place: make([]int32, len(g.Nodes)), at: make([]lanesAt, len(g.Nodes))}
		for i, n := range g.Order {
			p.place[n] = int32(i)
		}
		many := 0
		for first := 0; first < len(g.Roots); first += lanes {
			p.begin(first)
			if p.many {
				many++
			}
			p.finish()
		}
		return s.sol, many
	}
	listed, none := count(len(g.Nodes))
	swept, all := count(0)
	if none > 0 || all*lanes < len(g.Roots) || all < 5 {
		t.Fatalf("%d and %d passes of %d roots looked at all nodes", none, all, len(g.Roots))
	}
	for i := range g.Nodes {
		if listed.Nodes[i] != swept.Nodes[i] {
			t.Fatal(cmp.Diff(listed.Nodes[i], swept.Nodes[i]))
		}
	}
	if d := cmp.Diff(listed.Roots, swept.Roots); d != "" {
		t.Fatal(d)
	}
}
