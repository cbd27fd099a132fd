package witness_test

import (
	"fmt"
	"testing"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// builder makes plans of vectors by name. Margin and headroom are 0 unless said.
type builder struct {
	model.Plan
	ids map[string]model.ServiceID
}

func build() *builder { return &builder{ids: map[string]model.ServiceID{}} }

func set[T any](v T) model.Val[T] { return model.At(v, diag.Span{File: "vector.yaml", Line: 1}) }

func millis(n float64) model.Val[model.Duration] {
	return set(model.Duration(n * float64(model.Millisecond)))
}

// service finds or adds a service.
func (b *builder) service(name string) *model.Service {
	id, ok := b.ids[name]
	if !ok {
		id = model.ServiceID(len(b.Services))
		b.ids[name] = id
		b.Services = append(b.Services, model.Service{Name: name, Margin: set(model.Margin{})})
	}
	return &b.Services[id]
}

// call adds an element to the caller's sequence.
func (b *builder) call(from, to string, w model.Waiter, edits ...func(*model.Call)) model.CallID {
	b.service(from)
	b.service(to)
	c := model.Call{ID: from + "/" + to, From: b.ids[from], To: b.ids[to], Waiters: []model.Waiter{w}, Rare: &model.CallRare{Headroom: set(model.Fraction(0))}}
	for _, edit := range edits {
		edit(&c)
	}
	id := model.CallID(len(b.Calls))
	b.Calls = append(b.Calls, c)
	f := &b.service(from).Flow
	f.Of = append(f.Of, model.Flow{Kind: model.One, Call: id})
	return id
}

// group turns the last n elements of the caller's sequence into one.
func (b *builder) group(from string, kind model.FlowKind, n int) {
	f := &b.service(from).Flow
	cut := len(f.Of) - n
	f.Of = append(f.Of[:cut:cut], model.Flow{Kind: kind, Of: append([]model.Flow(nil), f.Of[cut:]...)})
}

func (b *builder) entrypoint(name, to string, slo float64) *model.Entrypoint {
	b.service(to)
	e := model.Entrypoint{Name: name, Call: b.ids[to]}
	if slo > 0 {
		e.SLO = millis(slo)
	}
	b.Entrypoints = append(b.Entrypoints, e)
	return &b.Entrypoints[len(b.Entrypoints)-1]
}

func p99(n float64) func(*model.Call) {
	return func(c *model.Call) {
		c.Latency = &model.Latency{Points: []model.Point{{P: 990_000, V: millis(n)}}}
	}
}

func timeout(n float64) model.Waiter { return model.Waiter{Timeout: millis(n)} }

// tries is a call of n attempts without a limit of its own over them, so that each has the time given.
func tries(n int32, perTry float64) model.Waiter {
	return model.Waiter{PerTry: millis(perTry), Attempts: set(n)}
}

func (b *builder) local(ms float64, margin model.Fraction, names ...string) {
	for _, n := range names {
		v := b.service(n)
		v.Before, v.Margin = millis(ms), set(model.Margin{Share: margin})
	}
}

// enforce makes a call carry a deadline that its callee honours.
func (b *builder) enforce(ids ...model.CallID) {
	for _, id := range ids {
		b.Calls[id].Waiters[0].Propagates = set(model.Deadline)
		b.Services[b.Calls[id].To].Honors = set(model.Deadline)
	}
}

// expect compares pairs of a name and a value.
func expect(t *testing.T, b *builder, policy string, pairs ...string) {
	t.Helper()
	got := witness.Compute(&b.Plan, policy)
	for i := 0; i < len(pairs); i += 2 {
		if v := got[pairs[i]]; v != pairs[i+1] {
			t.Errorf("%s is %q, want %q", pairs[i], v, pairs[i+1])
		}
	}
}

func TestV1WalkDown(t *testing.T) {
	chain := func(attempts int32) *builder {
		b := build()
		b.entrypoint("in", "a", 400)
		b.local(30, 150_000, "a", "b", "c", "d")
		for _, hop := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "e"}} {
			n := attempts
			if hop[0] == "d" && n == 1 {
				n = 2
			}
			b.call(hop[0], hop[1], model.Waiter{Attempts: set(n)})
		}
		return b
	}
	b := chain(1)
	b.Entrypoints[0].Overhead = millis(50)
	expect(t, b, "eqf", "service a received", "350ms", "call a/b budget", "272ms", "call b/c budget", "205.7ms",
		"call c/d budget", "149.345ms", "call d/e budget", "101.44325ms", "call d/e given", "50.721625ms")
	b = chain(2)
	b.Entrypoints[0].Overhead = millis(50)
	expect(t, b, "eqf", "service b received", "136ms", "service c received", "45.05ms", "service d received", "6.39625ms")
}

