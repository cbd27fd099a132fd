package solver

import (
	"container/heap"

	"github.com/budgetplan/budgetplan/model"
)

// Path is one way down from a root. Its length is what the root would need if, wherever calls run beside each other,
// the one on the path were the longest: the longest path has the root's need.
type Path struct {
	Length model.Duration
	// Known says whether all of the root's need is known, else the length is a lower bound, or unknown where it is 0.
	Known Knowledge
	// Slack is the SLO less the length, an upper bound where that is a lower one; Unknown where the length is, or without
	// an SLO. It is in ms of the edge: the slack of the call at the end times its sensitivity.
	Slack model.Duration
	// Hops start with what the root and its first service take beside the first call.
	Hops []Hop
}

// Hop is one call of a path.
type Hop struct {
	Leg LegID // -1 for the root's own
	// Delta is what the hop takes beside the next one: the caller's own work, its margin, what runs before and after,
	// further attempts. Total adds up from the root; the last is the length. Either may be a lower bound, or unknown.
	Delta, Total Need
	// Sensitivity is how much longer the path becomes for each ms that this call needs more; PerAttempt for each ms that
	// one of its attempts does, the callee's latency with headroom: all attempts and repeats take it. An optional call needs its
	// limit, whatever its attempts need: PerAttempt is 0.
	Sensitivity, PerAttempt float64
}

// Paths gives the longest paths of a root, at most k, longest first; of equal ones the first as written. It follows the
// most promising prefix first, and never enumerates all. r indexes g.Roots.
func Paths(g *Graph, sol *Solution, r int32, k int) []Path {
	s := &solve{g: g, sol: sol}
	s.groupRoots()
	for _, gr := range s.groups {
		for _, own := range gr.roots {
			if own == r {
				s.needsOf(gr)
				f := pathFinder{solve: s, gr: gr, root: r, sums: newSums(g, gr.leg)}
				return f.longest(k)
			}
		}
	}
	return nil
}

// prefix is the beginning of a path: a call, and the prefix that leads to its caller.
type prefix struct {
	up     *prefix
	leg    LegID
	length model.Duration // of its longest completion
	ends   bool           // the path ends at this call
	order  int            // when it was found: of equal prefixes the first goes first
}

type prefixes []*prefix

func (p prefixes) Len() int      { return len(p) }
func (p prefixes) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p prefixes) Less(i, j int) bool {
	if p[i].length != p[j].length {
		return p[i].length > p[j].length
	}
	return p[i].order < p[j].order
}
func (p *prefixes) Push(x any) { *p = append(*p, x.(*prefix)) }

func (p *prefixes) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}

type pathFinder struct {
	*solve
	gr    *group
	root  int32
	sums  *sums
	todo  prefixes
	found int
}

func (f *pathFinder) longest(k int) []Path {
	if n := f.g.Roots[f.root].Node; f.waits(n) {
		f.open(nil, n)
	} else if k > 0 {
		return []Path{f.path(nil)}
	}
	var out []Path
	for len(f.todo) > 0 && len(out) < k {
		p := heap.Pop(&f.todo).(*prefix)
		if p.ends {
			out = append(out, f.path(p))
			continue
		}
		f.extend(p)
	}
	return out
}

// waits reports whether something below a node is waited for.
func (f *pathFinder) waits(n NodeID) bool { return !f.g.Nodes[n].Leaf }

// open adds a prefix for each awaited call of a node.
func (f *pathFinder) open(up *prefix, n NodeID) {
	f.g.Out(n, func(l LegID) {
		if f.g.Legs[l].Awaited() {
			f.push(&prefix{up: up, leg: l, length: f.length(up, l, f.gr.leg[l].V)})
		}
	})
}

func (f *pathFinder) push(p *prefix) {
	p.order = f.found
	f.found++
	heap.Push(&f.todo, p)
}

// extend goes on below a call: it ends there where the callee's structure does not decide what the call needs, or where
// a measured latency may.
func (f *pathFinder) extend(p *prefix) {
	l := &f.g.Legs[p.leg]
	_, known := f.measured(f.gr, p.leg)
	below := !l.Optional && f.waits(l.To)
	if !below || known {
		end := *p
		end.ends = true
		if below {
			end.length = f.length(p.up, p.leg, f.through(p.leg, 0, true))
		}
		f.push(&end)
	}
	if below {
		f.open(p, l.To)
	}
}

