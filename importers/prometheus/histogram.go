package prometheus

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// bucket counts the observations that are at most le, in the unit of the metric.
type bucket struct{ le, n float64 }

// classic is a histogram of buckets in rising order of their bound, counts cumulative, the last without an end.
// It is never empty once settle has passed it.
type classic []bucket

// smallDelta is the relative fall of a count that is a rounding error and not a fault:
// github.com/prometheus/prometheus@v0.316.0 promql/quantile.go.
const smallDelta = 1e-12

// settle makes a histogram of the buckets that a scrape has, as PromQL does: sorted, equal bounds added, counts
// never falling. A last bucket that is absent or too small is taken from count, which is negative where it is
// absent. It says what it repaired, or why the percentiles cannot be known.
func settle(buckets []bucket, count float64) (h classic, repaired string, err error) {
	for _, b := range buckets {
		switch {
		case math.IsNaN(b.le):
			return nil, "", fmt.Errorf("a bucket has no bound")
		case math.IsNaN(b.n) || math.IsInf(b.n, 0) || b.n < 0:
			return nil, "", fmt.Errorf("the bucket `le=\"%v\"` counts %v", b.le, b.n)
		case b.le < 0:
			return nil, "", fmt.Errorf("the bound %v is negative, and times are not", b.le)
		}
	}
	slices.SortStableFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	for _, b := range buckets {
		if last := len(h) - 1; last >= 0 && h[last].le == b.le {
			h[last].n += b.n
			continue
		}
		h = append(h, b)
	}
	h, repaired, err = end(h, count)
	if err != nil {
		return nil, "", err
	}
	if len(h) < 2 {
		return nil, "", fmt.Errorf("there is no bucket but `+Inf`")
	}
	for i := 1; i < len(h); i++ {
		if h[i].n < h[i-1].n {
			if h[i-1].n-h[i].n > smallDelta*h[i-1].n && repaired == "" {
				repaired = fmt.Sprintf("the count falls from %v at `le=\"%v\"` to %v at `le=\"%v\"`, and is taken not to", h[i-1].n, h[i-1].le, h[i].n, h[i].le)
			}
			h[i].n = h[i-1].n
		}
	}
	return h, repaired, nil
}

// end sees to the last bucket: it is there, and counts no less than the one before it where count says so.
func end(h classic, count float64) (classic, string, error) {
	known := count >= 0 && !math.IsInf(count, 0)
	most := 0.0
	for _, b := range h {
		if !math.IsInf(b.le, 1) {
			most = max(most, b.n)
		}
	}
	if len(h) > 0 && math.IsInf(h[len(h)-1].le, 1) {
		if last := &h[len(h)-1]; last.n < most && known && count >= most {
			was := last.n
			last.n = count
			return h, fmt.Sprintf("the bucket `+Inf` counts %v, less than the one before it, and is taken from `_count` %v", was, count), nil
		}
		return h, "", nil
	}
	if !known || count < most {
		return nil, "", fmt.Errorf("the bucket `+Inf` is missing, and no `_count` says what it counts")
	}
	return append(h, bucket{math.Inf(1), count}), fmt.Sprintf("the bucket `+Inf` is missing, and is taken from `_count` %v", count), nil
}

// count gives the number of observations.
func (h classic) count() float64 { return h[len(h)-1].n }

// quantile gives the value at q between 0 and 1 as PromQL's histogram_quantile does: linear inside a bucket, the
// first from 0 (github.com/prometheus/prometheus@v0.316.0 promql/quantile.go, BucketQuantile). In the last bucket
// the value is the highest bound, and atLeast tells that it is only a lower one. NaN where nothing was observed.
func (h classic) quantile(q float64) (v float64, atLeast bool) {
	last := len(h) - 1
	if last < 1 || h[last].n == 0 || math.IsNaN(q) || q < 0 || q > 1 {
		return math.NaN(), false
	}
	rank := q * h[last].n
	i, _ := slices.BinarySearchFunc(h[:last], rank, func(b bucket, rank float64) int {
		if b.n >= rank {
			return 1
		}
		return -1
	})
	switch {
	case i == last:
		return h[last-1].le, true
	case i == 0 && h[0].le <= 0:
		return h[0].le, false
	}
	low, below := 0.0, 0.0
	if i > 0 {
		low, below = h[i-1].le, h[i-1].n
	}
	return low + (h[i].le-low)*((rank-below)/(h[i].n-below)), false
}

// common keeps the bounds that both histograms have: there the counts of both are exact.
func (h classic) common(g classic) (a, b classic) {
	for i, k := 0, 0; i < len(h) && k < len(g); {
		switch c := cmp.Compare(h[i].le, g[k].le); {
		case c < 0:
			i++
		case c > 0:
			k++
		default:
			a, b = append(a, h[i]), append(b, g[k])
			i, k = i+1, k+1
		}
	}
	return a, b
}

// add sums two histograms on the bounds that they share.
func (h classic) add(g distribution) (distribution, bool) {
	other, ok := g.(classic)
	if !ok {
		return h, false
	}
	a, b := h.common(other)
	if len(a) < 2 {
		return h, false
	}
	for i := range a {
		a[i].n += b[i].n
	}
	return a, true
}

// since gives what was observed after an earlier scrape. Where a count has fallen, or the bounds are others, the
// process began anew, and everything was.
func (h classic) since(earlier distribution) (d distribution, reset bool) {
	before, ok := earlier.(classic)
	if !ok || len(before) != len(h) {
		return h, true
	}
	out := make(classic, len(h))
	for i := range h {
		if h[i].le != before[i].le || h[i].n < before[i].n {
			return h, true
		}
		out[i] = bucket{h[i].le, h[i].n - before[i].n}
	}
	for i := 1; i < len(out); i++ { // buckets are scraped one after the other
		out[i].n = max(out[i].n, out[i-1].n)
	}
	return out, false
}

// bounds gives the shares of observations up to each finite bound.
func (h classic) bounds() []bucket {
	out := make([]bucket, 0, len(h))
	for _, b := range h[:len(h)-1] {
		out = append(out, bucket{b.le, b.n / h.count()})
	}
	return out
}
