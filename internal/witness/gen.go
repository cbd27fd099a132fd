package witness

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// written marks a generated value as written somewhere.
func written[T any](v T) model.Val[T] {
	return model.At(v, diag.Span{File: "plan.yaml", Line: 1, Col: 1})
}

const msec = model.Millisecond

// Times come from few values, so that ties are common; the first of each list is the simplest to shrink to.
var (
	limits    = []model.Duration{1000 * msec, 100 * msec, 200 * msec, 300 * msec, 500 * msec, 2000 * msec, 5000 * msec}
	latencies = []model.Duration{100 * msec, 10 * msec, 20 * msec, 50 * msec, 190 * msec, 200 * msec, 333333333}
	shorts    = []model.Duration{10 * msec, 5 * msec, 20 * msec, 50 * msec, 100 * msec, 3333333}
	slos      = []model.Duration{1000 * msec, 500 * msec, 2000 * msec, 300 * msec, 5000 * msec}
)

type gen struct{ *rapid.T }

// evenly draws 0 to n−1 for n up to 64, from fair coins: rapid's integers prefer small values, and rare combinations
// would hardly ever come. It shrinks to 0.
func (g gen) evenly(n int, what string) int {
	k := 0
	for range 6 {
		k *= 2
		if rapid.Bool().Draw(g.T, what) {
			k++
		}
	}
	return k * n / 64
}

// chance is true in about percent of the cases, and shrinks to false.
func (g gen) chance(percent int, what string) bool {
	return g.evenly(64, what) >= 64-(64*percent+50)/100
}

func pick[T any](g gen, what string, of ...T) T { return of[g.evenly(len(of), what)] }

// time is set in percent of the cases, one in ten of them to `none` where that is allowed.
func (g gen) time(percent int, what string, from []model.Duration, orNone bool) model.Val[model.Duration] {
	if !g.chance(percent, what+" set") {
		return model.Val[model.Duration]{}
	}
	if orNone && g.chance(10, what+" none") {
		return written(model.NoLimit)
	}
	return written(pick(g, what, from...))
}

// Plans generates small plans as merge yields them: acyclic, defaults applied, ids resolved.
func Plans() *rapid.Generator[*model.Plan] {
	return rapid.Custom(func(t *rapid.T) *model.Plan { return gen{t}.plan() })
}

func (g gen) plan() *model.Plan {
	p := &model.Plan{}
	n := pick(g, "services", 2, 3, 4, 5, 3, 4, 6, 8, 12)
	for i := range n {
		p.Services = append(p.Services, g.service(string(rune('a'+i))))
	}
	out := make([][]model.CallID, n)
	connect := func(from, to int) {
		c := g.call(p, from, to)
		out[from] = append(out[from], model.CallID(len(p.Calls)))
		p.Calls = append(p.Calls, c)
	}
	for to := 1; to < n; to++ {
		if !g.chance(10, "uncalled") {
			connect(g.evenly(to, "caller"), to)
		}
	}
	for range g.evenly(n/2+1, "extra calls") {
		to := 1 + g.evenly(n-1, "callee")
		connect(g.evenly(to, "caller"), to)
	}
	for i, calls := range out {
		p.Services[i].Flow = model.Flow{Kind: model.Sequence, Of: g.flows(calls, 2)}
	}
	for i := range pick(g, "entrypoints", 1, 1, 1, 2, 3, 0) {
		p.Entrypoints = append(p.Entrypoints, g.entrypoint(fmt.Sprintf("in%d", i), n))
	}
	return p
}

func (g gen) entrypoint(name string, services int) model.Entrypoint {
	e := model.Entrypoint{
		Name: name, SLO: g.time(85, "slo", slos, false), Timeout: g.time(40, "entry timeout", limits, true),
		Overhead: g.time(30, "overhead", shorts, false),
	}
	if g.chance(40, "elsewhere") {
		e.Call = model.ServiceID(g.evenly(services, "first service"))
	}
	if g.chance(20, "percentile set") {
		e.Percentile = written(pick[model.Fraction](g, "percentile", 500_000, 999_000))
	}
	if g.chance(20, "client retries") {
		e.Attempts = written(int32(2))
	}
	return e
}

