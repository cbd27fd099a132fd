package witness_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// recurrence solves a plan that nothing cancels by T = A·U + B: a call lasts as long as its attempts and the pauses
// between them. It counts without bounds, and cuts only what it compares to where the solver's numbers end.
type recurrence struct {
	p   *model.Plan
	ran map[model.ServiceID]*big.Int
}

// legTime is what one waiter of a call sees.
type legTime struct {
	callee, attempt, uncut, wait *big.Int
	sends                        int64
}

func nanos(v model.Val[model.Duration]) *big.Int { return big.NewInt(int64(v.Or(0))) }

func plus(xs ...*big.Int) *big.Int {
	sum := new(big.Int)
	for _, x := range xs {
		sum.Add(sum, x)
	}
	return sum
}

func times(n int64, x *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), x) }

func larger(x, y *big.Int) *big.Int {
	if x.Cmp(y) < 0 {
		return y
	}
	return x
}

// leaf reports whether a service waits for nobody.
func (r *recurrence) leaf(id model.ServiceID) bool {
	leaf := true
	r.p.Services[id].Flow.Walk(func(c model.CallID) { leaf = leaf && r.p.Calls[c].Async.Or(false) })
	return leaf
}

// service is the time of one run of a service that waits for somebody.
func (r *recurrence) service(id model.ServiceID) *big.Int {
	if t := r.ran[id]; t != nil {
		return t
	}
	v := &r.p.Services[id]
	r.ran[id] = plus(nanos(v.QueueTimeout()), nanos(v.Before), r.flow(v.Flow), nanos(v.After()))
	return r.ran[id]
}

func (r *recurrence) flow(f model.Flow) *big.Int {
	if f.Kind == model.One {
		return r.call(f.Call)[0].wait
	}
	sum, most := new(big.Int), new(big.Int)
	for _, g := range f.Of {
		t := r.flow(g)
		sum, most = plus(sum, t), larger(most, t)
	}
	if f.Kind == model.Parallel || f.Kind == model.OneOf {
		return most
	}
	return sum
}

// call gives the waiters of a call, outermost first.
func (r *recurrence) call(id model.CallID) []legTime {
	c := &r.p.Calls[id]
	inner := big.NewInt(int64(c.Latency.Max.V))
	if !r.leaf(c.To) {
		inner = r.service(c.To)
	}
	legs := make([]legTime, len(c.Waiters))
	for k := len(legs) - 1; k >= 0; k-- {
		w, repeat := &c.Waiters[k], int64(1)
		t := legTime{callee: inner, attempt: plus(nanos(w.Connect), inner), sends: int64(w.Attempts.Or(1))}
		if k == 0 {
			t.attempt, repeat = plus(t.attempt, nanos(c.Network())), int64(c.Repeat().Or(1))
		}
		t.uncut = plus(t.attempt, again(w, t.attempt))
		t.wait = times(repeat, plus(nanos(w.Pool()), t.uncut))
		if !w.Retried().All().Reaches() {
			t.sends = 1
		}
		if k == 0 {
			t.sends *= repeat * int64(c.FanOut().Or(1))
			if c.Async.Or(false) {
				t.wait = new(big.Int)
			}
		}
		legs[k], inner = t, t.wait
	}
	return legs
}

// again is what the attempts before the last one take: all of an attempt where an answer is retried, its connecting
// where no more is; a callee that nobody stops waiting for never times out.
func again(w *model.Waiter, attempt *big.Int) *big.Int {
	retries, on := int64(w.Attempts.Or(1))-1, w.Retried()
	switch {
	case on.Late():
		return plus(times(retries, attempt), pauses(w, retries))
	case on.Unsent():
		return plus(times(retries, nanos(w.Connect)), pauses(w, retries))
	}
	return new(big.Int)
}

