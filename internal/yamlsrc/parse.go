package yamlsrc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Parse reads every document of src; name is for spans. The file is never nil and has all that could be read.
// Findings are syntax errors and duplicate keys; a file without any value is one too.
func Parse(name string, src []byte) (*File, []diag.Finding) {
	return parse(name, src, partSize)
}

func parse(name string, src []byte, partSize int) (*File, []diag.Finding) {
	defer frugal(len(src))()
	f := &File{Name: name, src: src}
	p := &parser{file: f}
	switch {
	case !p.checkText():
	case p.isJSON():
		if p.fits(countJSON(f.src), bytesPerJSON) {
			p.json()
		}
	case !p.fits(countValues(f.src), bytesPerValue):
	case !p.inParts(f.cut(partSize)):
		p.documents()
	}
	if len(f.Docs) == 0 && len(p.findings) == 0 {
		what := "the file is empty"
		if len(bytes.TrimSpace(f.src)) > 0 {
			what = "the file has no value, only comments or document marks"
		}
		p.fail(diag.Span{File: name, Line: 1, Col: 1}, "%s", what)
	}
	return f, p.findings
}

type parser struct {
	file     *File
	findings []diag.Finding
	slab     []Node
	slabSize int
	cursor   cursor
	anchors  map[*yaml.Node]anchored
	values   int // written out so far, in this document
	aliased  int // that aliases stand for so far
	// Told once a file: templates, nesting; once a document: aliases.
	toldTemplate, toldDeep, toldAliased bool
}

func (p *parser) fail(at diag.Span, format string, args ...any) *diag.Finding {
	return p.tell(Syntax.New("", at, format, args...))
}

// tell keeps a finding, and gives the place where it is kept. A file with very many is wrong as a whole.
func (p *parser) tell(f diag.Finding) *diag.Finding {
	switch n := len(p.findings); {
	case n > maxFindings:
		return &f
	case n == maxFindings:
		f = Syntax.New("", f.At, "what else is wrong with the file, from here on, is not told")
	}
	p.findings = append(p.findings, f)
	return &p.findings[len(p.findings)-1]
}

// documents parses one document after the other. After a syntax error it goes on at the next document mark.
func (p *parser) documents() {
	f := p.file
	for base, first, errs := 0, 0, 0; base < len(f.src) && errs < maxSyntax; errs++ {
		stop, ok := p.stream(base, first)
		if ok {
			return
		}
		starts := f.lines()
		next := len(starts)
		for l := max(stop, first+1); l < len(starts); l++ {
			if rest := f.src[starts[l]:]; bytes.HasPrefix(rest, []byte("---")) && blank(rest[3:]) {
				next = l
				break
			}
		}
		if next == len(starts) {
			return
		}
		base, first = int(starts[next]), next
	}
}

func blank(rest []byte) bool {
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r'
}

// stream parses the documents from a byte on, which is the start of the 0-based line first. After a syntax
// error ok is false, and stop the 0-based line to look for the next document from.
func (p *parser) stream(base, first int) (stop int, ok bool) {
	dec := yaml.NewDecoder(bytes.NewReader(p.file.src[base:]))
	for {
		var doc yaml.Node
		err := decode(dec, &doc)
		switch {
		case errors.Is(err, io.EOF):
			return 0, true
		case err != nil:
			at := readPlace(dec, err)
			p.syntaxError(at.shift(first))
			stop = at.problem.line + first
			if at.problem.col > 0 {
				stop++ // otherwise a document mark may be what is wrong there
			}
			return stop, false
		}
		p.document(&doc, first)
	}
}

// decode shields from faults of the library, which reports some by panicking.
func decode(dec *yaml.Decoder, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	return dec.Decode(doc)
}

// A mark is a 0-based line and column; known is false where the parser has set none.
type mark struct {
	line, col int
	known     bool
}

type syntaxPlace struct {
	text             string
	contextText      string
	problem, context mark
}

func (s syntaxPlace) shift(lines int) syntaxPlace {
	s.problem.line += lines
	s.context.line += lines
	return s
}

// readPlace finds where an error is. The library prints a line only, and none in the first line, but keeps
// the exact marks in its parser; reading them needs no more than reflection, and where they are not
// found the place is the start of the file.
func readPlace(dec *yaml.Decoder, err error) syntaxPlace {
	s := syntaxPlace{text: strings.TrimPrefix(err.Error(), "yaml: ")}
	outer := reflect.ValueOf(dec).Elem().FieldByName("parser")
	if outer.Kind() != reflect.Pointer || outer.IsNil() {
		return s
	}
	inner := outer.Elem().FieldByName("parser")
	if inner.Kind() != reflect.Struct {
		return s
	}
	if problem := inner.FieldByName("problem"); problem.Kind() == reflect.String && problem.Len() > 0 {
		s.text = problem.String()
		s.problem = readMark(inner.FieldByName("problem_mark"))
		s.context = readMark(inner.FieldByName("context_mark"))
		if c := inner.FieldByName("context"); c.Kind() == reflect.String {
			s.contextText = c.String()
		}
		return s
	}
	// The node builder's own errors (an unknown anchor) are at the event it was looking at.
	if event := outer.Elem().FieldByName("event"); event.Kind() == reflect.Struct {
		s.problem = readMark(event.FieldByName("start_mark"))
	}
	return s
}

