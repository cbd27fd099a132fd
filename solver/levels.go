package solver

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// parcel is how many nodes or legs a processor takes at a time; less work than two parcels is not shared out.
const parcel = 4096

// workers is how many processors are worth having for n nodes or legs.
func workers(n int) int { return min(runtime.GOMAXPROCS(0), n/parcel) }

// together runs work for 0 to n−1 at the same time.
func together(n int, work func(int)) {
	if n == 1 {
		work(0)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i) })
	}
	wg.Wait()
}

// each visits 0 to n−1 in any order, on several processors where that pays.
func (g *Graph) each(n int, visit func(int)) {
	w := workers(n)
	if w < 2 {
		for i := range n {
			visit(i)
		}
		return
	}
	var next atomic.Int64
	together(w, func(int) {
		for {
			to := int(next.Add(parcel))
			for i := to - parcel; i < min(to, n); i++ {
				visit(i)
			}
			if to >= n {
				return
			}
		}
	})
}

// down visits every node after all its callers, up after all its callees. Nodes of one level are visited at the same
// time: a visit writes to its own node and to the legs out of it alone.
func (g *Graph) down(visit func(NodeID)) {
	for i := range len(g.levelAt) - 1 {
		g.level(i, visit)
	}
}

func (g *Graph) up(visit func(NodeID)) {
	for i := len(g.levelAt) - 2; i >= 0; i-- {
		g.level(i, visit)
	}
}

func (g *Graph) level(i int, visit func(NodeID)) {
	nodes := g.levels[g.levelAt[i]:g.levelAt[i+1]]
	g.each(len(nodes), func(k int) { visit(nodes[k]) })
}

// byLevel sorts the nodes by the longest way that leads to them, which makes no node of a level call another. Those of a
// level stand in plan order, as their calls do in memory: a pass then reads on and seldom jumps.
func (g *Graph) byLevel() {
	level := make([]int32, len(g.Nodes))
	deepest := int32(-1)
	for _, n := range g.Order {
		deepest = max(deepest, level[n])
		g.Out(n, func(l LegID) {
			to := g.Legs[l].To
			level[to] = max(level[to], level[n]+1)
		})
	}
	g.levelAt = make([]int32, deepest+2)
	for _, n := range g.Order {
		g.levelAt[level[n]+1]++
	}
	for i := range g.levelAt[1:] {
		g.levelAt[i+1] += g.levelAt[i]
	}
	g.levels = make([]NodeID, len(g.Order))
	next := append([]int32(nil), g.levelAt...)
	for _, n := range slices.Sorted(slices.Values(g.Order)) {
		g.levels[next[level[n]]] = n
		next[level[n]]++
	}
}
