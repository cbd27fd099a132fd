package solver

import "github.com/budgetplan/budgetplan/model"

// stops computes, callers before callees, which limits stop an attempt, and what a call costs in each of the
// three ways in which its callee can fail (numbers.md 3 and 4), and with that what the call sends.
func (s *solve) stops() {
	s.sends = make([]weight, len(s.g.Legs))
	told := make([]model.Duration, len(s.g.Legs)) // packed: every callee looks it up
	isRoot := make([]bool, len(s.g.Nodes))
	for _, r := range s.g.Roots {
		isRoot[r.Node] = true
	}
	s.g.down(func(n NodeID) {
		t := &s.sol.Nodes[n]
		in := s.g.In(n)
		// An entrypoint tells no deadline, and one caller that tells none removes it.
		t.Told = model.NoLimit
		if !isRoot[n] && len(in) > 0 {
			t.Told = 0
			for i := 0; i < len(in) && t.Told != model.NoLimit; i++ {
				t.Told = max(t.Told, told[in[i]])
			}
		}
		before := s.g.Nodes[n].Before
		outer := min(s.g.Nodes[n].Limit, t.Told)
		if outer.Finite() {
			outer = max(0, outer.Sub(before))
		}
		s.starts(n)
		s.g.Out(n, func(l LegID) {
			s.ways(l, outer)
			s.sol.Legs[l].Overhang = s.overhang(l)
			s.sends[l] = s.perCall(l)
			told[l] = s.told(l)
		})
	})
}

// told is the deadline that a call tells its callee: NoLimit where it is not enforced.
func (s *solve) told(l LegID) model.Duration {
	if !s.g.Legs[l].enforced {
		return model.NoLimit
	}
	t := &s.sol.Legs[l]
	return min(t.Patience, t.Stop)
}

// overhang is how long the callee of a last attempt works on when its caller was stopped by a deadline. Where a
// missing fact decides when that attempt starts, it is Unknown.
func (s *solve) overhang(id LegID) model.Duration {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	told := s.sol.Nodes[l.From].Told
	if t.Enforced || !told.Finite() {
		return 0
	}
	stopped := min(told, s.g.Nodes[l.From].Limit)
	start := s.lastStart(id)
	if start == model.Unknown {
		return model.Unknown
	}
	return max(0, min(start, stopped).Add(l.Connect).Add(t.CalleeBusy).Sub(stopped))
}

// lastStart is when a call's last attempt starts at the latest after the request came to its caller, whose queue
// counts (numbers.md 17, which leaves the queue out and would miss later work).
func (s *solve) lastStart(id LegID) model.Duration {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	earlier := l.Pool.Add(min(l.Timeout, t.Uncut)).Mul(l.Repeat - 1).Add(l.Pool)
	return s.g.Nodes[l.From].Queue.Add(t.Starts).Add(earlier).Add(min(t.beforeLast(l), l.Timeout))
}

func (s *solve) ways(id LegID, outer model.Duration) {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	t.Stop = min(l.Timeout, outer)
	r := round{leg: l, backoff: &noBackoff, stop: t.Stop, patience: t.Patience}
	if l.Attempts > 1 {
		_, w := s.g.CallOf(id)
		r.backoff = w.Backoff
	}

	late := min(t.Patience, t.CalleeBusy.Add(l.Network))
	t.Late, _ = r.run(late, l.RetryOn.Late(), true)
	cost, again := t.Patience, l.RetryOn.Timeout()
	if !s.mayHang(l, t) {
		cost, again = late, l.RetryOn.Late()
	}
	t.Hang, t.Full = r.run(cost, again, true)
	t.Started = t.Hang.Started
	t.Possible = t.Started
	if l.Attempts > 1 && again {
		if cost == model.Unknown {
			cost = 0 // nobody said when an attempt ends: it may at once, and then the next starts
		}
		possible, _ := r.run(cost, again, false)
		t.Possible = possible.Started
	}

	fast := min(late, l.least)
	if !l.RetryOn.Late() {
		fast = min(fast, t.Retried) // what was never begun costs connect time
	}
	t.Fast, _ = r.run(fast, l.RetryOn.Fast(), true)
}

// noBackoff is that of a single attempt.
var noBackoff model.Backoff

// round replays the attempts of one round of a call whose callee fails.
type round struct {
	leg            *Leg
	backoff        *model.Backoff
	stop, patience model.Duration
}

// run starts attempts that each last cost, until none may start; late draws every back-off at its upper end,
// otherwise at its lower. Full counts the attempts that run their whole cost.
//
// Who may not start for `min_remaining` or the window gives up at once; who runs into a limit sleeps until it.
func (r *round) run(cost model.Duration, again, late bool) (w Way, full int64) {
	limit := r.attempts(again)
	if r.stop.Finite() && r.stop < r.leg.MinLeft {
		return w, 0
	}
	steady := r.backoff.Steady(max(1, limit-1))
	var at model.Duration // when the attempt would start
	for k := int64(1); ; {
		if at >= r.stop {
			w.Wait = r.stop
			return w, full
		}
		if k > steady && limit-k > 64 {
			return r.skip(w, full, at, cost, r.wait(k, late), k, limit)
		}
		w.Started++
		left := r.stop.Sub(at)
		w.Last = min(r.patience, left)
		if cost > left || !cost.Finite() {
			w.Wait = r.stop // at an infinite cost and stop, the one that is less so
			if !r.stop.Finite() {
				w.Wait = min(r.stop, cost)
			}
			return w, full
		}
		full++
		end := at.Add(cost)
		w.Wait = end
		if k >= limit {
			return w, full
		}
		at = end.Add(r.wait(k, late))
		if at > r.leg.Window || r.leg.MinLeft > 0 && r.stop.Finite() && r.stop-at < r.leg.MinLeft {
			return w, full
		}
		k++
	}
}

// attempts is how many attempts can follow each other.
func (r *round) attempts(again bool) int64 {
	if !again {
		return 1
	}
	return r.leg.Attempts
}

func (r *round) wait(k int64, late bool) model.Duration {
	lo, hi := r.backoff.Wait(k)
	if late {
		return hi
	}
	return lo
}

// skip jumps over the attempts that are all alike, cost and wait the same for each, and finishes as run does:
// attempt k would start at, and limit attempts are allowed.
func (r *round) skip(w Way, full int64, at, cost, wait model.Duration, k, limit int64) (Way, int64) {
	step := cost.Add(wait)
	if step == 0 {
		// Failures that take no time, without back-off: nothing but the count ends them.
		n := limit - k + 1
		w.Started, full = saturate(w.Started+n), saturate(full+n)
		if r.stop.Finite() {
			w.Last = min(r.patience, r.stop.Sub(at))
		}
		w.Wait = at
		return w, full
	}
	// The last start before the stop, in the window, and with enough left.
	last := r.leg.Window
	if r.stop.Finite() {
		last = min(last, r.stop-max(1, r.leg.MinLeft))
	}
	n := limit - k + 1
	ended := n // attempts up to the limit
	if last.Finite() {
		ended = min(n, int64((last-at)/step)+1)
	}
	w.Started, full = saturate(w.Started+ended), saturate(full+ended)
	start := at.Add(step.Mul(ended - 1))
	left := r.stop.Sub(start)
	w.Last = min(r.patience, left)
	w.Wait = min(start.Add(cost), r.stop)
	switch {
	case cost > left:
		full--
		w.Wait = r.stop
	case ended < n && r.leg.MinLeft == 0 && start.Add(step) <= r.leg.Window:
		w.Wait = r.stop // sleeps into the limit
	}
	return w, full
}