func (g gen) service(name string) model.Service {
	v := model.Service{
		Name: name, Declared: true,
		Before:        g.time(30, "before", shorts, false),
		ServerTimeout: g.time(30, "server timeout", limits, true),
		Rare:          &model.ServiceRare{After: g.time(15, "after", shorts, false), QueueTimeout: g.time(10, "queue timeout", shorts, false)},
	}
	v.Edit().DefaultDeadline = g.time(12, "default deadline", limits, false)
	v.Edit().MinRemaining = g.time(12, "service min remaining", limits, false) // no bound has a use for it
	if g.chance(60, "margin set") {
		v.Margin = written(pick(g, "margin", model.Margin{}, model.Margin{Share: 150_000}, model.Margin{Fixed: 50 * msec},
			model.Margin{Share: 100_000, Fixed: 20 * msec}, model.Margin{Share: 333_333}))
	}
	if g.chance(50, "honors set") {
		v.Honors = written(g.propagation())
	}
	return v
}

func (g gen) propagation() model.Propagation {
	return pick(g, "propagation", model.Deadline, model.Cancel, model.Deadline|model.Cancel, 0)
}

// flows groups calls at random: a list of elements, some of them groups of the ones that follow.
func (g gen) flows(calls []model.CallID, depth int) []model.Flow {
	var fs []model.Flow
	for len(calls) > 0 {
		if depth == 0 || !g.chance(45, "group") {
			fs = append(fs, model.Flow{Kind: model.One, Call: calls[0]})
			calls = calls[1:]
			continue
		}
		n := 1 + g.evenly(len(calls), "group size")
		kind := pick(g, "kind", model.Parallel, model.Sequence, model.Fallback, model.OneOf, model.Unordered)
		fs = append(fs, model.Flow{Kind: kind, Of: g.flows(calls[:n], depth-1)})
		calls = calls[n:]
	}
	return fs
}

func (g gen) call(p *model.Plan, from, to int) model.Call {
	c := model.Call{From: model.ServiceID(from), To: model.ServiceID(to)}
	c.ID = p.Services[from].Name + "/" + p.Services[to].Name
	same := 1
	for i := range p.Calls {
		if p.Calls[i].From == c.From && p.Calls[i].To == c.To {
			same++
		}
	}
	if same > 1 {
		c.ID += fmt.Sprintf("#%d", same)
	}
	c.Waiters = []model.Waiter{g.waiter("")}
	for _, name := range []string{"sdk", "mesh"} {
		if g.chance(10, "via") {
			w := g.waiter(name)
			if g.chance(50, "waiter honors") {
				w.Edit().Honors = written(g.propagation())
			}
			c.Waiters = append(c.Waiters, w)
		}
	}
	g.nature(&c)
	c.Latency = g.latency()
	return c
}

func (g gen) nature(c *model.Call) {
	c.Optional, c.Async, c.Edit().Stream = g.flag(10, "optional"), g.flag(7, "async"), g.flag(5, "stream")
	if g.chance(15, "repeat set") {
		c.Edit().Repeat = written(pick[int32](g, "repeat", 2, 3))
	}
	if g.chance(10, "fan-out set") {
		c.Edit().FanOut = written(pick[int32](g, "fan-out", 2, 5))
	}
	c.Edit().Network = g.time(15, "network", shorts, false)
	if g.chance(15, "headroom set") {
		c.Edit().Headroom = written(pick[model.Fraction](g, "headroom", 0, 333_333))
	}
	if g.chance(10, "call percentile set") {
		c.Edit().Percentile = written(pick[model.Fraction](g, "call percentile", 999_000, 500_000))
	}
	if g.chance(12, "fixed set") {
		c.Edit().Fixed = written(pick(g, "fixed", model.Fixed{All: true}, model.Fixed{Keys: []string{"timeout"}},
			model.Fixed{Keys: []string{"per_try_timeout"}}))
	}
}

func (g gen) flag(percent int, what string) model.Val[bool] {
	if !g.chance(percent, what) {
		return model.Val[bool]{}
	}
	return written(true)
}

