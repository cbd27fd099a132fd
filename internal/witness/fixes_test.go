package witness_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// Every change that is offered to an entrypoint which does not fit, and every pair of them, is made in the plan itself: what
// the plan then needs is what was claimed, to the nanosecond, and a change that is a little less strict does not fit.
func TestFixes(t *testing.T) {
	tried := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := witness.Plans().Draw(t, "plan")
		shareLatencies(t, p)
		tighten(t, p)
		g, sol := solveFixes(p)
		for r := range p.Entrypoints {
			if !p.Entrypoints[r].SLO.Set() || sol.Roots[r].Feasible {
				continue
			}
			f := fixing{plan: p, g: g, root: r}
			for i := range sol.Roots[r].Fixes {
				x := &sol.Roots[r].Fixes[i]
				tried[f.describe(x)]++
				f.claim(t, x)
				f.tight(t, x)
			}
			f.latencies(t, sol.Roots[r].Fixes)
		}
	})
	t.Log(tried)
}

func solveFixes(p *model.Plan) (*solver.Graph, *solver.Solution) {
	g, _ := solver.Compile(p)
	return g, solver.Solve(g, solver.Options{Fixes: true})
}

// shareLatencies gives every latency a place of its own, and lets calls of one service take theirs, or a part of it, from
// one place.
func shareLatencies(t *rapid.T, p *model.Plan) {
	line := int32(100)
	first := map[model.ServiceID]*model.Latency{}
	for i := range p.Calls {
		c := &p.Calls[i]
		of := c.Latency.Get()
		each(&of, func(v *model.Val[model.Duration]) {
			line++
			*v = model.At(v.V, diag.Span{File: "plan.yaml", Line: line, Col: 1})
		})
		own, common := &of, first[c.To]
		if !of.Set() {
			own = nil
		}
		switch share := rapid.IntRange(0, 4).Draw(t, "shares its latency"); {
		case common == nil:
			first[c.To] = own
		case share > 1:
			own = common
		case share == 1 && own != nil && !common.Exact.Set():
			part := *common
			part.Points = own.Points
			own = &part
		}
		c.Latency = own
	}
	for s, l := range first {
		p.Services[s].Latency = l
	}
}

// each visits the values of a latency, of which it makes copies.
func each(l *model.Latency, visit func(*model.Val[model.Duration])) {
	for _, v := range []*model.Val[model.Duration]{&l.Exact, &l.Min, &l.Max} {
		if v.Set() {
			visit(v)
		}
	}
	l.Points, l.Histogram = slices.Clone(l.Points), slices.Clone(l.Histogram)
	for _, points := range [][]model.Point{l.Points, l.Histogram} {
		for i := range points {
			visit(&points[i].V)
		}
	}
}

// tighten gives most entrypoints an SLO below what they need.
func tighten(t *rapid.T, p *model.Plan) {
	_, sol := solveFixes(p)
	for r := range p.Entrypoints {
		need := sol.Roots[r].Need.V
		if share := rapid.IntRange(10, 110).Draw(t, "slo of need"); need.Finite() && need > 0 {
			p.Entrypoints[r].SLO = model.At(max(1, need.MulDown(model.Fraction(share)*10_000)), diag.Span{File: "plan.yaml", Line: 2})
		}
	}
}

// fixing makes changes in copies of a plan.
type fixing struct {
	plan *model.Plan
	g    *solver.Graph
	root int
}

// need makes changes, and gives what the plan says of its entrypoint then.
func (f *fixing) need(changes ...*solver.RootFix) *solver.RootTimes {
	p := *f.plan
	p.Calls, p.Services, p.Entrypoints = slices.Clone(p.Calls), slices.Clone(p.Services), slices.Clone(p.Entrypoints)
	for i := range p.Calls {
		p.Calls[i].Waiters = slices.Clone(p.Calls[i].Waiters)
	}
	for _, x := range changes {
		f.apply(&p, x)
	}
	g, _ := solver.Compile(&p)
	sol := solver.Solve(g, solver.Options{})
	return &sol.Roots[f.root]
}

func (f *fixing) apply(p *model.Plan, x *solver.RootFix) {
	at := diag.Span{File: "plan.yaml", Line: 1 << 20}
	call := func(l solver.LegID) model.CallID { return f.g.Legs[l].Call }
	switch x.Kind {
	case solver.FixMargin:
		p.Services[f.g.Nodes[x.Node].Service].Margin = model.At(model.Margin{Share: x.Margin}, at)
	case solver.FixMargins:
		for i := range p.Services {
			p.Services[i].Margin = model.At(model.Margin{Share: x.Margin}, at)
		}
	case solver.FixRetry:
		p.Calls[call(x.Leg)].Waiters[f.g.Legs[x.Leg].Waiter].Attempts = model.At(int32(x.Attempts), at)
	case solver.FixOptional:
		c := &p.Calls[call(x.Leg)]
		c.Optional, c.Waiters[0].Timeout = model.At(true, at), model.At(x.Time, at)
	case solver.FixParallel:
		s := &p.Services[p.Calls[call(x.Leg)].From]
		s.Flow = beside(flat(s.Flow, -1), call(x.Leg), call(x.Other))
	case solver.FixDrop:
		s := &p.Services[p.Calls[call(x.Leg)].From]
		s.Flow = flat(s.Flow, call(x.Leg))
	case solver.FixLatency:
		f.setLatency(p, x.Leg, x.Time)
	case solver.FixSLO:
		p.Entrypoints[f.root].SLO = model.At(x.Time, at)
	}
}

