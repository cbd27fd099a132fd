package witness_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// The solver's runs and the event simulator agree on every number, to the nanosecond.
func TestRunsEventByEvent(t *testing.T) {
	var all said
	rapid.Check(t, func(t *rapid.T) {
		p := witness.EventPlans().Draw(t, "plan")
		x := witness.Troubles(p).Draw(t, "trouble")
		all.add(sameRuns(t, p, x))
	})
	t.Logf("%d runs, %d too long to compare, %d with several attempts, %d with orphaned work", all.runs, all.long, all.retried, all.orphaned)
	if !t.Failed() && (all.long > all.runs/10 || all.retried < all.runs/10 || all.orphaned < all.runs/20) {
		t.Error("too few of them say anything")
	}
}

// said counts the runs that were compared, and what they had to say.
type said struct{ runs, long, retried, orphaned int }

func (s *said) add(o said) {
	s.runs, s.long = s.runs+o.runs, s.long+o.long
	s.retried, s.orphaned = s.retried+o.retried, s.orphaned+o.orphaned
}

// sameRuns compares a run at every root of a plan.
func sameRuns(t fataler, p *model.Plan, x witness.Trouble) (all said) {
	t.Helper()
	g, _ := solver.Compile(p)
	for i := range g.Roots {
		all.runs++
		want, err := witness.Play(p, entryOf(p, &g.Roots[i]), model.ServiceID(g.Roots[i].Node), x)
		if errors.Is(err, witness.ErrTooLong) {
			all.long++
			continue
		}
		got, err := run(g, i, x)
		if large := new(solver.TooLarge); errors.As(err, &large) && (hedges(p) || chooses(p)) {
			// It tries more than happens: what a copy would have done that is cancelled, an alternative that is not taken.
			all.long++
			continue
		} else if err != nil {
			t.Fatalf("root %d, %s: %v\n%s", i, p.Services[x.Service].Name, err, witness.Describe(p))
		}
		if differ := differences(played(p, want), ran(p, got)); len(differ) > 0 {
			t.Fatalf("root %d, %s takes %v, fails %v, enforced %v:\n%s\n%s", i, p.Services[x.Service].Name, x.Takes, x.Fails, x.Enforced,
				strings.Join(differ[:min(len(differ), 14)], "\n"), witness.Describe(p))
		}
		for _, s := range got.Services {
			if s.Service == solver.NodeID(x.Service) && s.Starts > 1 {
				all.retried++
			}
		}
		if slices.ContainsFunc(got.Services, func(s solver.Spent) bool { return s.Orphan > 0 }) {
			all.orphaned++
		}
	}
	return all
}

func run(g *solver.Graph, root int, x witness.Trouble) (*solver.Run, error) {
	return g.Run(&g.Roots[root], solver.Scenario{Service: solver.NodeID(x.Service), Takes: x.Takes, Fails: x.Fails, Enforced: x.Enforced})
}

func entryOf(p *model.Plan, r *solver.Root) *model.Entrypoint {
	if r.Entrypoint < 0 {
		return nil
	}
	return &p.Entrypoints[r.Entrypoint]
}

// No run exceeds the bounds: attempts the configured ones, its answer and its last work the longest of the root. Latencies
// are left out, since the service that a run is about need not keep to its own; one that waits for others has a bound
// from their limits, which hanging by itself breaks.
func TestRunWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := witness.EventPlans().Draw(t, "plan")
		for i := range p.Calls {
			c := &p.Calls[i]
			c.Latency = nil
			// numbers.md 17 ends what is enforced with its caller; in a run what nobody waits for goes on.
			c.Async, c.Edit().Stream = model.Val[bool]{}, model.Val[bool]{}
			for k := range p.Calls[i].Waiters {
				p.Calls[i].Waiters[k].Edit().Hedge = model.Hedge{} // the bounds have one copy last as long as all (numbers.md 2)
			}
		}
		x := witness.Troubles(p).Draw(t, "trouble")
		x.Enforced = false
		g, _ := solver.Compile(p)
		sol := solver.Solve(g, solver.Options{})
		for i := range g.Roots {
			r, err := run(g, i, x)
			if err != nil {
				continue
			}
			bounds := &sol.Roots[i]
			if g.Nodes[x.Service].Leaf && (never(r.Answer) > never(bounds.Wait) || never(r.Ends) > never(bounds.WorkEnds)) {
				t.Fatalf("%+v, root %d: answer at most %v, work ends by %v, not %v and %v\n%s", x, i, bounds.Wait, bounds.WorkEnds, r.Answer, r.Ends, witness.Describe(p))
			}
			for _, s := range r.Services {
				if most := sol.Nodes[s.Service].Attempts.Configured; s.Starts > most {
					t.Fatalf("%+v, root %d: `%s` at most %d times, not %d\n%s", x, i, p.Services[s.Service].Name, most, s.Starts, witness.Describe(p))
				}
			}
		}
	})
}

