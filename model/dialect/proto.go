package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
)

// parseProto reads a google.protobuf.Duration in its JSON form: decimal seconds with an `s`, at most nine
// decimal places. Other units, and numbers without one, are what the platforms refuse, too.
func parseProto(text string) (model.Duration, error) {
	digits, isSeconds := strings.CutSuffix(text, "s")
	negative := strings.HasPrefix(digits, "-")
	digits = strings.TrimPrefix(digits, "-")
	whole, frac, dotted := strings.Cut(digits, ".")
	bad := func(r rune) bool { return r < '0' || r > '9' }
	switch {
	case !isSeconds, whole+frac == "", dotted && frac == "", len(frac) > 9, strings.IndexFunc(whole+frac, bad) >= 0:
		return 0, notProto(text)
	case negative && strings.Trim(whole+frac, "0") != "":
		return 0, fmt.Errorf("`%s` is negative", text)
	}
	seconds := int64(0)
	if whole != "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return model.NoLimit, nil // beyond 292 years, which stops nothing
		}
		seconds = n
	}
	nanos, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64) // digits alone, checked above
	return model.Second.Mul(seconds).Add(model.Duration(nanos)), nil
}

// notProto says what is wrong, and how to write the value where it is plain what was meant.
func notProto(text string) error {
	meant, err := model.ParseDuration(text)
	if err != nil {
		if meant, err = model.ParseDuration(text + "s"); err != nil {
			return fmt.Errorf("`%s` is not a duration, write seconds with an `s`, as `1.5s`", text)
		}
	}
	return fmt.Errorf("`%s` is not a duration here, only seconds with an `s` are, write `%s`", text, formatSeconds(meant, 1))
}

// formatSeconds writes decimal seconds with a number of decimal places that step divides: 3 gives 0.250s,
// 1 gives 0.25s.
func formatSeconds(d model.Duration, step int) string {
	seconds, nanos := int64(d/model.Second), int64(d%model.Second)
	if nanos == 0 {
		return strconv.FormatInt(seconds, 10) + "s"
	}
	frac := strings.TrimRight(fmt.Sprintf("%09d", nanos), "0")
	for len(frac)%step != 0 {
		frac += "0"
	}
	return strconv.FormatInt(seconds, 10) + "." + frac + "s"
}

// cut takes off what is finer than the granule, but never makes a time of more than 0 into 0: that would mean
// something else on every platform.
func cut(d, granule model.Duration) model.Duration {
	if d > 0 && d < granule {
		return granule
	}
	return d - d%granule
}
