package witness

import "github.com/budgetplan/budgetplan/model"

// node is a service, or a waiter between caller and callee seen as one: no work of its own, one call.
type node struct {
	name                 string
	service              int // -1 for an inner waiter
	before, after, queue amount
	limit                amount // none where unset
	assumed              amount // the deadline where none arrives, none where unset
	share                int64  // margin, parts per million
	fixed                amount // margin, time
	honors               model.Propagation
	body                 *body
	leaf                 bool
	in                   []*leg
}

func (n *node) local() amount { return n.before.plus(n.after) }

// leg is one waiter's wait on one call.
type leg struct {
	id                             string
	call                           *model.Call
	w                              *model.Waiter
	from, to                       *node
	first, last                    bool
	timeout, perTry, read          amount
	perTrySet, readSet, connectSet bool
	connect, pool, network         amount
	extra                          bool
	n                              int64 // attempts
	onTimeout, onLate, onUnsent    bool
	window, minLeft                amount
	ratio                          int64 // retry budget, parts per million, -1 where unset
	copies                         int64
	after                          amount
	repeat, fan                    int64
	optional, async, stream        bool
	inner                          *leg // the next waiter of the same call
}

func (l *leg) awaited() bool { return !l.async && !l.stream }

// body is the flow of a node.
type body struct {
	kind model.FlowKind
	leg  *leg
	of   []*body
}

func (b *body) walk(visit func(*leg)) {
	if b.kind == model.One {
		visit(b.leg)
		return
	}
	for _, c := range b.of {
		c.walk(visit)
	}
}

// root is where requests come in.
type root struct {
	entry         *model.Entrypoint // nil for a service that nobody calls
	node          *node
	slo, timeout  amount // unknown where unset
	overhead      amount
	attempts      int64
	percentile    model.Fraction
	reached       map[*node]bool
	receivedCache map[*node]amount
	budgetCache   map[*leg]amount
}

// shape is the plan written out: waiters in series as legs, every default in its place.
type shape struct {
	plan  *model.Plan
	nodes []*node // the services in plan order
	inner []*node
	legs  []*leg
	roots []*root

	busyCache map[*node]amount
	toldCache map[*node]amount
}

func newShape(p *model.Plan) *shape {
	s := &shape{plan: p, busyCache: map[*node]amount{}, toldCache: map[*node]amount{}}
	for i := range p.Services {
		v := &p.Services[i]
		m := v.Margin.Or(model.Margin{Share: 50_000})
		s.nodes = append(s.nodes, &node{
			name: v.Name, service: i, before: read(v.Before, zero), after: read(v.After(), zero),
			queue: read(v.QueueTimeout(), zero), limit: read(v.ServerTimeout, none), assumed: read(v.DefaultDeadline(), none),
			share: int64(m.Share), fixed: ns(int64(m.Fixed)), honors: v.Honors.Or(0),
		})
	}
	firsts := make([]*leg, len(p.Calls))
	for i := range p.Calls {
		firsts[i] = s.addCall(&p.Calls[i])
	}
	for i, n := range s.nodes {
		n.body = bodyOf(p.Services[i].Flow, firsts)
		n.leaf = true
		n.body.walk(func(l *leg) { n.leaf = n.leaf && !l.awaited() })
	}
	s.addRoots()
	return s
}

func bodyOf(f model.Flow, firsts []*leg) *body {
	b := &body{kind: f.Kind}
	if f.Kind == model.One {
		b.leg = firsts[f.Call]
	}
	for _, g := range f.Of {
		b.of = append(b.of, bodyOf(g, firsts))
	}
	return b
}

// addCall writes out the waiters of a call and gives its outermost leg.
func (s *shape) addCall(c *model.Call) *leg {
	var prev, outermost *leg
	from := s.nodes[c.From]
	for i := range c.Waiters {
		l := newLeg(c, i)
		l.from = from
		if prev == nil {
			outermost = l
		} else {
			prev.inner, from.body = l, &body{kind: model.One, leg: l}
		}
		l.to = s.nodes[c.To]
		if !l.last {
			l.to = &node{name: l.id + "@" + c.Waiters[i+1].Name, service: -1, limit: none, assumed: none, honors: c.Waiters[i+1].Honors().Or(0)}
			s.inner = append(s.inner, l.to)
		}
		l.to.in = append(l.to.in, l)
		s.legs = append(s.legs, l)
		prev, from = l, l.to
	}
	return outermost
}

