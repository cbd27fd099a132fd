package report

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
)

// How much of a line is shown: excerptRunes of it, from excerptLead before the marked text where that starts late.
const (
	excerptRunes = 100
	excerptLead  = 40
)

// sources finds lines of the files that were read, each file being split once.
type sources struct {
	read  func(file string) []byte
	files map[string]*source
}

type source struct {
	bytes  []byte
	starts []int // of each line
	// stops has, for a line that is long, the offset of every stopEvery-th rune.
	stops map[int][]int
}

const stopEvery = 1024

func newSources(read func(string) []byte) *sources {
	return &sources{read, make(map[string]*source)}
}

func (s *sources) file(name string) *source {
	f, ok := s.files[name]
	if !ok {
		f = new(source)
		if s.read != nil {
			f = split(s.read(name))
		}
		s.files[name] = f
	}
	return f
}

// split finds the lines, ended by LF, CR LF or CR. Secrets in URLs are not shown.
func split(text []byte) *source {
	text = diag.Masked(text)
	f := &source{bytes: text, stops: make(map[int][]int)}
	for at := 0; at < len(text); {
		f.starts = append(f.starts, at)
		i := bytes.IndexAny(text[at:], "\r\n")
		if i < 0 {
			break
		}
		at += i + 1
		if text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	return f
}

// line gives line n, counted from 1, without its end and without a byte order mark.
func (f *source) line(n int) ([]byte, bool) {
	if n < 1 || n > len(f.starts) {
		return nil, false
	}
	text := f.bytes[f.starts[n-1]:]
	if n < len(f.starts) {
		text = f.bytes[f.starts[n-1]:f.starts[n]]
	}
	text = bytes.TrimRight(text, "\r\n")
	if n == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	return text, true
}

// offset gives where rune i of line n starts. A long line, such as a config without line breaks, is counted once.
func (f *source) offset(n int, text []byte, i int) int {
	at := 0
	if len(text) > 16*stopEvery {
		stops, ok := f.stops[n]
		if !ok {
			for pos, count := 0, 0; pos < len(text); count++ {
				if count%stopEvery == 0 {
					stops = append(stops, pos)
				}
				_, size := utf8.DecodeRune(text[pos:])
				pos += size
			}
			f.stops[n] = stops
		}
		stop := min(i/stopEvery, len(stops)-1)
		at, i = stops[stop], i-stop*stopEvery
	}
	for ; i > 0 && at < len(text); i-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// excerpt gives the line at a place as it is to be shown, and below it the carets, empty where the place names no
// column of the line. ok is false where there is no such line.
func (s *sources) excerpt(at diag.Span) (shown, carets string, ok bool) {
	f := s.file(at.File)
	text, ok := f.line(int(at.Line))
	if !ok {
		return "", "", false
	}
	from, cut := 0, ""
	if at.Col > excerptRunes-excerptLead/2 {
		from, cut = int(at.Col)-excerptLead, "…"
	}
	rest := text[f.offset(int(at.Line), text, from):]
	if len(rest) == 0 && from > 0 { // the column is beyond the line
		from, cut, rest = 0, "", text
	}
	cells, more := visible(rest)
	shown = cut + cells.join(0, cells.len())
	if more {
		shown += "…"
	}
	shown = strings.TrimRight(shown, " ")
	start := int(at.Col) - 1 - from
	if at.Col < 1 || start > cells.len() {
		return shown, "", true
	}
	end := min(max(start+1, int(at.EndCol)-1-from), cells.len())
	before := cells.width(cut, 0, start)
	marked := 1
	if end > start {
		marked = max(1, cells.width("", start, end))
	}
	return shown, strings.Repeat(" ", before) + strings.Repeat("^", marked), true
}

// text gives what stands at a place of one line, empty where the place does not say where it ends.
func (s *sources) text(at diag.Span) string {
	if at.Col < 1 || at.EndCol < at.Col {
		return ""
	}
	f := s.file(at.File)
	line, ok := f.line(int(at.Line))
	if !ok {
		return ""
	}
	return string(line[f.offset(int(at.Line), line, int(at.Col)-1):f.offset(int(at.Line), line, int(at.EndCol)-1)])
}

// cells are the runes of a line as they are to be shown: each by itself, or all in a text of which each byte is one.
type cells struct {
	ascii string
	runes []string
}

func (c cells) len() int { return len(c.ascii) + len(c.runes) }

func (c cells) join(from, to int) string {
	if c.runes == nil {
		return c.ascii[from:to]
	}
	return strings.Join(c.runes[from:to], "")
}

func (c cells) width(before string, from, to int) int {
	if c.runes == nil {
		return width(before) + to - from
	}
	return width(before + c.join(from, to))
}

// visible gives the first runes of a text as they are to be shown, a tab as four spaces, and whether there are more.
func visible(text []byte) (shown cells, more bool) {
	first := text[:min(len(text), excerptRunes)]
	if plain(first) == len(first) {
		return cells{ascii: string(first)}, len(text) > len(first)
	}
	var runes []string
	for len(text) > 0 {
		if len(runes) == excerptRunes {
			return cells{runes: runes}, true
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == '\t':
			runes = append(runes, "    ")
		case r == utf8.RuneError || unprintable(r):
			runes = append(runes, "\ufffd")
		default:
			runes = append(runes, string(r))
		}
	}
	return cells{runes: runes}, false
}
