package exam

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// A .want file says what the tool must answer, one fact a line (`#` starts a comment):
//
//	args FILE…                         further arguments; `exam:FILE` is a file of the case's own folder
//	call ID FIELD VALUE                a figure of a row, FIELD a path with dots, VALUE as JSON or a bare word;
//	service NAME FIELD VALUE           `~` before a number allows the tolerance of the exam (1 % or 10 ms),
//	entrypoint NAME FIELD VALUE        `<=` and `>=` compare
//	change ENTRYPOINT NEED TEXT…       the entrypoint offers this change, and needs so much after it
//	finding [SEVERITY] CODE SUBJECT    a finding must be there (among the subjects of a grouped one, too)
//	fix CODE SUBJECT KEY BOUND TO      and offer this change, times within the tolerance
//	says CODE SUBJECT TEXT…            and mention this text
//	not CODE [SUBJECT]                 must not be there
//	only CODE SUBJECT…                 the findings of this code are on exactly these subjects
//	when CODE LINE…                    the rest of the line holds once `budgetplan rules` lists the code
//	pass                               nothing is an error
//	clean                              nothing is more than an info

// output is the JSON of one plan, rows by name.
type output struct {
	rows     map[string]map[string]any // "call gateway/order" and so on
	findings []finding
	rules    map[string]bool // the codes that the tool can raise
}

type finding struct {
	Code, Name, Severity, Subject, Message, Help string
	Notes                                        []struct{ Text string }
	Subjects                                     []string
	Fixes                                        []struct{ Subject, Key, From, Bound, To string }
	Ignored                                      any
}

// parse reads what `plan --format json` printed.
func parse(text []byte) (*output, error) {
	var doc struct {
		Entrypoints, Services, Calls []map[string]any
		Findings                     []finding
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("not the JSON of a plan: %w", err)
	}
	out := &output{rows: map[string]map[string]any{}, findings: doc.Findings}
	add := func(kind, key string, rows []map[string]any) {
		for _, r := range rows {
			out.rows[fmt.Sprint(kind, " ", r[key])] = r
		}
	}
	add("entrypoint", "name", doc.Entrypoints)
	add("service", "name", doc.Services)
	add("call", "id", doc.Calls)
	return out, nil
}

// check holds one line of a .want file against the output and says what is wrong, "" for nothing.
func (o *output) check(line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "call", "service", "entrypoint":
		if len(words) < 4 {
			return "wants a name, a field and a value"
		}
		return o.figure(words[0]+" "+words[1], words[2], strings.Join(words[3:], " "))
	case "change":
		return o.change(words[1], words[2], strings.Join(words[3:], " "))
	case "finding":
		return o.finding(words[1:])
	case "fix":
		if len(words) < 6 {
			return "wants a code, a subject, a key, a bound and a value"
		}
		return o.fix(words[1], words[2], words[3], words[4], strings.Join(words[5:], " "))
	case "says":
		return o.says(words[1], words[2], strings.Join(words[3:], " "))
	case "not":
		subject := append(words, "")[2]
		if f := o.find(words[1], subject); f != nil {
			return fmt.Sprintf("%s[%s] on %s: %s", f.Severity, f.Code, f.Subject, f.Message)
		}
		return ""
	case "only":
		return o.only(words[1], words[2:])
	case "when":
		if !o.rules[words[1]] {
			return ""
		}
		return o.check(strings.Join(words[2:], " "))
	case "pass":
		return o.atMost("info", "warning")
	case "clean":
		return o.atMost("info")
	}
	return "unknown word `" + words[0] + "`"
}

