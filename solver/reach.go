package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// lanes is how many roots one pass serves: what it reads of a call then serves them all.
const lanes = 4

// reachedBy is what one root sends to one node: a line of memory.
type reachedBy struct {
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration
	start, end          model.Duration // latest start and end of any invocation
}

// mark says which roots of a pass reach a node: paths is 0 where it is not, 1, or more (2).
type mark struct {
	seen  bool // below some of them
	paths [lanes]int8
}

type rootPass struct {
	s     *solve
	w     *weights
	first int                // of the roots of this run
	roots []Root             // of this run, at most lanes
	nodes []NodeID           // below them, callers before callees
	x     [][lanes]reachedBy // zero where no root reaches
	marks []mark             // zero outside a run
	// fetched is what hand reads ahead.
	fetched int64
	pos     []int32 // place in the topological order
}

// eachRoot runs the passes, each for several roots and as many at once as there are processors, and keeps the worst in
// the order of the roots.
func (s *solve) eachRoot(w *weights) {
	blocks := (len(s.g.Roots) + lanes - 1) / lanes
	passes := make([]rootPass, max(1, min(workers(len(s.g.Legs)), blocks)))
	pos := make([]int32, len(s.g.Nodes))
	for i, n := range s.g.Order {
		pos[n] = int32(i)
	}
	for i := range passes {
		passes[i] = rootPass{s: s, w: w, x: make([][lanes]reachedBy, len(s.g.Nodes)), marks: make([]mark, len(s.g.Nodes)), pos: pos}
	}
	for b := 0; b < blocks; b += len(passes) {
		at := passes[:min(len(passes), blocks-b)]
		together(len(at), func(i int) { at[i].run((b + i) * lanes) })
		s.take(at)
	}
}

// run counts for the roots from first on.
func (p *rootPass) run(first int) {
	g := p.s.g
	p.first, p.roots = first, g.Roots[first:min(first+lanes, len(g.Roots))]
	todo := p.reach()
	for k := range p.roots {
		p.enter(k)
	}
	nodes := p.nodes[:0]
	for _, n := range todo {
		if p.marks[n].seen {
			nodes = append(nodes, n)
			p.hand(n)
		}
	}
	p.nodes = nodes
	for k := range p.roots {
		root, t := &p.roots[k], &p.s.sol.Roots[first+k]
		t.Wait = min(root.Timeout, root.Overhead.Add(p.s.sol.Nodes[root.Node].Busy.Mul(root.Attempts)))
	}
}

// reach lists the nodes below the roots, callers before callees. Where they are many it stops: todo is then what stands
// after the first root in the topological order, seen or not.
func (p *rootPass) reach() (todo []NodeID) {
	nodes, first := p.nodes[:0], p.pos[p.roots[0].Node]
	see := func(n NodeID) {
		if !p.marks[n].seen {
			p.marks[n].seen = true
			nodes = append(nodes, n)
		}
	}
	for i := range p.roots {
		first = min(first, p.pos[p.roots[i].Node])
		see(p.roots[i].Node)
	}
	for i := 0; i < len(nodes); i++ {
		if len(nodes) > len(p.pos)/8 {
			p.nodes = nodes
			return p.s.g.Order[first:]
		}
		p.w.to(p.s.g, nodes[i], func(w *weight) { see(w.to) })
	}
	slices.SortFunc(nodes, func(a, b NodeID) int { return int(p.pos[a] - p.pos[b]) })
	p.nodes = nodes
	return nodes
}

// hand gives a node's callees what its requests send them.
func (p *rootPass) hand(n NodeID) {
	g, from, paths := p.s.g, &p.x[n], p.marks[n].paths
	for k := range p.roots {
		t := &p.s.sol.Roots[p.first+k]
		t.WorkEnds = max(t.WorkEnds, from[k].end)
	}
	// Asking for all callees first lets the processor fetch them at the same time.
	g.Out(n, func(l LegID) {
		to := &p.x[p.w.last[l].to]
		for k := range to {
			p.fetched |= to[k].limited
		}
	})
	p.w.to(g, n, func(w *weight) {
		to, m := &p.x[w.to], &p.marks[w.to]
		m.seen = true
		for k := range p.roots {
			if paths[k] > 0 {
				to[k].add(&from[k], w)
				m.paths[k] = min(2, m.paths[k]+paths[k]*w.paths)
			}
		}
	})
	g.Out(n, func(l LegID) {
		last := &p.w.last[l]
		to := &p.x[last.to]
		for k := range p.roots {
			if paths[k] > 0 {
				to[k].later(last.after(&from[k]))
			}
		}
	})
}

// take keeps what passes found, each node in the order of the roots.
func (s *solve) take(passes []rootPass) {
	found := 0
	for i := range passes {
		found += len(passes[i].nodes)
	}
	if found > len(s.g.Nodes)/8 {
		s.g.each(len(s.g.Nodes), func(n int) {
			for i := range passes {
				passes[i].take(NodeID(n))
			}
		})
		return
	}
	for i := range passes {
		for _, n := range passes[i].nodes {
			passes[i].take(n)
		}
	}
}

// take keeps what the pass found of a node where it is the worst so far, and clears it for the next run.
func (p *rootPass) take(n NodeID) {
	if !p.marks[n].seen {
		return
	}
	again := p.first+lanes < len(p.s.g.Roots)
	for k := range p.roots {
		if paths := p.marks[n].paths[k]; paths > 0 {
			p.s.worst(n, int32(p.first+k), &p.x[n][k])
			p.s.shared[n] = p.s.shared[n] || paths > 1
			if again {
				p.x[n][k] = reachedBy{}
			}
		}
	}
	p.marks[n] = mark{}
}

// enter sends the root's own attempts: one after the other, none after the client gave up.
func (p *rootPass) enter(k int) {
	root := &p.roots[k]
	busy := p.s.sol.Nodes[root.Node].Busy
	x := &p.x[root.Node][k]
	x.configured, x.limited = saturate(root.Attempts), saturate(root.Attempts)
	x.budgeted, x.visits = float64(x.configured), 1
	p.marks[root.Node].paths[k] = 1
	x.start = min(root.Overhead.Add(busy.Mul(root.Attempts-1)), root.Timeout)
	x.end = x.start.Add(busy)
}

func (x *reachedBy) add(from *reachedBy, w *weight) {
	x.configured = saturate(x.configured + MulCount(from.configured, w.configured))
	x.limited = saturate(x.limited + MulCount(from.limited, w.limited))
	x.budgeted = min(x.budgeted+from.budgeted*w.budgeted, float64(MaxCount))
	x.visits = min(x.visits+from.visits*w.visits, float64(MaxCount))
	x.waited = x.waited.Add(w.waited.Mul(from.limited))
	x.work = x.work.Add(w.work.Mul(from.limited))
}

// after gives the latest start and end of the work under a caller's latest invocation.
func (w *lastWork) after(caller *reachedBy) (start, end model.Duration) {
	start = min(caller.start.Add(w.start), caller.end)
	end = start.Add(w.takes)
	if w.enforced {
		end = min(end, start.Add(w.limit), caller.end)
	}
	return start, end
}

// later keeps the latest start and the latest end.
func (x *reachedBy) later(start, end model.Duration) {
	x.start, x.end = max(x.start, start), max(x.end, end)
}

// worst keeps the worst over all roots, and says which root it was.
func (s *solve) worst(n NodeID, root int32, x *reachedBy) {
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
}
