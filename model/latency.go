package model

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Latency is what a callee takes, per attempt, as its caller sees it. Every field may be absent. Nil says nothing,
// and a latency that is in use is not changed: calls may share it.
type Latency struct {
	// Exact is `latency: 120ms`: always that. It gets no headroom.
	Exact    Val[Duration]
	Min, Max Val[Duration]
	// Points are percentiles in rising order of P.
	Points []Point
	// Histogram gives the share of attempts that take at most each bound, in rising order.
	Histogram []Point
	// Samples counts what the points were made of, Window is the time in which that was measured.
	Samples Val[int64]
	Window  Val[Duration]
	// Timeouts counts attempts that ran into a limit and are not among the samples.
	Timeouts Val[int64]
	// Caveats are what a metric is known to get wrong. Unset where nobody measured.
	Caveats Val[Caveats]
}

// Point says that the share P of attempts takes at most V, or that nothing is known but that V is a lower bound:
// AtLeast, for a percentile in the last bucket of a histogram, which has no end.
type Point struct {
	P       Fraction
	V       Val[Duration]
	AtLeast bool
}

// Caveats are the ways in which measured percentiles may mislead.
type Caveats uint8

// The caveats of a measurement.
const (
	// WithoutTimeouts: attempts that timed out were not recorded, so high percentiles are too low.
	WithoutTimeouts Caveats = 1 << iota
	// WithRetries: whole calls were measured, with retries and back-off, not single attempts.
	WithRetries
	// LargestOf: percentiles of several series cannot be joined, and the largest stands for all.
	LargestOf
	// SinceStart: everything since the process began was measured, not a window.
	SinceStart
	// FirstByte: the clock stopped at the first byte of the answer.
	FirstByte
)

var caveatNames = [...]string{"timeouts are not recorded", "retries are in it", "the largest of several series", "since the process began", "time to the first byte"}

// String names the caveats, in the order of their constants.
func (c Caveats) String() string {
	var words []string
	for i, name := range caveatNames {
		if c&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return strings.Join(words, ", ")
}

// Get gives what is known of the latency, nothing for nil.
func (l *Latency) Get() Latency {
	if l == nil {
		return Latency{}
	}
	return *l
}

// Set reports whether anything is known.
func (l *Latency) Set() bool {
	return l != nil && (l.Exact.Set() || l.Min.Set() || l.Max.Set() || len(l.Points) > 0 || len(l.Histogram) > 0)
}

// Has reports whether one of the values stands at a place.
func (l *Latency) Has(at *diag.Origin) bool {
	if l == nil {
		return false
	}
	is := func(p Point) bool { return p.V.From.Same(at) }
	return l.Exact.From.Same(at) || l.Min.From.Same(at) || l.Max.From.Same(at) || slices.ContainsFunc(l.Points, is) || slices.ContainsFunc(l.Histogram, is)
}

// Least is the shortest time an attempt can take, Unset where nobody said.
func (l *Latency) Least() Val[Duration] {
	switch {
	case l == nil:
		return Val[Duration]{}
	case l.Min.Set():
		return l.Min
	}
	return l.Exact
}

// Most is the longest time an attempt can take, Unset where nobody said.
func (l *Latency) Most() Val[Duration] {
	switch {
	case l == nil:
		return Val[Duration]{}
	case l.Max.Set():
		return l.Max
	}
	return l.Exact
}

// Quantile gives the latency at p: the point at p, else the next higher one, else max, never a lower one.
// A time that is exact or a maximum needs no headroom, which exact tells. Used is the percentile taken, Whole
// for a maximum.
func (l *Latency) Quantile(p Fraction) (d Val[Duration], used Fraction, exact bool) {
	switch {
	case l == nil:
		return d, Whole, true
	case l.Exact.Set():
		return l.Exact, Whole, true
	}
	best, used := Val[Duration]{}, Fraction(0)
	for _, points := range [...][]Point{l.Points, l.Histogram} {
		for _, pt := range points {
			if pt.P >= p && (!best.Set() || pt.P < used || pt.P == used && pt.V.V < best.V) {
				best, used = pt.V, pt.P
			}
		}
	}
	if best.Set() {
		return best, used, used >= Whole
	}
	return l.Max, Whole, true
}

// Above bounds the share of attempts that take longer than limit: between lo and hi, both 0 to 1.
// known is false where nothing is known of the latency.
func (l *Latency) Above(limit Duration) (lo, hi Fraction, known bool) {
	lo, hi = 0, Whole
	if l == nil {
		return lo, hi, false
	}
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
		switch {
		case pt.V.V > limit:
			lo = max(lo, Whole-pt.P)
		case !pt.AtLeast:
			hi = min(hi, Whole-pt.P)
		}
	}
	return min(lo, hi), hi, known
}
