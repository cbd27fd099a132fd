package rules

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// floor and ceil round to whole milliseconds, the granularity of what is recommended; below one they leave
// the value as it is, or give one.
func floor(d model.Duration) model.Duration {
	if !d.Finite() || d < model.Millisecond {
		return d
	}
	return d - d%model.Millisecond
}

func ceil(d model.Duration) model.Duration {
	if !d.Finite() || d%model.Millisecond == 0 {
		return d
	}
	return (d - d%model.Millisecond).Add(model.Millisecond)
}

// step is what keeps a recommended value from a tie where no margin does.
const step = model.Millisecond

// room is what the calls of a service may take, with the words for how it came about.
type room struct {
	has model.Duration
	why string
}

// within gives what the calls of a node may take when it must be done within limit, by its margin and without a tie. The
// words show the limit as said: cut where it was computed.
func (p *Pass) within(n solver.NodeID, limit, said model.Duration) room {
	node := &p.Graph.Nodes[n]
	local := node.Queue.Add(node.Local())
	free := limit.Sub(local)
	r := room{has: node.Margin.Keep(free), why: p.spell(said)}
	if local > 0 {
		r.why += " − " + p.spell(local)
	}
	switch {
	case r.has < free:
		r.why += ", less " + node.Margin.String() + " margin"
	case free > step:
		r.has, r.why = free-step, r.why+", less "+step.String()
	default:
		r.has = 0
	}
	return r
}

// beyond gives the least limit within which a node's calls and work fit, by its margin and without a tie.
func (p *Pass) beyond(n solver.NodeID, busy model.Duration) model.Duration {
	node, t := &p.Graph.Nodes[n], &p.Sol.Nodes[n]
	least := node.Margin.Gross(busy)
	if local := node.Queue.Add(node.Local()); busy == t.Flow && !node.Leaf {
		least = local.Add(node.Margin.Gross(busy.Sub(local)))
	}
	return ceil(max(least, busy.Add(step)))
}

// lever is a call of a node's body: what the body may take without it, and how much of that runs beside no other part
// of the body's longest way.
type lever struct {
	leg             solver.LegID
	without, others model.Duration
}

// leversOf gives the calls that make up most of what a node's calls may take, the longest first.
func (p *Pass) leversOf(n solver.NodeID) []lever {
	return once(&p.about(n).levers, func() []lever { return p.levers(n) })
}

func (p *Pass) levers(n solver.NodeID) []lever {
	body, legs := p.body(n), slices.Clone(p.longestOf(n))
	slices.SortStableFunc(legs, func(a, b solver.LegID) int { return int(min(1, max(-1, p.wait(b)-p.wait(a)))) })
	var all []lever
	for _, l := range legs[:min(len(legs), maxParts)] {
		with := func(mine model.Duration) model.Duration {
			return body.fold(func(k solver.LegID) model.Duration {
				if k == l {
					return mine
				}
				return p.wait(k)
			}, true)
		}
		const long = model.Duration(1) << 60
		all = append(all, lever{l, with(0), with(long).Sub(long)})
	}
	return all
}

// shrink lists the single changes to one call of a node's body that bring its calls within the room, those to the
// longest call first, and words the changes to that call as a help.
func (p *Pass) shrink(n solver.NodeID, within room) (fixes []diag.Fix, help string) {
	for _, x := range p.leversOf(n) {
		mine, ok := p.leaves(x, within)
		if !ok {
			continue
		}
		if help == "" {
			help = p.shorter(x.leg, mine)
		}
		fixes = append(fixes, p.shorten(x.leg, mine)...)
	}
	return fixes, help
}

// leaves is what the room leaves one call of a body; ok is false where the others alone are too much.
func (p *Pass) leaves(x lever, within room) (mine room, ok bool) {
	if x.without > within.has || !x.others.Finite() {
		return room{}, false
	}
	mine = room{within.has - x.others, within.why}
	if x.others > 0 {
		mine.why += say(", less %s for the other calls", p.spell(x.others))
	}
	return mine, true
}

