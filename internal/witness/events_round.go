package witness

import "github.com/budgetplan/budgetplan/model"

// terms are what a waiter waits by.
type terms struct {
	timeout, perTry, window, least moment
	attempts                       int64
	retryOn                        model.Failures
	backoff                        *model.Backoff
	copies                         int64
	apart                          moment // between copies
	tells                          model.Propagation
	network                        moment // the way of an answer
}

func clientTerms(e *model.Entrypoint) terms {
	t := terms{timeout: forever, perTry: forever, window: forever, attempts: 1, copies: 1, retryOn: model.AnyFailure}
	if e != nil {
		t.attempts = int64(e.Attempts.Or(1))
	}
	return t
}

func (c *call) terms(i int) terms {
	w := &c.Waiters[i]
	t := terms{
		timeout: limitOf(w.Timeout), perTry: min(limitOf(w.PerTry), limitOf(w.Read())), window: limitOf(w.RetryWindow()),
		attempts: int64(w.Attempts.Or(1)), retryOn: w.RetryOn().Or(model.AnyFailure), backoff: w.Backoff,
		copies: 1, apart: moment(w.Hedge().After.Or(0)), tells: w.Propagates.Or(0),
	}
	if i == 0 {
		t.network = moment(c.Network().Or(0))
	}
	if w.Hedge().Set() {
		t.copies = int64(w.Hedge().Attempts.Or(2))
	}
	if m := w.MinRemaining().Or(model.MinRemaining{}); m.Percentile == 0 {
		t.least = moment(m.D)
	} else if q, _, _ := c.Latency.Quantile(m.Percentile); q.Set() {
		t.least = moment(q.V)
	}
	return t
}

// call is a call of the plan.
type call struct{ *model.Call }

// target is who an attempt goes to: a service, or first the next waiter of a call.
type target struct {
	service model.ServiceID
	via     *call // nil: straight to the service
	waiter  int
}

// round is one run of a waiter: its attempts, one after the other.
type round struct {
	h *handler // who waits
	terms
	to     target
	beside bool   // nobody waits for the round itself
	called moment // when the first round of the call began
	begun  moment
	limit  moment
	tries  int64
	trying *attempt
	sent   []*request // of all attempts
	pause  *happening
	over   bool
	done   func(ok bool)
}

// begin starts the round, which has until a moment.
func (r *round) begin(limit moment) {
	r.h.rounds = append(r.h.rounds, r)
	r.begun, r.limit = r.h.now, limit
	r.try()
}

// short reports whether at a moment too little is left to start an attempt.
func (r *round) short(at moment) bool { return r.least > 0 && at.until(r.limit) < r.least }

func (r *round) try() {
	if r.over {
		return
	}
	if r.h.now >= r.limit || r.short(r.h.now) {
		r.finish(false)
		return
	}
	r.tries++
	a := &attempt{r: r, limit: min(r.limit, r.h.now.plus(r.perTry))}
	r.trying = a
	a.alarm = r.h.clock(a.limit, a.depth(), func() { a.end(timedOut) })
	a.send(r.h.now)
}

// failed goes on after an attempt without success.
func (r *round) failed(how ending) {
	r.trying = nil
	again := how == timedOut && r.retryOn.Kinds&model.OnTimeout != 0 ||
		how == failed && (r.retryOn.Kinds&(model.OnReset|model.OnError) != 0 || len(r.retryOn.Statuses) > 0)
	if !again || r.tries >= r.attempts {
		r.finish(false)
		return
	}
	next := r.h.now.plus(r.wait(r.tries))
	switch {
	case next > r.begun.plus(r.window) || r.short(next):
		r.finish(false)
	case next >= r.limit:
		r.pause = r.h.clock(r.limit, r.h.depth+1, func() { r.finish(false) })
	default:
		r.pause = r.h.after(r.h.now.until(next), r.try)
	}
}

// wait is the longest back-off before retry k.
func (r *round) wait(k int64) moment {
	if r.attempts == 1 {
		return 0
	}
	_, longest := r.backoff.Wait(k)
	return moment(longest)
}

func (r *round) finish(ok bool) {
	if r.over {
		return
	}
	r.over, r.trying = true, nil
	r.done(ok)
}

// abandon ends the round because its waiter is gone: nobody hears of it.
func (r *round) abandon() {
	if r.over {
		return
	}
	r.over = true
	r.pause.callOff()
	if a := r.trying; a != nil {
		r.trying = nil
		a.leave()
	}
}

