package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
)

// sarifLog is what the tests read of a log.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID, Name string
					Help     struct{ Text, Markdown string }
				}
			}
		}
		Results []sarifResult
	}
}

type sarifResult struct {
	RuleID              string
	RuleIndex           int
	Level               string
	PartialFingerprints map[string]string
	Locations           []struct{ PhysicalLocation sarifPlace }
	Suppressions        []struct{ Kind, Justification string }
	Fixes               []struct {
		ArtifactChanges []struct {
			Replacements []struct {
				DeletedRegion   sarifRegion
				InsertedContent struct{ Text string }
			}
		}
	}
}

type sarifPlace struct {
	ArtifactLocation struct{ URI, URIBaseID string }
	Region           *sarifRegion
}

type sarifRegion struct{ StartLine, StartColumn, EndColumn int }

func sarif(t *testing.T, ins ...*render.Input) sarifLog {
	t.Helper()
	var log sarifLog
	text := render1(t, report.SARIF, ins...)
	if err := json.Unmarshal([]byte(text), &log); err != nil || len(log.Runs) != 1 {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return log
}

var (
	nested   = &diag.Code{ID: "BP202", Name: "nested-retries", Severity: diag.Warning, Summary: "more than one layer retries"}
	inverted = &diag.Code{ID: "BP101", Name: "inverted-timeout", Severity: diag.Error, Summary: "the callee may work longer"}
)

// A finding is the same one after its lines have moved and its numbers have changed; another subject, detail, file or
// code is another, and so is a second one.
func TestSARIFFingerprints(t *testing.T) {
	at := diag.Span{File: "plan.yaml", Line: 3, Col: 5, EndCol: 9}
	moved := diag.Span{File: "plan.yaml", Line: 33, Col: 7}
	elsewhere := diag.Span{File: "other.yaml", Line: 3}
	detailed := inverted.New("a/b", at, "x")
	detailed.Detail = "timeout"
	prints := func(fs ...diag.Finding) (ids []string) {
		for _, r := range sarif(t, &render.Input{Findings: fs}).Runs[0].Results {
			ids = append(ids, r.PartialFingerprints["budgetplanFinding/v1"])
		}
		return ids
	}
	before := prints(inverted.New("a/b", at, "12s"), inverted.New("c/d", at, "12s"))
	after := prints(inverted.New("c/d", moved, "2s"), inverted.New("a/b", moved, "3s"))
	if slices.Reverse(after); !slices.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	all := prints(inverted.New("a/b", at, "x"), inverted.New("a/b", at, "x"), inverted.New("c/d", at, "x"), nested.New("a/b", at, "x"),
		inverted.New("a/b", elsewhere, "x"), detailed)
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != 6 {
		t.Errorf("%d of 6 are told apart: %v", n, all)
	}
}

// The rules are those of the results, each once, each with its page; an ignored finding is suppressed with its reason.
func TestSARIFRules(t *testing.T) {
	ignored := nested.New("a/b", diag.Span{File: "plan.yaml", Line: 1}, "x")
	ignored.Ignored = &diag.Suppression{Reason: "the mesh's", At: diag.Span{File: "plan.yaml", Line: 9}}
	tool := &render.Tool{Version: "v1", Page: func(c *diag.Code) string { return "# " + c.ID }}
	run := sarif(t, &render.Input{Findings: []diag.Finding{ignored, inverted.New("a", diag.Span{}, "x"), ignored}, Tool: tool}).Runs[0]
	rules := run.Tool.Driver.Rules
	if len(rules) != 2 || rules[0].ID != "BP101" || rules[0].Name != "InvertedTimeout" || rules[1].Help.Markdown != "# BP202" {
		t.Errorf("rules %+v", rules)
	}
	for _, r := range run.Results {
		if rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s points at the rule of %s", r.RuleID, rules[r.RuleIndex].ID)
		}
	}
	if s := run.Results[0].Suppressions; len(s) != 1 || s[0].Kind != "inSource" || s[0].Justification != "the mesh's" {
		t.Errorf("suppressions %+v", s)
	}
	if len(run.Results[1].Suppressions) > 0 {
		t.Error("a finding is suppressed that nobody ignores")
	}
}

