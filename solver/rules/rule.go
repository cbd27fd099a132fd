// Package rules judges a solved plan: one file a rule, each with a txtar beside it whose comment is the
// rule's page. Rules read the solution and compute no number of their own, but for the changes that end a
// finding, which are its arithmetic turned round.
package rules

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// Rule is one judgement: a code and what raises it. Leg looks at every leg, Node at every node, Root at every root; Run
// looks at the plan as a whole. All rules look at one leg before any looks at the next: on a large plan, fetching a leg
// takes longer than judging it.
type Rule struct {
	Code *diag.Code
	Leg  func(*Pass, solver.LegID)
	Node func(*Pass, solver.NodeID)
	Root func(*Pass, int32)
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

	// raised has what was reported: by earlier stages, by each rule, and of the ignores and the policy.
	raised [][]*raised
	// stage is the one of them that reports.
	stage int
	// spare is room for findings to come.
	spare []raised
	// allocation is how budgets were split; solved counts the calls of the plans that were solved anew.
	allocation string
	solved     int
	memo
}

// raised is a finding as it was reported.
type raised struct {
	diag.Finding
	// after has the findings that it follows from.
	after []ref
}

// newPass makes a pass that nothing was reported to.
func newPass(plan *model.Plan, g *solver.Graph, s *solver.Solution) *Pass {
	return &Pass{Plan: plan, Graph: g, Sol: s, raised: make([][]*raised, len(All)+2), allocation: plan.Policy.Allocation.Or("")}
}

// run lets every rule look at everything.
func (p *Pass) run() {
	for l := range p.Graph.Legs {
		for i, r := range All {
			if r.Leg != nil {
				p.stage = 1 + i
				r.Leg(p, solver.LegID(l))
			}
		}
	}
	for i, r := range All {
		p.stage = 1 + i
		if r.Node != nil {
			for n := range p.Graph.Nodes {
				r.Node(p, solver.NodeID(n))
			}
		}
		if r.Root != nil {
			for n := range p.Graph.Roots {
				r.Root(p, int32(n))
			}
		}
		if r.Run != nil {
			r.Run(p)
		}
	}
	p.stage = 1 + len(All)
}

// ref names a finding by its code and subject.
type ref struct {
	code    *diag.Code
	subject string
	// restates says that what follows only repeats it, and need not even be a note.
	restates bool
}

// several is for how many findings room is made at a time.
const several = 128

// Report adds a finding. Its severity is the code's where the rule has set none. One with the same subject as
// a finding that it follows from becomes a note there; `after` names further ones.
func (p *Pass) Report(f diag.Finding, after ...ref) {
	if f.Severity == diag.Off {
		f.Severity = f.Code.Severity
	}
	if len(p.spare) == 0 {
		p.spare = make([]raised, several)
	}
	r := &p.spare[0]
	p.spare = p.spare[1:]
	r.Finding, r.after = f, after
	p.raised[p.stage] = append(p.raised[p.stage], r)
}

// all gives what was reported, rule by rule.
func (p *Pass) all() []*raised { return slices.Concat(p.raised...) }

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
