package witness

import (
	"container/heap"
	"errors"
	"math"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// Trouble is what becomes of one service while a request runs.
type Trouble struct {
	Service model.ServiceID
	// Takes is how long it works on each attempt, model.NoLimit where it never answers.
	Takes model.Duration
	Fails bool
	// Enforced lets everybody carry deadline and cancellation and obey them.
	Enforced bool
}

// forever is the moment of what does not happen.
const forever moment = math.MaxInt64

// moment counts nanoseconds from when the client sent the request. As a length, forever is one without an end.
type moment int64

func (m moment) plus(d moment) moment {
	if m == forever || d == forever || m > forever-d {
		return forever
	}
	return m + d
}

// until is how long it takes from m to a later moment.
func (m moment) until(end moment) moment {
	if end == forever {
		return forever
	}
	return end - m
}

// ErrTooLong is the error of a request that does not come to rest within so many events.
var ErrTooLong = errors.New("too many events")

// happening is one thing that is due. At one moment, what goes on by itself (work that is done, a pause that is over)
// comes before what a clock forces, and a clock further down the path strikes before those above it: an answer that
// comes with the limit is in time.
type happening struct {
	at     moment
	forced bool
	depth  int
	seq    int
	do     func() // nil once called off
}

// agenda is what is due, the next first.
type agenda []*happening

func (a agenda) Len() int      { return len(a) }
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*happening)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (a agenda) Less(i, j int) bool {
	x, y := a[i], a[j]
	switch {
	case x.at != y.at:
		return x.at < y.at
	case x.forced != y.forced:
		return y.forced
	case x.forced && x.depth != y.depth:
		return x.depth > y.depth
	}
	return x.seq < y.seq
}

// world is one request on its way: a clock, what is due, and a record of what was done. A world within another tries
// out an alternative and is then forgotten.
type world struct {
	*stage
	now    moment
	due    agenda
	record []*Visit
}

// stage is what all worlds of a request share.
type stage struct {
	plan    *model.Plan
	trouble Trouble
	leads   []bool // by service: whether the troubled one can be reached from it
	events  int
	seq     int
	spent   bool // too many events
}

const maxEvents = 200_000

// after makes something happen when a time has passed.
func (w *world) after(d moment, do func()) *happening { return w.put(w.now.plus(d), false, 0, do) }

// clock strikes at a moment, after all that goes on by itself then.
func (w *world) clock(at moment, depth int, do func()) *happening { return w.put(at, true, depth, do) }

func (w *world) put(at moment, forced bool, depth int, do func()) *happening {
	w.seq++
	h := &happening{at: at, forced: forced, depth: depth, seq: w.seq, do: do}
	if at != forever {
		heap.Push(&w.due, h)
	}
	return h
}

func (h *happening) callOff() {
	if h != nil {
		h.do = nil
	}
}

// run lets time pass until nothing is due any more, or until enough says so.
func (w *world) run(enough func() bool) {
	for w.due.Len() > 0 && !enough() {
		if w.events++; w.events > maxEvents {
			w.spent = true
		}
		if w.spent {
			return
		}
		next := heap.Pop(&w.due).(*happening)
		w.now = next.at
		if next.do != nil {
			next.do()
		}
	}
}

// Visit is one invocation of a service. Moments are model.NoLimit where they never come.
type Visit struct {
	Service model.ServiceID
	Start   model.Duration
	End     model.Duration
	// GaveUp is when the one who asked left without an answer, Left when the first one on the path did.
	GaveUp, Left model.Duration
	OK           bool
	// Waited is how long the one who asked waited for it.
	Waited model.Duration
	void   bool // it did not begin after all
}

// Outcome is what one request came to.
type Outcome struct {
	Answer   model.Duration // when the client has an answer or gives up
	Answered bool           // well
	Visits   []*Visit
}

// Play runs one request at a service, for a client of an entrypoint or, with nil, for one that waits for good.
func Play(p *model.Plan, entry *model.Entrypoint, first model.ServiceID, t Trouble) (*Outcome, error) {
	w := &world{stage: &stage{plan: p, trouble: t, leads: leading(p, t.Service)}}
	out := &Outcome{Answer: model.NoLimit}
	client := &handler{world: w, limit: forever, left: forever}
	r := &round{h: client, terms: clientTerms(entry), to: target{service: first}}
	r.done = func(ok bool) { out.Answer, out.Answered = model.Duration(w.now), ok }
	overhead := moment(0)
	limit := forever
	if entry != nil {
		overhead, limit = moment(entry.Overhead.Or(0)), limitOf(entry.Timeout)
	}
	w.after(min(overhead, limit), func() { r.begin(limit) })
	w.run(func() bool { return false })
	if w.spent {
		return nil, ErrTooLong
	}
	out.Visits = slices.DeleteFunc(w.record, func(v *Visit) bool { return v.void })
	return out, nil
}

// leading marks the services from which the troubled one can be reached, itself included.
func leading(p *model.Plan, x model.ServiceID) []bool {
	leads := make([]bool, len(p.Services))
	leads[x] = true
	for again := true; again; {
		again = false
		for i := range p.Services {
			p.Services[i].Flow.Walk(func(c model.CallID) {
				if !leads[i] && leads[p.Calls[c].To] {
					leads[i], again = true, true
				}
			})
		}
	}
	return leads
}

// limitOf is a limit as a length of time: unset and `none` never act.
func limitOf(v model.Val[model.Duration]) moment {
	if d := v.Or(model.NoLimit); d.Finite() {
		return moment(d)
	}
	return forever
}
