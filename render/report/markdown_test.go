package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
)

// many are findings of two codes with long messages.
func many(n int) []diag.Finding {
	codes := []*diag.Code{
		{ID: "BP101", Name: "inverted-timeout", Severity: diag.Error}, {ID: "BP104", Name: "missing-timeout", Severity: diag.Warning},
	}
	var all []diag.Finding
	for i := range n {
		subject := fmt.Sprintf("caller-%d/callee", i)
		all = append(all, codes[i%2].New(subject, diag.Span{File: "a.yaml", Line: 1}, "`%s` is not bounded %s", subject, strings.Repeat("日", i%90)))
	}
	diag.Sort(all)
	return all
}

var rowCount = regexp.MustCompile(`(?m)^\| BP\d+ \|.*\| (\d+) \|$`)

// A comment is never longer than GitHub takes, and every finding is in it or counted.
func TestMarkdownIsCapped(t *testing.T) {
	for _, n := range []int{0, 1, 20, 5000} {
		in := &render.Input{Name: "a.yaml", Findings: many(n)}
		out := render1(t, report.Markdown, in)
		if len(out) > 65_536 || !utf8.ValidString(out) {
			t.Fatalf("%d findings: %d bytes", n, len(out))
		}
		rows := 0
		for _, m := range rowCount.FindAllStringSubmatch(out, -1) {
			count, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			rows += count
		}
		shown, left := strings.Count(out, "<details>"), 0
		if m := regexp.MustCompile(`(\d+) more findings? left out`).FindStringSubmatch(out); m != nil {
			left, _ = strconv.Atoi(m[1])
		}
		if rows != n || shown+left != n {
			t.Errorf("%d findings: the table has %d, %d are shown and %d counted", n, rows, shown, left)
		}
		if n == 5000 && (left == 0 || shown < 50) || n == 20 && left > 0 {
			t.Errorf("%d findings: %d shown", n, shown)
		}
	}
}

// Of many plans each that fits has its table, and the others are counted.
func TestMarkdownOfManyPlans(t *testing.T) {
	var ins []*render.Input
	for i := range 2000 {
		ins = append(ins, &render.Input{Name: fmt.Sprintf("services/service-%d/budgetplan.yaml", i), Findings: many(3)})
	}
	out := render1(t, report.Markdown, ins...)
	m := regexp.MustCompile(`(\d+) more plans left out of this comment: (\d+) errors, (\d+) warnings`).FindStringSubmatch(out)
	if m == nil || len(out) > 65_536 {
		t.Fatalf("%d bytes, ending in %q", len(out), out[len(out)-200:])
	}
	left, _ := strconv.Atoi(m[1])
	if shown := strings.Count(out, "\n## budgetplan "); shown+left != len(ins) || shown < 50 {
		t.Errorf("%d plans shown, %d left", shown, left)
	}
}

// Names from files stay names: they open no element, no cell, no mention and no fence.
func TestMarkdownEscapes(t *testing.T) {
	ins := inputs(t)
	plan := ins[0]
	plan.Plan.Services[0].Name = hostile
	for i := range plan.Plan.Calls {
		plan.Plan.Calls[i].ID = hostile
	}
	plan.Findings, plan.Verbose = hostileFindings(), true
	plan.Findings[0].Notes = append(plan.Findings[0].Notes, diag.Note{Text: "```"})
	for _, r := range []*render.Renderer{report.Markdown, report.MarkdownPlan} {
		out := outsideOfCode(render1(t, r, plan))
		if strings.Contains(out, "<script>") || strings.Contains(out, " @here") {
			t.Errorf("%s lets a name out:\n%s", r.Name, out)
		}
		cells := 0
		for line := range strings.Lines(out) {
			bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			switch {
			case !strings.HasPrefix(line, "|"):
				cells = 0
			case cells == 0:
				cells = bars
			case bars != cells:
				t.Errorf("%s: a row of %d cells in a table of %d: %s", r.Name, bars-1, cells-1, line)
			}
		}
	}
}

// outsideOfCode takes code spans and fenced blocks out of a document.
func outsideOfCode(text string) string {
	text = regexp.MustCompile("(?s)\n(````*)text\n.*?\n````*\n").ReplaceAllString(text, "\n")
	return regexp.MustCompile("`` .*? ``|`[^`\n]*`").ReplaceAllString(text, "CODE")
}
