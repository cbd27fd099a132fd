package fleet_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/internal/fleet"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// A fleet has the published shape, and is the same plan written as a file and made in code.
func TestFleet(t *testing.T) {
	f := fleet.New(20_000, 1)
	if len(f.Calls) != 20_000 {
		t.Errorf("%d calls", len(f.Calls))
	}
	leaves, widest := 0, 0
	callers := make([]int, len(f.Services))
	for i := range f.Services {
		widest = max(widest, len(f.Services[i].Calls))
		if len(f.Services[i].Calls) == 0 {
			leaves++
		}
	}
	for _, c := range f.Calls {
		callers[c.To]++
	}
	for i, n := range callers[fleet.Entrypoints:] {
		if n == 0 {
			t.Fatalf("nobody calls service %d", i+fleet.Entrypoints)
		}
	}
	if share := 100 * leaves / len(f.Services); share < 35 || share > 45 {
		t.Errorf("%d %% of the services are leaves, published are 39 %%", share)
	}
	if most := slices.Max(callers); most < 100 || widest < 500 {
		t.Errorf("the most callers are %d, the most calls %d: no heavy tail", most, widest)
	}

	read := planOf(t, f.YAML())
	made, _ := solver.Compile(f.Plan())
	again, cycles := solver.Compile(read)
	if len(cycles) > 0 || len(again.Legs) != len(made.Legs) {
		t.Fatalf("the file has %d legs and %d cycles, the plan %d legs", len(again.Legs), len(cycles), len(made.Legs))
	}
	a, b := solver.Solve(made, solver.Options{}), solver.Solve(again, solver.Options{})
	for r := range a.Roots {
		if a.Roots[r].Need != b.Roots[r].Need || a.Roots[r].Wait != b.Roots[r].Wait {
			t.Errorf("root %d: the plan says %v and %s, the file %v and %s", r, a.Roots[r].Need, a.Roots[r].Wait, b.Roots[r].Need, b.Roots[r].Wait)
		}
	}
}

func planOf(tb testing.TB, yaml []byte) *model.Plan {
	fragment, findings := planfile.Importer.Import(&importers.Source{File: "fleet.yaml", Bytes: yaml})
	if len(findings) > 0 {
		tb.Fatal(findings[0].Message)
	}
	p, findings := merge.Plan([]*model.Fragment{fragment})
	if len(findings) > 0 {
		tb.Fatal(findings[0].Message)
	}
	return p
}

// BenchmarkStages measures everything around the solver.
func BenchmarkStages(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) { stages(b, n) })
	}
}

// stager runs the steps of one size.
type stager struct {
	b     *testing.B
	n     int
	fleet *fleet.Fleet
	text  []byte        // the fleet as a plan file
	pass  time.Duration // of a plain sweep over its calls
}

func stages(b *testing.B, n int) {
	f := fleet.New(n, 1)
	s := stager{b, n, f, f.YAML(), fleet.PlainPass(sweep(f.Plan()))}
	s.reading()
	s.judging()
}

func (s *stager) stage(name string, run func(m *fleet.Meter)) {
	s.b.Run(name, func(b *testing.B) {
		m := fleet.Measure(b, s.n, s.pass)
		for range b.N {
			run(m)
		}
		m.Report()
	})
}

// sweep looks at every call of a plan once, caller by caller.
func sweep(p *model.Plan) func() {
	g, _ := solver.Compile(p)
	x := make([]model.Duration, len(g.Nodes))
	return func() {
		for _, n := range g.Order {
			g.Out(n, func(l solver.LegID) { x[g.Legs[l].To] += x[n] + 1 })
		}
	}
}

