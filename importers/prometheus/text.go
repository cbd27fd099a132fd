package prometheus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"
)

// text reads the text format and OpenMetrics. It sorts the lines by metric family and moment, mends what real
// scrapes do to them, and hands each heap to expfmt by itself: so a broken line costs its own family only, several
// scrapes can follow each other in one file, and every series keeps its line.
//
// expfmt's own reader of OpenMetrics refuses a whole file for one missing `# EOF` or one long exemplar; what
// OpenMetrics adds to the text format (exemplars, times in seconds, units, further types) is taken off before.
type text struct {
	*scrape
	src     string
	types   map[string]string
	buckets map[string]bool // families that have lines `_bucket{le=…}`
	shares  map[string]bool // families that have lines `{quantile=…}`
	seconds bool            // times are OpenMetrics'
	parser  expfmt.TextParser

	heaps map[heapKey]*heap
	order []*heap
	// last has, for every sample so far, how often it came and when.
	last map[string]occurrence
	body bytes.Buffer
	// other has lines of families that say nothing of latency: they are only looked at.
	other []place
	// told counts those of them that cannot be read.
	told broken
}

const (
	// maxLabels bounds the labels of a line: expfmt compares each with each. Prometheus itself has no limit by default.
	maxLabels = 1000
	// maxAgain bounds how often a sample without a time may come again: the scrapes that follow each other in a file.
	maxAgain = 1000
	// atOnce is how many lines of other families are looked at together.
	atOnce = 1000
	// maxBroken is after how many broken ones the others are taken as they are.
	maxBroken = 100
)

// heapKey tells the lines of one family at one moment: by its time, or by how often it came before.
type heapKey struct {
	family string
	at     int64
	nth    int32
}

type heap struct {
	heapKey
	lines []place
	// bad is why the heap cannot be read as a whole, in the line bad.at.
	bad *fault
}

// place is a line of the source: its number and its bytes.
type place struct{ no, start, end int32 }

type occurrence struct {
	at    int64
	nth   int32
	value string
}

// fault is what is wrong with a line.
type fault struct {
	line int32
	text string
}

// broken counts faults of lines that would change nothing.
type broken struct {
	first  fault
	family string
	count  int
}

func readText(s *scrape, src string) {
	t := &text{
		scrape: s, src: src, types: map[string]string{}, buckets: map[string]bool{}, shares: map[string]bool{},
		parser: expfmt.NewTextParser(prom.UTF8Validation), heaps: map[heapKey]*heap{}, last: map[string]occurrence{},
	}
	t.lines(t.learn)
	t.lines(t.sort)
	t.look()
	t.last, t.heaps = nil, nil
	slices.SortStableFunc(t.order, func(a, b *heap) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nth, b.nth)) })
	for _, h := range t.order {
		t.read(h)
	}
	if t.told.count > 0 {
		t.unreadLines(t.told)
	}
}

// lines visits each line that is not empty, without blanks and carriage returns around it.
func (t *text) lines(visit func(p place, line string)) {
	for no, at := int32(1), 0; at < len(t.src); no++ {
		end := len(t.src)
		if n := strings.IndexByte(t.src[at:], '\n'); n >= 0 {
			end = at + n
		}
		line := strings.TrimRight(t.src[at:end], " \t\r")
		start := at + len(line) - len(strings.TrimLeft(line, " \t"))
		if line = strings.TrimLeft(line, " \t"); line != "" {
			visit(place{no, int32(start), int32(start + len(line))}, line)
		}
		at = end + 1
	}
}

// learn takes types and units from comments, wherever they stand, and from the labels of samples without any.
func (t *text) learn(_ place, line string) {
	if line[0] == '#' {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[1] == "EOF":
			t.seconds = true
		case len(words) < 4:
		case words[1] == "TYPE":
			if name := strings.Trim(words[2], `"`); t.types[name] == "" {
				t.types[name] = strings.ToLower(words[3])
			}
		case words[1] == "UNIT":
			t.units[strings.Trim(words[2], `"`)] = words[3]
		}
		return
	}
	s := cut(line)
	if base, found := strings.CutSuffix(s.name, "_bucket"); found && pair(s.labels, "le") >= 0 {
		t.buckets[base] = true
	}
	if pair(s.labels, "quantile") >= 0 {
		t.shares[s.name] = true
	}
}

// familyOf gives the family of a sample: that of a histogram or a summary where it is a part of one.
func (t *text) familyOf(name string) string {
	for _, suffix := range [...]string{"_bucket", "_count", "_sum"} {
		base, found := strings.CutSuffix(name, suffix)
		switch {
		case !found:
		case t.buckets[base], suffix != "_bucket" && t.shares[base]:
			return base
		case t.types[name] == "" && (t.types[base] == "histogram" || suffix != "_bucket" && t.types[base] == "summary"):
			return base
		}
	}
	return name
}

