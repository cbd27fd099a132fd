package postgres

import (
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
)

// token is a word, a quoted identifier, a string or a sign of SQL.
type token struct {
	text string
	kind byte // w word or number, i quoted identifier, s string, and every other byte for itself
	at   diag.Span
}

func (t token) is(word string) bool { return t.kind == 'w' && strings.EqualFold(t.text, word) }

// scanner reads SQL as psql does: comments, dollar quotes and meta-commands are left out.
type scanner struct {
	file string
	text string
	pos  int
	line int32
	from int // where the line begins
}

// at gives the place of a text that begins at a position of the current line.
func (s *scanner) at(pos, length int) diag.Span {
	col := int32(utf8.RuneCountInString(s.text[s.from:pos])) + 1
	return diag.Span{File: s.file, Line: s.line, Col: col, EndCol: col + int32(length)}
}

// skip moves on by n bytes, counting lines.
func (s *scanner) skip(n int) {
	for end := min(len(s.text), s.pos+n); s.pos < end; s.pos++ {
		if s.text[s.pos] == '\n' {
			s.line, s.from = s.line+1, s.pos+1
		}
	}
}

// until moves behind the next mark, to the end where there is none.
func (s *scanner) until(mark string) string {
	rest := s.text[s.pos:]
	i := strings.Index(rest, mark)
	if i < 0 {
		s.skip(len(rest))
		return rest
	}
	s.skip(i + len(mark))
	return rest[:i]
}

// next gives the next token; ok is false at the end.
func (s *scanner) next() (t token, ok bool) {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "--"), c == '\\':
			s.until("\n")
		case strings.HasPrefix(rest, "/*"):
			s.skip(2)
			s.until("*/")
		case c <= ' ':
			s.skip(1)
		case c == '\'' || c == '"':
			return s.quoted(c), true
		case c == '$' && dollar(rest) != "":
			tag := dollar(rest)
			at := s.at(s.pos, 1)
			s.skip(len(tag))
			return token{s.until(tag), '$', at}, true
		case wordByte(c):
			n := strings.IndexFunc(rest, func(r rune) bool { return r < utf8.RuneSelf && !wordByte(byte(r)) })
			if n < 0 {
				n = len(rest)
			}
			t = token{rest[:n], 'w', s.at(s.pos, utf8.RuneCountInString(rest[:n]))}
			s.skip(n)
			return t, true
		default:
			t = token{rest[:1], c, s.at(s.pos, 1)}
			s.skip(1)
			return t, true
		}
	}
	return token{}, false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c >= utf8.RuneSelf
}

// dollar gives the mark `$$` or `$tag$` that a text begins with.
func dollar(s string) string {
	end := strings.IndexByte(s[1:], '$')
	if end < 0 || strings.ContainsFunc(s[1:end+1], func(r rune) bool { return r < utf8.RuneSelf && !wordByte(byte(r)) }) {
		return ""
	}
	return s[:end+2]
}

// quoted reads a string or an identifier in quotes, which are doubled inside.
func (s *scanner) quoted(quote byte) token {
	start, line, from := s.pos, s.line, s.from
	var b strings.Builder
	for s.skip(1); s.pos < len(s.text); {
		b.WriteString(s.until(string(quote)))
		if s.pos >= len(s.text) || s.text[s.pos] != quote {
			break
		}
		b.WriteByte(quote)
		s.skip(1)
	}
	kind := byte('s')
	if quote == '"' {
		kind = 'i'
	}
	col := int32(utf8.RuneCountInString(s.text[from:start])) + 1
	return token{b.String(), kind, diag.Span{File: s.file, Line: line, Col: col, EndCol: col + int32(utf8.RuneCountInString(s.text[start:s.pos]))}}
}

