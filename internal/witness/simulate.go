package witness

import (
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// Never is a moment that does not come.
const Never = math.MaxInt64

// Fate is what becomes of one service in a simulated request: it answers each attempt after Takes ns (Never: it hangs),
// well, or where Fails is set with an error.
type Fate struct {
	Service string
	Takes   int64
	Fails   bool
}

// Simulated is what one request came to. Moments are ns after the request began.
type Simulated struct {
	Answer   int64
	Answered bool
	Ends     int64 // of the last work anywhere
	Services map[string]*Spent
}

// Spent is what one request cost at a service: invocations, their ns of work, those of them after a caller on the path
// had left, the ns that callers stood waiting for them, and the most invocations at a time.
type Spent struct {
	Starts                 int
	Work, Orphaned, Waited int64
	Overlap                int
}

// Simulate plays one request at a root (the entrypoints, then the services that nobody calls) event by event, in
// absolute time. Services that do not lead to the one that the fate names do their own work and nothing else. With
// enforced set every call carries deadline and cancellation, and every callee obeys. It is false after too many events.
//
// Events at one moment happen in this order: what goes on by itself, then limits, those further in first. So an answer
// at the very end of a limit still counts, and an attempt at that moment does not start.
func Simulate(p *model.Plan, rootIndex int, f Fate, enforced bool) (*Simulated, bool) {
	s := &sim{shape: newShape(p), fate: f, enforced: enforced, events: new(int), leads: map[*node]bool{}}
	var target *node
	for _, n := range s.shape.nodes {
		if n.name == f.Service {
			target = n
		}
	}
	s.leadTo(target)
	r := &clientRun{sim: s, root: s.shape.roots[rootIndex], until: Never}
	if r.root.timeout.finite() {
		r.until = r.root.timeout.n
	}
	out := &Simulated{Answer: Never}
	r.done = func(ok bool) { out.Answer, out.Answered = s.now, ok }
	s.at(min(r.root.overhead.n, r.until), progress, r.attempt)
	if !s.play() {
		return nil, false
	}
	s.account(out)
	return out, true
}

type sim struct {
	shape    *shape
	fate     Fate
	enforced bool
	leads    map[*node]bool // to the named service
	now      int64
	queue    queue
	events   *int // shared with probes
	all      []*work
}

func (s *sim) leadTo(n *node) {
	if n == nil || s.leads[n] {
		return
	}
	s.leads[n] = true
	for _, l := range n.in {
		s.leadTo(l.from)
	}
}

// progress is the level of what is no limit: it goes first.
const progress = math.MaxInt

type event struct {
	at         int64
	level, seq int
	do         func()
}

type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.level != b.level:
		return a.level > b.level
	}
	return a.seq < b.seq
}
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// at plans something; what is never to happen is not planned.
func (s *sim) at(when int64, level int, do func()) {
	if when == Never {
		return
	}
	*s.events++
	heap.Push(&s.queue, event{when, level, *s.events, do})
}

const mostEvents = 200_000

func (s *sim) play() bool {
	for s.queue.Len() > 0 {
		if *s.events > mostEvents {
			return false
		}
		e := heap.Pop(&s.queue).(event)
		s.now = e.at
		e.do()
	}
	return true
}

func (s *sim) in(d amount) int64 { return later(s.now, d) }

func later(from int64, d amount) int64 {
	if !d.finite() || from == Never {
		return Never
	}
	return from + d.n
}

// work is one invocation of a service or of an inner waiter.
type work struct {
	node        *node
	parent      *work // nil for the client's
	start, end  int64
	left        int64 // when its caller stopped waiting for it
	limit       int64
	depth       int
	background  bool // nobody further up waits for it
	over        bool
	waited      int64
	waitedKnown bool
	open        []*attempt
	done        func(ok bool)
}

func (w *work) limitLevel() int { return 2 * w.depth }
func (w *work) callLevel() int  { return 2*w.depth + 1 }

// request says how an invocation is asked for.
type request struct {
	parent     *work
	depth      int
	background bool
	deadline   int64 // when it must stop, Never where it is not enforced
	told       int64 // the deadline that it is told, Never where it is told none
	done       func(ok bool)
}

func (s *sim) invoke(n *node, r request) *work {
	w := &work{
		node: n, parent: r.parent, start: s.now, end: Never, left: Never, depth: r.depth, background: r.background, done: r.done,
		limit: min(r.deadline, s.in(n.limit)),
	}
	s.all = append(s.all, w)
	if n.service >= 0 {
		v := &s.shape.plan.Services[n.service]
		if r.told == Never {
			w.limit = min(w.limit, s.in(read(v.DefaultDeadline(), none)))
		} else if r.told-s.now < read(v.MinRemaining(), zero).n {
			s.at(s.now, progress, func() { s.finish(w, false) })
			return w
		}
	}
	s.at(w.limit, w.limitLevel(), func() { s.finish(w, false) })
	switch {
	case n.service >= 0 && n.name == s.fate.Service:
		if s.fate.Takes != Never {
			s.at(s.now+s.fate.Takes, progress, func() { s.finish(w, !s.fate.Fails) })
		}
	case n.service >= 0 && !s.leads[n]:
		s.at(s.in(n.local()), progress, func() { s.finish(w, true) })
	default:
		s.at(s.in(n.before), progress, func() {
			if !w.over {
				s.flow(w, n.body, func(o outcome) { s.closing(w, o) })
			}
		})
	}
	return w
}

