package diagram

import (
	"bufio"
	"fmt"
	"io"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
)

// language is a textual language of graphs with boxes in boxes. Ids are ours: `service 0`, `call 3`.
type language interface {
	begin(i int)
	end()
	entrypoint(id string, lines []string, style line)
	service(depth int, id string, lines []string, style line)
	open(depth, number int, label string)
	point(depth int, id string)
	close(depth int)
	// arrow is drawn without a head where it goes on behind a point.
	arrow(from, to string, lines []string, head bool, style line)
}

// clusters writes plans in a language. A group of calls is a box: a callee that nobody else calls stands in it; a
// shared one stands outside, with a point in the box that the call goes through.
type clusters struct {
	*graph
	language
	home  []int // the box that a service stands in, 0 for none
	boxes int
	inner map[model.CallID]string // the point in a box that a call goes through
}

func writeGraphs(w io.Writer, ins []*render.Input, in func(*bufio.Writer) language) error {
	out := bufio.NewWriter(w)
	for i, input := range ins {
		p := newGraph(input)
		d := clusters{graph: p, language: in(out), home: make([]int, len(p.plan.Services)), inner: make(map[model.CallID]string)}
		d.begin(i)
		d.all()
		d.end()
	}
	return out.Flush()
}

func (d *clusters) all() {
	for i := range d.plan.Entrypoints {
		lines, style := d.graph.entrypoint(i)
		id, box := fmt.Sprintf("entrypoint %d", i), style
		box.thick = false
		d.language.entrypoint(id, lines, box)
		d.arrow(id, serviceID(int(d.plan.Entrypoints[i].Call)), nil, true, style)
	}
	for s := range d.plan.Services {
		body := plain(&d.plan.Services[s].Flow)
		d.group(s, body, unboxed(body), 0, 1)
	}
	for s := range d.plan.Services {
		if d.home[s] == 0 {
			d.stand(s, 1)
		}
	}
	for s := range d.plan.Services {
		d.calls(&d.plan.Services[s].Flow, "")
	}
}

func serviceID(s int) string { return fmt.Sprintf("service %d", s) }

func (d *clusters) stand(s, depth int) {
	lines, style := d.graph.service(s)
	d.language.service(depth, serviceID(s), lines, style)
}

// group draws what is in a flow into the box of a number, 0 for none. A group of one, and a group directly in one of
// its kind, count as written out.
func (d *clusters) group(s int, flow *model.Flow, parent model.FlowKind, number, depth int) {
	switch {
	case flow.Kind == model.One:
		if number > 0 {
			d.member(s, flow.Call, number, depth)
		}
		return
	case flow.Empty():
		return
	case len(flow.Of) == 1 || flow.Kind == parent:
		for i := range flow.Of {
			d.group(s, &flow.Of[i], parent, number, depth)
		}
		return
	}
	d.boxes++
	number = d.boxes
	d.open(depth, number, fmt.Sprintf("%s of %s", flow.Kind, d.plan.Services[s].Name))
	for i := range flow.Of {
		d.group(s, &flow.Of[i], flow.Kind, number, depth+1)
	}
	d.close(depth)
}

// member draws one call of a group: its callee where nobody else calls that, else the point that the call goes through.
func (d *clusters) member(s int, call model.CallID, number, depth int) {
	to := int(d.plan.Calls[call].To)
	if d.callers[to] == 1 && d.home[to] == 0 && to != s {
		d.home[to] = number
		d.stand(to, depth)
		return
	}
	point := fmt.Sprintf("call %d", call)
	d.inner[call] = point
	d.point(depth, point)
}

// calls draws the arrows of a flow.
func (d *clusters) calls(flow *model.Flow, place string) {
	if flow.Kind != model.One {
		for i := range flow.Of {
			d.calls(&flow.Of[i], inner(flow, place, i))
		}
		return
	}
	c := &d.plan.Calls[flow.Call]
	lines, style := d.graph.call(flow.Call, place)
	from, to := serviceID(int(c.From)), serviceID(int(c.To))
	if point, ok := d.inner[flow.Call]; ok {
		d.arrow(from, point, lines, false, style)
		from, lines = point, nil
	}
	d.arrow(from, to, lines, true, style)
}
