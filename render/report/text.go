// Package report has the formats of check and plan, for people and for programs: one a file.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// Text shows each finding with the line it points at, what contributed and what to change, and closes with what
// the plan comes to.
var Text = &render.Renderer{
	Name: "text", Kind: render.Check, Title: "findings with their lines, for people",
	Render: func(w io.Writer, in *render.Input) error { return writeTexts(w, []*render.Input{in}) }, Together: writeTexts,
}

func writeTexts(w io.Writer, ins []*render.Input) error {
	out := bufio.NewWriter(w)
	for i, in := range ins {
		if len(ins) > 1 {
			heading(out, in, i)
		}
		t := text{out: out, style: style(in.Color), sources: newSources(in.Source)}
		t.findings(in)
		if !in.Quiet {
			t.summary(in)
		}
	}
	return out.Flush()
}

// heading names one plan of several.
func heading(out *bufio.Writer, in *render.Input, i int) {
	if i > 0 {
		out.WriteString("\n")
	}
	fmt.Fprintf(out, "%s\n\n", style(in.Color).paint(bold, "plan "+clean(in.PlanName())))
}

// WriteFinding writes one finding as the text format shows it. Source gives the bytes of a file that was read.
func WriteFinding(w io.Writer, f *diag.Finding, source func(file string) []byte) error {
	return writeFinding(w, f, newSources(source))
}

func writeFinding(w io.Writer, f *diag.Finding, read *sources) error {
	out := bufio.NewWriter(w)
	t := text{out: out, sources: read}
	t.finding(f)
	return out.Flush()
}

// text writes findings to out, whose errors are kept until it is flushed.
type text struct {
	out     *bufio.Writer
	style   style
	sources *sources
	// some is true once something was written, which the next part stands apart from.
	some bool
}

// part begins a part of the output, one empty line below the part before.
func (t *text) part() {
	if t.some {
		t.out.WriteString("\n")
	}
	t.some = true
}

func (t *text) findings(in *render.Input) {
	infos := make(map[string]int)
	for i := range in.Findings {
		f := &in.Findings[i]
		switch {
		case f.Ignored != nil && !in.Verbose:
		case f.Severity == diag.Info && in.Quiet:
		case f.Severity == diag.Info && !in.Verbose:
			infos[f.Code.ID]++
		default:
			t.part()
			t.finding(f)
		}
	}
	if len(infos) > 0 {
		t.part()
		t.out.WriteString(infoLine(infos) + "\n")
	}
}

// infoLine gives `3 infos: BP203 ×2, BP116`.
func infoLine(infos map[string]int) string {
	type count struct {
		id string
		n  int
	}
	var counts []count
	total := 0
	for id, n := range infos {
		counts, total = append(counts, count{id, n}), total+n
	}
	slices.SortFunc(counts, func(a, b count) int { return cmp.Or(b.n-a.n, strings.Compare(a.id, b.id)) })
	words := make([]string, len(counts))
	for i, c := range counts {
		words[i] = c.id
		if c.n > 1 {
			words[i] += " ×" + strconv.Itoa(c.n)
		}
	}
	return render.Counted(total, "info") + ": " + strings.Join(words, ", ")
}

// finding writes one finding whole.
func (t *text) finding(f *diag.Finding) {
	word := f.Severity.String() + "[" + f.Code.ID + "]"
	t.write(t.style.severity(f.Severity, word), ": ", t.style.paint(bold, clean(f.Message)), "\n")
	t.place(f)
	if n := grouped(f); n != "" {
		t.line("note", n, nil)
	}
	for _, n := range f.Notes {
		t.line("note", n.Text, n.At)
	}
	if f.Help != "" {
		t.line("help", f.Help, nil)
	}
	if f.Ignored != nil {
		t.line("note", "ignored: "+f.Ignored.Reason, diag.At(f.Ignored.At))
	}
}

// grouped says how many subjects share the finding's cause, and which are the worst.
func grouped(f *diag.Finding) string {
	if f.Count < 2 {
		return ""
	}
	said := fmt.Sprintf("%d share this cause", f.Count)
	if len(f.Subjects) == 0 {
		return said
	}
	return fmt.Sprintf("%s: %s", said, listed(f.Subjects, 3))
}

// line writes a note or the help, with the place it comes from.
func (t *text) line(word, said string, at *diag.Origin) {
	t.write(t.style.paint(bold, word), ": ", clean(said))
	if where := origin(at); where != "" {
		t.write("  ", t.style.paint(blue, "--> "+where))
	}
	t.write("\n")
}

func (t *text) write(words ...string) {
	for _, w := range words {
		t.out.WriteString(w)
	}
}

// origin names where a value comes from: its place, the default that supplied it, or both.
func origin(o *diag.Origin) string {
	switch {
	case o == nil:
		return ""
	case o.Default == nil:
		return clean(o.Place().String())
	case o.File == "":
		return clean(o.Default.String())
	}
	return clean(o.Place().String() + ", " + o.Default.String())
}

// place points at the finding: the line itself, or the name of the default that nobody wrote a line for.
func (t *text) place(f *diag.Finding) {
	at := f.Place()
	if f.Cause != nil && f.Cause.Default != nil {
		fmt.Fprintf(t.out, "  %s %s\n", t.style.paint(blue, "-->"), origin(f.Cause.Default.For(at)))
		return
	}
	if at.File == "" {
		return
	}
	shown, carets, ok := t.sources.excerpt(at)
	if !ok {
		fmt.Fprintf(t.out, "  %s %s\n", t.style.paint(blue, "-->"), clean(at.String()))
		return
	}
	number := strconv.Itoa(int(at.Line))
	indent := strings.Repeat(" ", len(number))
	bar := t.style.paint(blue, indent+" |")
	t.write(indent, t.style.paint(blue, "-->"), " ", clean(at.String()), "\n", bar, "\n")
	t.write(t.style.paint(blue, number+" |"), " ", shown, "\n")
	if carets != "" {
		t.write(bar, " ", t.style.severity(f.Severity, carets), "\n")
	}
}
