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

// mostRoots and mostFactors are how many entrypoints, and how many layers that multiply, a summary names.
const (
	mostRoots   = 3
	mostFactors = 5
)

// summary closes the text: what a request may come to under the plan's limits, and where to start. It is what
// somebody reads first who was woken up by it.
func (t *text) summary(in *render.Input) {
	if !solved(in) {
		return
	}
	var lines []string
	told := worstFirst(in, toldRoots(in))
	for _, i := range told[:min(mostRoots, len(told))] {
		lines = append(lines, rootSentence(in, i))
	}
	if more := len(told) - mostRoots; more > 0 {
		lines = append(lines, fmt.Sprintf("%s, all of them in `budgetplan plan`", render.Counted(more, "more entrypoint")))
	}
	if line := amplificationSentence(in); line != "" {
		lines = append(lines, line)
	}
	if line := startSentence(in.Findings); line != "" {
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return
	}
	t.part()
	t.out.WriteString(t.style.paint(bold, "summary") + "\n")
	for _, line := range lines {
		t.out.WriteString("  " + line + "\n")
	}
}

// toldRoots are the entrypoints, in plan order; where there are none, the services that nobody calls.
func toldRoots(in *render.Input) []int {
	var entrypoints, services []int
	for i := range in.Graph.Roots {
		if in.Graph.Roots[i].Entrypoint >= 0 {
			entrypoints = append(entrypoints, i)
		} else {
			services = append(services, i)
		}
	}
	if len(entrypoints) > 0 {
		return entrypoints
	}
	return services
}

// worstFirst orders roots by slack, those without any last, where there are more of them than are told. Of the services
// that nobody calls it keeps those about which something is known.
func worstFirst(in *render.Input, roots []int) []int {
	told := slices.DeleteFunc(roots, func(i int) bool {
		t := &in.Solution.Roots[i]
		return in.Graph.Roots[i].Entrypoint < 0 && t.Need.Known == solver.Nothing && !t.Wait.Finite()
	})
	if len(told) <= mostRoots {
		return told
	}
	slack := func(i int) model.Duration {
		if t := &in.Solution.Roots[i]; t.SlackKnown != solver.Nothing {
			return t.Slack
		}
		return model.NoLimit
	}
	slices.SortStableFunc(told, func(a, b int) int { return cmp.Compare(slack(a), slack(b)) })
	return told
}

// rootSentence says what an entrypoint needs, how long it may wait, and when the last work may end.
func rootSentence(in *render.Input, i int) string {
	root, times := &in.Graph.Roots[i], &in.Solution.Roots[i]
	parts := []string{"`" + clean(rootName(in, i)) + "` " + needWords(root, times)}
	switch {
	case times.Wait == model.NoLimit:
		parts = append(parts, "nothing bounds how long it may wait")
	case !times.Wait.Finite():
		parts = append(parts, "how long it may wait is unknown")
	case root.TimeoutSet && times.Wait == root.Timeout:
		parts = append(parts, fmt.Sprintf("it may wait %s, when its client gives up", brief(times.Wait, up)))
	default:
		parts = append(parts, fmt.Sprintf("it may wait %s", brief(times.Wait, up)))
	}
	switch {
	case times.WorkEnds == model.NoLimit && times.Wait.Finite():
		parts = append(parts, "nothing bounds how long the work for it goes on")
	case times.WorkEnds.Finite() && times.WorkEnds > times.Wait:
		parts = append(parts, fmt.Sprintf("work for it may go on until %s", brief(times.WorkEnds, up)))
	}
	return strings.Join(parts, "; ")
}

func needWords(root *solver.Root, times *solver.RootTimes) string {
	need := brief(times.Need.V, up)
	if times.Need.Known == solver.Partial {
		need = "at least " + need
	}
	target := root.SLO.Finite()
	slo := brief(root.SLO, down)
	switch {
	case times.Need.Known == solver.Nothing && target:
		return fmt.Sprintf("has an SLO of %s and calls of unknown latency", slo)
	case times.Need.Known == solver.Nothing:
		return "has no SLO and calls of unknown latency"
	case !target:
		return fmt.Sprintf("needs %s and has no SLO", need)
	case times.FeasibleKnown && !times.Feasible:
		return fmt.Sprintf("needs %s, more than its SLO of %s", need, slo)
	case times.Need.Known == solver.Partial:
		return fmt.Sprintf("needs %s of its SLO of %s, and calls of unknown latency on top", need, slo)
	case times.SlackKnown == solver.Complete:
		return fmt.Sprintf("needs %s of its SLO of %s, %s to spare", need, slo, brief(times.Slack, down))
	}
	return fmt.Sprintf("needs %s of its SLO of %s", need, slo)
}

