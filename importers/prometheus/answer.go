package prometheus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	prom "github.com/prometheus/common/model"

	"github.com/budgetplan/budgetplan/model/diag"
)

// answer is what the HTTP API says to a query: docs/querying/api.md of github.com/prometheus/prometheus.
type answer struct {
	Status, ErrorType, Error string
	Warnings                 []string
	Data                     struct {
		ResultType string
		Result     json.RawMessage
	}
}

// result is one series of a vector or a matrix.
type result struct {
	Metric     map[string]string
	Value      *point
	Values     []point
	Histogram  *point
	Histograms []point
}

// point is a time in seconds and a value: a number in a string, or a native histogram.
type point struct {
	at        float64
	value     string
	histogram *nativeAnswer
}

type nativeAnswer struct {
	Count, Sum string
	// Buckets are a rule for the bounds, the two bounds, and the count.
	Buckets [][4]any
}

// UnmarshalJSON reads the pair that the API writes.
func (p *point) UnmarshalJSON(b []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	if err := json.Unmarshal(pair[0], &p.at); err != nil {
		return err
	}
	if len(pair[1]) > 0 && pair[1][0] == '{' {
		return json.Unmarshal(pair[1], &p.histogram)
	}
	return json.Unmarshal(pair[1], &p.value)
}

// readAnswer takes the samples of an answer as if they had been scraped.
func readAnswer(s *scrape, src []byte) {
	at := diag.Span{File: s.file, Line: 1, Col: 1}
	var a answer
	err := json.Unmarshal(src, &a)
	if err == nil && a.Status == "error" {
		s.syntax(at, "repeat the query once it succeeds", "`%s` is an answer of the HTTP API that says %s: %s", s.file, plain(a.ErrorType), plain(a.Error))
		return
	}
	text, n := strings.Builder{}, 0
	if err == nil {
		n, err = s.results(&a, at, &text)
	}
	if err != nil {
		s.syntax(placeOf(src, err, s.file), "save the answer to an instant query of a histogram's buckets", "`%s` is no answer of the HTTP API that is understood: %s", s.file, plain(err.Error()))
		return
	}
	for _, w := range a.Warnings {
		s.unread("warning", "", diag.Warning, at, "see what the server could not read", "the answer in `%s` may be incomplete: %s", s.file, plain(w))
	}
	if n == 0 {
		s.unread("empty "+s.file, "", diag.Warning, at, "see whether the metric is called so, and whether the server has it at that time", "the answer in `%s` is empty: the query found no series", s.file)
		s.refused = true
		return
	}
	s.oneLine = true
	readText(s, text.String())
}

// results takes the series of an answer one after the other: plain samples as lines of the text format, native
// histograms as they are.
func (s *scrape) results(a *answer, at diag.Span, text *strings.Builder) (n int, err error) {
	if a.Data.ResultType != "vector" && a.Data.ResultType != "matrix" {
		return 0, fmt.Errorf("it is no vector and no matrix")
	}
	dec := json.NewDecoder(bytes.NewReader(a.Data.Result))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return 0, fmt.Errorf("`result` is no list")
	}
	for ; dec.More(); n++ {
		var r result
		if err := dec.Decode(&r); err != nil {
			return n, err
		}
		s.take(&r, at, text)
	}
	return n, nil
}

func (s *scrape) take(r *result, at diag.Span, text *strings.Builder) {
	name := r.Metric["__name__"]
	if name == "" {
		s.nameless++
		return
	}
	delete(r.Metric, "__name__")
	id := identity(name, r.Metric)
	for _, p := range append(r.Values, some(r.Value)...) {
		v, err := strconv.ParseFloat(p.value, 64)
		if err != nil {
			s.unusable(name, at, "`"+plain(p.value)+"` is no number")
			continue
		}
		fmt.Fprintf(text, "%s %v %d\n", id, v, p.ms())
	}
	for _, p := range append(r.Histograms, some(r.Histogram)...) {
		s.families[name] = "histogram"
		if h, err := p.histogram.read(); err != nil {
			s.unusable(name, at, err.Error())
		} else if s.keeps(name) {
			s.add(name, r.Metric, at, observation{moments: moments{at: p.ms()}, dist: h, value: h.count()})
		}
	}
}

// ms gives the time of a point in ms.
func (p *point) ms() int64 { return int64(math.Round(min(max(p.at, -1e12), 1e12) * 1000)) }

// identity writes a name and labels as the text format does, quoted where they have other letters than it once took.
func identity(name string, labels map[string]string) string {
	var pairs []string
	if !prom.LegacyValidation.IsValidMetricName(name) {
		pairs = append(pairs, quoted(name))
		name = ""
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		key := label
		if !prom.LegacyValidation.IsValidLabelName(key) {
			key = quoted(key)
		}
		pairs = append(pairs, key+"="+quoted(labels[label]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

func some(p *point) []point {
	if p == nil {
		return nil
	}
	return []point{*p}
}

// read finds the schema of a native histogram by its bounds.
func (a *nativeAnswer) read() (*native, error) {
	if a == nil {
		return nil, fmt.Errorf("its value is missing")
	}
	h := &native{schema: mostSchema, buckets: map[int32]float64{}}
	schemaSet := false
	for _, b := range a.Buckets {
		var v [3]float64
		for i := range v {
			text, _ := b[i+1].(string)
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
				return nil, fmt.Errorf("the bucket %v has no finite bounds", b)
			}
			v[i] = f
		}
		low, high, n := v[0], v[1], v[2]
		switch {
		case n < 0 || low >= high || high <= 0:
			return nil, errNegative
		case low <= 0:
			h.threshold, h.zero = high, n
			continue
		}
		schema := int32(math.Round(-math.Log2(math.Log2(high / low))))
		index := math.Round(math.Log2(high) * math.Exp2(float64(schema)))
		if schema < leastSchema || schema > mostSchema || schemaSet && schema != h.schema || math.Abs(index) > math.MaxInt32/2 {
			return nil, fmt.Errorf("the bounds %v to %v are of no exponential histogram", low, high)
		}
		h.schema, schemaSet = schema, true
		h.buckets[int32(index)] += n
	}
	return h, nil
}

// placeOf finds the line of an error in JSON.
func placeOf(src []byte, err error, file string) diag.Span {
	offset := int64(0)
	switch e := err.(type) {
	case *json.SyntaxError:
		offset = e.Offset
	case *json.UnmarshalTypeError:
		offset = e.Offset
	}
	before := src[:min(max(offset-1, 0), int64(len(src)))]
	line := 1 + strings.Count(string(before), "\n")
	col := len([]rune(string(before[strings.LastIndex(string(before), "\n")+1:]))) + 1
	return diag.Span{File: file, Line: int32(line), Col: int32(col)}
}
