package prometheus

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
)

// measured is what one series says of the time between its first and its last scrape, or since the process began.
type measured struct {
	dist distribution
	// n is how many observations there were, or by how much a plain counter grew.
	n float64
	// ms is the time between the scrapes, 0 where no time stands beside the values.
	ms         int64
	sinceStart bool
	reset      bool
}

// summary is a distribution of which only some percentiles are known.
type summary struct {
	parts []bucket // le is the value at the share n
	n     float64
}

func (s summary) count() float64 { return s.n }

func (s summary) quantile(q float64) (float64, bool) {
	for _, p := range s.parts {
		if math.Abs(p.n-q) < 1e-9 {
			return p.le, false
		}
	}
	return math.NaN(), false
}

// add refuses: percentiles of two series say nothing of both together.
func (s summary) add(distribution) (distribution, bool) { return s, false }

// since keeps the later percentiles: they have a window of their own.
func (s summary) since(earlier distribution) (distribution, bool) {
	if before, ok := earlier.(summary); ok && before.n <= s.n {
		return summary{s.parts, s.n - before.n}, false
	}
	return s, true
}

func (s summary) bounds() []bucket { return nil }

// of gives the distribution of an observation, nil for a plain number.
func (o observation) of() distribution {
	switch {
	case o.dist != nil:
		return o.dist
	case len(o.parts) > 0:
		return summary{o.parts, o.value}
	}
	return nil
}

// over gives what a series says of the whole time that it was seen in. Counters that fall have begun anew, and what
// they count since then is added, as PromQL's increase does, without its extrapolation.
func (s *series) over() measured {
	seen := s.seen
	slices.SortStableFunc(seen, func(a, b observation) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nth, b.nth)) })
	last := seen[len(seen)-1]
	m := measured{dist: last.of(), n: last.value, sinceStart: len(seen) == 1}
	if len(seen) == 1 {
		return m
	}
	if a, b := seen[0].at, last.at; a != noTime && b != noTime {
		m.ms = b - a
	}
	m.dist, m.n = nil, 0
	for i := 1; i < len(seen); i++ {
		d, n, reset := seen[i].since(seen[i-1])
		m.reset = m.reset || reset
		m.n += n
		m.dist = join(m.dist, d)
	}
	return m
}

// join adds the step of a window. Of what cannot be added, percentiles that a client made, the later one counts.
func join(sum, step distribution) distribution {
	if sum == nil {
		return step
	}
	if step == nil {
		return sum
	}
	joined, ok := sum.add(step)
	if !ok {
		return step
	}
	return joined
}

// since gives what came after an earlier observation of the same series.
func (o observation) since(before observation) (d distribution, n float64, reset bool) {
	now, then := o.of(), before.of()
	switch {
	case now != nil && then != nil:
		d, reset = now.since(then)
		return d, d.count(), reset
	case o.value < before.value:
		return now, o.value, true
	}
	return now, o.value - before.value, false
}

// targets groups the scrapes of one target, which follow each other, and joins each group into one scrape.
// Scrapes of several targets stay apart; their observations are added, which is right whatever their time.
func (r *reporter) targets(scrapes []*scrape) []*scrape {
	var groups [][]*scrape
	for _, s := range scrapes {
		i := slices.IndexFunc(groups, func(g []*scrape) bool { return g[0].sameTarget(s) })
		if i < 0 {
			groups = append(groups, []*scrape{s})
			continue
		}
		groups[i] = append(groups[i], s)
	}
	out := make([]*scrape, len(groups))
	for i, g := range groups {
		out[i] = r.follow(g)
	}
	return out
}

// sameTarget reports whether two scrapes are of one target at two times. A start time that both have decides;
// without it, series that are the same by all labels are, where all their counts move one way.
func (s *scrape) sameTarget(t *scrape) bool {
	if s.source.Service.V != t.source.Service.V || s.source.Ref.Metric.V != t.source.Ref.Metric.V {
		return false
	}
	if !math.IsNaN(s.begun) && !math.IsNaN(t.begun) {
		return s.begun == t.begun
	}
	shared, up, down := 0, 0, 0
	for key, a := range s.series {
		b := t.series[key]
		if b == nil {
			continue
		}
		shared++
		switch x, y := a.seen[len(a.seen)-1].value, b.seen[len(b.seen)-1].value; {
		case x < y:
			up++
		case x > y:
			down++
		}
	}
	return shared > 0 && (up == 0 || down == 0)
}

// total orders the scrapes of one target: counters grow.
func (s *scrape) total() (at int64, n float64) {
	at = noTime
	for _, x := range s.order {
		last := x.seen[len(x.seen)-1]
		at = max(at, last.at)
		n += last.value
	}
	return at, n
}

// follow joins the scrapes of one target, in the order of time. One that has nothing new is a copy.
func (r *reporter) follow(group []*scrape) *scrape {
	slices.SortStableFunc(group, func(a, b *scrape) int {
		atA, nA := a.total()
		atB, nB := b.total()
		return cmp.Or(cmp.Compare(atA, atB), cmp.Compare(nA, nB))
	})
	into, base := group[0], int32(0)
	var names []string
	for _, s := range group[1:] {
		if at, n := into.total(); len(into.order) > 0 {
			if at2, n2 := s.total(); at == at2 && n == n2 && len(s.order) == len(into.order) {
				continue
			}
		}
		base += 1 << 16
		for _, x := range s.order {
			for _, o := range x.seen {
				o.nth += base
				into.add(x.family, x.labels, x.at, o)
			}
			into.series[keyOf(x.family, x.labels)].at = x.at // the later counts are what a reader looks for
		}
		for family, typ := range s.families {
			into.families[family] = typ
		}
		names = append(names, "`"+s.file+"`")
	}
	if len(names) > 0 && math.IsNaN(into.begun) {
		r.unread("window "+into.file, "", diag.Info, diag.Span{File: into.file},
			"give each file the `service` that it is of, if they are of several targets",
			"`%s` and %s are taken as scrapes of one target: what was observed between them counts", into.file, strings.Join(names, ", "))
	}
	return into
}
