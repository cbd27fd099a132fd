package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// object writes one JSON object, its keys in the order of the calls.
type object struct {
	b   []byte
	any bool
}

func (o *object) key(k string) {
	if o.any {
		o.b = append(o.b, ", "...)
	}
	o.any = true
	o.b = appendString(o.b, k)
	o.b = append(o.b, ": "...)
}

func (o *object) null(k string) {
	o.key(k)
	o.b = append(o.b, "null"...)
}

func (o *object) text(k, v string) {
	o.key(k)
	o.b = appendString(o.b, v)
}

// textOrNull writes null for an empty text.
func (o *object) textOrNull(k, v string) {
	if v == "" {
		o.null(k)
		return
	}
	o.text(k, v)
}

func (o *object) boolean(k string, v bool) {
	o.key(k)
	o.b = strconv.AppendBool(o.b, v)
}

// count writes a number of attempts; one without a limit is null.
func (o *object) count(k string, n int64) {
	if n > solver.MaxCount {
		o.null(k)
		return
	}
	o.key(k)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// product writes a count that may have stopped at MaxCount, or be unlimited: the word then stands beside it.
func (o *object) product(k string, n int64) {
	o.count(k, min(n, solver.MaxCount))
	o.saturated(k, float64(n))
}

func (o *object) saturated(k string, n float64) {
	switch {
	case n > float64(solver.MaxCount):
		o.text(k+"_is", "unlimited")
	case n == float64(solver.MaxCount):
		o.text(k+"_is", "at least")
	}
}

// number writes v to a millionth, without the noise of its binary form.
func (o *object) number(k string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		o.null(k)
		return
	}
	o.key(k)
	text := strconv.FormatFloat(v, 'f', 6, 64)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		text = "0"
	}
	o.b = append(o.b, text...)
}

// ms writes a time under k_ms; where it is no number it is null, with the word under k.
func (o *object) ms(k string, d model.Duration) {
	o.key(k + "_ms")
	o.b = appendMS(o.b, d)
	switch {
	case d == model.NoLimit:
		o.text(k, "unbounded")
	case !d.Finite():
		o.text(k, "unknown")
	}
}

// msOrNull writes a recommended time, null where there is none to give.
func (o *object) msOrNull(k string, d model.Duration) {
	if d <= 0 {
		o.null(k + "_ms")
		return
	}
	o.ms(k, d)
}

// partial writes a sum of which parts may be unknown: word says what the sum of the known parts is then.
func (o *object) partial(k string, d model.Duration, known solver.Knowledge, word string) {
	if known == solver.Nothing {
		d = model.Unknown
	}
	o.ms(k, d)
	if known == solver.Partial && d.Finite() {
		o.text(k, word)
	}
}

func (o *object) need(n solver.Need) { o.partial("need", n.V, n.Known, "at least") }

func (o *object) slack(d model.Duration, known solver.Knowledge) {
	o.partial("slack", d, known, "at most")
}

// object writes a nested object.
func (o *object) object(k string, fill func(*object)) {
	o.key(k)
	inner := object{b: append(o.b, '{')}
	fill(&inner)
	o.b = append(inner.b, '}')
}

// list writes an array of n elements.
func (o *object) list(k string, n int, element func(b []byte, i int) []byte) {
	o.key(k)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ", "...)
		}
		o.b = element(o.b, i)
	}
	o.b = append(o.b, ']')
}

// objects writes an array of n objects.
func (o *object) objects(k string, n int, fill func(o *object, i int)) {
	o.list(k, n, func(b []byte, i int) []byte {
		inner := object{b: append(b, '{')}
		fill(&inner, i)
		return append(inner.b, '}')
	})
}

// at writes a place, null for nowhere; line and column are null where only the file is known.
func (o *object) at(s diag.Span) {
	if s.File == "" {
		o.null("at")
		return
	}
	o.object("at", func(o *object) {
		o.text("file", s.File)
		for _, part := range []struct {
			key string
			n   int32
		}{{"line", s.Line}, {"column", s.Col}} {
			if part.n > 0 {
				o.count(part.key, int64(part.n))
			} else {
				o.null(part.key)
			}
		}
	})
}

func (o *object) counts(k string, c solver.Counts) {
	o.object(k, func(o *object) {
		o.product("configured", c.Configured)
		o.product("time_limited", c.TimeLimited)
		o.number("with_retry_budgets", min(c.Budgeted, float64(solver.MaxCount)))
		o.saturated("with_retry_budgets", c.Budgeted)
	})
}

// appendMS writes d in ms, exact to the nanosecond; null where it is no number.
func appendMS(b []byte, d model.Duration) []byte {
	if !d.Finite() {
		return append(b, "null"...)
	}
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	b = strconv.AppendInt(b, int64(d/model.Millisecond), 10)
	if rest := d % model.Millisecond; rest > 0 {
		digits := strconv.Itoa(int(model.Millisecond + rest)) // the leading 1 keeps the zeros
		b = append(b, '.')
		b = append(b, strings.TrimRight(digits[1:], "0")...)
	}
	return b
}

func appendString(b []byte, text string) []byte {
	if standsAsItIs(text) {
		b = append(b, '"')
		b = append(b, text...)
		return append(b, '"')
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// standsAsItIs reports whether a text needs no escape in JSON, as nearly all do.
func standsAsItIs(text string) bool {
	ascii := true
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == '"' || c == '\\':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || utf8.ValidString(text) && !strings.ContainsAny(text, "\u2028\u2029")
}
