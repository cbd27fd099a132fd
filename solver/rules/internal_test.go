package rules

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

func TestRounding(t *testing.T) {
	for _, c := range []struct{ in, down, up model.Duration }{
		{0, 0, 0},
		{1, 1, model.Millisecond},
		{model.Millisecond, model.Millisecond, model.Millisecond},
		{1_500_000, model.Millisecond, 2 * model.Millisecond},
		{model.Unknown, model.Unknown, model.Unknown},
		{model.NoLimit, model.NoLimit, model.NoLimit},
	} {
		if d, u := floor(c.in), ceil(c.in); d != c.down || u != c.up {
			t.Errorf("%d: %d and %d", c.in, d, u)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 2168: "2,168", 1_234_567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestMergedFixes: of several changes of one value the tightest ends all findings, a count as a duration.
func TestMergedFixes(t *testing.T) {
	at := diag.Span{File: "plan.yaml", Line: 3, Col: 1}
	for _, c := range []struct{ key, bound, a, b, want string }{
		{"retries", "most", "10", "9", "9"},
		{"retries", "most", "2", "unlimited", "2"},
		{"timeout", "most", "1s", "900ms", "900ms"},
		{"timeout", "least", "1s", "900ms", "1s"},
	} {
		fix := func(to string) *diag.Finding {
			return &diag.Finding{Fixes: []diag.Fix{{Key: c.key, At: at, Bound: c.bound, To: to}}}
		}
		got := mergeFixes([]*diag.Finding{fix(c.a), fix(c.b)})
		if len(got) != 1 || got[0].To != c.want {
			t.Errorf("%s %s of %s and %s: %+v", c.key, c.bound, c.a, c.b, got)
		}
	}
}