func (g gen) latency() *model.Latency {
	t := func(what string) model.Val[model.Duration] {
		return written(pick(g, what, latencies...))
	}
	switch pick(g, "latency", "p99", "p99", "none", "exact", "max", "min max", "points", "p50", "histogram", "p99 max") {
	case "p99":
		return &model.Latency{Points: []model.Point{{P: 990_000, V: t("p99")}}}
	case "exact":
		return &model.Latency{Exact: t("exact")}
	case "max":
		return &model.Latency{Max: t("max")}
	case "min max":
		return &model.Latency{Min: written(pick(g, "min", shorts...)), Max: t("max")}
	case "points":
		return &model.Latency{Points: []model.Point{{P: 500_000, V: t("p50")}, {P: 999_000, V: t("p99.9")}}}
	case "p50":
		return &model.Latency{Points: []model.Point{{P: 500_000, V: t("p50")}}}
	case "histogram":
		return &model.Latency{Histogram: []model.Point{{P: 900_000, V: t("p90")}, {P: 995_000, V: t("p99.5")}}}
	case "p99 max":
		return &model.Latency{Points: []model.Point{{P: 990_000, V: t("p99")}}, Max: t("max")}
	}
	return nil
}

// waiter also serves for the inner ones, which have a name.
func (g gen) waiter(name string) model.Waiter {
	w := model.Waiter{
		Name: name, Timeout: g.time(85, "timeout", limits, true), PerTry: g.time(35, "per-try", limits, true),
		Connect: g.time(25, "connect", shorts, false),
		Rare: &model.WaiterRare{
			Read: g.time(10, "read", limits, true), Pool: g.time(10, "pool", shorts, false), ConnectExtra: g.flag(15, "connect extra"),
		},
	}
	if g.chance(50, "propagates set") {
		w.Propagates = written(g.propagation())
	}
	if g.chance(45, "attempts set") {
		w.Attempts = written(pick[int32](g, "attempts", 2, 3, 4))
		g.retries(&w)
	}
	if g.chance(10, "hedge set") {
		w.Edit().Hedge.After = g.time(80, "hedge after", shorts, false)
		if !w.Hedge().After.Set() || g.chance(50, "copies set") {
			w.Edit().Hedge.Attempts = written(pick[int32](g, "copies", 2, 3))
		}
	}
	return w
}

func (g gen) retries(w *model.Waiter) {
	if g.chance(50, "retry on set") {
		kinds := model.FailureKind(g.evenly(32, "retry on"))
		f := model.Failures{Kinds: kinds}
		if g.chance(20, "status") {
			f.Statuses = []string{"503"}
		}
		w.Edit().RetryOn = written(f)
	}
	if g.chance(60, "back-off") {
		w.Backoff = g.backoff()
	}
	w.Edit().RetryWindow = g.time(15, "window", limits, false)
	if g.chance(15, "min remaining set") {
		w.Edit().MinRemaining = written(model.MinRemaining{D: pick(g, "min remaining", 100*msec, 10*msec, 50*msec)})
	}
	if g.chance(20, "retry budget set") {
		w.Edit().RetryBudget = written(pick[model.Fraction](g, "retry budget", 200_000, 100_000))
	}
}

func (g gen) backoff() *model.Backoff {
	b := &model.Backoff{}
	switch pick(g, "back-off kind", "constant", "list", "base", "base max") {
	case "constant":
		b.Waits = written([]model.Duration{pick(g, "wait", shorts...)})
	case "list":
		b.Waits = written([]model.Duration{0, 50 * msec, 100 * msec})
	case "base":
		b.Base = written(pick(g, "base", shorts...))
	case "base max":
		b.Base, b.Max = written(pick(g, "base", shorts...)), written(30*msec)
	}
	if b.Base.Set() && g.chance(40, "multiplier set") {
		b.Multiplier = written(pick[model.Fraction](g, "multiplier", 1_000_000, 1_500_000, 3_000_000))
	}
	if g.chance(50, "jitter set") {
		b.Jitter = written(pick(g, "jitter", model.Jitter{Kind: model.JitterFull}, model.Jitter{Kind: model.JitterEqual},
			model.Jitter{Kind: model.JitterShare, Share: 200_000}, model.Jitter{}))
	}
	return b
}
