package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// TestRetryFixes applies every change that the findings about retries offer for the plans of their archives, and
// looks that it ends the finding, or makes its error a warning.
func TestRetryFixes(t *testing.T) { applyFixes(t, 10, "bp20*.txtar") }

// TestLaterFixes does the same for the findings about everything but one call's own clock.
func TestLaterFixes(t *testing.T) {
	applyFixes(t, 25, "bp11[0125]*.txtar", "bp21*.txtar", "bp30*.txtar")
}

func applyFixes(t *testing.T, least int, patterns ...string) {
	applied := 0
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no archive (%v)", pattern, err)
		}
		applied += applyAll(t, names)
	}
	if applied < least {
		t.Errorf("only %d changes found", applied)
	}
}

// applyAll applies the changes of the plans of archives and counts them. What stands in a platform's file is changed in
// its own words, which is not the business of rules.
func applyAll(t *testing.T, names []string) (applied int) {
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code, _, _ := strings.Cut(strings.ToUpper(name), "_")
		for _, f := range txtar.Parse(data).Files {
			if !strings.HasPrefix(f.Name, "bad") || !strings.HasPrefix(string(f.Data), "version:") && !strings.Contains(string(f.Data), "\nservices:") {
				continue
			}
			for _, found := range check(t, f.Name, f.Data, rules.Options{Now: now}) {
				if found.Code.ID != code {
					continue
				}
				for _, fix := range found.Fixes {
					changed, ok := apply(f.Data, fix)
					if !ok {
						t.Errorf("%s %s: cannot apply %+v", name, f.Name, fix)
						continue
					}
					applied++
					if left := severityOf(check(t, f.Name, changed, rules.Options{Now: now}), code, found.Subject); left >= found.Severity {
						t.Errorf("%s %s: %s of `%s` %s → %s leaves a finding:\n%s", name, f.Name, fix.Key, fix.Subject, fix.From, fix.To, changed)
					}
				}
			}
		}
	}
	return applied
}

// apply writes a change into a plan whose calls and services stand on one line each: over the value at its place, or as
// a further key there.
func apply(text []byte, fix diag.Fix) ([]byte, bool) {
	lines := strings.Split(string(text), "\n")
	if fix.At.Line < 1 || int(fix.At.Line) > len(lines) {
		return nil, false
	}
	line := []rune(lines[fix.At.Line-1])
	at := min(int(fix.At.Col)-1, len(line))
	before, after := string(line[:at]), string(line[at:])
	key := strings.TrimPrefix(fix.Key, "backoff.")
	group, inner, nested := strings.Cut(fix.Key, ".")
	if !nested {
		inner = fix.Key
	}
	switch {
	case fix.From != "" && strings.HasSuffix(strings.TrimRight(before, " "), inner+":"):
		end := len(after)
		switch {
		case strings.HasPrefix(after, "["):
			end = strings.Index(after, "]") + 1
		case strings.ContainsAny(after, ",}"):
			end = strings.IndexAny(after, ",}")
		}
		after = fix.To + after[end:]
	case key != fix.Key: // a key of the back-off, which is a duration alone here
		i := strings.Index(string(line), "backoff: ") + len("backoff: ")
		before, after = string(line[:i]), string(line[i:])
		value, rest, _ := strings.Cut(after, "}")
		after = "{base: " + value + ", " + key + ": " + fix.To + "}}" + rest
	case nested:
		i := strings.Index(string(line), group+": {") + len(group+": {")
		before, after = string(line[:i]), inner+": "+fix.To+", "+string(line[i:])
	default:
		i := strings.Index(string(line), "call: ")
		if j := strings.Index(string(line), ": {"); i < 0 && j >= 0 {
			i = j + len(": {") // a service
		}
		if i < 0 {
			return nil, false
		}
		before, after = string(line[:i]), fix.Key+": "+fix.To+", "+string(line[i:])
	}
	lines[fix.At.Line-1] = before + after
	return []byte(strings.Join(lines, "\n")), true
}

// severityOf is the worst severity of a code for a subject, Off without a finding.
func severityOf(findings []diag.Finding, code, subject string) diag.Severity {
	worst := diag.Off
	for _, f := range findings {
		if f.Code.ID == code && (f.Subject == subject || slices.Contains(f.Subjects, subject)) {
			worst = max(worst, f.Severity)
		}
	}
	return worst
}

// TestAmplificationOnSharedPaths: attempts are summed over paths, and each layer's cost is exact where paths meet.
func TestAmplificationOnSharedPaths(t *testing.T) {
	const plan = `version: 1
services:
  edge:
    calls:
      - parallel:
          - {call: left, retries: 2}
          - {call: right, retries: 1}
  left: {calls: [{call: store, retries: 2}]}
  right: {calls: [{call: store, retries: 3}]}
`
	for _, f := range check(t, "plan.yaml", []byte(plan), rules.Options{}) {
		if f.Code != rules.RetryAmplification {
			continue
		}
		// 3 × 3 + 2 × 4 = 17; without each layer 11, 13, 11, 11.
		var costs []string
		for _, n := range f.Notes {
			if strings.Contains(n.Text, "without its retries") {
				costs = append(costs, n.Text)
			}
		}
		want := []string{
			"`edge/left` makes 3 of one: 11 without its retries",
			"`edge/right` makes 2 of one: 13 without its retries",
			"`left/store` makes 3 of one: 11 without its retries",
			"`right/store` makes 4 of one: 11 without its retries",
		}
		if !strings.Contains(f.Message, "17 attempts") || !slices.Equal(costs, want) || f.Severity != diag.Warning {
			t.Errorf("%s: %s\n%q", f.Severity, f.Message, costs)
		}
		return
	}
	t.Error("no BP201")
}

// TestNestedLayersAreToldOnce: a layer of several ways is in one finding, a layer of another way in its own.
func TestNestedLayersAreToldOnce(t *testing.T) {
	const plan = `version: 1
services:
  a: {calls: [{call: c, retries: 3}]}
  b: {calls: [{call: c, retries: 1}]}
  c: {calls: [{call: d, retries: 1}, {call: e, retries: 2}]}
  d: {calls: [f]}
`
	got := subjects(check(t, "plan.yaml", []byte(plan), rules.Options{}), "BP202")
	if want := []string{"c/d", "c/e"}; !slices.Equal(got, want) {
		t.Errorf("BP202 on %v, want %v", got, want)
	}
}

// TestFixIsSpelt: a change of attempts is to the key that was written, of a call and of the client of an entrypoint.
func TestFixIsSpelt(t *testing.T) {
	const plan = `version: 1
entrypoints: {page: {call: a, %s}}
services:
  a: {calls: [{call: b, %s}]}
`
	for _, c := range []struct{ written, key, from, to string }{
		{"attempts: 3", "attempts", "3", "1"},
		{"retries: 2", "retries", "2", "0"},
	} {
		fixed := 0
		for _, f := range check(t, "plan.yaml", fmt.Appendf(nil, plan, c.written, c.written), rules.Options{}) {
			if f.Code != rules.NestedRetries {
				continue
			}
			for _, x := range f.Fixes {
				fixed++
				if x.Key != c.key || x.From != c.from || x.To != c.to {
					t.Errorf("%s of `%s`: %s from %s to %s, want %s from %s to %s", c.written, x.Subject, x.Key, x.From, x.To, c.key, c.from, c.to)
				}
			}
		}
		if fixed != 2 {
			t.Errorf("%s: %d changes, want those of both layers", c.written, fixed)
		}
	}
}
