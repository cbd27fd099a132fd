package solver

import "github.com/budgetplan/budgetplan/model"

// runner computes a run by recursion over relative times. What an invocation does depends on the node, its limit and
// how patient its callers are alone, so that equal ones are computed once.
type runner struct {
	g        *Graph
	sc       Scenario
	leads    []bool // to the named service, by node
	memo     map[visitKey]int32
	visits   []visit // callees before callers
	byClient []child // the client's attempts
	total    int64   // invocations in all, those of inner waiters too
	steps    int
	depth    int
	err      error
}

// visitKey is everything that an invocation depends on, as times after its start.
type visitKey struct {
	node NodeID
	// limit is when it must stop and may know it; rejected where it is turned away on arrival.
	limit model.Duration
	// patience is when the first caller on the path gives up.
	patience model.Duration
	// cancel is when a hedge is won by another copy and this one told to stop, which nobody could foresee.
	cancel model.Duration
	// trial asks how long it would last and whether it would end well, nothing more: it may never happen. Patience and
	// cancellation do not matter to that, nor does what runs in the background.
	trial bool
}

const rejected model.Duration = -1

// visit is one invocation of a node and what it starts.
type visit struct {
	visitKey
	answers  model.Duration // when it would, were it not told to stop; where it is told first, any later time
	lasts    model.Duration
	ok       bool           // its answer was good
	end      model.Duration // of the last work in or below it
	children []child
}

// child is an invocation of a callee, n of them side by side.
type child struct {
	visit  int32
	leg    LegID
	at     model.Duration
	n      int64
	waited model.Duration
	gaveUp bool // no answer came in time
}

// orphan is what of the work is after a caller gave up.
func (v *visit) orphan() model.Duration {
	if !v.patience.Finite() {
		return 0
	}
	return max(0, v.lasts.Sub(v.patience))
}

// step counts an attempt against the size of the run.
func (r *runner) step(l LegID) bool {
	if r.steps++; r.steps > maxRunSteps && r.err == nil {
		r.err = &TooLarge{Leg: l}
	}
	return r.err == nil
}

// accept gives the limit of an invocation that has the time w: its caller's where it is enforced. A service that is
// told no deadline assumes its own, and turns away what has too little left by the one that it goes by.
func (r *runner) accept(n NodeID, enforced, carried bool, w model.Duration) model.Duration {
	limit := model.NoLimit
	if enforced {
		limit = w
	}
	node := &r.g.Nodes[n]
	if node.Waiter >= 0 {
		return limit
	}
	v := &r.g.plan.Services[node.Service]
	left := w
	if !carried || !w.Finite() {
		left = v.DefaultDeadline().Or(model.NoLimit)
		limit = min(limit, left)
	}
	if left < v.MinRemaining().Or(0) {
		return rejected
	}
	return min(limit, node.Limit)
}

// visit computes an invocation, or finds it.
func (r *runner) visit(key visitKey) int32 {
	if key.patience = max(0, key.patience); key.trial {
		key.patience, key.cancel = model.NoLimit, model.NoLimit
	}
	if id, ok := r.memo[key]; ok {
		return id
	}
	if r.depth++; r.depth > maxRunDepth && r.err == nil {
		r.err = &TooLarge{Leg: -1, Depth: true}
	}
	v := visit{visitKey: key}
	if r.err == nil {
		r.play(&v)
	}
	r.depth--
	v.end = noWork
	if r.g.Nodes[key.node].Waiter < 0 {
		v.end = v.lasts
	}
	v.end = max(v.end, r.lastEnd(v.children))
	id := int32(len(r.visits))
	r.visits = append(r.visits, v)
	r.memo[key] = id
	return id
}

// noWork is the end of an inner waiter that reached no service.
const noWork model.Duration = -1

// lastEnd is when the last work of some invocations ends.
func (r *runner) lastEnd(children []child) model.Duration {
	last := noWork
	for i := range children {
		c := &children[i]
		if end := r.visits[c.visit].end; end != noWork {
			last = max(last, c.at.Add(end))
		}
	}
	return last
}

func (r *runner) play(v *visit) {
	node := &r.g.Nodes[v.node]
	switch {
	case v.limit == rejected:
		return
	case v.node == r.sc.Service:
		v.work(r.sc.Takes, !r.sc.Fails)
	case node.Waiter < 0 && !r.leads[v.node]:
		v.work(node.Local(), true)
	case node.Before > v.limit:
		v.work(node.Before, false)
	default:
		b := bodyRun{runner: r, visit: v, until: v.cancel}
		end, o := node.Before, succeeded
		if node.flowAt < node.flowEnd {
			end, o = b.flow(node.flowAt, node.Before)
		}
		v.children = b.children
		if o != failed {
			end = end.Add(node.After)
		}
		v.work(end, o != failed)
	}
	v.lasts = min(v.answers, v.cancel)
	v.ok = v.ok && v.answers <= v.cancel
}