// never takes what has no known end for what has none.
func never(d model.Duration) model.Duration {
	if !d.Finite() {
		return model.NoLimit
	}
	return d
}

func differences(want, got map[string]string) []string {
	var differ []string
	for name, v := range want {
		if got[name] != v {
			differ = append(differ, fmt.Sprintf("%s: events %s, solver %s", name, v, got[name]))
		}
	}
	for name, v := range got {
		if _, ok := want[name]; !ok {
			differ = append(differ, fmt.Sprintf("%s: only the solver has it, %s", name, v))
		}
	}
	slices.Sort(differ)
	return differ
}

// moment is a time of a run in words; what never comes is `never`, whether nobody said or there is no limit.
func moment(d model.Duration) string {
	if !d.Finite() {
		return "never"
	}
	return dur(d)
}

// played gives the numbers of a simulated request under names.
func played(p *model.Plan, o *witness.Outcome) map[string]string {
	n := map[string]string{"answer": moment(o.Answer), "answered": fmt.Sprint(o.Answered)}
	type sums struct {
		starts               int64
		work, orphan, waited model.Duration
		spans                [][2]model.Duration
	}
	of, ends, lines := map[model.ServiceID]*sums{}, model.Duration(0), []string{}
	for _, v := range o.Visits {
		s := of[v.Service]
		if s == nil {
			s = &sums{}
			of[v.Service] = s
		}
		s.starts++
		s.work, s.waited = s.work.Add(v.End.Sub(v.Start)), s.waited.Add(v.Waited)
		if v.Left < v.End {
			s.orphan = s.orphan.Add(v.End.Sub(max(v.Left, v.Start)))
		}
		s.spans = append(s.spans, [2]model.Duration{v.Start, v.End})
		ends = max(ends, v.End)
		lines = append(lines, line(p, v.Service, v.Start, v.End, v.GaveUp, v.Left, v.OK))
	}
	n["ends"] = moment(ends)
	for id, s := range of {
		name := p.Services[id].Name
		n[name+" starts"], n[name+" work"], n[name+" orphan"] = fmt.Sprint(s.starts), moment(s.work), moment(s.orphan)
		n[name+" waited"], n[name+" overlap"] = moment(s.waited), fmt.Sprint(overlap(s.spans))
	}
	number(n, lines)
	return n
}

// line tells of one invocation. Where copies of a hedge race, which of two answers of one moment was heard is left to
// chance.
func line(p *model.Plan, s model.ServiceID, start, end, gaveUp, left model.Duration, ok bool) string {
	if hedges(p) && gaveUp >= end {
		gaveUp = model.NoLimit
	}
	if left = max(start, left); left >= end || left == model.Unknown {
		left = model.NoLimit
	}
	return fmt.Sprintf("%s %020d-%s left by its caller %s, by any %s, ok %t", p.Services[s].Name, int64(start), moment(end), moment(gaveUp), moment(left), ok)
}

func hedges(p *model.Plan) bool {
	return slices.ContainsFunc(p.Calls, func(c model.Call) bool {
		return slices.ContainsFunc(c.Waiters, func(w model.Waiter) bool { return w.Hedge().Set() })
	})
}

// chooses reports whether a plan has a one-of: an alternative may go on without end for nobody.
func chooses(p *model.Plan) bool {
	var in func(f model.Flow) bool
	in = func(f model.Flow) bool {
		return f.Kind == model.OneOf && len(f.Of) > 1 || slices.ContainsFunc(f.Of, in)
	}
	return slices.ContainsFunc(p.Services, func(s model.Service) bool { return in(s.Flow) })
}

func number(n map[string]string, lines []string) {
	slices.Sort(lines)
	for i, l := range lines {
		n[fmt.Sprintf("invocation %03d", i)] = l
	}
}

// overlap is the largest number of spans at one moment. A span does not have its end; one without length counts where
// there is no other.
func overlap(spans [][2]model.Duration) int {
	most := 1
	for _, at := range spans {
		n := 0
		for _, s := range spans {
			if s[0] <= at[0] && at[0] < s[1] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// ran gives the numbers of the solver's run under the same names.
func ran(p *model.Plan, r *solver.Run) map[string]string {
	n := map[string]string{"answer": moment(r.Answer), "answered": fmt.Sprint(r.Answered), "ends": moment(r.Ends)}
	for _, s := range r.Services {
		name := p.Services[s.Service].Name
		n[name+" starts"], n[name+" work"], n[name+" orphan"] = fmt.Sprint(s.Starts), moment(s.Work), moment(s.Orphan)
		n[name+" waited"], n[name+" overlap"] = moment(s.Waited), fmt.Sprint(s.Overlap)
	}
	var lines []string
	for _, v := range r.Invocations {
		if int(v.Service) < len(p.Services) {
			lines = append(lines, line(p, model.ServiceID(v.Service), v.Start, v.End, v.GaveUp, v.Left, v.OK))
		}
	}
	number(n, lines)
	return n
}
