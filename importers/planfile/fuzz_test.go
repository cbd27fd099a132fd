package planfile

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/internal/peak"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// FuzzPlan reads any bytes. What is read without a finding, the schema accepts; every call has a caller, a callee and
// a waiter, and every id is one of the fragment's; and no input takes far more memory than its size.
func FuzzPlan(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if archive, err := txtar.ParseFile(file); err == nil {
			f.Add(archive.Files[0].Data)
		}
	}
	for _, p := range places() {
		f.Add([]byte(p.plan))
	}
	for _, text := range dense(300) {
		f.Add([]byte(text))
	}
	plan, policy := compile(f, ""), compile(f, "#/$defs/policyFile")
	f.Fuzz(func(t *testing.T, src []byte) {
		var frag *model.Fragment
		var findings []diag.Finding
		if all := peak.Allocated(func() { frag, findings = readText(string(src)) }); all > peak.MostAllocated(len(src)) {
			t.Errorf("%d bytes take %d MB to read", len(src), all>>20)
		}
		if len(findings) == 0 {
			file, _ := yamlsrc.Parse("plan.yaml", src)
			for _, doc := range file.Docs {
				schema := plan
				if isPolicy(doc) {
					schema = policy
				}
				if err := schema.Validate(instance(doc)); err != nil {
					t.Errorf("read without a finding, but the schema says %v", err)
				}
			}
		}
		for _, found := range findings {
			if found.Message == "" || found.At.Line < 1 || found.Code == nil {
				t.Errorf("the finding %+v says nothing, or nowhere", found)
			}
		}
		for _, c := range frag.Calls {
			if len(c.Waiters) == 0 || int(c.From) >= len(frag.Services) || int(c.To) >= len(frag.Services) {
				t.Errorf("the call %+v is not whole", c)
			}
		}
		for _, e := range frag.Entrypoints {
			if int(e.Call) >= len(frag.Services) || e.Call < 0 && len(findings) == 0 {
				t.Errorf("the entrypoint %q calls service %d of %d", e.Name, e.Call, len(frag.Services))
			}
		}
	})
}
