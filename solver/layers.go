package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// Amplifier counts the configured attempts at one service for one request of a root, under changes of the
// layers above it. It looks at the service, its callers and theirs alone, each once a count.
type Amplifier struct {
	g     *Graph
	root  *Root
	above []NodeID // everything that leads to the service and, last, the service itself; callers first
	local map[NodeID]int32
	calls [][]localCall // by place in above; nil where a one-of chooses
	size  int
	// attempts has the changes by leg, ByRoot for the root's own client.
	attempts map[LegID]int64
	// reach and back belong to the plan as it is: what arrives at each place, and what one request there sends to
	// the service.
	reach, back []int64
}

// localCall is one call among the services above.
type localCall struct {
	leg LegID
	to  int32
}

// ByRoot stands for the client of the root among the layers of an Amplifier.
const ByRoot LegID = -1

// NewAmplifier prepares to count the attempts at a node. The root indexes Graph.Roots.
func NewAmplifier(g *Graph, at NodeID, root int32) *Amplifier {
	a := &Amplifier{g: g, root: &g.Roots[root], local: map[NodeID]int32{at: 0}, attempts: map[LegID]int64{}}
	a.above = []NodeID{at}
	for i := 0; i < len(a.above); i++ {
		for _, l := range g.In(a.above[i]) {
			from := g.Legs[l].From
			if _, seen := a.local[from]; !seen {
				a.local[from] = 0
				a.above = append(a.above, from)
			}
			a.size++
		}
	}
	a.sort()
	a.calls = make([][]localCall, len(a.above))
	for i, n := range a.above[:len(a.above)-1] {
		if g.hasOneOf(&g.Nodes[n]) {
			continue
		}
		g.Out(n, func(l LegID) {
			if to, in := a.local[g.Legs[l].To]; in {
				a.calls[i] = append(a.calls[i], localCall{l, to})
			}
		})
	}
	a.reach = a.arrive()
	a.back = make([]int64, len(a.above))
	a.back[len(a.above)-1] = 1
	for i := len(a.above) - 2; i >= 0; i-- {
		a.each(i, func(to int32, n int64) { a.back[i] = saturate(a.back[i] + MulCount(n, a.back[to])) })
	}
	return a
}

// From gives the amplifier for requests of another root, as the plan is.
func (a *Amplifier) From(root int32) *Amplifier {
	b := *a
	b.root, b.attempts = &a.g.Roots[root], map[LegID]int64{}
	b.reach = b.arrive()
	return &b
}

// sort puts callers before their callees, in an order that does not depend on how they were found.
func (a *Amplifier) sort() {
	slices.Sort(a.above)
	waiting := make(map[NodeID]int, len(a.above)) // callers not yet placed
	order := make([]NodeID, 0, len(a.above))
	for _, n := range a.above {
		waiting[n] = len(a.g.In(n))
		if waiting[n] == 0 {
			order = append(order, n)
		}
	}
	for i := 0; i < len(order); i++ {
		a.local[order[i]] = int32(i)
		a.g.Out(order[i], func(l LegID) {
			to := a.g.Legs[l].To
			if left, in := waiting[to]; in {
				waiting[to] = left - 1
				if left == 1 {
					order = append(order, to)
				}
			}
		})
	}
	a.above = order
}

// Size is how many calls lead to the service: what a count looks at.
func (a *Amplifier) Size() int { return a.size + 1 }

// Layers gives everything that retries or hedges on the way from the root to the service, outermost first:
// ByRoot for the root's own client, else the leg.
func (a *Amplifier) Layers() []LegID {
	var layers []LegID
	if a.root.Attempts > 1 {
		layers = append(layers, ByRoot)
	}
	for i, n := range a.above[:len(a.above)-1] {
		if a.reach[i] == 0 {
			continue
		}
		a.g.Out(n, func(l LegID) {
			leg := &a.g.Legs[l]
			if _, in := a.local[leg.To]; in && leg.Multiplies() > 1 {
				layers = append(layers, l)
			}
		})
	}
	return layers
}

