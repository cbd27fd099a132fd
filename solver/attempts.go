package solver

import (
	"math/bits"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// weight is what one request at a caller sends through one leg.
type weight struct {
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration // limited × patience, limited × busy
	last                lastWork
	apart               bool // see solve.apart
}

// lastWork is what the latest work on a call depends on.
type lastWork struct {
	start    model.Duration // the last attempt's latest start after its caller's
	takes    model.Duration // connect + busy, at most the attempt limit where that is enforced
	enforced bool
}

// attempts counts, by a topological pass for several roots and never by enumerating paths, how many attempts reach each
// service, how long they are waited for and work, and when the last work may end (numbers.md 4, 12, 14, 15, 17).
func (s *solve) attempts() {
	s.shared = make([]bool, len(s.g.Nodes))
	for i := range s.sol.Nodes {
		s.sol.Nodes[i].AttemptsRoot = -1
	}
	s.eachRoot(s.apart())
	s.g.each(len(s.g.Legs), func(i int) {
		from, own := &s.sol.Nodes[s.g.Legs[i].From].Attempts, &s.sends[i]
		s.sol.Legs[i].Amplification = Counts{
			Configured:  MulCount(from.Configured, own.configured),
			TimeLimited: MulCount(from.TimeLimited, own.limited),
			Budgeted:    saturateRatio(from.Budgeted * own.budgeted),
		}
	})
	s.sends = nil
}

// perCall is what one request at the caller sends through one leg.
func (s *solve) perCall(id LegID) weight {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	many, sent := MulCount(l.Repeat, l.FanOut), l.Multiplies()
	budgeted := ratio(sent)
	if l.Budget >= 0 {
		budgeted = min(budgeted, 1+l.Budget.Float())
	}
	limited := MulCount(MulCount(t.Possible, s.copiesInTime(l, t)), many)
	return weight{
		configured: MulCount(sent, many),
		limited:    limited,
		budgeted:   budgeted * float64(many),
		visits:     float64(many),
		waited:     t.Patience.Mul(limited),
		work:       t.Busy.Mul(limited),
		last:       s.lastWork(id),
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

// lastWork gives what the latest start and end of a call's work depend on (numbers.md 17).
func (s *solve) lastWork(id LegID) lastWork {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	takes := l.Connect.Add(t.CalleeBusy)
	if t.Enforced {
		takes = min(takes, t.Limit)
	}
	return lastWork{s.lastStart(id), takes, t.Enforced}
}

// combined is what requests at a node send to one callee, in place of the leg that leads there first.
type combined struct {
	weight
	from  NodeID
	leg   LegID
	paths int8 // that it stands for: 0 where another leg has it, 1, or more (2)
}

// apart gives what the callers with a one-of send to each callee: the largest alternative, at the first leg to it.
// Alternatives are compared by callee, and so such a caller sends in place of the inner waiters below it, too.
func (s *solve) apart() map[LegID]*combined {
	apart := map[LegID]*combined{}
	for n := range s.g.Nodes {
		if !s.g.hasOneOf(&s.g.Nodes[n]) {
			continue
		}
		s.g.Out(NodeID(n), func(l LegID) {
			for ; l >= 0; l = s.g.Nodes[s.g.Legs[l].To].Waiter {
				s.sends[l].apart = true
				apart[l] = &combined{weight: weight{last: s.sends[l].last}, from: NodeID(n), leg: l}
			}
		})
		for _, c := range s.combine(s.g.Nodes[n].flowAt) {
			c.from, c.last = NodeID(n), s.sends[c.leg].last
			*apart[c.leg] = c
		}
	}
	return apart
}

func (g *Graph) hasOneOf(n *Node) bool {
	return slices.ContainsFunc(g.flow[n.flowAt:n.flowEnd], func(f flowNode) bool { return f.kind == model.OneOf })
}

// combine merges the weights of a flow by callee, in the order of first mention.
func (s *solve) combine(at int32) []combined {
	f := &s.g.flow[at]
	if f.kind == model.One {
		return s.through(f.leg)
	}
	var sum []combined
	index := map[NodeID]int{}
	for i := at + 1; i < f.end; i = s.g.flow[i].end {
		for _, w := range s.combine(i) {
			to := s.g.Legs[w.leg].To
			k, seen := index[to]
			switch {
			case !seen:
				index[to] = len(sum)
				sum = append(sum, w)
				continue
			case f.kind == model.OneOf:
				sum[k].weight = sum[k].most(w.weight)
			default:
				sum[k].weight = sum[k].plus(w.weight)
			}
			sum[k].paths = 2
		}
	}
	return sum
}

// through gives what a call sends to each of its inner waiters and, through all of them, to its callee.
func (s *solve) through(id LegID) []combined {
	w := s.sends[id]
	sent := []combined{{weight: w, leg: id, paths: 1}}
	for id = s.g.Nodes[s.g.Legs[id].To].Waiter; id >= 0; id = s.g.Nodes[s.g.Legs[id].To].Waiter {
		v := &s.sends[id]
		w = weight{
			configured: MulCount(w.configured, v.configured),
			limited:    MulCount(w.limited, v.limited),
			budgeted:   w.budgeted * v.budgeted,
			visits:     w.visits * v.visits,
			waited:     v.waited.Mul(w.limited),
			work:       v.work.Mul(w.limited),
		}
		sent = append(sent, combined{weight: w, leg: id, paths: 1})
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
	return w
}

func (w weight) most(v weight) weight {
	w.configured = max(w.configured, v.configured)
	w.limited = max(w.limited, v.limited)
	w.budgeted = max(w.budgeted, v.budgeted)
	w.visits = max(w.visits, v.visits)
	w.waited = max(w.waited, v.waited)
	w.work = max(w.work, v.work)
	return w
}

// MulCount multiplies two counts, stopping at MaxCount unless one of them is unlimited.
func MulCount(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > uint64(MaxCount) {
		if max(a, b) > MaxCount {
			return unlimited
		}
		return MaxCount
	}
	return int64(lo)
}
