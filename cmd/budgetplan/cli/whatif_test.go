package cli

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/budgetplan/budgetplan/render/report"
)

// TestWhatIfSchema holds what what-if prints against its JSON Schema.
func TestWhatIfSchema(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.WhatIfSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	plans, err := filepath.Glob("../../../examples/*/budgetplan.yaml")
	if err != nil || len(plans) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, plan := range plans {
		for _, args := range [][]string{
			{"--set", "gateway local_work=1s"}, {"--hang", "gateway"}, {"--slow", "warehouse=2s"}, {"--fail", "warehouse"}, {"--hang", "warehouse"},
		} {
			status, out, told := run(append([]string{"what-if", "--format", "json", plan}, args...)...)
			if status == statusUsage {
				continue // an example without this service
			}
			if status != statusOK {
				t.Fatalf("%s %v: status %d\n%s", plan, args, status, told)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(out)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s %v: %v\n%s", plan, args, err, out)
			}
		}
	}
	if status, out, _ := run("schema", "what-if"); status != statusOK || out != string(report.WhatIfSchema) {
		t.Errorf("schema what-if: status %d\n%s", status, out)
	}
}
