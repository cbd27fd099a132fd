package rules

import (
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// ThinLatencyData is raised for a percentile that its data cannot carry.
var ThinLatencyData = &diag.Code{
	ID: "BP304", Name: "thin-latency-data", Severity: diag.Warning,
	Summary: "a latency rests on too few samples, on an open bucket, on data without its timeouts, or on several series",
}

var thinLatencyData = &Rule{Code: ThinLatencyData, Leg: (*Pass).thin}

// enoughSamples is what a percentile needs where the policy's `samples` does not say.
const enoughSamples = 1000

// thin judges the percentile that sizes a call. Worst comes first; what else there is to say follows as notes.
func (p *Pass) thin(l solver.LegID) {
	leg, t, c, _ := p.call(l)
	lat := c.Latency
	if !leg.Last || t.Rounds == 0 || lat == nil || len(lat.Points)+len(lat.Histogram) == 0 || !doubtful(lat) {
		return
	}
	id, at := p.Graph.LegName(l), p.percentile(l)
	value, used, exact := lat.Quantile(at)
	f := ThinLatencyData.New(id, diag.Span{}, "")
	f.Severity = diag.Info
	say := func(s diag.Severity, text, help string, from *diag.Origin) {
		if f.Message == "" {
			f.Message, f.Help, f.Cause = text, help, from
		} else {
			f.Notes = append(f.Notes, diag.Note{Text: text, At: from})
		}
		f.Severity = max(f.Severity, s)
	}
	if value.Set() && !exact && open(lat, used, value.V) {
		say(diag.Warning, fmt.Sprintf("the %s of `%s` is in the last bucket of its histogram: it is %s or more, nobody knows how much", used.Percentile(), id, value.V.Down()),
			"give the histogram buckets up to the timeout and beyond", value.From)
	}
	if share, known := censored(lat); share > 0 && value.Set() && !exact && (!known || share >= model.Whole-at) {
		text := fmt.Sprintf("the attempts of `%s` that timed out are not in its latency: its %s is higher than the %s measured", id, at.Percentile(), value.V.Down())
		if known {
			text = fmt.Sprintf("%s of the attempts of `%s` timed out and are not in its latency: its %s is higher than the %s measured", share, id, at.Percentile(), value.V.Down())
		}
		say(diag.Warning, text, fmt.Sprintf("measure `%s` with a longer timeout, or count what timed out among the slow ones", id), lat.Timeouts.From)
	}
	if enough := p.Plan.Policy.Samples.Or(enoughSamples); lat.Samples.Set() && lat.Samples.V < enough {
		say(diag.Warning, fmt.Sprintf("the latency of `%s` rests on %s, fewer than %s", id, counted(lat.Samples.V, "sample"), thousands(enough)),
			fmt.Sprintf("measure `%s` for longer, or lower `samples` in the policy", id), lat.Samples.From)
	}
	if lat.Caveats.Or(0)&model.LargestOf != 0 && value.Set() && !exact {
		// The largest is a safe bound: worth knowing, not worth a warning.
		say(diag.Info, fmt.Sprintf("the %s of `%s` is the largest of several series: percentiles cannot be joined", used.Percentile(), id),
			"measure with a histogram, whose series can be added", lat.Caveats.From)
	}
	if f.Message == "" {
		return
	}
	f.Touched = p.Sol.Nodes[leg.To].Touched
	if caveats := lat.Caveats.Or(0) &^ model.LargestOf; caveats != 0 {
		f.Notes = append(f.Notes, diag.Note{Text: "also known of this measurement: " + caveats.String(), At: lat.Caveats.From})
	}
	p.Report(f)
}

// doubtful reports whether anything is known that could speak against a latency.
func doubtful(lat *model.Latency) bool {
	lower := func(pt model.Point) bool { return pt.AtLeast }
	return lat.Samples.Set() || lat.Timeouts.Set() || lat.Caveats.Set() || slices.ContainsFunc(lat.Points, lower) || slices.ContainsFunc(lat.Histogram, lower)
}

// open reports whether a percentile is known by a lower bound alone.
func open(lat *model.Latency, p model.Fraction, v model.Duration) bool {
	for _, pts := range [][]model.Point{lat.Points, lat.Histogram} {
		for _, pt := range pts {
			if pt.P == p && pt.V.V == v && pt.AtLeast {
				return true
			}
		}
	}
	return false
}

// censored is the share of attempts that timed out and were not measured; known is false where nobody counted the others.
func censored(lat *model.Latency) (share model.Fraction, known bool) {
	cut := lat.Timeouts.Or(0)
	if cut <= 0 {
		return 0, true
	}
	all := float64(cut) + float64(lat.Samples.Or(0))
	return max(1, model.Fraction(float64(cut)/all*model.Whole)), lat.Samples.Set()
}
