package witness

import (
	"math/big"

	"github.com/budgetplan/budgetplan/model"
)

// power gives ⌈w × (m ÷ 10⁶)^k⌉ with one rounding.
func power(w amount, m, k int64) amount {
	num := new(big.Int).Exp(big.NewInt(m), big.NewInt(k), nil)
	den := new(big.Int).Exp(big.NewInt(model.Whole), big.NewInt(k), nil)
	num.Mul(num, big.NewInt(w.n))
	num.Add(num, den).Sub(num, big.NewInt(1))
	return exact(num.Div(num, den))
}

// sums adds the back-off bounds of all retries of the leg.
func (l *leg) backoffSums() (lo, hi amount) {
	for k := int64(1); k < l.n; k++ {
		a, b := backoff(l.w.Backoff.Get(), k)
		lo, hi = lo.plus(a), hi.plus(b)
	}
	return lo, hi
}

func (l *leg) limit() amount {
	m := l.timeout
	if l.perTrySet {
		t := l.perTry
		if l.extra {
			t = t.plus(l.connect)
		}
		m = least(m, t)
	}
	if l.readSet {
		m = least(m, l.read.plus(l.connect))
	}
	return m
}

func (l *leg) patience() amount { return least(l.timeout, l.perTry, l.read) }

func (l *leg) enforced() bool { return l.w.Propagates.Or(0)&l.to.honors != 0 }

// sequence is what the attempts of one round need if all hang.
func (l *leg) sequence() amount {
	_, hi := l.backoffSums()
	return l.patience().times(l.n).plus(hi)
}

// latencyMost is the longest the callee of the last leg of a call takes, unknown where nobody said.
func (l *leg) latencyMost() amount {
	return read(l.call.Latency.Get().Max, read(l.call.Latency.Get().Exact, unknown))
}

// latencyLeast is the shortest, 0 where nobody said; only a last leg has a latency.
func (l *leg) latencyLeast() amount {
	if !l.last {
		return zero
	}
	return read(l.call.Latency.Get().Min, read(l.call.Latency.Get().Exact, zero))
}

// calleeBusy is how long the callee may work on one attempt before enforcement, told of a deadline or assuming its own.
func (s *shape) calleeBusy(l *leg) amount {
	b := s.busyFor(l)
	if l.w.Propagates.Or(0)&model.Deadline == 0 {
		b = least(b, l.to.assumed)
	}
	return b
}

// busyFor is how long the callee may work whatever it is told.
func (s *shape) busyFor(l *leg) amount {
	if l.to.leaf {
		return least(l.to.limit, l.latencyMost())
	}
	return s.busyOf(l.to)
}

func (s *shape) busy(l *leg) amount {
	b := s.calleeBusy(l)
	if l.enforced() {
		return least(b, l.patience())
	}
	return b
}

// flowOf is a node's work and calls before its own limit cuts them.
func (s *shape) flowOf(n *node) amount {
	if !n.leaf {
		return n.queue.plus(n.local()).plus(s.time(n.body))
	}
	if len(n.in) == 0 {
		return unknown
	}
	m := zero
	for _, l := range n.in {
		m = most(m, l.latencyMost())
	}
	return m
}

// busyOf is the row of a node: of a leaf, the largest over its calls.
func (s *shape) busyOf(n *node) amount {
	if b, ok := s.busyCache[n]; ok {
		return b
	}
	b := zero
	switch {
	case !n.leaf:
		b = least(n.limit, s.flowOf(n))
	case len(n.in) == 0:
		b = least(n.limit, unknown)
	default:
		for _, l := range n.in {
			b = most(b, s.busyFor(l))
		}
	}
	s.busyCache[n] = b
	return b
}

// time is the longest the flow can take.
func (s *shape) time(b *body) amount {
	if b.kind == model.One {
		if !b.leg.awaited() {
			return zero
		}
		return s.wait(b.leg)
	}
	sum, longest := zero, zero
	for _, c := range b.of {
		t := s.time(c)
		sum, longest = sum.plus(t), most(longest, t)
	}
	if b.kind == model.Parallel || b.kind == model.OneOf {
		return longest
	}
	return sum
}

// attempt is the longest one attempt can really last.
func (s *shape) attempt(l *leg) amount {
	return least(l.limit(), l.connect.plus(s.busy(l)).plus(l.network))
}

// outlasts reports whether the callee may still work when its patience runs out; a tie counts.
func (s *shape) outlasts(l *leg) bool {
	return !s.busy(l).plus(l.network).less(l.patience())
}

// timesOut reports whether an attempt may run into its limit, time to connect included. Nobody runs into none.
func (s *shape) timesOut(l *leg) bool {
	return l.limit() != none && !l.connect.plus(s.busy(l)).plus(l.network).less(l.limit())
}

// stopsItself reports whether the callee must stop before its patience runs out, so that it never hangs.
func (s *shape) stopsItself(l *leg) bool {
	return s.busy(l).finite() && !s.outlasts(l)
}

// beforeLast is the longest time between the first start and the last.
func (s *shape) beforeLast(l *leg) amount {
	if l.n <= 1 {
		return zero
	}
	var each amount
	switch {
	case l.onLate || l.onTimeout && s.timesOut(l):
		each = s.attempt(l)
	case l.onUnsent && l.connectSet:
		each = least(l.connect, l.limit())
	case l.onUnsent:
		each = l.limit()
	default:
		return zero
	}
	_, hi := l.backoffSums()
	return least(each.times(l.n-1).plus(hi), l.window)
}

func (s *shape) uncut(l *leg) amount { return s.beforeLast(l).plus(s.attempt(l)) }

// round is the longest one round of a call holds its caller.
func (s *shape) round(l *leg) amount { return l.pool.plus(least(l.timeout, s.uncut(l))) }

// wait is 0 for a call that nobody waits for.
func (s *shape) wait(l *leg) amount {
	if !l.awaited() {
		return zero
	}
	return s.round(l).times(l.repeat)
}

// orphan is the work of one attempt after the direct caller gave up.
func (s *shape) orphan(l *leg) amount {
	p, b := l.patience(), s.calleeBusy(l)
	switch {
	case l.enforced() || !p.finite():
		return zero
	case !b.finite():
		return b
	}
	return most(zero, b.minus(p))
}

// starts is the latest start of a leg after the start of its caller.
func (s *shape) starts(l *leg) amount {
	t, _ := s.startIn(l.from.body, l, l.from.before)
	return t
}

func (s *shape) startIn(b *body, l *leg, at amount) (amount, bool) {
	if b.kind == model.One {
		return at, b.leg == l
	}
	for i, c := range b.of {
		start := at
		for j, other := range b.of {
			if j < i && (b.kind == model.Sequence || b.kind == model.Fallback) || j != i && b.kind == model.Unordered {
				start = start.plus(s.time(other))
			}
		}
		if t, ok := s.startIn(c, l, start); ok {
			return t, true
		}
	}
	return zero, false
}
