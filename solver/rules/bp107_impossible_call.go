package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// ImpossibleCall is raised for a call whose callee can never answer in time.
var ImpossibleCall = &diag.Code{
	ID: "BP107", Name: "impossible-call", Severity: diag.Error,
	Summary: "the callee cannot answer before its caller stops waiting: no attempt can succeed",
}

var impossibleCall = &Rule{Code: ImpossibleCall, Leg: (*Pass).impossible}

func (p *Pass) impossible(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if leg.Stream || !t.Patience.Finite() {
		return
	}
	takes := p.leastAttempt(l)
	if takes <= t.Patience {
		return
	}
	id, callee, least := p.Graph.LegName(l), p.nodeName(leg.To), patience(w)
	f := ImpossibleCall.New(id, diag.Span{}, "`%s` takes at least %s, `%s` waits %s: no attempt can succeed", callee, takes, p.nodeName(leg.From), t.Patience)
	f.Cause, f.Touched = least.From, p.Sol.Nodes[leg.From].Touched
	origin := c.Latency.Least().From
	if measured := c.Latency.Least(); measured.Set() && measured.V == takes {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("the latency of `%s` is never below %s", id, takes), At: origin})
	} else {
		var text string
		text, origin = p.leastText(leg.To, leg.Network)
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s is the least for `%s`: %s", takes, callee, text), At: origin})
	}
	if leg.Attempts > 1 {
		f.Notes = append(f.Notes, diag.Note{Text: onlyAddLoad(leg.Attempts), At: w.Attempts.From})
	}
	if fix, name, ok := p.raise(l, ceil(takes.Add(step))); ok {
		f.Fixes = append(f.Fixes, fix)
		f.Help = fmt.Sprintf("give `%s` a %s above %s (%s or more), or make `%s` faster", id, name, takes, fix.To, callee)
	} else {
		f.Help = fmt.Sprintf("let every limit of `%s` be above %s, or make `%s` faster", id, takes, callee)
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	capped(&f, least.From)
	p.Report(f)
}

// onlyAddLoad words what retries of a hopeless call do.
func onlyAddLoad(attempts int64) string {
	if attempts == 2 {
		return "its retry only adds load"
	}
	return fmt.Sprintf("its %s only add load", manyRetries(attempts))
}

// manyRetries counts the retries of n attempts.
func manyRetries(n int64) string {
	switch {
	case n == 2:
		return "1 retry"
	case n >= solver.MaxCount:
		return "unlimited retries"
	}
	return thousands(n-1) + " retries"
}

// leastAttempt is the least time of one attempt that succeeds, 0 where nothing is known of it.
func (p *Pass) leastAttempt(l solver.LegID) model.Duration {
	if p.least == nil {
		p.findLeast()
	}
	leg, _, c, _ := p.call(l)
	var takes model.Duration
	if leg.Last {
		takes = c.Latency.Least().Or(0)
	}
	// The latency of a leaf contains its work.
	if inner := p.least[leg.To]; inner > 0 && !(p.Graph.Nodes[leg.To].Leaf && leg.Last && c.Latency.Set()) {
		takes = max(takes, leg.Network.Add(inner))
	}
	return takes
}

// findLeast sums the least times of all nodes, callees first. A call that can never succeed counts with its
// patience: it is reported by itself, not once more at each caller above.
func (p *Pass) findLeast() {
	p.least = make([]model.Duration, len(p.Graph.Nodes))
	for i := len(p.Graph.Order) - 1; i >= 0; i-- {
		n := p.Graph.Order[i]
		p.least[n] = p.Graph.Nodes[n].Local().Add(p.leastOf(p.body(n)))
	}
}

func (p *Pass) leastLeg(l solver.LegID) model.Duration {
	leg, t, _, _ := p.call(l)
	if !leg.Awaited() || leg.Optional {
		return 0
	}
	return min(p.leastAttempt(l), t.Patience).Mul(leg.Repeat)
}

// leastOf composes the least time of a body: of alternatives the shortest, of what nobody ordered the longest.
func (p *Pass) leastOf(e element) model.Duration {
	if e.kind == model.One {
		return p.leastLeg(e.leg)
	}
	var total model.Duration
	for i, g := range e.of {
		v := p.leastOf(g)
		switch e.kind {
		case model.Sequence:
			total = total.Add(v)
		case model.Fallback, model.OneOf:
			if i == 0 || v < total {
				total = v
			}
		default:
			total = max(total, v)
		}
	}
	return total
}

// leastText says what makes up the least time of a node, and where its largest part is written.
func (p *Pass) leastText(n solver.NodeID, network model.Duration) (string, *diag.Origin) {
	inside := note(&p.about(n).least, func() diag.Note { return p.leastInside(n) })
	text := inside.Text
	if network > 0 {
		text = network.String() + " network + " + text
	}
	if text == "" {
		return "", inside.At
	}
	return text[:len(text)-len(" + ")], inside.At
}

func (p *Pass) leastInside(n solver.NodeID) diag.Note {
	var text string
	var at *diag.Origin
	local := p.Graph.Nodes[n].Local()
	if s := p.service(n); s != nil && local > 0 {
		at = s.Before.From
		if at == nil {
			at = s.After().From
		}
		text += local.String() + " local work + "
	}
	if calls := p.leastOf(p.body(n)); calls > 0 {
		text += calls.String() + " in its calls + "
		var most model.Duration
		p.body(n).legs(func(l solver.LegID) bool {
			_, _, c, _ := p.call(l)
			if v := p.leastLeg(l); v > most && v > local && c.Latency.Least().Set() {
				most, at = v, c.Latency.Least().From
			}
			return true
		})
	}
	return diag.Note{Text: text, At: at}
}
