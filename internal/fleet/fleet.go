// Package fleet makes large plans of the shape that is published of large fleets, for benchmarks: wide rather than
// deep, a heavy tail of fan-outs, a few services that nearly everybody calls, some forty percent of leaves.
//
// Sources: Seemakhupt et al., A Cloud-Scale Characterization of Remote Procedure Calls, SOSP 2023 (call trees are
// wider than deep); Luo et al., Characterizing Microservice Dependency and Performance, SoCC 2021 (heavy-tailed
// sizes, a few services that most requests share); Winchester et al., Complexity at Scale, arXiv 2504.13141 (39 % of
// 67,760 services are leaves, long tails of callers and callees). Limits and latencies are made up.
package fleet

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// Entrypoints is how many entrypoints a fleet has.
const Entrypoints = 8

// Fleet is the shape of a plan: services by tier, the first Entrypoints of them at the edge.
type Fleet struct {
	Services []Service
	Calls    []Call
}

// Service is a node with its calls, in the order made. Times are in ms, 0 where unset.
type Service struct {
	Calls         []int32
	Local, Server int32
}

// Call is an edge; times are in ms, 0 where unset.
type Call struct {
	From, To                   int32
	Timeout, PerTry, P50, P99  int32
	Retries                    int32
	Optional, Async, Deadlines bool
}

// widths is the share of services of each tier below the edge, in percent.
var widths = [...]int{4, 16, 26, 24, 16, 9, 5}

// hubs is the share of services of the lowest tier that everybody may call, in percent; everybody's share of calls
// to them, too.
const (
	hubs    = 2
	hubward = 20
)

// New makes a fleet of that many calls, at least 100; the same seed makes the same fleet. Calls lead from one tier to
// a lower one, and every service has a caller.
func New(calls int, seed uint64) *Fleet {
	calls = max(calls, 100)
	b := builder{rand: rand.New(rand.NewPCG(seed, 0)), f: &Fleet{}}
	b.services(calls * 2 / 5)
	f := b.f
	f.Calls = make([]Call, 0, calls)
	for t := 1; t < len(b.tier)-1; t++ {
		for to := b.tier[t]; to < b.tier[t+1]; to++ {
			b.call(b.caller(t-1), to)
		}
	}
	for len(f.Calls) < calls {
		t := b.rand.IntN(len(widths))
		to := b.between(b.tier[t+1], b.last())
		if b.percent(hubward) {
			to = b.last() - 1 - b.tail(max(1, b.last()*hubs/100))
		}
		b.call(b.caller(t), to)
	}
	f.number()
	return f
}

// number puts the calls in the order of their callers, as a file has them.
func (f *Fleet) number() {
	slices.SortStableFunc(f.Calls, func(a, b Call) int { return cmp.Compare(a.From, b.From) })
	for i := range f.Calls {
		s := &f.Services[f.Calls[i].From]
		s.Calls = append(s.Calls, int32(i))
	}
}

type builder struct {
	rand *rand.Rand
	f    *Fleet
	tier []int32 // first service of each tier, and their number
}

func (b *builder) last() int32 { return b.tier[len(b.tier)-1] }

func (b *builder) services(n int) {
	b.tier = []int32{0, Entrypoints}
	for _, w := range widths {
		b.tier = append(b.tier, b.last()+int32(max(1, n*w/100)))
	}
	b.f.Services = make([]Service, b.last())
	for i := range b.f.Services {
		b.f.Services[i].Local = b.between(0, 4)
		if b.percent(10) {
			b.f.Services[i].Server = 1000 * b.between(1, 30)
		}
	}
}

// caller draws a service of a tier: few of them make most of its calls, and the rest, but for the edge, none.
func (b *builder) caller(tier int) int32 {
	from, n := b.tier[tier], b.tier[tier+1]-b.tier[tier]
	if tier > 0 {
		n = max(1, n*7/10)
	}
	return from + b.tail(n)
}

// tail draws below n with weights that fall as the root of the rank.
func (b *builder) tail(n int32) int32 {
	u := b.rand.Float64()
	return min(n-1, int32(math.Floor(float64(n)*u*u)))
}

// between draws from [lo, hi).
func (b *builder) between(lo, hi int32) int32 { return lo + b.rand.Int32N(hi-lo) }

func (b *builder) percent(p int) bool { return b.rand.IntN(100) < p }

func (b *builder) call(from, to int32) {
	c := Call{From: from, To: to, Optional: b.percent(5), Async: b.percent(3), Deadlines: b.percent(30)}
	switch {
	case c.Optional:
		c.Timeout = 10 * b.between(5, 20)
	case b.percent(80):
		c.Timeout = 50 * b.between(2, 200)
	}
	if b.percent(8) {
		c.Retries = b.between(1, 3)
		if c.Timeout > 0 {
			c.PerTry = c.Timeout / (c.Retries + 1)
		}
	}
	if b.percent(60) {
		c.P50 = b.between(1, 40)
		c.P99 = c.P50 * b.between(2, 12)
	}
	b.f.Calls = append(b.f.Calls, c)
}

// Groups says how a service makes its calls: a few one after the other, more than that side by side.
func (s *Service) Groups() model.FlowKind {
	if len(s.Calls) > 3 {
		return model.Parallel
	}
	return model.Sequence
}
