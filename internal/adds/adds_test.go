package adds_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/adds"
	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Every explanation of every call of any plan adds up.
func TestExplanationsAddUp(t *testing.T) {
	plans := witness.Plans()
	rapid.Check(t, func(t *rapid.T) {
		p := plans.Draw(t, "plan")
		g, _ := solver.Compile(p)
		for _, policy := range []string{"eqf", "eqs", "equal"} {
			sol := solver.Solve(g, solver.Options{Policy: policy})
			for c := range p.Calls {
				if err := adds.Check(solver.Explain(p, g, sol, model.CallID(c))); err != nil {
					t.Fatalf("%s, %s: %v\n%s", policy, p.Calls[c].ID, err, witness.Describe(p))
				}
			}
		}
	})
}
