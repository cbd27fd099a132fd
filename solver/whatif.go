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
}

type changeKind uint8

const (
	setNeed     changeKind = iota // the leg's whole need
	setOne                        // the need of one of its attempts
	setAttempts                   // its attempts
	setMargin                     // the node's margin, a share
	cutFlow                       // time off the node's flow
	setNode                       // the need of one attempt at the node
)

// whatIf computes what roots need after a change, by going up from it as long as anything moves. It works on a copy
// of a group's needs and puts it back after every question.
type whatIf struct {
	*solve
	gr   *group
	leg  []Need
	node []Need
	pos  []int32 // place in the topological order
	// dirty nodes wait in a heap by falling position, so that each is computed once, callees first.
	heap    []NodeID
	queued  []bool
	touched []NodeID
	legs    []LegID
	roots   map[NodeID][]int32 // of the group, by their first service
}

func newWhatIf(s *solve, gr *group) *whatIf {
	w := &whatIf{
		solve: s, gr: gr, leg: slices.Clone(gr.leg), node: slices.Clone(gr.node),
		pos: make([]int32, len(s.g.Nodes)), queued: make([]bool, len(s.g.Nodes)), roots: map[NodeID][]int32{},
	}
	for _, r := range gr.roots {
		n := s.g.Roots[r].Node
		w.roots[n] = append(w.roots[n], r)
	}
	for i, n := range s.g.Order {
		w.pos[n] = int32(i)
	}
	return w
}

// ask runs read with the needs as they are after the change.
func (w *whatIf) ask(c change, read func()) {
	if c.leg >= 0 {
		w.setLeg(c.leg, w.changedLeg(c))
		w.push(w.g.Legs[c.leg].From)
	} else {
		w.push(c.node)
	}
	for len(w.heap) > 0 {
		n := w.pop()
		need := w.changedNode(n, c)
		if need == w.node[n] {
			continue
		}
		w.touched = append(w.touched, n)
		w.node[n] = need
		for _, in := range w.g.In(n) {
			if in == c.leg && c.what != setAttempts {
				continue
			}
			var leg Need
			if in == c.leg {
				leg = w.legWith(in, w.oneNeed(w.gr, in, need), c.n)
			} else {
				leg = w.legNeed(in, w.oneNeed(w.gr, in, need))
			}
			if leg != w.leg[in] {
				w.setLeg(in, leg)
				w.push(w.g.Legs[in].From)
			}
		}
	}
	read()
	for _, n := range w.touched {
		w.node[n] = w.gr.node[n]
	}
	for _, l := range w.legs {
		w.leg[l] = w.gr.leg[l]
	}
	w.touched, w.legs = w.touched[:0], w.legs[:0]
}

// root asks for one root's need, overhead in it.
func (w *whatIf) root(r int32, c change) (n Need) {
	w.ask(c, func() {
		n = w.node[w.g.Roots[r].Node]
		n.V = n.V.Add(w.g.Roots[r].Overhead)
	})
	return n
}

func (w *whatIf) setLeg(l LegID, n Need) {
	w.leg[l] = n
	w.legs = append(w.legs, l)
}

func (w *whatIf) changedLeg(c change) Need {
	switch c.what {
	case setOne:
		return w.legNeed(c.leg, Need{c.value, Complete})
	case setAttempts:
		return w.legWith(c.leg, w.gr.one[c.leg], c.n)
	}
	return Need{c.value, Complete}
}

// legWith is legNeed with another number of attempts.
func (w *whatIf) legWith(id LegID, one Need, n int64) Need {
	_, wt := w.g.CallOf(id)
	_, waits := backoffSum(&wt.Backoff, n-1)
	return Need{one.V.Mul(n).Add(waits).Mul(w.g.Legs[id].Repeat), one.Known}.settle()
}

func (w *whatIf) changedNode(id NodeID, c change) Need {
	n := &w.g.Nodes[id]
	if c.what == setNode && c.node == id {
		return Need{c.value, Complete}
	}
	if c.leg >= 0 || c.node != id || n.Leaf {
		return w.nodeNeed(id, func(l LegID) Need { return w.leg[l] })
	}
	calls := w.foldNeed(n.flowAt, func(l LegID) Need { return w.leg[l] })
	margin := n.Margin
	switch c.what {
	case setMargin:
		margin = model.Margin{Share: c.share}
	case cutFlow:
		calls.V = max(0, calls.V.Sub(c.value))
	}
	return Need{n.Local().Add(margin.Gross(calls.V)), calls.Known}.settle()
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
	under, above := over(lo), over(hi)
	if under > 0 {
		return -1
	}
	if above <= 0 {
		return hi
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
