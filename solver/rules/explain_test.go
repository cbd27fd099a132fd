package rules

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
)

var (
	sumLine     = regexp.MustCompile("^`[^`]+` may (?:be busy|take|wait) (\\S+): (.+)$")
	inParens    = regexp.MustCompile(` \(([^()]|\([^()]*\))*\)`)
	productLine = regexp.MustCompile(`^([\d,]+) (?:attempts?|failed attempts?) × (\S+)$`)
)

// TestSumsAddUp re-adds every sum that a note states, and the arithmetic in its parentheses.
func TestSumsAddUp(t *testing.T) {
	lines, products := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for _, f := range raw((&maker{T: rt}).plan()) {
			for _, n := range f.Notes {
				m := sumLine.FindStringSubmatch(n.Text)
				if m == nil {
					continue
				}
				lines++
				total, err := model.ParseDuration(m[1])
				if err != nil {
					continue // without end
				}
				if got, ok := add(rt, inParens.ReplaceAllString(m[2], "")); ok && got != total {
					rt.Fatalf("%s: the parts make %s", n.Text, got)
				}
				for _, part := range split(m[2]) {
					whole, rest, ok := strings.Cut(part, " (")
					if !ok || !strings.Contains(rest, " attempt") || strings.Contains(rest, "(") {
						continue
					}
					if got, ok := add(rt, strings.TrimSuffix(rest, ")")); ok {
						products++
						if want := first(rt, whole); got != want {
							rt.Fatalf("%s: %q makes %s", n.Text, rest, got)
						}
					}
				}
			}
		}
	})
	if lines == 0 || products == 0 {
		t.Errorf("%d sums, %d products", lines, products)
	}
}

// split cuts a sum at the signs that stand outside parentheses.
func split(sum string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range sum {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.HasPrefix(sum[i:], " + "):
			parts, from = append(parts, sum[from:i]), i+3
		}
	}
	return append(parts, sum[from:])
}

// add sums terms: durations with words behind them, and `4 attempts × 5s`; ok is false for words alone.
func add(t *rapid.T, sum string) (total model.Duration, ok bool) {
	for _, part := range split(sum) {
		if m := productLine.FindStringSubmatch(part); m != nil {
			n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			total = total.Add(first(t, m[2]).Mul(n))
			continue
		}
		d, err := model.ParseDuration(strings.Fields(part)[0])
		if err != nil {
			return 0, false
		}
		total = total.Add(d)
	}
	return total, true
}

func first(t *rapid.T, text string) model.Duration {
	d, err := model.ParseDuration(strings.Fields(text)[0])
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}
