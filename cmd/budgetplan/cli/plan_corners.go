package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
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

// writeCorners gives a row an entrypoint and a row a call, a column a corner, then what is late in each; or the same as
// JSON.
func writeCorners(r *pipeline.Result, columns []corner, format string) writer {
	return func(w io.Writer, _ bool, _ int) error {
		of := func(in *render.Input) []report.Corner { return cornersOf(in, columns) }
		if format == "json" {
			return report.CornersJSON(w, r.Plans, of)
		}
		for i, in := range r.Plans {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := writePlanCorners(w, in, of(in)); err != nil {
				return err
			}
		}
		return nil
	}
}

// cornersOf computes the corners of a plan.
func cornersOf(in *render.Input, columns []corner) []report.Corner {
	at := make([]report.Corner, len(columns))
	for i, c := range columns {
		at[i] = report.Corner{Name: c.name, Key: "need"}
		if c.percentile > 0 {
			at[i].Corner = solver.CornerAt(in.Graph, in.Solution, c.percentile)
		} else {
			at[i].Key, at[i].Corner = "wait", limits(in.Graph, in.Solution)
		}
	}
	return at
}

func writePlanCorners(out io.Writer, in *render.Input, at []report.Corner) error {
	g := in.Graph
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name, target string, cell func(i int) string) {
		fmt.Fprintf(w, "%s\t", target)
		for i := range at {
			fmt.Fprintf(w, "%s\t", cell(i))
		}
		if name != "" {
			name = "  " + name
		}
		fmt.Fprintln(w, name)
	}
	row("", "SLO", func(i int) string { return at[i].Name })
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
	late := make([]solver.Violations, len(at))
	for i := range at {
		late[i] = solver.Late(g, at[i].Roots)
	}
	row("worst slack below 0", "", func(i int) string { return below(late[i].Worst, late[i].Known) })
	row("all slack below 0", "", func(i int) string { return below(late[i].Total, late[i].Known) })
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
func atLeast(n solver.Need) string { return least(solver.Need{V: n.V.Up(), Known: n.Known}) }

// least is need with a sign in the place of words.
func least(n solver.Need) string { return strings.Replace(need(n), "at least ", "≥", 1) }

func below(d model.Duration, known solver.Knowledge) string {
	if d == -model.NoLimit {
		return "unbounded"
	}
	return strings.Replace(slack(d.Down(), known), "at most ", "≤", 1)
}