// cancel cancels all who work for the round, and reports whether what it came to rests on what does not begin.
func (r *round) cancel() bool {
	begins, back, kept := false, false, false
	for _, q := range r.sent {
		switch {
		case q.sent == r.h.now:
			q.callee.erase()
			begins = true
		case q.callee.obeys && q.callee.cancel():
			back = true
		default:
			kept = kept || q.callee.ok && q.callee.endedAt == r.h.now
		}
	}
	return begins || back && !kept
}

// erase takes back a round that has begun at this moment.
func (r *round) erase() {
	r.over = true
	r.pause.callOff()
	if a := r.trying; a != nil {
		a.over = true
		a.alarm.callOff()
		a.next.callOff()
	}
	for _, q := range r.sent {
		q.callee.erase()
	}
}

// ending is how an attempt ended.
type ending int

const (
	timedOut ending = iota
	failed
	answered
)

// attempt is one try of a round: a request, and its copies where it is hedged.
type attempt struct {
	r      *round
	limit  moment
	alarm  *happening
	next   *happening // the next copy
	copies []*request
	bad    int64
	over   bool
	good   bool
}

type request struct {
	sent   moment
	callee *handler
	heard  bool
}

func (a *attempt) depth() int { return a.r.h.depth + 1 }

// lost reports whether every copy that was sent has come back bad.
func (a *attempt) lost() bool { return a.bad == int64(len(a.copies)) }

// send starts the next copy and arranges for the one after.
func (a *attempt) send(begun moment) {
	if a.over {
		return
	}
	w, q := a.r.h.world, &request{sent: a.r.h.now}
	a.copies, a.r.sent, a.next = append(a.copies, q), append(a.r.sent, q), nil
	if n := int64(len(a.copies)); n < a.r.copies {
		if at := begun.plus(a.r.apart * moment(n)); at < a.limit {
			a.next = w.clock(at, a.depth(), func() { a.send(begun) })
		}
	}
	left := a.r.h.left
	if a.r.beside {
		left = forever
	}
	q.callee = a.r.to.reach(a, left, func(ok bool) {
		w.after(a.r.network, func() { a.hear(q, ok) })
	})
}

// reach brings a request to its callee.
func (t target) reach(a *attempt, left moment, answer func(ok bool)) *handler {
	w := a.r.h.world
	if t.via == nil {
		return w.serve(t.service, w.arrives(a, w.plan.Services[t.service].Honors.Or(0)), left, answer)
	}
	h := w.newHandler(w.arrives(a, t.via.Waiters[t.waiter].Honors().Or(0)), left, answer)
	r := h.waiter(t.via, t.waiter, h.end)
	h.work = w.after(0, func() { r.begin(min(h.limit, w.now.plus(r.timeout))) })
	return h
}

// waiter makes a round of a waiter of a call.
func (h *handler) waiter(c *call, i int, done func(ok bool)) *round {
	to := target{service: c.To}
	if i+1 < len(c.Waiters) {
		to.via, to.waiter = c, i+1
	}
	return &round{h: h, terms: c.terms(i), to: to, done: done}
}

// hear takes the answer of a copy. A bad one that comes at the very end is none. A good one ends the attempt, once
// everybody who has something to say at that moment has said it.
func (a *attempt) hear(q *request, ok bool) {
	if a.over {
		return
	}
	q.heard = true
	a.waited(q)
	now := a.r.h.now
	switch {
	case a.good:
	case ok:
		a.good = true
		a.next.callOff()
		a.alarm.callOff()
		a.alarm = a.r.h.clock(now, a.depth(), func() { a.end(answered) })
	case now >= a.limit:
		q.gaveUp()
		if a.bad++; a.lost() {
			a.end(timedOut)
		}
	default:
		if a.bad++; a.lost() {
			a.end(failed)
		}
	}
}

func (a *attempt) waited(q *request) {
	if v := q.callee.visit; v != nil {
		v.Waited = model.Duration(q.sent.until(a.r.h.now))
	}
}

func (q *request) gaveUp() {
	if v := q.callee.visit; v != nil {
		v.GaveUp = model.Duration(q.callee.now)
	}
}

func (a *attempt) end(how ending) {
	if a.over {
		return
	}
	a.leave()
	if how == answered {
		a.r.finish(true)
		return
	}
	a.r.failed(how)
}

// leave stops waiting for whoever has not answered.
func (a *attempt) leave() {
	a.over = true
	a.alarm.callOff()
	a.next.callOff()
	for _, q := range a.copies {
		if q.heard {
			continue
		}
		a.waited(q)
		q.gaveUp()
		q.callee.orphan()
		if q.callee.obeys {
			q.callee.cancel()
		}
	}
}
