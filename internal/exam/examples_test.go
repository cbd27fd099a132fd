package exam

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the outputs of the examples anew")

// Each example has these outputs beside its plan. The status is part of what a user sees.
var outputs = []struct {
	file string
	args []string
}{
	{"plan.txt", []string{"plan"}},
	{"plan.json", []string{"plan", "--format", "json"}},
	{"check.txt", []string{"check"}},
	{"graph.dot", []string{"graph", "--format", "dot"}},
	{"graph.svg", []string{"graph", "--format", "svg", "--layout", "own"}},
	{"waterfall.svg", []string{"graph", "--view", "waterfall", "--format", "svg"}},
	{"waterfall.txt", []string{"graph", "--view", "waterfall"}},
}

// The pictures of the README.
var images = []struct{ file, example string }{
	{"docs/images/checkout-before.waterfall.svg", "examples/checkout"},
	{"docs/images/checkout-after.waterfall.svg", "examples/checkout-redesigned"},
}

// What `budgetplan check` must say of each example: 1 where something is an error.
var checkStatus = map[string]int{
	"walkdown": 0, "product": 0, "checkout": 1, "checkout-redesigned": 0, "envoy-front-proxy": 1, "with-sources": 1,
}

// Every output beside an example is what the tool prints, byte for byte.
func TestExamples(t *testing.T) {
	// Paths in the output are relative to the working directory: the repository's root, as in the README.
	t.Chdir("../..")
	plans, err := filepath.Glob("examples/*/budgetplan.yaml")
	if err != nil || len(plans) != len(checkStatus) {
		t.Fatalf("found %d examples, want %d: %v", len(plans), len(checkStatus), err)
	}
	for _, plan := range plans {
		dir := filepath.Dir(plan)
		for _, o := range outputs {
			t.Run(filepath.Base(dir)+"/"+o.file, func(t *testing.T) { example(t, dir, filepath.Join(dir, o.file), o.args) })
		}
	}
	for _, i := range images {
		t.Run(i.file, func(t *testing.T) {
			example(t, i.example, i.file, []string{"graph", "--view", "waterfall", "--format", "svg"})
		})
	}
}

func example(t *testing.T, dir, path string, args []string) {
	stdout, stderr, status := tool(append(args, dir)...)
	want := 0
	if args[0] == "check" {
		want = checkStatus[filepath.Base(dir)]
	}
	if status != want {
		t.Errorf("budgetplan %s %s: exit status %d, want %d\n%s", strings.Join(args, " "), dir, status, want, stderr)
	}
	if *update {
		if err := os.WriteFile(path, []byte(stdout), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with `go test ./internal/exam -update`", err)
	}
	if diff := cmp.Diff(string(golden), stdout); diff != "" {
		t.Errorf("%s is not what the tool prints (-file +tool); write it anew with `go test ./internal/exam -update`\n%s", path, diff)
	}
}
