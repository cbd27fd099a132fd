package solver

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/budgetplan/budgetplan/internal/fleet"
	"github.com/budgetplan/budgetplan/model"
)

// phases are the parts of Solve, in its order.
var phases = []struct {
	name string
	run  func(*solve)
}{
	{"bounds", (*solve).bounds},
	{"ways to fail", (*solve).stops},
	{"attempts", (*solve).attempts},
	{"need", (*solve).needs},
	{"allocate, slack", (*solve).budgets},
	{"recommended", func(s *solve) { s.left(); s.recommend() }},
	{"allowed", (*solve).allowed},
}

// slackPhases are those that lead to the slack.
const slackPhases = 5

// BenchmarkPhases measures each part of Solve alone. What stands behind ×pass is how many plain passes over the same
// calls, in the order of Solve and measured in the same run, it takes.
func BenchmarkPhases(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			g, _ := Compile(fleet.New(n, 1).Plan())
			pass := plainPass(g)
			for i, p := range phases {
				b.Run(p.name, func(b *testing.B) {
					m := fleet.Measure(b, n, pass)
					for range b.N {
						s := newSolve(g, Options{})
						for _, before := range phases[:i] {
							before.run(s)
						}
						m.Time(func() { p.run(s) })
					}
					m.Report()
				})
			}
			b.Run("bounds to slack together", func(b *testing.B) {
				m := fleet.Measure(b, n, pass)
				for range b.N {
					s := newSolve(g, Options{})
					m.Time(func() {
						for _, p := range phases[:slackPhases] {
							p.run(s)
						}
					})
				}
				m.Report()
			})
			b.Run("all of solve", func(b *testing.B) {
				m := fleet.Measure(b, n, pass)
				for range b.N {
					m.Time(func() { Solve(g, Options{}) })
				}
				m.Report()
			})
		})
	}
}

// plainPass is the time of one sweep that looks at every call once, caller by caller.
func plainPass(g *Graph) time.Duration {
	x := make([]model.Duration, len(g.Nodes))
	return fleet.PlainPass(func() {
		for _, n := range g.Order {
			g.Out(n, func(l LegID) { x[g.Legs[l].To] += x[n] + 1 })
		}
	})
}

// BenchmarkWhatIf asks what roots need when one call needs a millisecond more, of 20,000 calls one after the other.
func BenchmarkWhatIf(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("calls=%d/what-if of one call", n), func(b *testing.B) {
			g, _ := Compile(fleet.New(n, 1).Plan())
			sol := Solve(g, Options{})
			w, pass := NewWhatIf(g, sol), plainPass(g)
			took := make([]time.Duration, 20_000)
			leg := 0
			for range b.N {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for i := range took {
					leg = (leg + 7919) % len(g.Legs)
					question := Change{Leg: LegID(leg), Time: sol.Legs[leg].Need.V + model.Millisecond}
					start := time.Now()
					w.Ask(question)
					took[i] = time.Since(start)
				}
				runtime.ReadMemStats(&after)
				fleet.Quantiles(b, took, after.TotalAlloc-before.TotalAlloc, pass)
			}
		})
	}
}
