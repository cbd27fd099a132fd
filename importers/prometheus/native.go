package prometheus

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// distribution is what a histogram says, of either kind.
type distribution interface {
	count() float64
	quantile(q float64) (v float64, atLeast bool)
	// add sums two distributions; false where they have nothing in common.
	add(distribution) (distribution, bool)
	// since takes an earlier scrape off; reset where the counts began anew.
	since(distribution) (d distribution, reset bool)
	// bounds gives shares of observations at exact bounds.
	bounds() []bucket
}

// native is a histogram of exponential buckets: bucket i ends at 2^(i × 2^−schema) and begins at the end of the one
// before. Observations of at most threshold are in the zero bucket. Times are never negative.
type native struct {
	schema          int32
	threshold, zero float64
	buckets         map[int32]float64
}

// schemas are the resolutions that exist: github.com/prometheus/prometheus@v0.316.0 model/histogram/generic.go.
const leastSchema, mostSchema = -4, 8

// maxNative bounds the buckets of one native histogram. Prometheus' own limit is 160 for most users.
const maxNative = 100_000

// span is a run of buckets: offset after the end of the one before, length buckets.
type span struct {
	offset int32
	length uint32
}

// newNative makes a histogram of spans and the count of each of their buckets.
func newNative(schema int32, threshold, zero float64, spans []span, counts []float64) (*native, error) {
	if schema < leastSchema || schema > mostSchema {
		return nil, fmt.Errorf("the native histogram has the schema %d, and only %d to %d are read", schema, leastSchema, mostSchema)
	}
	h := &native{schema, threshold, zero, map[int32]float64{}}
	at, k := int64(0), 0
	for i, s := range spans {
		at += int64(s.offset)
		if i > 0 && s.offset < 0 || int64(s.length) > maxNative || k+int(s.length) > len(counts) {
			return nil, fmt.Errorf("the spans of the native histogram do not fit its buckets")
		}
		for range s.length {
			n := counts[k]
			if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) || at < math.MinInt32/2 || at > math.MaxInt32/2 {
				return nil, fmt.Errorf("a bucket of the native histogram counts %v", n)
			}
			if n > 0 {
				h.buckets[int32(at)] += n
			}
			at, k = at+1, k+1
		}
	}
	if k != len(counts) {
		return nil, fmt.Errorf("the spans of the native histogram do not fit its buckets")
	}
	if !(zero >= 0) || math.IsInf(zero, 0) || !(threshold >= 0) {
		return nil, fmt.Errorf("the zero bucket of the native histogram counts %v", zero)
	}
	return h, nil
}

func (h *native) count() float64 {
	sum := h.zero
	for _, i := range slices.Sorted(maps.Keys(h.buckets)) {
		sum += h.buckets[i]
	}
	return sum
}

// end gives where bucket i ends.
func (h *native) end(i int32) float64 { return math.Exp2(float64(i) * math.Exp2(-float64(h.schema))) }

// quantile is PromQL's for native histograms: exponential inside a bucket, linear in the zero bucket, which reaches
// below zero where nothing else was observed (github.com/prometheus/prometheus@v0.316.0 promql/quantile.go,
// HistogramQuantile). There is no last bucket without an end.
func (h *native) quantile(q float64) (v float64, atLeast bool) {
	total := h.count()
	if total == 0 || !(q >= 0 && q <= 1) {
		return math.NaN(), false
	}
	rank, seen := q*total, h.zero
	if h.zero > 0 && seen >= rank {
		low := 0.0
		if len(h.buckets) == 0 {
			low = -h.threshold
		}
		return low + (h.threshold-low)*(rank/h.zero), false
	}
	keys := slices.Sorted(maps.Keys(h.buckets))
	for k, i := range keys {
		n := h.buckets[i]
		seen += n
		if seen >= rank || k == len(keys)-1 {
			share := min(1, (rank-(seen-n))/n)
			low, high := math.Log2(h.end(i-1)), math.Log2(h.end(i))
			return math.Exp2(low + (high-low)*share), false
		}
	}
	return h.threshold, false
}

// reduce gives the histogram at a lower resolution: every step joins two buckets.
func (h *native) reduce(schema int32, threshold float64) *native {
	if h.schema == schema && h.threshold == threshold {
		return h
	}
	out := &native{schema, threshold, h.zero, make(map[int32]float64, len(h.buckets))}
	by := h.schema - schema
	for i, n := range h.buckets {
		to := (i-1)>>by + 1
		if out.end(to) <= threshold { // the wider zero bucket has swallowed it
			out.zero += n
			continue
		}
		out.buckets[to] += n
	}
	return out
}

// alike brings two histograms to one resolution and one zero bucket.
func (h *native) alike(g distribution) (a, b *native, ok bool) {
	other, ok := g.(*native)
	if !ok {
		return nil, nil, false
	}
	schema, threshold := min(h.schema, other.schema), max(h.threshold, other.threshold)
	return h.reduce(schema, threshold), other.reduce(schema, threshold), true
}

func (h *native) add(g distribution) (distribution, bool) {
	a, b, ok := h.alike(g)
	if !ok {
		return h, false
	}
	sum := &native{a.schema, a.threshold, a.zero + b.zero, maps.Clone(a.buckets)}
	for i, n := range b.buckets {
		sum.buckets[i] += n
	}
	return sum, true
}

func (h *native) since(earlier distribution) (distribution, bool) {
	a, b, ok := h.alike(earlier)
	if !ok || a.zero < b.zero {
		return h, true
	}
	left := &native{a.schema, a.threshold, a.zero - b.zero, maps.Clone(a.buckets)}
	for i, n := range b.buckets {
		switch rest := left.buckets[i] - n; {
		case rest < 0:
			return h, true
		case rest == 0:
			delete(left.buckets, i)
		default:
			left.buckets[i] = rest
		}
	}
	return left, false
}

// bounds has none: a hundred narrow buckets say no more than the percentiles do.
func (h *native) bounds() []bucket { return nil }
