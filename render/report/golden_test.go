package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
)

var update = flag.Bool("update", false, "rewrite what the golden files want")

// golden are the formats that each archive of testdata has the wanted output of.
var golden = []struct {
	file     string
	renderer *render.Renderer
}{
	{"want.text", report.Text},
	{"want.table", report.Table},
	{"want.json", report.JSON},
	{"want.csv", report.CSV},
	{"want.md", report.Markdown},
	{"want.plan.md", report.MarkdownPlan},
	{"want.github", report.GitHub},
	{"want.junit.xml", report.JUnit},
	{"want.sarif", report.SARIF},
}

func TestGolden(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive := parse(t, file)
			in := load(t, archive)
			for _, g := range golden {
				var out bytes.Buffer
				if err := g.renderer.Render(&out, in); err != nil {
					t.Fatal(err)
				}
				name := g.file
				if diff := cmp.Diff(string(section(archive, name)), out.String()); diff != "" {
					if !*update {
						t.Errorf("%s (-want +got):\n%s", name, diff)
						continue
					}
					setSection(archive, name, out.Bytes())
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The table keeps to 80 columns wherever the golden plans let it, and no line of any output ends in spaces.
func TestTableFits(t *testing.T) {
	for _, file := range archives(t) {
		var out bytes.Buffer
		if err := report.Table.Render(&out, load(t, parse(t, file))); err != nil {
			t.Fatal(err)
		}
		_, rows, found := strings.Cut(out.String(), "\ncall ")
		rows, _, closed := strings.Cut(rows, "\n\n")
		if !found || !closed {
			t.Fatalf("%s: no table in:\n%s", file, out.String())
		}
		for line := range strings.Lines(rows) {
			line = strings.TrimSuffix(line, "\n")
			if len([]rune(line)) > 80 {
				t.Errorf("%s: %d columns: %s", file, len([]rune(line)), line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: spaces at the end of %q", file, line)
			}
		}
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	return files
}

func parse(t *testing.T, file string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func setSection(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
}

// load solves the plan of an archive. Its findings are those of the archive, so that no rule's words are repeated here.
func load(t *testing.T, archive *txtar.Archive) *render.Input {
	t.Helper()
	src := &importers.Source{File: "plan.yaml", Bytes: section(archive, "plan.yaml")}
	fragment, findings := planfile.Importer.Import(src)
	plan, more := merge.Plan([]*model.Fragment{fragment})
	graph, cut := solver.Compile(plan)
	for _, fs := range [][]diag.Finding{findings, more, cut} {
		for i := range fs {
			t.Fatalf("%s: %s: %s", fs[i].Place(), fs[i].Code.ID, fs[i].Message)
		}
	}
	plan.Read = []model.Read{{File: src.File, As: planfile.Importer.Name, Calls: len(plan.Calls)}, {File: "notes.txt", Skipped: "of no known kind"}}
	return &render.Input{
		Plan: plan, Graph: graph, Solution: solver.Solve(graph, solver.Options{Allowed: true, Fixes: true}),
		Findings: given(t, section(archive, "findings.json")),
		Source: func(file string) []byte {
			if file == src.File {
				return src.Bytes
			}
			return nil
		},
	}
}

// given reads the findings of an archive.
func given(t *testing.T, text []byte) []diag.Finding {
	t.Helper()
	if text == nil {
		return nil
	}
	var read []struct {
		Severity, Code, Subject, Message, Help, Note string
		Line, Column, End                            int32
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	var findings []diag.Finding
	for _, r := range read {
		severity, ok := diag.ParseSeverity(r.Severity)
		if !ok {
			t.Fatalf("no severity: %q", r.Severity)
		}
		code := &diag.Code{ID: r.Code, Name: "a-rule", Severity: severity}
		f := code.New(r.Subject, diag.Span{File: "plan.yaml", Line: r.Line, Col: r.Column, EndCol: r.End}, "%s", r.Message)
		f.Help = r.Help
		if r.Note != "" {
			f.Notes = []diag.Note{{Text: r.Note, At: diag.At(f.At)}}
			f.Fixes = []diag.Fix{{Subject: r.Subject, Key: "timeout", At: f.At, From: "10s", Bound: "most", To: "7s"}}
		}
		findings = append(findings, f)
	}
	return findings
}
