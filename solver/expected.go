package solver

import (
	"math"

	"github.com/budgetplan/budgetplan/model"
)

// Chance is a share or a mean with what is known of it: Partial is a lower bound, as what nobody gave a failure rate for
// counts as never failing.
type Chance struct {
	V     float64
	Known Knowledge
}

// Expected gives the mean attempts that one request at a root makes of every node, where attempts fail as often as the
// plan says (`failure_rate`) and independently of each other: (1 − qⁿ) ÷ (1 − q) for n attempts, of layers the product,
// which telescopes (solver.md 1.5). No clock and no budget stops them. How often each of several alternatives is taken
// nobody says: they count as never, and what only they reach is Nothing, as is what no request reaches. A call is made
// as often as its `probability` says.
func Expected(g *Graph, root int) []Chance {
	x := expecting{g, make([]Chance, len(g.Nodes)), make([]Chance, len(g.Nodes)), make([]bool, len(g.Nodes))}
	for i := len(g.Order) - 1; i >= 0; i-- {
		if n := &g.Nodes[g.Order[i]]; n.flowAt < n.flowEnd {
			x.fails[g.Order[i]] = x.flow(n.flowAt)
		}
	}
	r := &g.Roots[root]
	x.add(r.Node, tries(x.fails[r.Node], r.Attempts))
	for _, n := range g.Order {
		if !x.reached[n] {
			continue
		}
		if node := &g.Nodes[n]; node.flowAt < node.flowEnd {
			x.send(n, node.flowAt, x.mean[n])
		}
		if m := &x.mean[n]; m.V == 0 && m.Known == Partial {
			m.Known = Nothing
		}
	}
	return x.mean
}

type expecting struct {
	g       *Graph
	fails   []Chance // that an invocation of the node fails; Nothing where nobody gave any rate
	mean    []Chance // attempts that reach it
	reached []bool
}

// tries is the mean of up to n attempts, each of which fails with a chance.
func tries(q Chance, n int64) Chance {
	switch {
	case n <= 1:
		return Chance{1, Complete}
	case q.V >= 1:
		return Chance{float64(min(n, MaxCount)), q.Known}
	}
	return Chance{(1 - math.Pow(q.V, float64(n))) / (1 - q.V), max(q.Known, Partial)}
}

// attempt is the chance that one attempt fails: as it was measured, else as the callee's own calls fail.
func (x *expecting) attempt(l *Leg) Chance {
	if l.Last {
		if rate := x.g.plan.Calls[l.Call].FailureRate(); rate.Set() {
			return Chance{rate.V, Complete}
		}
	}
	return x.fails[l.To]
}

// retries is how many attempts may follow each other.
func retries(l *Leg) int64 {
	if l.RetryOn == 0 {
		return 1
	}
	return l.Attempts
}

// flow is the chance that a body fails.
func (x *expecting) flow(at int32) Chance {
	f := &x.g.flow[at]
	if f.kind == model.One {
		l := &x.g.Legs[f.leg]
		if !l.Awaited() || l.Optional {
			return Chance{0, Complete}
		}
		q := x.attempt(l)
		return Chance{math.Pow(q.V, float64(retries(l))), q.Known}
	}
	if at+1 == f.end {
		return Chance{0, Complete}
	}
	all, none, worst, known, some := 1.0, 1.0, 0.0, Complete, Nothing
	for i := at + 1; i < f.end; i = x.g.flow[i].end {
		q := x.flow(i)
		all, none, worst = all*q.V, none*(1-q.V), max(worst, q.V)
		known, some = min(known, q.Known), max(some, q.Known)
	}
	known = max(known, min(some, Partial))
	switch f.kind {
	case model.Fallback:
		return Chance{all, known}
	case model.OneOf:
		return Chance{worst, known}
	}
	return Chance{1 - none, known}
}

// send adds what a node that is reached so often sends through its body. The next of a fallback is reached where those
// before it fail.
func (x *expecting) send(n NodeID, at int32, reached Chance) {
	f := &x.g.flow[at]
	if f.kind == model.One {
		l := &x.g.Legs[f.leg]
		made := tries(x.attempt(l), retries(l))
		if p := x.g.plan.Calls[l.Call].Probability(); p.Set() && x.g.Nodes[n].Waiter < 0 {
			made.V *= p.V
		}
		x.add(l.To, Chance{reached.V * made.V * float64(MulCount(l.Repeat, l.FanOut)), min(reached.Known, made.Known)})
		return
	}
	several := f.kind == model.OneOf && at+1 < f.end && x.g.flow[at+1].end < f.end
	for i := at + 1; i < f.end; i = x.g.flow[i].end {
		if several {
			x.send(n, i, Chance{0, Partial})
			continue
		}
		x.send(n, i, reached)
		if f.kind == model.Fallback {
			q := x.flow(i)
			reached = Chance{reached.V * q.V, min(reached.Known, max(q.Known, Partial))}
		}
	}
}

func (x *expecting) add(to NodeID, more Chance) {
	mean := &x.mean[to]
	if !x.reached[to] {
		x.reached[to], mean.Known = true, Complete
	}
	mean.V = min(mean.V+more.V, float64(MaxCount))
	mean.Known = min(mean.Known, more.Known)
}
