package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// The columns stand below each other whatever signs the names have, with and without colour.
func TestTableAlignsWideNames(t *testing.T) {
	src := &importers.Source{File: "plan.yaml", Bytes: []byte(`version: 1
entrypoints: {shop: {slo: 1s, call: 注文}}
services:
  注文: {calls: [{call: 在庫, timeout: 300ms, latency: {p99: 90ms}}, {call: café, timeout: 3s, latency: {p99: 900ms}}]}
  在庫: {calls: [{call: "🚀", timeout: 200ms, latency: {p99: 20ms}}]}
  café: {calls: [{call: "a\u0300", timeout: 20ms, latency: {p99: 2ms}}, {call: x, timeout: 20ms, latency: {p99: 2ms}}]}
`)}
	fragment, findings := planfile.Importer.Import(src)
	plan, more := merge.Plan([]*model.Fragment{fragment})
	for _, f := range append(findings, more...) {
		t.Fatal(f.Message)
	}
	graph, _ := solver.Compile(plan)
	in := &render.Input{Plan: plan, Graph: graph, Solution: solver.Solve(graph, solver.Options{})}
	for _, in.Color = range []bool{false, true} {
		var out bytes.Buffer
		if err := Table.Render(&out, in); err != nil {
			t.Fatal(err)
		}
		_, rows, _ := strings.Cut(out.String(), "\n\n")
		rows, _, _ = strings.Cut(rows, "\n\n")
		lines := strings.Split(rows, "\n")
		if len(lines) != len(graph.Legs)+1 {
			t.Fatalf("%d lines for %d calls:\n%s", len(lines), len(graph.Legs), rows)
		}
		for _, line := range lines { // the last column is one of numbers, which end where its name does
			if width(line) != width(lines[0]) {
				t.Errorf("%d columns, the header has %d:\n%s", width(line), width(lines[0]), rows)
			}
		}
	}
}
