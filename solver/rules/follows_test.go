package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/solver/rules"
)

const follow = `
entrypoints:
  e: {slo: 20s, call: x}
services:
  x:
    calls:
      - {call: a, timeout: 2s}
  a:
    calls:
      - {call: b, timeout: none}
policy: {rules: {BP116: off}}
`

// An ignore hides the finding that it is meant for and nothing that follows from it, and a finding that a policy
// made milder does not speak for a graver one.
func TestNothingGraverIsHidden(t *testing.T) {
	const ignore = "- {call: b, timeout: none, latency: {max: 20s}, ignore: {BP104: a batch may take its time}}"
	for _, c := range []struct{ name, from, to string }{
		{"ignored", "- {call: b, timeout: none}", ignore},
		{"made an info", "policy: {rules: {BP116: off}}", "policy: {rules: {BP116: off, BP104: info}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := replace(t, follow, c.from, c.to)
			if c.name != "ignored" {
				text = replace(t, text, "timeout: none}", "timeout: none, latency: {max: 20s}}")
			}
			var told []string
			for _, f := range check(t, "plan.yaml", []byte(text), rules.Options{}) {
				if f.Ignored == nil {
					told = append(told, f.Code.ID)
				}
			}
			if !slices.Contains(told, "BP101") {
				t.Errorf("told %v, without the BP101 of x/a", told)
			}
		})
	}
}

func replace(t *testing.T, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) {
		t.Fatalf("no %q", from)
	}
	return strings.Replace(text, from, to, 1)
}
