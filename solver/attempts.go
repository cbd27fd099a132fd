package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// weight is what one request at a caller sends to one callee.
type weight struct {
	to                  NodeID
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration // limited × patience, limited × busy
	paths               int8           // 0, 1 or more (2)
}

// attempts counts, by one topological pass a root and never by enumerating paths, how many attempts reach each
// service, how long they are waited for and work, and when the last work may end (numbers.md 4, 12, 14, 15, 17).
func (s *solve) attempts() {
	w := s.weights()
	p := rootPass{s: s, w: w, x: make([]reachedBy, len(s.g.Nodes)), pos: make([]int32, len(s.g.Nodes))}
	for i, n := range s.g.Order {
		p.pos[n] = int32(i)
	}
	s.shared = make([]bool, len(s.g.Nodes))
	for i := range s.sol.Nodes {
		s.sol.Nodes[i].AttemptsRoot = -1
	}
	for r := range s.g.Roots {
		p.run(int32(r))
	}
	for i := range s.g.Legs {
		l, t := &s.g.Legs[i], &s.sol.Legs[i]
		from, own := &s.sol.Nodes[l.From].Attempts, s.perCall(LegID(i))
		t.Amplification = Counts{
			Configured:  mulCount(from.Configured, own.configured),
			TimeLimited: mulCount(from.TimeLimited, own.limited),
			Budgeted:    min(from.Budgeted*own.budgeted, float64(MaxCount)),
		}
	}
}

