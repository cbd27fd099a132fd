package merge

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

func TestSlip(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"order", "ordr", true},     // a letter too few
		{"order", "orderr", true},   // too many
		{"order", "ordar", true},    // wrong
		{"order", "oredr", true},    // exchanged
		{"order", "rodre", false},   // exchanged twice
		{"order", "order", false},   // the same
		{"order", "orders2", false}, // two letters
		{"cache1", "cache2", false}, // numbered
		{"cache", "cache1", false},  // numbered
		{"a", "b", false},           // single letters
		{"svc-a", "svc-b", false},   // the word that differs is a letter
		{"shop.order", "shop.ordre", true},
		{"café-order", "cafe-order", true},
		{"", "a", false},
	} {
		if got := slip(c.a, c.b); got != c.want {
			t.Errorf("slip(%q, %q) is %v", c.a, c.b, got)
		}
		if got := slip(c.b, c.a); got != c.want {
			t.Errorf("slip(%q, %q) is %v", c.b, c.a, got)
		}
	}
}

// TestNeighbours: the index finds what comparing every pair finds.
func TestNeighbours(t *testing.T) {
	listed := []string{"order", "payment", "inventory", "gateway", "stock", "order-v1", "aab"}
	doubtful := []string{"ordr", "oredr", "paymnet", "inventary", "gatewayy", "sotck", "other", "order-v2", "aabb", "xorder", "stok"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		word := make([]byte, 4+r.IntN(2))
		for i := range word {
			word[i] = "ab1-\xff"[r.IntN(5)]
		}
		if r.IntN(2) == 0 {
			listed = append(listed, string(word))
		} else {
			doubtful = append(doubtful, string(word))
		}
	}
	m := &merger{plan: &model.Plan{}}
	add := func(names []string) (ids []model.ServiceID) {
		for _, n := range names {
			ids = append(ids, model.ServiceID(len(m.plan.Services)))
			m.plan.Services = append(m.plan.Services, model.Service{Name: n})
		}
		return ids
	}
	l, d := add(listed), add(doubtful)
	near := m.neighbours(l, d)
	for i, name := range doubtful {
		want := ""
		for _, other := range listed {
			if slip(name, other) {
				want = other
				break
			}
		}
		got := ""
		if id, ok := near[d[i]]; ok {
			got = m.plan.Services[id].Name
		}
		if got != want {
			t.Errorf("near %q is %q, want %q", name, got, want)
		}
	}
}

// layered makes a plan file of n calls in layers, five calls a service.
func layered(n int) *model.Fragment {
	f := &model.Fragment{File: "plan.yaml", As: "plan", Structure: true}
	at := diag.Span{File: "plan.yaml", Line: 1, Col: 1}
	services := n/5 + 10
	for i := range services {
		f.Service(fmt.Sprintf("service-%d", i), at)
		f.Services[i].Declared = true
	}
	f.Entrypoints = []model.Entrypoint{{Name: "shop", At: at}}
	for i := range n {
		from, to := i/5, i/5+1+i%5
		f.Services[from].Flow.Of = append(f.Services[from].Flow.Of, model.Flow{Kind: model.One, Call: model.CallID(i)})
		f.Calls = append(f.Calls, model.Call{
			From: model.ServiceID(from), To: model.ServiceID(to), At: at,
			Waiters: []model.Waiter{{At: at, Timeout: model.At(model.Second, at)}},
		})
	}
	return f
}

// TestConfigWins: of a plan and a config the config's value is used, also where it is a default, and both are shown.
func TestConfigWins(t *testing.T) {
	plan := layered(1)
	plan.Entrypoints = nil
	config := layered(1)
	config.Entrypoints = nil
	config.File, config.As, config.Structure = "a-config.yaml", "envoy", false
	wrote := diag.Span{File: "a-config.yaml", Line: 9, Col: 3}
	config.Calls[0].Waiters[0].Timeout = model.Val[model.Duration]{
		V: 15 * model.Second, From: (&diag.Default{Platform: "envoy", Field: "route.timeout", Value: "15s"}).For(wrote),
	}
	p, findings := Plan([]*model.Fragment{config, plan})
	if len(p.Calls) != 1 || p.Calls[0].Waiters[0].Timeout.V != 15*model.Second {
		t.Fatalf("merged calls: %+v", p.Calls)
	}
	if len(findings) != 1 || findings[0].Code != disagree || findings[0].Place() != wrote {
		t.Fatalf("findings: %+v", findings)
	}
}

// TestManyNamespaces: one name in very many namespaces, on both sides, costs no more than other names do.
func TestManyNamespaces(t *testing.T) {
	const n = 10_000
	config := &model.Fragment{File: "envoy.yaml", As: "envoy"}
	plan := &model.Fragment{File: "plan.yaml", As: "plan", Structure: true}
	caller := config.Service("gateway", diag.Span{})
	for i := range n {
		plan.Service(fmt.Sprintf("web.ns-%d", i), diag.Span{})
		to := config.Service(fmt.Sprintf("outbound|80||web.ns-%d.svc.cluster.local", i), diag.Span{})
		config.Calls = append(config.Calls, model.Call{From: caller, To: to})
		config.Service(fmt.Sprintf("web:%d", i+1), diag.Span{})
		config.Service(fmt.Sprintf("outbound|80||web.other-%d.svc.cluster.local", i), diag.Span{})
	}
	p, findings := Plan([]*model.Fragment{plan, config})
	if len(p.Joined) < n || len(p.Services) > 3*n+1 {
		t.Errorf("%d names joined, %d services", len(p.Joined), len(p.Services))
	}
	if len(findings) != n || findings[0].Code != unmatched || !strings.HasSuffix(findings[0].Message, "or others, and is taken for none of them") {
		t.Errorf("%d findings", len(findings))
	}
}

// BenchmarkPlan merges a plan file of a million calls; one operation includes nothing but the merge.
func BenchmarkPlan(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		b.StopTimer()
		f := layered(n)
		b.StartTimer()
		if p, _ := Plan([]*model.Fragment{f}); len(p.Calls) != n {
			b.Fatalf("%d calls", len(p.Calls))
		}
	}
}
