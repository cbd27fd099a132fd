package report

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"pgregory.net/rapid"
)

// What has signs of one column alone is aligned as the standard library does it.
func TestColumnsAsTabwriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			cells := rapid.SliceOfN(rapid.StringMatching(`[a-zé×]{0,6}`), 1, 4).Draw(t, "cells")
			text.WriteString(strings.Join(cells, "\t") + "\n")
		}
		var want, got strings.Builder
		standard, ours := tabwriter.NewWriter(&want, 0, 0, columnGap, ' ', 0), NewColumns(&got)
		fmt.Fprint(standard, text.String())
		fmt.Fprint(ours, text.String())
		if err := standard.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := ours.Flush(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Fatalf("%q gives\n%s\nthe standard library\n%s", text.String(), got.String(), want.String())
		}
	})
}

// Wide and combining signs move nothing.
func TestColumnsOfWideSigns(t *testing.T) {
	var b strings.Builder
	c := NewColumns(&b)
	fmt.Fprint(c, "日本\tx\ne\u0301\tx\n🚀\tx\n")
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "日本  x\ne\u0301     x\n🚀    x\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