// pauses adds up the longest waits before each retry.
func pauses(w *model.Waiter, retries int64) *big.Int {
	b, sum := w.Backoff.Get(), new(big.Int)
	next := int64(b.Base.Or(0))
	for k := range int(retries) {
		pause := next
		if list := b.Waits.V; len(list) > 0 {
			pause = int64(list[min(k, len(list)-1)])
		}
		pause = min(pause, int64(b.Max.Or(model.NoLimit)))
		if b.Jitter.V.Kind == model.JitterShare {
			pause = upMillionths(pause, 1_000_000+int64(b.Jitter.V.Share))
		}
		sum = plus(sum, big.NewInt(pause))
		next = upMillionths(next, int64(b.Multiplier.Or(2_000_000)))
	}
	return sum
}

func upMillionths(n, millionths int64) int64 { return (n*millionths + 999_999) / 1_000_000 }

// requests counts what one run of a service with such a body sends to each callee. Of alternatives the largest counts.
func (r *recurrence) requests(f model.Flow) map[model.ServiceID]*big.Int {
	out := map[model.ServiceID]*big.Int{}
	if f.Kind == model.One {
		n := big.NewInt(1)
		for _, l := range r.call(f.Call) {
			n = times(l.sends, n)
		}
		out[r.p.Calls[f.Call].To] = n
		return out
	}
	for _, g := range f.Of {
		for to, n := range r.requests(g) {
			was := out[to]
			switch {
			case was == nil:
				out[to] = n
			case f.Kind == model.OneOf:
				out[to] = larger(was, n)
			default:
				out[to] = plus(was, n)
			}
		}
	}
	return out
}

// attempts counts what reaches each service for a request at one root; callers stand before their callees.
func (r *recurrence) attempts(root model.ServiceID, clients int64) []*big.Int {
	at := make([]*big.Int, len(r.p.Services))
	for i := range at {
		at[i] = new(big.Int)
	}
	at[root].SetInt64(clients)
	for i := range at {
		for to, n := range r.requests(r.p.Services[i].Flow) {
			at[to] = plus(at[to], new(big.Int).Mul(at[i], n))
		}
	}
	return at
}

// most takes the largest over all roots: entrypoints, and services that nobody calls.
func (r *recurrence) most() []*big.Int {
	called := make([]bool, len(r.p.Services))
	for i := range r.p.Calls {
		called[r.p.Calls[i].To] = true
	}
	most := r.attempts(0, 0)
	take := func(root model.ServiceID, clients int64) {
		for i, n := range r.attempts(root, clients) {
			most[i] = larger(most[i], n)
		}
	}
	for i := range r.p.Entrypoints {
		take(r.p.Entrypoints[i].Call, int64(r.p.Entrypoints[i].Attempts.Or(1)))
	}
	for i, c := range called {
		if !c {
			take(model.ServiceID(i), 1)
		}
	}
	return most
}

// asTime and asCount cut a number to where the solver's end.
func asTime(x *big.Int) int64 {
	if x.Cmp(big.NewInt(int64(model.Unknown))) >= 0 {
		return int64(model.NoLimit)
	}
	return x.Int64()
}

func asCount(x *big.Int) int64 {
	if x.Cmp(big.NewInt(solver.MaxCount)) > 0 {
		return solver.MaxCount
	}
	return x.Int64()
}

// Without any limit the solver's times are those of the recurrence, to the nanosecond, and its attempts the product.
func TestRecurrence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Custom(func(t *rapid.T) *model.Plan { return &endlessPlan(dice{t}).Plan }).Draw(t, "plan")
		r := &recurrence{p, map[model.ServiceID]*big.Int{}}
		g, findings := solver.Compile(p)
		if len(findings) > 0 {
			t.Fatalf("a finding: %s\n%s", findings[0].Message, witness.Describe(p))
		}
		s := solver.Solve(g, solver.Options{})
		same := func(what string, got, want int64) {
			if got != want {
				t.Errorf("%s: solver %d, recurrence %d", what, got, want)
			}
		}
		r.checkCalls(same, g, s)
		r.checkServices(same, s)
		if t.Failed() {
			t.Fatal(witness.Describe(p))
		}
	})
}

