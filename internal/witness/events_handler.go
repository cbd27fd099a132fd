package witness

import "github.com/budgetplan/budgetplan/model"

// handler is whoever works on one request for one caller: a service, a waiter between two services, or the client.
type handler struct {
	*world
	depth int
	// limit is when it stops whatever happens: its own timeout, and what its caller's leaving means to it.
	limit moment
	// left is when the first of those on the path gave up.
	left    moment
	visit   *Visit // nil for a waiter and the client
	ended   bool
	endedAt moment
	ok      bool // ended with a good answer
	obeys   bool // ends when it is cancelled
	answer  func(ok bool)
	alarm   *happening
	work    *happening
	rounds  []*round // whatever it is calling now, or has called without waiting
}

// arrival is how a request reaches a handler.
type arrival struct {
	by *attempt
	// stops: the handler ends when its caller's patience does. cancels: also when the caller leaves earlier.
	stops, cancels bool
}

// arrives tells what the caller's patience means to a callee that honors as given.
func (w *world) arrives(a *attempt, honors model.Propagation) arrival {
	told := a.r.terms.tells
	if w.trouble.Enforced {
		told, honors = model.Deadline|model.Cancel, model.Deadline|model.Cancel
	}
	return arrival{by: a, stops: told&honors != 0, cancels: told&honors&model.Cancel != 0}
}

// newHandler starts on a request; left is when the first on the path to it had gone.
func (w *world) newHandler(at arrival, left moment, answer func(ok bool)) *handler {
	h := &handler{world: w, depth: at.by.depth() + 1, limit: forever, left: left, obeys: at.cancels, answer: answer}
	if at.stops {
		h.limit = at.by.limit
	}
	return h
}

// serve lets a service work on a request.
func (w *world) serve(s model.ServiceID, at arrival, left moment, answer func(ok bool)) *handler {
	h, v := w.newHandler(at, left, answer), &w.plan.Services[s]
	h.visit = &Visit{Service: s, Start: model.Duration(w.now), End: model.NoLimit, GaveUp: model.NoLimit, Left: model.Duration(left), Waited: model.NoLimit}
	w.record = append(w.record, h.visit)
	if w.rejects(h, at, v) {
		h.work = w.after(0, func() { h.end(false) })
		return h
	}
	h.limit = min(h.limit, w.now.plus(limitOf(v.ServerTimeout)))
	h.alarm = w.clock(h.limit, h.depth, func() { h.end(false) })
	switch {
	case s == w.trouble.Service:
		if w.trouble.Takes.Finite() {
			h.work = w.after(moment(w.trouble.Takes), func() { h.end(!w.trouble.Fails) })
		}
	case !w.leads[s]:
		h.work = w.after(moment(v.Before.Or(0)+v.After().Or(0)), func() { h.end(true) })
	default:
		h.work = w.after(moment(v.Before.Or(0)), func() { h.calls(v) })
	}
	return h
}

// rejects settles which deadline the service goes by, and whether it turns the request away for it.
func (w *world) rejects(h *handler, at arrival, v *model.Service) bool {
	comes := (w.trouble.Enforced || at.by.r.terms.tells&model.Deadline != 0) && at.by.limit != forever
	left := forever
	switch {
	case comes:
		left = w.now.until(at.by.limit)
	case v.DefaultDeadline().Set():
		left = limitOf(v.DefaultDeadline())
		h.limit = min(h.limit, w.now.plus(left))
	}
	return left < moment(v.MinRemaining().Or(0))
}

func (h *handler) calls(v *model.Service) {
	h.flow(v.Flow, func(how harm) {
		if how == badly {
			h.end(false)
			return
		}
		h.work = h.after(moment(v.After().Or(0)), func() { h.end(true) })
	})
}

// end stops the work with an answer, and whatever it still waits for. What nobody waits for goes on.
func (h *handler) end(ok bool) {
	if h.stop() {
		h.says(ok)
		h.answer(ok)
	}
}

func (h *handler) says(ok bool) {
	h.ok = ok
	if h.visit != nil {
		h.visit.OK = ok
	}
}

// cancel stops the work without an answer. What would begin at this very moment does not: an answer that rests on it
// was none, and is taken back.
func (h *handler) cancel() (takenBack bool) {
	if h.ended && h.endedAt < h.now {
		return false
	}
	rests := false
	for _, r := range h.rounds {
		switch {
		case r.beside && r.called < h.now:
		case r.begun == h.now:
			r.erase()
			rests = rests || !r.beside && r.tries > 0
		default:
			rests = r.cancel() || rests
		}
	}
	h.stop()
	if takenBack = h.ok && rests; takenBack {
		h.says(false)
	}
	return takenBack
}

// erase takes back what has begun at this moment.
func (h *handler) erase() {
	h.ended = true
	h.alarm.callOff()
	h.work.callOff()
	if h.visit != nil {
		h.visit.void = true
	}
	for _, r := range h.rounds {
		r.erase()
	}
}

// stop reports whether there was still something to stop.
func (h *handler) stop() bool {
	if h.ended {
		return false
	}
	h.ended, h.endedAt = true, h.now
	h.alarm.callOff()
	h.work.callOff()
	for _, r := range h.rounds {
		if !r.beside {
			r.abandon()
		}
	}
	if h.visit != nil {
		h.visit.End = model.Duration(h.now)
	}
	return true
}

// orphan marks the handler, and all who work for it, as left by somebody on the path.
func (h *handler) orphan() {
	if h.ended || h.left <= h.now {
		return
	}
	h.left = h.now
	if h.visit != nil {
		h.visit.Left = model.Duration(h.now)
	}
	for _, r := range h.rounds {
		if r.trying == nil || r.beside {
			continue
		}
		for _, c := range r.trying.copies {
			c.callee.orphan()
		}
	}
}
