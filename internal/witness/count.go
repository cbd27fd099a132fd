package witness

import "github.com/budgetplan/budgetplan/model"

// maxCount is where counts stop.
const maxCount = 1_000_000_000_000_000

// measure says what to count per request: how often a leg multiplies what reaches its caller.
type measure func(*leg) float64

// The three amplification numbers. They are exact: every product of small counts is a whole float64 below 2⁵³, and
// counts stop at 10¹⁵.
func configured(l *leg) float64 {
	return float64(l.repeat * l.fan * l.reaching() * l.copies)
}

// reaching are the attempts that can reach the callee: retries on connect or refused alone reach nobody.
func (l *leg) reaching() int64 {
	if l.onLate || l.onTimeout {
		return l.n
	}
	return 1
}

func (s *shape) timeLimited(l *leg) float64 {
	w := s.hang(l, false)
	copies := l.copies
	if copies > 1 && l.after != zero {
		lasts := least(s.lateEach(l), s.stop(l))
		if lasts.finite() && l.after.finite() {
			copies = min(copies, lasts.ratio(1, l.after.n, true).n)
		}
	}
	return float64(l.repeat * l.fan * w.started * copies)
}

func budgeted(l *leg) float64 {
	x := float64(l.reaching() * l.copies)
	if l.ratio >= 0 {
		x = min(x, 1+float64(l.ratio)/model.Whole)
	}
	return float64(l.repeat*l.fan) * x
}

// reaches gives how often a root's requests reach a node, path by path.
func (s *shape) reaches(r *root, n *node, m measure) float64 {
	if n == r.node {
		return float64(r.attempts)
	}
	if n.service < 0 {
		outer := n.in[0]
		return min(maxCount, s.reaches(r, outer.from, m)*m(outer))
	}
	x, seen := 0.0, map[*node]bool{}
	for _, l := range n.in {
		u := s.nodes[l.call.From]
		if !r.reached[u] || seen[u] {
			continue
		}
		seen[u] = true
		x += s.reaches(r, u, m) * perRun(u.body, n, m, func(*leg) float64 { return 1 })
	}
	return min(maxCount, x)
}

// perRun gives what one run of a flow sends to a node, each attempt weighed: everything added up, of a one-of only the
// largest alternative.
func perRun(b *body, to *node, m measure, weight measure) float64 {
	if b.kind == model.One {
		l, x := b.leg, 1.0
		for ; l.inner != nil; l = l.inner {
			x *= m(l)
		}
		if l.to != to {
			return 0
		}
		if x *= m(l); x == 0 {
			return 0
		}
		return x * weight(l)
	}
	sum, largest := 0.0, 0.0
	for _, c := range b.of {
		x := perRun(c, to, m, weight)
		sum, largest = sum+x, max(largest, x)
	}
	if b.kind == model.OneOf {
		return largest
	}
	return sum
}

// spent sums time-limited attempts × a time of the leg over the callers of a node.
func (s *shape) spent(r *root, n *node, of func(*leg) amount) amount {
	total, seen := zero, map[*node]bool{}
	for _, l := range n.in {
		u := s.nodes[l.call.From]
		if !r.reached[u] || seen[u] {
			continue
		}
		seen[u] = true
		total = total.plus(spentIn(u.body, n, s.timeLimited, of).times(int64(s.reaches(r, u, s.timeLimited))))
	}
	return total
}

func spentIn(b *body, to *node, m measure, of func(*leg) amount) amount {
	if b.kind == model.One {
		l, x := b.leg, 1.0
		for ; l.inner != nil; l = l.inner {
			x *= m(l)
		}
		if l.to != to {
			return zero
		}
		return of(l).times(int64(x * m(l)))
	}
	sum, largest := zero, zero
	for _, c := range b.of {
		x := spentIn(c, to, m, of)
		sum, largest = sum.plus(x), most(largest, x)
	}
	if b.kind == model.OneOf {
		return largest
	}
	return sum
}

// span is the latest start and the latest end of any invocation of a node, after the request's.
type span struct{ start, end amount }

// rootWait is the longest a client stands at an entrypoint.
func (s *shape) rootWait(r *root) amount {
	return least(r.timeout, r.overhead.plus(s.busyOf(r.node).times(r.attempts)))
}

// workEnds is when the last work for a request may end anywhere.
func (s *shape) workEnds(r *root) amount {
	cache, last := map[*node]span{}, zero
	for n := range r.reached {
		last = most(last, s.spanOf(r, n, cache).end)
	}
	return last
}

func (s *shape) spanOf(r *root, n *node, cache map[*node]span) span {
	if sp, ok := cache[n]; ok {
		return sp
	}
	var sp span
	if n == r.node {
		busy := s.busyOf(n)
		sp.start = least(r.timeout, r.overhead.plus(busy.times(r.attempts-1)))
		sp.end = sp.start.plus(busy)
	}
	for _, l := range n.in {
		if !r.reached[l.from] {
			continue
		}
		caller := s.spanOf(r, l.from, cache)
		start := caller.start.plus(l.from.queue).plus(s.starts(l)).plus(s.round(l).times(l.repeat - 1)).plus(l.pool).plus(least(s.beforeLast(l), l.timeout))
		start = least(start, caller.end)
		end := start.plus(l.connect).plus(s.busy(l))
		if l.enforced() {
			end = least(end, start.plus(l.limit()), caller.end)
		}
		sp.start, sp.end = most(sp.start, start), most(sp.end, end)
	}
	cache[n] = sp
	return sp
}
