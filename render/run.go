package render

import (
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Run is what becomes of one request when one service is slow, fails or hangs: as the plan has it, and with deadline
// and cancellation carried by every call and obeyed by every callee.
type Run struct {
	*Input
	// Root is the index of the entrypoint, or of the service that nobody calls, in Graph.Roots.
	Root           int
	Scenario       solver.Scenario
	AsIs, Enforced *solver.Run
}

// Entrypoint is the name of the root.
func (r *Run) Entrypoint() string {
	root := &r.Graph.Roots[r.Root]
	if root.Entrypoint >= 0 {
		return r.Plan.Entrypoints[root.Entrypoint].Name
	}
	return r.ServiceName(root.Node)
}

// ServiceName is the name of a service of the run.
func (r *Run) ServiceName(n solver.NodeID) string { return r.Plan.Services[n].Name }

// Fate says what becomes of the service, to follow its name.
func (r *Run) Fate() string {
	switch sc := r.Scenario; {
	case !sc.Takes.Finite():
		return "hangs"
	case sc.Fails && sc.Takes == 0:
		return "fails at once"
	case sc.Fails:
		return "fails after " + sc.Takes.String()
	default:
		return "takes " + sc.Takes.String()
	}
}

// Outcome says what the client sees, to follow its name.
func (r *Run) Outcome(run *solver.Run) string {
	root := &r.Graph.Roots[r.Root]
	switch {
	case run.Answer == model.NoLimit:
		return "never gets an answer"
	case !run.Answer.Finite():
		return "gets no answer, and nobody says when it gives up"
	case run.Answered:
		return "is answered " + after(run.Answer)
	case run.Answer == root.Timeout:
		return "gives up after " + Brief(run.Answer, true)
	}
	return "gets an error " + after(run.Answer)
}

func after(d model.Duration) string {
	if d == 0 {
		return "at once"
	}
	return "after " + Brief(d, true)
}

// Spent is what a run costs at a service, zero where it never gets there.
func (r *Run) Spent(run *solver.Run, n solver.NodeID) solver.Spent {
	for _, s := range run.Services {
		if s.Service == n {
			return s
		}
	}
	return solver.Spent{Service: n}
}

// Orphaned is the work after a caller gave up, over all services.
func Orphaned(run *solver.Run) (sum model.Duration) {
	for _, s := range run.Services {
		sum = sum.Add(s.Orphan)
	}
	return sum
}

// Sentence says what happens as the plan has it.
func (r *Run) Sentence() string {
	target := ""
	if slo := r.Graph.Roots[r.Root].SLO; r.AsIs.Answer > slo {
		target = fmt.Sprintf(" (SLO %s)", slo)
	}
	return fmt.Sprintf("`%s` %s: `%s` %s%s, %s", r.ServiceName(r.Scenario.Service), r.Fate(), r.Entrypoint(), r.Outcome(r.AsIs), target, r.cost(r.AsIs))
}

// Same reports whether enforcing every deadline changes nothing.
func (r *Run) Same() bool {
	a, b := r.AsIs, r.Enforced
	return a.Answer == b.Answer && a.Answered == b.Answered && a.Ends == b.Ends && slices.Equal(a.Services, b.Services)
}

// Remedy says what enforcing every deadline would make of that.
func (r *Run) Remedy() string {
	if r.Same() {
		return "enforcing every deadline changes nothing"
	}
	return fmt.Sprintf("with every deadline enforced it %s, %s", r.Outcome(r.Enforced), r.cost(r.Enforced))
}

// SumText writes a time that was summed over a run. Where the run ends, one without a bound is only longer than is counted.
func SumText(run *solver.Run, sum model.Duration) string {
	if sum == model.NoLimit && run.Ends.Finite() {
		return "at least 292 years"
	}
	return Brief(sum, true)
}

// cost says how often the service is asked, and what work is left when callers are gone.
func (r *Run) cost(run *solver.Run) string {
	text := fmt.Sprintf("`%s` is asked %s, ", r.ServiceName(r.Scenario.Service), timesText(r.Spent(run, r.Scenario.Service).Starts))
	switch orphaned := Orphaned(run); {
	case orphaned == 0:
		return text + "no work is orphaned"
	case !run.Ends.Finite() && !orphaned.Finite():
		return text + "nothing ends the orphaned work"
	default:
		return text + fmt.Sprintf("%s of work are orphaned, the last work ends at %s", SumText(run, orphaned), Brief(run.Ends, true))
	}
}

func timesText(n int64) string {
	switch {
	case n == 0:
		return "never"
	case n == 1:
		return "once"
	}
	return solver.CountText(n) + " times"
}
