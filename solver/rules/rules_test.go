package rules_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

var update = flag.Bool("update", false, "rewrite what each archive wants")

// now is the day on which the tests run, for ignores with a date.
var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// check walks a plan through every stage.
func check(t *testing.T, name string, text []byte, opt rules.Options) []diag.Finding {
	t.Helper()
	plan, earlier := read(t, name, text)
	g, more := solver.Compile(plan)
	s := solver.Solve(g, solver.Options{Allowed: true, Fixes: true})
	return rules.Check(plan, g, s, append(earlier, more...), opt)
}

func read(t *testing.T, name string, text []byte) (*model.Plan, []diag.Finding) {
	t.Helper()
	src := &importers.Source{File: name, Bytes: text}
	for _, im := range all.List {
		if !im.Recognise(src) {
			continue
		}
		fragment, findings := im.Import(src)
		for _, f := range findings {
			if f.Severity == diag.Error {
				t.Fatalf("%s: %s: %s", f.Place(), f.Code.ID, f.Message)
			}
		}
		fragments := []*model.Fragment{fragment}
		plan, more := merge.Plan(fragments)
		return plan, append(findings, more...)
	}
	t.Fatalf("%s: nothing recognises it", name)
	return nil, nil
}

// printed gives the findings of one code, or of all for "", as the text format shows them.
func printed(t *testing.T, findings []diag.Finding, code, name string, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	for i := range findings {
		if code != "" && findings[i].Code.ID != code {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		err := report.WriteFinding(&out, &findings[i], func(file string) []byte {
			if file == name {
				return text
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestArchives runs the plans of every rule: each `bad*.yaml` gives exactly what the `want` beside it says, no
// `good*.yaml` gives anything of the code.
func TestArchives(t *testing.T) {
	names, err := filepath.Glob("bp*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		id, _, _ := strings.Cut(name, "_")
		t.Run(strings.TrimSuffix(name, ".txtar"), func(t *testing.T) { archive(t, name, strings.ToUpper(id)) })
	}
}

func archive(t *testing.T, name, code string) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	page(t, string(a.Comment))
	wants := make(map[string]*txtar.File)
	for i := range a.Files {
		wants[a.Files[i].Name] = &a.Files[i]
	}
	var bad, good int
	for _, f := range a.Files {
		base := strings.TrimSuffix(f.Name, ".yaml")
		switch {
		case strings.HasPrefix(f.Name, "want"):
		case strings.HasPrefix(f.Name, "good"):
			good++
			if got := printed(t, check(t, f.Name, f.Data, rules.Options{Now: now}), code, f.Name, f.Data); got != "" {
				t.Errorf("%s gives\n%s", f.Name, got)
			}
		case strings.HasPrefix(f.Name, "bad"):
			bad++
			got := printed(t, check(t, f.Name, f.Data, rules.Options{Now: now}), code, f.Name, f.Data)
			want := wants["want"+strings.TrimPrefix(base, "bad")]
			switch {
			case got == "":
				t.Errorf("%s gives nothing of %s", f.Name, code)
			case want == nil:
				t.Errorf("%s has no `want` beside it; it gives\n%s", f.Name, got)
			case *update:
				want.Data = []byte(got)
			default:
				if d := cmp.Diff(string(want.Data), got); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
			}
		default:
			t.Errorf("%s is neither `bad`, `good` nor `want`", f.Name)
		}
	}
	if bad == 0 || good == 0 {
		t.Errorf("%d bad plans and %d good ones", bad, good)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func page(t *testing.T, text string) {
	t.Helper()
	at := -1
	for _, heading := range []string{"## What it means\n", "## Why it hurts\n", "## How to fix it\n"} {
		i := strings.Index(text, heading)
		if i <= at {
			t.Errorf("the page has no %q in its place", heading)
		}
		at = i
	}
}

// TestList compares All with the folder.
func TestList(t *testing.T) {
	var listed, files []string
	for _, r := range rules.All {
		c := r.Code
		listed = append(listed, strings.ToLower(c.ID)+"_"+strings.ReplaceAll(c.Name, "-", "_"))
		if c.Summary == "" || strings.HasSuffix(c.Summary, ".") || c.Severity == diag.Off {
			t.Errorf("%s: summary %q, severity %s", c.ID, c.Summary, c.Severity)
		}
		if page := txtar.Parse(rules.Archive(c.ID)).Comment; len(page) == 0 {
			t.Errorf("%s has no page", c.ID)
		}
	}
	if !slices.IsSorted(listed) || len(slices.Compact(slices.Clone(listed))) != len(listed) {
		t.Errorf("the list is not in the order of its codes: %v", listed)
	}
	for _, pattern := range []string{"bp*.go", "bp*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = files[:0]
		for _, n := range names {
			if !strings.HasSuffix(n, "_test.go") {
				files = append(files, strings.TrimSuffix(n, filepath.Ext(n)))
			}
		}
		if d := cmp.Diff(files, listed); d != "" {
			t.Errorf("%s against the list (-files +list):\n%s", pattern, d)
		}
	}
	for _, retired := range retiredIDs {
		for _, r := range rules.All {
			if r.Code.ID == retired {
				t.Errorf("%s is retired, a new rule takes a new id", retired)
			}
		}
	}
	if rules.Archive("BP999") != nil {
		t.Error("BP999 has an archive")
	}
}

// retiredIDs were released once and are no more: they keep their meaning for ever.
var retiredIDs []string
