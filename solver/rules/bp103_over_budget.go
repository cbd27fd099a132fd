package rules

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// OverBudget is raised for a service whose calls may take more than it has.
var OverBudget = &diag.Code{
	ID: "BP103", Name: "over-budget", Severity: diag.Error,
	Summary: "the calls of a service may take more than the service has",
}

var overBudget = &Rule{Code: OverBudget, Node: (*Pass).overBudget}

// overBudget compares the longest that a service may take with what really ends it, then with what it is given,
// then with that less its margin. An inner waiter has no time of its own: its call is compared by BP101.
func (p *Pass) overBudget(n solver.NodeID) {
	if f, limit, ok := p.over(n); ok {
		p.reportOver(f, n, limit)
	}
}

// over is the finding for a node with the limit that its calls exceed; ok is false without one.
func (p *Pass) over(n solver.NodeID) (f diag.Finding, limit model.Duration, ok bool) {
	node, t := &p.Graph.Nodes[n], &p.Sol.Nodes[n]
	s := p.service(n)
	if s == nil || node.Leaf || t.Flow == model.Unknown {
		return f, 0, false
	}
	local := node.Queue.Add(node.Local())
	calls := t.Flow.Sub(local)
	if calls == 0 {
		return f, 0, false
	}
	name, stop := s.Name, node.Limit
	switch given := min(t.Received, stop); {
	case stop.Finite() && t.Flow >= stop:
		f = OverBudget.New(name, diag.Span{}, "the calls of `%s` may take %s, its `server_timeout` of %s leaves them %s",
			name, words(calls), stop, max(0, stop.Sub(local)))
		if t.Flow == stop {
			f.Message = fmt.Sprintf("the calls of `%s` may take all of its `server_timeout` of %s: nothing remains to answer with", name, stop)
		}
		f.Cause = s.ServerTimeout.From
		f.Notes = append(f.Notes, p.flowNote(n))
		capped(&f, append(p.deciders(n), s.ServerTimeout.From)...)
		return f, stop, true
	case !given.Finite() || given <= local:
		// Nobody gives anything, or there is nothing to give: BP113.
	case t.Received.Finite() && t.Flow > t.Received:
		f = found(OverBudget, name, say("the calls of `%s` may take %s, it received %s", name, words(calls), p.spell(t.Received.Down())))
		if local > 0 {
			f.Message += say(" and works %s itself", p.spell(local))
		}
		f.Severity = diag.Warning
		f.Notes = append(f.Notes, p.flowNote(n), p.receivedNote(n))
		return f, given, true
	case calls > node.Margin.Keep(given.Sub(local)):
		keep := node.Margin.Keep(given.Sub(local))
		f = found(OverBudget, name, say("the calls of `%s` may take %s, into its margin: %s of its %s are for them",
			name, p.spell(calls), p.spell(keep.Down()), p.spell(given.Down())))
		f.Severity = diag.Warning
		f.Notes = append(f.Notes, p.flowNote(n), diag.Note{
			Text: fmt.Sprintf("%s is what they may take: %s", keep.Down(), p.within(n, given, given.Down()).why), At: s.Margin.From,
		})
		return f, given, true
	}
	return f, 0, false
}

// words prints a bound in a sentence.
func words(d model.Duration) string {
	if d == model.NoLimit {
		return "without end"
	}
	return d.String()
}

