package prometheus

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model/diag"
)

// scrape is what one source has: series of the metrics that say something of latency, each with what was seen of it.
type scrape struct {
	*reporter
	source *importers.Source
	file   string
	// families has every metric family by name with its type.
	families map[string]string
	units    map[string]string
	series   map[string]*series
	order    []*series
	// begun tells one process from another: when it began, or something as unique. NaN where nothing says it.
	begun float64
	// nameless counts values without a metric's name, of an answer to a query.
	nameless int
	// oneLine puts every place at the top of the file: its lines are not those that are read.
	oneLine bool
	// failed is set where nothing could be read, refused where something of which latency was expected could not:
	// both have been said.
	failed, refused bool
}

// series is one time series with what was seen of it, in the order of time.
type series struct {
	family string
	labels map[string]string
	at     diag.Span
	seen   []observation
}

// moments orders observations: by time in ms, noTime for none, then by how often the sample came before.
type moments struct {
	at  int64
	nth int32
}

// observation is one moment of a series: a distribution, the percentiles of a summary, or a plain number.
type observation struct {
	moments
	dist  distribution
	parts []bucket // of a summary: le is the value, n the share
	value float64  // the number, or how many observations there were
}

// line gives the place of a line.
func (s *scrape) line(no int32) diag.Span {
	if s.oneLine {
		no = 1
	}
	return diag.Span{File: s.file, Line: no, Col: 1}
}

func newScrape(r *reporter, src *importers.Source) *scrape {
	return &scrape{
		reporter: r, source: src, file: src.File, families: map[string]string{}, units: map[string]string{},
		series: map[string]*series{}, begun: math.NaN(),
	}
}

// started are the metrics that tell one process from another.
var started = []string{"process_start_time_seconds", "envoy_server_initialization_time_ms"}

// wanted reports whether a family says something of latency.
func (s *scrape) wanted(family string) bool {
	if s.source.Ref.Metric.Set() {
		return family == metricName(s.source.Ref.Metric.V)
	}
	p, _ := profileOf(family)
	return p != nil
}

// keeps reports whether the series of a family are needed: for latency, or to understand it.
func (s *scrape) keeps(family string) bool {
	return s.wanted(family) || slices.Contains(started, family) || timeoutCounter.MatchString(family)
}

// keep takes one series from what expfmt has read.
func (s *scrape) keep(f *dto.MetricFamily, m *dto.Metric, when moments, at diag.Span) {
	if m.TimestampMs != nil && when.at == noTime {
		when.at = m.GetTimestampMs()
	}
	name := f.GetName()
	o := observation{moments: when}
	switch {
	case m.GetHistogram() != nil:
		dist, err := s.histogram(name, m.GetHistogram(), at)
		if err != "" {
			s.unusable(name, at, err)
			return
		}
		o.dist, o.value = dist, dist.count()
	case m.GetSummary() != nil:
		o.value = float64(m.GetSummary().GetSampleCount())
		for _, q := range m.GetSummary().GetQuantile() {
			if v := q.GetValue(); !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 && q.GetQuantile() > 0 && q.GetQuantile() < 1 {
				o.parts = append(o.parts, bucket{v, q.GetQuantile()})
			}
		}
		slices.SortStableFunc(o.parts, func(a, b bucket) int { return cmp.Compare(a.n, b.n) })
	case m.GetCounter() != nil:
		o.value = m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		o.value = m.GetGauge().GetValue()
	default:
		o.value = m.GetUntyped().GetValue()
	}
	if slices.Contains(started, name) {
		s.begun = o.value
		if h := m.GetHistogram(); h != nil {
			s.begun = h.GetSampleSum()
		}
		return
	}
	s.add(name, labelsOf(m), at, o)
}

func (s *scrape) add(family string, labels map[string]string, at diag.Span, o observation) {
	key := keyOf(family, labels)
	known := s.series[key]
	if known == nil {
		known = &series{family: family, labels: labels, at: at}
		s.series[key] = known
		s.order = append(s.order, known)
	}
	known.seen = append(known.seen, o)
}

// keyOf tells one series from another.
func keyOf(family string, labels map[string]string) string {
	var b strings.Builder
	b.WriteString(family)
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString("\x00" + name + "\x00" + labels[name])
	}
	return b.String()
}

// histogram reads either kind. Where a metric has both, the classic buckets are what queries use.
func (s *scrape) histogram(name string, h *dto.Histogram, at diag.Span) (distribution, string) {
	count := h.GetSampleCountFloat()
	if count == 0 {
		count = float64(h.GetSampleCount())
	}
	if h.SampleCount == nil && h.SampleCountFloat == nil {
		count = -1
	}
	if len(h.GetBucket()) == 0 && h.Schema != nil {
		n, err := nativeOf(h)
		if err != nil {
			return nil, err.Error()
		}
		return n, ""
	}
	buckets := make([]bucket, 0, len(h.GetBucket())+1)
	for _, b := range h.GetBucket() {
		n := b.GetCumulativeCountFloat()
		if n == 0 {
			n = float64(b.GetCumulativeCount())
		}
		buckets = append(buckets, bucket{b.GetUpperBound(), n})
	}
	c, repaired, err := settle(buckets, count)
	if err != nil {
		return nil, err.Error()
	}
	if repaired != "" {
		s.repaired(name, at, repaired)
	}
	return c, ""
}

// nativeOf reads an exponential histogram: counts of whole observations are written as differences, others as such.
func nativeOf(h *dto.Histogram) (*native, error) {
	for i := range h.GetNegativeDelta() {
		if h.GetNegativeDelta()[i] != 0 {
			return nil, errNegative
		}
	}
	for _, n := range h.GetNegativeCount() {
		if n != 0 {
			return nil, errNegative
		}
	}
	counts, sum := h.GetPositiveCount(), int64(0)
	if len(counts) == 0 {
		counts = make([]float64, 0, len(h.GetPositiveDelta()))
		for _, d := range h.GetPositiveDelta() {
			sum += d
			counts = append(counts, float64(sum))
		}
	}
	spans := make([]span, 0, len(h.GetPositiveSpan()))
	for _, p := range h.GetPositiveSpan() {
		spans = append(spans, span{p.GetOffset(), p.GetLength()})
	}
	zero := h.GetZeroCountFloat()
	if zero == 0 {
		zero = float64(h.GetZeroCount())
	}
	return newNative(h.GetSchema(), h.GetZeroThreshold(), zero, spans, counts)
}
