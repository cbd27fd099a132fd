package model

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Duration is a time in whole nanoseconds. It saturates at NoLimit and never wraps.
//
// Two values above every finite one make bounds compose by plain comparison: a minimum prefers what
// is known, a maximum or a sum is as bad as its worst part.
type Duration int64

// NoLimit is a written or default `none`, and where sums saturate. Unknown is a bound that a missing
// fact decides; it lies just below NoLimit.
const (
	NoLimit Duration = math.MaxInt64
	Unknown Duration = math.MaxInt64 - 1
)

// The units of a Duration.
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
)

// Finite reports whether d is a number, neither Unknown nor NoLimit.
func (d Duration) Finite() bool { return d < Unknown }

// Add sums two durations. NoLimit dominates Unknown, which dominates numbers; numbers saturate.
func (d Duration) Add(e Duration) Duration {
	if !d.Finite() || !e.Finite() {
		return max(d, e)
	}
	s := d + e
	if d > 0 && e > 0 && (s < 0 || !s.Finite()) {
		return NoLimit
	}
	return s
}

// Sub takes e off d. What is infinite stays as it is; taking an infinity off a number leaves 0.
func (d Duration) Sub(e Duration) Duration {
	switch {
	case !d.Finite():
		return d
	case !e.Finite():
		return 0
	}
	return d - e
}

// Mul multiplies by a count n ≥ 0, saturating. Zero times anything is zero.
func (d Duration) Mul(n int64) Duration {
	switch {
	case n == 0 || d == 0:
		return 0
	case !d.Finite():
		return d
	case d < 0:
		return -(-d).Mul(n)
	}
	hi, lo := bits.Mul64(uint64(d), uint64(n))
	if hi != 0 || lo >= uint64(Unknown) {
		return NoLimit
	}
	return Duration(lo)
}

// Div divides by a count n ≥ 1, rounding toward minus infinity.
func (d Duration) Div(n int64) Duration {
	if !d.Finite() || n <= 1 {
		return d
	}
	q := int64(d) / n
	if int64(d)%n < 0 {
		q--
	}
	return Duration(q)
}

// MulDown gives ⌊d × f⌋ for a fraction f ≥ 0, exactly.
func (d Duration) MulDown(f Fraction) Duration { return d.mulDiv(uint64(f), Whole, false) }

// MulUp gives ⌈d × f⌉ for a fraction f ≥ 0, exactly.
func (d Duration) MulUp(f Fraction) Duration { return d.mulDiv(uint64(f), Whole, true) }

// DivUp gives ⌈d ÷ f⌉ for a fraction f > 0, exactly.
func (d Duration) DivUp(f Fraction) Duration { return d.mulDiv(Whole, uint64(f), true) }

// Share gives ⌊d × part ÷ whole⌋ without overflow, for whole > 0.
func (d Duration) Share(part, whole Duration) Duration {
	return d.mulDiv(uint64(part), uint64(whole), false)
}

// MulDivDown gives ⌊d × num ÷ den⌋ for fractions num ≥ 0 and den > 0, exactly.
func (d Duration) MulDivDown(num, den Fraction) Duration {
	return d.mulDiv(uint64(num), uint64(den), false)
}

func (d Duration) mulDiv(num, den uint64, up bool) Duration {
	switch {
	case !d.Finite():
		return d
	case d <= 0:
		return 0
	case den == 0:
		return NoLimit
	}
	hi, lo := bits.Mul64(uint64(d), num)
	if up {
		var carry uint64
		lo, carry = bits.Add64(lo, den-1, 0)
		hi += carry
	}
	if hi >= den {
		return NoLimit
	}
	q, _ := bits.Div64(hi, lo, den)
	if q >= uint64(Unknown) {
		return NoLimit
	}
	return Duration(q)
}

// String prints d exactly: milliseconds below a second, seconds below ten minutes, then Go's form;
// `none` for NoLimit and `unknown` for Unknown.
func (d Duration) String() string {
	switch {
	case d == NoLimit:
		return "none"
	case d == Unknown:
		return "unknown"
	case d < 0:
		return "-" + (-d).String()
	case d == 0:
		return "0ms"
	case d < Microsecond:
		return fmt.Sprintf("%dns", int64(d))
	case d < Millisecond:
		return decimal(int64(d), int64(Microsecond)) + "µs"
	case d < Second:
		return decimal(int64(d), int64(Millisecond)) + "ms"
	case d < 600*Second:
		return decimal(int64(d), int64(Second)) + "s"
	}
	return trimZeroUnits(time.Duration(d).String())
}

// Down cuts a computed d to at most three decimals in the unit that String prints it in, so that a limit given as
// "or less" stays one. What has no more decimals stays as it is, and so should every written value.
func (d Duration) Down() Duration { return d - d.rest() }

// Up rounds a computed d up to at most three decimals in the unit that String prints it in, so that a need given as
// "or more" stays one.
func (d Duration) Up() Duration {
	if rest := d.rest(); rest > 0 {
		return (d - rest).Add(d.decimals())
	}
	return d
}

// decimals is the third decimal of the unit that String prints d in.
func (d Duration) decimals() Duration {
	switch abs := max(d, -d); {
	case abs < Millisecond:
		return Nanosecond
	case abs < Second:
		return Microsecond
	}
	return Millisecond
}

// rest is what of d lies beyond its third decimal, never negative; 0 for what is no number.
func (d Duration) rest() Duration {
	if !d.Finite() {
		return 0
	}
	unit := d.decimals()
	return (d%unit + unit) % unit
}

