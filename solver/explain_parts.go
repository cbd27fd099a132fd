package solver

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// busy explains how long the callee may work on one attempt.
func (e *explainer) busy() {
	label := "busy: the longest that " + e.callee() + " works on one attempt"
	if e.t.Enforced {
		e.time(label, e.t.Busy, nil, Least,
			func() { e.calleeBusyLine("its own bound") },
			func() { e.time("patience, which reaches it", e.t.Patience, nil, Least, e.limitParts(true)...) })
		return
	}
	e.calleeBusyLine(label)
}

func (e *explainer) calleeBusyLine(label string) {
	n := &e.g.Nodes[e.l.To]
	if n.Waiter >= 0 {
		inner := &e.sol.Legs[n.Waiter]
		e.time(label, e.t.CalleeBusy, nil, Sum, func() { e.callLine(n.Waiter, inner.Wait) })
		return
	}
	sv := &e.plan.Services[n.Service]
	parts := []func(){}
	if sv.ServerTimeout.Set() {
		parts = append(parts, func() { e.time("server timeout", n.Limit, sv.ServerTimeout.From, Given) })
	}
	if e.w.Propagates.Or(0)&model.Deadline == 0 && sv.DefaultDeadline().Set() {
		parts = append(parts, func() { e.time("default deadline", sv.DefaultDeadline().V, sv.DefaultDeadline().From, Given) })
	}
	switch most := e.call.Latency.Most(); {
	case !n.Leaf:
		parts = append(parts, func() { e.flowLine(e.l.To) })
	case most.Set() && e.l.Last:
		parts = append(parts, func() { e.time("longest latency", most.V, most.From, Given) })
	case len(parts) == 0:
		e.time(label+": nobody said how long it takes", e.t.CalleeBusy, diag.At(e.call.At), Given)
		return
	}
	e.time(label, e.t.CalleeBusy, nil, Least, parts...)
}

// flowLine sums a service's queue, work and calls.
func (e *explainer) flowLine(id NodeID) {
	n := &e.g.Nodes[id]
	sv := &e.plan.Services[n.Service]
	parts := []func(){}
	if sv.QueueTimeout().Set() {
		parts = append(parts, func() { e.time("queue", n.Queue, sv.QueueTimeout().From, Given) })
	}
	parts = append(parts, e.localLines(id)...)
	parts = append(parts, func() {
		e.flow(n.flowAt, func(l LegID) { e.callLine(l, e.sol.Legs[l].Wait) }, e.waitOf, true)
	})
	e.time("work and calls of "+e.nodeName(id), e.sol.Nodes[id].Flow, nil, Sum, parts...)
}

func (e *explainer) waitOf(l LegID) model.Duration { return e.sol.Legs[l].Wait }

func (e *explainer) localLines(id NodeID) []func() {
	n := &e.g.Nodes[id]
	if n.Waiter >= 0 {
		return nil
	}
	sv := &e.plan.Services[n.Service]
	if !sv.After().Set() {
		return []func(){func() { e.time("local work", n.Before, origin(sv.Before, "local_work", sv.At), Given) }}
	}
	return []func(){
		func() { e.time("local work before its calls", n.Before, origin(sv.Before, "local_work", sv.At), Given) },
		func() { e.time("local work after its calls", n.After, sv.After().From, Given) },
	}
}

// callLine is another call's number, which its own explanation derives.
func (e *explainer) callLine(l LegID, d model.Duration) {
	c, _ := e.g.CallOf(l)
	e.add(Line{Label: "`" + e.g.LegName(l) + "`", Time: d, From: diag.At(c.At), See: e.g.LegName(l)})
}

// flow writes a body as nested sums and maxima.
func (e *explainer) flow(at int32, leaf func(LegID), of func(LegID) model.Duration, upper bool) {
	f := &e.g.flow[at]
	if f.kind == model.One {
		leaf(f.leg)
		return
	}
	op := Most
	label := "the longest of its " + f.kind.String() + " calls"
	if f.kind.Sums(upper) {
		op, label = Sum, "its calls one after the other"
		if f.kind == model.Unordered {
			label = "its calls, in case they follow each other"
		}
	}
	var parts []func()
	for i := at + 1; i < f.end; i = e.g.flow[i].end {
		parts = append(parts, func() { e.flow(i, leaf, of, upper) })
	}
	e.time(label, e.g.fold(at, of, upper), nil, op, parts...)
}

