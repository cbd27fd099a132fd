package solver_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/internal/adds"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

const (
	ms = model.Millisecond
	s  = model.Second
)

func val[T any](v T) model.Val[T] { return model.At(v, diag.Span{File: "t.yaml", Line: 1}) }

// builder makes plans in code; calls of a service run in sequence unless told otherwise.
type builder struct {
	model.Plan
	ids map[string]model.ServiceID
}

func plan() *builder { return &builder{ids: map[string]model.ServiceID{}} }

func (b *builder) service(name string) *model.Service {
	id, ok := b.ids[name]
	if !ok {
		id = model.ServiceID(len(b.Services))
		b.ids[name] = id
		b.Services = append(b.Services, model.Service{Name: name})
	}
	return &b.Services[id]
}

func (b *builder) entry(service string, slo model.Duration) *model.Entrypoint {
	b.service(service)
	b.Entrypoints = append(b.Entrypoints, model.Entrypoint{Name: service, Call: b.ids[service], SLO: val(slo)})
	return &b.Entrypoints[len(b.Entrypoints)-1]
}

// call adds a call at the end of the caller's sequence.
func (b *builder) call(from, to string, set func(*model.Call, *model.Waiter)) model.CallID {
	b.service(from)
	b.service(to)
	c := model.Call{ID: from + "/" + to, From: b.ids[from], To: b.ids[to], Waiters: make([]model.Waiter, 1)}
	if set != nil {
		set(&c, &c.Waiters[0])
	}
	id := model.CallID(len(b.Calls))
	b.Calls = append(b.Calls, c)
	f := &b.Services[b.ids[from]].Flow
	f.Of = append(f.Of, model.Flow{Kind: model.One, Call: id})
	return id
}

func (b *builder) solve(t testing.TB) (*solver.Graph, *solver.Solution) {
	g, fs := solver.Compile(&b.Plan)
	if len(fs) > 0 {
		t.Fatal(fs[0].Message)
	}
	return g, solver.Solve(g, solver.Options{Allowed: true, Fixes: true})
}

// chain calls name0 → name1 → … → nameN.
func (b *builder) chain(name string, n int, set func(*model.Call, *model.Waiter)) {
	for i := range n {
		b.call(fmt.Sprint(name, i), fmt.Sprint(name, i+1), set)
	}
}