// setLatency writes a time where the latency of a leg stands, for all calls of the callee that take it from there.
func (f *fixing) setLatency(p *model.Plan, leg solver.LegID, d model.Duration) {
	at := f.latencyAt(leg)
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Latency == nil || c.To != p.Calls[f.g.Legs[leg].Call].To {
			continue
		}
		l := *c.Latency
		each(&l, func(v *model.Val[model.Duration]) {
			if v.Span() == at {
				v.V = d
			}
		})
		c.Latency = &l
	}
}

func (f *fixing) latencyAt(leg solver.LegID) diag.Span {
	c, _ := f.g.CallOf(leg)
	d, _, _ := c.Latency.Quantile(c.Percentile().Or(f.g.Roots[f.root].Percentile))
	return d.Span()
}

// flat writes groups in groups of their kind and groups of one out, and leaves a call out.
func flat(f model.Flow, without model.CallID) model.Flow {
	if f.Kind == model.One {
		return f
	}
	var of []model.Flow
	for _, e := range f.Of {
		switch e = flat(e, without); {
		case e.Kind == f.Kind:
			of = append(of, e.Of...)
		case e.Kind == model.One && e.Call != without || len(e.Of) > 0:
			of = append(of, e)
		}
	}
	if len(of) == 1 {
		return of[0]
	}
	return model.Flow{Kind: f.Kind, Of: of}
}

// beside makes two neighbours of a sequence parallel.
func beside(f model.Flow, a, b model.CallID) model.Flow {
	out := model.Flow{Kind: f.Kind, Call: f.Call}
	for i := 0; i < len(f.Of); i++ {
		e := f.Of[i]
		if f.Kind == model.Sequence && e.Kind == model.One && e.Call == a && i+1 < len(f.Of) && f.Of[i+1].Kind == model.One && f.Of[i+1].Call == b {
			e = model.Flow{Kind: model.Parallel, Of: []model.Flow{e, f.Of[i+1]}}
			i++
		} else {
			e = beside(e, a, b)
		}
		out.Of = append(out.Of, e)
	}
	return out
}

// parts are the changes of a pair, or the one of a single.
func parts(x *solver.RootFix) []*solver.RootFix {
	if x.With == nil {
		return []*solver.RootFix{x}
	}
	return []*solver.RootFix{x, x.With}
}

func (f *fixing) claim(t *rapid.T, x *solver.RootFix) {
	got := f.need(parts(x)...)
	if got.Need.V != x.Need || got.Feasible != x.Feasible {
		t.Fatalf("%s: claimed to need %s (fits: %t), the plan then needs %s (%t) of %s\n%s", f.describe(x), x.Need, x.Feasible,
			got.Need.V, got.Feasible, f.plan.Entrypoints[f.root].SLO.V, witness.Describe(f.plan))
	}
}

// tight looks that the last change of a pair, or the single one, cannot be smaller.
func (f *fixing) tight(t *rapid.T, x *solver.RootFix) {
	if !x.Feasible {
		return
	}
	changes := parts(x)
	less := *changes[len(changes)-1]
	switch less.Kind {
	case solver.FixMargin, solver.FixMargins:
		less.Margin++
	case solver.FixRetry:
		less.Attempts++
	case solver.FixOptional, solver.FixLatency:
		less.Time++
	case solver.FixSLO:
		less.Time--
	default:
		return
	}
	changes[len(changes)-1] = &less
	if got := f.need(changes...); got.Feasible {
		t.Fatalf("%s: one unit less fits too, needing %s of %s\n%s", f.describe(x), got.Need.V, f.plan.Entrypoints[f.root].SLO.V, witness.Describe(f.plan))
	}
}

// latencies looks that there is a target for each written latency that could be short enough, and only one.
func (f *fixing) latencies(t *rapid.T, fixes []solver.RootFix) {
	type value struct {
		to solver.NodeID
		at diag.Span
	}
	offered := map[value]int{}
	for i := range fixes {
		if x := &fixes[i]; x.Kind == solver.FixLatency && x.With == nil {
			offered[value{f.g.Legs[x.Leg].To, f.latencyAt(x.Leg)}]++
		}
	}
	for l := range f.g.Legs {
		leg := solver.LegID(l)
		at := f.latencyAt(leg)
		if !f.g.Legs[l].Last || at.Line == 0 {
			continue
		}
		n := offered[value{f.g.Legs[l].To, at}]
		fits := f.need(&solver.RootFix{Kind: solver.FixLatency, Leg: leg, Time: 1}).Feasible
		if n > 1 || fits != (n == 1) {
			t.Fatalf("latency of %s: %d targets, could fit: %t\n%s", f.g.LegName(leg), n, fits, witness.Describe(f.plan))
		}
	}
}

var fixNames = [...]string{"margin", "margins", "retry", "optional", "parallel", "drop", "latency", "slo"}

func (f *fixing) describe(x *solver.RootFix) string {
	name := fixNames[x.Kind]
	if x.With != nil {
		return fmt.Sprintf("%s with %s", name, fixNames[x.With.Kind])
	}
	return name
}
