package witness

import "github.com/budgetplan/budgetplan/model"

// need is the sum of the known parts of what something needs; partly says that others are unknown.
type need struct {
	v      amount
	partly bool
}

func (n need) plus(m need) need { return need{n.v.plus(m.v), n.partly || m.partly} }

func (n need) longest(m need) need { return need{most(n.v, m.v), n.partly || m.partly} }

// known is false where no part is: a need of 0 says nothing.
func (n need) known() bool { return n.v != zero }

// context is one computation of all needs: for a percentile, with some needs of calls replaced.
type context struct {
	s          *shape
	percentile model.Fraction
	override   map[*leg]amount
	cache      map[*node]need
}

func (s *shape) needs(p model.Fraction) *context {
	return &context{s: s, percentile: p, cache: map[*node]need{}}
}

// leg is what a call needs in all.
func (c *context) leg(l *leg) need {
	x, replaced := c.override[l]
	switch {
	case !l.awaited():
		return need{}
	case replaced:
		return need{v: x}
	case l.optional:
		if own := l.own(); own.finite() {
			return need{v: own}
		}
		return need{partly: true}
	}
	one := c.one(l)
	_, hi := l.backoffSums()
	return need{one.v.times(l.n).plus(hi).times(l.repeat), one.partly}
}

// own is the call's own limit in all: of its timeout, without one of its sequence.
func (l *leg) own() amount {
	if l.timeout.finite() {
		return l.timeout.times(l.repeat)
	}
	return l.sequence().times(l.repeat)
}

// one is what one attempt needs, network in it: measured and structure both must fit.
func (c *context) one(l *leg) need {
	measured, ok := zero, false
	if l.last {
		measured, ok = quantile(l.call, c.percentile)
	}
	if l.to.leaf && ok {
		return need{v: measured}
	}
	n := c.node(l.to)
	n.v = n.v.plus(l.network)
	return n.longest(need{v: measured})
}

// node is what a subtree needs; a leaf without a latency needs its local work.
func (c *context) node(n *node) need {
	if d, ok := c.cache[n]; ok {
		return d
	}
	d := need{v: n.local()}
	if n.leaf {
		d.partly = d.v == zero
	} else {
		f := c.flow(n.body)
		d = d.plus(need{n.gross(f.v), f.partly})
	}
	c.cache[n] = d
	return d
}

// flow is what the calls of a flow need; an unordered one at least its longest.
func (c *context) flow(b *body) need {
	if b.kind == model.One {
		return c.leg(b.leg)
	}
	sum, longest := need{}, need{}
	for _, e := range b.of {
		n := c.flow(e)
		sum, longest = sum.plus(n), longest.longest(n)
	}
	if b.kind == model.Sequence || b.kind == model.Fallback {
		return sum
	}
	return longest
}

// gross is the least time that leaves d after the margin.
func (n *node) gross(d amount) amount {
	if d == zero {
		return zero
	}
	return most(d.ratio(model.Whole, model.Whole-n.share, true), d.plus(n.fixed))
}

// keep is what the margin leaves of d.
func (n *node) keep(d amount) amount {
	return most(zero, least(d.ratio(model.Whole-n.share, model.Whole, false), d.minus(n.fixed)))
}

// quantile is the latency with headroom that sizes one attempt: at the percentile, else the next higher one, else the maximum.
func quantile(c *model.Call, p model.Fraction) (amount, bool) {
	if c.Percentile().From != nil {
		p = c.Percentile().V
	}
	l := c.Latency.Get()
	if l.Exact.From != nil {
		return read(l.Exact, zero), true
	}
	at, found := model.Fraction(0), zero
	for _, list := range [][]model.Point{l.Points, l.Histogram} {
		for _, pt := range list {
			v := read(pt.V, zero)
			if pt.P >= p && (at == 0 || pt.P < at || pt.P == at && v.less(found)) {
				at, found = pt.P, v
			}
		}
	}
	switch {
	case at == 0:
		return read(l.Max, zero), l.Max.From != nil
	case at >= model.Whole:
		return found, true
	}
	return found.ratio(model.Whole+int64(c.Headroom().Or(100_000)), model.Whole, true), true
}

// root is what the entrypoint needs, overhead in it.
func (c *context) root(r *root) need { return c.node(r.node).plus(need{v: r.overhead}) }

// allowed is what the leg may need, everything else unchanged, with the root's SLO still met: found by bisection over
// the whole computation.
func (s *shape) allowed(l *leg, r *root) amount {
	at := func(x int64) need {
		c := s.needs(r.percentile)
		c.override = map[*leg]amount{l: ns(x)}
		return c.root(r)
	}
	lo, hi := int64(0), r.slo.n+1
	// Where anything at all is needed the margin of a fixed time counts, so that 1 ns says whether anything fits.
	n := at(1)
	switch {
	case r.slo.less(n.v):
		return zero
	case n.partly:
		return unknown
	case !r.slo.less(at(hi).v):
		return none
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; r.slo.less(at(mid).v) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return ns(lo)
}

// allowedEverywhere takes the least over the roots with an SLO that reach the leg.
func (s *shape) allowedEverywhere(l *leg) amount {
	found, asked := none, false
	for _, r := range s.roots {
		if !r.slo.finite() || !r.reached[l.from] {
			continue
		}
		asked = true
		found = least(found, s.allowed(l, r))
	}
	if !asked {
		return unknown
	}
	return found
}