func retrying(attempts int32, timeout model.Duration) func(*model.Call, *model.Waiter) {
	return func(_ *model.Call, w *model.Waiter) {
		w.Attempts, w.Timeout = val(attempts), val(timeout)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// explainAll adds up the explanation of every call again.
func explainAll(t *testing.T, b *builder, g *solver.Graph, sol *solver.Solution) {
	t.Helper()
	for c := range b.Calls {
		if err := adds.Check(solver.Explain(&b.Plan, g, sol, model.CallID(c))); err != nil {
			t.Errorf("%s: %v", b.Calls[c].ID, err)
		}
	}
}

// V7 of the reference: a chain that cannot meet its SLO, its slacks, allowances and single fixes.
func TestInfeasibleChain(t *testing.T) {
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
	g, sol := b.solve(t)
	explainAll(t, b, g, sol)
	root := sol.Roots[0]
	equal(t, "need", root.Need.V.String(), "615.431212ms")
	equal(t, "slack", root.Slack.String(), "-265.431212ms")
	for i, want := range []string{"497.61653ms", "397.47405ms", "312.352942ms", "240ms"} {
		equal(t, "need of "+b.Calls[i].ID, sol.Legs[i].Need.V.String(), want)
	}
	for i, want := range []string{"272ms", "205.7ms", "149.345ms", "101.44325ms"} {
		equal(t, "allowed of "+b.Calls[i].ID, sol.Legs[i].Allowed.String(), want)
	}
	var fits, fails []string
	for _, f := range root.Fixes {
		text := fmt.Sprintf("%d %v %d %v", f.Kind, f.Time, f.Attempts, f.Need)
		if f.Kind == solver.FixDrop || f.With != nil {
			continue
		}
		if f.Feasible {
			fits = append(fits, text)
		} else {
			fails = append(fails, text)
		}
	}
	want := []string{
		"3 272ms 0 350ms", "3 205.7ms 0 350ms", "3 149.345ms 0 350ms", "3 101.44325ms 0 350ms",
		"6 50.721625ms 0 350ms", "7 615.431212ms 0 615.431212ms",
	}
	if diff := cmp.Diff(want, fits); diff != "" {
		t.Error("fixes that suffice:", diff)
	}
	if !slices.Contains(fails, "2 0ms 1 385.548906ms") {
		t.Error("dropping the retry leaves 385.549 ms, which is missing in", fails)
	}
}

// Shapes that would take for ever to enumerate, or overflow a stack or a count.
func TestLargeShapes(t *testing.T) {
	t.Run("a chain 10,000 deep saturates", func(t *testing.T) {
		b := plan()
		b.entry("s0", 5*s)
		b.chain("s", 10_000, retrying(2, s))
		_, sol := b.solve(t)
		last := sol.Nodes[len(sol.Nodes)-1]
		equal(t, "configured", last.Attempts.Configured, solver.MaxCount)
		equal(t, "wait of the gateway", sol.Legs[0].Wait, s)
	})
	t.Run("a ladder of 40 diamonds", func(t *testing.T) {
		b := plan()
		b.entry("s0", 5*s)
		for i := range 40 {
			for _, m := range "ab" {
				mid := fmt.Sprint(string(m), i)
				b.call(fmt.Sprint("s", i), mid, nil)
				b.call(mid, fmt.Sprint("s", i+1), func(c *model.Call, _ *model.Waiter) { c.Latency = &model.Latency{Exact: val(ms)} })
			}
		}
		_, sol := b.solve(t)
		equal(t, "paths", sol.Nodes[b.ids["s40"]].Attempts.Configured, 1<<40)
	})
	t.Run("70 services and 600 calls in layers", func(t *testing.T) {
		b := layers(7, 10)
		g, sol := b.solve(t)
		equal(t, "attempts", sol.Nodes[b.ids["s6/0"]].Attempts.Configured, 100_000)
		explainAll(t, b, g, sol)
		// What a call may need is exact: with it the SLO is met, with 1 ns more it is not. Every call of one
		// layer stands for all by symmetry, and is reached on many paths.
		for _, c := range []model.CallID{0, 150, 599} {
			for over, want := range []bool{true, false} {
				d := layers(7, 10)
				d.Calls[c].Latency = &model.Latency{Exact: val(sol.Legs[c].Allowed + model.Duration(over))}
				_, again := d.solve(t)
				equal(t, fmt.Sprintf("feasible with %s at %d ns over", b.Calls[c].ID, over), again.Roots[0].Feasible, want)
			}
		}
	})
	t.Run("a service with 10,000 callers", func(t *testing.T) {
		b := plan()
		for i := range 10_000 {
			b.call(fmt.Sprint("s", i), "x", retrying(3, s))
		}
		_, sol := b.solve(t)
		equal(t, "attempts", sol.Nodes[b.ids["x"]].Attempts.Configured, 3)
		equal(t, "roots", len(sol.Roots), 10_000)
	})
}

func layers(depth, width int) *builder {
	b := plan()
	b.entry("s0/0", 5*s)
	for l := range depth - 1 {
		for i := range width {
			for j := range width {
				b.call(fmt.Sprint("s", l, "/", i), fmt.Sprint("s", l+1, "/", j), func(c *model.Call, _ *model.Waiter) {
					if l == depth-2 {
						c.Latency = &model.Latency{Exact: val(model.Microsecond)}
					}
				})
			}
		}
	}
	return b
}

// A cycle is named, cut at its back edge, and the rest is solved.
func TestCycle(t *testing.T) {
	b := plan()
	b.entry("a", s)
	b.call("a", "b", retrying(2, s))
	b.call("b", "c", retrying(2, s))
	b.call("c", "a", retrying(2, s))
	b.call("c", "d", retrying(2, s))
	b.call("d", "d", retrying(2, s))
	b.service("d").Edit().MaxDepth = val(int32(3))
	g, findings := solver.Compile(&b.Plan)
	var messages []string
	for _, f := range findings {
		messages = append(messages, f.Subject+": "+f.Message)
	}
	want := []string{"c/a: `a` → `b` → `c` → `a` is a cycle", "d/d: `d` → `d` is a cycle"}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Error(diff)
	}
	equal(t, "note of a bounded recursion", findings[1].Notes[1].Text, "`max_depth` bounds it at 3 rounds; the numbers are those of one")
	equal(t, "cut leg", g.FirstLeg[2], -1)
	sol := solver.Solve(g, solver.Options{Allowed: true, Fixes: true})
	equal(t, "attempts at d", sol.Nodes[b.ids["d"]].Attempts.Configured, 8)
}

// Waiters in series: the limits cut each other, the attempts multiply (DESIGN.md §3.3).
func TestWaitersInSeries(t *testing.T) {
	b := plan()
	b.call("job", "model", func(c *model.Call, w *model.Waiter) {
		w.Attempts, w.Timeout = val(int32(5)), val(900*s)
		inner := model.Waiter{Name: "sdk", Attempts: val(int32(3)), Timeout: val(900 * s), PerTry: val(60 * s)}
		c.Waiters = append(c.Waiters, inner)
	})
	g, sol := b.solve(t)
	explainAll(t, b, g, sol)
	equal(t, "legs", g.LegName(0)+" "+g.LegName(1), "job/model job/model@sdk")
	equal(t, "one attempt of the job lasts", sol.Legs[0].Attempt, 180*s)
	equal(t, "the job waits", sol.Legs[0].Wait, 900*s)
	equal(t, "attempts at the model", sol.Nodes[b.ids["model"]].Attempts.Configured, 15)
	equal(t, "paths", sol.Legs[1].Amplification.Configured, 15)
}

// A root without an SLO does not make unknown what a call below another root may need.
func TestAllowedBesideARootWithoutSLO(t *testing.T) {
	b := plan()
	b.entry("b", 2*s)
	b.service("b").ServerTimeout = val(2 * s)
	c := b.call("b", "c", func(c *model.Call, _ *model.Waiter) {
		c.Latency = &model.Latency{Points: []model.Point{{P: 990_000, V: val(333 * ms)}}}
	})
	b.call("a", "b", func(c *model.Call, w *model.Waiter) { c.Optional, w.PerTry = val(true), val(5*s) })
	b.call("a", "b", nil)
	_, sol := b.solve(t)
	equal(t, "allowed", sol.Legs[c].Allowed, 1900*ms)
}

// TestOverhang: work that a stopped caller leaves behind is counted from the last attempt that may start, and not where
// the call is enforced, where nothing is told, or where a missing fact decides the start.
func TestOverhang(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(b *builder, first, last *model.Call)
		want model.Duration
	}{
		{"one attempt", func(*builder, *model.Call, *model.Call) {}, 3200 * ms},
		{"connecting first", func(_ *builder, _, last *model.Call) { last.Waiters[0].Connect = val(300 * ms) }, 3500 * ms},
		{"a second attempt until the deadline", func(_ *builder, _, last *model.Call) {
			last.Waiters[0].Attempts, last.Waiters[0].PerTry = val[int32](2), val(4500*ms)
		}, 4 * s},
		{"the caller's own limit first", func(b *builder, _, _ *model.Call) { b.service("order").ServerTimeout = val(600 * ms) }, 3600 * ms},
		{"ends in time", func(b *builder, _, _ *model.Call) { b.service("store").ServerTimeout = val(800 * ms) }, 0},
		{"enforced", func(b *builder, _, last *model.Call) {
			last.Waiters[0].Propagates, b.service("store").Honors = val(model.Deadline), val(model.Deadline)
		}, 0},
		{"nothing told", func(_ *builder, first, _ *model.Call) { first.Waiters[0].Propagates = model.Val[model.Propagation]{} }, 0},
		{"unknown work", func(b *builder, _, _ *model.Call) { b.service("store").ServerTimeout = model.Val[model.Duration]{} }, model.Unknown},
		{"unknown start", func(_ *builder, _, last *model.Call) {
			last.Waiters[0].Attempts = val[int32](2)
			last.Waiters[0].Timeout = model.Val[model.Duration]{}
			last.Waiters[0].Edit().RetryOn = val(model.Failures{Kinds: model.OnConnect})
		}, model.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := plan()
			first := b.call("edge", "order", func(_ *model.Call, w *model.Waiter) { w.Timeout, w.Propagates = val(s), val(model.Deadline) })
			last := b.call("order", "store", func(_ *model.Call, w *model.Waiter) { w.Timeout = val(5 * s) })
			b.service("order").Honors, b.service("order").Before = val(model.Deadline), val(200*ms)
			b.service("store").ServerTimeout = val(4 * s)
			c.set(b, &b.Calls[first], &b.Calls[last])
			g, sol := b.solve(t)
			if got := sol.Legs[g.FirstLeg[last]].Overhang; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestOffered: rates are added over roots, attempts within budgets and limits; a root without a rate adds nothing.
func TestOffered(t *testing.T) {
	b := plan()
	b.entry("web", s).Rate = val(100.0)
	b.entry("batch", s).Rate = val(10.0)
	b.entry("other", s)
	b.call("web", "store", retrying(3, 10*s))
	b.Calls[0].Waiters[0].PerTry = val(s)
	b.call("batch", "store", retrying(5, 10*s))
	b.Calls[1].Waiters[0].PerTry = val(4 * s)
	b.Calls[1].Edit().Repeat = val[int32](2)
	b.call("other", "store", retrying(4, 10*s))
	// 100 × 3, and 10 × 2 × 3: of five attempts of 4 s, three can start within 10 s.
	g, sol := b.solve(t)
	store := &sol.Nodes[g.Legs[0].To]
	if store.Rate != 120 || store.Offered != 360 {
		t.Errorf("%g requests and %g attempts a second, want 120 and 360", store.Rate, store.Offered)
	}
	b.Calls[0].Waiters[0].Edit().RetryBudget = val(model.Fraction(100_000))
	g, sol = b.solve(t)
	if got := sol.Nodes[g.Legs[0].To].Offered; got < 169.999 || got > 170.001 {
		t.Errorf("with a budget %g attempts a second, want 170", got)
	}
}

// An optional call needs its whole timeout: a shorter one is among the changes that let its entrypoint fit.
func TestCapOfAnOptionalCall(t *testing.T) {
	b := plan()
	b.entry("a", 400*ms)
	b.service("a").Margin = val(model.Margin{})
	c := b.call("a", "b", func(c *model.Call, w *model.Waiter) { c.Optional, w.Timeout = val(true), val(s) })
	b.call("a", "d", func(c *model.Call, w *model.Waiter) {
		c.Latency, w.Timeout = &model.Latency{Exact: val(150 * ms)}, val(s)
	})
	g, sol := b.solve(t)
	i := slices.IndexFunc(sol.Roots[0].Fixes, func(f solver.RootFix) bool {
		return f.Kind == solver.FixOptional && f.Leg == g.FirstLeg[c]
	})
	if i < 0 {
		t.Fatal("no cap is offered")
	}
	equal(t, "cap", sol.Roots[0].Fixes[i].Time, 250*ms)
	equal(t, "need", sol.Roots[0].Fixes[i].Need, 400*ms)
}
