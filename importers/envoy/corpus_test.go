package envoy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
)

// shared is where real files and real incidents are, beside the repository.
const shared = "../../../shared"

// sharedFile reads one of them. Without it a test is skipped, except in CI.
func sharedFile(t *testing.T, name string) *importers.Source {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skip("not here: ", err)
		}
		t.Fatal(err)
	}
	return &importers.Source{File: filepath.Base(name), Bytes: src}
}

// foreign are the files of the corpus that are not Envoy's although they look like it.
var foreign = map[string]bool{
	"emissary-ingress__emissary__testdata--diagnostics.json": true,
	"envoyproxy__gateway__out--default-resources.all.yaml":   true, // Gateway API
	"envoyproxy__gateway__xds-ir--circuit-breaker.yaml":      true,
	"istio__istio__testdata--dump.json":                      true,
	"istio__istio__testdata--none_cds.json":                  true, // the structs of a program, times in nanoseconds
}

// TestCorpus gives an answer for every real file: recognised or not, and no call lost between flows.
func TestCorpus(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join(shared, "corpus/envoy"))
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skip("not here: ", err)
		}
		t.Fatal(err)
	}
	for _, e := range entries {
		src := sharedFile(t, "corpus/envoy/"+e.Name())
		if got := Importer.Recognise(src); got == foreign[e.Name()] {
			t.Errorf("%s: recognised %v", e.Name(), got)
		}
		f, found := Importer.Import(src)
		checkFragment(t, f, found)
		if len(f.Calls) > 0 && foreign[e.Name()] {
			t.Errorf("%s: %d calls from a file that is not Envoy's", e.Name(), len(f.Calls))
		}
	}
}

// TestRealFiles compares all that is read of files that were chosen for their traps, and of the incidents that have a
// file of Envoy.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	const name = "testdata/real/want.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range ar.Files {
		got := show(Importer.Import(sharedFile(t, want.Name)))
		if *update {
			ar.Files[i].Data = []byte(got)
		}
		if diff := cmp.Diff(string(ar.Files[i].Data), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", want.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