// perCall is what one request at the caller sends through one leg.
func (s *solve) perCall(id LegID) weight {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	n := l.Attempts
	if !l.RetryOn.Reaches() {
		n = 1 // a retry of what was never begun reaches nobody
	}
	many := mulCount(l.Repeat, l.FanOut)
	sent := mulCount(saturate(n), l.Copies)
	budgeted := float64(sent)
	if l.Budget >= 0 {
		budgeted = min(budgeted, 1+l.Budget.Float())
	}
	limited := mulCount(mulCount(t.Possible, s.copiesInTime(l, t)), many)
	return weight{
		to:         l.To,
		configured: mulCount(sent, many),
		limited:    limited,
		budgeted:   budgeted * float64(many),
		visits:     float64(many),
		waited:     t.Patience.Mul(limited),
		work:       t.Busy.Mul(limited),
		paths:      1,
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

// weights gives, by caller, what one request there sends to each callee: the sum over its body, of a one-of
// the largest alternative by callee.
func (s *solve) weights() [][]weight {
	all := make([]weight, 0, len(s.g.Legs))
	by := make([][]weight, len(s.g.Nodes))
	// told marks the inner waiters below a one-of: their caller sends to the callee for them, since alternatives
	// are compared by callee.
	told := make([]bool, len(s.g.Nodes))
	for n := range s.g.Nodes {
		node := &s.g.Nodes[n]
		at := len(all)
		switch {
		case told[n]:
		case s.g.hasOneOf(node):
			all = append(all, s.combine(node.flowAt)...)
			for _, w := range all[at:] {
				told[w.to] = s.g.Nodes[w.to].Waiter >= 0
			}
		default:
			s.g.Out(NodeID(n), func(l LegID) { all = append(all, s.perCall(l)) })
		}
		by[n] = all[at:len(all):len(all)]
	}
	return by
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
			configured: mulCount(w.configured, v.configured),
			limited:    mulCount(w.limited, v.limited),
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

// mulCount multiplies two counts, stopping at MaxCount.
func mulCount(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if a > MaxCount/b {
		return MaxCount
	}
	return a * b
}

// reachedBy is what one root sends to one node.
type reachedBy struct {
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration
	start, end          model.Duration // latest start and end of any invocation
	paths               int8
	seen                bool
}

type rootPass struct {
	s   *solve
	w   [][]weight
	x   []reachedBy // zero outside a run
	pos []int32     // place in the topological order
}

// reach lists the nodes below a root, callers before callees.
func (p *rootPass) reach(root NodeID) []NodeID {
	nodes := []NodeID{root}
	p.x[root].seen = true
	for i := 0; i < len(nodes); i++ {
		for _, w := range p.w[nodes[i]] {
			if !p.x[w.to].seen {
				p.x[w.to].seen = true
				nodes = append(nodes, w.to)
			}
		}
	}
	if len(nodes) > len(p.pos)/8 {
		nodes = nodes[:0]
		for _, n := range p.s.g.Order[p.pos[root]:] {
			if p.x[n].seen {
				nodes = append(nodes, n)
			}
		}
		return nodes
	}
	slices.SortFunc(nodes, func(a, b NodeID) int { return int(p.pos[a] - p.pos[b]) })
	return nodes
}

func (p *rootPass) run(r int32) {
	root := &p.s.g.Roots[r]
	nodes := p.reach(root.Node)
	p.enter(root)
	ends := p.x[root.Node].end
	for _, n := range nodes {
		x := p.x[n]
		ends = max(ends, x.end)
		for _, w := range p.w[n] {
			p.x[w.to].add(x, w)
		}
		p.s.g.Out(n, func(l LegID) { p.s.lastWork(l, x, &p.x[p.s.g.Legs[l].To]) })
	}
	for _, n := range nodes {
		p.s.take(n, r, &p.x[n])
		p.x[n] = reachedBy{}
	}
	t := &p.s.sol.Roots[r]
	t.WorkEnds = ends
	busy := p.s.sol.Nodes[root.Node].Busy
	t.Wait = min(root.Timeout, root.Overhead.Add(busy.Mul(root.Attempts)))
}

// enter sends the root's own attempts: one after the other, none after the client gave up.
func (p *rootPass) enter(root *Root) {
	busy := p.s.sol.Nodes[root.Node].Busy
	x := &p.x[root.Node]
	x.configured, x.limited = saturate(root.Attempts), saturate(root.Attempts)
	x.budgeted, x.visits, x.paths = float64(x.configured), 1, 1
	x.start = min(root.Overhead.Add(busy.Mul(root.Attempts-1)), root.Timeout)
	x.end = x.start.Add(busy)
}

func (x *reachedBy) add(from reachedBy, w weight) {
	x.configured = saturate(x.configured + mulCount(from.configured, w.configured))
	x.limited = saturate(x.limited + mulCount(from.limited, w.limited))
	x.budgeted = min(x.budgeted+from.budgeted*w.budgeted, float64(MaxCount))
	x.visits = min(x.visits+from.visits*w.visits, float64(MaxCount))
	x.waited = x.waited.Add(w.waited.Mul(from.limited))
	x.work = x.work.Add(w.work.Mul(from.limited))
	x.paths = min(2, x.paths+from.paths*w.paths)
}

// lastWork moves a callee's latest start and end for one call of a caller (numbers.md 17).
func (s *solve) lastWork(id LegID, caller reachedBy, callee *reachedBy) {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	start := min(caller.start.Add(s.lastStart(id)), caller.end)
	end := start.Add(l.Connect).Add(t.CalleeBusy)
	if t.Enforced {
		end = min(end, start.Add(t.Limit), caller.end)
	}
	callee.start = max(callee.start, start)
	callee.end = max(callee.end, end)
}

// take keeps the worst over all roots, and says which root it was.
func (s *solve) take(n NodeID, root int32, x *reachedBy) {
	t, rate := &s.sol.Nodes[n], s.g.Roots[root].Rate
	if x.configured > t.Attempts.Configured {
		t.AttemptsRoot = root
	}
	t.Attempts.Configured = max(t.Attempts.Configured, x.configured)
	t.Attempts.TimeLimited = max(t.Attempts.TimeLimited, x.limited)
	t.Attempts.Budgeted = max(t.Attempts.Budgeted, x.budgeted)
	t.Visits = max(t.Visits, x.visits)
	t.Waited = max(t.Waited, x.waited)
	t.Work = max(t.Work, x.work)
	if rate > 0 {
		t.Touched += rate
		t.Rate += rate * x.visits
		t.Offered += rate * min(float64(x.limited), x.budgeted)
	} else {
		t.Touched++
	}
	if x.paths > 1 {
		s.shared[n] = true
	}
}
