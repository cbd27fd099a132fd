package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// corner is one column of `plan --corners`: what everything needs at a percentile, or waits at most under its limits.
type corner struct {
	name       string
	percentile model.Fraction // 0 for the limits
}

// corners reads the words of --corners.
func corners(words []string) ([]corner, error) {
	var out []corner
	for _, w := range words {
		c := corner{name: w}
		if w != "limits" {
			p, ok := model.ParsePercentile(w)
			if !ok {
				return nil, usage("", "--corners has `%s`, and takes percentiles (`p50`, `p99.9`) and `limits`", w)
			}
			c.percentile = p
		}
		out = append(out, c)
	}
	return out, nil
}

// writeCorners gives a row an entrypoint and a row a call, a column a corner, then what is late in each.
func writeCorners(r *pipeline.Result, columns []corner) func(io.Writer, bool, int) error {
	return func(w io.Writer, _ bool, _ int) error {
		for i, in := range r.Plans {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := writePlanCorners(w, in, columns); err != nil {
				return err
			}
		}
		return nil
	}
}

func writePlanCorners(out io.Writer, in *render.Input, columns []corner) error {
	g, at := in.Graph, make([]solver.Corner, len(columns))
	for i, c := range columns {
		at[i] = limits(g, in.Solution)
		if c.percentile > 0 {
			at[i] = solver.CornerAt(g, in.Solution, c.percentile)
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name, target string, cell func(i int) string) {
		fmt.Fprintf(w, "%s\t", target)
		for i := range columns {
			fmt.Fprintf(w, "%s\t", cell(i))
		}
		if name != "" {
			name = "  " + name
		}
		fmt.Fprintln(w, name)
	}
	row("", "SLO", func(i int) string { return columns[i].name })
	for r := range g.Roots {
		name := in.Plan.Services[g.Roots[r].Node].Name
		if e := g.Roots[r].Entrypoint; e >= 0 {
			name = in.Plan.Entrypoints[e].Name
		}
		row(name, slo(g.Roots[r].SLO), func(i int) string { return atLeast(at[i].Roots[r]) })
	}
	for l := range g.Legs {
		row("  "+g.LegName(solver.LegID(l)), "", func(i int) string { return atLeast(at[i].Legs[l]) })
	}
	late := make([]solver.Violations, len(columns))
	for i := range columns {
		late[i] = solver.Late(g, func(r int32) solver.Need { return at[i].Roots[r] })
	}
	row("worst slack below 0", "", func(i int) string { return below(late[i].Worst) })
	row("all slack below 0", "", func(i int) string { return below(late[i].Total) })
	if err := w.Flush(); err != nil {
		return err
	}
	if free := solver.Unconstrained(g, in.Solution); len(free) > 0 {
		var names []string
		for _, l := range free[:min(len(free), 5)] {
			names = append(names, "`"+g.LegName(l)+"`")
		}
		more := ""
		if len(free) > len(names) {
			more = fmt.Sprintf(" and %d more", len(free)-len(names))
		}
		fmt.Fprintf(out, "%s under no SLO: %s%s\n", render.Counted(len(free), "call"), strings.Join(names, ", "), more)
	}
	return nil
}

// limits has the longest waits in the place of needs.
func limits(g *solver.Graph, sol *solver.Solution) solver.Corner {
	wait := func(d model.Duration) solver.Need {
		if d == model.Unknown {
			return solver.Need{}
		}
		return solver.Need{V: d, Known: solver.Complete}
	}
	c := solver.Corner{Legs: make([]solver.Need, len(g.Legs)), Roots: make([]solver.Need, len(g.Roots))}
	for l := range c.Legs {
		c.Legs[l] = wait(sol.Legs[l].Wait)
	}
	for r := range c.Roots {
		c.Roots[r] = wait(sol.Roots[r].Wait)
	}
	return c
}

// atLeast is need, short enough for a column.
func atLeast(n solver.Need) string {
	switch n.Known {
	case solver.Nothing:
		return "unknown"
	case solver.Partial:
		return "≥" + n.V.Up().String()
	}
	return bound(n.V.Up())
}

func below(d model.Duration) string {
	if d == -model.NoLimit {
		return "unbounded"
	}
	return d.Down().String()
}
