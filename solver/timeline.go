package solver

import "github.com/budgetplan/budgetplan/model"

// Timeline has the worst case of one root on one clock: 0 is when the request leaves the client. Each service is
// taken in its latest invocation, each call in its latest round, so that the last work ends when RootTimes.WorkEnds
// says.
type Timeline struct {
	Legs  []Moments // by leg; Reached is false where the root does not lead
	Nodes []Visit
	// Root has the client's own attempts at the first service.
	Root Moments
}

// Moments are the points of a call in time. Each is Unknown or NoLimit where no number bounds it.
type Moments struct {
	Reached bool
	// First is when the call starts in the first invocation of its caller, Starts in the latest one.
	First, Starts model.Duration
	// Round is when its last round starts, Last when the last attempt of that does.
	Round, Last model.Duration
	// GivesUp is when the caller stops waiting, Ends when the callee's work on the last attempt does.
	GivesUp, Ends model.Duration
	// Left is when the caller leaves the last attempt, NoLimit where it never does or does not wait.
	Left model.Duration
}

// Visit is the latest invocation of a service.
type Visit struct {
	Reached bool
	// First is when the first invocation starts, Starts and Ends belong to the latest one.
	First, Starts, Ends model.Duration
	// Gone is when the first of those who wait for it has left, NoLimit where nobody does.
	Gone model.Duration
	// By is the leg that makes it, -1 for the root.
	By LegID
}

// Timeline computes the worst case of a root; r indexes g.Roots.
func (s *Solution) Timeline(g *Graph, r int32) *Timeline {
	t := &Timeline{Legs: make([]Moments, len(g.Legs)), Nodes: make([]Visit, len(g.Nodes))}
	root := &g.Roots[r]
	work := make([]reachedBy, len(g.Nodes))
	busy := s.Nodes[root.Node].Busy
	x := &work[root.Node]
	x.start = min(root.Overhead.Add(busy.Mul(root.Attempts-1)), root.Timeout)
	x.end = x.start.Add(busy)
	t.Root = Moments{
		Reached: true, Last: x.start, GivesUp: s.Roots[r].Wait, Ends: x.end, Left: number(min(root.Timeout, x.end)),
	}
	t.Nodes[root.Node] = Visit{Reached: true, First: root.Overhead, Starts: x.start, Ends: x.end, Gone: t.Root.Left, By: -1}
	pass := solve{g: g, sol: s}
	for _, n := range g.Order {
		if t.Nodes[n].Reached {
			t.Nodes[n].Starts, t.Nodes[n].Ends = work[n].start, work[n].end
			g.Out(n, func(l LegID) { t.call(&pass, l, work) })
		}
	}
	return t
}

// call places one call of a service whose own times are settled.
func (t *Timeline) call(s *solve, id LegID, work []reachedBy) {
	l, times := &s.g.Legs[id], &s.sol.Legs[id]
	caller := &t.Nodes[l.From]
	// Nobody starts anything after its end.
	m := Moments{Reached: true, Starts: min(caller.Starts.Add(times.Starts), caller.Ends)}
	m.First = min(caller.First.Add(times.Starts), m.Starts)
	works := s.lastWork(id)
	start, end := works.after(&work[l.From])
	one := l.Pool.Add(min(l.Timeout, times.Uncut))
	m.Round = min(m.Starts.Add(one.Mul(l.Repeat-1)), caller.Ends)
	m.Last, m.Ends = start, end
	m.GivesUp = m.Round.Add(one)
	m.Left = model.NoLimit
	gone := model.NoLimit // who does not wait does not leave
	if l.Awaited() {
		m.Left = number(min(m.GivesUp, m.Last.Add(times.Limit)))
		gone = min(caller.Gone, m.Left)
	}
	t.Legs[id] = m
	callee := &t.Nodes[l.To]
	if !callee.Reached {
		*callee = Visit{Reached: true, First: m.First, Gone: gone, By: id}
	}
	if start > work[l.To].start {
		callee.Gone, callee.By = gone, id
	}
	callee.First = min(callee.First, m.First, start)
	work[l.To].later(start, end)
}

// number takes a bound that nobody knows for one that does not exist.
func number(d model.Duration) model.Duration {
	if !d.Finite() {
		return model.NoLimit
	}
	return d
}