func TestV2Product(t *testing.T) {
	b := build()
	b.entrypoint("in", "a", 0)
	for _, hop := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}} {
		b.call(hop[0], hop[1], tries(3, 1000))
	}
	for i, name := range []string{"b", "c", "d"} {
		expect(t, b, "eqf", "service "+name+" attempts configured", []string{"3", "9", "27"}[i])
	}
}

func TestV3LastWork(t *testing.T) {
	b := build()
	b.entrypoint("in", "gateway", 0)
	first := b.call("gateway", "service", timeout(2000))
	b.enforce(b.call("service", "db", timeout(5000)))
	expect(t, b, "eqf", "entrypoint in wait", "2000ms", "entrypoint in work ends", "5000ms", "call gateway/service orphan", "3000ms")
	b.enforce(first)
	expect(t, b, "eqf", "entrypoint in wait", "2000ms", "entrypoint in work ends", "2000ms", "call gateway/service orphan", "0ms")
}

// checkout is V4b: a hang of the warehouse, with payment beside inventory and bounded.
func checkout(all bool) *builder {
	b := build()
	b.entrypoint("in", "gateway", 0)
	retry := func(n int32, t float64) model.Waiter { return tries(n, t) }
	calls := []model.CallID{b.call("gateway", "order", retry(3, 10_000)), b.call("order", "inventory", retry(4, 5000))}
	calls = append(calls, b.call("order", "payment", retry(3, 8000), func(c *model.Call) { c.Latency = &model.Latency{Max: millis(4000)} }))
	b.group("order", model.Parallel, 2)
	calls = append(calls, b.call("inventory", "warehouse", retry(4, 3000)))
	if all {
		b.enforce(calls...)
	} else {
		b.enforce(calls[3])
	}
	return b
}

func TestV4bCheckout(t *testing.T) {
	expect(t, checkout(false), "eqf",
		"service warehouse attempts configured", "48", "service warehouse attempts time limited", "48",
		"service inventory attempts configured", "12", "service payment attempts configured", "9",
		"service warehouse waited", "144000ms", "entrypoint in wait", "30000ms", "entrypoint in work ends", "47000ms")
	// Payment without a bound leaves the last work without one.
	b := checkout(false)
	b.Calls[2].Latency = nil
	expect(t, b, "eqf", "entrypoint in work ends", "unknown")
	expect(t, checkout(true), "eqf", "service warehouse attempts configured", "48",
		"service warehouse attempts time limited", "12", "entrypoint in wait", "30000ms", "entrypoint in work ends", "30000ms")
}

// Three layers of three attempts of 2 s, all enforced: one attempt of each uses all of the time that its caller is told.
func TestV4aEnforcedChain(t *testing.T) {
	b := build()
	b.entrypoint("in", "a", 0)
	for _, hop := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}} {
		b.enforce(b.call(hop[0], hop[1], tries(3, 2000)))
	}
	expect(t, b, "eqf", "service d attempts time limited", "3", "entrypoint in wait", "6000ms", "entrypoint in work ends", "6000ms")
}

// The redesign of V4b: a deadline of 3 s over four tries of one call.
func TestV4bRedesign(t *testing.T) {
	for perTry, started := range map[float64]string{800: "4", 1000: "3", 1400: "2", 3000: "1"} {
		b := build()
		b.entrypoint("in", "inventory", 0)
		w := model.Waiter{Timeout: millis(3000), PerTry: millis(perTry), Attempts: set(int32(4)), Rare: &model.WaiterRare{MinRemaining: set(model.MinRemaining{D: 100 * model.Millisecond})}}
		w.Backoff = &model.Backoff{Waits: set([]model.Duration{50 * model.Millisecond, 100 * model.Millisecond, 200 * model.Millisecond})}
		b.call("inventory", "warehouse", w)
		expect(t, b, "eqf", "call inventory/warehouse attempts started", started)
		if perTry == 1400 {
			expect(t, b, "eqf", "call inventory/warehouse if hangs wait", "2850ms")
		}
	}
}

