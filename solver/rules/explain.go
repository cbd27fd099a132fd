package rules

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// nodeName is what messages call a node: the service, or the leg that an inner waiter makes.
func (p *Pass) nodeName(n solver.NodeID) string {
	if w := p.Graph.Nodes[n].Waiter; w >= 0 {
		return p.Graph.LegName(w)
	}
	return p.Plan.Services[p.Graph.Nodes[n].Service].Name
}

// service gives the service of a node, nil for an inner waiter.
func (p *Pass) service(n solver.NodeID) *model.Service {
	if p.Graph.Nodes[n].Waiter >= 0 {
		return nil
	}
	return &p.Plan.Services[p.Graph.Nodes[n].Service]
}

// rootName is the entrypoint's name, or the service's that nobody calls.
func (p *Pass) rootName(r int32) string {
	root := &p.Graph.Roots[r]
	if root.Entrypoint >= 0 {
		return p.Plan.Entrypoints[root.Entrypoint].Name
	}
	return p.nodeName(root.Node)
}

// body gives what a node waits for: a service's flow, an inner waiter's one call.
func (p *Pass) body(n solver.NodeID) element {
	if p.bodies == nil {
		p.bodies = make([]element, len(p.Graph.Nodes))
		for i := range p.bodies {
			if w := p.Graph.Nodes[i].Waiter; w >= 0 {
				p.bodies[i] = element{kind: model.One, leg: w}
			} else {
				p.bodies[i] = p.element(&p.Plan.Services[i].Flow)
			}
		}
	}
	return p.bodies[n]
}

// element is a flow over legs; calls that were cut out of a cycle are left out.
type element struct {
	kind model.FlowKind
	leg  solver.LegID
	of   []element
}

func (p *Pass) element(f *model.Flow) element {
	if f.Kind == model.One {
		if leg := p.Graph.FirstLeg[f.Call]; leg >= 0 {
			return element{kind: model.One, leg: leg}
		}
		return element{}
	}
	e := element{kind: f.Kind}
	if len(f.Of) > 0 {
		e.of = make([]element, len(f.Of))
		for i := range f.Of {
			e.of[i] = p.element(&f.Of[i])
		}
	}
	return e
}

// legs calls visit for every leg of a body, in the order written, until it gives false.
func (e element) legs(visit func(solver.LegID) bool) bool {
	if e.kind == model.One {
		return visit(e.leg)
	}
	for _, g := range e.of {
		if !g.legs(visit) {
			return false
		}
	}
	return true
}

// fold composes a time over a body as the solver does: upper sums an unordered group, else it takes the longest.
func (e element) fold(of func(solver.LegID) model.Duration, upper bool) model.Duration {
	if e.kind == model.One {
		return of(e.leg)
	}
	var total model.Duration
	for _, g := range e.of {
		if v := g.fold(of, upper); e.kind.Sums(upper) {
			total = total.Add(v)
		} else {
			total = max(total, v)
		}
	}
	return total
}

// longestOf lists the legs whose waits add up to the wait of a node's body.
func (p *Pass) longestOf(n solver.NodeID) []solver.LegID {
	return once(&p.about(n).longest, func() []solver.LegID { return p.longest(p.body(n)) })
}

// longest lists the legs whose waits add up to the wait of a body.
func (p *Pass) longest(e element) []solver.LegID {
	switch {
	case e.kind == model.One && p.wait(e.leg) > 0:
		return []solver.LegID{e.leg}
	case e.kind == model.One:
		return nil
	case e.kind.Sums(true):
		var all []solver.LegID
		for _, g := range e.of {
			all = append(all, p.longest(g)...)
		}
		return all
	}
	var worst element
	var most model.Duration
	for _, g := range e.of {
		if w := g.fold(p.wait, true); w > most {
			worst, most = g, w
		}
	}
	return p.longest(worst)
}

func (p *Pass) wait(l solver.LegID) model.Duration { return p.Sol.Legs[l].Wait }

// call gives a leg with everything that belongs to it.
func (p *Pass) call(l solver.LegID) (leg *solver.Leg, t *solver.LegTimes, c *model.Call, w *model.Waiter) {
	c, w = p.Graph.CallOf(l)
	return &p.Graph.Legs[l], &p.Sol.Legs[l], c, w
}

// calleeName is the short name of a call among its caller's: the callee, or the whole id where that is not enough.
func (p *Pass) calleeName(l solver.LegID) string {
	leg, _, c, _ := p.call(l)
	from, to := p.Plan.Services[c.From].Name, p.Plan.Services[c.To].Name
	if rest, ok := strings.CutPrefix(c.ID, from); !ok || len(rest) != len(to)+1 || rest[0] != '/' || rest[1:] != to || leg.Waiter > 0 {
		return p.Graph.LegName(l)
	}
	return to
}

