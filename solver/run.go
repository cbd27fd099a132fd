package solver

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
)

// Scenario is what becomes of one service while a request runs: it is slow, fails or hangs. Its own calls do not matter
// then. A service that leads to it does its local work and its calls; every other service answers well after its
// local work alone, and its calls are not followed. No latency enters: what a run shows is the named service's doing.
type Scenario struct {
	// Service is the index of the service, not of an inner waiter.
	Service NodeID
	// Takes is how long it works on each attempt before it answers; NoLimit where it hangs.
	Takes model.Duration
	// Fails makes its answer an error, which is retried where an answer or a reset is.
	Fails bool
	// Enforced lets every call carry deadline and cancellation, the client's too, and every callee obey them.
	Enforced bool
}

// Run is what one request at a root comes to under a scenario, exactly. Times count from the moment when the client
// sent the request.
//
// It is solver.md §1.4 made general: back-off is at its upper end, connections and pools cost nothing, nobody queues; an
// attempt lasts at most its patience. An answer at the very end of a limit still counts, an attempt at that moment
// does not start, an error at that moment counts as a timeout. Parallel calls are all waited for. A one-of takes the
// worst of the alternatives that lead to the service: one that fails, else the one that takes longest, else the first.
// Calls that nobody waits for run beside the rest, under their caller's limits, and are orphaned by nobody but
// their own waiter. The copies of a hedge share their attempt's patience; the first good answer ends it, and the last
// bad one.
type Run struct {
	// Answer is when the client has an answer, an error or enough of waiting: Unknown or NoLimit where it never does.
	Answer   model.Duration
	Answered bool // well
	// Ends is when the last work for the request ends, at any service; NoLimit or Unknown where it never does.
	Ends model.Duration
	// Services are those that the request reached, in plan order.
	Services []Spent
	// Invocations are all of them in the order of their starts; nil where there are more than MaxInvocations.
	Invocations []Invocation
}

// Spent is what one request costs at a service. Sums saturate: counts at MaxCount, times at NoLimit.
type Spent struct {
	Service NodeID
	Starts  int64
	// Work is the time that all its invocations take, Orphan what of it is after a caller on the path gave up, Waited
	// how long direct callers stood waiting for it.
	Work, Orphan, Waited model.Duration
	// Overlap is the largest number of invocations at one moment, 0 where Run.Invocations is nil.
	Overlap int64
}

// Invocation is one run of a service for one attempt.
type Invocation struct {
	Service NodeID
	// Leg is the waiter that asked, -1 for the client.
	Leg LegID
	// Start and End are moments; End is NoLimit or Unknown where it never ends.
	Start, End model.Duration
	// GaveUp is when whoever asked stopped waiting for it, be it at the very end; NoLimit where it had an answer. Left is
	// when the first caller on the path did, NoLimit where none did before the end.
	GaveUp, Left model.Duration
	// OK is whether it answered well. Who was told to stop first did not answer.
	OK bool
}

// MaxInvocations is how many invocations a Run lists.
const MaxInvocations = 100_000

// The size of a run that is still computed: attempts told apart, and services in a chain.
const (
	maxRunSteps = 1_000_000
	maxRunDepth = 20_000
)

// TooLarge is the error of a run that is not computed: Leg is where its attempts no longer end, or its chain.
type TooLarge struct {
	Leg   LegID // -1 for the client's own attempts
	Depth bool  // the chain is too long, else there are too many attempts
}

// Error says what is too large.
func (e *TooLarge) Error() string {
	if e.Depth {
		return fmt.Sprintf("the run is too large: more than %d services call each other in a chain", maxRunDepth)
	}
	return fmt.Sprintf("the run is too large: more than %d different attempts", maxRunSteps)
}

// LeadingTo marks the nodes from which a node can be reached, itself included.
func (g *Graph) LeadingTo(n NodeID) []bool {
	leads := make([]bool, len(g.Nodes))
	leads[n] = true
	for todo := []NodeID{n}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, l := range g.In(at) {
			if from := g.Legs[l].From; !leads[from] {
				leads[from] = true
				todo = append(todo, from)
			}
		}
	}
	return leads
}

// Run plays one request at a root. Its error is a *TooLarge.
func (g *Graph) Run(root *Root, sc Scenario) (*Run, error) {
	r := &runner{g: g, sc: sc, leads: g.LeadingTo(sc.Service), memo: map[visitKey]int32{}}
	out := &Run{}
	r.client(root, out)
	if r.err != nil {
		return nil, r.err
	}
	r.sum(out)
	r.list(out)
	return out, nil
}

// client makes the attempts of the root.
func (r *runner) client(root *Root, out *Run) {
	at := min(root.Overhead, root.Timeout)
	for k := int64(1); at < root.Timeout; k++ {
		if !r.step(-1) {
			return
		}
		w := root.Timeout.Sub(at)
		lim := r.accept(root.Node, r.sc.Enforced, r.sc.Enforced, w)
		id := r.visit(visitKey{node: root.Node, limit: lim, patience: w, cancel: model.NoLimit})
		if r.err != nil {
			return
		}
		v := &r.visits[id]
		lasts := min(v.lasts, w)
		r.byClient = append(r.byClient, child{visit: id, leg: -1, at: at, n: 1, waited: lasts, gaveUp: !v.ok && v.lasts >= w || v.lasts > w})
		at = at.Add(lasts)
		if v.ok && v.lasts <= w {
			out.Answered = true
			break
		}
		if k >= root.Attempts || !at.Finite() {
			break
		}
	}
	out.Answer = at
}

// sum adds up what each service was asked for, callers before callees.
func (r *runner) sum(out *Run) {
	out.Ends = max(0, r.lastEnd(r.byClient))
	times := make([]int64, len(r.visits))
	spent := make(map[NodeID]*Spent)
	ask := func(c *child, n int64) {
		n = MulCount(n, c.n)
		v := &r.visits[c.visit]
		times[c.visit] = saturate(times[c.visit] + n)
		if r.g.Nodes[v.node].Waiter >= 0 {
			return
		}
		s := spent[v.node]
		if s == nil {
			s = &Spent{Service: v.node}
			spent[v.node] = s
		}
		s.Waited = s.Waited.Add(c.waited.Mul(n))
	}
	for i := range r.byClient {
		ask(&r.byClient[i], 1)
	}
	for i := len(r.visits) - 1; i >= 0; i-- {
		v := &r.visits[i]
		if times[i] == 0 {
			continue
		}
		r.total = saturate(r.total + times[i])
		for k := range v.children {
			ask(&v.children[k], times[i])
		}
		if s := spent[v.node]; s != nil {
			s.Starts = saturate(s.Starts + times[i])
			s.Work = s.Work.Add(v.lasts.Mul(times[i]))
			s.Orphan = s.Orphan.Add(v.orphan().Mul(times[i]))
		}
	}
	for n := range r.g.Nodes {
		if s := spent[NodeID(n)]; s != nil {
			out.Services = append(out.Services, *s)
		}
	}
}
