package prometheus

import (
	"os"
	"path/filepath"
	"testing"

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

func TestCorpus(t *testing.T) {
	entries, _ := os.ReadDir(filepath.Join(shared, "corpus/prometheus"))
	for _, e := range entries {
		src := sharedFile(t, "corpus/prometheus/"+e.Name())
		f, found := Importer.Import(src)
		t.Logf("%s rec=%v calls=%d services=%d", e.Name(), Importer.Recognise(src), len(f.Calls), len(f.Services))
		for _, s := range f.Services {
			if s.Latency.Set() {
				t.Logf("   S %s %v", s.Name, show1(s.Latency))
			}
		}
		for _, s := range f.Calls {
			t.Logf("   C %v", show1(s.Latency))
		}
		for _, x := range found {
			t.Logf("   %s %v %s:%d %s | %s", x.Code.ID, x.Severity, x.Subject, x.Place().Line, x.Message, x.Help)
		}
	}
}