// limit is one of a waiter's limits: its key in the plan language, its name in messages, its value.
type limit struct {
	key, name string
	model.Val[model.Duration]
}

// limits lists what bounds the patience of a waiter, n of them, each a number; the same value twice keeps the wider
// clock first.
func limits(w *model.Waiter) (all [3]limit, n int) {
	for _, l := range [...]limit{
		{"timeout", "timeout", w.Timeout},
		{"per_try_timeout", "per-try timeout", w.PerTry},
		{"read_timeout", "read timeout", w.Read()},
	} {
		if l.Set() && l.V.Finite() {
			all[n] = l
			n++
		}
	}
	return all, n
}

// patience is the limit that decides how long a connected callee is waited for; not set without any.
func patience(w *model.Waiter) limit {
	var least limit
	all, n := limits(w)
	for _, l := range all[:n] {
		if !least.Set() || l.V < least.V {
			least = l
		}
	}
	return least
}

// limiter is the limit that decides how long a call can be waited for, nil where none does.
func (p *Pass) limiter(l solver.LegID) *diag.Origin {
	leg, t, c, w := p.call(l)
	if leg.Timeout.Finite() && leg.Timeout <= t.Uncut {
		return w.Timeout.From
	}
	if t.Attempt < t.Limit {
		if s := &p.Plan.Services[c.To]; leg.Last && s.ServerTimeout.Set() && s.ServerTimeout.V.Finite() {
			return s.ServerTimeout.From
		}
		if most := c.Latency.Most(); leg.Last && most.Set() && most.V <= t.CalleeBusy {
			return nil
		}
	}
	return patience(w).From
}

// decider is the place of what decides how long a call can be waited for, the call's own where nothing does.
func (p *Pass) decider(l solver.LegID) *diag.Origin {
	leg, _, c, _ := p.call(l)
	if o := p.limiter(l); o != nil {
		return o
	}
	if most := c.Latency.Most(); leg.Last && most.Set() {
		return most.From
	}
	return diag.At(c.At)
}

// arithmetic says how the wait of a leg comes about, "" where a single value is all there is to say.
func (p *Pass) arithmetic(l solver.LegID) string {
	leg, t, _, _ := p.call(l)
	round, text := min(leg.Timeout, t.Uncut), ""
	if leg.Timeout.Finite() && leg.Timeout < t.Uncut {
		switch {
		case leg.Repeat > 1 || leg.Pool > 0:
			text = "its timeout of " + leg.Timeout.String()
		case leg.Attempts > 1:
			text = "its timeout"
		}
	} else {
		text = roundText(leg, t)
	}
	if leg.Pool > 0 && text != "" {
		text = fmt.Sprintf("%s + %s for a free connection", text, leg.Pool)
	} else if leg.Pool > 0 {
		text = fmt.Sprintf("%s + %s for a free connection", round, leg.Pool)
	}
	if leg.Repeat > 1 {
		if text == "" {
			return fmt.Sprintf("%d × %s", leg.Repeat, round)
		}
		return fmt.Sprintf("%d × (%s)", leg.Repeat, text)
	}
	return text
}

// roundText is the arithmetic of one round that its timeout does not cut.
func roundText(leg *solver.Leg, t *solver.LegTimes) string {
	if t.Rounds <= 1 || t.Rounds != leg.Attempts {
		return ""
	}
	var text string
	switch {
	case t.Retried == t.Attempt:
		text = times(t.Rounds, "attempt", t.Attempt)
	default:
		text = fmt.Sprintf("%s + %s", times(t.Rounds-1, "failed attempt", t.Retried), t.Attempt)
	}
	if t.Retried.Mul(t.Rounds-1).Add(t.Attempt).Add(t.BackoffSum) != t.Uncut {
		return "cut by its retry window"
	}
	return text + backoffText(t.BackoffSum)
}

func backoffText(sum model.Duration) string {
	if sum == 0 {
		return ""
	}
	return " + " + sum.String() + " back-off"
}

// times gives `4 attempts × 5s`.
func times(n int64, what string, d model.Duration) string {
	return counted(n, what) + " × " + d.String()
}

// counted gives `1 call`, `2 calls`.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return solver.CountText(n) + " " + what + "s"
}

// thousands groups digits: 2,168.
func thousands(n int64) string { return solver.Thousands(n) }

// attemptsText words an attempt count, which may be without end.
func attemptsText(n int64) string { return counted(n, "attempt") }

// workNote says where the work of a node on one attempt comes from.
func (p *Pass) workNote(n solver.NodeID) diag.Note {
	return note(&p.about(n).work, func() diag.Note { return p.workOf(n) })
}

