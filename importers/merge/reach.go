package merge

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// checkReach finds services that a plan lists and no entrypoint reaches. A plan without entrypoints has none: each
// service that nobody calls is where requests come in. What only an unreached service calls is a note on that.
func (m *merger) checkReach() {
	if len(m.plan.Entrypoints) == 0 {
		return
	}
	w := m.newWalker()
	for _, e := range m.plan.Entrypoints {
		w.from(e.Call)
	}
	called := make([]bool, len(m.plan.Services))
	for i := range m.plan.Calls {
		if c := &m.plan.Calls[i]; !w.reached[c.From] && c.From != c.To {
			called[c.To] = true
		}
	}
	for _, top := range []bool{true, false} { // the second round is for circles, where everybody is called
		for i := range m.plan.Services {
			if id := model.ServiceID(i); !w.reached[i] && called[i] != top {
				m.reportUnreachable(id, w.from(id))
			}
		}
	}
}

func (m *merger) reportUnreachable(id model.ServiceID, through []model.ServiceID) {
	if !m.facts[id].planned {
		return
	}
	s := &m.plan.Services[id]
	f := unreachable.New(s.Name, s.At, "no entrypoint reaches `%s`", s.Name)
	f.Help = "call it from a service that is reached, give it an entrypoint of its own, or drop it"
	var listed []string
	for _, other := range through {
		if other != id && m.facts[other].planned {
			listed = append(listed, "`"+m.plan.Services[other].Name+"`")
		}
	}
	if len(listed) > 0 {
		f.Notes = []diag.Note{{Text: fmt.Sprintf("nor, through it, %s", strings.Join(listed, ", "))}}
	}
	m.findings = append(m.findings, f)
}

// walker goes along calls. A misspelt name leads to the service that is meant, and an operation to its service, so
// that neither makes findings of its own.
type walker struct {
	*merger
	at, byCaller []int32
	reached      []bool
	open         []model.ServiceID
}

func (m *merger) newWalker() *walker {
	from := make([]model.ServiceID, len(m.plan.Calls))
	for i := range from {
		from[i] = m.plan.Calls[i].From
	}
	w := &walker{merger: m, reached: make([]bool, len(m.plan.Services))}
	w.at, w.byCaller = bucket(from, len(m.plan.Services))
	return w
}

// from gives everything that a service reaches and that was not reached before, itself first.
func (w *walker) from(id model.ServiceID) (found []model.ServiceID) {
	w.visit(id)
	for len(w.open) > 0 {
		id := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		found = append(found, id)
		for _, c := range w.byCaller[w.at[id]:w.at[id+1]] {
			w.visit(w.plan.Calls[c].To)
		}
		if meant, misspelt := w.near[id]; misspelt {
			w.visit(meant)
		}
		for base := w.facts[id].base; base >= 0 && !w.reached[base]; base = w.facts[base].base {
			w.reached[base] = true
		}
	}
	return found
}

func (w *walker) visit(id model.ServiceID) {
	if !w.reached[id] {
		w.reached[id] = true
		w.open = append(w.open, id)
	}
}
