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
	at    NodeID
	above []NodeID // the service and everything that leads to it, callers first
	in    map[NodeID]bool
	// attempts has the changes by leg, -1 for the root's own client.
	attempts map[LegID]int64
}

// ByRoot stands for the client of the root among the layers of an Amplifier.
const ByRoot LegID = -1

// NewAmplifier prepares to count the attempts at a node. The root indexes Graph.Roots.
func NewAmplifier(g *Graph, at NodeID, root int32) *Amplifier {
	a := &Amplifier{g: g, root: &g.Roots[root], at: at, in: map[NodeID]bool{at: true}, attempts: map[LegID]int64{}}
	for todo := []NodeID{at}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		a.above = append(a.above, n)
		for _, l := range g.In(n) {
			if from := g.Legs[l].From; !a.in[from] {
				a.in[from] = true
				todo = append(todo, from)
			}
		}
	}
	a.sort()
	return a
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
		a.g.Out(order[i], func(l LegID) {
			if to := a.g.Legs[l].To; a.in[to] {
				if waiting[to]--; waiting[to] == 0 {
					order = append(order, to)
				}
			}
		})
	}
	a.above = order
}

// Size is how many services and waiters lead to the service, itself included.
func (a *Amplifier) Size() int { return len(a.above) }

// Layers gives everything that retries or hedges on the way from the root to the service, outermost first:
// ByRoot for the root's own client, else the leg.
func (a *Amplifier) Layers() []LegID {
	var layers []LegID
	if a.root.Attempts > 1 {
		layers = append(layers, ByRoot)
	}
	reach := a.reach()
	for _, n := range a.above {
		if n == a.at || reach[n] == 0 {
			continue
		}
		a.g.Out(n, func(l LegID) {
			if leg := &a.g.Legs[l]; a.in[leg.To] && leg.Multiplies() > 1 {
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
	return mulCount(saturate(n), l.Copies)
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

// Count gives the attempts at the service, at most MaxCount.
func (a *Amplifier) Count() int64 { return a.reach()[a.at] }

// reach gives what arrives at each node.
func (a *Amplifier) reach() map[NodeID]int64 {
	reach := make(map[NodeID]int64, len(a.above))
	reach[a.root.Node] = saturate(a.root.Attempts)
	if n := a.attempts[ByRoot]; n > 0 {
		reach[a.root.Node] = n
	}
	for _, n := range a.above {
		node := &a.g.Nodes[n]
		if reach[n] == 0 || n == a.at || node.flowAt == node.flowEnd {
			continue
		}
		for _, s := range a.sends(node.flowAt) {
			if a.in[s.to] {
				reach[s.to] = saturate(reach[s.to] + mulCount(reach[n], s.n))
			}
		}
	}
	return reach
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
	leg := a.g.Legs[l]
	if n := a.attempts[l]; n > 0 {
		leg.Attempts = n
		if n == 1 {
			leg.Copies = 1
		}
	}
	return mulCount(leg.Multiplies(), mulCount(leg.Repeat, leg.FanOut))
}