func TestV5RetryBudgets(t *testing.T) {
	for ratio, want := range map[model.Fraction]string{100_000: "1.331", 200_000: "1.728"} {
		b := build()
		for _, hop := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}} {
			w := tries(4, 1000)
			w.Edit().RetryBudget = set(ratio)
			b.call(hop[0], hop[1], w)
		}
		expect(t, b, "eqf", "service d attempts with retry budgets", want)
	}
	b := build()
	b.call("gateway", "a", tries(2, 1000))
	b.call("gateway", "b", tries(2, 1000))
	b.call("a", "db", tries(2, 1000))
	b.call("b", "db", tries(3, 1000))
	expect(t, b, "eqf", "service db attempts configured", "10")
}

// v7 is the chain of V7 with attempts of the last call.
func v7(attempts int32, share map[string]model.Fraction) *builder {
	b := build()
	b.entrypoint("in", "a", 350)
	b.local(30, 150_000, "a", "b", "c", "d")
	for name, m := range share {
		b.local(30, m, name)
	}
	for _, hop := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}} {
		b.call(hop[0], hop[1], timeout(1000))
	}
	b.call("d", "db", model.Waiter{Attempts: set(attempts)}, p99(120))
	return b
}

func TestV7NeedAndAllowed(t *testing.T) {
	expect(t, v7(2, nil), "eqf", "entrypoint in need", "615.431212ms", "service b need", "497.61653ms", "service c need", "397.47405ms",
		"service d need", "312.352942ms", "service db need", "120ms", "entrypoint in slack", "-265.431212ms", "call d/db allowed", "101.44325ms",
		"entrypoint in feasible", "false")
	expect(t, v7(1, nil), "eqf", "entrypoint in need", "385.548906ms", "call d/db allowed", "101.44325ms", "entrypoint in feasible", "false")
}

// The margins that make V7 fit once the retry is dropped, rounded down; the next of the digits shown does not fit.
func TestV7Pairs(t *testing.T) {
	for _, c := range []struct {
		share model.Fraction
		names []string
	}{{55_570, []string{"a"}}, {43_860, []string{"b"}}, {25_740, []string{"c"}}, {122_540, []string{"a", "b", "c", "d"}}} {
		for extra, feasible := range map[model.Fraction]string{0: "true", 10: "false"} {
			share := map[string]model.Fraction{}
			for _, n := range c.names {
				share[n] = c.share + extra
			}
			t.Run(fmt.Sprint(c.names, extra), func(t *testing.T) {
				expect(t, v7(1, share), "eqf", "entrypoint in feasible", feasible)
			})
		}
	}
}

func TestV8Tree(t *testing.T) {
	tree := func(parallel int) *builder {
		b := build()
		b.local(30, 0, "gateway")
		b.call("gateway", "auth", timeout(50), p99(50))
		b.call("gateway", "product", timeout(400), p99(400))
		b.call("gateway", "recommendations", timeout(200), p99(200))
		b.group("gateway", model.Parallel, parallel)
		b.entrypoint("in", "gateway", 850)
		return b
	}
	expect(t, tree(3), "eqf", "entrypoint in need", "430ms", "entrypoint in slack", "420ms", "call gateway/product budget", "820ms")
	expect(t, tree(2), "eqf", "entrypoint in need", "480ms", "entrypoint in slack", "370ms")
	b := tree(3)
	b.Entrypoints[0].SLO, b.Entrypoints[0].Overhead = millis(1000), millis(150)
	expect(t, b, "eqf", "entrypoint in need", "580ms", "entrypoint in slack", "420ms")
}

