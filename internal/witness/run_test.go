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
	cases, compared, retried, orphans := 0, 0, 0, 0
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
		if v := want.Services[f.Service]; v != nil && v.Starts > 1 {
			retried++
		}
		if orphaned(want) > 0 {
			orphans++
		}
		got, ok := play(t, p, root, f, enforced)
		if !ok || got.String() != want.String() {
			t.Fatalf("root %d, %+v, enforced %t:\nevents:\n%s\nrecursion (%t):\n%s\n%s", root, f, enforced, want, ok, got, witness.Describe(p))
		}
	})
	t.Logf("%d of %d cases compared, %d with several attempts, %d with orphaned work", compared, cases, retried, orphans)
	if !t.Failed() && (compared < cases*9/10 || retried < cases/10 || orphans < cases/20) {
		t.Error("too few of them say anything")
	}
}

// No run exceeds the bounds: attempts the configured ones, its answer and its last work the longest of the root. Latencies
// are left out, since the service that a run is about need not keep to its own; one that waits for others has a bound
// from their limits, which hanging by itself breaks.
func TestRunWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.RunPlans().Draw(t, "plan")
		for i := range p.Calls {
			c := &p.Calls[i]
			c.Latency = nil
			// numbers.md 17 ends what is enforced with its caller; in a run what nobody waits for goes on.
			c.Async, c.Edit().Stream = model.Val[bool]{}, model.Val[bool]{}
			for k := range p.Calls[i].Waiters {
				p.Calls[i].Waiters[k].Edit().Hedge = model.Hedge{} // the bounds have one copy last as long as all (numbers.md 2)
			}
		}
		f := witness.Fates(p).Draw(t, "fate")
		g, _ := solver.Compile(p)
		sol := solver.Solve(g, solver.Options{})
		root := rapid.IntRange(0, len(g.Roots)-1).Draw(t, "root")
		r, ok := play(t, p, root, f, false)
		if !ok {
			return
		}
		bounds, leaf := sol.Roots[root], false
		for i := range p.Services {
			leaf = leaf || p.Services[i].Name == f.Service && g.Nodes[i].Leaf
		}
		if leaf && (r.Answer > ns(bounds.Wait) || r.Ends > ns(bounds.WorkEnds)) {
			t.Fatalf("%+v, root %d: answer at most %v, work ends by %v:\n%s\n%s", f, root, bounds.Wait, bounds.WorkEnds, r, witness.Describe(p))
		}
		for i := range p.Services {
			if v := r.Services[p.Services[i].Name]; v != nil && int64(v.Starts) > sol.Nodes[i].Attempts.Configured {
				t.Fatalf("%+v, root %d: `%s` at most %d times:\n%s\n%s", f, root, p.Services[i].Name, sol.Nodes[i].Attempts.Configured, r, witness.Describe(p))
			}
		}
	})
}

func fate(service string, seconds float64) witness.Fate {
	if math.IsInf(seconds, 1) {
		return witness.Fate{Service: service, Takes: witness.Never}
	}
	return witness.Fate{Service: service, Takes: int64(seconds * 1e9)}
}

// both plays a request with events and recursion, which must agree.
func both(t *testing.T, b *builder, f witness.Fate, enforced bool) *witness.Simulated {
	t.Helper()
	want, ok := witness.Simulate(&b.Plan, 0, f, enforced)
	got, also := play(t, &b.Plan, 0, f, enforced)
	if !ok || !also || got.String() != want.String() {
		t.Fatalf("events (%t):\n%s\nrecursion (%t):\n%s", ok, want, also, got)
	}
	return got
}

// seconds compares moments and sums in seconds, -1 for never.
func seconds(t *testing.T, what string, got int64, want float64) {
	t.Helper()
	w := int64(want * 1e9)
	if want < 0 {
		w = witness.Never
	}
	if got != w {
		t.Errorf("%s is %d ns, want %d", what, got, w)
	}
}

func orphaned(r *witness.Simulated) (sum int64) {
	for _, s := range r.Services {
		sum += s.Orphaned
	}
	return sum
}

var hangs = math.Inf(1)

// V3: the first call is not enforced, the second is.
func TestV3Run(t *testing.T) {
	b := build()
	b.entrypoint("in", "gateway", 0)
	b.call("gateway", "service", timeout(2000))
	b.enforce(b.call("service", "db", timeout(5000)))
	r := both(t, b, fate("db", hangs), false)
	seconds(t, "answer", r.Answer, 2)
	seconds(t, "end", r.Ends, 5)
	seconds(t, "orphaned", orphaned(r), 6)
	r = both(t, b, fate("db", hangs), true)
	seconds(t, "end, enforced", r.Ends, 2)
	seconds(t, "orphaned, enforced", orphaned(r), 0)
	// The service alone, taking its 5 s.
	r = both(t, b, fate("service", 5), false)
	seconds(t, "answer", r.Answer, 2)
	seconds(t, "end", r.Ends, 5)
	seconds(t, "orphaned", orphaned(r), 3)
	if r.Answered {
		t.Error("the gateway waits 2 s and is answered after 5 s")
	}
}

