package solver

import "github.com/budgetplan/budgetplan/model"

// legs writes the waiters of every call out in series, with a node for each inner one.
func (c *compiler) legs(g *Graph) {
	g.FirstLeg = make([]LegID, len(c.plan.Calls))
	g.Legs = make([]Leg, 0, len(c.plan.Calls))
	for i := range c.plan.Calls {
		call := &c.plan.Calls[i]
		g.FirstLeg[i] = -1
		if c.cut[i] || len(call.Waiters) == 0 {
			continue
		}
		g.FirstLeg[i] = LegID(len(g.Legs))
		from := NodeID(call.From)
		for w := range call.Waiters {
			to := NodeID(call.To)
			last := w == len(call.Waiters)-1
			if !last {
				to = NodeID(len(g.Nodes))
				g.Nodes = append(g.Nodes, Node{
					Service: call.To,
					Waiter:  LegID(len(g.Legs) + 1),
					Limit:   model.NoLimit,
					Honors:  call.Waiters[w+1].Honors().Or(0),

					deadline: model.NoLimit,
				})
			}
			g.Legs = append(g.Legs, compileLeg(call, model.CallID(i), int32(w), from, to, last))
			from = to
		}
	}
}

// compileLeg applies the defaults of one waiter. What a call says of its nature holds for its first leg, what it
// says of latency for its last (numbers.md 19).
func compileLeg(call *model.Call, id model.CallID, w int32, from, to NodeID, last bool) Leg {
	wt := &call.Waiters[w]
	l := Leg{
		Call: id, Waiter: w, From: from, To: to, Last: last,
		Timeout:    wt.Timeout.Or(model.Unknown),
		PerTry:     wt.PerTry.Or(model.Unknown),
		Read:       wt.Read().Or(model.Unknown),
		Connect:    wt.Connect.Or(0),
		ConnectSet: wt.Connect.Set(),
		Extra:      wt.ConnectExtra().Or(false),
		Pool:       wt.Pool().Or(0),
		Attempts:   int64(wt.Attempts.Or(DefaultAttempts)),
		Copies:     1,
		RetryOn:    wt.Retried().All(),
		Window:     wt.RetryWindow().Or(model.NoLimit),
		MinLeft:    minLeft(call, wt),
		Budget:     wt.RetryBudget().Or(-1),
		Repeat:     1,
		FanOut:     1,
	}
	if l.Attempts >= int64(model.Unlimited) {
		l.Attempts = unlimited
	}
	if wt.Hedge().Set() {
		l.Copies = int64(max(1, wt.Hedge().Attempts.Or(DefaultHedges)))
		l.After = wt.Hedge().After.Or(0)
	}
	if w == 0 {
		l.Repeat = int64(call.Repeat().Or(1))
		l.FanOut = int64(call.FanOut().Or(1))
		l.Network = call.Network().Or(0)
		l.Optional = call.Optional.Or(false)
		l.Async = call.Async.Or(false)
		l.Stream = call.Stream().Or(false)
		l.Fixed = fixed(call)
	}
	l.facts(call, wt)
	return l
}

// facts computes what the passes of Solve would otherwise look up in the plan, call by call.
func (l *Leg) facts(call *model.Call, w *model.Waiter) {
	l.propagates = w.Propagates.Or(0)
	_, l.backoffSum = w.Backoff.Sum(l.Attempts - 1)
	l.most = model.Unknown
	l.ownPercentile = call.Percentile().Set()
	if !l.Last {
		return
	}
	l.most, l.least = call.Latency.Most().Or(model.Unknown), call.Latency.Least().Or(0)
	l.measured, l.hasMeasured = measured(call, call.Percentile().Or(DefaultPercentile))
	_, patience := l.limits()
	l.falseTimeout, l.falseKnown = falseTimeout(call, patience)
}

// meet keeps of the callee what every pass asks it for.
func (l *Leg) meet(callee *Node) {
	l.leaf = callee.Leaf
	l.enforced = l.propagates&callee.Honors != 0
	l.cut = model.NoLimit
	if l.propagates&model.Deadline == 0 {
		l.cut = callee.deadline
	}
	if l.leaf {
		l.cut = min(l.cut, callee.Limit)
	}
}

func fixed(call *model.Call) (f Fixed) {
	if call.Fixed().V.All {
		f |= FixedAll
	}
	if call.Fixed().V.Has("timeout") {
		f |= FixedTimeout
	}
	if call.Fixed().V.Has("per_try_timeout") {
		f |= FixedPerTry
	}
	return f
}

// measured is a call's latency at a percentile, with headroom unless it is exact.
func measured(call *model.Call, percentile model.Fraction) (model.Duration, bool) {
	d, _, exact := call.Latency.Quantile(percentile)
	switch {
	case !d.Set():
		return 0, false
	case exact:
		return d.V, true
	}
	return d.V.MulUp(model.Whole + call.Headroom().Or(DefaultHeadroom)), true
}

// falseTimeout bounds from above the share of healthy attempts that the patience cuts: one less the highest
// known percentile that still fits.
func falseTimeout(call *model.Call, patience model.Duration) (share float64, known bool) {
	_, hi, known := call.Latency.Above(patience)
	if !known {
		return 0, false
	}
	if !patience.Finite() {
		return 0, patience == model.NoLimit
	}
	return hi.Float(), true
}

// minLeft resolves `min_remaining`: a percentile is taken from the call's latency, without headroom, and asks
// for nothing where that is unknown.
func minLeft(call *model.Call, w *model.Waiter) model.Duration {
	m := w.MinRemaining().Or(model.MinRemaining{})
	if m.Percentile == 0 {
		return m.D
	}
	d, _, _ := call.Latency.Quantile(m.Percentile)
	return d.Or(0)
}