func (p *Pass) reportOver(f diag.Finding, n solver.NodeID, limit model.Duration) {
	s, t := p.service(n), &p.Sol.Nodes[n]
	if f.Cause == nil {
		f.Cause = diag.At(s.At)
	}
	f.Touched = t.Touched
	// What ends it is within all that limits the service, not only within what its severity rests on.
	if given := t.Received; given.Finite() && given > p.Graph.Nodes[n].Queue.Add(p.Graph.Nodes[n].Local()) {
		limit = min(limit, given)
	}
	var shrinks bool
	f.Fixes, f.Help, shrinks = p.fitIn(n, limit)
	switch {
	case f.Help != "":
	case shrinks:
		f.Help = fmt.Sprintf("no limit of a single call of `%s` makes the difference: what `%s` receives shrinks with what it needs; give it more time, or let it do less", s.Name, s.Name)
	default:
		f.Help = fmt.Sprintf("no single call of `%s` makes the difference: shorten several, make some optional or parallel, or give `%s` more time", s.Name, s.Name)
	}
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	after := p.unboundedBy(t.Flow, n)
	if f.Severity == diag.Warning {
		for _, in := range p.Graph.In(n) {
			id, same := p.Graph.LegName(in), in == t.ReceivedBy && t.Received == p.Sol.Legs[in].Patience
			after = append(after, ref{code: ImpossibleCall, subject: id}, ref{code: InvertedTimeout, subject: id, restates: same})
		}
		for _, r := range p.rootsAt(n) {
			after = append(after, ref{code: InvertedTimeout, subject: p.rootName(r)})
		}
		after = append(after, p.infeasibleRoot(n)...)
	}
	p.Report(f, after...)
}

// fitIn lists the single changes after which the calls of a node keep what it has, and words those to the longest one.
// A share that shrinks with a change may leave some of them out.
func (p *Pass) fitIn(n solver.NodeID, limit model.Duration) (fixes []diag.Fix, help string, shrinks bool) {
	within := p.within(n, limit, p.saidAs(n, limit))
	for _, x := range p.leversOf(n) {
		mine, ok := p.leaves(x, within)
		if !ok {
			continue
		}
		first, moved := len(fixes), false
		for _, fix := range p.shorten(x.leg, mine) {
			to := fix.To
			if fix, ok = p.fitting(n, x, fix); ok {
				fixes = append(fixes, fix)
			}
			moved = moved || !ok || fix.To != to
			shrinks = shrinks || !ok && p.solved <= mostAgain
		}
		switch {
		case help != "":
		case !moved:
			help = p.shorter(x.leg, mine)
		case len(fixes) > first:
			help = p.fixText(x.leg, fixes[first:])
		}
	}
	return fixes, help, shrinks
}

// saidAs is a limit in words: a written value as it stands, a share cut.
func (p *Pass) saidAs(n solver.NodeID, limit model.Duration) model.Duration {
	if limit != p.Graph.Nodes[n].Limit {
		return limit.Down()
	}
	return limit
}

// fitting is a change to a call of a node, made as much smaller as the share of the node shrinks with what the call
// then needs; ok is false where no change of its kind is enough, and where nobody knows.
func (p *Pass) fitting(n solver.NodeID, x lever, fix diag.Fix) (diag.Fix, bool) {
	const rounds = 4
	if p.keepsShare(n, x.leg, fix.Key) {
		return fix, true
	}
	for range rounds {
		q := p.again(x.leg, fix)
		if q == nil {
			return fix, false
		}
		_, limit, over := q.over(n)
		if !over {
			return fix, true
		}
		limit = min(limit, q.Sol.Nodes[n].Received)
		mine, ok := p.leaves(x, p.within(n, limit, limit.Down()))
		if !ok {
			return fix, false
		}
		less := p.shorten(x.leg, mine)
		i := slices.IndexFunc(less, func(f diag.Fix) bool { return f.Key == fix.Key && f.To != fix.To })
		if i < 0 {
			return fix, false
		}
		fix = less[i]
	}
	return fix, false
}

// keepsShare reports whether a change to a call of a node is certain to leave the node what it receives: a limit counts
// in no need that is known, but in that of an optional call.
func (p *Pass) keepsShare(n solver.NodeID, l solver.LegID, key string) bool {
	leg, t, _, _ := p.call(l)
	if !p.Sol.Nodes[n].Received.Finite() {
		return true
	}
	limit := key == "timeout" || key == "per_try_timeout"
	return limit && t.Need.Known == solver.Complete && !leg.Optional && !leg.Fixed.Timeout()
}

// fixText words changes to a call that were computed with what they do to its caller's share.
func (p *Pass) fixText(l solver.LegID, fixes []diag.Fix) string {
	var ways []string
	for _, x := range fixes {
		switch n, err := strconv.ParseInt(x.To, 10, 64); {
		case x.Key == "timeout":
			ways = append(ways, "a timeout of "+x.To+" or less")
		case x.Key == "per_try_timeout":
			ways = append(ways, "a per-try timeout of "+x.To+" or less")
		case err == nil:
			_, less := spelling(x.Key)
			ways = append(ways, retriesText(n+less))
		}
	}
	return fmt.Sprintf("give `%s` %s: what `%s` receives shrinks with what it needs", p.Graph.LegName(l), either(ways), p.nodeName(p.Graph.Legs[l].From))
}

