// Package render has the type of a renderer: a value in a list (package all) that writes one format.
package render

import (
	"io"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// Kind says which command a format belongs to.
type Kind uint8

// The kinds of output.
const (
	Check     Kind = 1 << iota // findings
	Plan                       // budgets, then findings
	Graph                      // pictures of the call graph
	Waterfall                  // pictures of the time that its calls take
)

// Renderer writes one format. What it cannot express it says in the output, never dropping it silently.
type Renderer struct {
	Name  string
	Kind  Kind
	Title string
	// Allowed is set where the format shows LegTimes.Allowed, which the solver makes on demand.
	Allowed bool
	Render  func(io.Writer, *Input) error
	// Together writes the several plans of one run as one document; nil where Render after Render is one.
	Together func(io.Writer, []*Input) error
}

// Write writes what one run found out, be it about one plan or about several.
func (r *Renderer) Write(w io.Writer, ins []*Input) error {
	if len(ins) > 1 && r.Together != nil {
		return r.Together(w, ins)
	}
	for _, in := range ins {
		if err := r.Render(w, in); err != nil {
			return err
		}
	}
	return nil
}

// Input is everything that a command found out. Several plans of one run are several Inputs.
type Input struct {
	// Name says which plan it is where a run has several: its first file. Empty takes that from Plan.Read.
	Name     string
	Plan     *model.Plan
	Graph    *solver.Graph
	Solution *solver.Solution
	// Findings are grouped and sorted; those with Ignored set are shown only where a format has room for them.
	Findings []diag.Finding
	// Source gives the bytes of a file that was read, nil where there are none.
	Source func(file string) []byte
	// Color is true where ANSI colours are wanted. Width is the terminal's, 0 for none.
	Color bool
	Width int
	// Quiet leaves infos out; Verbose shows ignored findings too.
	Quiet, Verbose bool
	// Relative gives the path of a file in its repository, with slashes, and an absolute path for a file outside of it.
	// Nil leaves names as they are.
	Relative func(file string) string
	// FailOn is the least severity that fails the run; Off stands for Error.
	FailOn diag.Severity
	// Tool is what writes the report; nil where nobody asks.
	Tool *Tool
}

// PlanName says which plan an input is about: its given name, else the first file that was read; empty where there is
// neither.
func (in *Input) PlanName() string {
	if in.Name != "" {
		return in.Name
	}
	if in.Plan != nil {
		for _, r := range in.Plan.Read {
			if r.Skipped == "" {
				return r.File
			}
		}
	}
	return ""
}

// Tool is what a format says about the program that wrote it.
type Tool struct {
	Version string
	// Codes has every kind of finding, sorted by id.
	Codes []*diag.Code
	// Page gives the Markdown page of a code, its title first.
	Page func(*diag.Code) string
}
