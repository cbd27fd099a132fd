package planfile

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the txtar files want")

// TestTxtar reads the first file of every archive. `want` has what was read, `findings` what was said of it.
func TestTxtar(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) < 2 {
				t.Fatalf("%d files, want the input and what is wanted of it: %v", len(archive.Files), err)
			}
			frag, findings := readText(string(archive.Files[0].Data))
			for i := 1; i < len(archive.Files); i++ {
				part := &archive.Files[i]
				got := map[string]string{"want": dump(frag), "findings": show(findings)}[part.Name]
				if *update {
					part.Data = []byte(got)
				} else if diff := cmp.Diff(string(part.Data), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", part.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
