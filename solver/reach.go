package solver

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/budgetplan/budgetplan/model"
)

// lanes is how many roots one pass serves: what it reads of a call then serves them all.
const lanes = 8

// reachedBy is what one root sends to one node: a line of memory.
type reachedBy struct {
	configured, limited int64
	budgeted, visits    float64
	waited, work        model.Duration
	start, end          model.Duration // latest start and end of any invocation
}

// lanesAt says which roots of a pass reach a node, a bit each.
type lanesAt struct {
	some    uint8 // that reach it
	several uint8 // on more than one path
	roots   uint8 // that are the node itself
	listed  bool
	row     int32 // of the first of some; the others follow
}

// rootPass counts what some roots send to every node below them.
type rootPass struct {
	s     *solve
	apart map[LegID]*combined
	few   int     // up to so many nodes are listed, above that all are looked at
	place []int32 // of a node, where all its callers have a lower one
	first int     // of the roots of this run
	roots []Root  // of this run, at most lanes
	at    []lanesAt
	rows  []reachedBy // one for each node and each root that reaches it
	many  bool        // more than few are reached
	nodes []NodeID    // reached, unless they are many
	ends  [lanes]atomic.Int64
}

// eachRoot runs the passes, as many at once as there are processors, and keeps the worst in the order of the roots. A
// pass that reaches much has all processors to itself.
func (s *solve) eachRoot(apart map[LegID]*combined) {
	blocks := (len(s.g.Roots) + lanes - 1) / lanes
	place := make([]int32, len(s.g.Nodes))
	for i, n := range s.g.levels {
		place[n] = int32(i)
	}
	passes := make([]rootPass, max(1, min(workers(len(s.g.Legs)), blocks)))
	for i := range passes {
		passes[i] = rootPass{
			s: s, apart: apart, few: len(s.g.Nodes) / 16, place: place, at: make([]lanesAt, len(s.g.Nodes)),
		}
	}
	for b := 0; b < blocks; b += len(passes) {
		now := passes[:min(len(passes), blocks-b)]
		together(len(now), func(i int) { now[i].begin((b + i) * lanes) })
		for i := range now {
			now[i].finish()
		}
	}
}

// begin finds what the roots from first on reach, and counts where that is little.
func (p *rootPass) begin(first int) {
	g := p.s.g
	p.first, p.roots = first, g.Roots[first:min(first+lanes, len(g.Roots))]
	for k := range p.roots {
		at := &p.at[p.roots[k].Node]
		at.roots |= 1 << k
		at.some |= 1 << k
	}
	p.list()
	if !p.many {
		p.countFew()
	}
}

// finish counts where the roots reach much, keeps the worst, and clears the pass for the next roots.
func (p *rootPass) finish() {
	if p.many {
		p.countAll()
		clear(p.at)
	} else {
		for _, n := range p.nodes {
			p.take(n)
			p.at[n] = lanesAt{}
		}
	}
	for k := range p.roots {
		root, t := &p.roots[k], &p.s.sol.Roots[p.first+k]
		t.Wait = min(root.Timeout, root.Overhead.Add(p.s.sol.Nodes[root.Node].Busy.Mul(root.Attempts)))
		t.WorkEnds = model.Duration(p.ends[k].Swap(0))
	}
}

// list finds the nodes below the roots, and gives up where they are many.
func (p *rootPass) list() {
	p.nodes = p.nodes[:0]
	see := func(n NodeID) {
		if !p.at[n].listed {
			p.at[n].listed = true
			p.nodes = append(p.nodes, n)
		}
	}
	for i := range p.roots {
		see(p.roots[i].Node)
	}
	for i := 0; i < len(p.nodes) && len(p.nodes) <= p.few; i++ {
		p.s.g.Out(p.nodes[i], func(l LegID) { see(p.s.g.Legs[l].To) })
	}
	p.many = len(p.nodes) > p.few
}

// countFew counts at the nodes listed, and looks at no leg that leads there from others.
func (p *rootPass) countFew() {
	g := p.s.g
	slices.SortFunc(p.nodes, func(a, b NodeID) int { return cmp.Compare(p.place[a], p.place[b]) })
	var in []LegID // by callee, those into one in plan order
	for _, n := range p.nodes {
		g.Out(n, func(l LegID) {
			p.at[g.Legs[l].To].some |= p.at[n].some
			in = append(in, l)
		})
	}
	p.makeRows(p.nodes)
	slices.SortFunc(in, func(a, b LegID) int {
		return cmp.Or(cmp.Compare(p.place[g.Legs[a].To], p.place[g.Legs[b].To]), cmp.Compare(a, b))
	})
	from := make([]NodeID, len(in))
	for i, l := range in {
		from[i] = g.Legs[l].From
	}
	for at, end := 0, 0; at < len(in); at = end {
		to := g.Legs[in[at]].To
		for end < len(in) && g.Legs[in[end]].To == to {
			end++
		}
		p.receive(to, in[at:end], from[at:end])
	}
}

