package witness_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// ns is a moment of a run as the witness has it.
func ns(d model.Duration) int64 {
	if !d.Finite() {
		return witness.Never
	}
	return int64(d)
}

// play runs a request with the solver, under the witness's names. It is false where the run is too large.
func play(t fataler, p *model.Plan, root int, f witness.Fate, enforced bool) (*witness.Simulated, bool) {
	t.Helper()
	g, _ := solver.Compile(p)
	sc := solver.Scenario{Takes: model.Duration(f.Takes), Fails: f.Fails, Enforced: enforced}
	if f.Takes == witness.Never {
		sc.Takes = model.NoLimit
	}
	for i := range p.Services {
		if p.Services[i].Name == f.Service {
			sc.Service = solver.NodeID(i)
		}
	}
	run, err := g.Run(&g.Roots[root], sc)
	if large := (*solver.TooLarge)(nil); errors.As(err, &large) {
		return nil, false
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	out := &witness.Simulated{Answer: ns(run.Answer), Answered: run.Answered, Ends: ns(run.Ends), Services: map[string]*witness.Spent{}}
	for _, s := range run.Services {
		out.Services[p.Services[s.Service].Name] = &witness.Spent{
			Starts: int(s.Starts), Work: ns(s.Work), Orphaned: ns(s.Orphan), Waited: ns(s.Waited), Overlap: int(s.Overlap),
		}
	}
	return out, true
}

// The recursion and the simulation of events agree on every number of a run, to the nanosecond.
func TestRun(t *testing.T) {
	cases, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := witness.RunPlans().Draw(t, "plan")
		f := witness.Fates(p).Draw(t, "fate")
		g, _ := solver.Compile(p)
		root := rapid.IntRange(0, len(g.Roots)-1).Draw(t, "root")
		enforced := rapid.Bool().Draw(t, "enforced")
		cases++
		want, ok := witness.Simulate(p, root, f, enforced)
		if !ok {
			return
		}
		compared++
		got, ok := play(t, p, root, f, enforced)
		if !ok || got.String() != want.String() {
			t.Fatalf("root %d, %+v, enforced %t:\nevents:\n%s\nrecursion (%t):\n%s\n%s", root, f, enforced, want, ok, got, witness.Describe(p))
		}
	})
	if !t.Failed() && compared < cases*9/10 {
		t.Errorf("only %d of %d cases were small enough to simulate", compared, cases)
	}
}

func fate(service string, seconds float64) witness.Fate {
	if math.IsInf(seconds, 1) {
		return witness.Fate{Service: service, Takes: witness.Never}
	}
	return witness.Fate{Service: service, Takes: int64(seconds * 1e9)}
}
