package solver

import "github.com/budgetplan/budgetplan/model"

// WhatIf answers what the roots would need if something of one call were different, going up from the call as long
// as anything moves. It is not safe for use by several goroutines at once.
type WhatIf struct {
	g      *Graph
	groups []*whatIf
	one    [1]change
	roots  []RootNeed
}

// Change is what becomes different of a call; everything else stays.
type Change struct {
	Leg  LegID
	Kind ChangeKind
	// Time is the whole call's need, or its timeout; Attempts include the first, 1 or more.
	Time     model.Duration
	Attempts int64
}

// ChangeKind says which value of a Change is read.
type ChangeKind uint8

// The changes of a call. A timeout changes what an optional call needs, and no other: a need is not made of limits.
const (
	ChangeNeed ChangeKind = iota
	ChangeTimeout
	ChangeAttempts
)

// RootNeed is what a root needs, overhead in it; Root indexes Graph.Roots.
type RootNeed struct {
	Root int32
	Need Need
}

// NewWhatIf prepares questions about a solved graph, in a time that grows with the graph.
func NewWhatIf(g *Graph, sol *Solution) *WhatIf {
	s := &solve{g: g, sol: sol}
	s.groupRoots()
	w := &WhatIf{g: g}
	for _, gr := range s.groups {
		s.needsOf(gr)
		w.groups = append(w.groups, newWhatIf(s, gr))
	}
	return w
}

// Ask gives the roots whose need a change moves, in no order; none where nothing of it is felt. The answer holds until
// the next question.
func (w *WhatIf) Ask(c Change) []RootNeed {
	w.roots = w.roots[:0]
	for _, in := range w.groups {
		if !in.gr.has(w.g.Legs[c.Leg].From) {
			continue
		}
		if !w.change(c) {
			continue
		}
		in.apply(w.one[:]...)
		for _, n := range in.touched {
			for _, r := range in.roots[n] {
				w.roots = append(w.roots, RootNeed{r, in.rootNeed(r).settle()})
			}
		}
		in.undo()
	}
	return w.roots
}

// change puts the question into the words of the solver; false where it changes nothing.
func (w *WhatIf) change(c Change) bool {
	l := &w.g.Legs[c.Leg]
	w.one[0] = change{leg: c.Leg, what: setNeed, value: c.Time}
	switch c.Kind {
	case ChangeTimeout:
		w.one[0].value = c.Time.Mul(l.Repeat)
		return l.Optional && l.Awaited()
	case ChangeAttempts:
		w.one[0] = change{leg: c.Leg, what: setAttempts, n: max(1, c.Attempts)}
	}
	return l.Awaited()
}
