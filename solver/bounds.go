package solver

import "github.com/budgetplan/budgetplan/model"

// bounds computes, callees before callers, how long each caller waits and how long each callee works
// (DESIGN.md §3.2–3.5, numbers.md 1–3 and 13).
func (s *solve) bounds() {
	busy := make([]model.Duration, len(s.g.Nodes)) // packed: every caller looks it up
	s.g.up(func(n NodeID) {
		s.g.Out(n, func(l LegID) { s.bound(l, busy[s.g.Legs[l].To]) })
		s.nodeBound(n)
		busy[n] = s.sol.Nodes[n].Busy
	})
}

// bound fills what concerns one leg, its callee being bounded already by busy.
func (s *solve) bound(id LegID, busy model.Duration) {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	t.Limit, t.Patience = l.limits()
	t.Enforced = l.enforced
	t.CalleeBusy = l.calleeBusy(busy)
	t.Attempt = min(t.Limit, l.Connect.Add(t.CalleeBusy).Add(l.Network))

	hangs := s.timesOut(l, t)
	t.Rounds, t.Retried = l.Attempts, t.Attempt
	switch {
	case l.RetryOn.Late() || l.RetryOn.Timeout() && hangs:
	case l.RetryOn.Unsent():
		t.Retried = t.Limit
		if l.ConnectSet {
			t.Retried = min(l.Connect, t.Limit)
		}
	default:
		t.Rounds = 1
	}
	t.BackoffSum = l.backoffSum
	t.Sequence = t.Patience.Mul(l.Attempts).Add(t.BackoffSum)
	t.Uncut = t.beforeLast(l).Add(t.Attempt)
	if l.Awaited() {
		t.Wait = l.Pool.Add(min(l.Timeout, t.Uncut)).Mul(l.Repeat)
	}
	t.Busy, t.Orphan = t.CalleeBusy, 0
	switch {
	case t.Enforced:
		t.Busy = min(t.CalleeBusy, t.Patience)
	case t.Patience.Finite():
		t.Orphan = max(0, t.CalleeBusy.Sub(t.Patience))
	}
}

// beforeLast is the longest time before the last attempt of a round starts.
func (t *LegTimes) beforeLast(l *Leg) model.Duration {
	sum := t.BackoffSum
	if t.Rounds != l.Attempts {
		sum = 0
	}
	return min(t.Retried.Mul(t.Rounds-1).Add(sum), l.Window)
}

// limits gives the attempt limit and the patience of a waiter. Where no limit is a number, the timeout decides
// the word: NoLimit when it is `none`, Unknown when nobody said.
func (l *Leg) limits() (limit, patience model.Duration) {
	limit, patience = model.NoLimit, model.NoLimit
	if l.Timeout.Finite() {
		limit, patience = l.Timeout, l.Timeout
	}
	if l.PerTry.Finite() {
		patience = min(patience, l.PerTry)
		whole := l.PerTry
		if l.Extra {
			whole = whole.Add(l.Connect)
		}
		limit = min(limit, whole)
	}
	if l.Read.Finite() {
		patience = min(patience, l.Read)
		limit = min(limit, l.Connect.Add(l.Read))
	}
	if l.Timeout == model.Unknown {
		limit, patience = min(limit, model.Unknown), min(patience, model.Unknown)
	}
	return limit, patience
}

// calleeBusy bounds the work on one attempt, before enforcement. A leaf's bound is that of this very call; a
// service that assumes a default deadline stops there when the call carries none.
func (l *Leg) calleeBusy(busy model.Duration) model.Duration {
	if l.leaf {
		busy = l.most
	}
	return min(busy, l.cut)
}

// timesOut reports whether an attempt can last as long as its limit, connecting included, and so be retried as a
// timeout. Nobody outlasts a limit of none.
func (s *solve) timesOut(l *Leg, t *LegTimes) bool {
	lasts := l.Connect.Add(t.CalleeBusy).Add(l.Network)
	return t.Limit != model.NoLimit && (!lasts.Finite() || lasts >= t.Limit)
}

// mayHang is false where the callee must stop before its caller's patience ends: it fails late then.
func (s *solve) mayHang(l *Leg, t *LegTimes) bool {
	works := t.CalleeBusy.Add(l.Network)
	return !works.Finite() || works >= t.Patience
}

// nodeBound sums a service's own work and the waits of its body; a leaf's row takes the largest bound over its calls.
func (s *solve) nodeBound(id NodeID) {
	n, t := &s.g.Nodes[id], &s.sol.Nodes[id]
	if n.Leaf {
		t.Flow = n.most
		if len(s.g.In(id)) == 0 {
			t.Flow = model.Unknown
		}
	} else {
		t.Flow = n.Queue.Add(n.Local()).Add(s.g.fold(n.flowAt, func(l LegID) model.Duration { return s.sol.Legs[l].Wait }, true))
	}
	t.Busy = min(t.Flow, n.Limit)
}

// fold composes a quantity over a body in time: sequences and fallbacks sum, parallel and one-of take the
// longest; unordered sums where upper is set and takes the longest otherwise. An empty body is 0.
func (g *Graph) fold(at int32, of func(LegID) model.Duration, upper bool) model.Duration {
	f := &g.flow[at]
	if f.kind == model.One {
		return of(f.leg)
	}
	var total model.Duration
	for i := at + 1; i < f.end; i = g.flow[i].end {
		v := g.fold(i, of, upper)
		if f.kind.Sums(upper) {
			total = total.Add(v)
		} else {
			total = max(total, v)
		}
	}
	return total
}

// starts computes the latest start of every call of a body after its caller's start (numbers.md 16).
func (s *solve) starts(n NodeID) {
	node := &s.g.Nodes[n]
	if node.flowAt < node.flowEnd {
		s.startAt(node.flowAt, node.Before)
	}
}

func (s *solve) startAt(at int32, from model.Duration) {
	g := s.g
	f := &g.flow[at]
	if f.kind == model.One {
		s.sol.Legs[f.leg].Starts = from
		return
	}
	wait := func(l LegID) model.Duration { return s.sol.Legs[l].Wait }
	var all model.Duration
	if f.kind == model.Unordered {
		all = g.fold(at, wait, true)
	}
	for i := at + 1; i < f.end; i = g.flow[i].end {
		switch f.kind {
		case model.Unordered:
			// Every other element may come first.
			others := all.Sub(g.fold(i, wait, true))
			if !all.Finite() {
				others = s.othersOf(at, i)
			}
			s.startAt(i, from.Add(others))
		case model.Parallel, model.OneOf:
			s.startAt(i, from)
		default:
			s.startAt(i, from)
			from = from.Add(g.fold(i, wait, true))
		}
	}
}

// othersOf sums the waits of a group without one element, where the sum of all is no number.
func (s *solve) othersOf(group, but int32) model.Duration {
	var sum model.Duration
	for i := group + 1; i < s.g.flow[group].end; i = s.g.flow[i].end {
		if i != but {
			sum = sum.Add(s.g.fold(i, func(l LegID) model.Duration { return s.sol.Legs[l].Wait }, true))
		}
	}
	return sum
}
