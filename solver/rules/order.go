package rules

import (
	"cmp"
	"slices"

	"github.com/budgetplan/budgetplan/model/diag"
)

// placed is a finding with what decides most often where it stands.
type placed struct {
	*diag.Finding
	at diag.Span
	i  int32
}

// order sorts findings as diag.Sort does. It moves pointers instead of findings, and asks each for its place once: a
// large plan has hundreds of thousands.
func order(fs []*diag.Finding) {
	if len(fs) < 2 {
		return
	}
	all := make([]placed, len(fs))
	for i, f := range fs {
		all[i] = placed{f, f.Place(), int32(i)}
	}
	slices.SortFunc(all, comparePlaced)
	for i := range all {
		fs[i] = all[i].Finding
	}
}

func comparePlaced(a, b placed) int {
	if a.Severity != b.Severity {
		return -cmp.Compare(a.Severity, b.Severity)
	}
	if c := cmp.Compare(a.Touched, b.Touched); c != 0 {
		return -c
	}
	if c := a.at.Compare(b.at); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Code.ID, b.Code.ID), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Message, b.Message), cmp.Compare(a.i, b.i))
}

// buckets has the findings of every group, by their number, in rising order.
type buckets struct{ at, list []int32 }

// nowhere is the group of a finding that is in none.
const nowhere int32 = -1

// bucket collects what is in each of n groups.
func bucket(of []int32, n int) buckets {
	b := buckets{at: make([]int32, n+1)}
	for _, g := range of {
		if g != nowhere {
			b.at[g+1]++
		}
	}
	for g := range n {
		b.at[g+1] += b.at[g]
	}
	b.list = make([]int32, b.at[n])
	next := slices.Clone(b.at)
	for i, g := range of {
		if g != nowhere {
			b.list[next[g]] = int32(i)
			next[g]++
		}
	}
	return b
}

func (b buckets) of(group int32) []int32 { return b.list[b.at[group]:b.at[group+1]] }
