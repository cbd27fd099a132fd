package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// change is one thing made different from the plan, everything else unchanged.
type change struct {
	leg   LegID // -1: none
	node  NodeID
	what  changeKind
	value model.Duration
	n     int64
	share model.Fraction
	legs  []LegID // of joinLegs the two, of setLatency all, in rising order
}

type changeKind uint8

const (
	setNeed     changeKind = iota // the leg's whole need
	setAttempts                   // its attempts
	dropLeg                       // the leg is not there; its caller, if it waits for nobody then, is the node
	setLatency                    // the latency that legs take from one place, headroom not in it
	setMargin                     // the node's margin, a share
	joinLegs                      // two neighbours in the node's flow beside each other
	setNode                       // the need of one attempt at the node
)

// whatIf computes what roots need after a change, by going up from it as long as anything moves. It works on a copy
// of a group's needs and puts it back after every question.
type whatIf struct {
	*solve
	gr    *group
	sums  *sums
	node  []Need
	roots map[NodeID][]int32 // of the group, by their first service
	pos   []int32            // place in the topological order
	// dirty nodes wait in a heap by falling position, so that each is computed once, callees first.
	heap    []NodeID
	queued  []bool
	touched []NodeID
}

func newWhatIf(s *solve, gr *group) *whatIf {
	w := &whatIf{
		solve: s, gr: gr, sums: newSums(s.g, gr.leg), node: slices.Clone(gr.node), roots: map[NodeID][]int32{},
		pos: make([]int32, len(s.g.Nodes)), queued: make([]bool, len(s.g.Nodes)),
	}
	for i, n := range s.g.Order {
		w.pos[n] = int32(i)
	}
	for _, r := range gr.roots {
		n := s.g.Roots[r].Node
		w.roots[n] = append(w.roots[n], r)
	}
	return w
}

// ask runs read with the needs as they are after the changes.
func (w *whatIf) ask(read func(), changes ...change) {
	w.apply(changes...)
	read()
	w.undo()
}

// apply makes changes to different things; undo takes them back.
func (w *whatIf) apply(changes ...change) {
	for i := range changes {
		c := &changes[i]
		switch {
		case c.what == setLatency:
			for _, l := range c.legs {
				w.setLeg(l, w.legAbove(l, w.node[w.g.Legs[l].To], changes))
			}
		case c.leg < 0:
			w.push(c.node)
		case c.what == setNeed: // the callee is not looked at, which a random call of a million is far from
			w.setLeg(c.leg, Need{c.value, Complete})
		case c.what == setAttempts && len(changes) == 1:
			w.setLeg(c.leg, w.legWith(c.leg, w.gr.one[c.leg], c.n))
		default:
			w.setLeg(c.leg, w.legAbove(c.leg, w.node[w.g.Legs[c.leg].To], changes))
			if c.what == dropLeg && c.node >= 0 {
				w.push(c.node)
			}
		}
	}
	for len(w.heap) > 0 {
		n := w.pop()
		need := w.changedNode(n, changes)
		if need == w.node[n] {
			continue
		}
		w.touched = append(w.touched, n)
		w.node[n] = need
		for _, in := range w.g.In(n) {
			w.setLeg(in, w.legAbove(in, need, changes))
		}
	}
}

func (w *whatIf) undo() {
	for _, n := range w.touched {
		w.node[n] = w.gr.node[n]
	}
	w.touched = w.touched[:0]
	w.sums.undo()
}

// root asks for one root's need, overhead in it.
func (w *whatIf) root(r int32, changes ...change) (n Need) {
	w.apply(changes...)
	n = w.rootNeed(r)
	w.undo()
	return n
}

func (w *whatIf) rootNeed(r int32) Need {
	n := w.node[w.g.Roots[r].Node]
	n.V = n.V.Add(w.g.Roots[r].Overhead)
	return n
}

func (w *whatIf) setLeg(l LegID, n Need) {
	if w.sums.set(l, n) {
		w.push(w.g.Legs[l].From)
	}
}

