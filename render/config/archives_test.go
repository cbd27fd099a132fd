package config_test

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
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

var update = flag.Bool("update", false, "rewrite what each archive wants")

// plan reads and solves a plan file.
func plan(t *testing.T, name string, text []byte) *render.Input {
	t.Helper()
	fragment, found := planfile.Importer.Import(&importers.Source{File: name, Bytes: text})
	p, more := merge.Plan([]*model.Fragment{fragment})
	for _, f := range append(found, more...) {
		if f.Severity < diag.Error {
			continue
		}
		t.Fatalf("%s: %s: %s", f.Place(), f.Code.ID, f.Message)
	}
	return solve(t, p)
}

func solve(t *testing.T, p *model.Plan) *render.Input {
	t.Helper()
	g, found := solver.Compile(p)
	for _, f := range found {
		t.Fatalf("%s: %s", f.Code.ID, f.Message)
	}
	return &render.Input{Plan: p, Graph: g, Solution: solver.Solve(g, solver.Options{})}
}

// said gives the findings of a target about a plan, grouped and judged as every other.
func said(t *testing.T, target *config.Target, in *render.Input) []diag.Finding {
	t.Helper()
	_, found := target.Generate(in, config.Options{})
	judged := rules.Check(in.Plan, in.Graph, in.Solution, found, rules.Options{Now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)})
	return slices.DeleteFunc(judged, func(f diag.Finding) bool { return !slices.Contains(config.Codes, f.Code) })
}

// Every code has an archive: its bad plan gives exactly what is wanted, and its good plan nothing of the code.
func TestArchives(t *testing.T) {
	for _, code := range config.Codes {
		name := strings.ToLower(code.ID) + "_" + strings.ReplaceAll(code.Name, "-", "_") + ".txtar"
		t.Run(code.ID, func(t *testing.T) { archive(t, name, code) })
	}
	files, err := filepath.Glob("bp4*.txtar")
	if err != nil || len(files) != len(config.Codes) {
		t.Errorf("%d archives for %d codes: %v", len(files), len(config.Codes), err)
	}
}

func archive(t *testing.T, name string, code *diag.Code) {
	ar := txtar.Parse(config.Archive(code.ID))
	files := map[string][]byte{}
	for _, f := range ar.Files {
		files[f.Name] = f.Data
	}
	target := config.TargetNamed(strings.TrimSpace(string(files["target"])))
	if target == nil {
		t.Fatalf("%s names no target", name)
	}
	for _, part := range []string{"## What it means", "## Why it hurts", "## How to fix it"} {
		if !strings.Contains(string(ar.Comment), part) {
			t.Errorf("%s does not say %q", name, part)
		}
	}
	var got bytes.Buffer
	for _, f := range said(t, target, plan(t, "bad.yaml", files["bad.yaml"])) {
		if f.Code != code {
			continue
		}
		if err := report.WriteFinding(&got, &f, func(string) []byte { return files["bad.yaml"] }); err != nil {
			t.Fatal(err)
		}
	}
	if got.Len() == 0 {
		t.Errorf("bad.yaml gives nothing of %s", code.ID)
	}
	for _, f := range said(t, target, plan(t, "good.yaml", files["good.yaml"])) {
		if f.Code == code {
			t.Errorf("good.yaml gives %s", f.Message)
		}
	}
	if !*update {
		if d := cmp.Diff(string(files["want"]), got.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		return
	}
	for i := range ar.Files {
		if ar.Files[i].Name == "want" {
			ar.Files[i].Data = got.Bytes()
		}
	}
	if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}
