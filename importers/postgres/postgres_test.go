package postgres

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/fragtext"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

var update = flag.Bool("update", false, "rewrite what the archives want")

// TestArchives reads the input of every archive and compares the whole fragment and the findings. An archive whose name
// begins with `service_` is read for the service `database`.
func TestArchives(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(ar.Files) != 2 || ar.Files[1].Name != "want" {
				t.Fatalf("an archive has an input and `want`, this has %d files", len(ar.Files))
			}
			src := &importers.Source{File: ar.Files[0].Name, Bytes: ar.Files[0].Data}
			if strings.HasPrefix(filepath.Base(name), "service_") {
				src.Service = model.At("database", diag.Span{File: "budgetplan.yaml", Line: 3, Col: 14})
			}
			if !Importer.Recognise(src) {
				t.Error("the input is not recognised")
			}
			got := fragtext.Show(Importer.Import(src))
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Text that speaks of a timeout, and sets none, is somebody else's.
func TestNotRecognised(t *testing.T) {
	for _, text := range []string{
		"", "the statement_timeout is 5s", "-- ALTER ROLE app SET statement_timeout = '5s';",
		"/* SET statement_timeout = 5 */ SELECT 1;", "SHOW statement_timeout;", "# statement_timeout = 5s",
		"SELECT 'x'; INSERT INTO s VALUES ('SET statement_timeout = 5;');", "ALTER ROLE app SET work_mem = '1GB';",
		"DO $$ BEGIN SET statement_timeout = 5; END $$;",
	} {
		if Importer.Recognise(&importers.Source{File: "x.sql", Bytes: []byte(text)}) {
			t.Errorf("%q is recognised", text)
		}
	}
}

// FuzzImport: every content gives a fragment whose places lie inside of it.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		"ALTER ROLE \"a\"\"b\" IN DATABASE c SET statement_timeout TO '5s';", "statement_timeout = 30s # x", "SET LOCAL lock_timeout = -1",
		"$a$ SET statement_timeout = 1 $a$; /* \\ ' ", "ALTER SYSTEM SET statement_timeout = ''''; é'statement_timeout", "\"\xff\nSET statement_timeout=1ms",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src := &importers.Source{File: "x", Bytes: text}
		known := Importer.Recognise(src)
		fragment, found := Importer.Import(src)
		lines := strings.Split(string(text), "\n")
		for _, s := range settings(src) {
			if s.at.Line < 1 || int(s.at.Line) > len(lines) || s.at.Col < 1 || int(s.at.Col) > utf8.RuneCountInString(lines[s.at.Line-1]) {
				t.Errorf("%q: %s lies outside", text, s.at)
			}
		}
		if known && len(fragment.Services) == 0 && len(found) == 0 {
			t.Errorf("%q is recognised, and nothing is said of it", text)
		}
		for i := range fragment.Services {
			if d := fragment.Services[i].ServerTimeout; d.Set() && d.V <= 0 {
				t.Errorf("%q: a limit of %s", text, d.V)
			}
		}
	})
}
