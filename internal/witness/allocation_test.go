package witness_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// part is an element of a sequence as the rules see it: a call, or a parallel group of calls and sequences. Its budget
// shows at its first call, which a group always has.
type part struct {
	call model.CallID
	// need is in ns, as everything here.
	need int64
	// beside are the further members of a group.
	beside []part
	// within is what the callee, or a sequence in a group, splits again. A sequence has no call of its own.
	within []part
}

// most is what a part needs: the largest of what runs side by side.
func (e *part) most() int64 {
	n := e.need
	for i := range e.beside {
		n = max(n, e.beside[i].need)
	}
	return n
}

func total(parts []part) int64 {
	n := int64(0)
	for i := range parts {
		n += parts[i].most()
	}
	return n
}

// sketch draws a plan and keeps what the rules make of it.
type sketch struct {
	*builder
	dice
	services int
}

// leaf adds a call of 1 to 9 ns; one in six, where deep allows, goes to a service with a sequence of its own.
func (s *sketch) leaf(from string, deep bool) (part, model.Flow) {
	s.services++
	to := fmt.Sprint("s", s.services)
	limit := set(model.NoLimit)
	if s.one(2) {
		limit = millis(1000)
	}
	id := s.builder.call(from, to, model.Waiter{Timeout: limit})
	e, flow := part{call: id, need: int64(1 + s.roll(9))}, model.Flow{Kind: model.One, Call: id}
	if deep && s.one(6) {
		e.within = s.sequence(to, false)
		e.need = total(e.within)
		return e, flow
	}
	s.Calls[id].Latency = &model.Latency{Exact: set(model.Duration(e.need))}
	return e, flow
}

// sequence gives a service two to four elements. A sequence in a sequence counts as written out, and so does a group
// of one.
func (s *sketch) sequence(of string, deep bool) []part {
	var parts []part
	var flows []model.Flow
	for n := 2 + s.roll(3); len(parts) < n; {
		e, f := s.leaf(of, deep)
		switch {
		case s.one(3):
			f = s.parallel(of, deep, &e, f)
		case len(parts) < n-1 && s.one(4):
			e2, f2 := s.leaf(of, deep)
			parts, f = append(parts, e), model.Flow{Kind: model.Sequence, Of: []model.Flow{f, f2}}
			e = e2
		case s.one(4):
			f = model.Flow{Kind: model.Sequence, Of: []model.Flow{f}}
		}
		parts, flows = append(parts, e), append(flows, f)
	}
	s.service(of).Flow = model.Flow{Kind: model.Sequence, Of: flows}
	return parts
}

// parallel sets a call or a sequence of two beside an element, or nothing.
func (s *sketch) parallel(of string, deep bool, e *part, f model.Flow) model.Flow {
	group := []model.Flow{f}
	switch s.roll(3) {
	case 0:
		o, g := s.leaf(of, deep)
		e.beside, group = []part{o}, append(group, g)
	case 1:
		a, g := s.leaf(of, deep)
		b, h := s.leaf(of, deep)
		seq := []part{a, b}
		e.beside = []part{{call: -1, need: total(seq), within: seq}}
		group = append(group, model.Flow{Kind: model.Sequence, Of: []model.Flow{g, h}})
	}
	return model.Flow{Kind: model.Parallel, Of: group}
}

// score says how well a split serves its worst element, as a fraction: what a policy makes as large as it can.
type score func(budget, need int64) (num, den int64)

func ofNeed(budget, need int64) (int64, int64) { return budget, need }
func spare(budget, need int64) (int64, int64)  { return budget - need, 1 }
func alike(budget, _ int64) (int64, int64)     { return budget, 1 }

// best tries every split of time into whole nanoseconds and gives the highest score that its worst element can have.
func best(time int64, needs []int64, by score) (num, den int64) {
	if len(needs) == 1 {
		return by(time, needs[0])
	}
	for b := range time + 1 {
		n, d := by(b, needs[0])
		if n2, d2 := best(time-b, needs[1:], by); n2*d < n*d2 {
			n, d = n2, d2
		}
		if b == 0 || n*den > num*d {
			num, den = n, d
		}
	}
	return num, den
}

// split is what the solver gave by a policy.
type split struct {
	policy string
	sol    *solver.Solution
	graph  *solver.Graph
	fail   func(format string, args ...any)
}

func (x *split) budget(c model.CallID) int64 { return int64(x.sol.Legs[x.graph.FirstLeg[c]].Budget) }

// Of all splits into whole nanoseconds the solver's is the best one of its policy. `equal` and, where the needs fit,
// `eqs` lose nothing by rounding down: no element scores below the best. `eqf`, and `eqs` where they do not fit, lose
// less than 1 ns an element: with 1 ns more every element scores above the best. A split never adds up to more than
// there is, and leaves over less than 1 ns an element.
func (x *split) check(time int64, parts []part) {
	needs, sum := make([]int64, len(parts)), int64(0)
	for i := range parts {
		needs[i] = parts[i].most()
		sum += x.budget(parts[i].call)
	}
	if k := int64(len(parts)); sum > time || sum <= time-k {
		x.fail("%d elements of %d ns got %d ns", k, time, sum)
	}
	by, lost := ofNeed, int64(1)
	switch {
	case x.policy == "equal":
		by, lost = alike, 0
	case x.policy == "eqs" && time >= total(parts):
		by, lost = spare, 0
	}
	num, den := best(time, needs, by)
	for i := range parts {
		b := x.budget(parts[i].call)
		n, d := by(b+lost, needs[i])
		if n*den < num*d || lost > 0 && n*den == num*d {
			x.fail("%d ns for needs %v: element %d got %d ns, the best split scores %d/%d", time, needs, i, b, num, den)
		}
		x.inside(b, &parts[i])
	}
}

// inside holds the members of a group, each of which gets all of it, and what splits its budget again.
func (x *split) inside(budget int64, e *part) {
	if e.call >= 0 && x.budget(e.call) != budget {
		x.fail("call %d got %d ns of a group of %d ns", e.call, x.budget(e.call), budget)
	}
	if len(e.within) > 0 {
		x.check(budget, e.within)
	}
	for i := range e.beside {
		x.inside(budget, &e.beside[i])
	}
}

// No split of a sequence is better than the solver's, at no level.
func TestAllocation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		p := rapid.Custom(func(t *rapid.T) *model.Plan {
			s := &sketch{builder: build(), dice: dice{t}}
			s.entrypoint("in", "s0", 1).SLO = set(model.Duration(1 + s.roll(40)))
			parts = s.sequence("s0", true)
			return &s.Plan
		}).Draw(t, "plan")
		for _, policy := range []string{"eqf", "eqs", "equal"} {
			g, _ := solver.Compile(p)
			x := &split{policy: policy, graph: g, sol: solver.Solve(g, solver.Options{Policy: policy})}
			x.fail = func(format string, args ...any) {
				t.Fatalf("%s: %s\n%s", policy, fmt.Sprintf(format, args...), witness.Describe(p))
			}
			if need := int64(x.sol.Roots[0].Need.V); need != total(parts) {
				x.fail("the root needs %d ns, not %d", need, total(parts))
			}
			x.check(int64(p.Entrypoints[0].SLO.V), parts)
		}
	})
}