func readMark(v reflect.Value) mark {
	if v.Kind() != reflect.Struct {
		return mark{}
	}
	line, col := v.FieldByName("line"), v.FieldByName("column")
	if line.Kind() != reflect.Int || col.Kind() != reflect.Int {
		return mark{}
	}
	return mark{int(line.Int()), int(col.Int()), true}
}

// span gives the place of a mark; one after the end of the text is moved to the end.
func (p *parser) span(m mark) diag.Span {
	if m.line >= len(p.file.lines()) {
		return p.file.place(len(bytes.TrimRight(p.file.src, " \t\r\n")))
	}
	return diag.Span{File: p.file.Name, Line: int32(m.line) + 1, Col: int32(m.col) + 1}
}

// phrases puts what the library says into words that tell what to do.
var phrases = []struct{ problem, message, help string }{
	{"mapping values are not allowed", "a key with `:` cannot stand here", "give the keys of one mapping the same indentation, and quote a text that has `: ` in it"},
	{"could not find expected ':'", "a line is neither a `key: value` nor part of the value before it", "add the `:` with a space after it, or indent the line under the value it belongs to"},
	{"did not find expected key", "this fits neither the mapping before it nor a new one", "give the keys of one mapping the same indentation, and look for a quote that is not closed"},
	{"did not find expected '-'", "this fits neither the list before it nor a new mapping", "begin each element with `- ` at the same indentation"},
	{"did not find expected ',' or ']'", "a list in brackets is not closed here", "write `,` between elements and `]` after the last"},
	{"did not find expected ',' or '}'", "a mapping in braces is not closed here", "write `,` between entries and `}` after the last"},
	{"did not find expected node content", "a value is expected here", ""},
	{"unexpected end of stream", "a quoted text is never closed", "close it with the quote that it begins with"},
	{"unexpected document indicator", "a quoted text is not closed before the document ends", "close it with the quote that it begins with"},
	{"unknown escape character", "an unknown escape in a text in double quotes", "write `\\\\` for a backslash, or use single quotes"},
	{"block sequence entries are not allowed", "a list element cannot stand here", "begin the list on the line after its key"},
	{"did not find expected <document start>", "a second value follows the first without a document mark", "put `---` between documents, or join both under one mapping"},
	{"found a tab character", "a tab cannot indent YAML", "use spaces"},
}

func (p *parser) syntaxError(s syntaxPlace) {
	if p.template(s) {
		return
	}
	if strings.Contains(s.text, "unexpected end of stream") && s.context.known {
		s.problem = s.context // the quote that is never closed, rather than the end of the file
	}
	at := p.span(s.problem)
	message, help := s.text, ""
	for _, ph := range phrases {
		if strings.Contains(s.text, ph.problem) {
			message, help = ph.message, ph.help
			break
		}
	}
	switch {
	case strings.Contains(s.text, "exceeded max depth"):
		p.tooDeep(at)
		return
	case strings.Contains(s.text, "cannot start any token"):
		r, _ := utf8.DecodeRune(p.file.src[min(p.file.offset(at.Line, at.Col), len(p.file.src)):])
		message, help = fmt.Sprintf("a value cannot start with `%c`", r), "put the value in quotes"
		if r == '\t' {
			message, help = "a tab cannot indent YAML", "use spaces"
		}
	case strings.HasPrefix(s.text, "unknown anchor"):
		name := strings.TrimSuffix(strings.TrimPrefix(s.text, "unknown anchor '"), "' referenced")
		message, help = fmt.Sprintf("the anchor `%s` is not defined before this place", name), fmt.Sprintf("write `&%s` before the value that is meant, further up in the same document", name)
	}
	finding := p.fail(at, "%s", message)
	finding.Help = help
	if s.contextText != "" && s.context.known && s.context.line != s.problem.line {
		finding.Notes = append(finding.Notes, diag.Note{Text: s.contextText + " that begins here", At: diag.At(p.span(s.context))})
	}
}

// template tells a template that nobody rendered from a slip of the pen: the first `{{` up to the error.
func (p *parser) template(s syntaxPlace) bool {
	src := p.file.src
	end := min(p.file.offset(int32(s.problem.line)+2, 1), len(src))
	i := bytes.Index(src[:end], []byte("{{"))
	if i < 0 || bytes.IndexByte(src[i:], '}') < 0 {
		return false
	}
	p.templateAt(i)
	return true
}

func (p *parser) templateAt(offset int) {
	if p.toldTemplate {
		return
	}
	p.toldTemplate = true
	line := p.file.src[offset:]
	if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	text := line
	if i := bytes.Index(line, []byte("}}")); i >= 0 {
		text = line[:i+2]
	}
	at := p.file.place(offset)
	at.EndCol = at.Col + int32(utf8.RuneCount(text))
	p.fail(at, "`%s` is a template, not YAML", clip(string(text), 60)).Help = "render it first, for example `helm template . | budgetplan check -`"
}

func (p *parser) tooDeep(at diag.Span) {
	if p.toldDeep {
		return
	}
	p.toldDeep = true
	p.fail(at, "values are nested more than %d levels deep", MaxDepth)
}

func clip(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes-1]) + "…"
}