// reading measures what leads to a plan.
func (s *stager) reading() {
	b, n, text, stage := s.b, s.n, s.text, s.stage
	var fragment *model.Fragment
	read := func(src *importers.Source) { fragment, _ = planfile.Importer.Import(src) }
	source := func() *importers.Source { return &importers.Source{File: "fleet.yaml", Bytes: text} }
	stage("read", func(m *fleet.Meter) { m.Time(func() { read(source()) }) })
	if n <= 100_000 {
		stage("read: the YAML library alone", func(m *fleet.Meter) {
			m.Time(func() {
				var doc yaml.Node
				if err := yaml.Unmarshal(text, &doc); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	stage("read: text to nodes", func(m *fleet.Meter) { m.Time(func() { source().YAML() }) })
	stage("read: nodes to plan", func(m *fleet.Meter) {
		src := source()
		src.YAML()
		m.Time(func() { read(src) })
	})
	stage("merge", func(m *fleet.Meter) {
		read(source()) // a merge takes its fragments over
		m.Time(func() { merge.Plan([]*model.Fragment{fragment}) })
	})
}

// judging measures what is made of a plan.
func (s *stager) judging() {
	b, n, stage := s.b, s.n, s.stage
	empty := heap()
	p := s.fleet.Plan()
	planned := heap()
	g, _ := solver.Compile(p)
	compiled := heap()
	sol := solver.Solve(g, solver.Options{})
	solved := heap()
	stage("compile", func(m *fleet.Meter) { m.Time(func() { solver.Compile(p) }) })
	var found []diag.Finding
	check := func() { found = rules.Check(p, g, sol, nil, rules.Options{}) }
	stage("rules", func(m *fleet.Meter) { m.Time(check) })
	if n <= 100_000 {
		in := &render.Input{Plan: p, Graph: g, Solution: sol, Source: func(string) []byte { return s.text }}
		write := func(r *render.Renderer) func(m *fleet.Meter) {
			return func(m *fleet.Meter) {
				if in.Findings == nil {
					check()
					in.Findings = found
				}
				m.Time(func() {
					if err := r.Render(io.Discard, in); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
		stage("text", write(report.Text))
		stage("JSON", write(report.JSON))
		found = nil
	}
	stage("10 longest paths", func(m *fleet.Meter) { m.Time(func() { solver.Paths(g, sol, 0, 10) }) })
	b.Run("memory", func(b *testing.B) {
		for range b.N {
			runtime.KeepAlive(p)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(planned-empty)/float64(n), "B/call-model")
		b.ReportMetric(float64(compiled-planned)/float64(n), "B/call-graph")
		b.ReportMetric(float64(solved-compiled)/float64(n), "B/call-solution")
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkProcess measures the whole command, from its start to its end, on plans of several sizes and on the layered
// graphs that a tool which enumerates paths takes seconds for.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	tool := filepath.Join(dir, "budgetplan")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", tool, "../../cmd/budgetplan")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(tool)
	if err != nil {
		b.Fatal(err)
	}
	plans := []struct {
		name string
		yaml []byte
		args []string
	}{
		{"version", nil, []string{"version"}},
		{"20 calls", fleet.Layers(6, 2, 2), []string{"check", "--fail-on", "never"}},
		{"1000 calls", fleet.New(1000, 1).YAML(), []string{"check", "--fail-on", "never"}},
		{"70 services and 600 calls in layers", fleet.Layers(7, 10, 10), []string{"check", "--fail-on", "never"}},
		{"9010 services and 81000 calls in layers", fleet.Layers(10, 1000, 10), []string{"check", "--fail-on", "never"}},
		{"a hub of 4000 callers and 4000 calls", fleet.Hub(4000), []string{"check", "--fail-on", "never"}},
		{"100000 calls", fleet.New(100_000, 1).YAML(), []string{"check", "--fail-on", "never"}},
	}
	for i, p := range plans {
		if p.yaml != nil {
			file := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
			if err := os.WriteFile(file, p.yaml, 0o600); err != nil {
				b.Fatal(err)
			}
			p.args = append(p.args, file)
		}
		b.Run(p.name, func(b *testing.B) {
			var took, cpu []time.Duration
			for range b.N {
				start, cmd := time.Now(), exec.Command(tool, p.args...)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				took = append(took, time.Since(start))
				cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
			slices.Sort(took)
			slices.Sort(cpu)
			b.ReportMetric(float64(cpu[len(cpu)/2])/1e6, "ms-cpu")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2])/1e6, "ms")
			b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
		})
	}
}
