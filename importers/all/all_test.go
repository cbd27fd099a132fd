package all

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestListMatchesFolders: an importer that is written is in the list, and the other way round.
func TestListMatchesFolders(t *testing.T) {
	dirs, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, d := range dirs {
		sources, _ := filepath.Glob(filepath.Join("..", d.Name(), "*.go"))
		if d.IsDir() && len(sources) > 0 && d.Name() != "all" && d.Name() != "merge" {
			folders = append(folders, d.Name())
		}
	}
	if len(folders) != len(List) {
		t.Fatalf("folders %v, importers %v", folders, Names())
	}
	for _, name := range Names() {
		folder := name
		if name == "plan" {
			folder = "planfile"
		}
		if !slices.Contains(folders, folder) {
			t.Errorf("importer %q has no folder among %v", name, folders)
		}
		if Named(name) == nil || Named(name).Name != name {
			t.Errorf("Named(%q) gives %v", name, Named(name))
		}
	}
	if Named("plam") != nil {
		t.Error("a name of no importer gives one")
	}
}
