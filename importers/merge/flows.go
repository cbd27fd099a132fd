package merge

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// buildFlows numbers the calls of the plan and puts each into the flow of its caller. A plan file's flow comes
// first; calls that only a config knows are added beside it, in the config's own kind.
func (m *merger) buildFlows() {
	m.call = make([]model.CallID, len(m.emit))
	next := model.CallID(0)
	for g := range m.emit {
		if m.emit[g] {
			m.call[g] = next
			next++
		}
	}
	for i, f := range m.fragments {
		for k := range f.Services {
			if s := &f.Services[k]; !s.Flow.Empty() && m.local[i][k] != nobody {
				m.addFlow(i, m.local[i][k], s)
			}
		}
	}
	m.addUnplaced()
}

func (m *merger) addFlow(fragment int, id model.ServiceID, s *model.Service) {
	dst := &m.plan.Services[id]
	flow := m.remap(m.offset[fragment], s.Flow)
	switch {
	case dst.Flow.Empty():
		dst.Flow, dst.CallsAt = flow, s.CallsAt
	case m.fragments[fragment].Structure:
		f := duplicate.New(dst.Name, s.CallsAt, "`calls` of `%s` is written twice, and the first is used", dst.Name)
		f.Detail = "calls"
		f.Notes = []diag.Note{{Text: fmt.Sprintf("the first `calls` of `%s`", dst.Name), At: originOf(dst.CallsAt)}}
		f.Help = "write the calls of a service in one file"
		m.findings = append(m.findings, f)
		dst.Flow = beside(dst.Flow, model.Flow{Kind: model.Unordered, Of: []model.Flow{flow}})
	default:
		dst.Flow = beside(dst.Flow, flow)
	}
}

// remap copies a flow with the ids of the plan, without what is joined to a call of another flow.
func (m *merger) remap(offset int32, f model.Flow) model.Flow {
	if f.Kind == model.One {
		return m.leaf(offset + int32(f.Call))
	}
	of := make([]model.Flow, 0, len(f.Of))
	for _, g := range f.Of {
		if h := m.remap(offset, g); h.Kind == model.One || !h.Empty() {
			of = append(of, h)
		}
	}
	f.Of = of
	return f
}

func (m *merger) leaf(g int32) model.Flow {
	switch routes := m.leaves[g]; {
	case len(routes) > 0:
		oneOf := model.Flow{Kind: model.OneOf}
		for _, r := range routes {
			m.placed[r] = true
			oneOf.Of = append(oneOf.Of, model.Flow{Kind: model.One, Call: m.call[r]})
		}
		return oneOf
	case m.emit[g] && !m.placed[g]:
		m.placed[g] = true
		return model.Flow{Kind: model.One, Call: m.call[g]}
	}
	return model.Flow{}
}

// beside adds a config's flow to what is known. Alternatives stay alternatives: a request that takes another route
// makes none of the calls that the plan lists.
func beside(known, said model.Flow) model.Flow {
	if said.Kind == model.One {
		said = model.Flow{Kind: model.Unordered, Of: []model.Flow{said}}
	}
	of := said.Of
	switch {
	case said.Empty():
		return known
	case known.Empty():
		return model.Flow{Kind: said.Kind, Of: of}
	case known.Kind == said.Kind:
		known.Of = append(known.Of, of...)
		return known
	}
	return model.Flow{Kind: said.Kind, Of: append([]model.Flow{known}, of...)}
}

// addUnplaced adds calls of sources that know no flow at all, such as metrics.
func (m *merger) addUnplaced() {
	extra := map[model.ServiceID][]model.Flow{}
	for g, emit := range m.emit {
		if emit && !m.placed[g] {
			one := model.Flow{Kind: model.One, Call: m.call[g]}
			extra[m.from[g]] = append(extra[m.from[g]], one)
		}
	}
	if len(extra) == 0 {
		return
	}
	for id := range m.plan.Services {
		if of := extra[model.ServiceID(id)]; of != nil {
			s := &m.plan.Services[id]
			s.Flow = beside(s.Flow, model.Flow{Kind: model.Unordered, Of: of})
		}
	}
}
