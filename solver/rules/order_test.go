package rules

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// The order of what is told is the one that all stages share.
func TestOrderIsThatOfDiag(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string { return strconv.Itoa(r.IntN(n)) }
	for range 200 {
		want := make([]diag.Finding, r.IntN(60))
		got := make([]*diag.Finding, len(want))
		for i := range want {
			at := diag.Span{File: word(2), Line: r.Int32N(3), Col: r.Int32N(2)}
			want[i] = diag.Finding{
				Code: All[r.IntN(2)].Code, Severity: diag.Severity(1 + r.IntN(3)), Touched: float64(r.IntN(2)),
				Subject: word(2), Message: word(2), Help: strconv.Itoa(i), Cause: diag.At(at),
			}
			if r.IntN(2) == 0 {
				want[i].At = at
			}
			f := want[i]
			got[i] = &f
		}
		diag.Sort(want)
		order(got)
		for i := range want {
			if !reflect.DeepEqual(*got[i], want[i]) {
				t.Fatalf("at %d stands %+v, not %+v", i, *got[i], want[i])
			}
		}
	}
}

// A place of several values is counted, and one of a single value is not.
func TestShared(t *testing.T) {
	t.Parallel()
	plan := &model.Plan{Calls: make([]model.Call, 300)}
	for i := range plan.Calls {
		at := diag.Span{File: strconv.Itoa(i % 3), Line: int32(1 + i*i%251), Col: 7}
		plan.Calls[i].Waiters = []model.Waiter{{Timeout: model.At(model.Second, at)}}
	}
	p := newPass(plan, nil, nil)
	counted := make(map[diag.Span]int)
	p.values(func(o *diag.Origin) { counted[o.Span()]++ })
	for at, n := range counted {
		if got := p.shared(at); got != n && (n > 1 || got > 1) {
			t.Errorf("%s has %d values, not %d", at, n, got)
		}
	}
}