// figure compares one field of one row.
func (o *output) figure(row, field, want string) string {
	r, ok := o.rows[row]
	if !ok {
		return "no " + row + " in the output"
	}
	got, ok := lookup(r, field)
	if !ok {
		return fmt.Sprintf("%s has no %s", row, field)
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	if !same(string(text), want) {
		return fmt.Sprintf("%s: %s is %s, want %s", row, field, text, want)
	}
	return ""
}

// change looks for a change that an entrypoint offers.
func (o *output) change(entrypoint, need, text string) string {
	fixes, _ := lookup(o.rows["entrypoint "+entrypoint], "fixes")
	all, _ := fixes.([]any)
	for _, f := range all {
		if m, ok := f.(map[string]any); ok && m["change"] == text && same(fmt.Sprint(m["need_ms"]), need) {
			return ""
		}
	}
	return fmt.Sprintf("no such change; there are %v", all)
}

// lookup follows a path with dots; a key may have dots of its own (`latency_ms.p99.9`).
func lookup(row map[string]any, path string) (any, bool) {
	if v, ok := row[path]; ok {
		return v, true
	}
	for i, r := range path {
		if r != '.' {
			continue
		}
		if m, ok := row[path[:i]].(map[string]any); ok {
			if v, ok := lookup(m, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// same compares a JSON value with the value wanted: numbers as exact decimals, everything else as text.
func same(got, want string) bool {
	compare := func(c int) bool { return c == 0 }
	near := false
	for prefix, f := range map[string]func(int) bool{
		"<=": func(c int) bool { return c <= 0 },
		">=": func(c int) bool { return c >= 0 },
	} {
		if rest, ok := strings.CutPrefix(want, prefix); ok {
			want, compare = strings.TrimSpace(rest), f
		}
	}
	if rest, ok := strings.CutPrefix(want, "~"); ok {
		want, near = strings.TrimSpace(rest), true
	}
	g, gotNumber := new(big.Rat).SetString(got)
	w, wantNumber := new(big.Rat).SetString(want)
	switch {
	case gotNumber && wantNumber && near:
		return within(g, w, big.NewRat(10, 1))
	case gotNumber && wantNumber:
		return compare(g.Cmp(w))
	}
	var list []json.Number
	if json.Unmarshal([]byte(want), &list) == nil {
		var have []json.Number
		return json.Unmarshal([]byte(got), &have) == nil && slices.EqualFunc(have, list, func(a, b json.Number) bool {
			return same(a.String(), b.String())
		})
	}
	return strings.Trim(got, `"`) == strings.Trim(want, `"`)
}

// within is the exam's tolerance: 1 % of what is wanted, or least where that is more.
func within(got, want, least *big.Rat) bool {
	diff := new(big.Rat).Sub(got, want)
	diff.Abs(diff)
	tolerance := new(big.Rat).Mul(new(big.Rat).Abs(want), big.NewRat(1, 100))
	return diff.Cmp(tolerance) <= 0 || diff.Cmp(least) <= 0
}

// find gives the finding of a code on a subject ("" for any), grouped ones included.
func (o *output) find(code, subject string) *finding {
	for i := range o.findings {
		f := &o.findings[i]
		if f.Code == code && f.Ignored == nil && (subject == "" || f.on(subject)) {
			return f
		}
	}
	return nil
}

func (f *finding) on(subject string) bool {
	return f.Subject == subject || slices.Contains(f.Subjects, subject)
}

// text is everything that a finding says.
func (f *finding) text() string {
	parts := []string{f.Message, f.Help}
	for _, n := range f.Notes {
		parts = append(parts, n.Text)
	}
	return strings.Join(parts, "\n")
}

func (o *output) finding(words []string) string {
	severity := ""
	if slices.Contains([]string{"error", "warning", "info"}, words[0]) {
		severity, words = words[0], words[1:]
	}
	if len(words) != 2 {
		return "wants a code and a subject"
	}
	f := o.find(words[0], words[1])
	switch {
	case f == nil:
		return fmt.Sprintf("no %s on %s; there are %s", words[0], words[1], o.list())
	case severity != "" && f.Severity != severity:
		return fmt.Sprintf("%s on %s is %s %s, want %s: %s", f.Code, f.Subject, article(f.Severity), f.Severity, severity, f.Message)
	}
	return ""
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}

func (o *output) fix(code, subject, key, bound, to string) string {
	f := o.find(code, subject)
	if f == nil {
		return fmt.Sprintf("no %s on %s; there are %s", code, subject, o.list())
	}
	var have []string
	for _, x := range f.Fixes {
		if x.Key == key && x.Bound == bound && sameTo(x.To, to) {
			return ""
		}
		have = append(have, strings.Join([]string{x.Subject, x.Key, x.Bound, x.To}, " "))
	}
	return fmt.Sprintf("%s on %s has no such fix; it has: %s", code, subject, strings.Join(have, "; "))
}

// sameTo compares the values of a change: times within the tolerance, everything else exactly.
func sameTo(got, want string) bool {
	g, err1 := time.ParseDuration(got)
	w, err2 := time.ParseDuration(want)
	if err1 != nil || err2 != nil {
		return got == want
	}
	return within(big.NewRat(int64(g), 1), big.NewRat(int64(w), 1), big.NewRat(int64(10*time.Millisecond), 1))
}

func (o *output) says(code, subject, text string) string {
	f := o.find(code, subject)
	switch {
	case f == nil:
		return fmt.Sprintf("no %s on %s; there are %s", code, subject, o.list())
	case !strings.Contains(f.text(), text):
		return fmt.Sprintf("%s on %s does not say `%s`:\n%s", code, subject, text, f.text())
	}
	return ""
}

func (o *output) only(code string, subjects []string) string {
	var have []string
	for _, f := range o.findings {
		if f.Code == code && f.Ignored == nil {
			have = append(append(have, f.Subject), f.Subjects...)
		}
	}
	slices.Sort(have)
	have = slices.Compact(have)
	slices.Sort(subjects)
	if !slices.Equal(have, subjects) {
		return fmt.Sprintf("%s is on %v, want %v", code, have, subjects)
	}
	return ""
}

// atMost wants every finding to have one of the severities.
func (o *output) atMost(severities ...string) string {
	var over []string
	for _, f := range o.findings {
		if f.Ignored == nil && !slices.Contains(severities, f.Severity) {
			over = append(over, fmt.Sprintf("%s[%s] on %s: %s", f.Severity, f.Code, f.Subject, f.Message))
		}
	}
	return strings.Join(over, "\n")
}

// list names the findings for messages.
func (o *output) list() string {
	var names []string
	for _, f := range o.findings {
		names = append(names, f.Severity+" "+f.Code+" "+f.Subject)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// The comparison itself must be able to fail.
func TestWantedFactsCanFail(t *testing.T) {
	out, err := parse([]byte(`{"entrypoints": [{"name": "page", "fixes": [{"change": "do it", "need_ms": 350}]}], "services": [], "calls": [{"id": "a/b", "wait_ms": 10.5, "backoff_ms": [25, 75],
		"busy_ms": null, "busy": "unknown", "if_hangs": {"attempts_started": 3}}],
		"findings": [{"code": "BP101", "severity": "error", "subject": "a/b", "message": "too long", "subjects": ["a/b", "a/c"],
		"fixes": [{"key": "timeout", "bound": "least", "to": "4.276s"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for line, ok := range map[string]bool{
		"call a/b wait_ms 10.50":                     true,
		"call a/b wait_ms 10.500001":                 false,
		"call a/b wait_ms ~19":                       true,
		"call a/b wait_ms ~31":                       false,
		"call a/b wait_ms <= 11":                     true,
		"call a/b wait_ms >= 11":                     false,
		"call a/b backoff_ms [25, 75]":               true,
		"call a/b backoff_ms [25, 76]":               false,
		"call a/b busy unknown":                      true,
		"call a/b busy_ms null":                      true,
		"call a/b busy_ms 0":                         false,
		"call a/b if_hangs.attempts_started 3":       true,
		"call a/b if_hangs.attempts_started 2":       false,
		"call a/b no_such_field null":                false,
		"call a/x wait_ms 10.5":                      false,
		"finding error BP101 a/c":                    true,
		"finding warning BP101 a/b":                  false,
		"finding BP102 a/b":                          false,
		"fix BP101 a/b timeout least 4275ms":         true,
		"fix BP101 a/b timeout least 4.4s":           false,
		"fix BP101 a/b per_try_timeout least 4275ms": false,
		"says BP101 a/b too long":                    true,
		"says BP101 a/b too short":                   false,
		"not BP101":                                  false,
		"not BP101 a/z":                              true,
		"only BP101 a/b a/c":                         true,
		"only BP101 a/b":                             false,
		"change page 350 do it":                      true,
		"change page 351 do it":                      false,
		"change page 350 do that":                    false,
		"pass":                                       false,
		"clean":                                      false,
		"nonsense":                                   false,
	} {
		if wrong := out.check(line); (wrong == "") != ok {
			t.Errorf("%s: %q, want holds = %v", line, wrong, ok)
		}
	}
}