// work lets an invocation answer after so long, or when it must stop.
func (v *visit) work(lasts model.Duration, ok bool) {
	v.answers = min(lasts, v.limit)
	v.ok = ok && lasts.Finite() && lasts <= v.limit
}

// outcome is what a call or a group came to, from the best to the worst.
type outcome uint8

const (
	succeeded outcome = iota
	skipped           // optional, and failed
	failed
)

// bodyRun runs the calls of one invocation. Times count from its start.
type bodyRun struct {
	*runner
	visit    *visit
	until    model.Duration // when it is told to stop
	children []child
}

// flow runs a group that starts at t; where the time it gives is no number it never ends.
func (b *bodyRun) flow(at int32, t model.Duration) (model.Duration, outcome) {
	f := &b.g.flow[at]
	switch f.kind {
	case model.One:
		return b.call(f.leg, t)
	case model.Parallel:
		return b.parallel(at, t)
	case model.OneOf:
		return b.worst(at, t)
	case model.Fallback:
		return b.fallback(at, t)
	}
	return b.sequence(at, t)
}

func (b *bodyRun) sequence(at int32, t model.Duration) (model.Duration, outcome) {
	best := skipped
	for i := at + 1; i < b.g.flow[at].end; i = b.g.flow[i].end {
		var o outcome
		t, o = b.flow(i, t)
		if o == failed {
			return t, failed
		}
		best = min(best, o)
	}
	return t, best
}

// parallel waits for all of its elements, whatever becomes of them.
func (b *bodyRun) parallel(at int32, t model.Duration) (model.Duration, outcome) {
	end, best, worst := t, skipped, succeeded
	for i := at + 1; i < b.g.flow[at].end; i = b.g.flow[i].end {
		e, o := b.flow(i, t)
		end, best, worst = max(end, e), min(best, o), max(worst, o)
	}
	if worst == failed {
		return end, failed
	}
	return end, best
}

func (b *bodyRun) fallback(at int32, t model.Duration) (model.Duration, outcome) {
	best := failed
	for i := at + 1; i < b.g.flow[at].end && best != succeeded && t.Finite(); i = b.g.flow[i].end {
		var o outcome
		t, o = b.flow(i, t)
		best = min(best, o)
	}
	return t, best
}

// worst takes the worst alternative of a one-of, of those that lead to the named service where some do. All of them are
// tried, and the one that is taken is run: who chooses cannot foresee that it will be told to stop.
func (b *bodyRun) worst(at int32, t model.Duration) (model.Duration, outcome) {
	some := b.leadsBelow(at)
	try := bodyRun{runner: b.runner, visit: &visit{visitKey: b.visit.visitKey}, until: model.NoLimit}
	try.visit.trial = true
	taken, last, how := int32(-1), model.Duration(0), succeeded
	for i := at + 1; i < b.g.flow[at].end; i = b.g.flow[i].end {
		if some && !b.leadsBelow(i) {
			continue
		}
		end, o := try.flow(i, t)
		if taken < 0 || o > how || o == how && end > last && last.Finite() {
			taken, last, how = i, end, o
		}
	}
	if b.visit.trial {
		return last, how
	}
	return b.flow(taken, t)
}

func (b *bodyRun) leadsBelow(at int32) bool {
	for _, f := range b.g.flow[at:b.g.flow[at].end] {
		if f.kind == model.One && b.leads[b.g.Legs[f.leg].To] {
			return true
		}
	}
	return false
}

// call runs the rounds of a call one after the other. Nobody waits for those in the background.
func (b *bodyRun) call(id LegID, t model.Duration) (model.Duration, outcome) {
	l := &b.g.Legs[id]
	switch {
	case !t.Finite():
		return t, failed
	case !l.Awaited() && (b.visit.trial || t >= b.until):
		return t, succeeded
	}
	end, best := t, skipped
	for n := int64(0); n < l.Repeat && b.step(id); n++ {
		var ok bool
		end, ok = b.round(id, end)
		switch {
		case ok:
			best = succeeded
		case !l.Optional || !end.Finite() || b.err != nil:
			best = failed
		}
		if best == failed {
			break
		}
	}
	if !l.Awaited() {
		return t, succeeded
	}
	return end, best
}

// round makes the attempts of one round, and says when it ended and whether well.
func (b *bodyRun) round(id LegID, t model.Duration) (model.Duration, bool) {
	l := &b.g.Legs[id]
	_, w := b.g.CallOf(id)
	_, patience := l.limits()
	stop := min(l.Timeout, b.visit.limit.Sub(t))
	short := func(s model.Duration) bool { return l.MinLeft > 0 && stop.Finite() && stop-s < l.MinLeft }
	if stop <= 0 || short(0) {
		return t, false
	}
	for s, k := model.Duration(0), int64(1); ; k++ {
		if l.Awaited() && t.Add(s) >= b.until {
			return model.NoLimit, false // does not begin, and so comes to no end
		}
		if !b.step(id) {
			return t, false
		}
		lasts, ok, late := b.attempt(id, t.Add(s), min(patience, stop.Sub(s)))
		s = s.Add(lasts)
		again := l.RetryOn.Late()
		if late {
			again = l.RetryOn.Timeout()
		}
		if ok || !again || k >= l.Attempts || !s.Finite() {
			return t.Add(s), ok
		}
		_, pause := w.Backoff.Wait(k)
		switch next := s.Add(pause); {
		case next > l.Window, short(next):
			return t.Add(s), false
		case next >= stop: // sleeps into the limit
			return t.Add(stop), false
		default:
			s = next
		}
	}
}