// Paths are relative to the repository and escaped as URIs; what is outside of it, or nowhere, says so.
func TestSARIFPaths(t *testing.T) {
	in := &render.Input{
		Plan: &model.Plan{Read: []model.Read{{File: "notes.txt", Skipped: "of no known kind"}, {File: "plan.yaml", As: "plan"}}},
		Relative: func(file string) string {
			return map[string]string{"a b.yaml": "deploy/a b.yaml", "out.yaml": "/etc/out.yaml", "plan.yaml": "deploy/plan.yaml"}[file]
		},
		Findings: []diag.Finding{
			inverted.New("a", diag.Span{File: "a b.yaml", Line: 2, Col: 3, EndCol: 5}, "x"), inverted.New("b", diag.Span{File: "out.yaml", Line: 1}, "x"),
			inverted.New("c", diag.Span{}, "x"), inverted.New("d", diag.Span{File: "-", Line: 7}, "x"),
		},
	}
	want := []sarifPlace{
		{struct{ URI, URIBaseID string }{"deploy/a%20b.yaml", "%SRCROOT%"}, &sarifRegion{2, 3, 5}},
		{struct{ URI, URIBaseID string }{"file:///etc/out.yaml", ""}, &sarifRegion{StartLine: 1}},
		{struct{ URI, URIBaseID string }{"deploy/plan.yaml", "%SRCROOT%"}, nil},
		{struct{ URI, URIBaseID string }{"deploy/plan.yaml", "%SRCROOT%"}, nil},
	}
	for i, r := range sarif(t, in).Runs[0].Results {
		got := r.Locations[0].PhysicalLocation
		if got.ArtifactLocation != want[i].ArtifactLocation || (got.Region == nil) != (want[i].Region == nil) ||
			got.Region != nil && *got.Region != *want[i].Region {
			t.Errorf("%s: %+v", r.RuleID, got)
		}
	}
}

// A single change of a value in a plan file is a replacement that applies to the file; one without a place, of another
// kind of file, or whose text is not there, is none.
func TestSARIFFixes(t *testing.T) {
	const file = "日本: {timeout: 10s}\n"
	at := diag.Span{File: "plan.yaml", Line: 1, Col: 15, EndCol: 18}
	f := inverted.New("a/b", at, "x")
	f.Fixes = []diag.Fix{
		{Subject: "a/b", Key: "timeout", At: at, From: "10s", Bound: "most", To: "7s"},
		{Subject: "a/b", Key: "timeout", At: at, From: "11s", Bound: "most", To: "7s"},
		{Subject: "a/b", Key: "retries", Bound: "most", To: "0"},
		{Subject: "a/b", Key: "timeout", At: diag.Span{File: "envoy.yaml", Line: 1, Col: 15, EndCol: 18}, From: "10s", To: "7s"},
	}
	f.Edits = []diag.Edit{{At: at, New: "6s"}}
	in := &render.Input{
		Plan:     &model.Plan{Read: []model.Read{{File: "plan.yaml", As: "plan"}, {File: "envoy.yaml", As: "envoy"}}},
		Findings: []diag.Finding{f}, Source: func(string) []byte { return []byte(file) },
	}
	var applied []string
	for _, fix := range sarif(t, in).Runs[0].Results[0].Fixes {
		for _, r := range fix.ArtifactChanges[0].Replacements {
			runes := []rune(file)
			applied = append(applied, string(runes[:r.DeletedRegion.StartColumn-1])+r.InsertedContent.Text+string(runes[r.DeletedRegion.EndColumn-1:]))
		}
	}
	want := []string{"日本: {timeout: 6s}\n", "日本: {timeout: 7s}\n"}
	if !slices.Equal(applied, want) {
		t.Errorf("applied: %s, want %s", strings.Join(applied, ""), strings.Join(want, ""))
	}
}