// Multiplies is how many requests a leg makes of one when every attempt fails: attempts that can reach the
// callee × hedged copies.
func (l *Leg) Multiplies() int64 {
	n := l.Attempts
	if !l.RetryOn.Reaches() {
		n = 1 // a retry of what was never begun reaches nobody
	}
	return MulCount(saturate(n), l.Copies)
}

// Set gives a layer another number of attempts in every count that follows; 1 ends its hedging too, and 0 gives
// it its own again.
func (a *Amplifier) Set(layer LegID, attempts int64) {
	if attempts == 0 {
		delete(a.attempts, layer)
		return
	}
	a.attempts[layer] = attempts
}

// Count gives the attempts at the service under all that was set, a count as in Counts.
func (a *Amplifier) Count() int64 { return a.arrive()[len(a.above)-1] }

// Without gives the attempts at the service if one layer alone sent each request once, a count as in Counts.
func (a *Amplifier) Without(layer LegID) int64 {
	all := a.reach[len(a.above)-1]
	if layer != ByRoot && all < MaxCount {
		// Nothing saturated: what the layer adds is a product.
		leg := &a.g.Legs[layer]
		from, to := a.local[leg.From], a.local[leg.To]
		if calls := a.calls[from]; calls != nil {
			added := a.perCall(layer) - MulCount(leg.Repeat, leg.FanOut)
			return all - MulCount(MulCount(a.reach[from], added), a.back[to])
		}
	}
	a.Set(layer, 1)
	defer a.Set(layer, 0)
	return a.Count()
}

// arrive counts what arrives at each place.
func (a *Amplifier) arrive() []int64 {
	reach := make([]int64, len(a.above))
	if i, in := a.local[a.root.Node]; in {
		reach[i] = saturate(a.root.Attempts)
		if n := a.attempts[ByRoot]; n > 0 {
			reach[i] = n
		}
	}
	for i := range a.above[:len(a.above)-1] {
		if reach[i] > 0 {
			a.each(i, func(to int32, n int64) { reach[to] = saturate(reach[to] + MulCount(reach[i], n)) })
		}
	}
	return reach
}

// each visits what one request at a place sends to each callee that leads to the service.
func (a *Amplifier) each(i int, visit func(to int32, n int64)) {
	if a.calls[i] != nil {
		for _, c := range a.calls[i] {
			visit(c.to, a.perCall(c.leg))
		}
		return
	}
	for _, s := range a.sends(a.g.Nodes[a.above[i]].flowAt) {
		if to, in := a.local[s.to]; in {
			visit(to, s.n)
		}
	}
}

// sent is how many attempts one request at a caller sends to a callee.
type sent struct {
	to NodeID
	n  int64
}

// sends counts a flow by callee: the sum, of a one-of the largest alternative.
func (a *Amplifier) sends(at int32) []sent {
	f := &a.g.flow[at]
	if f.kind == model.One {
		return []sent{{a.g.Legs[f.leg].To, a.perCall(f.leg)}}
	}
	var sum []sent
	index := map[NodeID]int{}
	for i := at + 1; i < f.end; i = a.g.flow[i].end {
		for _, s := range a.sends(i) {
			k, seen := index[s.to]
			switch {
			case !seen:
				index[s.to] = len(sum)
				sum = append(sum, s)
			case f.kind == model.OneOf:
				sum[k].n = max(sum[k].n, s.n)
			default:
				sum[k].n = saturate(sum[k].n + s.n)
			}
		}
	}
	return sum
}

func (a *Amplifier) perCall(l LegID) int64 {
	leg := &a.g.Legs[l]
	sent := leg.Multiplies()
	if n := a.attempts[l]; n > 0 {
		changed := *leg
		changed.Attempts = n
		if n == 1 {
			changed.Copies = 1
		}
		sent = changed.Multiplies()
	}
	return MulCount(sent, MulCount(leg.Repeat, leg.FanOut))
}
