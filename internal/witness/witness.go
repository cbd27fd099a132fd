// Package witness computes the numbers of a plan a second time, as plainly as they can be written: by recursion, by
// replaying attempts one by one, by enumerating paths and by bisection, with exact arithmetic of its own. Only tests
// import it. It shares no code with the solver, so that where both agree both have read the rules alike.
package witness

import (
	"fmt"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
)

// Numbers are the quantities of a plan by name, `call a/b wait` or `service a received`, each written out: times in
// exact ms, `unknown` or `none`; `at least` and `at most` before a need or slack of which parts are unknown.
type Numbers map[string]string

func (n Numbers) put(value any, format string, args ...any) {
	n[fmt.Sprintf(format, args...)] = fmt.Sprint(value)
}

// Compute gives every number of an acyclic plan, its budgets split by policy `eqf`, `eqs` or `equal`.
func Compute(p *model.Plan, policy string) Numbers {
	s, out := newShape(p), Numbers{}
	for _, l := range s.legs {
		s.putBounds(out, l)
		s.putWays(out, l)
		s.putCounts(out, l)
	}
	recs := map[*leg]*recommended{}
	for _, n := range append(append([]*node{}, s.nodes...), s.inner...) {
		budgets := map[*leg]amount{}
		n.body.walk(func(l *leg) { budgets[l] = s.leastBudget(l, policy) })
		for l, r := range s.recommend(n, budgets) {
			recs[l] = r
		}
	}
	for _, l := range s.legs {
		s.putShares(out, l, policy, recs[l])
	}
	for _, n := range s.nodes {
		s.putService(out, n, policy)
	}
	for _, r := range s.roots {
		if r.entry != nil {
			s.putEntrypoint(out, r)
		}
	}
	return out
}

func (s *shape) putBounds(out Numbers, l *leg) {
	lo, hi := l.backoffSums()
	for name, v := range map[string]amount{
		"attempt limit": l.limit(), "patience": l.patience(), "back-off most": hi, "back-off least": lo,
		"sequence": l.sequence(), "uncut": s.uncut(l), "wait": s.wait(l), "busy": s.busy(l), "orphan": s.orphan(l),
		"starts": s.starts(l), "stop": s.stop(l),
	} {
		out.put(v, "call %s %s", l.id, name)
	}
	out.put(l.enforced(), "call %s enforced", l.id)
	out.put(l.n, "call %s attempts", l.id)
}

func (s *shape) putWays(out Numbers, l *leg) {
	hang := s.hang(l, true)
	for name, w := range map[string]way{"if hangs": hang, "if fails late": s.late(l), "if fails fast": s.fast(l)} {
		out.put(w.started, "call %s %s started", l.id, name)
		out.put(w.last, "call %s %s last attempt", l.id, name)
		out.put(w.wait, "call %s %s wait", l.id, name)
	}
	out.put(hang.started, "call %s attempts started", l.id)
	out.put(hang.full, "call %s attempts full", l.id)
	out.put(s.hang(l, false).started, "call %s attempts possible", l.id)
}