// V4a: three layers of 3 × 2 s, the last one enforced.
func TestV4aRun(t *testing.T) {
	b := build()
	b.entrypoint("in", "gateway", 0)
	first := b.call("gateway", "a", tries(3, 2000))
	b.call("a", "b", tries(3, 2000))
	b.enforce(b.call("b", "c", tries(3, 2000)))
	r := both(t, b, fate("c", hangs), false)
	seconds(t, "answer", r.Answer, 6)
	seconds(t, "end", r.Ends, 14)
	seconds(t, "waited", r.Services["c"].Waited, 54)
	if r.Services["c"].Starts != 27 {
		t.Errorf("%d starts, want 27", r.Services["c"].Starts)
	}
	r = both(t, b, fate("c", hangs), true)
	seconds(t, "end, enforced", r.Ends, 6)
	if r.Services["c"].Starts != 3 {
		t.Errorf("%d starts enforced, want 3", r.Services["c"].Starts)
	}
	b.Calls[first].Waiters[0].Timeout = millis(2000)
	if r = both(t, b, fate("c", hangs), true); r.Services["c"].Starts != 1 {
		t.Errorf("%d starts with a timeout of 2 s over all, want 1", r.Services["c"].Starts)
	}
}

// V4b: the checkout incident.
func TestV4bRun(t *testing.T) {
	b := checkout(false)
	r := both(t, b, fate("warehouse", hangs), false)
	seconds(t, "answer", r.Answer, 30)
	seconds(t, "end", r.Ends, 47)
	seconds(t, "orphaned", orphaned(r), 258)
	w := r.Services["warehouse"]
	seconds(t, "orphaned at the warehouse", w.Orphaned, 114)
	seconds(t, "waited for the warehouse", w.Waited, 144)
	if w.Starts != 48 || r.Services["inventory"].Starts != 12 || r.Services["payment"].Starts != 3 {
		t.Errorf("starts: %s", r)
	}
	r = both(t, b, fate("warehouse", hangs), true)
	seconds(t, "answer, enforced", r.Answer, 30)
	seconds(t, "end, enforced", r.Ends, 30)
	seconds(t, "orphaned, enforced", orphaned(r), 0)
	seconds(t, "waited, enforced", r.Services["warehouse"].Waited, 30)
	if r.Services["warehouse"].Starts != 12 {
		t.Errorf("starts, enforced: %s", r)
	}
	r = both(t, b, fate("warehouse", 2.5), false)
	if !r.Answered || r.Services["warehouse"].Starts != 1 {
		t.Errorf("a warehouse of 2.5 s answers at once: %s", r)
	}
	// Nothing stops the warehouse itself.
	r = both(t, checkoutBare(), fate("warehouse", hangs), false)
	seconds(t, "answer, nothing enforced", r.Answer, 30)
	seconds(t, "end, nothing enforced", r.Ends, -1)
}

// checkoutBare is V4b without its one enforced call.
func checkoutBare() *builder {
	b := checkout(false)
	for i := range b.Calls {
		b.Calls[i].Waiters[0].Propagates = model.Val[model.Propagation]{}
	}
	return b
}

// The redesign of V4b: tries within a deadline of 3 s, none with less than 100 ms left. Where a further one may not start
// the caller gives up at once, as numbers.md 3 has it: at 2.85 s with 1.4 s a try, not at 2.95 s.
func TestV4bRedesignRun(t *testing.T) {
	for _, c := range []struct {
		perTry, answer float64
		starts         int
	}{{800, 3, 4}, {1000, 3, 3}, {1400, 2.85, 2}, {3000, 3, 1}} {
		b := build()
		b.entrypoint("in", "inventory", 0)
		w := model.Waiter{Timeout: millis(3000), PerTry: millis(c.perTry), Attempts: set(int32(4)), Rare: &model.WaiterRare{MinRemaining: set(model.MinRemaining{D: 100 * model.Millisecond})}}
		w.Backoff = &model.Backoff{Waits: set([]model.Duration{50 * model.Millisecond, 100 * model.Millisecond, 200 * model.Millisecond})}
		b.call("inventory", "warehouse", w)
		r := both(t, b, fate("warehouse", hangs), true)
		seconds(t, "answer", r.Answer, c.answer)
		if n := r.Services["warehouse"].Starts; n != c.starts {
			t.Errorf("%g ms a try: %d start, want %d", c.perTry, n, c.starts)
		}
	}
}
