package witness_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
)

// outcome is one way for something to end: after t ms, well or badly.
type outcome struct {
	t  int
	ok bool
}

type outcomes map[outcome]bool

// possible reports whether any outcome is good.
func (o outcomes) possible() bool {
	for x := range o {
		if x.ok {
			return true
		}
	}
	return false
}

func (o outcomes) longest() int {
	m := 0
	for x := range o {
		m = max(m, x.t)
	}
	return m
}

// adversary enumerates everything that callees and networks can do to a plan of whole milliseconds: each leaf answers
// after any time up to its maximum, well or badly, each connection takes any time up to its limit or fails, each
// back-off any time within its bounds.
type adversary struct {
	p *model.Plan
	// short is set where something goes on only after an outcome that comes earlier than the latest one: a second round
	// or the next of a sequence after success, a fallback after failure, a service's own work after its calls. The bounds
	// sum the latest of each.
	short *bool
}

// goOn notes whether what follows outcomes of a kind may follow the latest of all.
func (a adversary) goOn(o outcomes, ok bool) {
	latest := -1
	for x := range o {
		if x.ok == ok {
			latest = max(latest, x.t)
		}
	}
	*a.short = *a.short || latest < o.longest()
}

func whole(v model.Val[model.Duration], unset int) int {
	if !v.Set() || !v.V.Finite() {
		return unset
	}
	return int(v.V / model.Millisecond)
}

const endless = 1 << 20

// service gives every outcome of one invocation; leaf is the longest that a leaf takes for this call.
func (a adversary) service(id model.ServiceID, leaf int) outcomes {
	v, out := &a.p.Services[id], outcomes{}
	limit := whole(v.ServerTimeout, endless)
	if v.Flow.Empty() {
		for t := 0; t <= min(leaf, limit); t++ {
			out[outcome{t, true}], out[outcome{t, false}] = true, true
		}
		return out
	}
	before, after, queue := whole(v.Before, 0), whole(v.After(), 0), whole(v.QueueTimeout(), 0)
	calls := a.flow(v.Flow)
	if after > 0 {
		a.goOn(calls, true)
	}
	for x := range calls {
		t := queue + before + x.t
		if x.ok {
			t += after
		}
		if t > limit {
			t, x.ok = limit, false
		}
		out[outcome{t, x.ok}] = true
	}
	for t := range out.longest() + 1 {
		out[outcome{t, false}] = true // a handler may fail at any time
	}
	return out
}

func (a adversary) flow(f model.Flow) outcomes {
	if f.Kind == model.One {
		return a.call(&a.p.Calls[f.Call])
	}
	sofar := outcomes{outcome{0, f.Kind != model.Fallback}: true}
	if f.Kind == model.OneOf {
		sofar = outcomes{}
	}
	for i, e := range f.Of {
		next, here := outcomes{}, a.flow(e)
		if i < len(f.Of)-1 && (f.Kind == model.Sequence || f.Kind == model.Fallback) {
			a.goOn(here, f.Kind == model.Sequence)
		}
		for x := range sofar {
			if f.Kind == model.OneOf || f.Kind == model.Sequence && !x.ok || f.Kind == model.Fallback && x.ok {
				next[x] = true
				continue
			}
			for y := range here {
				switch f.Kind {
				case model.Parallel:
					next[outcome{max(x.t, y.t), x.ok && y.ok}] = true
				default:
					next[outcome{x.t + y.t, y.ok}] = true
				}
			}
		}
		if f.Kind == model.OneOf {
			for y := range here {
				next[y] = true
			}
		}
		sofar = next
	}
	return sofar
}

// call gives the outcomes of all rounds of a call with one waiter.
func (a adversary) call(c *model.Call) outcomes {
	callee := a.service(c.To, whole(c.Latency.Get().Max, 0))
	round := outcomes{}
	a.attempts(c, callee, 1, 0, round, map[[2]int]bool{})
	sofar := outcomes{outcome{0, true}: true}
	if c.Repeat().Or(1) > 1 {
		a.goOn(round, true)
	}
	for range c.Repeat().Or(1) {
		next := outcomes{}
		for x := range sofar {
			if !x.ok {
				next[x] = true
				continue
			}
			for y := range round {
				next[outcome{x.t + y.t, y.ok}] = true
			}
		}
		sofar = next
	}
	if c.Optional.Or(false) {
		always := outcomes{}
		for x := range sofar {
			always[outcome{x.t, true}] = true
		}
		return always
	}
	return sofar
}