// closing does the work after the calls, unless one failed.
func (s *sim) closing(w *work, o outcome) {
	if o == failed {
		s.finish(w, false)
		return
	}
	s.at(s.in(w.node.after), progress, func() { s.finish(w, true) })
}

// finish ends an invocation, by itself or because it must stop, and what it was waiting for. What runs in the background
// outlives it.
func (s *sim) finish(w *work, ok bool) {
	if w.over {
		return
	}
	w.over, w.end = true, s.now
	for _, a := range slices.Clone(w.open) {
		if a.round.leg.awaited() {
			a.leave()
		}
	}
	if w.done != nil {
		w.done(ok)
	}
}

type outcome int

const (
	succeeded outcome = iota
	skipped           // an optional call failed
	failed
)

// joined is what a group comes to whose elements all count.
func joined(os []outcome) outcome {
	worst, good := succeeded, len(os) == 0
	for _, o := range os {
		worst, good = max(worst, o), good || o == succeeded
	}
	if worst == skipped && good {
		return succeeded
	}
	return worst
}

func (s *sim) flow(w *work, b *body, then func(outcome)) {
	switch b.kind {
	case model.One:
		s.call(w, b.leg, then)
	case model.Parallel:
		s.together(len(b.of), func(i int, then func(outcome)) { s.flow(w, b.of[i], then) }, then)
	case model.OneOf:
		s.flow(w, b.of[s.worst(w, b.of)], then)
	default:
		s.inTurn(w, b, nil, then)
	}
}

func (s *sim) together(n int, start func(i int, then func(outcome)), then func(outcome)) {
	var ended []outcome
	if n == 0 {
		then(succeeded)
		return
	}
	for i := range n {
		start(i, func(o outcome) {
			if ended = append(ended, o); len(ended) == n {
				then(joined(ended))
			}
		})
	}
}

func (s *sim) inTurn(w *work, b *body, ended []outcome, then func(outcome)) {
	if len(ended) == len(b.of) {
		o := joined(ended)
		if b.kind == model.Fallback && len(ended) > 0 {
			o = slices.Min(ended)
		}
		then(o)
		return
	}
	s.flow(w, b.of[len(ended)], func(o outcome) {
		stop := o == failed
		if b.kind == model.Fallback {
			stop = o == succeeded
		}
		if stop {
			then(o)
			return
		}
		s.inTurn(w, b, append(slices.Clone(ended), o), then)
	})
}

// worst tries each alternative in a world of its own: what fails, else what takes longest, else the first. Where some
// lead to the named service, the others do not count.
func (s *sim) worst(w *work, of []*body) int {
	lead := func(b *body) (any bool) {
		b.walk(func(l *leg) { any = any || s.leads[l.to] })
		return any
	}
	some := slices.ContainsFunc(of, lead)
	best, bestOutcome, bestTime := 0, succeeded, int64(-1)
	for i, b := range of {
		if some && !lead(b) {
			continue
		}
		probe := &sim{shape: s.shape, fate: s.fate, enforced: s.enforced, leads: s.leads, now: s.now, events: s.events}
		o, t := failed, int64(Never) // what never ends is as bad as what fails
		alone := &work{node: w.node, start: s.now, end: Never, left: Never, depth: w.depth, limit: w.limit}
		probe.flow(alone, b, func(got outcome) { o, t = got, probe.now })
		probe.play()
		if o > bestOutcome || o == bestOutcome && t > bestTime {
			best, bestOutcome, bestTime = i, o, t
		}
	}
	return best
}

// leftAt is when the first caller on the path stopped waiting for what this is part of.
func (w *work) leftAt() int64 {
	if w.parent == nil || w.background {
		return w.left
	}
	return min(w.left, w.parent.leftAt())
}

func (s *sim) account(out *Simulated) {
	out.Services = map[string]*Spent{}
	runs := map[string][]*work{}
	for _, w := range s.all {
		if w.node.service < 0 {
			continue
		}
		v := out.Services[w.node.name]
		if v == nil {
			v = &Spent{}
			out.Services[w.node.name] = v
		}
		runs[w.node.name] = append(runs[w.node.name], w)
		v.Starts++
		v.Work = sum(v.Work, w.end, w.start)
		if from := max(w.start, w.leftAt()); from < w.end {
			v.Orphaned = sum(v.Orphaned, w.end, from)
		}
		if w.waitedKnown {
			v.Waited = sum(v.Waited, w.waited, 0)
		} else {
			v.Waited = Never
		}
		out.Ends = max(out.Ends, w.end)
	}
	for name, v := range out.Services {
		v.Overlap = 1
		for _, w := range runs[name] {
			n := 0
			for _, u := range runs[name] {
				if u.start <= w.start && w.start < u.end {
					n++
				}
			}
			v.Overlap = max(v.Overlap, n)
		}
	}
}

// sum adds the time from one moment to another.
func sum(total, to, from int64) int64 {
	if total == Never || to == Never {
		return Never
	}
	return total + to - from
}

// String gives the result in lines, services by name.
func (r *Simulated) String() string {
	at := func(n int64) string {
		if n == Never {
			return "never"
		}
		return ns(n).String()
	}
	text := fmt.Sprintf("answer %s %t, work ends %s\n", at(r.Answer), r.Answered, at(r.Ends))
	var names []string
	for name := range r.Services {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := r.Services[name]
		text += fmt.Sprintf("%s: starts %d, work %s, orphaned %s, waited %s, overlap %d\n",
			name, v.Starts, at(v.Work), at(v.Orphaned), at(v.Waited), v.Overlap)
	}
	return text
}
