package prometheus

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/peak"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// FuzzPrometheus reads anything: no panic, no hang, and a fragment that holds together. The first half of the bytes
// and the second are two files, so that windows are reached.
func FuzzPrometheus(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data, "")
		f.Add(append(ar.Files[0].Data, ar.Files[0].Data...), "traces_service_graph_request_client_seconds")
	}
	f.Add(protobuf(nativeFamily()), "")
	f.Fuzz(func(t *testing.T, src []byte, metric string) {
		at := diag.Span{File: "plan.yaml", Line: 1}
		for _, parts := range [][][]byte{{src}, {src[:len(src)/2], src[len(src)/2:]}} {
			var sources []*importers.Source
			for i, part := range parts {
				s := &importers.Source{File: string(rune('a' + i)), Bytes: part, Service: model.At("me", at)}
				if metric != "" {
					s.Ref = model.SourceRef{Metric: model.At(metric, at), Unit: model.At("ms", at)}
				}
				Importer.Recognise(s)
				sources = append(sources, s)
			}
			fragments, found := Importer.Together(sources)
			for _, f := range fragments {
				checkFragment(t, f, found)
			}
		}
	})
}

// checkFragment checks what every fragment promises to those who read it.
func checkFragment(t *testing.T, f *model.Fragment, found []diag.Finding) {
	t.Helper()
	latencies := []model.Latency{}
	for i := range f.Calls {
		c := &f.Calls[i]
		if c.From == c.To || int(c.To) >= len(f.Services) || c.At.Line == 0 || !c.Latency.Set() {
			t.Errorf("call %d is not whole: %+v", i, c)
		}
		latencies = append(latencies, c.Latency.Get())
	}
	for i := range f.Services {
		if f.Services[i].Name == "" {
			t.Error("a service has no name")
		}
		latencies = append(latencies, f.Services[i].Latency.Get())
	}
	for _, l := range latencies {
		for _, points := range [][]model.Point{l.Points, l.Histogram} {
			for i, p := range points {
				if p.P <= 0 || p.P >= model.Whole || p.V.V < 0 || !p.V.V.Finite() || !p.V.Set() {
					t.Errorf("the point %+v is none", p)
				}
				if i > 0 && (points[i-1].P >= p.P || points[i-1].V.V > p.V.V) {
					t.Errorf("points out of order: %v", points)
				}
			}
		}
		if l.Samples.V < 0 || l.Timeouts.V < 0 || l.Window.V < 0 {
			t.Errorf("negative counts: %+v", l)
		}
	}
	for _, fd := range found {
		if fd.Code == nil || fd.Message == "" || fd.Place().File == "" || strings.Contains(fd.Message, "\n") {
			t.Errorf("a finding is not whole: %+v", fd)
		}
	}
}

// TestMemory reads contents that are made to be large in memory: at most 64 times their size and 64 MB.
func TestMemory(t *testing.T) {
	const size = 4 << 20
	fill := func(line func(i int) string) string { return peak.Fill(size, line) }
	letters := peak.Letters
	for name, src := range map[string]string{
		"families":  fill(func(i int) string { return letters(i) + " 1\n" }),
		"the same":  "# TYPE a counter\n" + fill(func(int) string { return "a 1\n" }),
		"times":     "# TYPE a counter\n" + fill(func(i int) string { return "a 1 " + strings.Repeat("1", 1+i%7) + "\n" }),
		"types":     fill(func(i int) string { return "# TYPE " + letters(i) + " gauge\n" }) + "x{a=\"b\"} 1\n",
		"series":    fill(func(i int) string { return "response_latency_ms_bucket{s=\"" + letters(i) + "\",le=\"1\"} 1\n" }),
		"labels":    "x{" + fill(func(i int) string { return letters(i) + "=\"\"," }) + "} 1\n",
		"broken":    fill(func(int) string { return "{\n" }),
		"one name":  fill(func(int) string { return "aaaaaaaa" }),
		"new lines": "x{a=\"b\"} 1\n" + strings.Repeat("\n", size),
		"answer":    `{"status":"success","data":{"resultType":"vector","result":[` + strings.TrimSuffix(fill(func(int) string { return "{}," }), ",") + `]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			peak.Check(t, len(src), func() {
				f, found := Importer.Import(&importers.Source{File: "x", Bytes: []byte(src)})
				checkFragment(t, f, found)
			})
		})
	}
}

// BenchmarkScrape reads 10,000 series of a histogram with 10 buckets each, of 1,000 calls.
func BenchmarkScrape(b *testing.B) {
	var src strings.Builder
	src.WriteString("# TYPE traces_service_graph_request_client_seconds histogram\n")
	for i := range 10_000 {
		for n, le := range []string{"0.005", "0.01", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "+Inf"} {
			fmt.Fprintf(&src, "traces_service_graph_request_client_seconds_bucket{client=\"c%d\",server=\"s\",pod=\"%d\",le=%q} %d\n", i%1000, i, le, n*10)
		}
	}
	b.SetBytes(int64(src.Len()))
	for b.Loop() {
		if f, _ := Importer.Import(&importers.Source{File: "x", Bytes: []byte(src.String())}); len(f.Calls) != 1000 {
			b.Fatal(len(f.Calls))
		}
	}
}
