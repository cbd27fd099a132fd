package model

import "slices"

// Latency is what a callee takes, per attempt, as its caller sees it. Every field may be absent.
type Latency struct {
	// Exact is `latency: 120ms`: always that. It gets no headroom.
	Exact    Val[Duration]
	Min, Max Val[Duration]
	// Points are percentiles in rising order of P.
	Points []Point
	// Histogram gives the share of attempts that take at most each bound, in rising order.
	Histogram []Point
	Samples   Val[int64]
	Window    Val[Duration]
}

// Point says that the share P of attempts takes at most V.
type Point struct {
	P Fraction
	V Val[Duration]
}

// Set reports whether anything is known.
func (l Latency) Set() bool {
	return l.Exact.Set() || l.Min.Set() || l.Max.Set() || len(l.Points) > 0 || len(l.Histogram) > 0
}

// Least is the shortest time an attempt can take, Unset where nobody said.
func (l Latency) Least() Val[Duration] {
	if l.Min.Set() {
		return l.Min
	}
	return l.Exact
}

// Most is the longest time an attempt can take, Unset where nobody said.
func (l Latency) Most() Val[Duration] {
	if l.Max.Set() {
		return l.Max
	}
	return l.Exact
}

// Quantile gives the latency at p: the point at p, else the next higher one, else max, never a lower one.
// A time that is exact or a maximum needs no headroom, which exact tells. Used is the percentile taken, Whole
// for a maximum.
func (l Latency) Quantile(p Fraction) (d Val[Duration], used Fraction, exact bool) {
	if l.Exact.Set() {
		return l.Exact, Whole, true
	}
	best, used := Val[Duration]{}, Fraction(0)
	for _, pt := range slices.Concat(l.Points, l.Histogram) {
		if pt.P >= p && (!best.Set() || pt.P < used || pt.P == used && pt.V.V < best.V) {
			best, used = pt.V, pt.P
		}
	}
	if best.Set() {
		return best, used, used >= Whole
	}
	return l.Max, Whole, true
}

// Above bounds the share of attempts that take longer than limit: between lo and hi, both 0 to 1.
// known is false where nothing is known of the latency.
func (l Latency) Above(limit Duration) (lo, hi Fraction, known bool) {
	lo, hi = 0, Whole
	if most := l.Most(); most.Set() {
		known = true
		if most.V <= limit {
			return 0, 0, true
		}
	}
	if l.Exact.Set() || l.Min.Set() && l.Min.V > limit {
		return Whole, Whole, true
	}
	for _, pt := range slices.Concat(l.Points, l.Histogram) {
		known = true
		if pt.V.V <= limit {
			hi = min(hi, Whole-pt.P)
		} else {
			lo = max(lo, Whole-pt.P)
		}
	}
	return min(lo, hi), hi, known
}