func (e *explainer) orphan() {
	label := "orphaned work of one attempt: what " + e.callee() + " goes on doing after " + e.caller() + " gave up"
	switch {
	case e.t.Enforced:
		e.time(label+": none, the caller's end reaches it", 0, e.w.Propagates.From, Given)
	case !e.t.Patience.Finite():
		e.time(label+": none, the caller never gives up", 0, diag.At(e.call.At), Given)
	default:
		e.time(label, e.t.Orphan, nil, Minus,
			func() { e.see("busy", e.t.Busy) },
			func() { e.time("patience", e.t.Patience, nil, Least, e.limitParts(true)...) })
	}
}

// need explains the least time that the call needs.
func (e *explainer) need() {
	label := "need: the least time that " + e.name() + " needs"
	switch {
	case !e.l.Awaited():
		e.time(label+": nobody waits for it", 0, e.natureOrigin(), Given)
		return
	case e.t.Need.Known == Nothing:
		e.time(label+": nobody said what it takes", model.Unknown, diag.At(e.call.At), Given)
		return
	case e.l.Optional:
		own := func() { e.time("its own limit", e.l.own(e.t).Div(e.l.Repeat), e.w.Timeout.From, Given) }
		e.time(label+", which is optional", e.t.Need.V, e.call.Optional.From, Product, own,
			func() { e.count("times in sequence", e.l.Repeat, e.repeatOrigin(), Given) })
		return
	case e.t.Need.Known == Partial:
		label += " at least, parts being unknown"
	}
	n, waits := e.l.planned()
	one := e.gr.one[e.id].V
	round := one.Mul(n).Add(waits)
	all := func() {
		e.time("the attempts", round, nil, Sum,
			func() {
				e.time("attempts", one.Mul(n), nil, Product,
					func() { e.count("attempts", n, origin(e.w.Attempts, "retries", e.call.At), Given) }, e.oneLine)
			},
			func() { e.time("back-off", waits, origin(e.w.Backoff.Get().Base, "backoff", e.call.At), Given) })
	}
	e.time(label, e.t.Need.V, nil, Product, all,
		func() { e.count("times in sequence", e.l.Repeat, e.repeatOrigin(), Given) })
}

// oneLine explains what one attempt needs: measured with headroom, or by the callee's structure.
func (e *explainer) oneLine() {
	p := e.call.Percentile().Or(e.gr.percentile)
	measured, known := e.measured(e.gr, e.id)
	parts := []func(){}
	if known {
		d, used, exact := e.call.Latency.Quantile(p)
		if exact {
			parts = append(parts, func() { e.time("latency, which gets no headroom", d.V, d.From, Given) })
		} else {
			parts = append(parts, func() {
				e.time("latency with headroom", measured, nil, Raise,
					func() { e.time("latency at "+used.Percentile(), d.V, d.From, Given) },
					func() {
						e.share("headroom", e.call.Headroom().Or(DefaultHeadroom), origin(e.call.Headroom(), "headroom", e.call.At))
					})
			})
		}
	}
	if !known || !e.g.Nodes[e.l.To].Leaf {
		parts = append(parts, e.structureLine)
	}
	e.time("what one attempt needs", e.gr.one[e.id].V, nil, Most, parts...)
}

// structureLine explains network and what the callee's own work and calls need.
func (e *explainer) structureLine() {
	n := &e.g.Nodes[e.l.To]
	var parts []func()
	if e.l.Network > 0 {
		parts = append(parts, func() { e.time("network", e.l.Network, e.call.Network().From, Given) })
	}
	local := e.localLines(e.l.To)
	parts = append(parts, local...)
	total := e.l.Network.Add(n.Local())
	if !n.Leaf {
		needOf := func(l LegID) model.Duration { return e.gr.leg[l].V }
		calls := e.g.fold(n.flowAt, needOf, false)
		gross := n.Margin.Gross(calls)
		if calls == 0 && e.gr.node[e.l.To].Known != Complete {
			gross = 0
		}
		body := func() { e.flow(n.flowAt, func(l LegID) { e.callLine(l, needOf(l)) }, needOf, false) }
		if n.Waiter >= 0 || gross == calls {
			parts = append(parts, body)
		} else {
			parts = append(parts, func() { e.marginLine("what its calls need, with the margin", gross, Gross, e.l.To, body) })
		}
		total = total.Add(gross)
	}
	e.time("network, and what "+e.callee()+" needs", total, nil, Sum, parts...)
}

