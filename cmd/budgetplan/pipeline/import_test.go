package pipeline

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
)

// corpus is where real files are, beside the repository.
var corpus = filepath.Join("..", "..", "..", "..", "shared", "corpus")

// needCorpus skips a test where the real files are absent, except in CI.
func needCorpus(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the corpus must be beside the repository in CI: %v", err)
		}
		t.Skip("not here: ", err)
	}
}

// imported writes a plan as `import` does, without any source, and reads that alone.
func imported(t *testing.T, in *render.Input) *render.Input {
	t.Helper()
	var text bytes.Buffer
	if err := config.WritePlan(&text, in.Plan); err != nil {
		t.Fatal(err)
	}
	again := solvedFiles(t, []txtar.File{{Name: "again.yaml", Data: text.Bytes()}}, Options{Fixes: true, Allowed: true})
	for i := range again.Findings {
		if f := &again.Findings[i]; f.Code.ID < "BP006" {
			t.Errorf("the plan that import writes has a finding of its own: %s: %s[%s]: %s", f.Place(), f.Severity, f.Code.ID, f.Message)
		}
	}
	return again
}

// sameNumbers: what import writes checks to the same numbers as its sources.
func sameNumbers(t *testing.T, in *render.Input) {
	t.Helper()
	again := imported(t, in)
	in.Plan.Read = nil
	if diff := cmp.Diff(numbers(t, in), numbers(t, again)); diff != "" {
		t.Errorf("imported, the numbers differ (-source +imported):\n%.3000s", diff)
	}
}

// TestImportExamples: the plan of each example, with its sources, checks to the same numbers when it is written without.
func TestImportExamples(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "*", "budgetplan.yaml"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, plan := range dirs {
		t.Run(filepath.Base(filepath.Dir(plan)), func(t *testing.T) {
			r, err := Run(Options{Args: []string{plan}, Fixes: true, Allowed: true})
			if err != nil {
				t.Fatal(err)
			}
			sameNumbers(t, r.Plans[0])
		})
	}
}

// corpusFile checks one real file. What a scrape has of the scraped service itself is the calls of that service.
func corpusFile(t *testing.T, path string) *render.Input {
	t.Helper()
	opts := Options{Args: []string{path}, Fixes: true, Allowed: true}
	r, err := Run(opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if in := r.Plans[0]; in.Plan.Read[0].As != "prometheus" || len(in.Plan.Calls) > 0 {
		return in
	}
	plan := fmt.Sprintf("version: 1\nsources: [{prometheus: %s, service: scraped}]\nservices: {client: {calls: [scraped]}}\n", quoted(path))
	return solvedFiles(t, []txtar.File{{Name: "plan.yaml", Data: []byte(plan)}}, opts)
}

// TestImportCorpus: so does every real file that has a call.
func TestImportCorpus(t *testing.T) {
	needCorpus(t)
	gave := map[string]int{}
	total, files := 0, 0
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		in := corpusFile(t, path)
		as := in.Plan.Read[len(in.Plan.Read)-1].As
		if len(in.Plan.Calls) == 0 || as == "" {
			return nil
		}
		total++
		gave[as]++
		t.Run(filepath.Base(path), func(t *testing.T) { sameNumbers(t, in) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d with a call: %v", files, total, gave)
	if total < 60 {
		t.Errorf("%d files with a call, want 60 or more: %v", total, gave)
	}
	for _, kind := range all.Names() {
		if gave[kind] == 0 && kind != planName && kind != "postgres" { // settings limit calls and make none
			t.Errorf("no file of the corpus is `%s` with a call", kind)
		}
	}
}
