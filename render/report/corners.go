package report

import (
	"bufio"
	"io"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// Corner is what everything needs at a percentile, or waits at most under its limits.
type Corner struct {
	Name string
	// Key is `need`, or `wait` where the longest waits stand in the place of needs.
	Key string
	solver.Corner
}

// CornersJSON writes what is late in each corner of a plan, and what its entrypoints and calls need or wait there, as
// docs/json.md describes it. Of gives the corners of a plan.
func CornersJSON(w io.Writer, ins []*render.Input, of func(*render.Input) []Corner) error {
	return document(w, ins, func(out *bufio.Writer, in *render.Input, indent string) {
		corners := of(in)
		records(out, indent, "corners", len(corners), func(o *object, i int) { jsonCorner(o, in, &corners[i]) })
	})
}

func jsonCorner(o *object, in *render.Input, c *Corner) {
	late := solver.Late(in.Graph, c.Roots)
	o.text("corner", c.Name)
	o.textOrNull("worst", rootNameIf(in, true, late.Root))
	o.below("worst_slack", late.Worst, late.Known)
	o.below("total_slack", late.Total, late.Known)
	o.objects("entrypoints", len(c.Roots), func(o *object, i int) {
		n, slo := c.Roots[i], in.Graph.Roots[i].SLO
		o.text("name", rootName(in, i))
		o.ms("slo", unsetIsUnknown(slo))
		o.partial(c.Key, n.V, n.Known, "at least")
		if slo == model.NoLimit {
			n.Known = solver.Nothing
		}
		if n.V.Finite() {
			n.V = slo - n.V
		}
		o.slack(n.V, n.Known)
	})
	o.objects("calls", len(c.Legs), func(o *object, l int) {
		o.text("id", in.Graph.LegName(solver.LegID(l)))
		o.partial(c.Key, c.Legs[l].V, c.Legs[l].Known, "at least")
	})
}

// below writes a slack of which -NoLimit is the least.
func (o *object) below(k string, d model.Duration, known solver.Knowledge) {
	if d == -model.NoLimit {
		d = model.NoLimit
	}
	o.partial(k, d, known, "at most")
}