func (e *explainer) marginLine(label string, d model.Duration, op Op, id NodeID, of func()) {
	n := &e.g.Nodes[id]
	sv := &e.plan.Services[n.Service]
	parts := []func(){of, func() { e.share("margin", n.Margin.Share, origin(sv.Margin, "margin", sv.At)) }}
	if n.Margin.Fixed > 0 {
		parts = append(parts, func() { e.time("margin, at least", n.Margin.Fixed, sv.Margin.From, Given) })
	}
	e.time(label, d, nil, op, parts...)
}

// budget explains the call's share of what its caller has.
func (e *explainer) budget() {
	label := "budget of " + e.name()
	if !e.t.Budget.Finite() {
		why := ": no SLO reaches it"
		if !e.l.Awaited() {
			why = ": nobody waits for it"
		}
		e.time(label+why, e.t.Budget, diag.At(e.call.At), Given)
		return
	}
	n := &e.g.Nodes[e.l.From]
	has := e.sol.Nodes[e.l.From].Received
	local := max(0, min(has, n.Limit).Sub(n.Local()))
	total := n.Margin.Keep(local)
	left := func() {
		parts := append([]func(){func() { e.hasLine(e.l.From) }}, e.localLines(e.l.From)...)
		e.time("less its own work", local, nil, Minus, parts...)
	}
	share := func() {
		if n.Waiter >= 0 {
			left()
			return
		}
		e.marginLine("what "+e.caller()+" has for its calls", total, Keep, e.l.From, left)
	}
	if e.t.Budget == total {
		e.time(label, e.t.Budget, nil, Sum, share)
		return
	}
	if asked, sum, ok := e.portion(total); ok {
		e.time(label+": its part of the sequence, by need", e.t.Budget, nil, Portion, share,
			func() { e.time("what it asks for", asked, diag.At(e.call.At), Given) },
			func() { e.time("what all ask for", sum, diag.At(e.plan.Services[n.Service].At), Given) })
		return
	}
	e.time(label+": its share by the policy, of what its caller has", e.t.Budget, diag.At(e.call.At), Given)
}

// portion finds whether the budget is the eqf share of a plain sequence.
func (e *explainer) portion(total model.Duration) (asked, sum model.Duration, ok bool) {
	n := &e.g.Nodes[e.l.From]
	f := &e.g.flow[n.flowAt]
	if f.kind == model.One {
		return 0, 0, false
	}
	for i := n.flowAt + 1; i < f.end; i = e.g.flow[i].end {
		v := e.g.fold(i, func(l LegID) model.Duration { return e.sol.Legs[l].Need.V }, false)
		sum = sum.Add(v)
		if g := &e.g.flow[i]; g.kind == model.One && g.leg == e.id {
			asked = v
		}
	}
	if sum <= 0 || !sum.Finite() || asked == 0 {
		return 0, 0, false
	}
	return asked, sum, total.Share(asked, sum) == e.t.Budget
}

// hasLine is the least of what a service received and its own server timeout.
func (e *explainer) hasLine(id NodeID) {
	n, t := &e.g.Nodes[id], &e.sol.Nodes[id]
	received := func() { e.receivedLine(id) }
	if !n.Limit.Finite() {
		received()
		return
	}
	e.time("what "+e.nodeName(id)+" has", min(t.Received, n.Limit), nil, Least, received, func() {
		e.time("server timeout", n.Limit, e.plan.Services[n.Service].ServerTimeout.From, Given)
	})
}

func (e *explainer) receivedLine(id NodeID) {
	t := &e.sol.Nodes[id]
	label := "received by " + e.nodeName(id)
	if t.ReceivedBy >= 0 {
		c, _ := e.g.CallOf(t.ReceivedBy)
		e.add(Line{Label: label + " from `" + e.g.LegName(t.ReceivedBy) + "`", Time: t.Received, From: diag.At(c.At), See: e.g.LegName(t.ReceivedBy)})
		return
	}
	if t.ReceivedRoot < 0 || e.g.Roots[t.ReceivedRoot].Entrypoint < 0 {
		e.time(label, t.Received, diag.At(e.plan.Services[e.g.Nodes[id].Service].At), Given)
		return
	}
	ep := &e.plan.Entrypoints[e.g.Roots[t.ReceivedRoot].Entrypoint]
	limit, word := ep.SLO, "SLO"
	if !limit.Set() {
		limit, word = ep.Timeout, "timeout"
	}
	parts := []func(){func() { e.time(word+" of `"+ep.Name+"`", limit.V, limit.From, Given) }}
	if ep.Overhead.Set() {
		parts = append(parts, func() { e.time("overhead", ep.Overhead.V, ep.Overhead.From, Given) })
	}
	e.time(label, t.Received, nil, Minus, parts...)
}

