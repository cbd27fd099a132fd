package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
)

func TestMilliseconds(t *testing.T) {
	for d, want := range map[model.Duration]string{
		0: "0", 1: "0.000001", -1: "-0.000001", 6_900_000: "6.9", 1_000_000: "1", -8_500_000: "-8.5", 1_234_567_890: "1234.56789",
		100_000: "0.1", model.Unknown - 1: "9223372036854.775805", model.Unknown: "null", model.NoLimit: "null",
	} {
		if got := string(appendMS(nil, d)); got != want {
			t.Errorf("%d ns: got %s, want %s", int64(d), got, want)
		}
	}
}

// What is written reads back as the same number of nanoseconds, as far as a float64 tells them apart.
func TestMillisecondsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ns")
		var ms float64
		if err := json.Unmarshal(appendMS(nil, model.Duration(ns)), &ms); err != nil {
			t.Fatal(err)
		}
		if got := int64(math.Round(ms * 1e6)); got != ns {
			t.Errorf("%d ns came back as %d", ns, got)
		}
	})
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 0.1 + 0.2: "0.3", 1.1 * 1.1 * 1.1: "1.331", 48: "48", 1e15: "1000000000000000", -1e-9: "0", math.Inf(1): "null",
	} {
		o := new(object)
		o.number("k", v)
		if got := string(o.b); got != `"k": `+want {
			t.Errorf("%s: got %s, want %s", strconv.FormatFloat(v, 'g', -1, 64), got, want)
		}
	}
}

func TestStringsAreAlwaysJSON(t *testing.T) {
	for _, text := range []string{"", "a\"b\\c", "\x00\x1b\xff", "<&>", "日本", "\u2028"} {
		var back string
		if err := json.Unmarshal(appendString(nil, text), &back); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A text that is written without the encoder is what the encoder makes of it.
func TestStrings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain", `a "b"`, `a\b`, "<&>", "tab\t", "\x00", "\x1f", "\x7f", "×", "a\u2028b", "a\u2029b", "\u0085", "bad \xff", "\xe2\x80", "\ufffd", "😀",
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got := string(appendString(nil, text)) + "\n"; got != want.String() {
			t.Errorf("%q is written %s, not %s", text, got, want.String())
		}
	}
}
