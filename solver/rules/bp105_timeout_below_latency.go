package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// TimeoutBelowLatency is raised for a call that is given up on a healthy day.
var TimeoutBelowLatency = &diag.Code{
	ID: "BP105", Name: "timeout-below-latency", Severity: diag.Warning,
	Summary: "a healthy callee takes longer than it is waited for",
}

var timeoutBelowLatency = &Rule{Code: TimeoutBelowLatency, Leg: func(p *Pass, l solver.LegID) {
	p.belowLatency(l)
	p.stopsItself(l)
}}

// stopsItself reports a callee whose own server timeout is below what it takes on a healthy day.
func (p *Pass) stopsItself(l solver.LegID) {
	leg, t, c, _ := p.call(l)
	if leg.Stream || !leg.Last {
		return
	}
	own := p.service(leg.To).ServerTimeout
	if !own.Set() || !own.V.Finite() || own.V >= t.Patience {
		return
	}
	at := p.percentile(l)
	latency, used, exact := c.Latency.Quantile(at)
	cut, _, known := c.Latency.Above(own.V)
	if !known || cut == 0 || cut < model.Whole-at || !latency.Set() || latency.V <= own.V {
		return
	}
	id, what := p.Graph.LegName(l), used.Percentile()+" latency"
	if exact {
		what = "latency"
	}
	name := p.nodeName(leg.To)
	f := TimeoutBelowLatency.New(id, diag.Span{}, "`%s` stops itself at its `server_timeout` of %s, its %s is %s: it trips on a healthy day",
		name, own.V, what, latency.V.Down())
	f.Cause, f.Touched, f.Detail = own.From, p.Sol.Nodes[leg.From].Touched, "server_timeout"
	f.Notes = []diag.Note{{Text: "the latency stands here", At: latency.From}}
	f.Help = fmt.Sprintf("give `%s` a `server_timeout` above %s, or make it faster", name, latency.V.Up())
	p.Report(f)
}

// belowLatency compares the patience with what is certain of the latency: a percentile above the one asked for
// proves nothing.
func (p *Pass) belowLatency(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if leg.Stream || !t.Patience.Finite() || !c.Latency.Set() {
		return
	}
	at := p.percentile(l)
	cut, most, known := c.Latency.Above(t.Patience)
	if !known || cut == 0 || cut < model.Whole-at {
		return
	}
	id, least := p.Graph.LegName(l), patience(w)
	latency, used, exact := c.Latency.Quantile(at)
	what := used.Percentile() + " latency"
	if exact {
		what = "latency"
	}
	if !latency.Set() || latency.V <= t.Patience {
		latency, what = lowest(c.Latency, t.Patience)
	}
	f := TimeoutBelowLatency.New(id, diag.Span{}, "`%s` waits %s, its %s is %s: it trips on a healthy day", id, t.Patience, what, latency.V.Down())
	f.Cause, f.Touched = least.From, p.Sol.Nodes[leg.From].Touched
	share := fmt.Sprintf("at least %s", cut)
	if cut == most {
		share = cut.String()
	} else if most < model.Whole {
		share = fmt.Sprintf("between %s and %s", cut, most)
	}
	f.Notes = []diag.Note{{Text: fmt.Sprintf("%s of the healthy attempts are cut", share), At: latency.From}}
	p.latencyHelp(&f, l, at)
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f, ref{code: ImpossibleCall, subject: id, restates: true})
}

// lowest is the lowest known percentile above a time, with its name.
func lowest(lat *model.Latency, than model.Duration) (model.Val[model.Duration], string) {
	for _, pts := range [][]model.Point{lat.Points, lat.Histogram} {
		for _, pt := range pts {
			if pt.V.V > than {
				return pt.V, pt.P.Percentile() + " latency"
			}
		}
	}
	return lat.Least(), "least latency"
}

// percentile is the one that sizes a call's timeout: the call's own, else the entrypoint's, else p99.
func (p *Pass) percentile(l solver.LegID) model.Fraction {
	_, _, c, _ := p.call(l)
	return c.Percentile().Or(p.target(l))
}

// target is the percentile that the entrypoint of a call asks for, else p99.
func (p *Pass) target(l solver.LegID) model.Fraction {
	leg, t, _, _ := p.call(l)
	r := t.BudgetBy
	if !t.Budget.Finite() || r < 0 || int(r) >= len(p.Graph.Roots) {
		r = p.Sol.Nodes[leg.From].AttemptsRoot
	}
	at := solver.DefaultPercentile
	if r >= 0 && int(r) < len(p.Graph.Roots) && p.Graph.Roots[r].Percentile > 0 {
		at = p.Graph.Roots[r].Percentile
	}
	return at
}

// latencyHelp adds the limit that a healthy callee keeps: its latency with headroom.
func (p *Pass) latencyHelp(f *diag.Finding, l solver.LegID, at model.Fraction) {
	_, _, c, _ := p.call(l)
	id := p.Graph.LegName(l)
	latency, _, exact := c.Latency.Quantile(at)
	if !latency.Set() {
		f.Help = fmt.Sprintf("wait longer on `%s`, or make `%s` faster", id, p.Plan.Services[c.To].Name)
		return
	}
	headroom := c.Headroom().Or(solver.DefaultHeadroom)
	least, why := ceil(latency.V.MulUp(model.Whole+headroom)), fmt.Sprintf("%s with %s headroom", latency.V.Down(), headroom)
	if exact {
		least, why = ceil(latency.V.Add(1)), fmt.Sprintf("above %s", latency.V.Down())
	}
	if fix, name, ok := p.raise(l, least); ok {
		f.Fixes = append(f.Fixes, fix)
		f.Help = fmt.Sprintf("give `%s` a %s of %s or more (%s)", id, name, least, why)
		return
	}
	f.Help = fmt.Sprintf("let every limit of `%s` be %s or more (%s)", id, least, why)
}
