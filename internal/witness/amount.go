package witness

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/budgetplan/budgetplan/model"
)

// amount is a time in ns, or one of the two infinities. Its order is that of bounds: every number lies below
// unknown, unknown below none, so that a minimum prefers what is known and a maximum is as bad as its worst part.
type amount struct {
	inf uint8
	n   int64
}

var (
	zero    = amount{}
	unknown = amount{inf: 1}
	none    = amount{inf: 2}
)

func ns(n int64) amount { return amount{n: n} }

// read takes a value of the plan; what nobody wrote is unset.
func read(v model.Val[model.Duration], unset amount) amount {
	switch {
	case v.From == nil:
		return unset
	case v.V == model.NoLimit:
		return none
	case v.V == model.Unknown:
		return unknown
	}
	return ns(int64(v.V))
}

func (a amount) finite() bool { return a.inf == 0 }

func (a amount) less(b amount) bool {
	if a.inf != b.inf {
		return a.inf < b.inf
	}
	return a.inf == 0 && a.n < b.n
}

func least(as ...amount) amount {
	m := none
	for _, a := range as {
		if a.less(m) {
			m = a
		}
	}
	return m
}

func most(as ...amount) amount {
	m := zero
	for _, a := range as {
		if m.less(a) {
			m = a
		}
	}
	return m
}

// exact turns a big number into an amount, saturating.
func exact(n *big.Int) amount {
	if !n.IsInt64() || n.Int64() >= math.MaxInt64-1 {
		return none
	}
	return ns(n.Int64())
}

func (a amount) plus(b amount) amount {
	if !a.finite() || !b.finite() {
		return amount{inf: max(a.inf, b.inf)}
	}
	return exact(new(big.Int).Add(big.NewInt(a.n), big.NewInt(b.n)))
}

// minus takes b off a: what is infinite stays, and an infinity off a number leaves nothing.
func (a amount) minus(b amount) amount {
	switch {
	case !a.finite():
		return a
	case !b.finite():
		return zero
	}
	return ns(a.n - b.n)
}

func (a amount) times(k int64) amount {
	switch {
	case k == 0 || a == zero:
		return zero
	case !a.finite():
		return a
	}
	return exact(new(big.Int).Mul(big.NewInt(a.n), big.NewInt(k)))
}

// ratio gives a × p ÷ q for q > 0, rounded down or up.
func (a amount) ratio(p, q int64, up bool) amount {
	if !a.finite() {
		return a
	}
	n := new(big.Int).Mul(big.NewInt(a.n), big.NewInt(p))
	if up {
		n.Add(n, big.NewInt(q-1))
	}
	// Euclidean division rounds toward minus infinity for a positive divisor.
	return exact(n.Div(n, big.NewInt(q)))
}

// String prints milliseconds, exactly.
func (a amount) String() string {
	switch a.inf {
	case 1:
		return "unknown"
	case 2:
		return "none"
	}
	sign, n := "", a.n
	if n < 0 {
		sign, n = "-", -n
	}
	s := fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + "ms"
}
