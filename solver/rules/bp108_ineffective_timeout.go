package rules

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// IneffectiveTimeout is raised for a limit that never acts.
var IneffectiveTimeout = &diag.Code{
	ID: "BP108", Name: "ineffective-timeout", Severity: diag.Warning,
	Summary: "a limit that never acts",
}

var ineffectiveTimeout = &Rule{Code: IneffectiveTimeout, Leg: (*Pass).ineffective}

func (p *Pass) ineffective(l solver.LegID) {
	leg, _, _, w := p.call(l)
	id, touched := p.Graph.LegName(l), p.Sol.Nodes[leg.From].Touched
	for _, d := range w.Dead() {
		if !deadLimit(d) {
			continue
		}
		f := IneffectiveTimeout.New(id, d.At, "`%s: %s` of `%s` never acts: %s", d.Key, d.Value, id, d.Reason)
		f.Cause, f.Touched, f.Detail = diag.At(d.At), touched, d.Key
		f.Help = fmt.Sprintf("remove `%s`, or change what switches it off", d.Key)
		p.Report(f)
	}
	if leg.Stream {
		return
	}
	all, n := limits(w)
	for i, lim := range all[:n] {
		if lim.key == "timeout" {
			continue
		}
		if first := sooner(all[:n], i); first.Set() {
			p.reportIneffective(l, lim, first)
		}
	}
}

// sooner is the limit that always ends an attempt no later than the i-th does, on a clock that starts no later.
func sooner(all []limit, i int) limit {
	var first limit
	for k, other := range all {
		wider := other.key == "timeout" || other.key == "per_try_timeout" && all[i].key == "read_timeout"
		if k != i && wider && other.V <= all[i].V && (!first.Set() || other.V < first.V) {
			first = other
		}
	}
	return first
}

func (p *Pass) reportIneffective(l solver.LegID, dead, first limit) {
	leg, t, _, w := p.call(l)
	id := p.Graph.LegName(l)
	f := IneffectiveTimeout.New(id, diag.Span{}, "the %s of `%s`, %s, never acts: its %s of %s ends first", dead.name, id, dead.V, first.name, first.V)
	if dead.V == first.V {
		f.Message = fmt.Sprintf("the %s of `%s` never acts: its %s is %s too", dead.name, id, first.name, first.V)
	}
	f.Cause, f.Touched, f.Detail = dead.From, p.Sol.Nodes[leg.From].Touched, dead.key
	f.Notes = []diag.Note{{Text: fmt.Sprintf("the %s of `%s`", first.name, id), At: first.From}}
	f.Help = fmt.Sprintf("give `%s` a %s below %s, or remove it", id, dead.name, first.V)
	if dead.key == "per_try_timeout" && leg.Attempts > 1 && leg.Attempts <= manyAttempts {
		if q := floor(first.V.Sub(1).Sub(t.BackoffSum).Div(leg.Attempts)); q > 0 {
			f.Help = fmt.Sprintf("give `%s` a per-try timeout of %s or less, so that its %s fit", id, q, attemptsText(leg.Attempts))
			f.Fixes = append(f.Fixes, p.limitFix(l, dead.key, w.PerTry, "most", q))
		}
	}
	if len(f.Fixes) == 0 && first.V > step {
		f.Fixes = append(f.Fixes, p.limitFix(l, dead.key, dead.Val, "most", floor(first.V.Sub(1))))
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f)
}

// deadLimit tells a dead time limit, which is BP108's, from any other dead value, which is BP209's.
func deadLimit(d model.Dead) bool {
	key := strings.ToLower(d.Key)
	return !strings.HasPrefix(key, "hedge") && (strings.Contains(key, "timeout") || strings.Contains(key, "deadline"))
}
