package solver

import (
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Line is one line of an explanation. The lines one deeper that follow it make its value, as Op says, so that
// anybody can add an explanation up again.
type Line struct {
	Depth int
	Label string
	// Unit says which of Time, Count and Share is the value.
	Unit  Unit
	Time  model.Duration
	Count int64
	Share model.Fraction
	Op    Op
	// From is the place where the value was written, or the default that supplied it; nil for a value that
	// follows from the lines below it, or from another explanation that See names.
	From *diag.Origin
	// See is the call whose own explanation continues this one, "" where none does.
	See string
}

// Unit is the kind of value of a Line.
type Unit uint8

// The units: a time, a count without unit, a share.
const (
	Time Unit = iota
	Count
	Share
)

// Op says how the lines one deeper make a value. What Minus would take below 0 is 0.
type Op uint8

// The ways to make a value of its parts.
const (
	Given      Op = iota // nothing below
	Sum                  // all added
	Least                // the least
	Most                 // the largest
	Product              // all multiplied
	Minus                // the first less all others, at least 0
	Difference           // the first less the second, which may be negative
	Over                 // the first divided by the second, rounded down
	Keep                 // the first, less the share that is the second (and at least the time that is the third), rounded down
	Gross                // what leaves the first after that margin, rounded up
	Raise                // the first and the share of it that is the second, rounded up
	Portion              // the first × the second ÷ the third, rounded down
)

var opNames = [...]string{
	"", "sum of", "least of", "most of", "product of", "first less the others", "first less the second", "first divided by second", "first less the margin",
	"first with the margin on top", "first with headroom", "first × second ÷ third",
}

// String gives the words that stand behind a value whose parts follow.
func (o Op) String() string { return opNames[o] }

// Quantity names what an explanation explains.
type Quantity string

// The quantities that can be explained, in the order in which a call's explanation has them.
const (
	QWait     Quantity = "wait"
	QBusy     Quantity = "busy"
	QOrphan   Quantity = "orphan"
	QNeed     Quantity = "need"
	QBudget   Quantity = "budget"
	QSlack    Quantity = "slack"
	QReceived Quantity = "received"
	QAttempts Quantity = "attempts"
)

// Quantities is the order of a whole explanation.
var Quantities = []Quantity{QWait, QBusy, QOrphan, QNeed, QBudget, QSlack, QReceived, QAttempts}

// Explain gives the arithmetic behind one number of a call, for each of its legs, made on demand; without a
// quantity, behind all of them.
func Explain(p *model.Plan, g *Graph, sol *Solution, call model.CallID, what ...Quantity) []Line {
	if g.FirstLeg[call] < 0 {
		return nil
	}
	if len(what) == 0 {
		what = Quantities
	}
	e := &explainer{solve: &solve{g: g, sol: sol}, plan: p}
	e.groupRoots()
	for _, gr := range e.groups {
		e.needsOf(gr)
	}
	for l := g.FirstLeg[call]; int(l) < len(g.Legs) && g.Legs[l].Call == call; l++ {
		e.leg(l)
		for _, q := range what {
			e.quantity(q)
		}
	}
	return tidy(e.lines)
}

type explainer struct {
	*solve
	plan  *model.Plan
	lines []Line
	depth int

	id   LegID
	l    *Leg
	t    *LegTimes
	call *model.Call
	w    *model.Waiter
	gr   *group // of the percentile that makes the leg's need the largest
}

func (e *explainer) leg(id LegID) {
	e.id, e.l, e.t = id, &e.g.Legs[id], &e.sol.Legs[id]
	e.call, e.w = e.g.CallOf(id)
	e.gr = nil
	for _, gr := range e.groups {
		if gr.has(e.l.From) && (e.gr == nil || gr.leg[id].V > e.gr.leg[id].V) {
			e.gr = gr
		}
	}
}

func (e *explainer) quantity(q Quantity) {
	switch q {
	case QWait:
		e.wait()
	case QBusy:
		e.busy()
	case QOrphan:
		e.orphan()
	case QNeed:
		e.need()
	case QBudget:
		e.budget()
	case QSlack:
		e.slackLine()
	case QReceived:
		e.received()
	case QAttempts:
		e.attemptLines()
	}
}

// time adds a line with a time, and its parts below it.
func (e *explainer) time(label string, d model.Duration, from *diag.Origin, op Op, parts ...func()) {
	e.add(Line{Label: label, Time: d, From: from, Op: op}, parts...)
}

func (e *explainer) count(label string, n int64, from *diag.Origin, op Op, parts ...func()) {
	e.add(Line{Label: label, Unit: Count, Count: n, From: from, Op: op}, parts...)
}

func (e *explainer) share(label string, f model.Fraction, from *diag.Origin) {
	e.add(Line{Label: label, Unit: Share, Share: f, From: from})
}

func (e *explainer) add(l Line, parts ...func()) {
	l.Depth = e.depth
	if l.Op == Given && l.From == nil {
		l.From = diag.At(e.call.At) // nobody wrote it: the call is where it would stand
	}
	e.lines = append(e.lines, l)
	e.depth++
	for _, p := range parts {
		p()
	}
	e.depth--
}

// origin is where a value was written, else the default of its key at the call.
func origin[T any](v model.Val[T], key string, at diag.Span) *diag.Origin {
	if v.From != nil {
		return v.From
	}
	return Assumed(key, at)
}

// name of the leg and, in backticks, of the caller and the callee.
func (e *explainer) name() string   { return "`" + e.g.LegName(e.id) + "`" }
func (e *explainer) caller() string { return e.nodeName(e.l.From) }
func (e *explainer) callee() string { return e.nodeName(e.l.To) }

func (e *explainer) nodeName(n NodeID) string {
	node := &e.g.Nodes[n]
	if node.Waiter >= 0 {
		_, w := e.g.CallOf(node.Waiter)
		return "`" + w.Name + "`"
	}
	return "`" + e.plan.Services[node.Service].Name + "`"
}

// limitParts lists the limits that are numbers, each with the way it bounds one attempt.
func (e *explainer) limitParts(connected bool) []func() {
	var parts []func()
	w := e.w
	if e.l.Timeout.Finite() {
		parts = append(parts, func() { e.time("timeout", w.Timeout.V, w.Timeout.From, Given) })
	}
	connect := func() { e.time("connect timeout", w.Connect.V, w.Connect.From, Given) }
	if e.l.PerTry.Finite() {
		per := func() { e.time("per-try timeout", w.PerTry.V, w.PerTry.From, Given) }
		if e.l.Extra && e.l.Connect > 0 && !connected {
			parts = append(parts, func() { e.time("connect and one try", e.l.PerTry.Add(e.l.Connect), nil, Sum, per, connect) })
		} else {
			parts = append(parts, per)
		}
	}
	if e.l.Read.Finite() {
		read := func() { e.time("read timeout", w.Read().V, w.Read().From, Given) }
		if e.l.Connect > 0 && !connected {
			parts = append(parts, func() { e.time("connect and read", e.l.Read.Add(e.l.Connect), nil, Sum, read, connect) })
		} else {
			parts = append(parts, read)
		}
	}
	if len(parts) == 0 {
		label, from := "timeout, which nobody set", diag.At(e.call.At)
		if w.Timeout.Set() {
			label, from = "timeout", w.Timeout.From
		}
		parts = append(parts, func() { e.time(label, e.l.Timeout, from, Given) })
	}
	return parts
}

func (e *explainer) wait() {
	title := "wait of " + e.name()
	switch {
	case !e.l.Awaited():
		e.time(title+": nobody waits for it", 0, e.natureOrigin(), Given)
	case e.l.Pool == 0 && e.l.Repeat == 1:
		e.round(title + ": the longest that " + e.caller() + " stands in it")
	default:
		one := e.l.Pool.Add(min(e.l.Timeout, e.t.Uncut))
		e.time(title+": the longest that "+e.caller()+" stands in it", e.t.Wait, nil, Product,
			func() { e.count("times in sequence", e.l.Repeat, e.repeatOrigin(), Given) },
			func() {
				e.time("one time", one, nil, Sum,
					func() { e.time("wait for a connection from the pool", e.l.Pool, e.w.Pool().From, Given) },
					func() { e.round("the attempts, cut by the timeout") })
			})
	}
}

// repeatOrigin is where `repeat` stands, else the call that is made once.
func (e *explainer) repeatOrigin() *diag.Origin {
	if e.l.Waiter == 0 && e.call.Repeat().Set() {
		return e.call.Repeat().From
	}
	return diag.At(e.call.At)
}

func (e *explainer) natureOrigin() *diag.Origin {
	if e.l.Async {
		return e.call.Async.From
	}
	return e.call.Stream().From
}

// round explains one round of attempts: min(timeout, uncut).
func (e *explainer) round(label string) {
	parts := []func(){e.uncut}
	if e.l.Timeout != model.Unknown {
		parts = append(parts, func() { e.time("timeout", e.l.Timeout, e.w.Timeout.From, Given) })
	}
	e.time(label, min(e.l.Timeout, e.t.Uncut), nil, Least, parts...)
}

func (e *explainer) uncut() {
	if e.t.Rounds <= 1 {
		e.attempt("one attempt")
		return
	}
	last := func() { e.attempt("the last attempt") }
	before := e.t.beforeLast(e.l)
	full := e.t.Retried.Mul(e.t.Rounds - 1).Add(e.t.BackoffSum)
	retried := func() {
		e.time("attempts before it", e.t.Retried.Mul(e.t.Rounds-1), nil, Product,
			func() { e.count("retries", e.t.Rounds-1, e.w.Attempts.From, Given) },
			func() {
				e.retried()
			})
	}
	waits := func() {
		from := e.w.Backoff.Get().Waits.From
		if from == nil {
			from = origin(e.w.Backoff.Get().Base, "backoff", e.call.At)
		}
		e.time("back-off between them, at its longest", e.t.BackoffSum, from, Given)
	}
	if before == full {
		e.time(CountText(e.t.Rounds)+" attempts", e.t.Uncut, nil, Sum, retried, waits, last)
		return
	}
	e.time(CountText(e.t.Rounds)+" attempts", e.t.Uncut, nil, Sum, func() {
		e.time("before the last attempt starts", before, nil, Least,
			func() { e.time("retry window", e.l.Window, e.w.RetryWindow().From, Given) },
			func() { e.time("attempts and back-off", full, nil, Sum, retried, waits) })
	}, last)
}

// retried explains how long an attempt lasts that is then retried.
func (e *explainer) retried() {
	limit := func() { e.time("attempt limit", e.t.Limit, nil, Least, e.limitParts(false)...) }
	switch {
	case e.t.Retried == e.t.Attempt:
		e.attempt("one attempt")
	case e.l.ConnectSet:
		e.time("an attempt that cannot connect", e.t.Retried, nil, Least, limit,
			func() { e.time("connect timeout", e.l.Connect, e.w.Connect.From, Given) })
	default:
		e.time("an attempt that cannot connect, for which nobody set a limit", e.t.Retried, nil, Least, limit)
	}
}

// attempt explains min(limit, connect + busy + network).
func (e *explainer) attempt(label string) {
	limit := func() {
		e.time("attempt limit", e.t.Limit, nil, Least, e.limitParts(false)...)
	}
	if e.t.CalleeBusy == model.Unknown {
		e.time(label+" (what "+e.callee()+" takes is unknown)", e.t.Attempt, nil, Least, limit)
		return
	}
	e.time(label, e.t.Attempt, nil, Least, limit, func() {
		parts := []func(){func() { e.see("work of "+e.callee(), e.t.CalleeBusy) }}
		if e.l.Connect > 0 {
			parts = append(parts, func() { e.time("connect timeout", e.l.Connect, e.w.Connect.From, Given) })
		}
		if e.l.Network > 0 {
			parts = append(parts, func() { e.time("network", e.l.Network, e.call.Network().From, Given) })
		}
		e.time("what it can take", e.l.Connect.Add(e.t.CalleeBusy).Add(e.l.Network), nil, Sum, parts...)
	})
}

// see adds a line whose value this very explanation derives under another head.
func (e *explainer) see(label string, d model.Duration) {
	e.add(Line{Label: label, Time: d, From: diag.At(e.call.At), See: e.g.LegName(e.id)})
}
