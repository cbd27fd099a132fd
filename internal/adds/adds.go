// Package adds adds explanations up again, for tests: with exact arithmetic of its own, from what the lines
// say alone.
package adds

import (
	"fmt"
	"math/big"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// Check reports the first line of an explanation whose parts do not make its value, or that has neither parts nor a
// place nor a default's name.
func Check(lines []solver.Line) error {
	for i, l := range lines {
		var parts []solver.Line
		for _, p := range lines[i+1:] {
			if p.Depth <= l.Depth {
				break
			}
			if p.Depth == l.Depth+1 {
				parts = append(parts, p)
			}
		}
		if l.Op == solver.Given {
			if len(parts) > 0 {
				return fmt.Errorf("%q is given, but has parts", l.Label)
			}
			if l.From == nil {
				return fmt.Errorf("%q has no place and no default", l.Label)
			}
			continue
		}
		if len(parts) == 0 {
			return fmt.Errorf("%q is the %s nothing", l.Label, l.Op)
		}
		if got, want := compute(l.Op, parts), valueOf(l); got.Cmp(want) != 0 {
			return fmt.Errorf("%q is %s, but the %s its parts is %s", l.Label, want, l.Op, got)
		}
	}
	return nil
}

// infinite stands for unknown and none, which order above every number and swallow sums.
var infinite = new(big.Int).Lsh(big.NewInt(1), 200)

func valueOf(l solver.Line) *big.Int {
	switch {
	case l.Unit == solver.Count:
		return big.NewInt(l.Count)
	case l.Unit == solver.Share:
		return big.NewInt(int64(l.Share))
	case !l.Time.Finite():
		return infinite
	}
	return big.NewInt(int64(l.Time))
}

func compute(op solver.Op, parts []solver.Line) *big.Int {
	v := make([]*big.Int, len(parts))
	for i, p := range parts {
		v[i] = valueOf(p)
	}
	r := new(big.Int).Set(v[0])
	switch op {
	case solver.Sum:
		for _, x := range v[1:] {
			r.Add(r, x)
		}
	case solver.Least:
		for _, x := range v[1:] {
			if x.Cmp(r) < 0 {
				r.Set(x)
			}
		}
	case solver.Most:
		for _, x := range v[1:] {
			if x.Cmp(r) > 0 {
				r.Set(x)
			}
		}
	case solver.Product:
		for _, x := range v[1:] {
			r.Mul(r, x)
		}
		if parts[0].Unit == solver.Count && parts[len(parts)-1].Unit == solver.Count && r.Cmp(big.NewInt(solver.MaxCount)) > 0 {
			r.SetInt64(solver.MaxCount)
			for _, x := range v {
				if x.Cmp(r) > 0 {
					r.Set(x) // unlimited
				}
			}
		}
	case solver.Minus, solver.Difference:
		for _, x := range v[1:] {
			r.Sub(r, x)
		}
		if op == solver.Minus && r.Sign() < 0 {
			r.SetInt64(0)
		}
	case solver.Over:
		r.Div(v[0], v[1])
	case solver.Raise:
		r = ceil(new(big.Int).Mul(v[0], big.NewInt(model.Whole+v[1].Int64())), big.NewInt(model.Whole))
	case solver.Portion:
		r.Div(r.Mul(v[0], v[1]), v[2])
	case solver.Keep:
		r.Div(r.Mul(v[0], big.NewInt(model.Whole-v[1].Int64())), big.NewInt(model.Whole))
		if len(v) > 2 {
			if x := new(big.Int).Sub(v[0], v[2]); x.Cmp(r) < 0 {
				r = x
			}
		}
		if r.Sign() < 0 {
			r.SetInt64(0)
		}
	case solver.Gross:
		r = ceil(new(big.Int).Mul(v[0], big.NewInt(model.Whole)), big.NewInt(model.Whole-v[1].Int64()))
		if len(v) > 2 {
			if x := new(big.Int).Add(v[0], v[2]); x.Cmp(r) > 0 {
				r = x
			}
		}
	}
	if r.Cmp(infinite) >= 0 || r.IsInt64() && !model.Duration(r.Int64()).Finite() || !r.IsInt64() {
		return infinite
	}
	return r
}

func ceil(a, b *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(a, b, new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
