package cli

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/budgetplan/budgetplan/solver"
)

// longest writes the longest paths of a root, a line a hop.
func (e explainer) longest(root int32) {
	in := e.in
	for i, p := range solver.Paths(in.Graph, in.Solution, root, e.paths) {
		fmt.Fprintf(e.w, "  path %d: %s, slack %s\n", i+1, need(solver.Need{V: p.Length, Known: p.Known}), slack(p.Slack, p.Known))
		w := tabwriter.NewWriter(e.w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "  takes\tsum\tper ms\tper attempt\t")
		for _, h := range p.Hops {
			name, at, rate := in.Plan.Services[in.Graph.Roots[root].Node].Name+": work, margin and overhead, and what runs before and after the path", "", "\t"
			if h.Leg >= 0 {
				call, _ := in.Graph.CallOf(h.Leg)
				name, at = in.Graph.LegName(h.Leg), "  "+call.At.String()
				rate = factor(h.Sensitivity) + "\t"
				if h.PerAttempt > 0 {
					rate += factor(h.PerAttempt)
				}
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t  %s%s\n", least(h.Delta), least(h.Total), rate, name, at)
		}
		_ = w.Flush() // what place gives keeps its error
	}
	fmt.Fprintln(e.w, "  takes: a call beside the next one, its caller's margin and its own work in it; per ms: what each ms more of the call adds to the path;")
	fmt.Fprintln(e.w, "  per attempt: what each ms more of one attempt, so of the callee's latency with headroom, adds: all attempts and repeats take it")
}

func factor(f float64) string { return strconv.FormatFloat(f, 'f', 4, 64) }