// through is what a call needs when its callee does: by the callee alone, or as measured.
func (f *pathFinder) through(id LegID, callee model.Duration, measured bool) model.Duration {
	l, one := &f.g.Legs[id], model.Duration(0)
	if measured {
		one, _ = f.measured(f.gr, id)
	} else {
		one = l.Network.Add(callee)
	}
	return f.legNeed(id, Need{one, Complete}).V
}

// length is that of the path to a call which needs v.
func (f *pathFinder) length(up *prefix, leg LegID, v model.Duration) model.Duration {
	for ; ; up = up.up {
		v = f.node(leg, v)
		if up == nil {
			return v.Add(f.g.Roots[f.root].Overhead)
		}
		leg, v = up.leg, f.through(up.leg, v, false)
	}
}

// node is what the caller of a leg needs if the leg needs v, and is the longest wherever it runs beside others.
func (f *pathFinder) node(leg LegID, v model.Duration) model.Duration {
	for at := f.sums.at[leg]; f.sums.base[at].up >= 0; at = f.sums.base[at].up {
		up := f.sums.base[at].up
		if f.g.flow[up].kind.Sums(false) {
			v = v.Add(f.sums.base[up].v.Sub(f.sums.base[at].v))
		}
	}
	n := &f.g.Nodes[f.g.Legs[leg].From]
	if v == 0 {
		return n.need(Need{0, f.sums.need(n.flowAt).Known}, n.Margin).V
	}
	return n.need(Need{v, Complete}, n.Margin).V
}

// path writes a whole path out, from its end upwards.
func (f *pathFinder) path(end *prefix) Path {
	root := &f.g.Roots[f.root]
	p := Path{Slack: model.Unknown}
	var needs []model.Duration // of the calls, the last first
	var legs []LegID
	whole := f.gr.node[root.Node].V
	if end != nil {
		v := f.gr.leg[end.leg].V
		if l := &f.g.Legs[end.leg]; !l.Optional && f.waits(l.To) {
			v = f.through(end.leg, 0, true)
		}
		for q := end; ; q = q.up {
			needs, legs = append(needs, v), append(legs, q.leg)
			whole = f.node(q.leg, v)
			if q.up == nil {
				break
			}
			v = f.through(q.up.leg, whole, false)
		}
	}
	p.Length = whole.Add(root.Overhead)
	p.Known = Need{p.Length, f.gr.node[root.Node].Known}.settle().Known
	if root.SLO != model.NoLimit && p.Known != Nothing {
		p.Slack = root.SLO.Sub(p.Length)
	}
	hop := Hop{Leg: -1, Sensitivity: 1}
	before := p.Length
	for i := len(legs) - 1; i >= 0; i-- {
		f.book(&p, hop, before.Sub(needs[i]))
		before = needs[i]
		hop = Hop{Leg: legs[i], Sensitivity: f.perAttempt(hop) / (1 - f.g.Nodes[f.g.Legs[legs[i]].From].Margin.Share.Float())}
		if !f.g.Legs[hop.Leg].Optional {
			hop.PerAttempt = f.perAttempt(hop)
		}
	}
	f.book(&p, hop, before)
	return p
}

// book adds a hop that takes delta: what is not known of the call makes that a lower bound, since a path only grows with
// each of its parts.
func (f *pathFinder) book(p *Path, h Hop, delta model.Duration) {
	h.Delta, h.Total = Need{delta, p.Known}, Need{delta, p.Known}
	if h.Leg >= 0 {
		h.Delta.Known = f.gr.leg[h.Leg].Known
		h.Total.V = p.Hops[len(p.Hops)-1].Total.V.Add(delta)
	}
	if h.Delta.Known != Complete {
		h.Delta = h.Delta.settle()
	}
	if h.Total.Known != Complete {
		h.Total = h.Total.settle()
	}
	p.Hops = append(p.Hops, h)
}

// perAttempt is how much longer the path becomes for each ms that one attempt of a hop needs more; the root makes one.
func (f *pathFinder) perAttempt(h Hop) float64 {
	if h.Leg < 0 {
		return h.Sensitivity
	}
	l := &f.g.Legs[h.Leg]
	n, _ := l.planned()
	return h.Sensitivity * float64(n) * float64(l.Repeat)
}
