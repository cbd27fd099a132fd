// Package rules judges a solved plan: one file a rule, each with a txtar beside it whose comment is the
// rule's page. Rules read the solution and compute no number of their own, but for the changes that end a
// finding, which are its arithmetic turned round.
package rules

import (
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// Rule is one judgement: a code and the function that raises it.
type Rule struct {
	Code *diag.Code
	Run  func(*Pass)
	// Default words the one finding for everything that a platform's default causes, n subjects of it. Nil: the
	// worst subject's message stands, behind the default's name.
	Default func(d *diag.Default, n int) string
}

// Pass is what a rule sees, and where it reports.
type Pass struct {
	Plan  *model.Plan
	Graph *solver.Graph
	Sol   *solver.Solution

	findings []diag.Finding
	// after has, for each finding, the findings that it follows from when they were reported.
	after [][]ref
	// uses counts the calls that take a value, by its place; made on first use.
	uses map[diag.Span]int
	// roots has the roots of every first service; made on first use.
	roots map[solver.NodeID][]int32
	// names has every leg by its name; made on first use.
	names map[string]solver.LegID
	// least has the least time of every node; made on first use.
	least []model.Duration
}

// ref names a finding by its code and subject.
type ref struct {
	code    *diag.Code
	subject string
	// restates says that what follows only repeats it, and need not even be a note.
	restates bool
}

// Report adds a finding. Its severity is the code's where the rule has set none. One with the same subject as
// a finding that it follows from becomes a note there; `after` names further ones.
func (p *Pass) Report(f diag.Finding, after ...ref) {
	if f.Severity == diag.Off {
		f.Severity = f.Code.Severity
	}
	p.findings = append(p.findings, f)
	p.after = append(p.after, after)
}

// capped lowers an error to a warning when every limit that the finding compares comes from a platform's
// default, nobody having written any of them.
func capped(f *diag.Finding, limits ...*diag.Origin) {
	defaults := 0
	for _, o := range limits {
		if o.Written() {
			return
		}
		if o != nil {
			defaults++
		}
	}
	if defaults > 0 {
		if f.Severity == diag.Off {
			f.Severity = f.Code.Severity
		}
		f.Severity = min(f.Severity, diag.Warning)
	}
}
