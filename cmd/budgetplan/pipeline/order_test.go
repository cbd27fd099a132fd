package pipeline

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
)

// outputs are what every format writes of one result.
func outputs(t *testing.T, r *Result) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, format := range all.List {
		var b bytes.Buffer
		if err := format.Write(&b, r.Plans); err != nil {
			t.Fatalf("%s: %v", format.Name, err)
		}
		out[format.Name] += b.String()
	}
	return out
}

// TestOrderOfArguments: files of mixed kinds, in whatever order they are named, give the same bytes in every format.
func TestOrderOfArguments(t *testing.T) {
	a, err := txtar.ParseFile("testdata/order.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var args []string
	for _, f := range a.Files {
		if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, f.Name)
	}
	run := func(args []string) *Result {
		r, err := Run(Options{Args: args, Loader: &load.Loader{}, Fixes: true, Allowed: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := run(args)
	want := outputs(t, first)
	checkVaried(t, first.Plans[0])
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		rng.Shuffle(len(args), func(i, k int) { args[i], args[k] = args[k], args[i] })
		got := outputs(t, run(args))
		for format, text := range want {
			if diff := cmp.Diff(text, got[format]); diff != "" {
				t.Fatalf("%v in %s:\n%.2000s", args, format, diff)
			}
		}
	}
}

// checkVaried: the files of the test must differ, join, and leave something over, or their order could not show.
func checkVaried(t *testing.T, in *render.Input) {
	t.Helper()
	for _, code := range []string{"BP004", "BP006", "BP008", "BP009", "BP011"} {
		if !slices.ContainsFunc(in.Findings, hasCode(code)) {
			t.Errorf("the files raise no %s", code)
		}
	}
	kinds := map[string]bool{}
	for _, f := range in.Plan.Read {
		kinds[f.As] = true
	}
	if len(kinds) < 4 || len(in.Plan.Joined) == 0 || len(in.Plan.Left) == 0 {
		t.Errorf("kinds %v, %d names joined, %d left over", kinds, len(in.Plan.Joined), len(in.Plan.Left))
	}
}

func hasCode(code string) func(diag.Finding) bool {
	return func(f diag.Finding) bool { return f.Code.ID == code }
}
