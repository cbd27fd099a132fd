package witness

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// part is an element of a flow ready to be split: a group directly in one of its kind and a group of one are written
// out, then calls that nobody waits for are gone.
type part struct {
	kind model.FlowKind
	leg  *leg
	of   []*part
}

func partOf(b *body) *part { return flatten(b).prune() }

func flatten(b *body) *part {
	p := &part{kind: b.kind, leg: b.leg}
	for _, c := range b.of {
		if q := flatten(c); q.kind == p.kind {
			p.of = append(p.of, q.of...)
		} else {
			p.of = append(p.of, q)
		}
	}
	if len(p.of) == 1 {
		return p.of[0]
	}
	return p
}

// prune gives the part without calls that nobody waits for, nil where nothing is left.
func (p *part) prune() *part {
	if p.kind == model.One {
		if !p.leg.awaited() {
			return nil
		}
		return p
	}
	q := &part{kind: p.kind}
	for _, c := range p.of {
		if d := c.prune(); d != nil {
			q.of = append(q.of, d)
		}
	}
	if len(q.of) == 0 {
		return nil
	}
	return q
}

func (p *part) parallel() bool { return p.kind == model.Parallel || p.kind == model.OneOf }

// fixed gives the time that a call keeps: its own limit, where the solver may not change it.
func (p *part) fixed() (amount, bool) {
	if p.leg == nil || !p.leg.call.Fixed().V.Has("timeout") || p.leg.call.Fixed().From == nil || !p.leg.first {
		return zero, false
	}
	own := p.leg.own()
	return own, own.finite()
}

// asks is what an element wants of its sequence; false where nothing says.
func (c *context) asks(p *part) (amount, bool) {
	if p.kind == model.One {
		if own, ok := p.fixed(); ok {
			return own, true
		}
		if n := c.leg(p.leg); !n.partly {
			return n.v, true
		}
		own := p.leg.own()
		return own, own.finite()
	}
	sum, longest, all, some := zero, zero, true, false
	for _, q := range p.of {
		a, ok := c.asks(q)
		if !ok {
			all = false
			continue
		}
		some, sum, longest = true, sum.plus(a), most(longest, a)
	}
	switch {
	case p.parallel():
		return longest, some
	case p.kind == model.Unordered:
		return longest, all
	}
	return sum, all
}

// split hands b out over an element, into the root's budgets.
func (c *context) split(p *part, b amount, policy string, budgets map[*leg]amount) {
	if p.kind == model.One {
		if own, ok := p.fixed(); ok {
			b = own
		}
		budgets[p.leg] = b
		return
	}
	if p.parallel() {
		for _, q := range p.of {
			c.split(q, b, policy, budgets)
		}
		return
	}
	var rest []*part
	for _, q := range p.of {
		own, ok := q.fixed()
		if !ok {
			rest = append(rest, q)
			continue
		}
		c.split(q, own, policy, budgets)
		b = most(zero, b.minus(own))
	}
	for i, share := range c.shares(rest, b, policy) {
		c.split(rest[i], share, policy, budgets)
	}
}

// shares gives each element of a sequence its part of b.
func (c *context) shares(parts []*part, b amount, policy string) []amount {
	want, known := make([]amount, len(parts)), make([]bool, len(parts))
	total, unknowns := zero, int64(0)
	for i, p := range parts {
		if want[i], known[i] = c.asks(p); known[i] {
			total = total.plus(want[i])
		} else {
			want[i] = zero
			unknowns++
		}
	}
	out, count := make([]amount, len(parts)), int64(len(parts))
	spare := b.minus(total)
	for i := range parts {
		switch {
		case policy == "equal", total == zero:
			out[i] = b.ratio(1, count, false)
		case unknowns > 0 && zero.less(spare):
			if out[i] = want[i]; !known[i] {
				out[i] = spare.ratio(1, unknowns, false)
			}
		case policy == "eqs" && unknowns == 0 && !b.less(total):
			out[i] = want[i].plus(spare.ratio(1, count, false))
		default:
			out[i] = b.ratio(want[i].n, total.n, false)
		}
	}
	return out
}

// received is what a node is given by its tightest caller in the pass of a root.
func (s *shape) received(r *root, n *node, policy string) amount {
	if a, ok := r.receivedCache[n]; ok {
		return a
	}
	a := none
	if n == r.node {
		if a = r.slo; !a.finite() {
			a = r.timeout
		}
		a = a.minus(r.overhead)
	}
	for _, l := range n.in {
		if r.reached[l.from] {
			a = least(a, s.given(r, l, policy))
		}
	}
	if !a.finite() {
		a = unknown
	}
	r.receivedCache[n] = a
	return a
}

