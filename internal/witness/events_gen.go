package witness

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
)

// Times of runs are few and add up to each other, so that what happens at one moment is common. The first of a list is
// the simplest to shrink to.
var (
	spans  = []model.Duration{100 * msec, 10 * msec, 20 * msec, 30 * msec, 40 * msec, 50 * msec, 60 * msec, 90 * msec, 150 * msec, 200 * msec, 300 * msec, 33333333}
	bursts = []model.Duration{10 * msec, 0, 5 * msec, 20 * msec, 30 * msec, 50 * msec, 3333333, 1}
)

// EventPlans generates plans for runs: deeper and denser in what only a run sees than those of Plans, and full of
// moments at which several things happen.
func EventPlans() *rapid.Generator[*model.Plan] {
	return rapid.Custom(func(t *rapid.T) *model.Plan {
		g := gen{t}
		return runGen{g, g.chance(40, "dense")}.plan()
	})
}

// runGen makes dense plans, of many groups and of calls that may fail, or such whose waiters do all that they can.
type runGen struct {
	gen
	dense bool
}

// either gives the first of two where plans are dense.
func (g runGen) either(dense, otherwise int) int {
	if g.dense {
		return dense
	}
	return otherwise
}

func (g runGen) plan() *model.Plan {
	p := &model.Plan{}
	n := pick(g.gen, "services", 2, 3, 4, 5, 3, 4, 6, 7)
	for i := range n {
		p.Services = append(p.Services, g.service(string(rune('a'+i))))
	}
	out := make([][]model.CallID, n)
	connect := func(from, to int) {
		out[from] = append(out[from], model.CallID(len(p.Calls)))
		p.Calls = append(p.Calls, g.call(p, from, to))
	}
	for to := 1; to < n; to++ {
		from := to - 1
		if g.chance(40, "elsewhere") {
			from = g.evenly(to, "caller")
		}
		if !g.chance(4, "uncalled") {
			connect(from, to)
		}
	}
	for range g.evenly(g.either(2*n, n), "extra calls") {
		to := 1 + g.evenly(n-1, "callee")
		connect(g.evenly(to, "caller"), to)
	}
	for i, calls := range out {
		p.Services[i].Flow = model.Flow{Kind: model.Sequence, Of: g.flows(calls, 3)}
	}
	for i := range pick(g.gen, "entrypoints", 1, 1, 1, 2, 0) {
		e := model.Entrypoint{
			Name: fmt.Sprintf("in%d", i), Timeout: g.time(50, "entry timeout", spans, true),
			Overhead: g.time(30, "overhead", bursts, false),
		}
		if g.chance(15, "other first service") {
			e.Call = model.ServiceID(g.evenly(n, "first service"))
		}
		if g.chance(25, "client retries") {
			e.Attempts = written(pick[int32](g.gen, "client attempts", 2, 3))
		}
		p.Entrypoints = append(p.Entrypoints, e)
	}
	return p
}

func (g runGen) service(name string) model.Service {
	v := model.Service{
		Name: name, Declared: true,
		Before: g.time(40, "before", bursts, false), ServerTimeout: g.time(30, "server timeout", spans, true),
	}
	rare := v.Edit()
	rare.After = g.time(25, "after", bursts, false)
	// What a run has no use for.
	rare.QueueTimeout = g.time(5, "queue timeout", shorts, false)
	rare.DefaultDeadline = g.time(12, "default deadline", spans, false)
	rare.MinRemaining = g.time(15, "service min remaining", bursts, false)
	if g.chance(60, "honors set") {
		v.Honors = written(g.propagation())
	}
	return v
}