// attempts adds the outcomes of a round whose attempt k starts at s.
func (a adversary) attempts(c *model.Call, callee outcomes, k, s int, out outcomes, seen map[[2]int]bool) {
	if seen[[2]int{k, s}] {
		return
	}
	seen[[2]int{k, s}] = true
	w := &c.Waiters[0]
	timeout := whole(w.Timeout, endless)
	fails := func(t int, again bool) {
		lo, hi := w.Backoff.Wait(int64(k))
		if t >= timeout || !again || k >= int(w.Attempts.Or(1)) {
			out[outcome{min(t, timeout), false}] = true
			return
		}
		for b := int(lo / model.Millisecond); b <= int(hi/model.Millisecond); b++ {
			if window := whole(w.RetryWindow(), endless); t+b > window {
				out[outcome{t, false}] = true
				continue
			}
			if t+b >= timeout {
				out[outcome{timeout, false}] = true
			}
			if t+b > timeout {
				continue
			}
			// A retry cannot start at the limit itself, but as shortly before it as one likes: the bound is a supremum.
			a.attempts(c, callee, k+1, t+b, out, seen)
		}
	}
	on := w.RetryOn().Or(model.AnyFailure)
	network := whole(c.Network(), 0)
	perTry, connect := whole(w.PerTry, endless), whole(w.Connect, 0)
	for wait := 0; wait <= connect; wait++ {
		patience := min(perTry, whole(w.Read(), endless))
		limit := min(perTry, wait+whole(w.Read(), endless))
		if w.ConnectExtra().Or(false) {
			limit = wait + patience
		}
		limit = min(limit, timeout-s)
		if wait <= limit {
			fails(s+wait, on.Unsent())
		}
		for x := range callee {
			for travel := 0; travel <= network; travel++ {
				d := wait + x.t + travel
				if d >= limit {
					fails(s+limit, on.Timeout())
				}
				switch {
				case d > limit:
				case x.ok:
					out[outcome{s + d, true}] = true
				default:
					fails(s+d, on.Late())
				}
			}
		}
	}
}

// tiny generates trees of a few calls with times of a few milliseconds, every one of them bounded.
func tiny(t *rapid.T) *builder {
	b := build()
	ms := func(from, to int, what string) model.Val[model.Duration] {
		return millis(float64(rapid.IntRange(from, to).Draw(t, what)))
	}
	maybe := func(percent int, v model.Val[model.Duration], what string) model.Val[model.Duration] {
		if rapid.IntRange(0, 99).Draw(t, what+" set") < 100-percent {
			return model.Val[model.Duration]{}
		}
		return v
	}
	n := rapid.IntRange(1, 4).Draw(t, "calls")
	for i := range n {
		from := rapid.IntRange(0, i).Draw(t, "caller")
		w := model.Waiter{
			Timeout: maybe(80, ms(1, 12, "timeout"), "timeout"), PerTry: maybe(50, ms(1, 6, "per-try"), "per-try"),
			Connect: maybe(30, ms(1, 2, "connect"), "connect"),
			Rare:    &model.WaiterRare{RetryWindow: maybe(20, ms(1, 6, "window"), "window")},
		}
		if w.Connect.Set() && rapid.Bool().Draw(t, "extra") {
			w.Edit().ConnectExtra = set(true)
		}
		if k := rapid.IntRange(1, 3).Draw(t, "attempts"); k > 1 {
			w.Attempts = set(int32(k))
			w.Backoff = &model.Backoff{Base: maybe(50, ms(1, 2, "back-off"), "back-off")}
			w.Backoff.Jitter = set(model.Jitter{Kind: model.JitterFull})
			if rapid.Bool().Draw(t, "retry on set") {
				w.Edit().RetryOn = set(model.Failures{Kinds: model.FailureKind(rapid.IntRange(1, 31).Draw(t, "retry on"))})
			}
		}
		if !w.Connect.Set() {
			// Without a connect timeout the documents let an attempt connect at once, so none can fail to.
			k := w.RetryOn().Or(model.AnyFailure).Kinds &^ (model.OnConnect | model.OnRefused)
			w.Edit().RetryOn = set(model.Failures{Kinds: k})
		}
		b.call(fmt.Sprintf("s%d", from), fmt.Sprintf("s%d", i+1), w, func(c *model.Call) {
			c.Latency = &model.Latency{Max: ms(0, 5, "max")}
			c.Edit().Network = maybe(15, ms(1, 2, "network"), "network")
			if rapid.IntRange(0, 9).Draw(t, "repeat") == 9 {
				c.Edit().Repeat = set(int32(2))
			}
		})
	}
	for i := range n {
		v := b.service(fmt.Sprintf("s%d", i))
		v.Before = maybe(30, ms(1, 2, "before"), "before")
		v.Edit().After = maybe(20, ms(1, 2, "after"), "after")
		v.ServerTimeout = maybe(25, ms(1, 15, "server timeout"), "server timeout")
		kinds := []model.FlowKind{model.Sequence, model.Parallel, model.Fallback, model.OneOf}
		v.Flow.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
	}
	return b
}

// Everything that can happen stays within the bounds, and something reaches them where every call can succeed, at its
// latest where something follows.
func TestAdversary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := tiny(t)
		short := false
		a := adversary{&b.Plan, &short}
		got := witness.Compute(&b.Plan, "eqf")
		reached, exact := map[string]int{}, true
		for i := range b.Calls {
			o, w := a.call(&b.Calls[i]), &b.Calls[i].Waiters[0]
			// Attempts that only time out last exactly their limit: they cannot be timed to fill a window.
			reachable := o.possible() && (!w.RetryWindow().Set() || w.RetryOn().Or(model.AnyFailure).Late())
			reached["call "+b.Calls[i].ID+" wait"], exact = o.longest(), exact && reachable
		}
		for i := range b.Services {
			if v := &b.Services[i]; !v.Flow.Empty() {
				o := a.service(model.ServiceID(i), 0)
				reached["service "+v.Name+" busy"], exact = o.longest(), exact && o.possible()
			}
		}
		for name, worst := range reached {
			bound, err := strconv.Atoi(strings.TrimSuffix(got[name], "ms"))
			if err != nil || worst > bound || exact && !short && worst < bound {
				t.Fatalf("%s: the bound is %s, the worst that can happen %dms\n%s", name, got[name], worst, witness.Describe(&b.Plan))
			}
		}
	})
}
