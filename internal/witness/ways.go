package witness

// told is the latest deadline that a node's callers tell it, none where one of them tells none.
func (s *shape) told(n *node) amount {
	if t, ok := s.toldCache[n]; ok {
		return t
	}
	t := zero
	if s.entersAt(n) {
		t = none
	}
	for _, l := range n.in {
		if l.enforced() {
			t = most(t, least(l.patience(), s.stop(l)))
		} else {
			t = none
		}
	}
	s.toldCache[n] = t
	return t
}

// stop is the least of the limits that stop an attempt of the leg, from the start of the first.
func (s *shape) stop(l *leg) amount {
	b := l.from.before
	return most(zero, least(l.timeout, l.from.limit.minus(b), s.told(l.from).minus(b)))
}

// way is one round of a call replayed attempt by attempt.
type way struct {
	started, full int64
	last, wait    amount
}

// replay runs attempts that last each, one after the other, until one limit or another ends the round.
// again says whether such an attempt is retried; high takes the upper bound of each back-off.
func (s *shape) replay(l *leg, each amount, again, high bool) way {
	var w way
	stop, now := s.stop(l), zero
	for k := int64(1); ; k++ {
		left := stop.minus(now)
		if !now.less(stop) || l.minLeft != zero && left.less(l.minLeft) {
			w.wait = least(now, stop)
			return w
		}
		end := now.plus(each)
		w.started++
		w.last = least(l.patience(), left)
		if end.finite() && !stop.less(end) {
			w.full++
		}
		w.wait = least(end, stop)
		if k >= l.n || !again || !end.finite() || !end.less(stop) {
			return w
		}
		lo, pause := backoff(l.w.Backoff.Get(), k)
		if !high {
			pause = lo
		}
		next := end.plus(pause)
		// Nobody sleeps for an attempt that may not start; who only runs into a limit does.
		if l.window.less(next) || l.minLeft != zero && stop.minus(next).less(l.minLeft) {
			return w
		}
		if !next.less(stop) {
			w.wait = stop
			return w
		}
		now = next
	}
}

func (s *shape) hang(l *leg, high bool) way {
	if s.stopsItself(l) {
		return s.replay(l, s.lateEach(l), l.onLate, high)
	}
	each := l.patience()
	if each == unknown && !high {
		each = zero // nobody knows how short it is
	}
	return s.replay(l, each, l.onTimeout, high)
}

func (s *shape) lateEach(l *leg) amount { return least(l.patience(), s.busy(l).plus(l.network)) }

func (s *shape) late(l *leg) way { return s.replay(l, s.lateEach(l), l.onLate, true) }

func (s *shape) fast(l *leg) way {
	each := least(s.lateEach(l), l.latencyLeast())
	if !l.onLate && l.onUnsent && !(l.onTimeout && s.timesOut(l)) {
		// What is retried only because nothing was sent costs time to connect.
		each = least(each, l.limit())
		if l.connectSet {
			each = least(each, l.connect)
		}
	}
	return s.replay(l, each, l.onLate || l.onUnsent, true)
}
