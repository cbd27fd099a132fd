package envoy

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/fragtext"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

var update = flag.Bool("update", false, "rewrite what the archives want")

// TestArchives reads the input of every archive in testdata and compares the whole fragment, value by value with
// its place, and the findings.
func TestArchives(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
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
			want := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
			if len(ar.Files) != 2 || want != 1 {
				t.Fatalf("an archive has an input and `want`, this has %d files", len(ar.Files))
			}
			src := &importers.Source{File: ar.Files[0].Name, Bytes: ar.Files[0].Data}
			if !Importer.Recognise(src) {
				t.Error("the input is not recognised")
			}
			got := show(Importer.Import(src))
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

func show(f *model.Fragment, found []diag.Finding) string { return fragtext.Show(f, found) }

// TestService lets the source's word for the caller win over the file's, and keeps comments that suppress.
func TestService(t *testing.T) {
	t.Parallel()
	src := &importers.Source{
		File: "in.yaml", Service: model.At("shop", diag.Span{File: "plan.yaml", Line: 3}),
		Bytes: []byte("node: {cluster: gateway}\nstatic_resources: {}\n---\nname: edge\nvirtual_hosts:\n- name: all\n  routes:\n" +
			"  - {match: {prefix: /}, route: {cluster: api}} # budgetplan:ignore BP104 known\n"),
	}
	f, found := Importer.Import(src)
	if len(f.Calls) != 1 || f.Services[f.Calls[0].From].Name != "shop" || !f.Services[f.Calls[0].From].Declared {
		t.Errorf("the calls of %s", show(f, found))
	}
	if len(f.LineIgnores) != 1 || f.LineIgnores[0].Code != "BP104" || f.LineIgnores[0].At.Line != 8 {
		t.Errorf("ignores %+v", f.LineIgnores)
	}
}

// TestRecognise tells Envoy's files from those that have the same words.
func TestRecognise(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src  string
		want bool
	}{
		{"static_resources: {clusters: []}", true},
		{"- {name: a, connect_timeout: 1s}", true},
		{"configs: [{\"@type\": type.googleapis.com/envoy.admin.v3.RoutesConfigDump}]", true},
		{"{\"@type\": /envoy.api.v2.Cluster, name: a}", true},
		{"", false},
		{"[1, 2, {}]", false},
		{"version: 1\nservices: {a: {calls: [b]}}", false},
		{"routes: [{name: a, paths: [/]}]", false},
		{"clusters: [{cluster: {server: x}, name: dev}]", false},
		{"apiVersion: networking.istio.io/v1\nkind: VirtualService\nspec: {http: [{match: [{uri: {prefix: /}}], route: [{destination: {host: a}}]}]}", false},
		{"- {match: [{uri: {prefix: /}}], route: [{destination: {host: a}}]}", false},
		{"\"@type\": type.googleapis.com/google.protobuf.Duration", false},
		{"methodConfig: [{name: [{}], timeout: 1s}]", false},
	}
	for _, tt := range tests {
		if got := Importer.Recognise(&importers.Source{File: "x", Bytes: []byte(tt.src)}); got != tt.want {
			t.Errorf("%q: recognised %v", tt.src, got)
		}
	}
}
