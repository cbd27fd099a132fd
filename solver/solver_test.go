package solver_test

import (
	"fmt"
	"testing"
	"time"

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

func TestV7(t *testing.T) {
	b := plan()
	b.entry("A", 350*ms)
	names := []string{"A", "B", "C", "D", "db"}
	for i, n := range names[:4] {
		sv := b.service(n)
		sv.Before = val(30 * ms)
		sv.Margin = val(model.Margin{Share: 150000})
		b.call(n, names[i+1], func(c *model.Call, w *model.Waiter) {
			if n == "D" {
				w.Attempts = val(int32(2))
				c.Latency.Points = []model.Point{{P: 990000, V: val(120 * ms)}}
				c.Headroom = val(model.Fraction(0))
			}
		})
	}
	_, sol := b.solve(t)
	fmt.Println(sol.Roots[0].Need, sol.Roots[0].Slack)
	for i, l := range sol.Legs {
		fmt.Println(b.Calls[i].ID, l.Need, l.Budget, l.Slack, l.Allowed, l.Given, l.Recommended)
	}
	for _, f := range sol.Roots[0].Fixes {
		fmt.Printf("%+v\n", f)
	}
}

func TestCheckout(t *testing.T) {
	b := plan()
	b.entry("gateway", 5*s)
	n := func(retries int32, per model.Duration) func(*model.Call, *model.Waiter) {
		return func(c *model.Call, w *model.Waiter) {
			w.Attempts = val(retries + 1)
			w.PerTry = val(per)
		}
	}
	b.call("gateway", "order", n(2, 10*s))
	b.call("order", "inventory", n(3, 5*s))
	b.call("order", "payment", n(2, 8*s))
	b.call("inventory", "warehouse", n(3, 3*s))
	b.service("order").Flow.Of = []model.Flow{{Kind: model.Parallel, Of: b.service("order").Flow.Of}}
	_, sol := b.solve(t)
	for i, l := range sol.Legs {
		fmt.Printf("%s %+v\n", b.Calls[i].ID, l)
	}
	for i, n := range sol.Nodes {
		fmt.Printf("%s %+v\n", b.Services[i].Name, n)
	}
	fmt.Printf("%+v\n", sol.Roots)
}

func TestBig(t *testing.T) {
	b := plan()
	b.entry("s0", 5*s)
	for i := range 10000 {
		b.call(fmt.Sprint("s", i), fmt.Sprint("s", i+1), func(c *model.Call, w *model.Waiter) { w.Timeout = val(s); w.Attempts = val(int32(2)) })
	}
	t0 := time.Now()
	b.solve(t)
	fmt.Println("chain", time.Since(t0))
	b = plan()
	b.entry("s0", 5*s)
	for i := range 40 {
		for _, m := range "ab" {
			b.call(fmt.Sprint("s", i), fmt.Sprint(string(m), i), nil)
			b.call(fmt.Sprint(string(m), i), fmt.Sprint("s", i+1), func(c *model.Call, w *model.Waiter) { c.Latency.Exact = val(ms) })
		}
	}
	t0 = time.Now()
	_, sol := b.solve(t)
	fmt.Println("ladder", time.Since(t0), sol.Nodes[len(sol.Nodes)-1].Attempts)
	b = plan()
	b.entry("s0/0", 5*s)
	calls := 0
	for l := range 7 {
		for i := range 10 {
			for j := range 10 {
				if l < 6 {
					calls++
					b.call(fmt.Sprint("s", l, "/", i), fmt.Sprint("s", l+1, "/", j), func(c *model.Call, w *model.Waiter) {
						if l == 5 {
							c.Latency.Exact = val(ms)
						}
					})
				}
			}
		}
	}
	t0 = time.Now()
	b.solve(t)
	fmt.Println("layers", calls, time.Since(t0))
	b = plan()
	for i := range 10000 {
		b.call(fmt.Sprint("s", i), "x", func(c *model.Call, w *model.Waiter) { w.Timeout = val(s); w.Attempts = val(int32(2)) })
	}
	t0 = time.Now()
	b.solve(t)
	fmt.Println("callers", time.Since(t0))
}

func TestExplainPrint(t *testing.T) {
	b := plan()
	b.entry("g", 5*s)
	b.call("g", "o", func(c *model.Call, w *model.Waiter) {
		w.Attempts = val(int32(3))
		w.PerTry = val(2 * s)
		w.Timeout = val(7 * s)
	})
	b.call("o", "db", func(c *model.Call, w *model.Waiter) {
		c.Latency.Points = []model.Point{{P: 990000, V: val(120 * ms)}}
		w.Timeout = val(s)
	})
	g, sol := b.solve(t)
	for _, l := range solver.Explain(&b.Plan, g, sol, 0) {
		fmt.Printf("%*s%-70s %v %v %v %v\n", l.Depth*2, "", l.Label, l.Time, l.Count, l.Share, l.Op)
	}
}