func (g runGen) call(p *model.Plan, from, to int) model.Call {
	c := model.Call{From: model.ServiceID(from), To: model.ServiceID(to)}
	c.ID = fmt.Sprintf("%s/%s#%d", p.Services[from].Name, p.Services[to].Name, len(p.Calls))
	c.Waiters = []model.Waiter{g.waiter("")}
	for _, name := range []string{"sdk", "mesh"} {
		if g.chance(g.either(4, 12), "via") {
			w := g.waiter(name)
			if g.chance(60, "waiter honors") {
				w.Edit().Honors = written(g.propagation())
			}
			c.Waiters = append(c.Waiters, w)
		}
	}
	c.Optional, c.Async = g.flag(g.either(50, 15), "optional"), g.flag(g.either(15, 9), "async")
	c.Edit().Stream = g.flag(5, "stream")
	if g.chance(g.either(35, 15), "repeat set") {
		c.Edit().Repeat = written(pick[int32](g.gen, "repeat", 2, 3))
	}
	if g.chance(10, "fan-out set") {
		c.Edit().FanOut = written(pick[int32](g.gen, "fan-out", 2, 3))
	}
	c.Edit().Network = g.time(10, "network", shorts, false)
	if g.chance(50, "latency set") {
		c.Latency = g.latency()
	}
	return c
}

func (g runGen) waiter(name string) model.Waiter {
	w := model.Waiter{
		Name: name, Timeout: g.time(60, "timeout", spans, true), PerTry: g.time(50, "per-try", spans, true),
		Connect: g.time(8, "connect", shorts, false), // a run has no use for it
	}
	rare := w.Edit()
	rare.Read = g.time(8, "read", spans, true)
	rare.Pool, rare.ConnectExtra = g.time(5, "pool", shorts, false), g.flag(5, "connect extra") // nor for these
	if g.chance(65, "propagates set") {
		w.Propagates = written(g.propagation())
	}
	if g.chance(g.either(30, 55), "attempts set") {
		w.Attempts = written(pick[int32](g.gen, "attempts", 2, 3, 4))
		if g.chance(4, "unlimited") {
			w.Attempts = written(model.Unlimited)
		}
		g.retries(&w)
	}
	if g.chance(g.either(4, 15), "hedge set") {
		rare.Hedge.After = g.time(85, "hedge after", bursts, false)
		if !rare.Hedge.After.Set() || g.chance(50, "copies set") {
			rare.Hedge.Attempts = written(pick[int32](g.gen, "copies", 2, 3))
		}
	}
	if g.chance(20, "min remaining set") {
		rare.MinRemaining = written(model.MinRemaining{D: pick(g.gen, "min remaining", 10*msec, 30*msec, 50*msec, 100*msec)})
		if g.chance(30, "a percentile") {
			rare.MinRemaining = written(model.MinRemaining{Percentile: pick[model.Fraction](g.gen, "which", 950_000, 990_000, 500_000)})
		}
	}
	return w
}

func (g runGen) retries(w *model.Waiter) {
	if g.chance(40, "retry on set") {
		f := model.Failures{Kinds: model.FailureKind(g.evenly(32, "retry on"))}
		if g.chance(20, "status") {
			f.Statuses = []string{"503"}
		}
		w.Edit().RetryOn = written(f)
	}
	if g.chance(60, "back-off") {
		w.Backoff = g.backoff()
	}
	w.Edit().RetryWindow = g.time(15, "window", spans, false)
}

// Troubles draws a service of the plan, a far one rather than a near one, and what becomes of it.
func Troubles(p *model.Plan) *rapid.Generator[Trouble] {
	return rapid.Custom(func(t *rapid.T) Trouble {
		g := gen{t}
		n := len(p.Services)
		back := g.evenly(n, "service from the end")
		if back > 2 && g.chance(50, "further") {
			back = 1
		}
		x := Trouble{Service: model.ServiceID(n - 1 - back), Takes: model.NoLimit, Enforced: g.chance(33, "enforced")}
		switch pick(g, "trouble", "hangs", "slow", "slow", "late", "late", "fast") {
		case "slow":
			x.Takes = pick(g, "takes", append(spans, bursts...)...)
		case "late":
			x.Takes, x.Fails = pick(g, "takes", append(spans, bursts...)...), true
		case "fast":
			x.Takes, x.Fails = 0, true
		}
		return x
	})
}
