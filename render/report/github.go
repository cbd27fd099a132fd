package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// GitHub writes each finding as a workflow command, which GitHub Actions shows at the line of the pull request. Paths
// are relative to the repository's root.
var GitHub = &render.Renderer{
	Name: "github", Kind: render.Check, Title: "annotations of GitHub Actions",
	Render: func(w io.Writer, in *render.Input) error { return writeGitHub(w, []*render.Input{in}) }, Together: writeGitHub,
}

// mostAnnotations is how many errors, and how many warnings, and how many notices GitHub shows of one step.
const mostAnnotations = 10

func writeGitHub(w io.Writer, ins []*render.Input) error {
	out := bufio.NewWriter(w)
	counts := make(map[string]int)
	for _, in := range ins {
		for i := range in.Findings {
			if f := &in.Findings[i]; shown(in, f) {
				word := annotation(f)
				counts[word]++
				fmt.Fprintf(out, "::%s %s::%s\n", word, properties(in, f), dataSigns.Replace(body(f)))
			}
		}
	}
	for _, word := range []string{"error", "warning", "notice"} {
		if n := counts[word]; n > mostAnnotations {
			fmt.Fprintf(out, "GitHub shows %d of %s as annotations, this log has all\n", mostAnnotations, render.Counted(n, word))
		}
	}
	return out.Flush()
}

// annotation is GitHub's word for a severity. What is ignored is a notice.
func annotation(f *diag.Finding) string {
	if f.Ignored != nil || f.Severity < diag.Warning {
		return "notice"
	}
	return f.Severity.String()
}

// properties gives the place and the title. A finding of nowhere is shown with the run.
func properties(in *render.Input, f *diag.Finding) string {
	var parts []string
	at := f.Place()
	if at.File != "" && at.File != "-" {
		parts = append(parts, "file="+propertySigns.Replace(relative(in, at.File)))
		if at.Line > 0 {
			parts = append(parts, fmt.Sprintf("line=%d", at.Line))
		}
		if at.Line > 0 && at.Col > 0 {
			parts = append(parts, fmt.Sprintf("col=%d", at.Col))
			if at.EndCol > at.Col {
				parts = append(parts, fmt.Sprintf("endColumn=%d", at.EndCol-1)) // GitHub's is the last, not the one after
			}
		}
	}
	return strings.Join(append(parts, "title="+propertySigns.Replace(f.Code.ID+" "+f.Code.Name)), ",")
}

// body is the finding as a person reads it, its places in words.
func body(f *diag.Finding) string {
	lines := []string{clean(f.Message)}
	if at := f.Place(); at.File == "-" {
		lines[0] += " (standard input, line " + fmt.Sprint(at.Line) + ")"
	}
	if n := grouped(f); n != "" {
		lines = append(lines, "note: "+n)
	}
	for _, n := range f.Notes {
		line := "note: " + clean(n.Text)
		if where := origin(n.At); where != "" {
			line += " (" + where + ")"
		}
		lines = append(lines, line)
	}
	if f.Help != "" {
		lines = append(lines, "help: "+clean(f.Help))
	}
	if f.Ignored != nil {
		lines = append(lines, "ignored: "+clean(f.Ignored.Reason))
	}
	return strings.Join(lines, "\n")
}

// What a text and a property are written as, so that the runner reads them back: actions/toolkit,
// packages/core/src/command.ts.
var (
	dataSigns     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertySigns = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
