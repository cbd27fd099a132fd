package diagram

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// The colours of every picture, dark on light, and what stands beside a violation's.
const (
	violationSign  = "!"
	violationColor = "#c0392b"
	plainColor     = "#34495e"
	fillColor      = "#f4f6f7"
	groupColor     = "#95a5a6"
	inkColor       = "#1c2833"
)

const legend = "red: a violation; thick: the path with the least slack; dashed: optional; dotted: async or a stream"

// graph is what every picture of a call graph shows of its services and calls, whatever the language.
type graph struct {
	plan   *model.Plan
	g      *solver.Graph
	sol    *solver.Solution
	solved bool
	// firstLeg and lastLeg are the waiters of each call, -1 where the solver has none.
	firstLeg, lastLeg []solver.LegID
	red               map[string]bool // subjects of errors
	thick             map[model.CallID]bool
	thickTo           int   // the root that the thick path starts at, -1 for none
	callers           []int // calls and entrypoints that reach each service
}

// line says how an arrow or a box is drawn.
type line struct {
	bad, thick     bool
	dashed, dotted bool
}

// newGraph finds what a drawing needs to know of each service and call.
func newGraph(in *render.Input) *graph {
	p := &graph{plan: in.Plan, g: in.Graph, sol: in.Solution, thickTo: -1, red: make(map[string]bool), thick: make(map[model.CallID]bool)}
	if p.plan == nil {
		p.plan = new(model.Plan)
	}
	for i := range in.Findings {
		f := &in.Findings[i]
		if f.Severity == diag.Error && f.Ignored == nil {
			p.red[f.Subject] = true
			for _, s := range f.Subjects {
				p.red[s] = true
			}
		}
	}
	p.callers = make([]int, len(p.plan.Services))
	for i := range p.plan.Entrypoints {
		p.callers[p.plan.Entrypoints[i].Call]++
	}
	for i := range p.plan.Calls {
		p.callers[p.plan.Calls[i].To]++
	}
	p.firstLeg, p.lastLeg = make([]solver.LegID, len(p.plan.Calls)), make([]solver.LegID, len(p.plan.Calls))
	for i := range p.plan.Calls {
		p.firstLeg[i], p.lastLeg[i] = -1, -1
	}
	g, sol := p.g, p.sol
	p.solved = g != nil && sol != nil && len(g.Legs) == len(sol.Legs) && len(g.Roots) == len(sol.Roots) && len(g.Nodes) == len(sol.Nodes)
	if !p.solved {
		return p
	}
	for i := range g.Legs {
		call := g.Legs[i].Call
		if p.firstLeg[call] < 0 {
			p.firstLeg[call] = solver.LegID(i)
		}
		p.lastLeg[call] = solver.LegID(i)
	}
	p.tightest()
	return p
}

// tightest marks the path with the least slack: from the root that has the least, at each service the call that has
// the least.
func (p *graph) tightest() {
	for i := range p.g.Roots {
		known := p.sol.Roots[i].SlackKnown != solver.Nothing
		if known && (p.thickTo < 0 || p.sol.Roots[i].Slack < p.sol.Roots[p.thickTo].Slack) {
			p.thickTo = i
		}
	}
	if p.thickTo < 0 {
		return
	}
	at := p.g.Roots[p.thickTo].Node
	for range p.g.Nodes {
		best := solver.LegID(-1)
		p.g.Out(at, func(l solver.LegID) {
			t := &p.sol.Legs[l]
			if p.g.Legs[l].Awaited() && t.SlackKnown != solver.Nothing && (best < 0 || t.Slack < p.sol.Legs[best].Slack) {
				best = l
			}
		})
		if best < 0 {
			return
		}
		p.thick[p.g.Legs[best].Call] = true
		at = p.g.Legs[best].To
	}
}

// entrypoint gives the text of an entrypoint and how it is drawn; thick is for its arrow alone.
func (p *graph) entrypoint(i int) ([]string, line) {
	e := &p.plan.Entrypoints[i]
	lines := []string{e.Name}
	if e.SLO.Set() {
		lines = append(lines, "SLO "+e.SLO.V.String())
	}
	if e.Timeout.Set() {
		lines = append(lines, "gives up after "+e.Timeout.V.String())
	}
	style := line{bad: p.red[e.Name]}
	if p.solved {
		for r := range p.g.Roots {
			if int(p.g.Roots[r].Entrypoint) != i {
				continue
			}
			t := &p.sol.Roots[r]
			style.bad = style.bad || t.SlackKnown != solver.Nothing && t.Slack < 0
			style.thick = r == p.thickTo
		}
	}
	return lines, style
}

