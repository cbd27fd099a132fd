package solver

import (
	"fmt"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"

	"pgregory.net/rapid"
)

// retryPlan is a chain of services with the attempts of each call; extra calls are added by the caller.
func retryPlan(attempts ...int32) *model.Plan {
	p := &model.Plan{}
	for i := range len(attempts) + 1 {
		p.Services = append(p.Services, model.Service{Name: fmt.Sprintf("s%d", i), Flow: model.Flow{Kind: model.Sequence}})
	}
	for i, n := range attempts {
		addRetryCall(p, i, i+1, n)
	}
	return p
}

func addRetryCall(p *model.Plan, from, to int, attempts int32) {
	id := model.CallID(len(p.Calls))
	p.Calls = append(p.Calls, model.Call{
		ID: fmt.Sprintf("s%d/s%d", from, to), From: model.ServiceID(from), To: model.ServiceID(to),
		Waiters: []model.Waiter{{Attempts: model.At(attempts, diag.Span{Line: 1})}},
	})
	body := &p.Services[from].Flow
	body.Of = append(body.Of, model.Flow{Kind: model.One, Call: id})
}

func TestAmplifierDropsLayers(t *testing.T) {
	// 3 × 4 × 4 = 48, and with one layer fewer 16, 12, 12.
	g, _ := Compile(retryPlan(3, 4, 4))
	a := NewAmplifier(g, 3, 0)
	if n := a.Count(); n != 48 {
		t.Fatalf("%d attempts, want 48", n)
	}
	layers := a.Layers()
	if len(layers) != 3 {
		t.Fatalf("layers %v, want 3", layers)
	}
	for i, want := range []int64{16, 12, 12} {
		a.Set(layers[i], 1)
		if n := a.Count(); n != want {
			t.Errorf("without layer %d: %d attempts, want %d", i, n, want)
		}
		a.Set(layers[i], 0)
	}
	a.Set(layers[0], 2)
	a.Set(layers[1], 1)
	if n := a.Count(); n != 8 {
		t.Errorf("2 × 1 × 4: %d attempts", n)
	}
}

func TestAmplifierCountsTheClient(t *testing.T) {
	p := retryPlan(4)
	p.Entrypoints = []model.Entrypoint{{Name: "e", Call: 0, Attempts: model.At(int32(3), diag.Span{Line: 1})}}
	g, _ := Compile(p)
	a := NewAmplifier(g, 1, 0)
	if got := fmt.Sprint(a.Count(), a.Layers()); got != "12 [-1 0]" {
		t.Errorf("got %s", got)
	}
	a.Set(ByRoot, 1)
	if n := a.Count(); n != 4 {
		t.Errorf("without the client's retries: %d attempts, want 4", n)
	}
}

// TestAmplifierAgrees compares the count, and one with a layer dropped, with what Solve says of the whole graph.
func TestAmplifierAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "services")
		p := retryPlan()
		for i := 1; i < n; i++ {
			p.Services = append(p.Services, model.Service{Name: fmt.Sprintf("s%d", i)})
		}
		for i := range n {
			p.Services[i].Flow.Kind = rapid.SampledFrom([]model.FlowKind{model.Sequence, model.OneOf, model.Parallel}).Draw(t, "kind")
		}
		for range rapid.IntRange(1, 14).Draw(t, "calls") {
			from := rapid.IntRange(0, n-2).Draw(t, "from")
			addRetryCall(p, from, rapid.IntRange(from+1, n-1).Draw(t, "to"), rapid.Int32Range(1, 4).Draw(t, "attempts"))
		}
		g, _ := Compile(p)
		sol := Solve(g, Options{})
		at := NodeID(n - 1)
		root := sol.Nodes[at].AttemptsRoot
		a := NewAmplifier(g, at, root)
		if got, want := a.Count(), sol.Nodes[at].Attempts.Configured; got != want {
			t.Fatalf("%d attempts, the solution says %d", got, want)
		}
		for _, l := range a.Layers() {
			a.Set(l, 1)
			got := a.Count()
			a.Set(l, 0)
			if n := a.Without(l); n != got {
				t.Fatalf("without %s: %d attempts at once, %d by a count", g.LegName(l), n, got)
			}
			call := g.Legs[l].Call
			w := &p.Calls[call].Waiters[0].Attempts
			old := *w
			*w = model.At(int32(1), diag.Span{Line: 1})
			h, _ := Compile(p)
			*w = old
			b := NewAmplifier(h, at, root)
			if want := b.Count(); got != want {
				t.Fatalf("without %s: %d attempts, a plan without it has %d", p.Calls[call].ID, got, want)
			}
		}
	})
}
