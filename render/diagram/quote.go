package diagram

import (
	"strings"
	"unicode"
)

// quote writes any text as a quoted id, or as a label of one line, that shows the text as it is.
func quote(text string) string { return `"` + escape(text) + `"` }

// quoteLines writes lines as one label.
func quoteLines(lines []string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = escape(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}

// escape makes text safe inside the quotes of DOT, where a backslash starts an escape of labels (`\n`, `\N`) and a
// NUL ends the file. In labels `&` begins an entity.
func escape(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == '&':
			b.WriteString("&amp;")
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r):
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
