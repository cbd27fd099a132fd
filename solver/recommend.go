package solver

import "github.com/budgetplan/budgetplan/model"

// Granule is the step of recommended values: whole milliseconds.
const Granule = model.Millisecond

// recommend turns budgets into timeouts and per-try timeouts (numbers.md 18).
func (s *solve) recommend() {
	s.g.each(len(s.g.Legs), func(i int) { s.recommendTimeout(LegID(i)) })
	s.g.each(len(s.g.Nodes), func(i int) {
		n := &s.g.Nodes[i]
		if n.Limit.Finite() && n.flowAt < n.flowEnd && s.recommended(n.flowAt) >= n.Limit.Sub(n.Local()) {
			s.lower(n.flowAt, max(0, n.Limit.Sub(n.Local())))
		}
	})
	s.g.each(len(s.g.Legs), func(i int) { s.recommendPerTry(LegID(i)) })
}

func (s *solve) recommendTimeout(id LegID) {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	r := &t.Recommended
	r.Attempts = l.Attempts
	if l.Fixed.Timeout() {
		if l.Timeout.Finite() {
			r.Timeout = l.Timeout
		}
		return
	}
	if !t.Budget.Finite() || t.Budget <= 0 {
		return
	}
	share := t.Budget.Div(l.Repeat)
	if l.Optional && l.Timeout.Finite() {
		share = min(share, l.Timeout)
	}
	r.Timeout = max(Granule, share-share%Granule)
}

// recommended is what a body would take with the recommended timeouts.
func (s *solve) recommended(at int32) model.Duration {
	return s.g.fold(at, func(l LegID) model.Duration {
		if !s.g.Legs[l].Awaited() {
			return 0
		}
		return s.sol.Legs[l].Recommended.Timeout.Mul(s.g.Legs[l].Repeat)
	}, true)
}

// lower takes one granule off the largest share of each sequence that would fill the limit, never off a fixed
// call or one of a single granule; of equal shares the first gives.
func (s *solve) lower(at int32, limit model.Duration) {
	f := &s.g.flow[at]
	if s.recommended(at) < limit {
		return
	}
	if f.kind == model.One {
		if s.canLower(f.leg) {
			s.sol.Legs[f.leg].Recommended.Timeout -= Granule
		}
		return
	}
	if !f.kind.Sums(true) {
		for i := at + 1; i < f.end; i = s.g.flow[i].end {
			s.lower(i, limit)
		}
		return
	}
	largest, share := int32(-1), model.Duration(0)
	for i := at + 1; i < f.end; i = s.g.flow[i].end {
		if v := s.recommended(i); v > share && s.anyLower(i) {
			largest, share = i, v
		}
	}
	if largest >= 0 {
		s.lower(largest, share)
	}
}

func (s *solve) canLower(l LegID) bool {
	return !s.g.Legs[l].Fixed.Timeout() && s.sol.Legs[l].Recommended.Timeout > Granule
}

func (s *solve) anyLower(at int32) bool {
	for _, f := range s.g.flow[at:s.g.flow[at].end] {
		if f.kind == model.One && s.canLower(f.leg) {
			return true
		}
	}
	return false
}

// recommendPerTry: what one attempt needs where that is known, else all that fits, and never so much that the
// attempts with their back-off tie with the timeout.
func (s *solve) recommendPerTry(id LegID) {
	l, t := &s.g.Legs[id], &s.sol.Legs[id]
	r := &t.Recommended
	if l.Fixed.PerTry() {
		if l.PerTry.Finite() {
			r.PerTry = l.PerTry
		}
		return
	}
	if l.Attempts <= 1 || l.Attempts == unlimited || r.Timeout == 0 {
		return
	}
	most := (r.Timeout - 1).Sub(t.BackoffSum).Div(l.Attempts)
	if t.One.Known == Complete {
		most = min(most, t.One.V+Granule-1)
	}
	if most >= Granule {
		r.PerTry = most - most%Granule
	}
}
