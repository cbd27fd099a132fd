package solver

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// sums has what every element of every flow needs, so that a change of one call is carried up its body without a look
// at the calls beside it (solver.md §2.6).
type sums struct {
	g      *Graph
	base   []sum // by flow node
	now    []sum
	before []moved // what undo puts back, oldest first
	at     []int32 // by leg: its flow node
}

type sum struct {
	v model.Duration
	// second is the longest but longest, where elements run beside each other.
	second  model.Duration
	longest int32
	unknown int32 // elements of a group that are not known in full
	moved   int32 // the element of a group that moved, 0 for none, −1 for several
	up      int32 // the group that it stands in, -1 for a whole body
	kind    model.FlowKind
	known   Knowledge
}

type moved struct {
	at  int32
	old sum
}

func newSums(g *Graph, leg []Need) *sums {
	s := &sums{g: g, base: make([]sum, len(g.flow)), at: make([]int32, len(g.Legs))}
	for i := len(g.flow) - 1; i >= 0; i-- {
		f := &g.flow[i]
		if f.kind == model.One {
			s.at[f.leg] = int32(i)
			s.base[i] = sum{v: leg[f.leg].V, up: -1, kind: model.One, known: leg[f.leg].Known}
			continue
		}
		for k := int32(i) + 1; k < f.end; k = g.flow[k].end {
			s.base[k].up = int32(i)
		}
		s.base[i] = s.group(s.base, int32(i))
	}
	s.now = slices.Clone(s.base)
	return s
}

// group adds a group up anew.
func (s *sums) group(of []sum, at int32) sum {
	f := &s.g.flow[at]
	g := sum{longest: -1, up: -1, kind: f.kind}
	for k := at + 1; k < f.end; k = s.g.flow[k].end {
		v := of[k].v
		switch {
		case f.kind.Sums(false):
			g.v = g.v.Add(v)
		case g.longest < 0 || v > g.v:
			g.v, g.second, g.longest = v, g.v, k
		default:
			g.second = max(g.second, v)
		}
		if of[k].known != Complete {
			g.unknown++
		}
	}
	return g.settle()
}

// settle says what is known of a group.
func (g sum) settle() sum {
	g.known = Complete
	if g.unknown > 0 {
		g.known = Partial
	}
	return g
}

func (s *sums) need(at int32) Need { return Need{s.now[at].v, s.now[at].known} }

// joined is what a body needs if two neighbours of a sequence in it run beside each other.
func (s *sums) joined(a, b LegID) Need {
	at := s.now[s.at[a]].up
	v := s.now[at].v.Sub(min(s.now[s.at[a]].v, s.now[s.at[b]].v))
	for up := s.now[at].up; up >= 0; at, up = up, s.now[up].up {
		if s.now[up].kind.Sums(false) {
			v = s.now[up].v.Sub(s.now[at].v).Add(v)
			continue
		}
		for k := up + 1; k < s.g.flow[up].end; k = s.g.flow[k].end {
			if k != at {
				v = max(v, s.now[k].v)
			}
		}
	}
	return Need{v, s.now[at].known}
}

// set changes the need of a leg; it reports whether that of the whole body moves.
func (s *sums) set(l LegID, n Need) bool {
	at := s.at[l]
	for {
		old := s.now[at]
		if old.v == n.V && old.known == n.Known {
			return false
		}
		s.before = append(s.before, moved{at, old})
		s.now[at].v, s.now[at].known = n.V, n.Known
		up := old.up
		if up < 0 {
			return true
		}
		g := s.moveIn(up, at, old, n)
		s.before = append(s.before, moved{up, s.now[up]})
		was := s.need(up)
		s.now[up] = g
		n = Need{g.v, g.known}
		if n == was {
			return false
		}
		// The loop books the move of the group itself from where it stood.
		s.now[up].v, s.now[up].known = was.V, was.Known
		at = up
	}
}

// moveIn gives a group after one of its elements moved.
func (s *sums) moveIn(group, at int32, old sum, n Need) sum {
	g := s.now[group]
	if g.moved == 0 || g.moved == at {
		g.moved = at
	} else {
		g.moved = -1
	}
	if old.known != Complete {
		g.unknown--
	}
	if n.Known != Complete {
		g.unknown++
	}
	sums := g.kind.Sums(false)
	switch {
	case sums && g.v.Finite() && old.v.Finite() && n.V.Finite():
		g.v = (g.v - old.v).Add(n.V)
	case !sums && n.V >= g.v:
		g.v = n.V
	case !sums && old.v < g.v: // something else is the longest
	case !sums && g.moved == at:
		others := s.base[group].v
		if g.longest == at {
			others = g.second
		}
		g.v = max(others, n.V)
	default:
		v := s.group(s.now, group).v
		g.v = v
	}
	return g.settle()
}

func (s *sums) undo() {
	for i := len(s.before) - 1; i >= 0; i-- {
		s.now[s.before[i].at] = s.before[i].old
	}
	s.before = s.before[:0]
}
