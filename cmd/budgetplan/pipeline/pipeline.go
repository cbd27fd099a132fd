// Package pipeline is the one corridor that every command walks: load, import, merge, compile, solve, judge.
// Findings of all stages join one slice.
package pipeline

import (
	"cmp"
	"time"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// Options say what to read and how to judge it.
type Options struct {
	// Args are files, directories and `-`; without any, the plan is looked for.
	Args []string
	// Loader reads them. It is kept between runs, so that a second run on the same input reads no file again.
	Loader *load.Loader
	// As names the importer of the files that are named; empty recognises them by content.
	As string
	// Allocation and Preset replace what the plan's policy says; empty keeps it.
	Allocation, Preset string
	// Edit changes a plan before it is solved; nil changes nothing.
	Edit func(*model.Plan) error
	// Target says what a generated configuration would leave unsaid, once a plan is solved; nil says nothing.
	Target func(*render.Input) []diag.Finding
	// Input leaves the rules out: the findings are those of reading and merging.
	Input bool
	// Allowed and Fixes ask the solver for what only some outputs show.
	Allowed, Fixes bool
}

// Result is what one run found out, a render.Input a plan.
type Result struct {
	Plans []*render.Input
}

// Totals count what was read, over all plans.
type Totals struct {
	Read, Skipped           int
	Calls, Services         int
	Entrypoints             int
	Errors, Warnings, Infos int
}

// Totals counts. Findings that an ignore suppresses are not counted.
func (r *Result) Totals() Totals {
	var t Totals
	for _, in := range r.Plans {
		t.Calls += len(in.Plan.Calls)
		t.Services += len(in.Plan.Services)
		t.Entrypoints += len(in.Plan.Entrypoints)
		read := map[string]bool{} // a file may be read for several services
		for _, f := range in.Plan.Read {
			switch {
			case f.As == "":
				t.Skipped++
			case !read[f.File]:
				read[f.File] = true
				t.Read++
			}
		}
		for i := range in.Findings {
			switch f := &in.Findings[i]; {
			case f.Ignored != nil:
			case f.Severity == diag.Error:
				t.Errors++
			case f.Severity == diag.Warning:
				t.Warnings++
			case f.Severity == diag.Info:
				t.Infos++
			}
		}
	}
	return t
}

// Nothing reports whether there was neither a call nor an entrypoint in anything that was read: nothing was checked.
func (t Totals) Nothing() bool { return t.Calls == 0 && t.Entrypoints == 0 }

// Run walks the corridor. Its error is a bad argument or an unreadable input; whatever is wrong inside a file is a
// finding, and the rest is still analysed.
func Run(opts Options) (*Result, error) {
	if opts.Loader == nil {
		opts.Loader = &load.Loader{}
	}
	sets, err := opts.Loader.Args(opts.Args)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	for _, set := range sets {
		in, err := one(set, opts)
		if err != nil {
			return nil, err
		}
		result.Plans = append(result.Plans, in)
	}
	return result, nil
}

// one makes a plan of one set of inputs and solves it.
func one(set load.Set, opts Options) (*render.Input, error) {
	r, err := read(set, opts)
	if err != nil {
		return nil, err
	}
	plan, findings := merge.Plan(r.fragments)
	plan.Read = append(plan.Read, r.skipped...)
	findings = append(r.findings, findings...)
	if opts.Edit != nil {
		if err := opts.Edit(plan); err != nil {
			return nil, err
		}
	}
	graph, cycles := solver.Compile(plan)
	findings = append(findings, cycles...)
	solution := solver.Solve(graph, solver.Options{
		Policy: cmp.Or(opts.Allocation, plan.Policy.Allocation.Or("")), Allowed: opts.Allowed, Fixes: opts.Fixes,
	})
	in := &render.Input{Name: set.Name, Plan: plan, Graph: graph, Solution: solution, Source: opts.Loader.Source}
	if opts.Target != nil {
		findings = append(findings, opts.Target(in)...)
	}
	if opts.Input {
		diag.Sort(findings)
	} else {
		findings = rules.Check(plan, graph, solution, findings, rules.Options{Now: time.Now(), Preset: opts.Preset, Allocation: opts.Allocation, Codes: Codes()})
	}
	in.Findings = noteTemplates(findings, opts.Loader.Source)
	return in, nil
}
