package envoy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// TestTogether reads the files of each archive at once, in every order that swaps and turns give, and always reads the
// same.
func TestTogether(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/together/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := len(ar.Files) - 1
			if last < 2 || ar.Files[last].Name != "want" {
				t.Fatalf("an archive has several inputs and `want`, this has %d files", len(ar.Files))
			}
			got := showTogether(t, ar.Files[:last])
			if *update {
				ar.Files[last].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[last].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			inputs := ar.Files[:last:last]
			for range inputs {
				inputs = append(inputs[1:len(inputs):len(inputs)], inputs[0])
				for _, order := range [][]txtar.File{inputs, append([]txtar.File{inputs[1], inputs[0]}, inputs[2:]...)} {
					if again := showTogether(t, order); again != got {
						t.Errorf("in another order, beginning with %s:\n%s", order[0].Name, cmp.Diff(got, again))
					}
				}
			}
		})
	}
}

// showTogether prints what each file gives, in the order of their names, and all findings.
func showTogether(t *testing.T, files []txtar.File) string {
	t.Helper()
	var sources []*importers.Source
	for _, f := range files {
		src := &importers.Source{File: f.Name, Bytes: f.Data}
		if !Importer.Recognise(src) {
			t.Errorf("%s is not recognised", f.Name)
		}
		sources = append(sources, src)
	}
	fragments, found := Importer.Together(sources)
	if len(fragments) != len(sources) {
		t.Fatalf("%d fragments of %d sources", len(fragments), len(sources))
	}
	byName := map[string]*model.Fragment{}
	var names []string
	for i, f := range fragments {
		if f.File != sources[i].File {
			t.Errorf("the fragment of %s is that of %s", sources[i].File, f.File)
		}
		checkFragment(t, f, nil)
		byName[f.File] = f
		names = append(names, f.File)
	}
	var b strings.Builder
	slices.Sort(names)
	for _, name := range names {
		b.WriteString("# " + name + "\n" + show(byName[name], nil))
	}
	b.WriteString(show(&model.Fragment{}, found))
	return b.String()
}

// TestTogetherByService: sources that a plan gives to one service are one proxy, wherever they lie.
func TestTogetherByService(t *testing.T) {
	t.Parallel()
	source := func(file, service, text string) *importers.Source {
		return &importers.Source{File: file, Bytes: []byte(text), Service: model.At(service, diag.Span{File: "plan.yaml", Line: 3})}
	}
	const routes = "virtual_hosts: [{name: a, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: api}}]}]\n"
	fragments, found := Importer.Together([]*importers.Source{
		source("x/rds.yaml", "shop", routes),
		source("y/cds.yaml", "shop", "[{name: api, connect_timeout: 1s}]"),
		source("y/rds.yaml", "bank", routes),
	})
	if len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	for i, want := range []model.Duration{model.Second, 0, 0} {
		if i == 1 {
			continue
		}
		if got := fragments[i].Calls[0].Waiters[0].Connect; got.V != want {
			t.Errorf("source %d: connect timeout %s, want %s", i, got.V, want)
		}
	}
}