// each is what one round of a call may take within the room.
func (p *Pass) each(l solver.LegID, within room) model.Duration {
	leg := &p.Graph.Legs[l]
	return within.has.Div(leg.Repeat).Sub(leg.Pool)
}

// shorten lists the single changes that bring the wait of one call within the room.
func (p *Pass) shorten(l solver.LegID, within room) (fixes []diag.Fix) {
	each := p.each(l, within)
	if each <= 0 {
		return nil
	}
	leg, _, _, w := p.call(l)
	if n := p.mostAttempts(l, each); n > 0 && n < leg.Attempts {
		fixes = append(fixes, p.retriesFix(l, n))
	}
	fixes = append(fixes, p.limitFix(l, "timeout", w.Timeout, "most", floor(each)))
	if q := p.longestTry(l, each); q > 0 {
		fixes = append(fixes, p.limitFix(l, "per_try_timeout", w.PerTry, "most", q))
	}
	return fixes
}

// shorter words these changes, "" where there are none.
func (p *Pass) shorter(l solver.LegID, within room) string {
	each := p.each(l, within)
	if each <= 0 {
		return ""
	}
	leg := &p.Graph.Legs[l]
	if leg.Repeat > 1 {
		within.why += fmt.Sprintf(", over %d in sequence", leg.Repeat)
	}
	if leg.Pool > 0 {
		within.why += fmt.Sprintf(", less %s for a free connection", leg.Pool)
	}
	give := ""
	if n := p.mostAttempts(l, each); n > 0 && n < leg.Attempts {
		give = retriesText(n) + ", or "
	}
	return say("give `%s` %sa timeout of %s or less (%s)", p.Graph.LegName(l), give, p.spell(floor(each)), within.why)
}

// retriesText words the most retries of n attempts.
func retriesText(n int64) string {
	if n <= 1 {
		return "no retries"
	}
	return "at most " + manyRetries(n)
}

// manyAttempts is how many attempts a change may leave; more are not worth a search.
const manyAttempts = 100

// mostAttempts is the largest number of attempts of a call whose round ends within a time, 0 when not even one does.
func (p *Pass) mostAttempts(l solver.LegID, within model.Duration) int64 {
	leg, t, _, w := p.call(l)
	if t.Attempt > within {
		return 0
	}
	before, n := model.Duration(0), int64(1)
	for ; n < min(leg.Attempts, manyAttempts); n++ {
		_, hi := w.Backoff.Wait(n)
		before = before.Add(t.Retried).Add(hi)
		if min(before, leg.Window).Add(t.Attempt) > within {
			break
		}
	}
	return n
}

// longestTry is the longest per-try timeout with which all attempts of a call end within a time, 0 without one.
func (p *Pass) longestTry(l solver.LegID, within model.Duration) model.Duration {
	leg, t, _, _ := p.call(l)
	if leg.Attempts <= 1 && !leg.PerTry.Finite() || t.Rounds != leg.Attempts || t.Retried != t.Attempt {
		return 0
	}
	q := within.Sub(t.BackoffSum).Div(leg.Attempts)
	if leg.Extra {
		q = q.Sub(leg.Connect)
	}
	if !q.Finite() || q <= 0 || leg.Timeout <= q {
		return 0
	}
	return floor(q)
}

// limitFix is the change of one limit of a call, at the place where it is written.
func (p *Pass) limitFix(l solver.LegID, key string, now model.Val[model.Duration], bound string, to model.Duration) diag.Fix {
	f := diag.Fix{Subject: p.Graph.LegName(l), Key: key, At: now.Span(), Bound: bound, To: p.spell(to)}
	if now.Set() {
		f.From = p.spell(now.V)
	}
	if f.At.Nowhere() {
		_, _, c, _ := p.call(l)
		f.At = c.At
	}
	return f
}

// spelling is the key of the plan language for a count, and by how much it counts less than attempts: `attempts` where
// a plan wrote that, else `retries`.
func spelling(written string) (key string, less int64) {
	if written == "attempts" {
		return written, 0
	}
	return "retries", 1
}