func (e *explainer) slackLine() {
	label := "slack of " + e.name()
	if e.t.SlackKnown == Nothing {
		return
	}
	if e.t.SlackKnown == Partial {
		label += " at most, parts of its need being unknown"
	}
	if e.t.Slack != e.t.Budget.Sub(e.t.Need.V) {
		// Entrypoints with different percentiles: budget and need are each one's worst, slack that of one of them.
		e.time(label+", the least over its entrypoints", e.t.Slack, diag.At(e.call.At), Given)
		return
	}
	e.time(label, e.t.Slack, nil, Difference,
		func() { e.see("budget", e.t.Budget) },
		func() { e.see("need", e.t.Need.V) })
}

// received explains what one attempt's callee is given.
func (e *explainer) received() {
	label := "given to " + e.callee() + " for one attempt"
	patience := func() { e.time("patience", e.t.Patience, nil, Least, e.limitParts(true)...) }
	if !e.t.Budget.Finite() {
		e.time(label, e.t.Given, nil, Least, patience)
		return
	}
	n, waits := e.l.planned()
	once := e.t.Budget.Div(e.l.Repeat)
	tries := max(0, once.Sub(waits))
	slice := tries.Div(n)
	net := max(0, slice.Sub(e.l.Network))
	e.time(label, e.t.Given, nil, Least, patience, func() {
		e.time("its slice of the budget", net, nil, Minus,
			func() {
				e.time("budget of one attempt", slice, nil, Over,
					func() {
						e.time("budget less back-off", tries, nil, Minus,
							func() {
								e.time("budget of one time", once, nil, Over,
									func() { e.see("budget", e.t.Budget) },
									func() { e.count("times in sequence", e.l.Repeat, e.repeatOrigin(), Given) })
							},
							func() { e.time("back-off", waits, origin(e.w.Backoff.Get().Base, "backoff", e.call.At), Given) })
					},
					func() { e.count("attempts", n, origin(e.w.Attempts, "retries", e.call.At), Given) })
			},
			func() { e.time("network", e.l.Network, origin(e.call.Network(), "network", e.call.At), Given) })
	})
}

// attemptLines explains the three amplification numbers of the call.
func (e *explainer) attemptLines() {
	own := e.perCall(e.id)
	from := e.sol.Nodes[e.l.From].Attempts
	factors := func(attempts, copies int64, from *diag.Origin) []func() {
		parts := []func(){func() { e.count("attempts", attempts, from, Given) }}
		if copies > 1 {
			parts = append(parts, func() { e.count("hedged copies", copies, e.w.Hedge().Attempts.From, Given) })
		}
		if e.l.Repeat > 1 {
			parts = append(parts, func() { e.count("times in sequence", e.l.Repeat, e.call.Repeat().From, Given) })
		}
		if e.l.FanOut > 1 {
			parts = append(parts, func() { e.count("times in parallel", e.l.FanOut, e.call.FanOut().From, Given) })
		}
		return parts
	}
	arrive := func(n int64) func() {
		return func() {
			e.count("attempts that reach "+e.caller()+" per request", n, diag.At(e.plan.Services[e.g.Nodes[e.l.From].Service].At), Given)
		}
	}
	n := saturate(e.l.Attempts)
	why := "attempts"
	if !e.l.RetryOn.Reaches() {
		n, why = 1, "attempts that reach it"
	}
	e.count("attempts at "+e.callee()+" by this call, as configured", e.t.Amplification.Configured, nil, Product, arrive(from.Configured),
		func() {
			e.count(why+" of this call", own.configured, nil, Product, factors(n, e.l.Copies, origin(e.w.Attempts, "retries", e.call.At))...)
		})
	label := fmt.Sprintf("attempts at %s by this call, time-limited (what can start while it hangs)", e.callee())
	e.count(label, e.t.Amplification.TimeLimited, nil, Product, arrive(from.TimeLimited),
		func() {
			e.count("attempts that can start", own.limited, nil, Product, factors(e.t.Possible, e.copiesInTime(e.l, e.t), diag.At(e.call.At))...)
		})
}