// attemptRun is one attempt with the copies that a hedge sends.
type attemptRun struct {
	*bodyRun
	id   LegID
	leg  *Leg
	at   model.Duration
	wait model.Duration // how long it is waited for at most
	both model.Propagation
	// enforced and carried say whether the callee stops in time, and whether it is told a deadline.
	enforced, carried bool
	// answers has when each copy that was sent answers, after the first one's start; good is the first good answer.
	answers []model.Duration
	good    model.Duration
}

// attempt makes one attempt that is waited for at most w: how long it lasts, whether the answer is good, and whether
// its time ran out.
func (b *bodyRun) attempt(id LegID, at, w model.Duration) (lasts model.Duration, ok, late bool) {
	l := &b.g.Legs[id]
	_, waiter := b.g.CallOf(id)
	carries := waiter.Propagates.Or(0)
	a := attemptRun{bodyRun: b, id: id, leg: l, at: at, wait: w, both: carries & b.g.Nodes[l.To].Honors, good: model.NoLimit}
	a.enforced = b.sc.Enforced || a.both != 0
	a.carried = b.sc.Enforced || carries&model.Deadline != 0
	last := a.send()
	ok = a.good != model.NoLimit
	late = !ok && last >= w
	if lasts = min(last, w); ok {
		lasts = a.good
	}
	if !b.visit.trial {
		a.note(lasts, ok, late)
	}
	return lasts, ok, late
}

// send finds out which copies are sent and when they answer, the last of them too. That does not depend on when they
// are given up, which is not known before.
func (a *attemptRun) send() (last model.Duration) {
	for off := model.Duration(0); int64(len(a.answers)) < a.leg.Copies && off < a.wait && off < a.good; off = off.Add(a.leg.After) {
		if len(a.answers) > 0 {
			// All have failed, or nobody is there to send another.
			if off >= last || a.leg.Awaited() && a.at.Add(off) >= a.until || !a.step(a.id) {
				return last
			}
		}
		v := &a.visits[a.ask(off, a.patience(a.leg, a.at, a.wait), a.cancelled(a.leg, a.at, a.both), a.leg.Copies > 1)]
		answer := off.Add(v.answers).Add(a.leg.Network)
		if v.ok && answer <= a.wait {
			a.good = min(a.good, answer)
		}
		a.answers = append(a.answers, answer)
		last = max(last, answer)
	}
	return last
}

// ask is the invocation of the callee for the copy that is sent at a time after the attempt's start.
func (a *attemptRun) ask(off, patience, cancel model.Duration, trial bool) int32 {
	limit := a.accept(a.leg.To, a.enforced, a.carried, a.wait.Sub(off))
	return a.runner.visit(visitKey{a.leg.To, limit, patience, cancel, trial || a.visit.trial})
}

// note adds the copies to what the caller started, each with the moment when nobody waits for it any more.
func (a *attemptRun) note(lasts model.Duration, ok, late bool) {
	for k, answer := range a.answers {
		off := a.leg.After.Mul(int64(k))
		begun := a.at.Add(off)
		patience, cancel := a.patience(a.leg, begun, a.wait.Sub(off)), a.cancelled(a.leg, begun, a.both)
		if a.leg.Copies > 1 {
			patience = min(patience, lasts.Sub(off))
			if ok && answer > a.good && (a.sc.Enforced || a.both&model.Cancel != 0) {
				cancel = min(cancel, lasts.Sub(off))
			}
		}
		waited := min(answer, lasts)
		if a.leg.Awaited() {
			waited = min(waited, a.until.Sub(a.at))
		}
		a.children = append(a.children, child{
			visit: a.ask(off, patience, cancel, false), leg: a.id, at: begun, n: a.leg.FanOut,
			waited: waited.Sub(off), gaveUp: answer > waited || late && answer >= a.wait,
		})
	}
}

// patience is when the first caller gives up on what starts at a time and is waited for w by its own: nobody further up
// waits for what runs in the background.
func (b *bodyRun) patience(l *Leg, at, w model.Duration) model.Duration {
	if !l.Awaited() {
		return w
	}
	return min(w, b.visit.patience.Sub(at), b.until.Sub(at))
}

// cancelled is when a cancellation of this invocation reaches what starts at a time.
func (b *bodyRun) cancelled(l *Leg, at model.Duration, both model.Propagation) model.Duration {
	if !l.Awaited() || !b.sc.Enforced && both&model.Cancel == 0 {
		return model.NoLimit
	}
	return b.until.Sub(at)
}