// given is what one attempt's callee receives.
func (s *shape) given(r *root, l *leg, policy string) amount {
	b := s.budget(r, l, policy)
	if !b.finite() {
		return l.patience()
	}
	_, hi := l.backoffSums()
	slice := b.ratio(1, l.repeat, false).minus(hi).ratio(1, l.n, false)
	return most(zero, least(l.patience(), slice.minus(l.network)))
}

// budget is the leg's share in the pass of a root, unknown without an SLO and for a call that nobody waits for.
func (s *shape) budget(r *root, l *leg, policy string) amount {
	if b, ok := r.budgetCache[l]; ok {
		return b
	}
	u := l.from
	u.body.walk(func(m *leg) { r.budgetCache[m] = unknown })
	has := s.received(r, u, policy)
	if p := partOf(u.body); p != nil && r.slo.finite() && has.finite() {
		has = least(has, u.limit)
		c := s.needs(r.percentile)
		c.split(p, u.keep(has.minus(u.local())), policy, r.budgetCache)
	}
	return r.budgetCache[l]
}

const ms = int64(model.Millisecond)

// recommended are the values that fit a budget, 0 where there is none to give.
type recommended struct {
	timeout, perTry amount
	fixed           bool
}

func (s *shape) recommendTimeout(l *leg, budget amount) recommended {
	fixed := l.call.Fixed().From != nil && l.call.Fixed().V.Has("timeout") && l.first
	switch {
	case fixed && l.timeout.finite():
		return recommended{timeout: l.timeout, fixed: true}
	case fixed, !l.awaited() || !zero.less(budget) || !budget.finite():
		return recommended{}
	}
	t := most(ns(ms), budget.ratio(1, l.repeat*ms, false).times(ms))
	if l.optional && l.timeout.finite() {
		t = least(t, l.timeout)
	}
	return recommended{timeout: t}
}

// recommendPerTry completes a recommendation once its timeout is final.
func (s *shape) recommendPerTry(l *leg, r recommended, one need) recommended {
	if l.call.Fixed().From != nil && l.call.Fixed().V.Has("per_try_timeout") && l.first {
		if l.perTry.finite() {
			r.perTry = l.perTry
		}
		return r
	}
	if l.n <= 1 || r.timeout == zero {
		return r
	}
	_, hi := l.backoffSums()
	most := r.timeout.minus(hi).minus(ns(1)).ratio(1, l.n*ms, false).times(ms)
	if !one.partly {
		most = least(most, one.v.ratio(1, ms, true).times(ms))
	}
	if zero.less(most) {
		r.perTry = most
	}
	return r
}

// lower takes a granule off the largest share of each sequence that takes all of the time there is.
func (p *part) lower(has amount, recs map[*leg]*recommended) {
	if p.kind == model.One {
		if p.canLower(recs) {
			recs[p.leg].timeout = recs[p.leg].timeout.minus(ns(ms))
		}
		return
	}
	if p.parallel() {
		for _, q := range p.of {
			if !q.time(recs).less(has) {
				q.lower(has, recs)
			}
		}
		return
	}
	var largest *part
	for _, q := range p.of {
		if q.canLower(recs) && (largest == nil || largest.time(recs).less(q.time(recs))) {
			largest = q
		}
	}
	if largest != nil {
		largest.lower(largest.time(recs), recs)
	}
}

// canLower reports whether the part has a call to take from: never a fixed one or one of 1 ms.
func (p *part) canLower(recs map[*leg]*recommended) bool {
	if p.kind == model.One {
		r := recs[p.leg]
		return !r.fixed && ns(ms).less(r.timeout)
	}
	return slices.ContainsFunc(p.of, func(q *part) bool { return q.canLower(recs) })
}

// time is what the recommended timeouts of the part come to.
func (p *part) time(recs map[*leg]*recommended) amount {
	if p.kind == model.One {
		return recs[p.leg].timeout.times(p.leg.repeat)
	}
	sum, longest := zero, zero
	for _, q := range p.of {
		t := q.time(recs)
		sum, longest = sum.plus(t), most(longest, t)
	}
	if p.parallel() {
		return longest
	}
	return sum
}

// recommend gives the recommendations of all calls of a node for their least budgets.
func (s *shape) recommend(n *node, budgets map[*leg]amount) map[*leg]*recommended {
	recs := map[*leg]*recommended{}
	n.body.walk(func(l *leg) {
		r := s.recommendTimeout(l, budgets[l])
		recs[l] = &r
	})
	p, has := partOf(n.body), n.limit.minus(n.local())
	if p != nil && has.finite() && !p.time(recs).less(has) {
		p.lower(has, recs)
	}
	return recs
}
