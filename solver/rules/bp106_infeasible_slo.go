package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// InfeasibleSLO is raised for an entrypoint that needs more than its SLO.
var InfeasibleSLO = &diag.Code{
	ID: "BP106", Name: "infeasible-slo", Severity: diag.Error,
	Summary: "what the entrypoint needs exceeds its slo: raising a timeout will not help",
}

var infeasibleSLO = &Rule{Code: InfeasibleSLO, Root: (*Pass).infeasible}

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
		e.Name, least, ages(t.Need.V.Up()), root.SLO)
	f.Cause, f.Touched = e.SLO.From, p.Sol.Nodes[root.Node].Touched
	f.Notes = append(f.Notes, p.needNotes(r)...)
	var fits, pairs []string
	kinds := make(map[solver.FixKind]bool)
	for _, fix := range t.Fixes {
		if !fix.Feasible {
			continue
		}
		if fix.With != nil {
			pairs = append(pairs, p.pairText(r, fix))
			continue
		}
		text, change := p.rootFix(r, fix)
		f.Fixes = append(f.Fixes, change)
		if !kinds[fix.Kind] {
			kinds[fix.Kind] = true
			fits = append(fits, text)
			continue
		}
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s is enough too: `%s` then needs %s", text, e.Name, fix.Need.Up())})
	}
	f.Help = p.infeasibleHelp(r, fits, pairs)
	p.Report(f)
}

func (p *Pass) infeasibleHelp(r int32, fits, pairs []string) string {
	t, name := &p.Sol.Roots[r], p.rootName(r)
	if len(fits) > 0 {
		help := "any one of these makes it fit: " + either(fits)
		if len(pairs) > 0 {
			help += "; or two together: " + pairs[0]
		}
		return help
	}
	for _, fix := range t.Fixes {
		text, _ := p.rootFix(r, fix)
		return fmt.Sprintf("no single change makes it fit; the best is %s, with which `%s` needs %s", text, name, fix.Need.Up())
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
	if s := p.service(n); s != nil {
		if text := p.needText(n, p.Sol.Nodes[n].Need); text != "" {
			notes = append(notes, diag.Note{Text: fmt.Sprintf("`%s` needs %s", s.Name, text), At: diag.At(s.At)})
		}
	}
	for depth := 0; depth < maxParts; depth++ {
		l := p.neediest(n)
		if l < 0 {
			break
		}
		notes = append(notes, p.needNote(l))
		n = p.Graph.Legs[l].To
	}
	return notes
}

// needText splits the need of a service into its own work and its calls with their margin, "" for one without calls.
func (p *Pass) needText(n solver.NodeID, need solver.Need) string {
	node := &p.Graph.Nodes[n]
	local := node.Local()
	if node.Leaf || need.Known == solver.Nothing || !need.V.Finite() || need.V < local {
		return ""
	}
	total := need.V.Up()
	text := fmt.Sprintf("%s: ", total)
	if local > 0 {
		text += fmt.Sprintf("%s local work + ", local)
	}
	text += fmt.Sprintf("%s for its calls", total-local)
	if node.Margin != (model.Margin{}) {
		text += fmt.Sprintf(" with %s margin", node.Margin)
	}
	return text
}

// neediest is the call of a node that needs most, -1 where nothing is known of any.
func (p *Pass) neediest(n solver.NodeID) solver.LegID {
	at := &p.about(n).neediest
	if *at == nil {
		worst, most := solver.LegID(-1), model.Duration(0)
		p.body(n).legs(func(l solver.LegID) bool {
			if need := p.Sol.Legs[l].Need; need.Known != solver.Nothing && need.V > most {
				worst, most = l, need.V
			}
			return true
		})
		*at = &worst
	}
	return **at
}

func (p *Pass) needNote(l solver.LegID) diag.Note {
	leg, t, c, _ := p.call(l)
	id := p.Graph.LegName(l)
	text := fmt.Sprintf("`%s` needs %s", id, t.Need.V.Up())
	if leg.Optional {
		return diag.Note{Text: text + ": it is optional, and counts with its limit", At: p.decider(l)}
	}
	one := t.One.V.Add(leg.Network)
	if leg.Attempts > 1 && one.Mul(leg.Attempts).Add(t.BackoffSum) == t.Need.V {
		text += fmt.Sprintf(": %s%s", times(leg.Attempts, "attempt", one), backoffText(t.BackoffSum))
	}
	latency, _, exact := c.Latency.Quantile(p.percentile(l))
	headroom := c.Headroom().Or(solver.DefaultHeadroom)
	measured := leg.Last && latency.Set()
	switch {
	case measured && (exact || headroom == 0) && latency.V == t.One.V:
		return diag.Note{Text: text, At: latency.From}
	case measured && !exact && latency.V.MulUp(model.Whole+headroom) == t.One.V:
		return diag.Note{Text: fmt.Sprintf("%s, one is %s with %s headroom", text, latency.V.Down(), headroom), At: latency.From}
	}
	at := diag.At(c.At)
	parts := p.needText(leg.To, t.One)
	switch {
	case parts == "":
	case one == t.Need.V && leg.Network == 0:
		text = fmt.Sprintf("`%s` needs %s", id, parts)
	default:
		text += fmt.Sprintf("; `%s` needs %s", p.nodeName(leg.To), parts)
	}
	return diag.Note{Text: text, At: at}
}

// rootFix words one change to an entrypoint that does not fit, and gives it as values: those that belong together in one.
func (p *Pass) rootFix(r int32, x solver.RootFix) (text string, fix diag.Fix) {
	settings := p.Graph.Settings(r, &x)
	fix, fix.With = settings[0], settings[1:]
	switch x.Kind {
	case solver.FixMargin:
		text = fmt.Sprintf("a margin of %s or less for `%s`", x.Margin, fix.Subject)
	case solver.FixMargins:
		text = fmt.Sprintf("a margin of %s or less everywhere", x.Margin)
	case solver.FixRetry:
		text = fmt.Sprintf("%s on `%s`", retriesText(x.Attempts), fix.Subject)
	case solver.FixOptional:
		text = fmt.Sprintf("a timeout of %s or less on `%s`", x.Time.Down(), fix.Subject)
		if fix.Key == "optional" {
			text = fmt.Sprintf("`%s` optional with a timeout of %s or less", fix.Subject, x.Time.Down())
		}
	case solver.FixParallel:
		text = fmt.Sprintf("`%s` and `%s` in parallel", fix.Subject, fix.To)
	case solver.FixDrop:
		text = fmt.Sprintf("`%s` dropped or cached", fix.Subject)
	case solver.FixLatency:
		var names []string // where it is written
		for _, set := range settings {
			names = append(names, "`"+set.Subject+"`")
		}
		text = fmt.Sprintf("a latency of %s or less for %s", x.Time.Down(), sentence(names, "and"))
	case solver.FixSLO:
		text = fmt.Sprintf("an slo of %s or more", x.Time.Up())
	}
	return text, fix
}

// pairText words two changes made together.
func (p *Pass) pairText(r int32, x solver.RootFix) string {
	first := x
	first.With = nil
	a, _ := p.rootFix(r, first)
	b, _ := p.rootFix(r, *x.With)
	return a + " with " + b
}
