package yamlsrc

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Span gives the place where the value is written, after its anchor and tag; behind an alias or a merge that
// is the place of the anchor's value. EndCol is set for scalars of one line. Nil is nowhere.
func (n *Node) Span() diag.Span {
	if n == nil {
		return diag.Span{}
	}
	return n.file.outward(n.span())
}

// span is the place in the node's own file, which may be a text inside of another.
func (n *Node) span() diag.Span {
	at := diag.Span{File: n.file.Name, Line: n.line, Col: n.col}
	start, end, ok := n.bytes()
	start, end = start-n.file.bom, end-n.file.bom
	at.Col += int32(utf8.RuneCount(n.file.src[n.offset:start]))
	if ok {
		at.EndCol = at.Col + int32(utf8.RuneCount(n.file.src[start:end]))
	}
	return at
}

// Bytes gives the byte range of a scalar of one line in the source, quotes included. For everything else ok is
// false and start is where the value begins. So it is for a value inside of a text (see Inside), with the start of
// the text.
func (n *Node) Bytes() (start, end int, ok bool) {
	if n == nil {
		return 0, 0, false
	}
	if outer := n.file.outer; outer != nil {
		start, end, _ = outer.Bytes()
		return start, end, false
	}
	return n.bytes()
}

func (n *Node) bytes() (start, end int, ok bool) {
	start = n.file.skipProperties(int(n.offset))
	rest := n.file.src[start:]
	switch {
	case n.kind != Scalar || n.style&block != 0 || len(rest) == 0:
		ok = false
	case n.style&quotes != 0:
		end, ok = closingQuote(rest)
	case bytes.HasPrefix(rest, []byte(n.text)):
		end, ok = len(n.text), true
	}
	return start + n.file.bom, start + end + n.file.bom, ok
}

// skipProperties steps over anchors and tags, which the library counts as part of the value. It stays where
// nothing follows them on the line.
func (f *File) skipProperties(offset int) int {
	i := offset
	for i < len(f.src) && (f.src[i] == '&' || f.src[i] == '!') {
		for i < len(f.src) && !blank(f.src[i:]) {
			i++
		}
		for i < len(f.src) && (f.src[i] == ' ' || f.src[i] == '\t') {
			i++
		}
	}
	if i == len(f.src) || f.src[i] == '\n' || f.src[i] == '\r' || f.src[i] == '#' {
		return offset
	}
	return i
}

// closingQuote gives the length of a quoted scalar that ends on its own line.
func closingQuote(b []byte) (length int, ok bool) {
	q := b[0]
	for i := 1; i < len(b) && b[i] != '\n' && b[i] != '\r'; i++ {
		switch {
		case q == '"' && b[i] == '\\':
			i++
		case b[i] == q && q == '\'' && i+1 < len(b) && b[i+1] == q:
			i++
		case b[i] == q:
			return i + 1, true
		}
	}
	return 0, false
}

// hidden is a stretch of bytes, from start to before end, in which `#` begins no comment.
type hidden struct{ start, end int }

// Comments visits every comment in file order, with its line and its text after the `#`, trimmed.
func (f *File) Comments(visit func(line int32, text string)) {
	if bytes.IndexByte(f.src, '#') < 0 {
		return
	}
	texts := f.quotedTexts()
	for i, line := 0, 0; i < len(f.src); i++ {
		j := bytes.IndexByte(f.src[i:], '#')
		if j < 0 {
			return
		}
		i += j
		for len(texts) > 0 && texts[0].end <= i {
			texts = texts[1:]
		}
		if len(texts) > 0 && texts[0].start <= i {
			i = texts[0].end - 1
			continue
		}
		starts := f.lines()
		for line+1 < len(starts) && int(starts[line+1]) <= i {
			line++
		}
		if i > int(starts[line]) && f.src[i-1] != ' ' && f.src[i-1] != '\t' {
			continue
		}
		end := len(f.src)
		if line+1 < len(starts) {
			end = int(starts[line+1])
		}
		visit(int32(line)+1, string(bytes.TrimSpace(f.src[i+1:end])))
		i = end - 1
	}
}

// quotedTexts gives the extents of all quoted and block scalars in file order.
func (f *File) quotedTexts() []hidden {
	var out []hidden
	seen := map[*Node]bool{}
	var walk func(*Node)
	walk = func(n *Node) {
		switch {
		case n == nil:
		case n.kind == Scalar:
			if n.style&(quotes|block) != 0 {
				out = append(out, n.extent())
			}
		case !seen[n]:
			seen[n] = true
			for _, p := range n.pairs {
				walk(p.Key)
				walk(p.Value)
			}
			for _, item := range n.items {
				walk(item)
			}
		}
	}
	for _, d := range f.Docs {
		walk(d)
	}
	slices.SortFunc(out, func(a, b hidden) int { return a.start - b.start })
	return out
}

// extent gives the bytes of a quoted or block scalar, over lines.
func (n *Node) extent() hidden {
	f := n.file
	start := f.skipProperties(int(n.offset))
	if n.style&quotes != 0 && start < len(f.src) {
		return hidden{start, start + quotedLength(f.src[start:])}
	}
	// A block scalar's header line may end in a comment; its text goes on while lines are indented deeper than
	// the line before it begins, the least that YAML allows.
	starts, end := f.lines(), len(f.src)
	first := int(n.line)
	if first >= len(starts) {
		return hidden{end, end}
	}
	indent := -1
	for l := first; l < len(starts); l++ {
		line := f.src[starts[l]:]
		depth := 0
		for depth < len(line) && line[depth] == ' ' {
			depth++
		}
		if depth == len(line) || line[depth] == '\n' || line[depth] == '\r' {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		if depth < indent || indent == 0 {
			end = int(starts[l])
			break
		}
	}
	return hidden{int(starts[first]), end}
}

func quotedLength(b []byte) int {
	q := b[0]
	for i := 1; i < len(b); i++ {
		switch {
		case q == '"' && b[i] == '\\':
			i++
		case b[i] == q && q == '\'' && i+1 < len(b) && b[i+1] == q:
			i++
		case b[i] == q:
			return i + 1
		}
	}
	return len(b)
}
