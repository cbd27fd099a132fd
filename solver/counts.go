package solver

import (
	"math"
	"strconv"
	"strings"
)

// saturate stops a sum of two counts at MaxCount, unless one of them is unlimited: then so is the sum.
func saturate(n int64) int64 {
	if n >= unlimited {
		return unlimited
	}
	return min(n, MaxCount)
}

// ratio is a count as what a retry budget bounds: +Inf where it is unlimited.
func ratio(n int64) float64 {
	if n > MaxCount {
		return math.Inf(1)
	}
	return float64(n)
}

// saturateRatio is saturate for Counts.Budgeted. What never arrives is 0, even times unlimited.
func saturateRatio(x float64) float64 {
	switch {
	case math.IsInf(x, 1):
		return x
	case math.IsNaN(x):
		return 0
	}
	return min(x, float64(MaxCount))
}

// CountText writes a count for people, its digits in groups of three. One that stopped at MaxCount is a lower bound; only
// one that a plan leaves `unlimited` is unlimited.
func CountText(n int64) string {
	switch {
	case n > MaxCount:
		return "unlimited"
	case n == MaxCount:
		return "at least 10^15"
	}
	return Thousands(n)
}

// CountSign is CountText with a sign in the place of words.
func CountSign(n int64) string { return strings.Replace(CountText(n), "at least ", "≥", 1) }

// RatioText writes a mean, or a count that a retry budget bounds, as CountText does; to four digits below a thousand.
func RatioText(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return CountText(unlimited)
	case x < 1000:
		return strconv.FormatFloat(x, 'g', 4, 64)
	default:
		return CountText(int64(math.Ceil(x)))
	}
}

// Thousands groups digits: 2,168.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