func TestV8EnvoyAttempts(t *testing.T) {
	route := func(connect float64, backoff bool) *builder {
		b := build()
		w := model.Waiter{Timeout: millis(10_000), PerTry: millis(4000), Attempts: set(int32(2))}
		if connect > 0 {
			w.Connect, w.Edit().ConnectExtra = millis(connect), set(true)
		}
		if backoff {
			w.Backoff = &model.Backoff{Base: millis(25)}
		}
		b.call("gateway", "order", w)
		return b
	}
	expect(t, route(0, false), "eqf", "call gateway/order wait", "8000ms")
	expect(t, route(0, true), "eqf", "call gateway/order wait", "8025ms", "call gateway/order sequence", "8025ms")
	expect(t, route(300, true), "eqf", "call gateway/order uncut", "8625ms", "call gateway/order sequence", "8025ms", "call gateway/order wait", "8625ms")
	expect(t, route(5000, true), "eqf", "call gateway/order uncut", "18025ms", "call gateway/order wait", "10000ms")
}

// One second four times inside three, with the waits that Envoy documents.
func TestEnvoyFourTries(t *testing.T) {
	b := build()
	w := model.Waiter{Timeout: millis(3000), PerTry: millis(1000), Attempts: set(int32(4))}
	w.Backoff = &model.Backoff{Waits: set([]model.Duration{25 * model.Millisecond, 75 * model.Millisecond, 175 * model.Millisecond, 250 * model.Millisecond})}
	w.Backoff.Jitter = set(model.Jitter{Kind: model.JitterFull})
	b.call("mesh", "app", w)
	expect(t, b, "eqf", "call mesh/app sequence", "4275ms", "call mesh/app attempts started", "3", "call mesh/app attempts full", "2",
		"call mesh/app attempts possible", "3", "call mesh/app if hangs last attempt", "900ms", "call mesh/app wait", "3000ms")
	w.Backoff.Waits, w.Backoff.Base = model.Val[[]model.Duration]{}, millis(25)
	b.Calls[0].Waiters[0] = w
	expect(t, b, "eqf", "call mesh/app sequence", "4175ms")
}

// slowConnect times out only together with its connecting: 2 ms of it and 4 ms of work do not fit a per-try clock of 5 ms.
func slowConnect() *builder {
	b := build()
	w := tries(2, 5)
	w.Connect, w.Edit().RetryOn = millis(2), set(model.Failures{Kinds: model.OnConnect | model.OnTimeout})
	b.call("a", "b", w, func(c *model.Call) { c.Latency = &model.Latency{Max: millis(4)} })
	return b
}

func TestConnectCountsInPerTry(t *testing.T) {
	expect(t, slowConnect(), "eqf", "call a/b uncut", "10ms", "call a/b wait", "10ms")
}

func TestV8bSplits(t *testing.T) {
	for _, c := range []struct {
		policy string
		budget float64
		a      string
		b      string
		c      string
	}{
		{"equal", 240, "80ms", "80ms", "80ms"},
		{"eqf", 240, "66.666666ms", "133.333333ms", "40ms"},
		{"eqs", 240, "70ms", "120ms", "50ms"},
		{"eqf", 150, "41.666666ms", "83.333333ms", "25ms"},
		{"eqs", 150, "41.666666ms", "83.333333ms", "25ms"},
	} {
		b := build()
		b.entrypoint("in", "s", c.budget)
		b.call("s", "x", timeout(50), p99(50))
		b.call("s", "y", timeout(100), p99(100))
		b.call("s", "z", timeout(30), p99(30))
		expect(t, b, c.policy, "call s/x budget", c.a, "call s/y budget", c.b, "call s/z budget", c.c)
	}
}

func TestV13bShared(t *testing.T) {
	b := build()
	b.local(10, 100_000, "checkout", "status", "svc")
	b.entrypoint("/checkout", "checkout", 600)
	b.entrypoint("/status", "status", 120)
	b.call("checkout", "svc", timeout(1000))
	b.call("status", "svc", timeout(1000))
	b.call("svc", "db", timeout(1000), p99(150))
	expect(t, b, "eqf", "call checkout/svc given", "531ms", "call status/svc given", "99ms", "service svc need", "176.666667ms",
		"entrypoint /status need", "206.296297ms", "entrypoint /status feasible", "false", "entrypoint /checkout feasible", "true",
		"service svc received", "99ms", "service svc slack", "-77.666667ms")
}
