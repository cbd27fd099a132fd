package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/budgetplan/budgetplan/model/diag"
)

// placed is what decides most often where a finding stands; i is its number.
type placed struct {
	touched            float64
	file, line, col, i int32
	severity           diag.Severity
}

// order sorts findings as diag.Sort does. It moves small numbers instead of findings, and asks each for its place once: a
// large plan has hundreds of thousands.
func order(fs []*diag.Finding) {
	if len(fs) < 2 {
		return
	}
	rank := ranked(fs)
	all := make([]placed, len(fs))
	for i, f := range fs {
		at := f.Place()
		all[i] = placed{f.Touched, rank(at.File), at.Line, at.Col, int32(i), f.Severity}
	}
	slices.SortFunc(all, func(a, b placed) int {
		switch {
		case a.severity != b.severity:
			return -cmp.Compare(a.severity, b.severity)
		case a.touched != b.touched:
			return -cmp.Compare(a.touched, b.touched)
		case a.file != b.file:
			return cmp.Compare(a.file, b.file)
		case a.line != b.line:
			return cmp.Compare(a.line, b.line)
		case a.col != b.col:
			return cmp.Compare(a.col, b.col)
		}
		f, g := fs[a.i], fs[b.i]
		return cmp.Or(cmp.Compare(f.Code.ID, g.Code.ID), cmp.Compare(f.Subject, g.Subject), cmp.Compare(f.Message, g.Message), cmp.Compare(a.i, b.i))
	})
	sorted := make([]*diag.Finding, len(fs))
	for k := range all {
		sorted[k] = fs[all[k].i]
	}
	copy(fs, sorted)
}

// ranked numbers the files of findings in their order.
func ranked(fs []*diag.Finding) func(file string) int32 {
	ranks := make(map[string]int32)
	last := fs[0].Place().File
	ranks[last] = 0
	for _, f := range fs {
		if file := f.Place().File; file != last {
			ranks[file], last = 0, file
		}
	}
	for i, file := range slices.Sorted(maps.Keys(ranks)) {
		ranks[file] = int32(i)
	}
	n := ranks[last]
	return func(file string) int32 {
		if file != last {
			last, n = file, ranks[file]
		}
		return n
	}
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