// service gives the text of a service and how it is drawn.
func (p *graph) service(s int) ([]string, line) {
	service := &p.plan.Services[s]
	lines := []string{service.Name}
	if p.solved && s < len(p.sol.Nodes) {
		t := &p.sol.Nodes[s]
		if t.Received.Finite() {
			lines = append(lines, "received "+render.Brief(t.Received, false))
		}
		if t.Attempts.Configured > 1 {
			lines = append(lines, solver.CountText(t.Attempts.Configured)+" attempts a request")
		}
	}
	return lines, line{bad: p.red[service.Name]}
}

// call gives the text of a call and how it is drawn. Place is the position in the sequences around it, `2.1`, empty
// where order says nothing.
func (p *graph) call(id model.CallID, place string) ([]string, line) {
	c := &p.plan.Calls[id]
	lines := p.callLines(id)
	switch {
	case place != "" && len(lines) > 0:
		lines[0] = place + ": " + lines[0]
	case place != "":
		lines = []string{place}
	}
	style := line{bad: p.bad(id), thick: p.thick[id]}
	switch {
	case c.Async.Or(false) || c.Stream().Or(false):
		style.dotted = true
	case c.Optional.Or(false):
		style.dashed = true
	}
	return lines, style
}

// bad reports whether a call, or one of its waiters, violates its budget or is the subject of an error.
func (p *graph) bad(id model.CallID) bool {
	c := &p.plan.Calls[id]
	if p.red[c.ID] {
		return true
	}
	for k := range c.Waiters {
		if k > 0 && p.red[c.ID+"@"+c.Waiters[k].Name] {
			return true
		}
	}
	if !p.solved || p.firstLeg[id] < 0 {
		return false
	}
	for l := p.firstLeg[id]; l <= p.lastLeg[id]; l++ {
		t := &p.sol.Legs[l]
		if t.SlackKnown != solver.Nothing && t.Slack < 0 {
			return true
		}
	}
	return false
}

// callLines is the label of a call: a line for the limits of each waiter, then budget and slack.
func (p *graph) callLines(id model.CallID) []string {
	c := &p.plan.Calls[id]
	var lines []string
	for k := range c.Waiters {
		text := limits(&c.Waiters[k])
		if name := c.Waiters[k].Name; name != "" && text != "" {
			text = name + ": " + text
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	if n := c.Repeat().Or(1); n > 1 {
		lines = append(lines, fmt.Sprintf("%d in sequence", n))
	}
	if n := c.FanOut().Or(1); n > 1 {
		lines = append(lines, fmt.Sprintf("%d in parallel", n))
	}
	if !p.solved || p.firstLeg[id] < 0 {
		return lines
	}
	t := &p.sol.Legs[p.firstLeg[id]]
	if !t.Budget.Finite() {
		return lines
	}
	text := "budget " + render.Brief(t.Budget, false)
	switch t.SlackKnown {
	case solver.Complete:
		text += ", slack " + render.Brief(t.Slack, false)
	case solver.Partial:
		text += ", slack at most " + render.Brief(t.Slack, false)
	}
	return append(lines, text)
}

// limits prints attempts × per-try limit and the timeout around them: `2 × 190ms in 420ms`.
func limits(w *model.Waiter) string {
	attempts, try := int64(w.Attempts.Or(1)), w.PerTry
	text := ""
	switch {
	case attempts == int64(model.Unlimited):
		text = "unlimited attempts"
	case attempts > 1:
		text = solver.CountText(attempts) + " attempts"
	}
	switch {
	case try.Set() && text != "":
		text = strings.TrimSuffix(text, " attempts") + " × " + try.V.String()
	case try.Set():
		text = "1 × " + try.V.String()
	}
	switch {
	case !w.Timeout.Set():
		return text
	case text == "":
		return "timeout " + w.Timeout.V.String()
	case w.Timeout.V == model.NoLimit:
		return text + ", no timeout"
	}
	return text + " in " + w.Timeout.V.String()
}

// plain gives what stands in a service's body: a group of one counts as what is in it.
func plain(flow *model.Flow) *model.Flow {
	for len(flow.Of) == 1 {
		flow = &flow.Of[0]
	}
	return flow
}

// unboxed is the kind of group that a body needs no box for: a plain sequence, or an unordered group that is all that
// the service does.
func unboxed(body *model.Flow) model.FlowKind {
	if body.Kind == model.Unordered {
		return model.Unordered
	}
	return model.Sequence
}

// inner gives the place of element i of a group: `2.1` where order says something.
func inner(flow *model.Flow, place string, i int) string {
	if (flow.Kind == model.Sequence || flow.Kind == model.Fallback) && len(flow.Of) > 1 {
		return strings.TrimPrefix(fmt.Sprintf("%s.%d", place, i+1), ".")
	}
	return place
}
