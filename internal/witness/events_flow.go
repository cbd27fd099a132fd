package witness

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// harm is how badly a flow ended. One that went partly is an optional call that failed: whoever needs what follows goes
// on, whoever has another way tries that.
type harm int

const (
	well harm = iota
	partly
	badly
)

// flow makes the calls of a flow and tells how they went.
func (h *handler) flow(f model.Flow, done func(harm)) {
	switch {
	case f.Kind == model.One:
		h.call(f.Call, done)
	case len(f.Of) == 1:
		h.flow(f.Of[0], done)
	case f.Kind == model.Parallel:
		h.together(len(f.Of), func(i int, done func(harm)) { h.flow(f.Of[i], done) }, done)
	case f.Kind == model.Fallback:
		h.fallback(f.Of, done)
	case f.Kind == model.OneOf:
		h.oneOf(writtenOut(f.Of, model.OneOf), done)
	default:
		h.inTurn(len(f.Of), badly, func(i int, done func(harm)) { h.flow(f.Of[i], done) }, done)
	}
}

// all is what several parts come to: badly where one does, and partly where nothing in them went well.
type all struct{ good, part, bad bool }

func (a *all) add(how harm) {
	a.good, a.part, a.bad = a.good || how == well, a.part || how == partly, a.bad || how == badly
}

func (a *all) harm() harm {
	switch {
	case a.bad:
		return badly
	case a.part && !a.good:
		return partly
	}
	return well
}

// inTurn does n things one after the other until one ends as given.
func (h *handler) inTurn(n int, until harm, do func(i int, done func(harm)), done func(harm)) {
	var sum all
	var from func(i int)
	from = func(i int) {
		if i == n {
			done(sum.harm())
			return
		}
		do(i, func(how harm) {
			if sum.add(how); how == until {
				done(how)
				return
			}
			from(i + 1)
		})
	}
	from(0)
}

// together does n things at once and waits for all.
func (h *handler) together(n int, do func(i int, done func(harm)), done func(harm)) {
	open, sum := n, all{}
	if n == 0 {
		done(well)
	}
	for i := range n {
		do(i, func(how harm) {
			sum.add(how)
			if open--; open == 0 {
				done(sum.harm())
			}
		})
	}
}

// fallback goes on until one goes well. Where none does, the answer may still do without one that is optional.
func (h *handler) fallback(of []model.Flow, done func(harm)) {
	best := badly
	if len(of) == 0 {
		best = well
	}
	h.inTurn(len(of), well, func(i int, done func(harm)) {
		h.flow(of[i], func(how harm) {
			best = min(best, how)
			done(how)
		})
	}, func(harm) { done(best) })
}

// writtenOut takes apart groups of one, and groups of a kind that stand in that kind.
func writtenOut(of []model.Flow, kind model.FlowKind) []model.Flow {
	var out []model.Flow
	for _, f := range of {
		if f.Kind == kind || f.Kind != model.One && len(f.Of) == 1 {
			out = append(out, writtenOut(f.Of, kind)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// oneOf takes the worst of the alternatives that lead to the troubled service, of all where none does: one that fails
// or never ends, else an optional one that fails, else the one that takes longest, else the first. It finds out by
// trying each in a world of its own.
func (h *handler) oneOf(of []model.Flow, done func(harm)) {
	if len(of) == 0 {
		done(well)
		return
	}
	among := slices.DeleteFunc(slices.Clone(of), func(f model.Flow) bool { return !h.leadsOn(f) })
	if len(among) == 0 {
		among = of
	}
	worst, how, longest := 0, well, moment(-1)
	for i, f := range among {
		went, took := h.tryOut(f)
		if went > how || went == how && took > longest {
			worst, how, longest = i, went, took
		}
	}
	h.flow(among[worst], done)
}

// leadsOn reports whether a flow leads to the troubled service.
func (h *handler) leadsOn(f model.Flow) bool {
	leads := false
	f.Walk(func(c model.CallID) { leads = leads || h.leads[h.plan.Calls[c].To] })
	return leads
}

// tryOut runs a flow aside, from this moment and under the same limit.
func (h *handler) tryOut(f model.Flow) (went harm, took moment) {
	w := &world{stage: h.stage, now: h.now}
	went, took = badly, forever
	(&handler{world: w, depth: h.depth, limit: h.limit, left: forever}).flow(f, func(how harm) {
		went, took = how, h.now.until(w.now)
	})
	w.run(func() bool { return took != forever })
	return went, took
}

// call makes the rounds of a call and tells how they went. Only an optional one goes on after a bad one.
func (h *handler) call(id model.CallID, done func(harm)) {
	c := &call{&h.plan.Calls[id]}
	beside, called := c.Async.Or(false) || c.Stream().Or(false), h.now
	round := func(_ int, done func(harm)) {
		r := h.waiter(c, 0, func(ok bool) {
			switch {
			case ok:
				done(well)
			case c.Optional.Or(false):
				done(partly)
			default:
				done(badly)
			}
		})
		r.beside, r.called = beside, called
		r.begin(min(h.limit, h.now.plus(r.timeout)))
	}
	rounds := func(done func(harm)) {
		h.together(int(c.FanOut().Or(1)), func(_ int, done func(harm)) {
			h.inTurn(int(c.Repeat().Or(1)), badly, round, done)
		}, done)
	}
	if beside {
		rounds(func(harm) {})
		done(well)
		return
	}
	rounds(done)
}
