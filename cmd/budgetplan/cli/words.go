package cli

import (
	"strconv"

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
	switch known {
	case solver.Nothing:
		return "unknown"
	case solver.Partial:
		return "at most " + d.String()
	}
	return bound(d)
}

// times writes a number of attempts, which may have no end.
func times(n int64) string {
	if n >= solver.MaxCount {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}
