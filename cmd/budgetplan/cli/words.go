package cli

import (
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// bound writes a bound: a time, `unbounded`, or `unknown`.
func bound(d model.Duration) string {
	if d == model.NoLimit {
		return "unbounded"
	}
	return d.String()
}

func slo(d model.Duration) string {
	if d == model.NoLimit {
		return "not set"
	}
	return d.String()
}

func need(n solver.Need) string {
	switch n.Known {
	case solver.Nothing:
		return "unknown"
	case solver.Partial:
		return "at least " + n.V.String()
	}
	return bound(n.V)
}

func slack(d model.Duration, known solver.Knowledge) string {
	switch {
	case known == solver.Nothing:
		return "unknown"
	case known == solver.Partial && d.Finite():
		return "at most " + d.String()
	}
	return bound(d)
}

func attemptsText(n int64) string {
	if n == 1 {
		return "1 attempt"
	}
	return solver.CountText(n) + " attempts"
}
