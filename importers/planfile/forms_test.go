package planfile

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// What is recognised by hand is what the patterns of the schema say.
func TestTexts(t *testing.T) {
	numeral := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	names := regexp.MustCompile(namePattern)
	check := func(t rapid.TB, s string) {
		if got, want := isNumeral(s), numeral.MatchString(s); got != want {
			t.Errorf("%q is a numeral: %v, the pattern says %v", s, got, want)
		}
		if got, want := isName(s), names.MatchString(s) && strings.TrimFunc(s, unicode.IsSpace) == s; got != want {
			t.Errorf("%q is a name: %v, the pattern says %v", s, got, want)
		}
	}
	for _, s := range []string{"", "-", ".", "0", "00", "-0", "1.", ".5", "1.5", "1e5", "1e", "1e+", "1E-05", "1.5e+3", "01", "1x", "1.5.5", "--1"} {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[-+.eE0-9]{0,8}`).Draw(t, "numeral"))
		check(t, rapid.StringOf(rapid.SampledFrom([]rune("ab \n\t~\x7f\x1f\u00a0é"))).Draw(t, "name"))
	})
}
