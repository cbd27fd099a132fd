package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("report.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func decode(t *testing.T, out []byte) map[string]any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	return value.(map[string]any)
}

// inputs are the golden plans, an ignored finding, one of a default, and no plan at all.
func inputs(t *testing.T) []*render.Input {
	t.Helper()
	var ins []*render.Input
	for _, file := range archives(t) {
		ins = append(ins, load(t, parse(t, file)))
	}
	code := &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Warning}
	ignored := code.New("a/b", diag.Span{File: "a.yaml"}, "nothing bounds `a/b`")
	ignored.Ignored = &diag.Suppression{Reason: "known", At: diag.Span{File: "a.yaml", Line: 3}}
	platform := code.New("c/d", diag.Span{}, "nothing bounds 2 calls")
	platform.Cause = &diag.Origin{Default: &diag.Default{Platform: "istio", Field: "timeout", Value: "none"}}
	platform.Count, platform.Subjects = 2, []string{"c/d", "e/f"}
	platform.Notes = []diag.Note{{Text: "a note of nowhere"}, {Text: "a note of a default", At: platform.Cause}}
	platform.Fixes = []diag.Fix{{Subject: "c/d", Key: "timeout", To: "1s"}}
	return append(ins, &render.Input{Findings: []diag.Finding{ignored, platform}})
}

func TestOutputFollowsSchema(t *testing.T) {
	s, ins := schema(t), inputs(t)
	documents := make([][]byte, 0, len(ins)+1)
	for i := range ins {
		documents = append(documents, write(t, ins[i]))
	}
	for _, out := range append(documents, write(t, ins...)) {
		if err := s.Validate(decode(t, out)); err != nil {
			t.Errorf("%v in:\n%s", err, out)
		}
	}
}

// The schema is strict: a key that it does not name, or one that is missing, is refused at every level.
func TestSchemaIsStrict(t *testing.T) {
	s := schema(t)
	out := write(t, inputs(t)[0])
	var change func(document, v any)
	objects := 0
	change = func(document, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				change(document, e)
			}
		case map[string]any:
			objects++
			v["surprise"] = true
			if s.Validate(document) == nil {
				t.Errorf("an unknown key is taken beside %v", slices.Sorted(maps.Keys(v)))
			}
			delete(v, "surprise")
			for _, e := range v {
				change(document, e)
			}
		}
	}
	document := decode(t, out)
	change(document, document)
	if objects < 50 {
		t.Errorf("only %d objects were tried", objects)
	}
	for _, list := range []string{"entrypoints", "services", "calls", "read"} {
		for key := range first(t, document, list) {
			if !strings.HasSuffix(key, "_ms") {
				continue
			}
			document := decode(t, out)
			delete(first(t, document, list), key)
			if s.Validate(document) == nil {
				t.Errorf("%s without %s is taken", list, key)
			}
		}
	}
}

func first(t *testing.T, document map[string]any, list string) map[string]any {
	t.Helper()
	records, ok := document[list].([]any)
	if !ok || len(records) == 0 {
		t.Fatalf("no %s", list)
	}
	return records[0].(map[string]any)
}

// contract has the keys that programs were promised, a dot between an object and its keys.
const contract = `
entrypoints: name slo_ms timeout_ms overhead_ms need_ms slack_ms feasible wait_ms work_ends_ms fixes fixes.change fixes.set.subject fixes.set.key fixes.set.to fixes.need_ms fixes.feasible
services: name received_ms need_ms slack_ms flow_ms busy_ms waited_ms work_ms attempts.configured attempts.time_limited attempts.with_retry_budgets
calls: id from to attempts timeout_ms per_try_timeout_ms attempt_limit_ms patience_ms backoff_ms backoff_sum_ms sequence_ms uncut_ms wait_ms busy_ms orphan_ms
calls: enforced starts_ms left_ms attempts_started attempts_full attempts_possible if_hangs.attempts_started if_hangs.last_attempt_ms if_hangs.wait_ms
calls: if_fails_late.attempts_started if_fails_late.last_attempt_ms if_fails_late.wait_ms if_fails_fast.attempts_started if_fails_fast.last_attempt_ms if_fails_fast.wait_ms
calls: latency_ms.p99 false_timeout budget_ms need_ms allowed_ms slack_ms amplification.configured amplification.time_limited amplification.with_retry_budgets
calls: recommended.timeout_ms recommended.per_try_timeout_ms recommended.retries at.file at.line at.column
findings: code name severity subject detail message help at.file at.line at.column notes.text notes.at.file count subjects fixes.key fixes.at.file fixes.from fixes.bound fixes.to ignored
read: file as calls skipped
`

func TestContract(t *testing.T) {
	have := make(map[string]bool)
	for _, in := range inputs(t) {
		document := decode(t, write(t, in))
		if fmt.Sprint(document["version"]) != "1" {
			t.Errorf("version %v", document["version"])
		}
		for list, records := range document {
			collect(have, list, records)
		}
	}
	for line := range strings.Lines(contract) {
		list, keys, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, key := range strings.Fields(keys) {
			if !have[list+"."+key] {
				t.Errorf("no %s of %s", key, list)
			}
		}
	}
}

func collect(have map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(have, path, e)
		}
	case map[string]any:
		for key, e := range v {
			have[path+"."+key] = true
			collect(have, path+"."+key, e)
		}
	}
}

// A time that is null has its word beside it, and one that is a number has none but "at least" and "at most".
func TestWordBesideNull(t *testing.T) {
	nulls := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(path, e)
			}
		case map[string]any:
			for key, e := range v {
				walk(path+"."+key, e)
				name, isTime := strings.CutSuffix(key, "_ms")
				if _, list := e.([]any); !isTime || list || strings.HasSuffix(path, ".recommended") || key == "latency_ms" {
					continue
				}
				word, _ := v[name].(string)
				bound := word == "at least" || word == "at most"
				if e == nil {
					nulls++
				}
				if known := e != nil; known && word != "" && !bound || !known && word != "unknown" && word != "unbounded" {
					t.Errorf("%s: %v with the word %q in %v", path+"."+key, e, word, v)
				}
			}
		}
	}
	for _, in := range inputs(t) {
		walk("", decode(t, write(t, in)))
	}
	if nulls < 10 {
		t.Errorf("only %d nulls were seen", nulls)
	}
}

// docs/json.md names every key of the schema.
func TestDocumentation(t *testing.T) {
	doc, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage
		} `json:"$defs"`
	}
	if err := json.Unmarshal(report.Schema, &s); err != nil {
		t.Fatal(err)
	}
	for name, def := range s.Defs {
		for key := range def.Properties {
			_, word := def.Properties[key+"_ms"]
			if count, is := strings.CutSuffix(key, "_is"); is {
				_, word = def.Properties[count]
			}
			if !word && !bytes.Contains(doc, []byte("`"+key+"`")) {
				t.Errorf("docs/json.md does not name `%s` of %s", key, name)
			}
		}
	}
}

func write(t *testing.T, ins ...*render.Input) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := report.JSON.Write(&out, ins); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
