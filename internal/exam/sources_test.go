package exam

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sourced is what the JSON says of one finding.
type sourced struct {
	Code, Subject, Message string
	At                     struct {
		File string
		Line int
	}
}

// findingsWith checks the example after one change to its Envoy file, and gives the findings of a call.
func findingsWith(t *testing.T, old, changed, subject string) []sourced {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "with-sources"))); err != nil {
		t.Fatal(err)
	}
	envoy := filepath.Join(dir, "deploy", "envoy.yaml")
	src, err := os.ReadFile(envoy)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(src), old) != 1 {
		t.Fatalf("%q is not once in the Envoy file", old)
	}
	if err := os.WriteFile(envoy, []byte(strings.Replace(string(src), old, changed, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, _ := tool("check", "--format", "json", filepath.Join(dir, "budgetplan.yaml"))
	var doc struct{ Findings []sourced }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var of []sourced
	for _, f := range doc.Findings {
		if f.Subject == subject && f.Code < "BP203" {
			of = append(of, f)
			if f.At.File != envoy {
				t.Errorf("%s points into %s, not into the Envoy file", f.Code, f.At.File)
			}
		}
	}
	return of
}

// A plan that names the real configs is checked anew when one of them changes, and the finding points into it.
func TestChangeInSource(t *testing.T) {
	const order = "cluster: order-v2\n                            timeout: 0.3s"
	before := findingsWith(t, order, order, "gateway/order")
	if len(before) != 1 || before[0].Code != "BP105" || !strings.Contains(before[0].Message, "300ms") {
		t.Fatalf("as it stands: %+v", before)
	}
	slower := findingsWith(t, order, strings.Replace(order, "0.3s", "0.4s", 1), "gateway/order")
	if len(slower) != 1 || !strings.Contains(slower[0].Message, "400ms") || slower[0].At.Line != before[0].At.Line {
		t.Errorf("with 400ms: %+v", slower)
	}
	if enough := findingsWith(t, order, strings.Replace(order, "0.3s", "0.5s", 1), "gateway/order"); len(enough) != 0 {
		t.Errorf("with 500ms: %+v", enough)
	}
}
