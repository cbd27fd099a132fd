package solver

import (
	"cmp"
	"slices"
)

// How many changes are tried in pairs, and how many pairs are kept.
const (
	maxPaired = 20
	maxPairs  = 10
)

// size is 2 for a pair, else 1: what is single ranks first.
func (x *RootFix) size() int {
	if x.With != nil {
		return 2
	}
	return 1
}

// tryShort is try for a change that may go into a pair.
func (f *fixer) tryShort(fix RootFix, c change) {
	before := len(f.out)
	if !f.try(fix, c) && len(f.out) > before {
		f.short = append(f.short, shortFix{fix, c})
	}
}

// pairs tries two changes together where no margin, no retry and no order of calls is enough by itself: a retry or an
// order, and another one, a margin, or a latency target that is easier then. A call made optional or left out takes
// something away from the answer, and is never needed in pairs.
func (f *fixer) pairs() {
	for i := range f.out {
		switch x := &f.out[i]; {
		case x.Feasible && (x.Kind == FixMargin || x.Kind == FixMargins || x.Kind == FixRetry || x.Kind == FixParallel):
			return
		}
	}
	single := len(f.out)
	short, nodes := f.short[:min(len(f.short), maxPaired)], f.nodes[:min(len(f.nodes), maxPaired)]
	for i, a := range short {
		for _, n := range nodes {
			if fix, c, ok := f.marginOf(n, a.c); ok {
				f.pair(a, fix, c)
			}
		}
		f.margins(&a)
		for _, b := range short[i+1:] {
			first := a
			if a.fix.Kind == FixRetry && b.fix.Kind == FixParallel {
				first, b = b, a
			}
			if b.fix.Kind == FixRetry { // neighbours of one sequence are not independent
				fix, c := f.retryOf(b.c.leg, first.c)
				f.pair(first, fix, c)
			}
		}
		for _, t := range f.targets[:min(len(f.targets), maxPaired)] {
			if fix, c, ok := f.target(t, a.c); ok && fix.Time > t.Time {
				f.pair(a, fix, c)
			}
		}
	}
	slices.SortStableFunc(f.out[single:], byChange)
	f.out = f.out[:min(len(f.out), single+maxPairs)]
}

// pair books two changes if they are enough together.
func (f *fixer) pair(a shortFix, fix RootFix, c change) {
	fix.Need = f.ask.root(f.root, a.c, c).V
	fix.Feasible = fix.Need <= f.slo
	f.together(a, fix)
}

// together books a second change, if it is enough with the first.
func (f *fixer) together(a shortFix, second RootFix) {
	if !second.Feasible {
		return
	}
	fix := a.fix
	fix.With, fix.Need, fix.Feasible = &second, second.Need, true
	f.out = append(f.out, fix)
}

// byChange ranks pairs by what is changed, then the smallest change of a margin or a latency.
func byChange(a, b RootFix) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.With.Kind, b.With.Kind), -cmp.Compare(a.With.Margin, b.With.Margin),
		-cmp.Compare(a.With.Time, b.With.Time))
}
