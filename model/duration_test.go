package model_test

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
)

// TestThreeDecimals: a computed time is cut to what a person reads, on the side on which the statement stays true.
func TestThreeDecimals(t *testing.T) {
	for _, c := range []struct {
		in       model.Duration
		down, up string
	}{
		{1_583_333_333, "1.583s", "1.584s"},
		{376_041_666, "376.041ms", "376.042ms"},
		{206_296_297, "206.296ms", "206.297ms"},
		{999_999_999, "999.999ms", "1s"},
		{599_999_999_999, "599.999s", "10m"},
		{3_661_000_000_001, "1h1m1s", "1h1m1.001s"},
		{1_234_567, "1.234ms", "1.235ms"},
		{123_456, "123.456µs", "123.456µs"},
		{999, "999ns", "999ns"},
		{0, "0ms", "0ms"},
		{-1_583_333_333, "-1.584s", "-1.583s"},
		{10 * model.Second, "10s", "10s"},
		{model.Unknown, "unknown", "unknown"},
		{model.NoLimit, "none", "none"},
		{model.Unknown - 1, "2562047h47m16.854s", "none"},
	} {
		if down, up := c.in.Down(), c.in.Up(); down.String() != c.down || up.String() != c.up {
			t.Errorf("%d: %s and %s, want %s and %s", c.in, down, up, c.down, c.up)
		}
	}
}