func newLeg(c *model.Call, i int) *leg {
	w := &c.Waiters[i]
	l := &leg{
		id: c.ID, call: c, w: w, first: i == 0, last: i == len(c.Waiters)-1,
		timeout: read(w.Timeout, unknown), perTry: read(w.PerTry, none), read: read(w.Read(), none),
		perTrySet: w.PerTry.From != nil, readSet: w.Read().From != nil, connectSet: w.Connect.From != nil,
		connect: read(w.Connect, zero), pool: read(w.Pool(), zero), extra: w.ConnectExtra().Or(false),
		n: int64(w.Attempts.Or(1)), window: read(w.RetryWindow(), none), minLeft: zero, ratio: -1,
		copies: 1, after: zero, repeat: 1, fan: 1,
	}
	l.onTimeout, l.onLate, l.onUnsent = true, true, true
	if w.RetryOn().From != nil {
		k := w.RetryOn().V.Kinds
		l.onTimeout = k&model.OnTimeout != 0
		l.onLate = k&(model.OnReset|model.OnError) != 0 || len(w.RetryOn().V.Statuses) > 0
		l.onUnsent = k&(model.OnConnect|model.OnRefused) != 0
	}
	if w.MinRemaining().From != nil {
		l.minLeft = ns(int64(w.MinRemaining().V.D))
	}
	if w.RetryBudget().From != nil {
		l.ratio = int64(w.RetryBudget().V)
	}
	if w.Hedge().Set() {
		l.copies, l.after = int64(w.Hedge().Attempts.Or(2)), read(w.Hedge().After, zero)
	}
	if i > 0 {
		l.id += "@" + w.Name
		return l
	}
	l.repeat, l.fan = int64(c.Repeat().Or(1)), int64(c.FanOut().Or(1))
	l.network = read(c.Network(), zero)
	l.optional, l.async, l.stream = c.Optional.Or(false), c.Async.Or(false), c.Stream().Or(false)
	return l
}

func (s *shape) addRoots() {
	entered := map[*node]bool{}
	for i := range s.plan.Entrypoints {
		e := &s.plan.Entrypoints[i]
		n := s.nodes[e.Call]
		entered[n] = true
		s.roots = append(s.roots, &root{
			entry: e, node: n, slo: read(e.SLO, unknown), timeout: read(e.Timeout, unknown),
			overhead: read(e.Overhead, zero), attempts: int64(e.Attempts.Or(1)), percentile: e.Percentile.Or(990_000),
		})
	}
	for _, n := range s.nodes {
		if len(n.in) == 0 && !entered[n] {
			s.roots = append(s.roots, &root{node: n, slo: unknown, timeout: unknown, attempts: 1, percentile: 990_000})
		}
	}
	for _, r := range s.roots {
		r.reached = map[*node]bool{}
		r.receivedCache, r.budgetCache = map[*node]amount{}, map[*leg]amount{}
		r.reach(r.node)
	}
}

func (r *root) reach(n *node) {
	if r.reached[n] {
		return
	}
	r.reached[n] = true
	n.body.walk(func(l *leg) { r.reach(l.to) })
}

// entersAt reports whether any root is at the node.
func (s *shape) entersAt(n *node) bool {
	for _, r := range s.roots {
		if r.node == n {
			return true
		}
	}
	return false
}

// backoff gives the bounds of the wait before retry k, from the exact power of the multiplier.
func backoff(b model.Backoff, k int64) (lo, hi amount) {
	var w amount
	switch {
	case b.Waits.From != nil && len(b.Waits.V) > 0:
		w = ns(int64(b.Waits.V[min(k, int64(len(b.Waits.V)))-1]))
	case b.Base.From != nil:
		w = power(ns(int64(b.Base.V)), int64(b.Multiplier.Or(2*model.Whole)), k-1)
		w = least(w, read(b.Max, none))
	default:
		return zero, zero
	}
	switch j := b.Jitter.V; {
	case b.Jitter.From == nil || j.Kind == model.JitterNone:
		return w, w
	case j.Kind == model.JitterFull:
		return zero, w
	case j.Kind == model.JitterEqual:
		return w.ratio(1, 2, false), w
	default:
		return w.ratio(max(0, model.Whole-int64(j.Share)), model.Whole, false), w.ratio(model.Whole+int64(j.Share), model.Whole, true)
	}
}
