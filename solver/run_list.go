package solver

import (
	"cmp"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// list writes out every invocation, where they are not too many, and finds how many overlap at each service.
func (r *runner) list(out *Run) {
	if r.total > MaxInvocations {
		return
	}
	out.Invocations = make([]Invocation, 0, r.total)
	r.expand(r.byClient, 0, out)
	slices.SortStableFunc(out.Invocations, func(a, b Invocation) int { return cmp.Compare(a.Start, b.Start) })
	most := overlaps(out.Invocations)
	for i := range out.Services {
		out.Services[i].Overlap = most[out.Services[i].Service]
	}
}

func (r *runner) expand(children []child, from model.Duration, out *Run) {
	for i := range children {
		c := &children[i]
		v := &r.visits[c.visit]
		start := from.Add(c.at)
		for range c.n {
			if r.g.Nodes[v.node].Waiter < 0 {
				inv := Invocation{
					Service: v.node, Leg: c.leg, Start: start, End: start.Add(v.lasts), GaveUp: model.NoLimit, Left: model.NoLimit, OK: v.ok,
				}
				if c.gaveUp {
					inv.GaveUp = start.Add(c.waited)
				}
				if v.orphan() > 0 {
					inv.Left = start.Add(v.patience)
				}
				out.Invocations = append(out.Invocations, inv)
			}
			r.expand(v.children, start, out)
		}
	}
}

// overlaps gives the largest number of each service's invocations at one moment. Who ends does not meet who starts then.
func overlaps(all []Invocation) map[NodeID]int64 {
	type edge struct {
		at      model.Duration
		step    int64
		service NodeID
	}
	edges := make([]edge, 0, 2*len(all))
	most, now := make(map[NodeID]int64), make(map[NodeID]int64)
	for i := range all {
		inv := &all[i]
		most[inv.Service] = 1
		if inv.End > inv.Start {
			edges = append(edges, edge{inv.Start, 1, inv.Service}, edge{inv.End, -1, inv.Service})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step)) })
	for _, e := range edges {
		now[e.service] += e.step
		most[e.service] = max(most[e.service], now[e.service])
	}
	return most
}
