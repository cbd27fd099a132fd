// Package diagram draws call graphs.
package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// Dot writes the call graph in the language of Graphviz. A group of calls is a cluster: a callee that nobody else
// calls stands in it; a shared one stands outside, with a point in the cluster that the call goes through.
var Dot = &render.Renderer{
	Name: "dot", Kind: render.Graph, Title: "the call graph for Graphviz",
	Render: func(w io.Writer, in *render.Input) error { return writeDots(w, []*render.Input{in}) }, Together: writeDots,
}

// The colours of the picture.
const (
	violationColor = "#c0392b"
	plainColor     = "#34495e"
	fillColor      = "#f4f6f7"
	groupColor     = "#95a5a6"
)

const legend = "red: a violation; thick: the path with the least slack; dashed: optional; dotted: async or a stream"

func writeDots(w io.Writer, ins []*render.Input) error {
	out := bufio.NewWriter(w)
	for i, in := range ins {
		d := dot{out: out, in: in}
		d.graph(i)
	}
	return out.Flush()
}

// dot draws one plan.
type dot struct {
	out *bufio.Writer
	in  *render.Input
	// firstLeg is the outermost waiter of each call, -1 where the solver has none.
	firstLeg []solver.LegID
	lastLeg  []solver.LegID
	solved   bool
	red      map[string]bool // subjects of errors
	thick    map[model.CallID]bool
	thickTo  int // the entrypoint that the thick path starts at, -1 for none
	callers  []int
	home     []int // the cluster that a service stands in, 0 for none
	clusters int
	inner    map[model.CallID]string // the point in a cluster that a call goes through
}

func (d *dot) graph(i int) {
	d.prepare()
	fmt.Fprintf(d.out, "digraph %s {\n", quote(fmt.Sprintf("budgetplan %d", i+1)))
	fmt.Fprintf(d.out, "  graph [rankdir=LR, fontname=\"Helvetica\", fontsize=9, labelloc=b, labeljust=l, label=%s];\n", quote(legend))
	fmt.Fprintf(d.out, "  node [shape=box, style=\"rounded,filled\", fillcolor=%s, color=%s, fontname=\"Helvetica\", fontsize=11];\n", quote(fillColor), quote(plainColor))
	fmt.Fprintf(d.out, "  edge [color=%s, fontname=\"Helvetica\", fontsize=9];\n", quote(plainColor))
	if d.in.Plan != nil {
		d.entrypoints()
		for s := range d.in.Plan.Services {
			d.body(s)
		}
		for s := range d.in.Plan.Services {
			if d.home[s] == 0 {
				d.service(s, "  ")
			}
		}
		for s := range d.in.Plan.Services {
			d.calls(&d.in.Plan.Services[s].Flow, "")
		}
	}
	d.out.WriteString("}\n")
}

// prepare finds what the drawing needs to know of each service and call.
func (d *dot) prepare() {
	d.thickTo = -1
	d.red, d.thick, d.inner = make(map[string]bool), make(map[model.CallID]bool), make(map[model.CallID]string)
	for i := range d.in.Findings {
		f := &d.in.Findings[i]
		if f.Severity == diag.Error && f.Ignored == nil {
			d.red[f.Subject] = true
			for _, s := range f.Subjects {
				d.red[s] = true
			}
		}
	}
	plan := d.in.Plan
	if plan == nil {
		return
	}
	d.callers, d.home = make([]int, len(plan.Services)), make([]int, len(plan.Services))
	for i := range plan.Entrypoints {
		d.callers[plan.Entrypoints[i].Call]++
	}
	for i := range plan.Calls {
		d.callers[plan.Calls[i].To]++
	}
	d.firstLeg, d.lastLeg = make([]solver.LegID, len(plan.Calls)), make([]solver.LegID, len(plan.Calls))
	for i := range plan.Calls {
		d.firstLeg[i], d.lastLeg[i] = -1, -1
	}
	g, sol := d.in.Graph, d.in.Solution
	d.solved = g != nil && sol != nil && len(g.Legs) == len(sol.Legs) && len(g.Roots) == len(sol.Roots) && len(g.Nodes) == len(sol.Nodes)
	if !d.solved {
		return
	}
	for i := range g.Legs {
		call := g.Legs[i].Call
		if d.firstLeg[call] < 0 {
			d.firstLeg[call] = solver.LegID(i)
		}
		d.lastLeg[call] = solver.LegID(i)
	}
	d.tightest()
}