// script gives the settings of a SQL script, statement by statement.
func script(file string, text []byte) []setting {
	s := &scanner{file: file, text: string(text), line: 1}
	var out []setting
	var statement []token
	flush := func() {
		if found, ok := parse(statement); ok {
			out = append(out, found)
		}
		statement = statement[:0]
	}
	for {
		t, ok := s.next()
		switch {
		case !ok:
			flush()
			return out
		case t.kind == ';':
			flush()
		case len(statement) < maxTokens: // no statement that is read is longer
			statement = append(statement, t)
		}
	}
}

const maxTokens = 16

// parse reads one statement; ok is false for one that sets none of the parameters.
func parse(st []token) (s setting, ok bool) {
	p := parser{st}
	switch {
	case p.take("alter"):
		if ok = p.alter(&s); !ok {
			return s, false
		}
	case p.take("set"):
		s.level = session
		_ = p.take("local") || p.take("session")
		p.st = append([]token{{text: "set", kind: 'w'}}, p.st...)
	default:
		return s, false
	}
	reset := p.take("reset")
	if !reset && !p.take("set") || len(p.st) == 0 || !isParameter(p.st[0].text) {
		return s, false
	}
	s.key, s.at = strings.ToLower(p.st[0].text), p.st[0].at
	p.st = p.st[1:]
	if s.takenBack = reset; reset {
		return s, true
	}
	if len(p.st) < 2 || p.st[0].kind != '=' && !p.st[0].is("to") {
		return s, false
	}
	v := p.st[1]
	s.at, s.value = v.at, v.text
	s.takenBack = v.is("default")
	s.unreadable = !s.takenBack && (v.kind != 'w' && v.kind != 's' || len(p.st) > 2)
	return s, true
}

// parser takes tokens off the front of a statement.
type parser struct{ st []token }

func (p *parser) take(word string) bool {
	if len(p.st) > 0 && p.st[0].is(word) {
		p.st = p.st[1:]
		return true
	}
	return false
}

// name takes an identifier: quoted as it is written, else in small letters as the server keeps it.
func (p *parser) name() (string, bool) {
	if len(p.st) == 0 || p.st[0].kind != 'w' && p.st[0].kind != 'i' {
		return "", false
	}
	t := p.st[0]
	p.st = p.st[1:]
	if t.kind == 'w' {
		return strings.ToLower(t.text), true
	}
	return t.text, true
}

// alter reads whom a setting is for.
func (p *parser) alter(s *setting) (ok bool) {
	switch {
	case p.take("system"):
		return true
	case p.take("database"):
		s.level = database
		s.name, ok = p.name()
		s.of = s.name
		return ok
	case p.take("role"), p.take("user"):
		s.level = role
		if p.take("all") {
			s.level = allRoles
		} else if s.name, ok = p.name(); !ok {
			return false
		}
		s.of = s.name
		if p.take("in") {
			db, named := "", p.take("database")
			if named {
				db, named = p.name()
			}
			s.of += "\x00" + db
			return named
		}
		return true
	}
	return false
}

// lines gives the settings of a postgresql.conf: `key = value`, the sign optional, the value in quotes or not.
func lines(file string, text []byte) []setting {
	var out []setting
	line := int32(0)
	for l := range strings.Lines(string(text)) {
		line++
		s := &scanner{file: file, text: strings.TrimRight(beforeHash(l), "\r\n"), line: line}
		key, ok := s.next()
		if !ok || key.kind != 'w' || !isParameter(key.text) {
			continue
		}
		value, ok := s.next()
		if ok && value.kind == '=' {
			value, ok = s.next()
		}
		rest, more := s.next()
		if !ok || value.kind != 'w' && value.kind != 's' {
			continue
		}
		out = append(out, setting{
			level: system, key: strings.ToLower(key.text), value: value.text, at: value.at, unreadable: more && rest.text != "",
		})
	}
	return out
}

// beforeHash cuts a comment off, which begins at a `#` outside of quotes.
func beforeHash(l string) string {
	inside := false
	for i := range len(l) {
		switch {
		case l[i] == '\'':
			inside = !inside
		case l[i] == '#' && !inside:
			return l[:i]
		}
	}
	return l
}
