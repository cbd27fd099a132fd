package diagram_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
	"github.com/budgetplan/budgetplan/solver"
)

var update = flag.Bool("update", false, "rewrite what the golden files want")

// goldens are the renderers that an archive holds against what it wants, by the name of the file.
var goldens = map[string]*render.Renderer{
	"want.dot": diagram.Dot, "want.mmd": diagram.Mermaid, "waterfall.txt": diagram.WaterfallText,
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := load(t, archive.Files[0].Data)
		now := archive.Files[:1:1]
		for _, name := range mapKeys(goldens) {
			var out bytes.Buffer
			if err := goldens[name].Write(&out, []*render.Input{in}); err != nil {
				t.Fatal(err)
			}
			now = append(now, txtar.File{Name: name, Data: out.Bytes()})
		}
		switch diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: now}))); {
		case diff == "":
		case !*update:
			t.Errorf("%s (-want +got):\n%s", file, diff)
		default:
			archive.Files = now
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, shape := range shapes(t, draw(t, in)) {
			if strings.Contains(shape, "syntax error") {
				t.Errorf("%s: %s", file, shape)
			}
		}
	}
}

// load solves a plan and finds that the calls named `late` are errors.
func load(t *testing.T, text []byte) *render.Input {
	t.Helper()
	fragment, _ := planfile.Importer.Import(&importers.Source{File: "plan.yaml", Bytes: text})
	plan, _ := merge.Plan([]*model.Fragment{fragment})
	graph, _ := solver.Compile(plan)
	in := &render.Input{Plan: plan, Graph: graph, Solution: solver.Solve(graph, solver.Options{})}
	code := &diag.Code{ID: "BP101", Name: "inverted-timeout", Severity: diag.Error}
	for i := range plan.Calls {
		if plan.Calls[i].Name().V == "late" {
			in.Findings = append(in.Findings, code.New(plan.Calls[i].ID, plan.Calls[i].At, "late"))
		}
	}
	return in
}

func draw(t *testing.T, ins ...*render.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := diagram.Dot.Write(&out, ins); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// shapes runs Graphviz over a drawing and gives the lines of its plain output. Without Graphviz the test is skipped,
// except where CI promises that it is there.
func shapes(t *testing.T, drawing string) []string {
	t.Helper()
	path, err := exec.LookPath("dot")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("Graphviz is not installed")
		}
		t.Skip("Graphviz is not installed: drawings are not held against it")
	}
	cmd := exec.Command(path, "-Tplain-ext")
	cmd.Stdin = strings.NewReader(drawing)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil || problems.Len() > 0 {
		t.Fatalf("dot: %v: %s in:\n%s", err, problems.String(), drawing)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Graphviz reads back as many nodes and arrows as were drawn, whatever the names are.
func TestAnyNameIsDrawn(t *testing.T) {
	var ins []*render.Input
	for _, name := range odd {
		ins = append(ins, named(name))
	}
	nodes, edges, graph := 0, 0, 0
	for _, line := range shapes(t, draw(t, ins...)) {
		switch {
		case strings.HasPrefix(line, "node "):
			nodes++
		case strings.HasPrefix(line, "edge "):
			edges++
		case line == "stop":
			// The entrypoint, three services, and the point through which the shared one is called.
			if nodes != 5 || edges != 5 {
				t.Errorf("%q: %d nodes and %d arrows", odd[graph], nodes, edges)
			}
			nodes, edges = 0, 0
			graph++
		}
	}
	if graph != len(odd) {
		t.Errorf("%d graphs of %d", graph, len(odd))
	}
}

func TestNothingAndSeveral(t *testing.T) {
	if got := shapes(t, draw(t, &render.Input{})); len(got) == 0 {
		t.Error("nothing is drawn")
	}
	if got := strings.Count(draw(t, &render.Input{}, &render.Input{}), "digraph "); got != 2 {
		t.Errorf("%d graphs of two plans", got)
	}
}
