package planfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
)

var histogramForm = &formInfo{
	name: "histogram", takes: "a mapping from durations to the share of attempts that take at most that long",
	parts: []*formInfo{upToWhole.formInfo},
	schema: object{
		"type": "object", "propertyNames": anyOf(durationSchema, object{"pattern": "^x-"}),
		"patternProperties": object{"^x-": true}, "additionalProperties": upToWhole.ref(),
	},
	examples: []any{object{"100ms": "92%", "500ms": "99.65%"}},
}

// latencyTable has the fixed keys of a latency; its percentiles are keys too.
var latencyTable = table[model.Latency]{
	what: "a `latency`",
	keys: []*key[model.Latency]{
		field("min", "The shortest time an attempt can take.", duration, func(l *model.Latency) *model.Val[model.Duration] { return &l.Min }),
		field("max", "The longest time an attempt can take.", duration, func(l *model.Latency) *model.Val[model.Duration] { return &l.Max }),
		custom("histogram", "The share of attempts that take at most each duration.", histogramForm, readHistogram),
		field("samples", "How many attempts were measured.", samples, func(l *model.Latency) *model.Val[int64] { return &l.Samples }),
		field("window", "Over how long they were measured.", positive, func(l *model.Latency) *model.Val[model.Duration] { return &l.Window }),
	},
}

var latencyForm = &formInfo{
	name: "latency", takes: "a duration, or a mapping with percentiles",
	parts:    append(latencyTable.forms(), duration.formInfo),
	schema:   anyOf(duration.ref(), latencySchema()),
	examples: []any{"120ms", object{"p50": "12ms", "p99": "140ms", "max": "1s"}, object{"histogram": object{"500ms": "99.65%"}, "samples": 1000, "window": "7d"}},
}

func latencySchema() object {
	s := latencyTable.schema()
	described := duration.described("The share of attempts below the point takes at most this long.")
	patterns := object{"^x-": true, percentilePattern: described}
	s["patternProperties"] = patterns
	s["properties"].(object)["p50"] = duration.described("Half of the attempts take at most this long.")
	s["properties"].(object)["p99"] = duration.described("99% of the attempts take at most this long.")
	s["propertyNames"] = object{"not": object{"pattern": `^p[0.]*$`}}
	return s
}

func readLatency(r *reader, n *yamlsrc.Node) *model.Latency {
	var l model.Latency
	switch n.Kind() {
	case yamlsrc.Scalar:
		if d, ok := duration.read(r, n); ok {
			l.Exact = written(r, d, n)
		}
	case yamlsrc.Map:
		readDistribution(r, n, &l)
	default:
		r.wrongShape(n, latencyForm.takes)
	}
	return &l
}

func readDistribution(r *reader, n *yamlsrc.Node, l *model.Latency) {
	outer, outerAt := r.key, r.keyAt
	for _, p := range n.Pairs() {
		name := p.Key.Text()
		if isUser(name) || p.Key.Broken() || p.Value.Broken() {
			continue
		}
		r.key, r.keyAt = name, p.Key.Span()
		if k := latencyTable.find(name); k != nil {
			k.read(r, p.Value, l)
			continue
		}
		share, ok := model.ParsePercentile(name)
		if !ok {
			r.unknown(p.Key, latencyTable.what, append(latencyTable.names(), "p50", "p99", "p99.9"))
			continue
		}
		if d, ok := duration.read(r, p.Value); ok {
			l.Points = append(l.Points, model.Point{P: share, V: written(r, d, p.Value)})
		}
	}
	r.key, r.keyAt = outer, outerAt
	sortPoints(r, l.Points)
	if l.Min.Set() && l.Max.Set() && l.Min.V > l.Max.V {
		r.report(badValue, l.Min.Span(), problem{fmt.Sprintf("`min` %s is above `max` %s", l.Min.V, l.Max.V), "exchange the two"})
	}
}

// sortPoints puts points in rising order of their share. A time that falls while the share rises is no distribution.
func sortPoints(r *reader, points []model.Point) {
	slices.SortStableFunc(points, func(a, b model.Point) int { return cmp.Compare(a.P, b.P) })
	for i := 1; i < len(points); i++ {
		switch a, b := points[i-1], points[i]; {
		case a.P == b.P:
			r.report(badValue, b.V.Span(), problem{fmt.Sprintf("`%s` is given twice", b.P.Percentile()), "keep one of the two"})
		case a.V.V > b.V.V:
			r.report(badValue, b.V.Span(), problem{fmt.Sprintf("`%s` %s is below `%s` %s", b.P.Percentile(), b.V.V, a.P.Percentile(), a.V.V), "a higher percentile takes at least as long as a lower one"})
		}
	}
}

// readHistogram reads bounds with their shares, in rising order of the bound.
func readHistogram(r *reader, n *yamlsrc.Node, l *model.Latency) {
	if n.Kind() != yamlsrc.Map {
		r.wrongShape(n, histogramForm.takes)
		return
	}
	for _, p := range n.Pairs() {
		if isUser(p.Key.Text()) || p.Key.Broken() || p.Value.Broken() {
			continue
		}
		bound, boundOK := duration.read(r, p.Key)
		share, ok := upToWhole.read(r, p.Value)
		if ok && boundOK {
			l.Histogram = append(l.Histogram, model.Point{P: share, V: model.At(bound, p.Key.Span())})
		}
	}
	slices.SortStableFunc(l.Histogram, func(a, b model.Point) int { return cmp.Compare(a.V.V, b.V.V) })
	for i := 1; i < len(l.Histogram); i++ {
		if a, b := l.Histogram[i-1], l.Histogram[i]; a.P > b.P {
			r.report(badValue, b.V.Span(), problem{
				fmt.Sprintf("the share %s up to %s is below the share %s up to %s", b.P, b.V.V, a.P, a.V.V),
				"write the share of all attempts up to each duration, the shorter ones included",
			})
		}
	}
}
