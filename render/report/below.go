package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// roots writes the line of each entrypoint above the table, and below an infeasible one what would make it fit.
func (t *text) roots(in *render.Input) {
	t.some = true
	for _, i := range toldRoots(in) {
		root, times := &in.Graph.Roots[i], &in.Solution.Roots[i]
		if root.Entrypoint < 0 {
			continue
		}
		slo := "no SLO"
		if root.SLO.Finite() {
			slo = "SLO " + brief(root.SLO, down)
		}
		slack := knownCell(times.Slack, times.SlackKnown, "≤", down)
		if times.SlackKnown != solver.Nothing && times.Slack < 0 {
			slack = t.style.paint(red, slack)
		}
		fmt.Fprintf(t.out, "%s: %s, need %s, slack %s, wait %s\n", t.style.paint(bold, clean(rootName(in, i))), slo,
			knownCell(times.Need.V, times.Need.Known, "≥", up), slack, cell(times.Wait, up))
		if times.FeasibleKnown && !times.Feasible {
			for k := range times.Fixes {
				if fix := &times.Fixes[k]; fix.Feasible {
					fmt.Fprintf(t.out, "  fits, needing %s: %s\n", brief(fix.Need, up), clean(changeText(in, fix)))
				}
			}
		}
	}
	if len(in.Plan.Entrypoints) == 0 {
		t.out.WriteString("no entrypoint, so no SLO: budget and slack are unknown\n")
	}
}

// below says what the numbers of the table leave out, what is unknown, and which defaults they rest on.
func (t *text) below(in *render.Input, left string) {
	t.part()
	var unknown []string
	for i := range in.Graph.Legs {
		leg := &in.Graph.Legs[i]
		if leg.Last && leg.Awaited() && in.Graph.Nodes[leg.To].Leaf && in.Solution.Legs[i].Need.Known != solver.Complete {
			unknown = append(unknown, in.Graph.LegName(solver.LegID(i)))
		}
	}
	if len(unknown) > 0 {
		fmt.Fprintf(t.out, "unknown latency: %s; its limit, else an equal share, stands for its need\n", listed(unknown, 3))
	}
	if defaults := defaultsUsed(in.Plan); len(defaults) > 0 {
		fmt.Fprintf(t.out, "rests on defaults: %s\n", strings.Join(defaults, "; "))
	}
	rounded := "times are rounded, `--format json` has them to the ns"
	if left != "" {
		rounded = fmt.Sprintf("`%s` is left out to fit %d columns, and times are rounded; `--format json` has all", left, tableWidth)
	}
	t.out.WriteString(rounded + "\n")
}

// defaultsUsed names the values that nobody wrote and numbers rest on: ours first, then the platforms', those that
// most values rest on first.
func defaultsUsed(plan *model.Plan) []string {
	counts := make(map[string]int)
	count := func(from *diag.Origin, ours string) {
		switch {
		case from == nil && ours != "":
			counts[ours]++
		case from != nil && from.Default != nil:
			counts[clean(from.Default.String())]++
		}
	}
	var ours []string
	for _, d := range builtin(plan) {
		if d.used {
			ours = append(ours, d.words)
		}
	}
	for i := range plan.Calls {
		for k := range plan.Calls[i].Waiters {
			w := &plan.Calls[i].Waiters[k]
			for _, from := range []*diag.Origin{
				w.Timeout.From, w.PerTry.From, w.Read().From, w.Connect.From, w.Pool().From, w.Attempts.From, w.RetryOn().From, w.Backoff.Get().Base.From, w.Backoff.Get().Waits.From,
			} {
				count(from, "")
			}
		}
	}
	for i := range plan.Services {
		count(plan.Services[i].ServerTimeout.From, "")
	}
	var platforms []string
	for words := range counts {
		platforms = append(platforms, words)
	}
	slices.SortFunc(platforms, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	const most = 3
	for i, words := range platforms[:min(most, len(platforms))] {
		if n := counts[words]; n > 1 {
			platforms[i] = fmt.Sprintf("%s (%d×)", words, n)
		}
	}
	if more := len(platforms) - most; more > 0 {
		platforms = append(platforms[:most], fmt.Sprintf("%d more", more))
	}
	return append(ours, platforms...)
}

// ownDefault is one of the plan language's own defaults, and whether the plan leaves a value to it.
type ownDefault struct {
	words string
	used  bool
}

func builtin(plan *model.Plan) []ownDefault {
	var margin, headroom, percentile bool
	calls := make([]bool, len(plan.Services))
	for i := range plan.Calls {
		c := &plan.Calls[i]
		if int(c.From) < len(calls) {
			calls[c.From] = true
		}
		measured := len(c.Latency.Get().Points) > 0 || len(c.Latency.Get().Histogram) > 0
		headroom = headroom || measured && !c.Headroom().Set()
		percentile = percentile || measured && !c.Percentile().Set()
	}
	for i := range plan.Services {
		margin = margin || calls[i] && !plan.Services[i].Margin.Set()
	}
	for i := range plan.Entrypoints {
		percentile = percentile && !plan.Entrypoints[i].Percentile.Set()
	}
	return []ownDefault{
		{"margin " + solver.DefaultMargin.String(), margin},
		{"headroom " + solver.DefaultHeadroom.String(), headroom},
		{"percentile " + solver.DefaultPercentile.Percentile(), percentile},
	}
}

// findingLines writes a line a finding, and the infos in one.
func (t *text) findingLines(in *render.Input) {
	infos := make(map[string]int)
	first := true
	for i := range in.Findings {
		f := &in.Findings[i]
		switch {
		case f.Ignored != nil && !in.Verbose, f.Severity == diag.Info && in.Quiet:
		case f.Severity == diag.Info && !in.Verbose:
			infos[f.Code.ID]++
		default:
			if first {
				t.part()
			}
			first = false
			t.out.WriteString(shortLine(f, t.style) + "\n")
		}
	}
	if len(infos) > 0 {
		t.part()
		t.out.WriteString(infoLine(infos) + "\n")
	}
}