func trimZeroUnits(s string) string {
	if t, ok := strings.CutSuffix(s, "m0s"); ok {
		s = t + "m"
	}
	if t, ok := strings.CutSuffix(s, "h0m"); ok {
		s = t + "h"
	}
	return s
}

func decimal(n, unit int64) string {
	whole, rest := n/unit, n%unit
	if rest == 0 {
		return strconv.FormatInt(whole, 10)
	}
	digits := len(strconv.FormatInt(unit, 10)) - 1
	return strings.TrimRight(fmt.Sprintf("%d.%0*d", whole, digits, rest), "0")
}

// ParseDuration reads a duration of the plan language: Go's form, and whole or decimal days (`7d`, `1d12h`).
// It refuses a number without a unit, a negative time and what does not fit; the error says which, in
// words fit for a message.
func ParseDuration(text string) (Duration, error) {
	s := text
	var total Duration
	if s == "" {
		return 0, fmt.Errorf("a duration is missing, write `250ms`")
	}
	if strings.HasPrefix(s, "-") {
		return 0, fmt.Errorf("`%s` is negative", text)
	}
	if i := strings.IndexByte(s, 'd'); i > 0 {
		days, err := parseDecimal(s[:i], 86400*Second)
		if err != nil || strings.Trim(s[:i], "0123456789.") != "" {
			return 0, fmt.Errorf("`%s` is not a duration, write `7d`, `1.5s` or `250ms`", text)
		}
		total, s = days, s[i+1:]
	}
	if s != "" {
		d, err := parseGo(s)
		if err != nil {
			if _, bad := strconv.ParseFloat(s, 64); bad == nil {
				return 0, fmt.Errorf("`%s` has no unit, write `%sms` or `%ss`", text, text, text)
			}
			return 0, fmt.Errorf("`%s` %w", text, err)
		}
		total = total.Add(d)
	}
	if !total.Finite() {
		return 0, fmt.Errorf("`%s` is longer than 292 years", text)
	}
	return total, nil
}

var units = map[string]Duration{
	"ns": Nanosecond, "us": Microsecond, "µs": Microsecond, "μs": Microsecond, "ms": Millisecond, "s": Second,
	"m": 60 * Second, "h": 3600 * Second,
}

// parseGo reads number-unit pairs. It is stricter and more exact than time.ParseDuration, which hides
// the bad part of its input in its error.
func parseGo(s string) (Duration, error) {
	var total Duration
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n <= 0 {
			return 0, fmt.Errorf("is not a duration, write `1.5s` or `250ms`")
		}
		u := strings.IndexFunc(s[n:], func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		if u < 0 {
			u = len(s) - n
		}
		unit, ok := units[s[n:n+u]]
		if !ok {
			return 0, fmt.Errorf("has the unknown unit `%s`, the units are ns, us, ms, s, m, h, d", s[n:n+u])
		}
		d, err := parseDecimal(s[:n], unit)
		if err != nil {
			return 0, err
		}
		total, s = total.Add(d), s[n+u:]
	}
	return total, nil
}

// parseDecimal gives text × unit exactly, down to the nanosecond.
func parseDecimal(text string, unit Duration) (Duration, error) {
	whole, frac, _ := strings.Cut(text, ".")
	if whole == "" && frac == "" || strings.Contains(frac, ".") {
		return 0, fmt.Errorf("is not a duration, write `1.5s` or `250ms`")
	}
	var d Duration
	if whole != "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("is longer than 292 years")
		}
		d = unit.Mul(n)
	}
	for scale := unit / 10; frac != "" && scale > 0; frac = frac[1:] {
		d = d.Add(scale * Duration(frac[0]-'0'))
		// The rest of a unit that ten does not divide (60 s, 3600 s, 86400 s) is always divisible by ten
		// as often as nanoseconds are shown, so integer steps stay exact.
		scale /= 10
	}
	return d, nil
}

// Fraction is a share in whole parts per million: 5% is 50,000.
type Fraction int64

// Whole is all of it.
const Whole = 1_000_000

// String prints the share as a percentage: `5%`, `99.65%`.
func (f Fraction) String() string {
	if f < 0 {
		return "-" + (-f).String()
	}
	return decimal(int64(f), Whole/100) + "%"
}

// Percentile prints the share as a percentile: `p99.9`.
func (f Fraction) Percentile() string { return "p" + decimal(int64(f), Whole/100) }

// Float gives the share as a number between 0 and 1.
func (f Fraction) Float() float64 { return float64(f) / Whole }

// ParsePercent reads `5%` or `99.65%` exactly; ok is false for any other text, and for more than four
// decimal places, which parts per million cannot hold.
func ParsePercent(text string) (f Fraction, ok bool) {
	digits, found := strings.CutSuffix(text, "%")
	if !found {
		return 0, false
	}
	return parsePoints(digits)
}

// ParsePercentile reads `p99` or `p99.9`.
func ParsePercentile(text string) (f Fraction, ok bool) {
	digits, found := strings.CutPrefix(text, "p")
	if !found {
		return 0, false
	}
	f, ok = parsePoints(digits)
	return f, ok && f > 0 && f < Whole
}

func parsePoints(digits string) (Fraction, bool) {
	whole, frac, dot := strings.Cut(digits, ".")
	if whole == "" || len(whole) > 9 || len(frac) > 4 || dot && frac == "" {
		return 0, false
	}
	for _, r := range whole + frac {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	n, _ := strconv.ParseInt(whole+frac+"0000"[len(frac):], 10, 64)
	return Fraction(n), true
}
