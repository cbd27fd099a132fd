package witness_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// TestMain sets how many cases the random tests draw: 500, or as many as BUDGETPLAN_PROVE says.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "500"
	if n := os.Getenv("BUDGETPLAN_PROVE"); n != "" {
		checks = n
	}
	// A failure prints its seed and the smallest plan; no file is left behind.
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.nofailfile": "true"} {
		set := false
		flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
		if set {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintf(os.Stderr, "%s=%s: %v\n", name, value, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// The solver and the witness agree on every number, to the nanosecond.
func TestSolver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		policy := rapid.SampledFrom([]string{"eqf", "eqs", "equal"}).Draw(t, "policy")
		agree(t, p, policy)
	})
}

// fataler is what agree needs of a test.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func agree(t fataler, p *model.Plan, policy string) {
	t.Helper()
	want, got := witness.Compute(p, policy), solve(p, policy)
	var differ []string
	for name := range want {
		if g, ok := got[name]; !ok || g != want[name] {
			differ = append(differ, fmt.Sprintf("%s: witness %s, solver %s", name, want[name], g))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			differ = append(differ, name+": only the solver has it")
		}
	}
	if len(differ) == 0 {
		return
	}
	slices.Sort(differ)
	more := max(0, len(differ)-12)
	t.Fatalf("%d numbers differ with policy %s:\n%s\n(and %d more)\n%s", len(differ), policy,
		strings.Join(differ[:len(differ)-more], "\n"), more, witness.Describe(p))
}

// The solver gives the vectors, too.
func TestSolverVectors(t *testing.T) {
	for _, b := range []*builder{checkout(false), checkout(true), v7(2, nil), v7(1, nil), slowConnect()} {
		for _, policy := range []string{"eqf", "eqs", "equal"} {
			agree(t, &b.Plan, policy)
		}
	}
}

// No random plan may be too odd to compile: generated plans are acyclic and raise no finding.
func TestPlansCompile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		if _, findings := solver.Compile(p); len(findings) > 0 {
			t.Fatalf("a finding on a generated plan: %s\n%s", findings[0].Message, witness.Describe(p))
		}
	})
}

// A call holds its caller at least as long as each of the three ways in which its callee fails.
func TestWaitCoversWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		n := witness.Compute(p, "eqf")
		for i := range p.Calls {
			c := &p.Calls[i]
			if c.Async.Or(false) || c.Stream().Or(false) {
				continue
			}
			wait := inMillis(n["call "+c.ID+" wait"])
			for _, way := range []string{"if hangs", "if fails late", "if fails fast"} {
				if w := inMillis(n["call "+c.ID+" "+way+" wait"]); w > wait {
					t.Fatalf("call %s: wait %gms, %s %gms\n%s", c.ID, wait, way, w, witness.Describe(p))
				}
			}
		}
	})
}

// inMillis reads an amount; what is unknown or unbounded lies above every number.
func inMillis(s string) float64 {
	if n, err := strconv.ParseFloat(strings.TrimSuffix(s, "ms"), 64); err == nil {
		return n
	}
	return math.Inf(1)
}
