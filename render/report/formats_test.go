package report_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
)

var everyFormat = []*render.Renderer{
	report.CSV, report.GitHub, report.JSON, report.JUnit, report.Markdown, report.MarkdownPlan, report.SARIF, report.Short,
	report.Table, report.Text, report.YAML,
}

// hostile is a name that tries to leave whatever it is written into.
const hostile = "a|b`c<script>&\"]]>,::error::%0A\n\x1b[31m\u202e@here=日本-->"

func hostileFindings() []diag.Finding {
	code := &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Warning, Summary: "nothing bounds the call"}
	f := code.New(hostile, diag.Span{File: hostile + ".yaml", Line: 3, Col: 2, EndCol: 4}, "nothing bounds `%s`", hostile)
	f.Help, f.Detail = hostile, hostile
	f.Notes = []diag.Note{{Text: hostile, At: diag.At(f.At)}}
	nowhere := code.New(hostile, diag.Span{}, "%s", hostile)
	nowhere.Ignored = &diag.Suppression{Reason: hostile}
	return []diag.Finding{f, nowhere}
}

func render1(t *testing.T, r *render.Renderer, ins ...*render.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, ins); err != nil {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return out.String()
}

// Every format takes every input: no plan at all, one plan, several; the same input gives the same bytes.
func TestEveryFormatTakesEveryInput(t *testing.T) {
	ins := append(inputs(t), &render.Input{}, &render.Input{Findings: hostileFindings()})
	for _, r := range everyFormat {
		for i := range ins {
			if first, again := render1(t, r, ins[i]), render1(t, r, ins[i]); first != again {
				t.Errorf("%s: input %d differs the second time:\n%s", r.Name, i, diff.Diff(first, again))
			}
		}
		if first, again := render1(t, r, ins...), render1(t, r, ins...); first != again {
			t.Errorf("%s: several plans differ the second time", r.Name)
		}
	}
}

