package merge

import "github.com/budgetplan/budgetplan/model"

// checkReach finds services that a plan lists and no entrypoint reaches. A plan without entrypoints has none: each
// service that nobody calls is where requests come in.
func (m *merger) checkReach() {
	if len(m.plan.Entrypoints) == 0 {
		return
	}
	reached := m.reached()
	for i := range m.plan.Services {
		s := &m.plan.Services[i]
		if reached[i] || !m.facts[i].planned {
			continue
		}
		f := unreachable.New(s.Name, s.At, "no entrypoint reaches `%s`", s.Name)
		f.Help = "call it from a service that is reached, give it an entrypoint of its own, or drop it"
		m.findings = append(m.findings, f)
	}
}

// reached marks what the entrypoints reach, and the services whose operations they reach.
func (m *merger) reached() []bool {
	calls := m.plan.Calls
	from := make([]model.ServiceID, len(calls))
	for i := range calls {
		from[i] = calls[i].From
	}
	at, byCaller := bucket(from, len(m.plan.Services))
	reached := make([]bool, len(m.plan.Services))
	var open []model.ServiceID
	visit := func(id model.ServiceID) {
		if !reached[id] {
			reached[id] = true
			open = append(open, id)
		}
	}
	for _, e := range m.plan.Entrypoints {
		visit(e.Call)
	}
	for len(open) > 0 {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for _, c := range byCaller[at[id]:at[id+1]] {
			visit(calls[c].To)
		}
		for base := m.facts[id].base; base >= 0 && !reached[base]; base = m.facts[base].base {
			reached[base] = true
		}
	}
	return reached
}
