package diagram

import (
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// waterfall is the time of one root: a row a call, in the order and nesting of the flow. Each row has two lanes: what
// the call may take under its configured limits, and its share of the SLO.
type waterfall struct {
	*graph
	root int32
	time *solver.Timeline
	rows []row
	// slo, timeout and wait are the root's: its target, when the client gives up, when it has an answer at the latest.
	slo, timeout, wait model.Duration
	end                model.Duration // of the axis
	// shares has where each service's share of the SLO begins, and how long it is; Unknown where it has none.
	shares []share
	// worked is when the last work for a caller who has left is known to end, 0 for none.
	worked model.Duration
}

// share is a service's part of the SLO.
type share struct{ from, time model.Duration }

// row is one call, the root, or the title of a group.
type row struct {
	depth   int
	name    string
	group   bool
	style   line
	limits  []bar
	budget  []bar
	tail    bar            // what the callee does after the last attempt's caller left; kind none where nothing
	open    bool           // nothing that anybody wrote ends the last piece
	gone    model.Duration // what the caller does from here on is for nobody
	numbers [4]string      // waits, works on, has, attempts
	note    string
}

// headings name the numbers of a row.
var headings = [4]string{"waits", "runs on", "budget", "attempts in all"}

// bar is a piece of time on the root's clock.
type bar struct {
	from, to model.Duration
	kind     barKind
}

type barKind uint8

const (
	noBar      barKind = iota
	attemptBar         // one attempt, or what one may take of the budget
	manyBar            // attempts too many to tell apart
	backoffBar         // waiting between two attempts
	poolBar            // before the first attempt: the client's overhead, waiting for a connection
	ownBar             // the callee's own work
	marginBar          // what a service keeps
	earlierBar         // earlier rounds, attempts of callers
	tailBar            // work for a caller who has left
)

// mostBars is how many attempts of a call are told apart.
const mostBars = 40

// mostLooked bounds how many nodes and legs all charts of a plan look at together: seconds.
const mostLooked = 100_000_000

// waterfalls makes one for every entrypoint of a plan, or for every service that nobody calls where it has none.
func waterfalls(in *render.Input) ([]*waterfall, error) {
	g := newGraph(in)
	if !g.solved {
		return nil, nil
	}
	var roots []int32
	for r := range g.g.Roots {
		if g.g.Roots[r].Entrypoint >= 0 || len(g.plan.Entrypoints) == 0 {
			roots = append(roots, int32(r))
		}
	}
	// Every root looks at the whole graph once.
	size := len(g.g.Nodes) + len(g.g.Legs)
	switch most := mostLooked / max(1, size); {
	case len(g.plan.Calls) > maxPlaces:
		return nil, &TooLargeError{len(g.plan.Calls), maxPlaces, "calls"}
	case len(roots) > most:
		return nil, &TooLargeError{len(roots), most, "charts of a plan of this size"}
	}
	var list []*waterfall
	rows := 0
	for _, r := range roots {
		w := newWaterfall(g, r)
		if rows += len(w.rows); rows > maxPlaces {
			return nil, &TooLargeError{rows, maxPlaces, "rows"}
		}
		list = append(list, w)
	}
	return list, nil
}

func newWaterfall(g *graph, r int32) *waterfall {
	root := &g.g.Roots[r]
	w := &waterfall{
		graph: g, root: r, time: g.sol.Timeline(g.g, r),
		slo: root.SLO, timeout: root.Timeout, wait: g.sol.Roots[r].Wait,
	}
	w.share()
	w.rootRow(root)
	w.body(root.Node, -1, 1)
	w.scale()
	w.time, w.shares = nil, nil // the rows have all of it
	return w
}

// name is the root's.
func (w *waterfall) name() string {
	root := &w.g.Roots[w.root]
	if root.Entrypoint >= 0 {
		return clean(w.plan.Entrypoints[root.Entrypoint].Name)
	}
	return clean(w.plan.Services[root.Node].Name)
}

// title says what the picture shows in one line.
func (w *waterfall) title() string {
	var parts []string
	if w.slo.Finite() {
		parts = append(parts, "SLO "+w.slo.String())
	}
	switch {
	case !w.wait.Finite():
		parts = append(parts, "the time to an answer: "+endless(w.wait))
	case w.wait > w.slo:
		parts = append(parts, "but an answer may take "+render.Brief(w.wait, true))
	default:
		parts = append(parts, "an answer takes at most "+render.Brief(w.wait, true))
	}
	switch ends := w.sol.Roots[w.root].WorkEnds; {
	case ends.Finite() && ends > w.wait:
		parts = append(parts, "work for it may go on until "+render.Brief(ends, true))
	case w.worked > w.wait:
		parts = append(parts, "work for it may go on until "+render.Brief(w.worked, true)+" or longer")
	}
	return w.name() + ": " + strings.Join(parts, ", ")
}

// endless words a time without a number.
func endless(d model.Duration) string {
	if d == model.NoLimit {
		return "no limit"
	}
	return "nobody says how long"
}

// share gives every service the place of its share of the SLO: after its caller's work and what is called before it.
func (w *waterfall) share() {
	w.shares = make([]share, len(w.g.Nodes))
	for n := range w.shares {
		w.shares[n] = share{model.Unknown, model.Unknown}
	}
	root := &w.g.Roots[w.root]
	if root.SLO.Finite() {
		w.shares[root.Node] = share{root.Overhead, max(0, root.SLO.Sub(root.Overhead))}
	}
}

// callee gives the callee of a call its share, the first of the call's slices. That of a service called more than
// once stands where its calls do; the least that it receives there is what they share.
func (w *waterfall) callee(l solver.LegID, from model.Duration) {
	to := w.g.Legs[l].To
	if time := min(w.sol.Legs[l].Given, w.sol.Nodes[to].Received); time.Finite() && w.time.Nodes[to].By == l {
		w.shares[to] = share{from, time}
	}
}

func (w *waterfall) rootRow(root *solver.Root) {
	t := &w.sol.Nodes[root.Node]
	style := line{bad: w.sol.Roots[w.root].SlackKnown != solver.Nothing && w.sol.Roots[w.root].Slack < 0}
	r := row{name: w.name(), style: style}
	if root.Entrypoint >= 0 {
		r.name += " → " + clean(w.plan.Services[w.g.Nodes[root.Node].Service].Name)
	}
	a := attempts{start: 0, pool: root.Overhead, n: root.Attempts, retried: t.Busy, last: t.Busy, cut: max(0, root.Timeout.Sub(root.Overhead))}
	r.limits, r.open = a.bars(w.own(root.Node))
	visit := &w.time.Nodes[root.Node]
	if visit.Starts.Finite() {
		w.runOn(&r, w.time.Root.Left, visit.Ends)
	}
	r.gone = w.time.Root.Left
	r.numbers = [4]string{number(w.wait, true), runsOn(r.tail), number(w.slo, false), solver.CountText(root.Attempts)}
	if s := w.shares[root.Node]; s.from.Finite() {
		r.budget = append(r.budget, bar{0, s.from, poolBar})
		r.budget = append(r.budget, w.kept(root.Node, s)...)
	}
	w.rows = append(w.rows, r)
}

// kept shows a share of the SLO: the service's own work, what its calls may take, and its margin.
func (w *waterfall) kept(n solver.NodeID, s share) []bar {
	node := &w.g.Nodes[n]
	end := s.from.Add(s.time)
	bars := []bar{{s.from, end, attemptBar}}
	if node.Leaf || node.Waiter >= 0 {
		return bars
	}
	rest := max(0, s.time.Sub(node.Local()))
	after := max(s.from, end.Sub(node.After))
	return append(bars,
		bar{s.from, min(end, s.from.Add(node.Before)), ownBar},
		bar{after.Sub(rest.Sub(node.Margin.Keep(rest))), after, marginBar},
		bar{after, end, ownBar})
}

// own gives the callee's work before and after its calls; a leaf's work is its whole attempt.
func (w *waterfall) own(n solver.NodeID) (before model.Duration) {
	if w.g.Nodes[n].Leaf {
		return 0
	}
	return w.g.Nodes[n].Before
}

// body adds the rows of what a service calls, once: a shared service's calls stand where it is called last, since
// they belong to that invocation.
func (w *waterfall) body(n solver.NodeID, by solver.LegID, depth int) {
	node := &w.g.Nodes[n]
	if node.Waiter >= 0 {
		w.g.Out(n, func(l solver.LegID) { w.call(l, depth, w.shares[n].from) })
		return
	}
	if last := w.time.Nodes[n].By; last != by {
		if !node.Leaf {
			w.rows[len(w.rows)-1].note = "calls: see " + clean(w.g.LegName(last))
		}
		return
	}
	flow := plain(&w.plan.Services[node.Service].Flow)
	w.flow(flow, unboxed(flow), depth, w.shares[n].from.Add(node.Before))
}

// flow adds the rows of a group, whose share of the SLO begins at from, and gives where that of the next one does.
func (w *waterfall) flow(flow *model.Flow, parent model.FlowKind, depth int, from model.Duration) model.Duration {
	if flow.Kind == model.One {
		if l := w.g.FirstLeg[flow.Call]; l >= 0 {
			return w.call(l, depth, from)
		}
		w.rows = append(w.rows, row{depth: depth, name: w.callName(flow.Call), note: "a cycle, cut here"})
		return from
	}
	if flow.Empty() {
		return from
	}
	if len(flow.Of) > 1 && flow.Kind != parent {
		w.rows = append(w.rows, row{depth: depth, name: flow.Kind.String(), group: true})
		depth++
	}
	at, last := from, from
	for i := range flow.Of {
		end := w.flow(&flow.Of[i], flow.Kind, depth, at)
		last = max(last, end)
		if flow.Kind.Sums(true) {
			at = end
		}
	}
	return last
}

// callName is the id of a call without its caller.
func (w *waterfall) callName(id model.CallID) string {
	c := &w.plan.Calls[id]
	return clean(strings.TrimPrefix(c.ID, w.plan.Services[c.From].Name+"/"))
}

// call adds the row of a leg and what is below it; it gives where the share of the SLO of the next call begins.
func (w *waterfall) call(id solver.LegID, depth int, from model.Duration) model.Duration {
	l, t, m := &w.g.Legs[id], &w.sol.Legs[id], &w.time.Legs[id]
	r := row{depth: depth, name: w.callName(l.Call), style: w.legStyle(id)}
	if l.Waiter > 0 {
		_, waiter := w.g.CallOf(id)
		r.name = "@" + clean(waiter.Name)
	}
	if m.Starts.Finite() {
		w.limits(&r, id)
	} else {
		r.note = "nobody says when it starts"
	}
	r.numbers = [4]string{number(t.Wait, true), runsOn(r.tail), number(t.Budget, false), solver.CountText(t.Amplification.TimeLimited)}
	if !l.Awaited() {
		r.numbers[0] = "not"
	}
	if from.Finite() && t.Budget.Finite() {
		w.callee(id, from)
		r.budget = w.slices(id, from)
	}
	w.rows = append(w.rows, r)
	w.body(l.To, id, depth+1)
	if !t.Budget.Finite() || !l.Awaited() {
		return from
	}
	return from.Add(t.Budget)
}

func (w *waterfall) legStyle(id solver.LegID) line {
	l, t := &w.g.Legs[id], &w.sol.Legs[id]
	return line{
		bad:    w.red[w.g.LegName(id)] || t.SlackKnown != solver.Nothing && t.Slack < 0,
		dashed: l.Optional, dotted: !l.Awaited(),
	}
}

// limits fills the lane of what a call may take.
func (w *waterfall) limits(r *row, id solver.LegID) {
	l, t, m := &w.g.Legs[id], &w.sol.Legs[id], &w.time.Legs[id]
	_, waiter := w.g.CallOf(id)
	if m.First < m.Starts {
		r.limits = append(r.limits, bar{m.First, m.Starts, earlierBar})
	}
	if m.Starts < m.Round {
		r.limits = append(r.limits, bar{m.Starts, m.Round, manyBar})
	}
	if !m.Round.Finite() {
		r.open = true
		return
	}
	caller := &w.time.Nodes[l.From]
	r.gone = caller.Gone
	a := attempts{start: m.Round, pool: l.Pool, n: t.Rounds, retried: t.Retried, last: t.Attempt, cut: min(l.Timeout, t.Uncut)}
	if caller.Ends.Finite() {
		a.cut = min(a.cut, max(0, caller.Ends.Sub(m.Round.Add(l.Pool))))
	}
	if t.Rounds == l.Attempts {
		a.backoff = waiter.Backoff.Wait
	}
	bars, open := a.bars(w.own(l.To))
	r.limits, r.open = append(r.limits, bars...), open
	w.runOn(r, m.Left, m.Ends)
	r.open = r.open || m.Left == model.NoLimit && !m.Ends.Finite()
}

// runOn adds what a callee does after its caller left.
func (w *waterfall) runOn(r *row, left, ends model.Duration) {
	if left.Finite() && ends > left {
		r.tail = bar{left, ends, tailBar}
		if ends.Finite() {
			w.worked = max(w.worked, ends)
		}
	}
}

// slices shows the budget of a call: a slice an attempt, back-off between them, and in the first what the callee keeps.
func (w *waterfall) slices(id solver.LegID, from model.Duration) []bar {
	l, t := &w.g.Legs[id], &w.sol.Legs[id]
	_, waiter := w.g.CallOf(id)
	round := t.Budget.Div(l.Repeat)
	slice := max(0, round.Sub(t.BackoffSum)).Div(l.Attempts)
	a := attempts{start: from, n: l.Attempts, retried: slice, last: slice, cut: round, backoff: waiter.Backoff.Wait}
	bars, _ := a.bars(0)
	if s := w.shares[l.To]; s.from == from && s.time.Finite() {
		bars = append(bars, w.kept(l.To, share{from, min(s.time, slice)})[1:]...)
	}
	return bars
}

// attempts is one round of a call on the clock.
type attempts struct {
	start, pool   model.Duration
	n             int64
	retried, last model.Duration
	cut           model.Duration // the whole round, pool wait left out
	backoff       func(k int64) (lo, hi model.Duration)
}

// bars gives the pieces of the round, each attempt beginning with the callee's own work; open says that nothing bounds
// the last of them.
func (a *attempts) bars(own model.Duration) (bars []bar, open bool) {
	at := a.start.Add(a.pool)
	if a.pool > 0 {
		bars = append(bars, bar{a.start, at, poolBar})
	}
	end := at.Add(a.cut)
	for k := int64(1); k <= a.n && at < end; k++ {
		length, kind := a.retried, attemptBar
		if k == a.n {
			length = a.last
		}
		if k == mostBars && k < a.n {
			length, kind = end.Sub(at), manyBar
			k = a.n
		}
		to := min(end, at.Add(length))
		bars = append(bars, bar{at, to, kind})
		if own > 0 && kind == attemptBar {
			bars = append(bars, bar{at, min(to, at.Add(own)), ownBar})
		}
		if !to.Finite() {
			return bars, true
		}
		if at = to; k < a.n && a.backoff != nil {
			_, wait := a.backoff(k)
			if next := min(end, at.Add(wait)); next > at && next.Finite() {
				bars = append(bars, bar{at, next, backoffBar})
				at = next
			}
		}
	}
	return bars, false
}

// scale ends the axis where the last piece of time does that has an end.
func (w *waterfall) scale() {
	grow := func(d model.Duration) {
		if d.Finite() {
			w.end = max(w.end, d)
		}
	}
	grow(w.slo)
	grow(w.timeout)
	grow(w.wait)
	for i := range w.rows {
		r := &w.rows[i]
		if r.style.dotted {
			continue // background work may outlast everything by days
		}
		for _, bars := range [][]bar{r.limits, r.budget, {r.tail}} {
			for _, b := range bars {
				grow(b.from)
				grow(b.to)
			}
		}
	}
	w.end = max(w.end, 1)
}

// marks are the moments that lines across the picture stand for.
func (w *waterfall) marks() []mark {
	var list []mark
	if w.slo.Finite() {
		list = append(list, mark{w.slo, "SLO " + w.slo.String(), true})
	}
	if w.timeout.Finite() {
		list = append(list, mark{w.timeout, "client gives up " + w.timeout.String(), false})
	}
	if w.wait.Finite() && w.wait != w.timeout {
		list = append(list, mark{w.wait, "answer at the latest " + render.Brief(w.wait, true), false})
	}
	return list
}

type mark struct {
	at   model.Duration
	text string
	slo  bool
}

// ticks gives round times along the axis, at most n.
func ticks(end model.Duration, n int64) []model.Duration {
	step := model.Duration(1)
	for i := 0; end.Div(int64(step)) > model.Duration(n) && step < model.Unknown/10; i++ {
		if i%3 == 1 {
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	var list []model.Duration
	for at := model.Duration(0); at <= end; at = at.Add(step) {
		list = append(list, at)
	}
	return list
}

func number(d model.Duration, up bool) string {
	switch {
	case d.Finite():
		return render.Brief(d, up)
	case d == model.NoLimit:
		return "no limit"
	}
	return "?"
}

// runsOn says how long the callee works after its caller has left.
func runsOn(b bar) string {
	switch {
	case b.kind == noBar:
		return ""
	case b.to == model.NoLimit:
		return "no limit"
	case !b.to.Finite():
		return "?"
	}
	return render.Brief(b.to.Sub(b.from), true)
}
