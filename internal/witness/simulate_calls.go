package witness

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// call makes one call, with its copies side by side and its rounds one after the other.
func (s *sim) call(w *work, l *leg, then func(outcome)) {
	if !l.awaited() {
		for range l.fan {
			s.round(w, l, 1, false, func(outcome) {})
		}
		then(succeeded)
		return
	}
	s.together(int(l.fan), func(_ int, then func(outcome)) { s.round(w, l, 1, false, then) }, then)
}

func (s *sim) round(w *work, l *leg, n int64, good bool, then func(outcome)) {
	r := &roundRun{sim: s, w: w, leg: l, begun: s.now, until: min(later(s.now, l.timeout), w.limit)}
	r.then = func(ok bool) {
		switch {
		case !ok && !l.optional:
			then(failed)
		case n < l.repeat:
			s.round(w, l, n+1, good || ok, then)
		case good || ok:
			then(succeeded)
		default:
			then(skipped)
		}
	}
	r.attempt(1)
}

// roundRun is one round of a call: its attempts.
type roundRun struct {
	sim   *sim
	w     *work
	leg   *leg
	begun int64
	until int64
	then  func(ok bool)
}

// gone reports whether the caller was stopped; work in the background goes on without it.
func (r *roundRun) gone() bool { return r.w.over && r.leg.awaited() }

func (r *roundRun) tooLate(when int64) bool {
	return r.leg.minLeft != zero && r.until != Never && r.until-when < r.leg.minLeft.n
}

func (r *roundRun) attempt(k int64) {
	s := r.sim
	if r.gone() {
		return
	}
	if s.now >= r.until || r.tooLate(s.now) {
		r.then(false)
		return
	}
	a := &attempt{round: r, k: k, until: min(s.in(r.leg.patience()), r.until)}
	r.w.open = append(r.w.open, a)
	a.send()
	for j := int64(1); j < r.leg.copies; j++ {
		s.at(s.in(r.leg.after.times(j)), r.w.callLevel(), func() {
			if !a.over && s.now < a.until {
				a.send()
			}
		})
	}
	s.at(a.until, r.w.callLevel(), func() { a.end(false) })
}

func (r *roundRun) failedAttempt(k int64, timedOut bool) {
	s, l := r.sim, r.leg
	again := l.onLate
	if timedOut {
		again = l.onTimeout
	}
	if !again || k >= l.n {
		r.then(false)
		return
	}
	_, pause := backoff(l.w.Backoff.Get(), k)
	next := s.in(pause)
	if next > later(r.begun, l.window) || r.tooLate(next) {
		r.then(false)
		return
	}
	if next >= r.until {
		s.at(r.until, r.w.callLevel(), func() {
			if !r.gone() {
				r.then(false)
			}
		})
		return
	}
	s.at(next, progress, func() { r.attempt(k + 1) })
}

// attempt is one attempt with its hedged copies.
type attempt struct {
	round  *roundRun
	k      int64
	until  int64
	copies []*work
	silent int // copies that did not answer yet
	over   bool
}

func (a *attempt) send() {
	s, l, from := a.round.sim, a.round.leg, a.round.w
	a.silent++
	c := request{parent: from, depth: from.depth + 1, background: !l.awaited(), deadline: Never, told: Never}
	if s.enforced || l.enforced() {
		c.deadline = a.until
	}
	if s.enforced || l.w.Propagates.Or(0)&model.Deadline != 0 {
		c.told = a.until
	}
	var w *work
	c.done = func(ok bool) {
		s.at(s.in(l.network), progress, func() { a.answer(w, ok) })
	}
	w = s.invoke(l.to, c)
	a.copies = append(a.copies, w)
}

func (a *attempt) answer(w *work, ok bool) {
	if a.over {
		return
	}
	a.silent--
	a.wait(w)
	if ok || a.silent == 0 {
		a.end(ok)
	}
}

// wait notes how long a copy was waited for.
func (a *attempt) wait(w *work) {
	if a.round.leg.last && !w.waitedKnown {
		w.waited, w.waitedKnown = a.round.sim.now-w.start, true
	}
}

// end closes an attempt: somebody answered well, all answered badly, or its time is over.
func (a *attempt) end(ok bool) {
	if a.over {
		return
	}
	timedOut := a.round.sim.now >= a.until
	a.leave()
	if ok {
		a.round.then(true)
		return
	}
	a.round.failedAttempt(a.k, timedOut)
}

// leave stops waiting for the copies that still run, and stops them where a cancellation reaches them.
func (a *attempt) leave() {
	r := a.round
	if a.over {
		return
	}
	a.over = true
	r.w.open = slices.DeleteFunc(r.w.open, func(b *attempt) bool { return a == b })
	cancels := r.sim.enforced || r.leg.w.Propagates.Or(0)&r.leg.to.honors&model.Cancel != 0
	for _, w := range a.copies {
		a.wait(w)
		if w.over {
			continue
		}
		w.left = r.sim.now
		if cancels {
			r.sim.finish(w, false)
		}
	}
}

// clientRun is the client at a root: attempts one after the other, until it gives up.
type clientRun struct {
	sim   *sim
	root  *root
	until int64
	made  int64
	done  func(ok bool)
}

func (r *clientRun) attempt() {
	s := r.sim
	if s.now >= r.until {
		r.done(false)
		return
	}
	r.made++
	c := request{deadline: Never, told: Never}
	if s.enforced {
		c.deadline, c.told = r.until, r.until
	}
	var w *work
	over := false
	end := func(ok bool) {
		if over {
			return
		}
		over = true
		w.waited, w.waitedKnown = s.now-w.start, true
		if !w.over {
			w.left = s.now
		}
		if ok || r.made >= r.root.attempts || s.now >= r.until {
			r.done(ok)
			return
		}
		s.at(s.now, progress, r.attempt)
	}
	c.done = end
	w = s.invoke(r.root.node, c)
	s.at(r.until, -1, func() { end(false) })
}
