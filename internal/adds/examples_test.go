package adds_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/cli"
	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/internal/adds"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Every explanation of every call of every example adds up, and `explain` prints each of its lines with a place or the
// name of a default where one is given.
func TestExamplesAddUp(t *testing.T) {
	folders, err := filepath.Glob("../../examples/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			result, err := pipeline.Run(pipeline.Options{Args: []string{folder}})
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range result.Plans {
				for c := range in.Plan.Calls {
					lines := solver.Explain(in.Plan, in.Graph, in.Solution, model.CallID(c))
					if err := adds.Check(lines); err != nil {
						t.Errorf("%s: %v", in.Plan.Calls[c].ID, err)
					}
					printed(t, folder, in.Plan.Calls[c].ID, lines)
				}
			}
		})
	}
}

func printed(t *testing.T, folder, call string, lines []solver.Line) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main([]string{"explain", call, folder}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("explain %s: exit %d: %s", call, code, errs.String())
	}
	for _, l := range lines {
		if !strings.Contains(out.String(), l.Label) {
			t.Errorf("explain %s does not print %q", call, l.Label)
		}
		if l.From != nil && l.From.Default != nil && !strings.Contains(out.String(), l.From.Default.String()) {
			t.Errorf("explain %s does not name %s", call, l.From.Default)
		}
	}
}
