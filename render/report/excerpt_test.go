package report

import (
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/model/diag"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 300) + "timeout" + strings.Repeat("b", 300)
	for _, c := range []struct {
		name, file    string
		at            diag.Span
		shown, carets string
		missing       bool
	}{
		{"plain", "a: 1\nb: 22\n", diag.Span{Line: 2, Col: 4, EndCol: 6}, "b: 22", "   ^^", false},
		{"no end", "a: 1\n", diag.Span{Line: 1, Col: 4}, "a: 1", "   ^", false},
		{"no column", "a: 1\n", diag.Span{Line: 1}, "a: 1", "", false},
		{"behind the line", "a:\n", diag.Span{Line: 1, Col: 3}, "a:", "  ^", false},
		{"far behind the line", "a:\n", diag.Span{Line: 1, Col: 9000}, "a:", "", false},
		{"end far behind the line", "a: 1\n", diag.Span{Line: 1, Col: 4, EndCol: 900}, "a: 1", "   ^", false},
		{"tabs", "\ta:\t1\n", diag.Span{Line: 1, Col: 5, EndCol: 6}, "    a:    1", "          ^", false},
		{"carriage return, line feed", "a\r\nb: 1\r\n", diag.Span{Line: 2, Col: 1, EndCol: 2}, "b: 1", "^", false},
		{"carriage return", "a\rb: 1\r", diag.Span{Line: 2, Col: 4}, "b: 1", "   ^", false},
		{"wide runes", "日本: 価格\n", diag.Span{Line: 1, Col: 5, EndCol: 7}, "日本: 価格", "      ^^^^", false},
		{"combining marks", "e\u0301: 1\n", diag.Span{Line: 1, Col: 5, EndCol: 6}, "e\u0301: 1", "   ^", false},
		{"byte order mark", "\ufeffa: 1\n", diag.Span{Line: 1, Col: 1, EndCol: 2}, "a: 1", "^", false},
		{"no text", "a\xff\xfe: 1\n", diag.Span{Line: 1, Col: 6}, "a\ufffd\ufffd: 1", "     ^", false},
		{"terminal escapes", "a\x1b[2J: 1\n", diag.Span{Line: 1, Col: 1}, "a\ufffd[2J: 1", "^", false},
		{
			"late in a long line", long,
			diag.Span{Line: 1, Col: 301, EndCol: 308},
			"…" + strings.Repeat("a", 39) + "timeout" + strings.Repeat("b", 54) + "…", strings.Repeat(" ", 40) + "^^^^^^^", false,
		},
		{"early in a long line", long, diag.Span{Line: 1, Col: 2, EndCol: 3}, strings.Repeat("a", 100) + "…", " ^", false},
		{"empty line", "a\n\nb\n", diag.Span{Line: 2, Col: 1}, "", "^", false},
		{"line too high", "a\n", diag.Span{Line: 3, Col: 1}, "", "", true},
		{"line too low", "a\n", diag.Span{Line: -1, Col: -1}, "", "", true},
		{"column too low", "a\n", diag.Span{Line: 1, Col: -7}, "a", "", false},
		{"no file", "", diag.Span{Line: 1, Col: 1}, "", "", true},
	} {
		shown, carets, ok := newSources(func(string) []byte { return []byte(c.file) }).excerpt(c.at)
		if shown != c.shown || carets != c.carets || ok == c.missing {
			t.Errorf("%s: got %q, %q, %v; want %q, %q, %v", c.name, shown, carets, ok, c.shown, c.carets, !c.missing)
		}
	}
}

// Every rune of a line that is long enough for the table of offsets is found, as it is in a short one.
func TestOffsetOfLongLine(t *testing.T) {
	line := []byte(strings.Repeat("aé日\xff", 8*stopEvery))
	f := split(line)
	at := 0
	for i, r := range []rune(string(line)) {
		if got := f.offset(1, line, i); got != at {
			t.Fatalf("rune %d: got offset %d, want %d", i, got, at)
		}
		at += map[rune]int{'a': 1, 'é': 2, '日': 3, '\ufffd': 1}[r]
	}
	if got := f.offset(1, line, 1<<30); got != len(line) {
		t.Errorf("behind the line: got offset %d, want %d", got, len(line))
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("a: 1\r\n\tb: 日本\n"), int32(2), int32(3), int32(9))
	f.Add([]byte(strings.Repeat("a", 500)), int32(1), int32(300), int32(0))
	f.Fuzz(func(t *testing.T, text []byte, line, col, end int32) {
		shown, carets, ok := newSources(func(string) []byte { return text }).excerpt(diag.Span{Line: line, Col: col, EndCol: end})
		if strings.ContainsAny(shown, "\n\r\x1b") || strings.Trim(carets, " ^") != "" || !ok && shown+carets != "" {
			t.Errorf("got %q, %q, %v", shown, carets, ok)
		}
	})
}
