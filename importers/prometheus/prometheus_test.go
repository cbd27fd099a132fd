package prometheus

import (
	"bytes"
	"flag"
	"fmt"
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

var update = flag.Bool("update", false, "rewrite what the archives want")

// TestArchives reads the inputs of every archive in testdata together, in both orders, and compares all that is read
// of them. The comment of an archive has what `sources` says of its files, as `KEY VALUE` lines after `--`.
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
			last := len(ar.Files) - 1
			if last < 1 || ar.Files[last].Name != "want" {
				t.Fatal("an archive has inputs, then `want`")
			}
			var sources []*importers.Source
			for _, f := range ar.Files[:last] {
				sources = append(sources, named(t, f.Name, f.Data, string(ar.Comment)))
			}
			got := show(Importer.Together(sources))
			slices.Reverse(sources)
			fragments, found := Importer.Together(sources)
			slices.Reverse(fragments)
			if diff := cmp.Diff(got, show(fragments, found)); diff != "" {
				t.Errorf("the order of the files shows: %s", diff)
			}
			if *update {
				ar.Files[last].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[last].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// named makes a source with what a plan says of it. `^M` in a text stands for a carriage return and `$` at the end
// of a line for nothing, so that blanks before it can be seen; a last line `\c` takes the line end before it away.
func named(t *testing.T, file string, text []byte, settings string) *importers.Source {
	t.Helper()
	text = bytes.ReplaceAll(text, []byte("^M\n"), []byte("\r\n"))
	text = bytes.ReplaceAll(text, []byte("$\n"), []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\n\\c\n"))
	src := &importers.Source{File: file, Bytes: text}
	at := diag.Span{File: "plan.yaml", Line: 9, Col: 3}
	_, settings, _ = strings.Cut(settings, "--\n")
	for line := range strings.Lines(settings) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch v := model.At(value, at); key {
		case "service":
			src.Service, src.Ref.Service = v, v
		case "metric":
			src.Ref.Metric = v
		case "caller":
			src.Ref.Caller = v
		case "callee":
			src.Ref.Callee = v
		case "unit":
			src.Ref.Unit = v
		default:
			t.Fatalf("unknown setting %q", key)
		}
	}
	return src
}

// show prints fragments: a line a call or service with its place, then what its latency says, then the findings.
func show(fragments []*model.Fragment, found []diag.Finding) string {
	var b bytes.Buffer
	for _, f := range fragments {
		for i := range f.Calls {
			c := &f.Calls[i]
			fmt.Fprintf(&b, "%s -> %s @%s\n", f.Services[c.From].Name, f.Services[c.To].Name, c.At)
			showLatency(&b, c.Latency)
		}
		for i := range f.Services {
			if s := &f.Services[i]; s.Latency.Set() {
				fmt.Fprintf(&b, "%s @%s\n", s.Name, s.At)
				showLatency(&b, s.Latency)
			}
		}
	}
	for _, fd := range found {
		fmt.Fprintf(&b, "%s %s %s: %s\n", fd.Code.ID, fd.Severity, fd.Place(), fd.Message)
		if fd.Help != "" {
			fmt.Fprintf(&b, "  help: %s\n", fd.Help)
		}
	}
	return b.String()
}

func showLatency(b *bytes.Buffer, l *model.Latency) {
	for _, p := range l.Points {
		least := ""
		if p.AtLeast {
			least = "at least "
		}
		fmt.Fprintf(b, "  %s %s%s", p.P.Percentile(), least, p.V.V)
	}
	b.WriteByte('\n')
	for _, p := range l.Histogram {
		fmt.Fprintf(b, "  %s in %s", p.P, p.V.V)
	}
	if len(l.Histogram) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "  samples %d", l.Samples.V)
	if l.Window.Set() {
		fmt.Fprintf(b, "  window %s", l.Window.V)
	}
	if l.Timeouts.Set() {
		fmt.Fprintf(b, "  timeouts %d", l.Timeouts.V)
	}
	if l.Caveats.V != 0 {
		fmt.Fprintf(b, "  (%s)", l.Caveats.V)
	}
	b.WriteByte('\n')
}