// countAll counts at all nodes, those of one level at the same time.
func (p *rootPass) countAll() {
	g := p.s.g
	g.down(func(n NodeID) {
		at := &p.at[n]
		for _, from := range g.callers(n) {
			at.some |= p.at[from].some
		}
	})
	p.makeRows(g.levels)
	g.down(func(n NodeID) {
		p.receive(n, g.In(n), g.callers(n))
		p.take(n)
	})
}

// makeRows gives each of the nodes its rows, and the roots what comes in with them.
func (p *rootPass) makeRows(nodes []NodeID) {
	rows := 0
	for _, n := range nodes {
		p.at[n].row = int32(rows)
		rows += bits.OnesCount8(p.at[n].some)
	}
	if rows <= cap(p.rows) {
		p.rows = p.rows[:rows]
		clear(p.rows)
	} else {
		p.rows = make([]reachedBy, rows)
	}
	for k := range p.roots {
		n := p.roots[k].Node
		p.rows[p.at[n].rowOf(k)].enter(&p.roots[k], p.s.sol.Nodes[n].Busy)
	}
}

// rowOf is the row of a root that reaches the node.
func (at *lanesAt) rowOf(k int) int32 {
	return at.row + int32(bits.OnesCount8(at.some&(1<<k-1)))
}

// receive sums what comes to a node, in plan order whichever way it is counted: fractions then add up to the same. In are
// the legs from all nodes that a root reaches, and maybe others; callers is parallel to it.
func (p *rootPass) receive(n NodeID, in []LegID, callers []NodeID) {
	at := &p.at[n]
	seen := at.roots
	for i, l := range in {
		caller := &p.at[callers[i]]
		if caller.some == 0 {
			continue
		}
		from, w, paths := caller, &p.s.sends[l], int8(1)
		if w.apart {
			c := p.apart[l]
			from, w, paths = &p.at[c.from], &c.weight, c.paths
		}
		for i, left := int32(0), caller.some; left != 0; i, left = i+1, left&(left-1) {
			x := &p.rows[at.rowOf(bits.TrailingZeros8(left))]
			x.add(&p.rows[from.row+i], w)
			x.later(w.last.after(&p.rows[caller.row+i]))
		}
		switch paths {
		case 1:
			at.several |= from.several | seen&from.some
			seen |= from.some
		case 2:
			at.several |= from.some
		}
	}
}

// take keeps what the pass found of a node where it is the worst so far.
func (p *rootPass) take(n NodeID) {
	at := &p.at[n]
	row := at.row
	for left := at.some; left != 0; left &= left - 1 {
		k := bits.TrailingZeros8(left)
		x := &p.rows[row]
		p.s.worst(n, int32(p.first+k), x)
		raise(&p.ends[k], int64(x.end))
		row++
	}
	p.s.shared[n] = p.s.shared[n] || at.several != 0
}

// raise keeps the largest of what several processors find.
func raise(most *atomic.Int64, to int64) {
	for {
		old := most.Load()
		if to <= old || most.CompareAndSwap(old, to) {
			return
		}
	}
}

// enter sends the root's own attempts: one after the other, none after the client gave up.
func (x *reachedBy) enter(root *Root, busy model.Duration) {
	x.configured, x.limited = saturate(root.Attempts), saturate(root.Attempts)
	x.budgeted, x.visits = ratio(x.configured), 1
	x.start = min(root.Overhead.Add(busy.Mul(root.Attempts-1)), root.Timeout)
	x.end = x.start.Add(busy)
}

func (x *reachedBy) add(from *reachedBy, w *weight) {
	x.configured = saturate(x.configured + MulCount(from.configured, w.configured))
	x.limited = saturate(x.limited + MulCount(from.limited, w.limited))
	x.budgeted = saturateRatio(x.budgeted + from.budgeted*w.budgeted)
	x.visits = min(x.visits+from.visits*w.visits, float64(MaxCount))
	x.waited = x.waited.Add(w.waited.Mul(from.limited))
	x.work = x.work.Add(w.work.Mul(from.limited))
}

// after gives the latest start and end of the work under a caller's latest invocation.
func (w *lastWork) after(caller *reachedBy) (start, end model.Duration) {
	start = min(caller.start.Add(w.start), caller.end)
	end = start.Add(w.takes)
	if w.enforced {
		end = min(end, caller.end)
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
