// Package prometheus reads scrapes: the text format 0.0.4, OpenMetrics, delimited protobuf, and answers of
// Prometheus' HTTP API that have the buckets of a histogram. It gives latency: of calls where a metric names caller
// and callee, of a service where it measures the service itself.
//
// Series of one call are added before a percentile is read off. Several scrapes of one target, in one file or in
// several, are a window: what was observed between them counts. What is known to be wrong with a measurement, such
// as timeouts that are not in it, comes along as a caveat.
package prometheus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// importerName is the word of `sources`.
const importerName = "prometheus"

// Importer reads scrapes.
var Importer = &importers.Importer{
	Name:      importerName,
	Title:     "Prometheus scrapes: text, OpenMetrics, protobuf, answers of the HTTP API",
	Binary:    true,
	Recognise: recognise,
	Import: func(src *importers.Source) (*model.Fragment, []diag.Finding) {
		fragments, found := together([]*importers.Source{src})
		return fragments[0], found
	},
	Together: together,
	Codes:    []*diag.Code{yamlsrc.Syntax, importers.BadValue, importers.NotUnderstood},
}

// together reads sources as one: what several say of a call is added, and stands in the fragment of the file where
// the call comes first. Files are taken by name, so that their order never shows.
func together(sources []*importers.Source) ([]*model.Fragment, []diag.Finding) {
	r := newReporter()
	scrapes := make([]*scrape, len(sources))
	for i, src := range sources {
		scrapes[i] = readSource(r, src)
	}
	byName := slices.Clone(scrapes)
	slices.SortStableFunc(byName, func(a, b *scrape) int { return cmp.Compare(a.file, b.file) })
	r.missing(byName)
	e := &edges{reporter: r, by: map[edge][]*candidate{}, timeouts: map[edge]float64{}}
	for _, s := range r.targets(byName) {
		e.collect(s)
	}
	byFile := map[string]fragment{}
	fragments := make([]*model.Fragment, len(sources))
	for i, src := range sources {
		fragments[i] = &model.Fragment{File: src.File, As: importerName, Observed: true}
		byFile[src.File] = fragment{fragments[i]}
	}
	for _, to := range e.order {
		if to.caller == to.callee {
			e.unread("self", to.callee, diag.Info, e.best(to).at, "", "`%s` calls itself, which is left out", to.callee)
			continue
		}
		c := e.best(to)
		timeouts := 0.0
		if c.caveats&model.WithoutTimeouts != 0 {
			timeouts = e.timeouts[to]
		}
		byFile[c.at.File].put(to, c.latency(timeouts), c.at)
	}
	if len(e.order) == 0 {
		for _, s := range byName {
			if !s.failed && !s.refused {
				s.nothing(e)
			}
		}
	}
	slices.SortStableFunc(r.found, func(a, b diag.Finding) int { return cmp.Compare(a.Place().File, b.Place().File) })
	return fragments, r.findings()
}

// readSource reads one file of any kind.
func readSource(r *reporter, src *importers.Source) *scrape {
	s := newScrape(r, src)
	before := len(r.found)
	switch kindOf(src.Bytes) {
	case isProtobuf:
		readProtobuf(s, src.Bytes)
	case isAnswer:
		readAnswer(s, src.Bytes)
	case isPage:
		r.syntax(diag.Span{File: s.file, Line: 1, Col: 1}, "save what `/metrics` answers, not the page around it", "`%s` is an HTML page, not a scrape", s.file)
	case isBinary:
		r.syntax(diag.Span{File: s.file, Line: 1, Col: 1}, "save the text format, or delimited protobuf", "`%s` is binary and no scrape in protobuf", s.file)
	default:
		readText(s, string(src.Bytes))
	}
	s.failed = len(r.found) > before && len(s.families) == 0
	return s
}

// missing says that no file of a source has the metric that the plan names.
func (r *reporter) missing(scrapes []*scrape) {
	has := map[diag.Span]bool{}
	for _, s := range scrapes {
		ref := s.source.Ref.Metric
		for family := range s.families {
			has[ref.Span()] = has[ref.Span()] || metricName(family) == metricName(ref.V)
		}
	}
	for _, s := range scrapes {
		ref := s.source.Ref.Metric
		if !ref.Set() || s.failed || has[ref.Span()] {
			continue
		}
		has[ref.Span()] = true
		f := importers.BadValue.New(ref.V, ref.Span(), "`%s` has no metric `%s`", s.file, ref.V)
		f.Help = "name a histogram or a summary" + s.examples()
		r.found = append(r.found, f)
	}
}

// nothing says what a file has instead of latency.
func (s *scrape) nothing(e *edges) {
	if e.said || s.source.Ref.Metric.Set() && len(s.order) == 0 {
		return // that has been said
	}
	at := diag.Span{File: s.file}
	f := importers.NotUnderstood.New("", at, "`%s` has no latency: %s of no kind that is known", s.file, count(len(s.families), "its metric is", "its %d metrics are"))
	switch {
	case s.nameless > 0:
		f.Message = fmt.Sprintf("`%s` has values without the name of a metric", s.file)
		f.Help = "query the buckets themselves, such as `http_client_request_duration_seconds_bucket`, and not a function of them"
	case len(s.families) == 0:
		f.Message = fmt.Sprintf("`%s` has no sample", s.file)
	case e.empty > 0:
		f.Message = fmt.Sprintf("`%s` has no latency: %s", s.file, count(e.empty, "nothing was observed in its series", "nothing was observed in its %d series"))
		f.Help = "take the scrape under load"
	default:
		if names := s.examples(); names != "" {
			f.Help = "name the metric in `sources`, as `{prometheus: FILE, metric: NAME, caller: LABEL, callee: LABEL}`" + names
		}
	}
	s.found = append(s.found, f)
}

// examples names what may be a latency: histograms and summaries in a unit of time.
func (s *scrape) examples() string {
	var names []string
	for _, family := range slices.Sorted(maps.Keys(s.families)) {
		typ := s.families[family]
		if unitOf(family) > 0 && (typ == "histogram" || typ == "summary") && !strings.HasPrefix(family, "go_") && len(names) < 3 {
			names = append(names, "`"+family+"`")
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// count puts a number into the form for many, unless it is one.
func count(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