// amplificationSentence tells of the service that one request may reach most often, and which layers multiply. A
// single retry is not worth a sentence.
func amplificationSentence(in *render.Input) string {
	worst := -1
	for i := range in.Plan.Services {
		n := &in.Solution.Nodes[i]
		if float64(n.Attempts.Configured) > 2*max(1, n.Visits) &&
			(worst < 0 || n.Attempts.Configured > in.Solution.Nodes[worst].Attempts.Configured) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	node := &in.Solution.Nodes[worst]
	var b strings.Builder
	from := ""
	if root := rootNameIf(in, true, node.AttemptsRoot); root != "" {
		from = " at `" + clean(root) + "`"
	}
	fmt.Fprintf(&b, "one request%s may become %s attempts at `%s`", from, solver.CountText(node.Attempts.Configured), clean(in.Plan.Services[worst].Name))
	switch factors := factorsOf(in, solver.NodeID(worst)); {
	case len(factors) > mostFactors:
		fmt.Fprintf(&b, ": %d layers multiply", len(factors))
	case len(factors) > 0:
		b.WriteString(": " + strings.Join(factors, " × "))
	}
	if node.Waited.Finite() && node.Waited > 0 {
		started := "they wait"
		if node.Attempts.TimeLimited < node.Attempts.Configured {
			started = solver.CountText(node.Attempts.TimeLimited) + " can start, waiting"
		}
		fmt.Fprintf(&b, "; while it hangs, %s %s in all", started, brief(node.Waited, up))
	}
	return b.String()
}

// factorsOf gives the layers whose attempts multiply to those at a service, outermost first; nothing where they
// come over several paths.
func factorsOf(in *render.Input, n solver.NodeID) []string {
	total, product := in.Solution.Nodes[n].Attempts.Configured, int64(1)
	var factors []string
	at := n
	for range in.Graph.Nodes {
		best := solver.LegID(-1)
		for _, id := range in.Graph.In(at) {
			if best < 0 || in.Solution.Legs[id].Amplification.Configured > in.Solution.Legs[best].Amplification.Configured {
				best = id
			}
		}
		if best < 0 {
			break
		}
		leg := &in.Graph.Legs[best]
		if by := solver.MulCount(leg.Multiplies(), solver.MulCount(leg.Repeat, leg.FanOut)); by > 1 {
			product = solver.MulCount(product, by)
			factors = append(factors, fmt.Sprintf("%s (`%s`)", solver.CountText(by), clean(in.Graph.LegName(best))))
		}
		at = leg.From
	}
	if root := in.Solution.Nodes[n].AttemptsRoot; root >= 0 && int(root) < len(in.Graph.Roots) && in.Graph.Roots[root].Attempts > 1 {
		by := in.Graph.Roots[root].Attempts
		product = solver.MulCount(product, by)
		factors = append(factors, fmt.Sprintf("%s (`%s`)", solver.CountText(by), clean(rootName(in, int(root)))))
	}
	if product != total || product >= solver.MaxCount || len(factors) < 2 {
		return nil
	}
	slices.Reverse(factors)
	return factors
}

// startSentence repeats what the first finding says to change, where there are several to choose from.
func startSentence(findings []diag.Finding) string {
	var first *diag.Finding
	n := 0
	for i := range findings {
		f := &findings[i]
		if f.Ignored != nil || f.Severity < diag.Warning || f.Help == "" {
			continue
		}
		if n++; first == nil {
			first = f
		}
	}
	if n < 2 {
		return ""
	}
	where := ""
	if at := first.Place(); at.File != "" {
		where = " at " + clean(at.String())
	}
	return fmt.Sprintf("start with %s%s: %s", first.Code.ID, where, clean(first.Help))
}