// legAbove is the need of a leg after the changes, its callee's being what it is then.
func (w *whatIf) legAbove(id LegID, callee Need, changes []change) Need {
	l, attempts := &w.g.Legs[id], int64(0)
	measured, known := w.measured(w.gr, id)
	leaf := l.leaf
	for i := range changes {
		switch c := &changes[i]; c.what {
		case setNeed:
			if c.leg == id {
				return Need{c.value, Complete}
			}
		case dropLeg:
			if c.leg == id {
				return Need{0, Complete}
			}
			leaf = leaf || c.node == l.To
		case setAttempts:
			if c.leg == id {
				attempts = c.n
			}
		case setLatency:
			if _, found := slices.BinarySearch(c.legs, id); found {
				measured = w.withHeadroom(w.gr, id, c.value)
			}
		}
	}
	one := l.one(measured, known, leaf, callee)
	if attempts > 0 {
		return w.legWith(id, one, attempts)
	}
	return w.legNeed(id, one)
}

// legWith is legNeed with another number of attempts.
func (w *whatIf) legWith(id LegID, one Need, n int64) Need {
	l := &w.g.Legs[id]
	if !l.Awaited() || l.Optional && l.Timeout.Finite() || n == unlimited {
		return w.legNeed(id, one)
	}
	_, wt := w.g.CallOf(id)
	_, waits := wt.Backoff.Sum(n - 1)
	if l.Optional { // its sequence stands for the timeout that it has not
		own := w.sol.Legs[id].Patience.Mul(n).Add(waits).Mul(l.Repeat)
		if !own.Finite() {
			return Need{}
		}
		return Need{own, Complete}
	}
	return Need{one.V.Mul(n).Add(waits).Mul(l.Repeat), one.Known}.settle()
}

func (w *whatIf) changedNode(id NodeID, changes []change) Need {
	n := &w.g.Nodes[id]
	var calls Need
	if !n.Leaf {
		calls = w.sums.need(n.flowAt)
	}
	margin := n.Margin
	for i := range changes {
		c := &changes[i]
		if c.node != id {
			continue
		}
		switch c.what {
		case setNode:
			return Need{c.value, Complete}
		case dropLeg:
			return n.leafNeed()
		case setMargin:
			margin = model.Margin{Share: c.share}
		case joinLegs:
			calls = w.sums.joined(c.legs[0], c.legs[1])
		}
	}
	return n.need(calls, margin)
}

// push and pop keep the dirty nodes in a binary heap, the last in topological order first.
func (w *whatIf) push(n NodeID) {
	if w.queued[n] {
		return
	}
	w.queued[n] = true
	h := append(w.heap, n)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if w.pos[h[up]] >= w.pos[h[i]] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	w.heap = h
}

func (w *whatIf) pop() NodeID {
	h := w.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		big := 2*i + 1
		if big >= last {
			break
		}
		if big+1 < last && w.pos[h[big+1]] > w.pos[h[big]] {
			big++
		}
		if w.pos[h[i]] >= w.pos[h[big]] {
			break
		}
		h[i], h[big] = h[big], h[i]
		i = big
	}
	w.heap = h
	w.queued[top] = false
	return top
}

// most finds the largest x in [0, top] for which over says at most 0, −1 where not even 0 does. over must not fall;
// a convex one is found in a few questions, any other by halving.
func most(top model.Duration, over func(model.Duration) model.Duration) model.Duration {
	lo, hi := model.Duration(0), top
	above := over(hi)
	if above <= 0 {
		return hi
	}
	under := over(lo)
	if under > 0 {
		return -1
	}
	for chord := true; hi-lo > 1; chord = !chord {
		x := lo + (hi-lo)/2
		if chord && above > under {
			x = lo + (hi-lo).Share(-under, above-under)
			x = min(max(x, lo+1), hi-1)
		}
		if v := over(x); v <= 0 {
			lo, under = x, v
			// On a straight piece the chord is the answer; one more question proves it.
			if chord && lo+1 < hi {
				if v := over(lo + 1); v > 0 {
					return lo
				} else {
					lo, under = lo+1, v
				}
			}
		} else {
			hi, above = x, v
		}
	}
	return lo
}
