// Package solver computes what a compiled call graph can take, must take and may take: bounds, attempts,
// budgets, slack. It has pure functions over flat arrays, in integer nanoseconds, without names or I/O.
//
// Duration fields follow model.Duration: model.Unknown where a missing fact decides, model.NoLimit where a
// written or default `none` does.
package solver

import "github.com/budgetplan/budgetplan/model"

// NodeID and LegID index Graph.Nodes and Graph.Legs.
type (
	NodeID int32
	LegID  int32
)

// Graph is a plan compiled for solving: acyclic, waiters in series written out as legs, every default applied.
type Graph struct {
	// Nodes are the services in plan order (node i is service i), then one node for each inner waiter.
	Nodes []Node
	// Legs are the waiters of all calls in plan order, outermost first within a call.
	Legs []Leg
	// FirstLeg gives the outermost leg of each call; the call's legs follow each other. -1 for a call cut out of a cycle.
	FirstLeg []LegID
	// Roots are the entrypoints in plan order, then the services that nobody calls.
	Roots []Root
	// Order has every node after all its callers.
	Order []NodeID

	plan *model.Plan
	flow []flowNode // the bodies of all nodes, in preorder
	// levels has the nodes by the longest way that leads to them; those of level i are levels[levelAt[i]:levelAt[i+1]].
	levels  []NodeID
	levelAt []int32
	// Those into node n are inLegs[inAt[n]:inAt[n+1]], their callers stand in inFrom.
	inAt   []int32
	inLegs []LegID
	inFrom []NodeID
}

// Node is a service, or an inner waiter seen as one: no work of its own, one call.
type Node struct {
	// Service is the service; for an inner waiter, the callee of its call.
	Service model.ServiceID
	// Waiter is the leg that an inner waiter makes, -1 for a service.
	Waiter        LegID
	Before, After model.Duration
	Queue         model.Duration // 0 where unset
	// Limit is the server timeout, NoLimit where unset or `none`.
	Limit  model.Duration
	Margin model.Margin
	Honors model.Propagation
	// Leaf is true for a service that waits for nobody.
	Leaf bool

	hasLocal        bool           // somebody wrote Before or After
	deadline        model.Duration // assumed where a call carries none; NoLimit for none
	most            model.Duration // the largest bound of the latency over its calls, 0 without one
	flowAt, flowEnd int32
}

// Local is the service's own work.
func (n *Node) Local() model.Duration { return n.Before.Add(n.After) }

// flowNode is one node of a body; its subtree ends before end.
type flowNode struct {
	kind model.FlowKind
	leg  LegID
	end  int32
}

// Leg is one waiter of one call. Limits are NoLimit where written or by default `none`, Unknown where unset. What one
// pass reads stands together, and nothing is a pointer.
type Leg struct {
	Call     model.CallID
	Waiter   int32 // index into the call's Waiters
	From, To NodeID

	// Attempts include the first; unlimited is 1<<61.
	Attempts int64
	Repeat   int64
	Network  model.Duration
	// backoffSum is the sum of the upper bounds of all waits between attempts.
	backoffSum model.Duration
	measured   model.Duration // what sizes one attempt, where no root asks for another percentile
	Optional   bool
	Async      bool
	Stream     bool
	// Last is true for the innermost leg of a call, the one that the callee's latency belongs to.
	Last          bool
	leaf          bool // the callee is one
	hasMeasured   bool
	ownPercentile bool
	enforced      bool // what the caller propagates, the callee honours

	Timeout model.Duration
	PerTry  model.Duration
	Read    model.Duration
	// Connect is 0 where unset: an unset connect timeout adds nothing.
	Connect    model.Duration
	Pool       model.Duration // 0 where unset
	Window     model.Duration // NoLimit where unset
	most       model.Duration // bound of the latency, Unknown where there is none
	ConnectSet bool
	Extra      bool              // the per-try clock starts once connected
	RetryOn    model.FailureKind // statuses as one of them
	Fixed      Fixed
	propagates model.Propagation
	falseKnown bool

	FanOut int64
	Copies int64          // hedged copies of an attempt, 1 without hedging
	After  model.Duration // delay between copies
	// MinLeft is the least time left to start an attempt, 0 where unset.
	MinLeft      model.Duration
	Budget       model.Fraction // retry budget, -1 where unset
	least        model.Duration // bound of the latency, 0 where there is none
	cut          model.Duration // where the callee stops by itself: a deadline that it assumes, the limit of a leaf
	falseTimeout float64
}

// FalseTimeout bounds the share of healthy attempts that the patience cuts.
func (l *Leg) FalseTimeout() (share float64, known bool) { return l.falseTimeout, l.falseKnown }

// Fixed says which of its own values a call keeps.
type Fixed uint8

// The values that the solver would change.
const (
	FixedTimeout Fixed = 1 << iota
	FixedPerTry
	FixedAll // whatever there is
)

// Timeout reports whether the call keeps its timeout.
func (f Fixed) Timeout() bool { return f&(FixedTimeout|FixedAll) != 0 }

// PerTry reports whether the call keeps its per-try timeout.
func (f Fixed) PerTry() bool { return f&(FixedPerTry|FixedAll) != 0 }

// Awaited reports whether the caller waits for the call: neither async nor a stream.
func (l *Leg) Awaited() bool { return !l.Async && !l.Stream }

// Root is where requests come in: an entrypoint, or a service that nobody calls.
type Root struct {
	// Entrypoint indexes Plan.Entrypoints, -1 for a service that nobody calls.
	Entrypoint int32
	Node       NodeID
	SLO        model.Duration // NoLimit where unset
	Timeout    model.Duration // Unknown where unset, NoLimit where `none`
	TimeoutSet bool
	Overhead   model.Duration
	Attempts   int64
	Percentile model.Fraction
	Rate       float64 // 0 where unset
}

// In gives the legs that reach a node, in plan order.
func (g *Graph) In(n NodeID) []LegID { return g.inLegs[g.inAt[n]:g.inAt[n+1]] }

// callers gives the callers of In.
func (g *Graph) callers(n NodeID) []NodeID { return g.inFrom[g.inAt[n]:g.inAt[n+1]] }

// Out calls visit for every leg of a node's body, in the order written.
func (g *Graph) Out(n NodeID, visit func(LegID)) {
	for i := g.Nodes[n].flowAt; i < g.Nodes[n].flowEnd; i++ {
		if g.flow[i].kind == model.One {
			visit(g.flow[i].leg)
		}
	}
}

// CallOf gives the call of a leg and the waiter that makes it.
func (g *Graph) CallOf(l LegID) (*model.Call, *model.Waiter) {
	c := &g.plan.Calls[g.Legs[l].Call]
	return c, &c.Waiters[g.Legs[l].Waiter]
}

// LegName gives the id of a leg: the call's, with `@waiter` for an inner one.
func (g *Graph) LegName(l LegID) string {
	c, w := g.CallOf(l)
	if g.Legs[l].Waiter == 0 {
		return c.ID
	}
	return c.ID + "@" + w.Name
}