// A failing writer is an error of every format.
func TestEveryFormatReportsTheWriter(t *testing.T) {
	in := inputs(t)[0]
	for _, r := range everyFormat {
		if err := r.Write(full{}, []*render.Input{in}); err == nil {
			t.Errorf("%s: no error", r.Name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// The colours aside, a terminal gets the bytes of a log, whatever its width.
func TestColourAndWidthChangeNoText(t *testing.T) {
	painted := 0
	for _, in := range inputs(t) {
		for _, r := range everyFormat {
			plain := render1(t, r, in)
			terminal := *in
			terminal.Color, terminal.Width = true, 200
			coloured := render1(t, r, &terminal)
			if d := diff.Diff(plain, ansi.ReplaceAllString(coloured, "")); d != "" {
				t.Errorf("%s (-log +terminal):\n%s", r.Name, d)
			}
			if coloured != plain {
				painted++
			}
			if r.Kind != render.Plan|render.Check && r.Name != "text" && r.Name != "table" && r.Name != "short" && coloured != plain {
				t.Errorf("%s is painted, and it is for programs", r.Name)
			}
		}
	}
	if painted == 0 {
		t.Error("nothing was painted")
	}
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// YAML says what JSON says, as another reader of YAML reads it.
func TestYAMLIsJSON(t *testing.T) {
	ins := append(inputs(t), &render.Input{Findings: hostileFindings()})
	for _, set := range [][]*render.Input{ins[:1], ins} {
		var fromJSON, fromYAML any
		if err := json.Unmarshal([]byte(render1(t, report.JSON, set...)), &fromJSON); err != nil {
			t.Fatal(err)
		}
		text := render1(t, report.YAML, set...)
		if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if d := diff.Diff(fromJSON, floats(fromYAML)); d != "" {
			t.Errorf("YAML differs (-JSON +YAML):\n%s", d)
		}
	}
}

// floats makes the numbers of a YAML document those of JSON.
func floats(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	}
	return v
}

// CSV has a row a call, its numbers those of JSON, its words where JSON has none.
func TestCSVIsJSON(t *testing.T) {
	numbers := 0
	for _, in := range inputs(t) {
		rows, err := csv.NewReader(strings.NewReader(render1(t, report.CSV, in))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		calls, _ := decode(t, write(t, in))["calls"].([]any)
		if len(rows) != len(calls)+1 {
			t.Fatalf("%d rows for %d calls", len(rows), len(calls))
		}
		for i, call := range calls {
			call := call.(map[string]any)
			for k, column := range rows[0] {
				want, known := call[column]
				if !known {
					continue
				}
				text := fmt.Sprint(want)
				if word, _ := call[strings.TrimSuffix(column, "_ms")].(string); want == nil {
					text = cmp.Or(word, "unlimited")
				}
				if rows[i+1][k] != text {
					t.Errorf("%s of %s is %q, JSON has %q", column, call["id"], rows[i+1][k], text)
				}
				if _, err := strconv.ParseFloat(text, 64); err == nil {
					numbers++
				}
			}
		}
	}
	if numbers < 50 {
		t.Errorf("only %d numbers were compared", numbers)
	}
}

// JUnit's sums are those of its cases; what fails the run is a failure, and an ignored finding is skipped.
func TestJUnitCounts(t *testing.T) {
	warning := &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Warning}
	failing := &diag.Code{ID: "BP101", Name: "inverted-timeout", Severity: diag.Error}
	ignored := failing.New("a/b", diag.Span{}, "known")
	ignored.Ignored = &diag.Suppression{Reason: "the mesh does it"}
	findings := []diag.Finding{failing.New("c/d", diag.Span{File: "a.yaml", Line: 1}, "bad"), warning.New("e/f", diag.Span{}, "poor"), ignored}
	quiet := &diag.Code{ID: "BP105", Name: "timeout-below-latency"}
	for failOn, failures := range map[diag.Severity]int{diag.Off: 1, diag.Error: 1, diag.Warning: 2} {
		in := &render.Input{Name: "a.yaml", Findings: findings, FailOn: failOn, Tool: &render.Tool{Codes: []*diag.Code{failing, warning, quiet}}}
		var got struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Suites   []struct {
				Tests   int `xml:"tests,attr"`
				Skipped int `xml:"skipped,attr"`
				Cases   []struct {
					Failure *struct{} `xml:"failure"`
					Skipped *struct{} `xml:"skipped"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		text := render1(t, report.JUnit, in, &render.Input{Name: "b.yaml", Tool: in.Tool})
		if err := xml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, c := range got.Suites[0].Cases {
			if c.Failure != nil {
				counted++
			}
		}
		if got.Tests != 4+3 || got.Failures != failures || counted != failures || got.Suites[0].Skipped != 1 || len(got.Suites[1].Cases) != 3 {
			t.Errorf("fail on %s: %+v\n%s", failOn, got, text)
		}
	}
}

// GitHub's runner reads back what was written: one command a line, whatever is in it.
func TestGitHubEscapes(t *testing.T) {
	in := &render.Input{Findings: hostileFindings(), Verbose: true}
	lines := strings.Split(strings.TrimSuffix(render1(t, report.GitHub, in), "\n"), "\n")
	if len(lines) != len(in.Findings) {
		t.Fatalf("%d lines for %d findings: %q", len(lines), len(in.Findings), lines)
	}
	properties, message, _ := strings.Cut(strings.TrimPrefix(lines[0], "::warning "), "::")
	file, rest, _ := strings.Cut(strings.TrimPrefix(properties, "file="), ",")
	unescape := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	if got := unescape.Replace(file); got != hostile+".yaml" || rest != "line=3,col=2,endColumn=3,title=BP104 missing-timeout" {
		t.Errorf("file %q, then %q", got, rest)
	}
	if got := unescape.Replace(message); !strings.Contains(got, "::error::%0A") || strings.Contains(got, "\x1b") {
		t.Errorf("message %q", got)
	}
}

// GitHub shows ten of each kind, and the log says that it has more.
func TestGitHubSaysWhatIsNotShown(t *testing.T) {
	code := &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Warning}
	in := &render.Input{}
	for range 11 {
		in.Findings = append(in.Findings, code.New("a/b", diag.Span{}, "unbounded"))
	}
	out := render1(t, report.GitHub, in)
	if strings.Count(out, "::warning ") != 11 || !strings.HasSuffix(out, "GitHub shows 10 of 11 warnings as annotations, this log has all\n") {
		t.Error(out)
	}
}