func (r *recurrence) checkCalls(same func(string, int64, int64), g *solver.Graph, s *solver.Solution) {
	most := r.most()
	for i := range r.p.Calls {
		c := &r.p.Calls[i]
		n := most[c.From]
		for k, want := range r.call(model.CallID(i)) {
			got, name := &s.Legs[int(g.FirstLeg[i])+k], fmt.Sprintf("call %s@%d ", c.ID, k)
			n = times(want.sends, n)
			same(name+"attempts", got.Amplification.Configured, asCount(n))
			same(name+"wait", int64(got.Wait), asTime(want.wait))
			if k == 0 && c.Async.Or(false) {
				continue // nobody waits, and nothing says what an attempt is then
			}
			same(name+"callee", int64(got.CalleeBusy), asTime(want.callee))
			same(name+"attempt", int64(got.Attempt), asTime(want.attempt))
			same(name+"uncut", int64(got.Uncut), asTime(want.uncut))
		}
	}
}

func (r *recurrence) checkServices(same func(string, int64, int64), s *solver.Solution) {
	entered := map[model.ServiceID]bool{}
	for i := range r.p.Entrypoints {
		e := &r.p.Entrypoints[i]
		entered[e.Call] = true
		if !r.leaf(e.Call) {
			wait := plus(nanos(e.Overhead), times(int64(e.Attempts.Or(1)), r.service(e.Call)))
			same("entrypoint "+e.Name+" wait", int64(s.Roots[i].Wait), asTime(wait))
		}
	}
	for i, n := range r.most() {
		id, name := model.ServiceID(i), "service "+r.p.Services[i].Name+" "
		same(name+"attempts", s.Nodes[i].Attempts.Configured, asCount(n))
		switch {
		case !r.leaf(id):
			same(name+"busy", int64(s.Nodes[i].Busy), asTime(r.service(id)))
		case !entered[id]:
			same(name+"busy", int64(s.Nodes[i].Busy), r.longest(id))
		}
	}
}

// longest is the longest that any call says of a leaf.
func (r *recurrence) longest(leaf model.ServiceID) int64 {
	most := int64(0)
	for i := range r.p.Calls {
		if c := &r.p.Calls[i]; c.To == leaf {
			most = max(most, int64(c.Latency.Max.V))
		}
	}
	return most
}

// dice draws evenly, from fair coins, and shrinks to 0.
type dice struct{ *rapid.T }

func (d dice) roll(n int) int {
	k := 0
	for range 6 {
		k *= 2
		if rapid.Bool().Draw(d.T, "coin") {
			k++
		}
	}
	return k * n / 64
}

// one is true in one of n cases.
func (d dice) one(n int) bool { return d.roll(n) == n-1 }

// some sets a time in one of n cases.
func (d dice) some(n int, of ...model.Duration) model.Val[model.Duration] {
	if !d.one(n) {
		return model.Val[model.Duration]{}
	}
	return set(of[d.roll(len(of))])
}

var moments = []model.Duration{model.Millisecond, 7, 333_333_333, 20 * model.Millisecond, 1, 2 * model.Second, 0}

// endlessPlan has no limit anywhere. Its services stand before all that they call.
func endlessPlan(d dice) *builder {
	b, shape := build(), d.roll(5)
	n := 2 + d.roll([]int{9, 9, 30, 30, 12}[shape])
	for i := range n {
		v := b.service(fmt.Sprint("s", i))
		v.Before = d.some(2, moments...)
		v.Edit().After, v.Edit().QueueTimeout = d.some(3, moments...), d.some(5, moments...)
	}
	for to := 1; to < n; to++ {
		caller := []int{d.roll(to), d.roll(to), to - 1, 0, max(0, to-2-to%2)}[shape] // tree, DAG, chain, fan-out, layers of two
		b.endlessCall(d, caller, to, shape)
		if shape == 4 && caller > 0 {
			b.endlessCall(d, caller-1, to, shape)
		}
	}
	if shape == 1 {
		for range d.roll(n) {
			to := 1 + d.roll(n-1)
			b.endlessCall(d, d.roll(to), to, shape)
		}
	}
	for i := range b.Services {
		b.Services[i].Flow.Of = d.regroup(b.Services[i].Flow.Of, 3)
	}
	for i := range 1 + d.roll(3) {
		e := b.entrypoint(fmt.Sprint("in", i), fmt.Sprint("s", d.roll(n)*min(i, 1)), 0)
		e.Overhead, e.Timeout = d.some(3, moments...), set(model.NoLimit)
		e.Attempts = set(int32(1 + d.roll(3)))
	}
	return b
}

