package prometheus

import (
	"math"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// percentiles are computed of every histogram, in parts per million: a latency is taken at a known percentile and
// never between two, so those that targets name are here.
var percentiles = []model.Fraction{500_000, 900_000, 950_000, 990_000, 999_000, 999_900}

// latency computes what a candidate says, every value at the line of its first series. Distributions are added
// before anything is read off them; of what cannot be added the largest counts, and a caveat says so.
func (c *candidate) latency(timeouts float64) *model.Latency {
	var sums []distribution
	caveats, window := c.caveats, int64(0)
	for _, m := range c.of {
		if m.sinceStart {
			caveats |= model.SinceStart
		}
		window = max(window, m.ms)
		sums = addTo(sums, m.dist)
	}
	if len(sums) > 1 {
		caveats |= model.LargestOf
	}
	lat := &model.Latency{Points: c.points(sums), Caveats: model.At(caveats, c.at)}
	if len(sums) == 1 {
		lat.Histogram = c.bounds(sums[0])
	}
	if n := c.total(); n >= 1 && !slices.ContainsFunc(sums, fractional) {
		lat.Samples = model.At(whole(n), c.at)
	}
	if window > 0 {
		lat.Window = model.At(times(float64(window), model.Millisecond), c.at)
	}
	if n := c.cutOff + timeouts; n >= 1 {
		lat.Timeouts = model.At(whole(n), c.at)
	}
	return lat
}

// fractional reports whether a distribution counts parts of observations: then it is a rate, and its sum no number of
// samples.
func fractional(d distribution) bool {
	return slices.ContainsFunc(d.bounds(), func(b bucket) bool {
		n := b.n * d.count()
		return math.Abs(n-math.Round(n)) > 1e-6*max(1, n)
	})
}

// addTo adds a distribution to the first that takes it.
func addTo(sums []distribution, d distribution) []distribution {
	for i := range sums {
		if sum, ok := sums[i].add(d); ok {
			sums[i] = sum
			return sums
		}
	}
	return append(sums, d)
}

// points reads the percentiles off. They never fall, whatever a client has written.
func (c *candidate) points(sums []distribution) []model.Point {
	at := slices.Clone(percentiles)
	for _, d := range sums {
		if s, ok := d.(summary); ok {
			for _, p := range s.parts {
				at = append(at, model.Fraction(math.Round(p.n*model.Whole)))
			}
		}
	}
	slices.Sort(at)
	var out []model.Point
	for _, p := range slices.Compact(at) {
		v, atLeast := math.NaN(), false
		for _, d := range sums {
			if x, open := d.quantile(p.Float()); !math.IsNaN(x) && !(x <= v) {
				v, atLeast = x, open
			}
		}
		if math.IsNaN(v) || p <= 0 || p >= model.Whole {
			continue
		}
		t := max(0, times(v, c.unit))
		if n := len(out); n > 0 && out[n-1].V.V >= t {
			t, atLeast = out[n-1].V.V, atLeast || out[n-1].AtLeast
		}
		out = append(out, model.Point{P: p, V: model.At(t, c.at), AtLeast: atLeast})
	}
	return out
}

// bounds gives the shares at the exact bounds of a histogram. One that all observations stay below says nothing of
// those to come, and of several with the same share the lowest says all.
func (c *candidate) bounds(d distribution) []model.Point {
	var out []model.Point
	for _, b := range d.bounds() {
		p := model.Fraction(b.n * model.Whole)
		t := times(b.le, c.unit)
		if p <= 0 || p >= model.Whole || t <= 0 || len(out) > 0 && out[len(out)-1].P == p {
			continue
		}
		out = append(out, model.Point{P: p, V: model.At(t, c.at)})
	}
	return out
}

// times gives v units to the nearest nanosecond, at most the longest duration there is.
func times(v float64, unit model.Duration) model.Duration {
	ns := math.Round(v * float64(unit))
	if ns >= float64(model.Unknown) {
		return model.Unknown - 1
	}
	return model.Duration(ns)
}

// whole gives a count, which recording rules make fractional.
func whole(n float64) int64 {
	return int64(min(math.Round(n), 1<<62))
}

// fragment writes what a file says: calls with their latency, and services with that of all their calls.
type fragment struct{ *model.Fragment }

func (f fragment) put(to edge, lat *model.Latency, at diag.Span) {
	callee := f.Service(to.callee, at)
	if to.caller == "" {
		f.Services[callee].Latency = lat
		return
	}
	caller := f.Service(to.caller, at)
	f.Calls = append(f.Calls, model.Call{From: caller, To: callee, At: at, Latency: lat})
}
