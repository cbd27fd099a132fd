package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// style paints text for a terminal; the zero style leaves it as it is.
type style bool

// The colours, as ANSI attributes, and what ends them.
const (
	red    = "1;31"
	yellow = "1;33"
	cyan   = "1;36"
	blue   = "34"
	bold   = "1"
	reset  = "\x1b[0m"
)

func (s style) paint(attributes, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + attributes + "m" + text + reset
}

func (s style) severity(of diag.Severity, text string) string {
	switch of {
	case diag.Error:
		return s.paint(red, text)
	case diag.Warning:
		return s.paint(yellow, text)
	}
	return s.paint(cyan, text)
}

// clean makes text from files safe for a line of a terminal or a log: what would move the cursor, end the line or
// reverse its direction is written as an escape.
func clean(text string) string {
	if plain(text) == len(text) || strings.IndexFunc(text, unprintable) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain is how many bytes a text begins with that are printable ASCII.
func plain[T string | []byte](text T) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return i
		}
	}
	return len(text)
}

// unprintable reports control characters, line separators, and the marks that turn the direction of text around.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Which way brief rounds: what is needed or waited for up, what is given down.
const (
	down = false
	up   = true
)

func brief(d model.Duration, roundUp bool) string { return render.Brief(d, roundUp) }

// listed joins names in backticks, the first most of them, and says how many more there are.
func listed(names []string, most int) string {
	var b strings.Builder
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + clean(name) + "`")
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// solved reports whether an input has numbers, and not findings alone.
func solved(in *render.Input) bool {
	return in.Plan != nil && in.Graph != nil && in.Solution != nil &&
		len(in.Solution.Legs) == len(in.Graph.Legs) && len(in.Solution.Nodes) == len(in.Graph.Nodes) &&
		len(in.Solution.Roots) == len(in.Graph.Roots) && len(in.Plan.Services) <= len(in.Graph.Nodes)
}