// endlessCall has inner waiters only where no other call has the same ends: the rules do not say whether two
// alternatives through waiters of their own are one callee.
func (b *builder) endlessCall(d dice, from, to, shape int) {
	id := b.call(fmt.Sprint("s", from), fmt.Sprint("s", to), d.endlessWaiter(0))
	c := &b.Calls[id]
	c.ID += fmt.Sprint("#", id)
	c.Latency = &model.Latency{Max: set(moments[d.roll(len(moments))])}
	c.Edit().Network = d.some(4, moments...)
	if d.one(4) {
		c.Edit().Repeat = set(int32(1 + d.roll(4)))
	}
	if d.one(6) {
		c.Edit().FanOut = set(int32(2))
	}
	if d.one(8) {
		c.Optional = set(true)
	}
	if id > 0 && d.one(10) {
		c.Async = set(true)
	}
	for k := 1; k < 3 && shape != 1 && d.one(6); k++ {
		c.Waiters = append(c.Waiters, d.endlessWaiter(k))
	}
}

func (d dice) endlessWaiter(k int) model.Waiter {
	none := set(model.NoLimit)
	w := model.Waiter{Timeout: none, Connect: d.some(2, moments...)}
	w.Edit().Pool = d.some(4, moments...)
	if k > 0 {
		w.Name = fmt.Sprint("waiter", k)
	}
	if d.one(3) {
		w.PerTry = none
	}
	if d.one(2) {
		return w
	}
	w.Attempts, w.Backoff = set(int32(2+d.roll(4))), d.pauses()
	kinds := []model.FailureKind{
		model.OnError, model.OnReset | model.OnConnect, model.OnTimeout, model.OnTimeout | model.OnError, model.OnConnect, model.OnRefused | model.OnTimeout,
	}
	on := kinds[d.roll(len(kinds))]
	// Connecting that nothing bounds may last for ever: retried alone, such an attempt has no time.
	if d.one(2) && (on.Late() || !on.Unsent() || w.Connect.Set()) {
		w.Edit().RetryOn = set(model.Failures{Kinds: on})
	}
	return w
}

func (d dice) pauses() *model.Backoff {
	b := &model.Backoff{}
	switch d.roll(4) {
	case 0:
		return nil
	case 1:
		b.Waits = set([]model.Duration{moments[d.roll(7)], moments[d.roll(7)]})
	default:
		b.Base, b.Max = set(moments[d.roll(7)]), d.some(2, 30*model.Millisecond, 3*model.Second)
		if d.one(2) {
			b.Multiplier = set([]model.Fraction{1_000_000, 1_500_000, 3_000_000}[d.roll(3)])
		}
	}
	b.Jitter = set([]model.Jitter{{}, {Kind: model.JitterFull}, {Kind: model.JitterEqual}, {Kind: model.JitterShare, Share: 200_000}}[d.roll(4)])
	return b
}

// regroup puts neighbours of a sequence into groups at random.
func (d dice) regroup(fs []model.Flow, depth int) []model.Flow {
	var out []model.Flow
	for len(fs) > 0 {
		if depth == 0 || d.one(2) {
			out, fs = append(out, fs[0]), fs[1:]
			continue
		}
		n := 1 + d.roll(len(fs))
		kind := []model.FlowKind{model.Parallel, model.Sequence, model.Fallback, model.OneOf, model.Unordered}[d.roll(5)]
		out, fs = append(out, model.Flow{Kind: kind, Of: d.regroup(fs[:n], depth-1)}), fs[n:]
	}
	return out
}
