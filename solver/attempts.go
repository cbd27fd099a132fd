package solver

import (
	"math/bits"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// weight is what one request at a caller sends to one callee.
type weight struct {
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration // limited × patience, limited × busy
	to                  NodeID
	paths               int8 // 0, 1 or more (2)
}

// attempts counts, by one topological pass a root and never by enumerating paths, how many attempts reach each
// service, how long they are waited for and work, and when the last work may end (numbers.md 4, 12, 14, 15, 17).
func (s *solve) attempts() {
	w := s.weights()
	s.shared = make([]bool, len(s.g.Nodes))
	for i := range s.sol.Nodes {
		s.sol.Nodes[i].AttemptsRoot = -1
	}
	s.eachRoot(w)
	s.g.each(len(s.g.Legs), func(i int) {
		from, own := &s.sol.Nodes[s.g.Legs[i].From].Attempts, &w.own[i]
		s.sol.Legs[i].Amplification = Counts{
			Configured:  MulCount(from.Configured, own.configured),
			TimeLimited: MulCount(from.TimeLimited, own.limited),
			Budgeted:    min(from.Budgeted*own.budgeted, float64(MaxCount)),
		}
	})
}

// perCall is what one request at the caller sends through one leg.
func (s *solve) perCall(id LegID) weight {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	many, sent := MulCount(l.Repeat, l.FanOut), l.Multiplies()
	budgeted := float64(sent)
	if l.Budget >= 0 {
		budgeted = min(budgeted, 1+l.Budget.Float())
	}
	limited := MulCount(MulCount(t.Possible, s.copiesInTime(l, t)), many)
	return weight{
		to:         l.To,
		paths:      1,
		configured: MulCount(sent, many),
		limited:    limited,
		budgeted:   budgeted * float64(many),
		visits:     float64(many),
		waited:     t.Patience.Mul(limited),
		work:       t.Busy.Mul(limited),
	}
}

// copiesInTime counts the hedged copies that start while an attempt lasts.
func (s *solve) copiesInTime(l *Leg, t *LegTimes) int64 {
	lasts := min(t.Patience, t.Stop)
	if !s.mayHang(l, t) {
		lasts = min(lasts, t.CalleeBusy.Add(l.Network))
	}
	if l.Copies == 1 || l.After == 0 || !lasts.Finite() {
		return l.Copies
	}
	return max(1, min(l.Copies, int64((lasts+l.After-1)/l.After)))
}

// weights are what one request at each caller sends to each callee.
type weights struct {
	own  []weight   // by leg: what goes through it
	last []lastWork // by leg
	// sent has the callers with a one-of, which send to each callee the largest alternative, and the inner waiters
	// below one, for which their caller sends: alternatives are compared by callee.
	sent map[NodeID][]weight
}

// lastWork is what the latest work on a call depends on.
type lastWork struct {
	start, takes, limit model.Duration // the last attempt's latest start after its caller's, connect + busy, the attempt limit
	to                  NodeID
	enforced            bool
}

func (s *solve) weights() *weights {
	w := &weights{own: make([]weight, len(s.g.Legs)), last: make([]lastWork, len(s.g.Legs)), sent: map[NodeID][]weight{}}
	s.g.each(len(s.g.Legs), func(i int) { w.own[i], w.last[i] = s.perCall(LegID(i)), s.lastWork(LegID(i)) })
	for n := range s.g.Nodes {
		node := &s.g.Nodes[n]
		if _, told := w.sent[NodeID(n)]; told || !s.g.hasOneOf(node) {
			continue
		}
		sent := s.combine(node.flowAt)
		w.sent[NodeID(n)] = sent
		for _, v := range sent {
			if s.g.Nodes[v.to].Waiter >= 0 {
				w.sent[v.to] = nil
			}
		}
	}
	return w
}

// to visits what a request at a node sends to each callee.
func (w *weights) to(g *Graph, n NodeID, visit func(*weight)) {
	if len(w.sent) > 0 {
		if sent, special := w.sent[n]; special {
			for i := range sent {
				visit(&sent[i])
			}
			return
		}
	}
	g.Out(n, func(l LegID) { visit(&w.own[l]) })
}

func (g *Graph) hasOneOf(n *Node) bool {
	return slices.ContainsFunc(g.flow[n.flowAt:n.flowEnd], func(f flowNode) bool { return f.kind == model.OneOf })
}

// combine merges the weights of a flow by callee, in the order of first mention.
func (s *solve) combine(at int32) []weight {
	f := &s.g.flow[at]
	if f.kind == model.One {
		return s.through(f.leg)
	}
	var sum []weight
	index := map[NodeID]int{}
	for i := at + 1; i < f.end; i = s.g.flow[i].end {
		for _, w := range s.combine(i) {
			k, seen := index[w.to]
			switch {
			case !seen:
				index[w.to] = len(sum)
				sum = append(sum, w)
			case f.kind == model.OneOf:
				sum[k] = sum[k].most(w)
			default:
				sum[k] = sum[k].plus(w)
			}
		}
	}
	return sum
}

// through gives what a call sends to each of its inner waiters and, through all of them, to its callee.
func (s *solve) through(id LegID) []weight {
	w := s.perCall(id)
	sent := []weight{w}
	for s.g.Nodes[w.to].Waiter >= 0 {
		v := s.perCall(s.g.Nodes[w.to].Waiter)
		w = weight{
			to:         v.to,
			configured: MulCount(w.configured, v.configured),
			limited:    MulCount(w.limited, v.limited),
			budgeted:   w.budgeted * v.budgeted,
			visits:     w.visits * v.visits,
			waited:     v.waited.Mul(w.limited),
			work:       v.work.Mul(w.limited),
			paths:      1,
		}
		sent = append(sent, w)
	}
	return sent
}

func (w weight) plus(v weight) weight {
	w.configured = saturate(w.configured + v.configured)
	w.limited = saturate(w.limited + v.limited)
	w.budgeted += v.budgeted
	w.visits += v.visits
	w.waited = w.waited.Add(v.waited)
	w.work = w.work.Add(v.work)
	w.paths = 2
	return w
}

func (w weight) most(v weight) weight {
	w.configured = max(w.configured, v.configured)
	w.limited = max(w.limited, v.limited)
	w.budgeted = max(w.budgeted, v.budgeted)
	w.visits = max(w.visits, v.visits)
	w.waited = max(w.waited, v.waited)
	w.work = max(w.work, v.work)
	w.paths = 2
	return w
}

// MulCount multiplies two counts, stopping at MaxCount.
func MulCount(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(MaxCount) {
		return MaxCount
	}
	return int64(lo)
}

// lastWork gives what the latest start and end of a call's work depend on (numbers.md 17).
func (s *solve) lastWork(id LegID) lastWork {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	return lastWork{s.lastStart(id), l.Connect.Add(t.CalleeBusy), t.Limit, l.To, t.Enforced}
}
