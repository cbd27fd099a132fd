package render

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
)

// Brief prints a time for people: to 1 µs below 1 ms, to 0.1 ms below 1 s, to 1 ms below ten minutes, to 1 s above.
// Up rounds it up, as what is needed or waited for, else down, as what is given; no time becomes 0. It gives
// `unbounded` for NoLimit and `unknown` for Unknown.
func Brief(d model.Duration, up bool) string {
	switch {
	case d == model.NoLimit:
		return "unbounded"
	case !d.Finite():
		return "unknown"
	case d < 0:
		return "-" + Brief(-d, !up)
	}
	step := model.Second
	switch {
	case d < model.Millisecond:
		step = model.Microsecond
	case d < model.Second:
		step = model.Millisecond / 10
	case d < 600*model.Second:
		step = model.Millisecond
	}
	cut := d.Div(int64(step)).Mul(int64(step))
	if cut < d && (up || cut == 0) {
		cut = cut.Add(step)
	}
	return cut.String()
}

// Counted writes a number with its noun: "1 error", "2 errors".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
