package prometheus

import (
	"errors"
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model/diag"
)

var errNegative = errors.New("the histogram counts negative times")

// reporter collects findings. What many series have in common is said once, with how many they are.
type reporter struct {
	found []diag.Finding
	told  map[string]int // index into found
	count map[string]int
}

func newReporter() *reporter {
	return &reporter{told: map[string]int{}, count: map[string]int{}}
}

// once adds a finding for the first of a kind, and counts the others.
func (r *reporter) once(kind string, f diag.Finding) {
	r.count[kind]++
	if _, told := r.told[kind]; told {
		return
	}
	r.told[kind] = len(r.found)
	r.found = append(r.found, f)
}

// findings gives all, those that were said once for several with their number.
func (r *reporter) findings() []diag.Finding {
	for kind, i := range r.told {
		if n := r.count[kind]; n > 1 {
			r.found[i].Message += fmt.Sprintf("; %d such series in all", n)
		}
	}
	for i := range r.found {
		r.found[i].Message = oneLine(r.found[i].Message)
	}
	return r.found
}

// syntax says that a source cannot be read at all.
func (r *reporter) syntax(at diag.Span, help, format string, args ...any) {
	f := yamlsrc.Syntax.New("", at, format, args...)
	f.Help = help
	r.found = append(r.found, f)
}

// refuse says that a family of which latency was expected is not read, because of one line.
func (s *scrape) refuse(family string, bad fault) {
	f := yamlsrc.Syntax.New(family, s.line(bad.line), "%s, and `%s` is not read", plain(bad.text), family)
	f.Help = "take the scrape again, whole: `curl -s HOST/metrics > FILE`"
	s.refused = true
	s.found = append(s.found, f)
}

// unreadLines says that lines of other families are not read.
func (s *scrape) unreadLines(b broken) {
	f := yamlsrc.Syntax.New(b.family, s.line(b.first.line), "%s, and the line is not read", plain(b.first.text))
	if b.count > 1 {
		f.Message += fmt.Sprintf("; %d such lines in all", b.count)
	}
	f.Severity = diag.Warning
	f.Help = "no latency is expected of it: leave the line out, or take the scrape again"
	s.found = append(s.found, f)
}

// unusable says that a histogram has no percentiles.
func (s *scrape) unusable(family string, at diag.Span, why string) {
	f := importers.BadValue.New(family, at, "the histogram `%s` is not read: %s", family, why)
	f.Severity = diag.Warning
	f.Help = "percentiles need buckets with their bounds, and how many observations there are in all"
	s.refused = true
	s.once("unusable "+family+why, f)
}

// repaired says what was taken otherwise than it stands there.
func (s *scrape) repaired(family string, at diag.Span, what string) {
	f := importers.BadValue.New(family, at, "in the histogram `%s` %s", family, what)
	f.Severity = diag.Warning
	f.Help = "queries of Prometheus repair it in the same way; see what writes the metric"
	s.once("repaired "+family, f)
}

// unread says that something which would change a number is not read.
func (r *reporter) unread(kind, subject string, severity diag.Severity, at diag.Span, help, format string, args ...any) {
	f := importers.NotUnderstood.New(subject, at, format, args...)
	f.Severity, f.Help = severity, help
	r.once(kind, f)
}

// plain puts what a parser says into one line without quotes that would break it.
func plain(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(oneLine(text), `"`, "`"), ".")
}

// oneLine keeps a message in its line, whatever a file has in its names.
func oneLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text)
}
