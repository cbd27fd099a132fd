package rules

import (
	"fmt"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// InfeasibleSLO is raised for an entrypoint that needs more than its SLO.
var InfeasibleSLO = &diag.Code{
	ID: "BP106", Name: "infeasible-slo", Severity: diag.Error,
	Summary: "what the entrypoint needs exceeds its slo: raising a timeout will not help",
}

var infeasibleSLO = &Rule{Code: InfeasibleSLO, Run: func(p *Pass) {
	for r := range p.Graph.Roots {
		p.infeasible(int32(r))
	}
}}

func (p *Pass) infeasible(r int32) {
	root, t := &p.Graph.Roots[r], &p.Sol.Roots[r]
	if root.Entrypoint < 0 || !root.SLO.Finite() || !t.FeasibleKnown || t.Feasible {
		return
	}
	e := &p.Plan.Entrypoints[root.Entrypoint]
	least := ""
	if t.Need.Known == solver.Partial {
		least = "at least "
	}
	f := InfeasibleSLO.New(e.Name, diag.Span{}, "`%s` needs %s%s, its slo is %s: raising a timeout will not help",
		e.Name, least, t.Need.V, root.SLO)
	f.Cause, f.Touched = e.SLO.From, p.Sol.Nodes[root.Node].Touched
	f.Notes = append(f.Notes, p.needNotes(r)...)
	var fits []string
	for _, fix := range t.Fixes {
		if !fix.Feasible {
			continue
		}
		text, change := p.rootFix(r, fix)
		f.Fixes = append(f.Fixes, change)
		switch {
		case len(fits) < helpedBy:
			fits = append(fits, text)
		default:
			f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s would do: `%s` then needs %s", text, e.Name, fix.Need)})
		}
	}
	f.Help = p.infeasibleHelp(r, fits)
	p.Report(f)
}

// helpedBy is how many changes the help names; the others are notes.
const helpedBy = 3

func (p *Pass) infeasibleHelp(r int32, fits []string) string {
	t, name := &p.Sol.Roots[r], p.rootName(r)
	if len(fits) > 0 {
		return "any one of these makes it fit: " + either(fits)
	}
	for _, fix := range t.Fixes {
		text, _ := p.rootFix(r, fix)
		return fmt.Sprintf("no single change makes it fit; the best is %s, with which `%s` needs %s", text, name, fix.Need)
	}
	if t.Need.V.Finite() {
		return fmt.Sprintf("give `%s` an slo of %s or more, or let it do less", name, ceil(t.Need.V))
	}
	return fmt.Sprintf("let `%s` do less", name)
}

// needNotes walks down the calls that make up most of the need, a line a service.
func (p *Pass) needNotes(r int32) []diag.Note {
	root := &p.Graph.Roots[r]
	var notes []diag.Note
	if root.Overhead > 0 {
		e := &p.Plan.Entrypoints[root.Entrypoint]
		notes = append(notes, diag.Note{Text: fmt.Sprintf("%s of it are overhead", root.Overhead), At: e.Overhead.From})
	}
	n := root.Node
	for depth := 0; depth < maxParts; depth++ {
		l := p.neediest(n)
		if l < 0 {
			break
		}
		notes = append(notes, p.needNote(n, l))
		n = p.Graph.Legs[l].To
	}
	return notes
}

// neediest is the call of a node that needs most, -1 where nothing is known of any.
func (p *Pass) neediest(n solver.NodeID) solver.LegID {
	worst, most := solver.LegID(-1), model.Duration(0)
	for _, l := range p.body(n).legs() {
		if need := p.Sol.Legs[l].Need; need.Known != solver.Nothing && need.V > most {
			worst, most = l, need.V
		}
	}
	return worst
}

func (p *Pass) needNote(n solver.NodeID, l solver.LegID) diag.Note {
	leg, t, c, _ := p.call(l)
	text := fmt.Sprintf("`%s` needs %s", p.Graph.LegName(l), t.Need.V)
	if leg.Optional {
		return diag.Note{Text: text + ": it is optional, and counts with its limit", At: p.decider(l)}
	}
	if leg.Attempts > 1 && t.One.V.Add(leg.Network).Mul(leg.Attempts).Add(t.BackoffSum) == t.Need.V {
		text += fmt.Sprintf(": %s%s", times(leg.Attempts, "attempt", t.One.V.Add(leg.Network)), backoffText(t.BackoffSum))
	}
	at := &diag.Origin{Span: c.At}
	if leg.Last {
		latency, _, exact := c.Latency.Quantile(p.percentile(l))
		headroom := c.Headroom.Or(solver.DefaultHeadroom)
		switch {
		case !latency.Set():
		case exact && latency.V == t.One.V:
			at = latency.From
		case !exact && latency.V.MulUp(model.Whole+headroom) == t.One.V:
			text, at = text+fmt.Sprintf(" (%s with %s headroom)", latency.V, headroom), latency.From
		}
	}
	if s := p.service(n); s != nil {
		if local := p.Graph.Nodes[n].Local(); local > 0 {
			text += fmt.Sprintf(", after %s local work of `%s`", local, s.Name)
		}
	}
	return diag.Note{Text: text, At: at}
}

// rootFix words one change to an entrypoint that does not fit, and gives it as a value.
func (p *Pass) rootFix(r int32, x solver.RootFix) (text string, fix diag.Fix) {
	var id string
	if x.Kind == solver.FixRetry || x.Kind == solver.FixOptional || x.Kind == solver.FixParallel || x.Kind == solver.FixDrop {
		id = p.Graph.LegName(x.Leg)
	}
	switch x.Kind {
	case solver.FixMargin:
		s := p.service(x.Node)
		if s == nil {
			return "a smaller margin", diag.Fix{Key: "margin", Bound: "most", To: x.Margin.String()}
		}
		return fmt.Sprintf("a margin of %s or less for `%s`", x.Margin, s.Name), diag.Fix{
			Subject: s.Name, Key: "margin", At: s.Margin.Span(), From: p.Graph.Nodes[x.Node].Margin.String(), Bound: "most", To: x.Margin.String(),
		}
	case solver.FixMargins:
		return fmt.Sprintf("a margin of %s or less everywhere", x.Margin), diag.Fix{
			Subject: "defaults", Key: "margin", Bound: "most", To: x.Margin.String(),
		}
	case solver.FixRetry:
		return fmt.Sprintf("%s on `%s`", retriesText(x.Attempts), id), p.retriesFix(x.Leg, x.Attempts)
	case solver.FixOptional:
		return fmt.Sprintf("`%s` optional, with a timeout of %s or less", id, x.Time), p.callFix(x.Leg, "optional", "true")
	case solver.FixParallel:
		other := p.Graph.LegName(x.Other)
		return fmt.Sprintf("`%s` and `%s` in parallel", id, other), p.callFix(x.Leg, "parallel", other)
	case solver.FixDrop:
		return fmt.Sprintf("no `%s`, or a cache in its place", id), p.callFix(x.Leg, "call", "")
	case solver.FixLatency:
		name := p.nodeName(x.Node)
		fix = diag.Fix{Subject: name, Key: "latency", Bound: "most", To: x.Time.String()}
		if s := p.service(x.Node); s != nil {
			fix.At = s.At
		}
		return fmt.Sprintf("a latency of %s or less for `%s`", x.Time, name), fix
	}
	e := &p.Plan.Entrypoints[p.Graph.Roots[r].Entrypoint]
	return fmt.Sprintf("an slo of %s or more", x.Time), diag.Fix{
		Subject: e.Name, Key: "slo", At: e.SLO.Span(), From: e.SLO.V.String(), Bound: "least", To: x.Time.String(),
	}
}

func (p *Pass) callFix(l solver.LegID, key, to string) diag.Fix {
	_, _, c, _ := p.call(l)
	f := diag.Fix{Subject: p.Graph.LegName(l), Key: key, At: c.At, To: to}
	if key == "optional" {
		f.From = strconv.FormatBool(c.Optional.Or(false))
	}
	return f
}