// retriesFix is the change to n attempts, in the spelling that was written.
func (p *Pass) retriesFix(l solver.LegID, n int64) diag.Fix {
	_, _, c, w := p.call(l)
	key, less := spelling(w.RetriesKey)
	f := diag.Fix{Subject: p.Graph.LegName(l), Key: key, At: w.Attempts.Span(), Bound: "most"}
	f.To = strconv.FormatInt(n-less, 10)
	switch {
	case w.Attempts.Or(1) == model.Unlimited:
		f.From = "unlimited"
	case w.Attempts.Set():
		f.From = strconv.FormatInt(int64(w.Attempts.V)-less, 10)
	}
	if f.At.Nowhere() {
		f.At = c.At
	}
	return f
}

// raise is the single change that makes the patience of a call at least to; ok is false where it takes two.
func (p *Pass) raise(l solver.LegID, to model.Duration) (f diag.Fix, name string, ok bool) {
	_, _, _, w := p.call(l)
	least := patience(w)
	if !least.Set() || !to.Finite() {
		return diag.Fix{}, "", false
	}
	all, n := limits(w)
	for _, other := range all[:n] {
		if other.key != least.key && other.V < to {
			return diag.Fix{}, "", false
		}
	}
	return p.limitFix(l, least.key, least.Val, "least", to), least.name, true
}

// stop is the change that makes a service end by itself within a time.
func (p *Pass) stop(n solver.NodeID, to model.Duration) (f diag.Fix, ok bool) {
	s := p.service(n)
	if s == nil || to <= 0 || !to.Finite() {
		return diag.Fix{}, false
	}
	f = diag.Fix{Subject: s.Name, Key: "server_timeout", At: s.ServerTimeout.Span(), Bound: "most", To: p.spell(to)}
	if s.ServerTimeout.Set() {
		f.From = p.spell(s.ServerTimeout.V)
	}
	if f.At.Nowhere() {
		f.At = s.At
	}
	return f, true
}

// apart moves a change of a value that is also another of the limits compared to the call itself, and says so:
// changed where it is written, it would move both sides.
func (p *Pass) apart(f *diag.Finding, compared ...*diag.Origin) {
	at := make(map[diag.Span]int)
	for _, o := range compared {
		if o.Written() && !o.Nowhere() {
			at[o.Span()]++
		}
	}
	said := false
	for i := range f.Fixes {
		x := &f.Fixes[i]
		if at[x.At] < 2 || x.From == "" {
			continue
		}
		if l, ok := p.leg(x.Subject); ok {
			_, _, c, w := p.call(l)
			if !said {
				said = true
				f.Notes = append(f.Notes, diag.Note{
					Text: fmt.Sprintf("one value is the `%s` of `%s` and what it is compared with: write `%s` its own", x.Key, x.Subject, x.Subject),
					At:   diag.At(x.At),
				})
			}
			x.At = w.At
			if x.At.Nowhere() || p.Graph.Legs[l].Waiter == 0 {
				x.At = c.At
			}
		}
	}
}

// leg finds a leg by its name.
func (p *Pass) leg(name string) (solver.LegID, bool) {
	if p.names == nil {
		p.names = make(map[string]solver.LegID, len(p.Graph.Legs))
		for l := range p.Graph.Legs {
			p.names[p.Graph.LegName(solver.LegID(l))] = solver.LegID(l)
		}
	}
	l, ok := p.names[name]
	return l, ok
}

// sharedNotes say of changed values that are written once for several calls how many a change moves.
func (p *Pass) sharedNotes(fixes []diag.Fix) []diag.Note {
	var notes []diag.Note
	for i, f := range fixes {
		n := p.shared(f.At)
		if n < 2 || f.From == "" || slices.ContainsFunc(fixes[:i], func(x diag.Fix) bool { return x.At == f.At && x.From != "" }) {
			continue
		}
		of := "call"
		if f.Key == "server_timeout" {
			of = "service"
		}
		notes = append(notes, diag.Note{
			Text: fmt.Sprintf("`%s` of `%s` is written once for %s, a change moves them all", f.Key, f.Subject, counted(int64(n), of)),
			At:   diag.At(f.At),
		})
	}
	return notes
}