func count(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

func (s *shape) measures() map[string]measure {
	return map[string]measure{"configured": configured, "time limited": s.timeLimited, "with retry budgets": budgeted}
}

func (s *shape) putCounts(out Numbers, l *leg) {
	for name, m := range s.measures() {
		x := 0.0
		for _, r := range s.roots {
			if r.reached[l.from] {
				x = max(x, min(maxCount, s.reaches(r, l.from, m)*m(l)))
			}
		}
		out.put(count(x), "call %s amplification %s", l.id, name)
	}
}

// leastBudget is the leg's budget over all roots.
func (s *shape) leastBudget(l *leg, policy string) amount {
	b := unknown
	for _, r := range s.roots {
		if r.reached[l.from] {
			b = least(b, s.budget(r, l, policy))
		}
	}
	return b
}

// worst collects the largest need or the least slack of several passes.
type worst struct {
	need
	any, none bool
}

func (w *worst) larger(n need) {
	n.partly = n.partly || !n.known()
	w.need, w.any = w.longest(n), true
}

// smaller takes the slack that is left of a time after a need.
func (w *worst) smaller(given amount, n need) {
	switch s := given.minus(n.v); {
	case !given.finite():
		return
	case !n.known():
		w.none = true
		return
	case !w.any || s.less(w.v):
		w.v = s
	}
	w.any, w.partly = true, w.partly || n.partly
}

func (w *worst) asNeed() string {
	switch {
	case !w.known():
		return "unknown"
	case w.partly:
		return "at least " + w.v.String()
	}
	return w.v.String()
}

func (w *worst) asSlack() string {
	switch {
	case !w.any:
		return "unknown"
	case w.partly || w.none:
		return "at most " + w.v.String()
	}
	return w.v.String()
}

func (s *shape) putShares(out Numbers, l *leg, policy string, rec *recommended) {
	var needs, slack, one worst
	given := unknown
	for _, r := range s.roots {
		if !r.reached[l.from] {
			continue
		}
		c := s.needs(r.percentile)
		needs.larger(c.leg(l))
		one.larger(c.one(l))
		slack.smaller(s.budget(r, l, policy), c.leg(l))
		given = least(given, s.given(r, l, policy))
	}
	if out.put(needs.asNeed(), "call %s need", l.id); !l.awaited() {
		out.put(zero, "call %s need", l.id)
	}
	out.put(slack.asSlack(), "call %s slack", l.id)
	out.put(s.leastBudget(l, policy), "call %s budget", l.id)
	out.put(given, "call %s given", l.id)
	out.put(s.allowedEverywhere(l), "call %s allowed", l.id)
	r := s.recommendPerTry(l, *rec, one.need)
	out.put(r.timeout, "call %s recommended timeout", l.id)
	out.put(r.perTry, "call %s recommended per-try", l.id)
	received := unknown
	for _, r := range s.roots {
		if r.reached[l.from] {
			received = least(received, s.received(r, l.from, policy))
		}
	}
	left := most(zero, least(received, l.from.limit).minus(s.starts(l)))
	if s.starts(l) == unknown {
		left = unknown
	}
	out.put(left, "call %s left", l.id)
}

func (s *shape) putService(out Numbers, n *node, policy string) {
	out.put(s.flowOf(n), "service %s flow", n.name)
	out.put(s.busyOf(n), "service %s busy", n.name)
	received, waited, work := unknown, zero, zero
	var needs, slack worst
	for _, r := range s.roots {
		if !r.reached[n] {
			continue
		}
		received = least(received, s.received(r, n, policy))
		waited = most(waited, s.spent(r, n, (*leg).patience))
		work = most(work, s.spent(r, n, s.busy))
		c := s.needs(r.percentile)
		if r.node == n {
			needs.larger(c.node(n))
			if r.slo.finite() {
				slack.smaller(r.slo.minus(r.overhead), c.node(n))
			}
		}
		for _, l := range n.in {
			if !r.reached[l.from] {
				continue
			}
			one := c.one(l)
			one.v = most(zero, one.v.minus(l.network))
			needs.larger(one)
			if s.budget(r, l, policy).finite() {
				slack.smaller(s.given(r, l, policy), one)
			}
		}
	}
	out.put(received, "service %s received", n.name)
	out.put(needs.asNeed(), "service %s need", n.name)
	out.put(slack.asSlack(), "service %s slack", n.name)
	out.put(waited, "service %s waited", n.name)
	out.put(work, "service %s work", n.name)
	for name, m := range s.measures() {
		x := 0.0
		for _, r := range s.roots {
			if r.reached[n] {
				x = max(x, s.reaches(r, n, m))
			}
		}
		out.put(count(x), "service %s attempts %s", n.name, name)
	}
}

func (s *shape) putEntrypoint(out Numbers, r *root) {
	name := r.entry.Name
	n := s.needs(r.percentile).root(r)
	var needs, slack worst
	needs.larger(n)
	slack.smaller(r.slo, n)
	feasible := "unknown"
	switch {
	case !r.slo.finite() || !n.known():
	case r.slo.less(n.v):
		feasible = "false"
	case !n.partly:
		feasible = "true"
	}
	out.put(needs.asNeed(), "entrypoint %s need", name)
	out.put(slack.asSlack(), "entrypoint %s slack", name)
	out.put(feasible, "entrypoint %s feasible", name)
	out.put(s.rootWait(r), "entrypoint %s wait", name)
	out.put(s.workEnds(r), "entrypoint %s work ends", name)
}
