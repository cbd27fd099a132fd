package solver_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

func failing(q float64, attempts int32) func(*model.Call, *model.Waiter) {
	return func(c *model.Call, w *model.Waiter) {
		w.Attempts = val(attempts)
		if q >= 0 {
			c.Edit().FailureRate = val(q)
		}
	}
}

// TestExpected has the figures of solver.md V6: layers of 4, 4 and 3 attempts, a part of them, or all in one.
func TestExpected(t *testing.T) {
	for _, c := range []struct {
		q      float64
		layers []int32
		want   string
	}{
		{.83, []int32{4}, "3.0907"},
		{.83, []int32{4, 4, 3}, "5.8816"},
		{.95, []int32{16}, "11.1975"},
		{.95, []int32{4, 4}, "11.1975"},
		{.985, []int32{4, 4, 3}, "34.3930"},
		{.985, []int32{48}, "34.3930"},
		{.99, []int32{4, 4, 3}, "38.2710"},
		{1, []int32{4, 4, 3}, "48.0000"},
		{0, []int32{4, 4, 3}, "1.0000"},
	} {
		b := plan()
		for i, n := range c.layers {
			q := -1.0
			if i == len(c.layers)-1 {
				q = c.q
			}
			b.call(fmt.Sprint("s", i), fmt.Sprint("s", i+1), failing(q, n))
		}
		g, _ := b.solve(t)
		got := solver.Expected(g, 0)[len(c.layers)]
		equal(t, fmt.Sprint(c.q, c.layers), fmt.Sprintf("%.4f", got.V), c.want)
		equal(t, "known", got.Known, solver.Complete)
	}
}

// What nobody gave a rate for counts as never failing, and says so; alternatives are not guessed.
func TestExpectedOfUnknown(t *testing.T) {
	b := plan()
	b.call("a", "b", failing(.5, 2))
	b.call("a", "c", failing(-1, 3))
	b.call("a", "d", failing(-1, 1))
	b.call("c", "e", failing(.5, 2))
	b.call("a", "f", func(c *model.Call, w *model.Waiter) { c.Edit().Probability = val(.25) })
	b.call("g", "h", failing(.5, 1))
	b.call("g", "i", failing(.5, 1))
	b.service("g").Flow.Kind = model.OneOf
	b.call("j", "k", failing(1, model.Unlimited))
	g, _ := b.solve(t)
	for _, c := range []struct {
		service string
		root    int
		want    solver.Chance
	}{
		{"a", 0, solver.Chance{V: 1, Known: solver.Complete}},
		{"b", 0, solver.Chance{V: 1.5, Known: solver.Complete}},
		{"c", 0, solver.Chance{V: 1 + .25 + .0625, Known: solver.Complete}},
		{"d", 0, solver.Chance{V: 1, Known: solver.Complete}},
		{"e", 0, solver.Chance{V: 1.5 * (1 + .25 + .0625), Known: solver.Complete}},
		{"f", 0, solver.Chance{V: .25, Known: solver.Complete}},
		{"g", 0, solver.Chance{}},
		{"h", 1, solver.Chance{}},
		{"k", 2, solver.Chance{V: float64(solver.MaxCount), Known: solver.Complete}},
	} {
		equal(t, c.service, solver.Expected(g, c.root)[b.ids[c.service]], c.want)
	}
	b = plan()
	b.call("a", "b", failing(-1, 3))
	g, _ = b.solve(t)
	equal(t, "no rate", solver.Expected(g, 0)[1], solver.Chance{V: 1, Known: solver.Partial})
}

// outcome is one way in which a request goes: how likely, whether well, and the attempts that it makes of each service.
type outcome struct {
	p    float64
	ok   bool
	made map[model.ServiceID]int
}

// play lists every way in which one service answers; nothing is averaged.
func play(p *model.Plan, s model.ServiceID) []outcome {
	all := []outcome{{1, true, map[model.ServiceID]int{s: 1}}}
	body := p.Services[s].Flow
	for i, f := range body.Of {
		var next []outcome
		for _, before := range all {
			if body.Kind == model.Fallback && i > 0 && before.ok {
				next = append(next, before) // the first that goes well ends it
				continue
			}
			for _, o := range attempts(p, f.Call, int(p.Calls[f.Call].Waiters[0].Attempts.Or(1))) {
				o.p *= before.p
				o.ok = o.ok && (before.ok || body.Kind == model.Fallback)
				o.made = sum(before.made, o.made)
				next = append(next, o)
			}
		}
		all = next
	}
	return all
}

func attempts(p *model.Plan, id model.CallID, left int) (out []outcome) {
	c := &p.Calls[id]
	var firsts []outcome
	for _, o := range play(p, c.To) {
		if rate := c.FailureRate(); rate.Set() {
			bad, good := o, o
			bad.p, bad.ok = o.p*rate.V, false
			good.p, good.ok = o.p*(1-rate.V), true
			firsts = append(firsts, bad, good)
		} else {
			firsts = append(firsts, o)
		}
	}
	for _, o := range firsts {
		if o.ok || left == 1 {
			out = append(out, o)
			continue
		}
		for _, again := range attempts(p, id, left-1) {
			again.p *= o.p
			again.made = sum(o.made, again.made)
			out = append(out, again)
		}
	}
	return out
}

func sum(a, b map[model.ServiceID]int) map[model.ServiceID]int {
	all := map[model.ServiceID]int{}
	for _, m := range []map[model.ServiceID]int{a, b} {
		for s, n := range m {
			all[s] += n
		}
	}
	return all
}

// TestExpectedIsTheMean compares the means with those of every single way in which a request may go.
func TestExpectedIsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := plan()
		left := 5 // calls; few, as the ways multiply
		var grow func(from string, depth int)
		grow = func(from string, depth int) {
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				if left == 0 || depth == 3 {
					return
				}
				left--
				to := fmt.Sprint("s", left)
				leaf := depth == 2 || rapid.Bool().Draw(t, "leaf")
				q := -1.0
				if leaf || rapid.IntRange(0, 3).Draw(t, "measured") == 0 {
					q = rapid.SampledFrom([]float64{0, .125, .5, .75, 1}).Draw(t, "rate")
				}
				b.call(from, to, failing(q, rapid.Int32Range(1, 2).Draw(t, "attempts")))
				if !leaf {
					grow(to, depth+1)
				}
			}
			b.service(from).Flow.Kind = rapid.SampledFrom([]model.FlowKind{model.Parallel, model.Fallback}).Draw(t, "kind")
		}
		b.entry("root", model.Second)
		grow("root", 0)
		want := make([]float64, len(b.Services))
		for _, o := range play(&b.Plan, b.ids["root"]) {
			for s, n := range o.made {
				want[s] += o.p * float64(n)
			}
		}
		g, _ := solver.Compile(&b.Plan)
		for s, got := range solver.Expected(g, 0)[:len(b.Services)] {
			if math.Abs(got.V-want[s]) > 1e-9 {
				t.Fatalf("%s: %g, not %g, in %+v", b.Services[s].Name, got.V, want[s], b.Calls)
			}
		}
	})
}
