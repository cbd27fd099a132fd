package grpc

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
			if len(ar.Files) != 2 || ar.Files[1].Name != "want" {
				t.Fatalf("an archive has an input and `want`, this has %d files", len(ar.Files))
			}
			src := &importers.Source{File: ar.Files[0].Name, Bytes: ar.Files[0].Data}
			if !Importer.Recognise(src) {
				t.Error("the input is not recognised")
			}
			f, found := Importer.Import(src)
			checkFragment(t, f, found)
			got := fragtext.Show(f, found)
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

// checkFragment checks what every fragment promises to those who read it.
func checkFragment(t *testing.T, f *model.Fragment, found []diag.Finding) {
	t.Helper()
	placed := make([]int, len(f.Calls))
	for i := range f.Services {
		f.Services[i].Flow.Walk(func(c model.CallID) { placed[c]++ })
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if placed[i] != 1 || len(c.Waiters) != 1 || c.At.Line == 0 || int(c.To) >= len(f.Services) {
			t.Errorf("call %d is not whole, or stands in %d places: %+v", i, placed[i], c)
		}
		w := &c.Waiters[0]
		if w.Timeout.Set() && w.Timeout.V <= 0 || w.Attempts.V < 1 || w.Attempts.V > 5 || w.Retries() && !w.RetryOn().Set() {
			t.Errorf("call %d has a timeout of %s and %d attempts on %v", i, w.Timeout.V, w.Attempts.V, w.RetryOn())
		}
	}
	for _, fd := range found {
		if fd.Code == nil || fd.Message == "" || fd.Place().File == "" {
			t.Errorf("a finding is not whole: %+v", fd)
		}
	}
	if (len(f.Calls) == 0) == (f.Without == "") {
		t.Errorf("%d calls, and instead %q", len(f.Calls), f.Without)
	}
}

// TestCaller: the source's word for the client, else what the file is called.
func TestCaller(t *testing.T) {
	t.Parallel()
	const config = `{"methodConfig": [{"name": [{"service": "demo.Catalog"}], "timeout": "1s"}]}`
	for file, want := range map[string]string{
		"deploy/checkout-grpc-service-config.json": "checkout",
		"checkout_grpc_service_config.json":        "checkout",
		"checkoutServiceConfig.json":               "checkout",
		`C:\shop\checkout.yaml`:                    "checkout",
		"service-config.json":                      "client",
		"-":                                        "client",
		"demo.Catalog.json":                        "demo",
	} {
		f, _ := Importer.Import(&importers.Source{File: file, Bytes: []byte(config)})
		if got := f.Services[f.Calls[0].From].Name; got != want {
			t.Errorf("%s: the caller is %q, want %q", file, got, want)
		}
	}
	src := &importers.Source{File: "x.json", Bytes: []byte(config), Service: model.At("shop", diag.Span{File: "plan.yaml", Line: 3})}
	if f, _ := Importer.Import(src); f.Services[f.Calls[0].From].Name != "shop" {
		t.Error("the source's word is not taken")
	}
}

// TestRecognise tells service configs from files that have the same words.
func TestRecognise(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src  string
		want bool
	}{
		{"methodConfig: [{name: [{}], timeout: 1s}]", true},
		{`{"MethodConfig": [{"name": [{"service": "a"}]}]}`, true},
		{`{"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}`, true},
		{`"hedgingPolicy": {"maxAttempts": 4}`, true},
		{"data:\n  config.json: '{\"methodConfig\": [{\"name\": [{}]}]}'", true},
		{"", false},
		{"methodConfig: 3", false},
		{"methodConfig: [a, b]", false},
		{"note: methodConfig is a word", false},
		{"retryPolicy: {numRetries: 3}", false},
		{"x: {retryThrottling: {maxTokens: 10}}", false},
	}
	for _, tt := range tests {
		if got := Importer.Recognise(&importers.Source{File: "x", Bytes: []byte(tt.src)}); got != tt.want {
			t.Errorf("%q: recognised %v", tt.src, got)
		}
	}
}

// FuzzGRPC reads anything: no panic, no hang, and a fragment that holds together.
func FuzzGRPC(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s := &importers.Source{File: "fuzz", Bytes: src}
		known := Importer.Recognise(s)
		frag, found := Importer.Import(s)
		if len(frag.Calls) > 0 && !known {
			t.Error("calls from a file that is not recognised")
		}
		checkFragment(t, frag, found)
		again, _ := Importer.Import(&importers.Source{File: "fuzz", Bytes: slices.Clone(src)})
		if fragtext.Show(frag, found) != fragtext.Show(again, found) {
			t.Error("a second reading differs from the first")
		}
	})
}
