package rules

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
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
