package yamlsrc

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Inside parses the text of a scalar as a file of its own: a config that another file carries as a string. Places are
// those of the outer file, to the column in a literal block, else where the scalar stands. The file is never nil;
// findings are as those of Parse.
func Inside(n *Node) (*File, []diag.Finding) {
	if n == nil {
		return &File{}, nil
	}
	f, found := Parse(n.file.Name, []byte(n.Text()))
	// Places are turned outward from here on: while it parses, a file looks at its own text.
	f.outer, f.indent = n, n.indentation()
	for i := range found {
		found[i].At = f.outward(found[i].At)
		for k := range found[i].Notes {
			if at := found[i].Notes[k].At; at != nil {
				found[i].Notes[k].At = diag.At(f.outward(at.Span()))
			}
		}
	}
	return f, found
}

// outward gives the place in the outermost file of a place in this one.
func (f *File) outward(at diag.Span) diag.Span {
	if f.outer == nil {
		return at
	}
	if f.indent < 0 {
		return f.outer.Span()
	}
	at.Line += f.outer.line
	at.Col += f.indent
	if at.EndCol > 0 {
		at.EndCol += f.indent
	}
	return f.outer.file.outward(at)
}

// indentation gives the columns before each line of a literal block, -1 for a scalar that is written otherwise.
func (n *Node) indentation() int32 {
	if n.style&block == 0 {
		return -1
	}
	starts, indent := n.file.lines(), int32(0)
	for i, line := range strings.Split(strings.TrimRight(n.text, "\n"), "\n") {
		at := int(n.line) + i
		if at >= len(starts) {
			return -1
		}
		if line == "" {
			continue
		}
		written, _, _ := bytes.Cut(n.file.src[starts[at]:], []byte("\n"))
		before, ok := strings.CutSuffix(strings.TrimSuffix(string(written), "\r"), line)
		if !ok || strings.TrimSpace(before) != "" {
			return -1
		}
		indent = int32(utf8.RuneCountInString(before))
	}
	return indent
}