// tightest marks the path with the least slack: from the entrypoint that has the least, at each service the call
// that has the least.
func (d *dot) tightest() {
	g, sol := d.in.Graph, d.in.Solution
	for i := range g.Roots {
		known := sol.Roots[i].SlackKnown != solver.Nothing
		if known && (d.thickTo < 0 || sol.Roots[i].Slack < sol.Roots[d.thickTo].Slack) {
			d.thickTo = i
		}
	}
	if d.thickTo < 0 {
		return
	}
	at := g.Roots[d.thickTo].Node
	for range g.Nodes {
		best := solver.LegID(-1)
		g.Out(at, func(l solver.LegID) {
			if g.Legs[l].Awaited() && sol.Legs[l].SlackKnown != solver.Nothing && (best < 0 || sol.Legs[l].Slack < sol.Legs[best].Slack) {
				best = l
			}
		})
		if best < 0 {
			return
		}
		d.thick[g.Legs[best].Call] = true
		at = g.Legs[best].To
	}
}

func (d *dot) entrypoints() {
	plan := d.in.Plan
	for i := range plan.Entrypoints {
		e := &plan.Entrypoints[i]
		lines := []string{e.Name}
		if e.SLO.Set() {
			lines = append(lines, "SLO "+e.SLO.V.String())
		}
		if e.Timeout.Set() {
			lines = append(lines, "gives up after "+e.Timeout.V.String())
		}
		bad, width := d.red[e.Name], 1
		if d.solved {
			for r := range d.in.Graph.Roots {
				if int(d.in.Graph.Roots[r].Entrypoint) != i {
					continue
				}
				t := &d.in.Solution.Roots[r]
				bad = bad || t.SlackKnown != solver.Nothing && t.Slack < 0
				if r == d.thickTo {
					width = 3
				}
			}
		}
		id := fmt.Sprintf("entrypoint %d", i)
		shape := []string{"shape=cds", "style=filled", `margin="0.2,0.15"`, "label=" + quoteLines(lines)}
		d.statement("  ", quote(id), append(shape, marks(bad, 1, "")...)...)
		d.statement("  ", quote(id)+" -> "+quote(serviceID(int(e.Call))), marks(bad, width, "")...)
	}
}

func serviceID(s int) string { return fmt.Sprintf("service %d", s) }

func (d *dot) service(s int, indent string) {
	service := &d.in.Plan.Services[s]
	lines := []string{service.Name}
	bad := d.red[service.Name]
	if d.solved && s < len(d.in.Solution.Nodes) {
		t := &d.in.Solution.Nodes[s]
		if t.Received.Finite() {
			lines = append(lines, "received "+render.Brief(t.Received, false))
		}
		if t.Attempts.Configured > 1 {
			lines = append(lines, countText(t.Attempts.Configured)+" attempts a request")
		}
	}
	d.statement(indent, quote(serviceID(s)), append([]string{"label=" + quoteLines(lines)}, marks(bad, 1, "")...)...)
}

// body draws the groups of a service's calls as clusters. A plain sequence has none, nor has an unordered group that
// is all that the service does: the arrows say as much.
func (d *dot) body(s int) {
	flow := &d.in.Plan.Services[s].Flow
	for len(flow.Of) == 1 {
		flow = &flow.Of[0]
	}
	parent := model.Sequence
	if flow.Kind == model.Unordered {
		parent = model.Unordered
	}
	d.group(s, flow, parent, 0, "  ")
}

// group draws what is in a flow into the cluster of a number, 0 for none. A group of one, and a group directly in one
// of its kind, count as written out.
func (d *dot) group(s int, flow *model.Flow, parent model.FlowKind, number int, indent string) {
	switch {
	case flow.Kind == model.One:
		if number > 0 {
			d.member(s, flow.Call, number, indent)
		}
		return
	case flow.Empty():
		return
	case len(flow.Of) == 1 || flow.Kind == parent:
		for i := range flow.Of {
			d.group(s, &flow.Of[i], parent, number, indent)
		}
		return
	}
	d.clusters++
	number = d.clusters
	fmt.Fprintf(d.out, "%ssubgraph %s {\n", indent, quote(fmt.Sprintf("cluster %d", number)))
	label := fmt.Sprintf("%s of %s", flow.Kind, d.in.Plan.Services[s].Name)
	fmt.Fprintf(d.out, "%s  label=%s; labelloc=t; fontsize=9; style=rounded; color=%s;\n", indent, quote(label), quote(groupColor))
	for i := range flow.Of {
		d.group(s, &flow.Of[i], flow.Kind, number, indent+"  ")
	}
	fmt.Fprintf(d.out, "%s}\n", indent)
}