// sort puts a sample on the heap of its family and moment. What comes again without a time is the next scrape.
func (t *text) sort(p place, line string) {
	if line[0] == '#' {
		return
	}
	s := cut(line)
	family := t.familyOf(s.name)
	t.families[family] = t.typeOf(family)
	if !t.keeps(family) {
		if t.other = append(t.other, p); len(t.other) == atOnce {
			t.look()
		}
		return
	}
	value, at, ok := moment(s.value, t.seconds)
	key := heapKey{family: family, at: at}
	seen, again := t.last[s.identity]
	switch {
	case strings.Count(s.labels, "=") > maxLabels:
		t.heap(key).bad = &fault{p.no, fmt.Sprintf("the line has more than %d labels", maxLabels)}
	case again && seen.nth == maxAgain:
		t.heap(key).bad = &fault{p.no, fmt.Sprintf("`%s` comes more than %d times", s.name, maxAgain)}
		return
	case !again || seen.at != at:
	case at != noTime && seen.value == value:
		return
	case at != noTime:
		t.heap(key).bad = &fault{p.no, "`" + s.name + "` has two values for one moment, " + seen.value + " and " + value}
	default:
		key.nth = seen.nth + 1
	}
	t.last[s.identity] = occurrence{at, key.nth, value}
	h := t.heap(key)
	if !ok && h.bad == nil {
		h.bad = &fault{p.no, "`" + strings.TrimSpace(strings.TrimPrefix(s.value, value)) + "` is no time in whole milliseconds"}
	}
	h.lines = append(h.lines, p)
}

func (t *text) heap(key heapKey) *heap {
	h := t.heaps[key]
	if h == nil {
		h = &heap{heapKey: key}
		t.heaps[key] = h
		t.order = append(t.order, h)
	}
	return h
}

// typeOf gives the type that expfmt is told, empty for none.
func (t *text) typeOf(family string) string {
	switch {
	case t.buckets[family]:
		return "histogram"
	case t.shares[family]:
		return "summary"
	}
	switch typ := t.types[family]; typ {
	case "histogram", "summary", "counter", "gauge":
		return typ
	}
	return ""
}

// read hands one heap to expfmt and keeps what it says.
func (t *text) read(h *heap) {
	if h.bad == nil {
		h.bad = t.parse(h)
	}
	switch {
	case h.bad == nil:
	case t.wanted(h.family):
		t.refuse(h.family, *h.bad)
	default:
		t.told.add(*h.bad, h.family)
	}
}

// look has expfmt read the lines of other families, so that what is no scrape is said to be none.
func (t *text) look() {
	for len(t.other) > 0 && t.told.count < maxBroken {
		t.body.Reset()
		for _, p := range t.other {
			s := cut(t.src[p.start:p.end])
			value, _, ok := moment(s.value, t.seconds)
			if strings.Count(s.labels, "=") > maxLabels {
				t.body.WriteByte('\n') // the lines keep their numbers
				continue
			}
			if !ok {
				value = s.value
			}
			t.body.WriteString(s.identity + " " + value + "\n")
		}
		_, err := t.parser.TextToMetricFamilies(&t.body)
		if err == nil {
			break
		}
		line := 0
		if e := (expfmt.ParseError{}); errors.As(err, &e) {
			line = min(max(e.Line-1, 0), len(t.other)-1)
			err = errors.New(e.Msg)
		}
		p := t.other[line]
		t.told.add(fault{p.no, err.Error()}, t.familyOf(cut(t.src[p.start:p.end]).name))
		t.other = t.other[line+1:]
	}
	t.other = t.other[:0]
}

func (b *broken) add(f fault, family string) {
	if b.count == 0 {
		b.first, b.family = f, family
	}
	b.count++
}

func (t *text) parse(h *heap) *fault {
	body := &t.body
	body.Reset()
	if typ := t.typeOf(h.family); typ != "" {
		body.WriteString("# TYPE " + quoteName(h.family) + " " + typ)
	}
	body.WriteByte('\n')
	first, seen := []int32{}, map[string]bool{}
	for _, p := range h.lines {
		s := cut(t.src[p.start:p.end])
		value, _, _ := moment(s.value, t.seconds)
		body.WriteString(s.identity + " " + value + "\n")
		if id := without(without(s.labels, "le"), "quantile"); !seen[id] {
			seen[id] = true
			first = append(first, p.no)
		}
	}
	families, err := t.parser.TextToMetricFamilies(body)
	if err != nil {
		return lineFault(err, h.lines)
	}
	f := families[h.family]
	if f == nil {
		return nil
	}
	for i, m := range f.GetMetric() {
		line := h.lines[0].no
		if len(first) == len(f.GetMetric()) {
			line = first[i]
		}
		t.keep(f, m, moments{h.at, h.nth}, t.line(line))
	}
	return nil
}

// lineFault translates a place in a heap to the line of the file. The heap has one line more at its top.
func lineFault(err error, lines []place) *fault {
	f := &fault{lines[0].no, err.Error()}
	if e := (expfmt.ParseError{}); errors.As(err, &e) {
		i := min(max(e.Line-2, 0), len(lines)-1)
		f.line, f.text = lines[i].no, e.Msg
	}
	return f
}

// quoteName writes the name of a family as the text format wants it.
func quoteName(name string) string {
	if prom.LegacyValidation.IsValidMetricName(name) {
		return name
	}
	return quoted(name)
}

// labelsOf gives the labels of a series by name, dots written as they were before names could have them.
func labelsOf(m *dto.Metric) map[string]string {
	labels := make(map[string]string, len(m.GetLabel()))
	for _, l := range m.GetLabel() {
		labels[strings.ReplaceAll(l.GetName(), ".", "_")] = l.GetValue()
	}
	return labels
}
