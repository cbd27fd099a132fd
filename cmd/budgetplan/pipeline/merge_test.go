package pipeline

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/report"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of testdata")

// solvedFiles runs the corridor over files that are already in memory, named in this order.
func solvedFiles(t *testing.T, files []txtar.File, opts Options) *render.Input {
	t.Helper()
	opts.Loader = &load.Loader{}
	set := load.Set{}
	for _, f := range files {
		opts.Loader.Keep(f.Name, f.Data)
		set.Inputs = append(set.Inputs, load.Input{File: f.Name, Named: true})
	}
	in, err := one(set, opts)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// written is the plan in its own language, and the findings of reading and merging.
func written(t *testing.T, in *render.Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := config.WritePlan(&b, in.Plan); err != nil {
		t.Fatal(err)
	}
	for i := range in.Findings {
		f := &in.Findings[i]
		fmt.Fprintf(&b, "%s: %s[%s]: %s\n", f.Place(), f.Severity, f.Code.ID, f.Message)
	}
	return b.String()
}

// TestMerge: each archive has files and the plan that they make together, whatever their order.
func TestMerge(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, want := a.Files[:len(a.Files)-1], &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last file is %s, not want", want.Name)
			}
			got := written(t, solvedFiles(t, files, Options{Input: true}))
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for seed := range uint64(5) {
				shuffled := slices.Clone(files)
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
				if diff := cmp.Diff(got, written(t, solvedFiles(t, shuffled, Options{Input: true}))); diff != "" {
					t.Errorf("another order of files makes another plan:\n%s", diff)
				}
			}
			roundTrip(t, files)
		})
	}
}

// roundTrip: a plan that is written and read again has the same numbers and ids.
func roundTrip(t *testing.T, files []txtar.File) {
	t.Helper()
	in := solvedFiles(t, files, Options{Fixes: true, Allowed: true})
	sameNumbers(t, in)
}

// numbers are the numbers of the json format, without places and findings, in the order of their subjects: a plan
// that is written lists its calls by caller.
func numbers(t *testing.T, in *render.Input) []string {
	t.Helper()
	var b bytes.Buffer
	plain := *in
	plain.Findings = nil
	if err := report.JSON.Write(&b, []*render.Input{&plain}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if i := strings.Index(line, `"at":`); i >= 0 {
			line = line[:i]
		}
		lines = append(lines, strings.TrimRight(line, ", \n"))
	}
	if i := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, `"read"`) }); i >= 0 {
		lines = lines[:i]
	}
	slices.Sort(lines)
	return lines
}

// FuzzMerge: no two files, whatever they say, end the program.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("services: {a: {calls: [b, {call: b, name: x}]}}\n"), []byte("services: {a: {calls: [{call: b, timeout: 1s}]}}\naliases: {b: [a]}\n"))
	f.Add([]byte("aliases: {a: [b], b: [a]}\nservices: {a: {calls: [b]}}\n"), []byte("virtual_hosts: [{name: v, domains: [x], routes: [{match: {prefix: /}, route: {cluster: b}}]}]\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		in := solvedFiles(t, []txtar.File{{Name: "a.yaml", Data: a}, {Name: "b.yaml", Data: b}}, Options{})
		for i := range in.Plan.Calls {
			c := &in.Plan.Calls[i]
			if c.ID == "" || len(c.Waiters) == 0 {
				t.Fatalf("call %d has no id or no waiter: %+v", i, c)
			}
		}
		placed := 0
		for i := range in.Plan.Services {
			in.Plan.Services[i].Flow.Walk(func(c model.CallID) {
				placed++
				if in.Plan.Calls[c].From != model.ServiceID(i) {
					t.Fatalf("%s stands in the flow of %s", in.Plan.Calls[c].ID, in.Plan.Services[i].Name)
				}
			})
		}
		if placed != len(in.Plan.Calls) {
			t.Fatalf("%d calls, %d of them in a flow", len(in.Plan.Calls), placed)
		}
	})
}