// rootsAt lists the roots whose first service is n.
func (p *Pass) rootsAt(n solver.NodeID) []int32 {
	if p.roots == nil {
		p.roots = make(map[solver.NodeID][]int32, len(p.Graph.Roots))
		for r := range p.Graph.Roots {
			at := p.Graph.Roots[r].Node
			p.roots[at] = append(p.roots[at], int32(r))
		}
	}
	return p.roots[n]
}

// infeasibleRoot names the root that decides what a node receives: BP106 speaks for what follows from it.
func (p *Pass) infeasibleRoot(n solver.NodeID) []ref {
	if r := p.Sol.Nodes[n].ReceivedRoot; r >= 0 && int(r) < len(p.Graph.Roots) {
		return []ref{{code: InfeasibleSLO, subject: p.rootName(r)}}
	}
	return nil
}

// deciders are the limits that decide how long a node waits.
func (p *Pass) deciders(n solver.NodeID) []*diag.Origin {
	return once(&p.about(n).deciders, func() (all []*diag.Origin) {
		for _, l := range p.longestOf(n) {
			all = append(all, p.limiter(l))
		}
		return all
	})
}

// flowNote writes what a service may take as a sum.
func (p *Pass) flowNote(n solver.NodeID) diag.Note {
	sum, at := p.flowText(n)
	if flow := p.Sol.Nodes[n].Flow; flow.Finite() && sum != flow.String() {
		return diag.Note{Text: say("`%s` may take %s: %s", p.nodeName(n), p.spell(flow), sum), At: at}
	}
	return diag.Note{Text: say("`%s` may take %s", p.nodeName(n), sum), At: at}
}

// receivedNote says who gives a service its time.
func (p *Pass) receivedNote(n solver.NodeID) diag.Note {
	t := &p.Sol.Nodes[n]
	if t.ReceivedBy < 0 {
		if r := t.ReceivedRoot; r >= 0 && int(r) < len(p.Graph.Roots) {
			return p.rootNote(r, t.Received)
		}
		return diag.Note{Text: fmt.Sprintf("%s is what it is given", t.Received.Down())}
	}
	leg, lt, c, w := p.call(t.ReceivedBy)
	id := p.Graph.LegName(t.ReceivedBy)
	if least := patience(w); least.Set() && t.Received == least.V {
		return diag.Note{Text: say("%s is the %s of `%s`, its tightest caller", p.spell(t.Received), least.name, id), At: least.From}
	}
	text := say("%s is its share by `%s`, its tightest caller", p.spell(t.Received.Down()), id)
	if lt.Budget.Finite() && (leg.Attempts > 1 || leg.Repeat > 1) {
		text += fmt.Sprintf(": a budget of %s for %s%s", lt.Budget.Down(), attemptsText(leg.Attempts), backoffText(lt.BackoffSum))
	}
	return diag.Note{Text: text, At: diag.At(c.At)}
}

// rootNote says what an entrypoint gives its first service.
func (p *Pass) rootNote(r int32, received model.Duration) diag.Note {
	root := &p.Graph.Roots[r]
	if root.Entrypoint < 0 {
		return diag.Note{Text: fmt.Sprintf("%s is what it is given", received)}
	}
	e := &p.Plan.Entrypoints[root.Entrypoint]
	from, what, at := root.SLO, "slo", e.SLO.From
	if !root.SLO.Finite() {
		from, what, at = root.Timeout, "timeout", e.Timeout.From
	}
	if root.Overhead > 0 {
		return diag.Note{Text: fmt.Sprintf("%s is left of the %s of `%s`: %s − %s overhead", received, what, e.Name, from, root.Overhead), At: at}
	}
	return diag.Note{Text: fmt.Sprintf("%s is the %s of `%s`", received, what, e.Name), At: at}
}
