package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// MarkdownPlan writes the budgets of a plan as tables, for a design document: the columns of the table format, whole.
var MarkdownPlan = &render.Renderer{
	Name: "markdown", Kind: render.Plan, Title: "budgets as tables for a document",
	Render: func(w io.Writer, in *render.Input) error { return writeMarkdownPlans(w, []*render.Input{in}) }, Together: writeMarkdownPlans,
}

func writeMarkdownPlans(w io.Writer, ins []*render.Input) error {
	var b strings.Builder
	for i, in := range ins {
		if i > 0 {
			b.WriteString("\n")
		}
		if len(ins) > 1 {
			fmt.Fprintf(&b, "## %s\n", codeSpan(in.PlanName()))
		}
		if solved(in) {
			markdownRoots(&b, in, len(in.Graph.Roots))
			markdownFixes(&b, in)
			markdownCalls(&b, in)
		}
		markdownLines(&b, in)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

// markdownLines writes a line a finding, and the infos in one.
func markdownLines(b *strings.Builder, in *render.Input) {
	infos := make(map[string]int)
	var lines []string
	for i := range in.Findings {
		switch f := &in.Findings[i]; {
		case !shown(in, f):
		case f.Severity == diag.Info && !in.Verbose:
			infos[f.Code.ID]++
		default:
			lines = append(lines, "- "+markdownLine(shortLine(f, false)))
		}
	}
	if len(infos) > 0 {
		lines = append(lines, "- "+infoLine(infos))
	}
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
}

// markdownFixes lists what would make an entrypoint fit that does not.
func markdownFixes(b *strings.Builder, in *render.Input) {
	for _, i := range toldRoots(in) {
		times := &in.Solution.Roots[i]
		if !times.FeasibleKnown || times.Feasible {
			continue
		}
		fmt.Fprintf(b, "\n%s does not fit. What makes it fit:\n\n", codeSpan(rootName(in, i)))
		for k := range times.Fixes {
			if fix := &times.Fixes[k]; fix.Feasible {
				fmt.Fprintf(b, "- %s: needs %s\n", markdownLine(clean(changeText(in, fix))), brief(fix.Need, up))
			}
		}
	}
}

func markdownCalls(b *strings.Builder, in *render.Input) {
	if len(in.Graph.Legs) == 0 {
		return
	}
	g := newGrid(in, false)
	b.WriteString("\n|")
	for c := range columns {
		if !g.hide[c] {
			b.WriteString(" " + columnNames[c] + " |")
		}
	}
	b.WriteString("\n|")
	for c := range columns {
		switch {
		case g.hide[c]:
		case leftAligned(c):
			b.WriteString(" --- |")
		default:
			b.WriteString(" ---: |")
		}
	}
	for i, row := range g.rows {
		b.WriteString("\n|")
		for c, text := range row {
			switch {
			case g.hide[c]:
				continue
			case c == colCall:
				text = codeSpan(in.Graph.LegName(solver.LegID(i)))
			case c == colSlack:
				text = emphasised(text, strings.HasPrefix(text, "-"))
			}
			b.WriteString(" " + strings.ReplaceAll(text, "\n", " ") + " |")
		}
	}
	b.WriteString("\n")
}

// markdownLine writes a line that has names in backticks: what Markdown would read as its own is escaped beside them.
func markdownLine(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		switch {
		case i%2 == 1:
			part = "`" + part + "`"
		default:
			part = markdownSigns.Replace(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

var markdownSigns = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "#", `\#`, "|", `\|`, "@", "&#64;", "~", `\~`)
