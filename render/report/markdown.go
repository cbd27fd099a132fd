package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// Markdown writes a comment for a pull request: what the entrypoints come to, how often each code was found, and each
// finding folded. It ends where a comment must; what is left out is counted.
var Markdown = &render.Renderer{
	Name: "markdown", Kind: render.Check, Title: "a comment for a pull request",
	Render: func(w io.Writer, in *render.Input) error { return writeMarkdown(w, []*render.Input{in}) }, Together: writeMarkdown,
}

const (
	// mostMarkdown is how many bytes a comment may have: GitHub takes 65,536 characters.
	mostMarkdown = 60_000
	// markdownTail is what is kept free for the lines that count what is left out.
	markdownTail = 2_000
	// mostRows is how many entrypoints a table of a comment has.
	mostRows = 20
)

func writeMarkdown(w io.Writer, ins []*render.Input) error {
	var b strings.Builder
	b.WriteString("<!-- budgetplan check -->\n")
	var left []*render.Input
	for i, in := range ins {
		head := markdownHead(in, len(ins) > 1)
		if b.Len()+len(head)+markdownTail > mostMarkdown {
			left = ins[i:]
			break
		}
		b.WriteString(head)
		// The plans that follow get an equal share of what is free.
		free := mostMarkdown - markdownTail - b.Len()
		markdownFindings(&b, in, free/(len(ins)-i))
	}
	if len(left) > 0 {
		var all []diag.Finding
		for _, in := range left {
			all = append(all, in.Findings...)
		}
		fmt.Fprintf(&b, "\n%s left out of this comment: %s\n", render.Counted(len(left), "more plan"), tally(all))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownHead gives the title with all numbers, the entrypoints, and the codes.
func markdownHead(in *render.Input, named bool) string {
	var b strings.Builder
	title := "budgetplan"
	if named {
		title += " " + codeSpan(in.PlanName())
	}
	fmt.Fprintf(&b, "\n## %s: %s\n", title, tally(in.Findings))
	if solved(in) {
		markdownRoots(&b, in, mostRows)
	}
	type group struct {
		code     *diag.Code
		severity diag.Severity
	}
	counts := make(map[group]int)
	for i := range in.Findings {
		if f := &in.Findings[i]; f.Ignored == nil {
			counts[group{f.Code, f.Severity}]++
		}
	}
	groups := make([]group, 0, len(counts))
	for g := range counts {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(-cmp.Compare(a.severity, b.severity), strings.Compare(a.code.ID, b.code.ID))
	})
	if len(groups) > 0 {
		b.WriteString("\n| code | | severity | findings |\n| --- | --- | --- | ---: |\n")
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", g.code.ID, g.code.Name, g.severity, counts[g])
	}
	return b.String()
}

// tally gives `2 errors, 1 warning, 3 infos, 1 ignored`.
func tally(findings []diag.Finding) string {
	var of [diag.Error + 1]int
	ignored := 0
	for i := range findings {
		if findings[i].Ignored != nil {
			ignored++
		} else {
			of[findings[i].Severity]++
		}
	}
	var words []string
	for s := diag.Error; s > diag.Off; s-- {
		if of[s] > 0 {
			words = append(words, render.Counted(of[s], s.String()))
		}
	}
	if ignored > 0 {
		words = append(words, fmt.Sprintf("%d ignored", ignored))
	}
	if len(words) == 0 {
		return "nothing found"
	}
	return strings.Join(words, ", ")
}

// markdownRoots writes a row an entrypoint, at most so many, the worst first where there are more.
func markdownRoots(b *strings.Builder, in *render.Input, most int) {
	told := toldRoots(in)
	if len(told) == 0 {
		return
	}
	if len(told) > most {
		told = worstFirst(in, told)
	}
	b.WriteString("\n| entrypoint | SLO | need | slack | wait |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, i := range told[:min(most, len(told))] {
		root, times := &in.Graph.Roots[i], &in.Solution.Roots[i]
		target := "-"
		if root.SLO.Finite() {
			target = brief(root.SLO, down)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", codeSpan(rootName(in, i)), target,
			knownCell(times.Need.V, times.Need.Known, "≥", up), emphasised(knownCell(times.Slack, times.SlackKnown, "≤", down),
				times.SlackKnown != solver.Nothing && times.Slack < 0), cell(times.Wait, up))
	}
	if more := len(toldRoots(in)) - most; more > 0 {
		fmt.Fprintf(b, "\n%s, all of them in `budgetplan plan`\n", render.Counted(more, "more entrypoint"))
	}
}

// emphasised makes what is violated bold.
func emphasised(text string, violated bool) string {
	if violated {
		return "**" + text + "**"
	}
	return text
}

// markdownFindings writes each finding folded as far as they fit, and counts the rest.
func markdownFindings(b *strings.Builder, in *render.Input, free int) {
	end, read := b.Len()+free, newSources(in.Source)
	var left []diag.Finding
	for i := range in.Findings {
		f := &in.Findings[i]
		if !shown(in, f) || f.Severity < diag.Warning && !in.Verbose {
			continue // the table of codes counts it
		}
		if len(left) == 0 {
			if text := folded(f, read); b.Len()+len(text) <= end {
				b.WriteString(text)
				continue
			}
		}
		left = append(left, *f)
	}
	if len(left) > 0 {
		fmt.Fprintf(b, "\n%s left out of this comment: %s\n", render.Counted(len(left), "more finding"), tally(left))
	}
}

// folded gives a finding as an element that a click opens.
func folded(f *diag.Finding, read *sources) string {
	text := whole(f, read)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n<details>\n<summary>%s %s: %s</summary>\n\n%stext\n%s%s\n\n</details>\n",
		f.Severity, f.Code.ID, htmlText(clean(f.Message)), fence, text, fence)
}

// htmlText makes a message safe inside of an element, its names in backticks as code.
func htmlText(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			part = "<code>" + html.EscapeString(part) + "</code>"
		} else {
			part = html.EscapeString(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// codeSpan writes a name as code, also in a cell of a table, whatever it contains.
func codeSpan(s string) string {
	s = strings.ReplaceAll(clean(s), "|", `\|`)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := "``"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	return ticks + " " + s + " " + ticks
}