// member draws one call of a group: its callee where nobody else calls that, else the point that the call goes through.
func (d *dot) member(s int, call model.CallID, number int, indent string) {
	to := int(d.in.Plan.Calls[call].To)
	if d.callers[to] == 1 && d.home[to] == 0 && to != s {
		d.home[to] = number
		d.service(to, indent)
		return
	}
	point := fmt.Sprintf("call %d", call)
	d.inner[call] = point
	d.statement(indent, quote(point), "shape=point", "width=0.08", `label=""`)
}

// calls draws the arrows of a flow. Place is the position in the sequences around it, `2.1`, empty where order says
// nothing.
func (d *dot) calls(flow *model.Flow, place string) {
	if flow.Kind == model.One {
		d.call(flow.Call, place)
		return
	}
	ordered := (flow.Kind == model.Sequence || flow.Kind == model.Fallback) && len(flow.Of) > 1
	for i := range flow.Of {
		next := place
		if ordered {
			next = strings.TrimPrefix(fmt.Sprintf("%s.%d", place, i+1), ".")
		}
		d.calls(&flow.Of[i], next)
	}
}

func (d *dot) call(id model.CallID, place string) {
	c := &d.in.Plan.Calls[id]
	lines := d.callLines(id)
	switch {
	case place != "" && len(lines) > 0:
		lines[0] = place + ": " + lines[0]
	case place != "":
		lines = []string{place}
	}
	bad := d.bad(id)
	line := ""
	switch {
	case c.Async.Or(false) || c.Stream.Or(false):
		line = "dotted"
	case c.Optional.Or(false):
		line = "dashed"
	}
	width := 1
	if d.thick[id] {
		width = 3
	}
	from, to := quote(serviceID(int(c.From))), quote(serviceID(int(c.To)))
	style := marks(bad, width, line)
	labelled := style
	if len(lines) > 0 {
		labelled = append([]string{"label=" + quoteLines(lines)}, style...)
	}
	if point, ok := d.inner[id]; ok {
		d.statement("  ", from+" -> "+quote(point), append([]string{"arrowhead=none"}, labelled...)...)
		d.statement("  ", quote(point)+" -> "+to, style...)
		return
	}
	d.statement("  ", from+" -> "+to, labelled...)
}

// bad reports whether a call, or one of its waiters, violates its budget or is the subject of an error.
func (d *dot) bad(id model.CallID) bool {
	c := &d.in.Plan.Calls[id]
	if d.red[c.ID] {
		return true
	}
	for k := range c.Waiters {
		if k > 0 && d.red[c.ID+"@"+c.Waiters[k].Name] {
			return true
		}
	}
	if !d.solved || d.firstLeg[id] < 0 {
		return false
	}
	for l := d.firstLeg[id]; l <= d.lastLeg[id]; l++ {
		t := &d.in.Solution.Legs[l]
		if t.SlackKnown != solver.Nothing && t.Slack < 0 {
			return true
		}
	}
	return false
}

// callLines is the label of a call: a line for the limits of each waiter, then budget and slack.
func (d *dot) callLines(id model.CallID) []string {
	c := &d.in.Plan.Calls[id]
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
	if n := c.Repeat.Or(1); n > 1 {
		lines = append(lines, fmt.Sprintf("%d in sequence", n))
	}
	if n := c.FanOut.Or(1); n > 1 {
		lines = append(lines, fmt.Sprintf("%d in parallel", n))
	}
	if !d.solved || d.firstLeg[id] < 0 {
		return lines
	}
	t := &d.in.Solution.Legs[d.firstLeg[id]]
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
		text = fmt.Sprintf("%d attempts", attempts)
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

func countText(n int64) string {
	if n >= solver.MaxCount {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// marks gives the attributes that set a node or an arrow apart.
func marks(bad bool, width int, line string) []string {
	var list []string
	if bad {
		list = append(list, "color="+quote(violationColor), "fontcolor="+quote(violationColor))
	}
	if width > 1 {
		list = append(list, fmt.Sprintf("penwidth=%d", width))
	}
	if line != "" {
		list = append(list, "style="+line)
	}
	return list
}

// statement writes a node or an arrow with its attributes.
func (d *dot) statement(indent, what string, attributes ...string) {
	d.out.WriteString(indent + what)
	if len(attributes) > 0 {
		d.out.WriteString(" [" + strings.Join(attributes, ", ") + "]")
	}
	d.out.WriteString(";\n")
}