func (p *Pass) workOf(n solver.NodeID) diag.Note {
	node, t := &p.Graph.Nodes[n], &p.Sol.Nodes[n]
	name := p.nodeName(n)
	if s := p.service(n); s != nil && node.Limit.Finite() && t.Flow >= node.Limit {
		return diag.Note{Text: fmt.Sprintf("`%s` stops at its `server_timeout` of %s", name, node.Limit), At: s.ServerTimeout.From}
	}
	if l := node.Waiter; l >= 0 {
		text := say("`%s` may wait %s", name, p.spell(t.Flow))
		if a := p.arithmetic(l); a != "" {
			text += ": " + a
		}
		return diag.Note{Text: text, At: p.decider(l)}
	}
	sum, at := p.flowText(n)
	if sum == t.Flow.String() {
		return diag.Note{Text: say("`%s` may be busy %s", name, p.spell(t.Flow)), At: at}
	}
	return diag.Note{Text: say("`%s` may be busy %s: %s", name, p.spell(t.Flow), sum), At: at}
}

// flowText writes the flow of a node as a sum, and gives the place of its largest part.
func (p *Pass) flowText(n solver.NodeID) (sum string, at *diag.Origin) {
	said := note(&p.about(n).flow, func() diag.Note {
		sum, at := p.flowSum(n)
		return diag.Note{Text: sum, At: at}
	})
	return said.Text, said.At
}

func (p *Pass) flowSum(n solver.NodeID) (sum string, at *diag.Origin) {
	node := &p.Graph.Nodes[n]
	var parts []string
	if node.Queue > 0 {
		parts = append(parts, node.Queue.String()+" in its queue")
	}
	if node.Local() > 0 {
		parts = append(parts, node.Local().String()+" local work")
	}
	var most model.Duration = -1
	legs := p.longestOf(n)
	for i, l := range legs {
		if w := p.wait(l); w > most {
			most, at = w, p.decider(l)
		}
		if i < maxParts {
			parts = append(parts, p.legText(l))
		}
	}
	if rest := len(legs) - maxParts; rest > 0 {
		var more model.Duration
		for _, l := range legs[maxParts:] {
			more = more.Add(p.wait(l))
		}
		parts = append(parts, fmt.Sprintf("%s for %s more", more, counted(int64(rest), "call")))
	}
	if s := p.service(n); at == nil && s != nil && s.Before.Set() {
		at = s.Before.From
	}
	return strings.Join(parts, " + "), at
}

// maxParts is how many calls a sum names one by one.
const maxParts = 6

func (p *Pass) legText(l solver.LegID) string {
	text := say("%s `%s`", p.spell(p.wait(l)), p.calleeName(l))
	if a := p.arithmetic(l); a != "" {
		text += " (" + a + ")"
	}
	return text
}

// enforcementNote says why the callee does not stop when its caller does.
func (p *Pass) enforcementNote(l solver.LegID) diag.Note {
	leg, _, _, w := p.call(l)
	name, honors := p.nodeName(leg.To), p.Graph.Nodes[leg.To].Honors
	tells := "`propagates` is not set"
	if w.Propagates.Set() {
		tells = fmt.Sprintf("`propagates` is `%s`", w.Propagates.V)
	}
	obeys := say("`%s` does not say that it `honors` one", name)
	if honors != 0 {
		obeys = fmt.Sprintf("`%s` honors `%s`", name, honors)
	}
	if w.Propagates.Or(0) == 0 {
		return diag.Note{Text: say("nothing carries the caller's deadline on this call: %s, and %s", tells, obeys), At: w.Propagates.From}
	}
	return diag.Note{Text: fmt.Sprintf("the caller's deadline does not stop `%s`: %s, but %s", name, tells, obeys), At: w.Propagates.From}
}

// enforcementHelp says what would make the callee stop when its caller does.
func (p *Pass) enforcementHelp(l solver.LegID) string {
	leg, _, _, w := p.call(l)
	id, name, honors := p.Graph.LegName(l), p.nodeName(leg.To), p.Graph.Nodes[leg.To].Honors
	switch tells := w.Propagates.Or(0); {
	case tells == 0 && honors == 0:
		return say("propagate the deadline on `%s` and let `%s` honor it", id, name)
	case honors == 0:
		return fmt.Sprintf("let `%s` honor the %s that `%s` carries", name, plain(tells), id)
	default:
		return fmt.Sprintf("propagate the %s on `%s`, which `%s` honors", plain(honors), id, name)
	}
}

// plain words a propagation in a sentence.
func plain(p model.Propagation) string {
	if p&model.Deadline != 0 {
		return "deadline"
	}
	return "cancellation"
}

// ages words a sum of finite times, which saturates where it is longer than anybody waits.
func ages(d model.Duration) string {
	if !d.Finite() {
		return "more than 292 years"
	}
	return d.String()
}
