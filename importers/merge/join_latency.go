package merge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// latency joins field by field. One duration says everything: it hides the fields of a mapping, and the reverse. What
// was measured is never mixed with percentiles of another origin.
func (j *joiner) latency(to **model.Latency, src *model.Latency) {
	switch {
	case src == nil, !src.Set() && !src.Samples.Set() && !src.Window.Set():
		return
	case *to == nil:
		*to = src
		return
	}
	dst := **to
	*to = &dst
	if dst.Set() && src.Set() && j.mode != overriding && (dst.Caveats.Set() || src.Caveats.Set()) {
		j.measured(&dst, src)
		return
	}
	said := *src
	wins := j.wins(latencyAt(&dst), latencyAt(&said))
	if dst.Set() && said.Set() && dst.Exact.Set() != said.Exact.Set() {
		if wins {
			dst = model.Latency{}
		} else {
			said = model.Latency{}
		}
	}
	take(j, "latency", &dst.Exact, said.Exact)
	take(j, "latency.min", &dst.Min, said.Min)
	take(j, "latency.max", &dst.Max, said.Max)
	dst.Points = j.points(dst.Points, said.Points)
	if len(dst.Histogram) == 0 || wins && len(said.Histogram) > 0 {
		dst.Histogram = said.Histogram
	}
	take(j, "latency.samples", &dst.Samples, said.Samples)
	take(j, "latency.window", &dst.Window, said.Window)
	take(fill, "", &dst.Timeouts, said.Timeouts)
	take(fill, "", &dst.Caveats, said.Caveats)
}

// measured joins two latencies of which one, or both, were measured. Of two measurements the one with more samples is
// used. Percentiles that somebody wrote give way to measured ones, which is information and no fault; bounds that
// somebody wrote stay, since no measurement knows them.
func (j *joiner) measured(dst, src *model.Latency) {
	used, left := *dst, *src
	if j.mode == merging && (!dst.Caveats.Set() || src.Caveats.Set() && src.Samples.Or(0) > dst.Samples.Or(0)) {
		used, left = left, used
	}
	if j.mode == merging {
		j.differ(&used, &left)
	}
	take(fill, "", &used.Min, left.Min)
	take(fill, "", &used.Max, left.Max)
	*dst = used
}

// differ says once that two sources have different latencies: at the highest percentile that both have.
func (j *joiner) differ(used, left *model.Latency) {
	for i := len(used.Points) - 1; i >= 0; i-- {
		p := used.Points[i]
		if k, found := slices.BinarySearchFunc(left.Points, p.P, byShare); found {
			if q := left.Points[k]; p.V.V != q.V.V {
				name := "latency." + p.P.Percentile()
				f := disagree.New(j.subject, diag.Span{}, "`%s` of `%s` is %s here, but %s %s, which is not used", name, j.subject, p.V.V, q.V.V, whence(q.V.From))
				f.Severity, f.Detail, f.Cause = diag.Info, name, p.V.From
				f.Help = "leave the latency out of the plan where it is measured"
				f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is %s here", name, q.V.V), At: q.V.From}}
				*j.found = append(*j.found, f)
			}
			return
		}
	}
}

func byShare(p model.Point, share model.Fraction) int { return cmp.Compare(p.P, share) }

// latencyAt is where the first of its values was written, nil where there is none.
func latencyAt(l *model.Latency) *diag.Origin {
	for _, v := range []model.Val[model.Duration]{l.Exact, l.Min, l.Max} {
		if v.Set() {
			return v.From
		}
	}
	for _, points := range [][]model.Point{l.Points, l.Histogram} {
		if len(points) > 0 {
			return points[0].V.From
		}
	}
	return nil
}

// points joins percentiles, in rising order, without touching either slice.
func (j *joiner) points(known, said []model.Point) []model.Point {
	switch {
	case len(said) == 0:
		return known
	case len(known) == 0:
		return said
	}
	joined := slices.Clone(known)
	for _, p := range said {
		i, found := slices.BinarySearchFunc(joined, p.P, byShare)
		if found {
			take(j, "latency."+p.P.Percentile(), &joined[i].V, p.V)
			continue
		}
		joined = slices.Insert(joined, i, p)
	}
	return joined
}
