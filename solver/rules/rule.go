// Package rules judges a solved plan: one file a rule, each with a txtar beside it whose comment is the
// rule's page. Rules read the solution and compute no number of their own.
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
}

// Pass is what a rule sees, and where it reports.
type Pass struct {
	Plan  *model.Plan
	Graph *solver.Graph
	Sol   *solver.Solution

	findings []diag.Finding
}

// Report adds a finding. Its severity is the code's where the rule has set none.
func (p *Pass) Report(f diag.Finding) {
	if f.Severity == diag.Off {
		f.Severity = f.Code.Severity
	}
	p.findings = append(p.findings, f)
}
