package yamlsrc

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// placed prints every value of a file with its kind, style and place.
func placed(f *File) string {
	var b strings.Builder
	var walk func(n *Node, indent string)
	walk = func(n *Node, indent string) {
		if n == nil {
			return
		}
		fmt.Fprintf(&b, "%s%d:%d@%d %s %b %q\n", indent, n.line, n.col, n.offset, n.kind, n.style, n.text)
		for _, p := range n.pairs {
			walk(p.Key, indent+" k ")
			walk(p.Value, indent+" v ")
		}
		for _, i := range n.items {
			walk(i, indent+" - ")
		}
	}
	for _, d := range f.Docs {
		walk(d, "")
	}
	return b.String()
}

// sameInParts reads a text in the smallest parts, and whole: nothing may differ, and it gives the number of parts.
func sameInParts(t interface{ Errorf(string, ...any) }, text string) int {
	whole, wholeFound := parse("f", []byte(text), math.MaxInt/2)
	parts, partsFound := parse("f", []byte(text), 1)
	if diff := cmp.Diff(placed(whole), placed(parts)); diff != "" {
		t.Errorf("%q: values (-whole +parts):\n%s", text, diff)
	}
	if diff := cmp.Diff(brief(wholeFound), brief(partsFound)); diff != "" {
		t.Errorf("%q: findings (-whole +parts):\n%s", text, diff)
	}
	p := &parser{file: &File{Name: "f", src: []byte(text)}}
	if cut := p.file.cut(1); p.inParts(cut) {
		return len(cut)
	}
	return 0
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		parts      int // 0: it is parsed whole
	}{
		{"entries below a key", "version: 1\nservices:\n  a: {x: 1}\n  b:\n    y: 2\n\n  # of c\n  c: [1,\n    2]\n", 5},
		{"keys of the document", "a: 1\nb: 2\nc:\n- x\n- y\nd:\n  e: 1\n", 5},
		{"after the entries", "a:\n  b: 1\n  c: 2\nd: 3\ne:\n    f: 4\n    g: 5\n", 7},
		{"document mark", "# plan\n---\na: 1\nb:\n  c: 2\n", 3},
		{"CRLF", "a:\r\n  b: 1\r\n  c: 2\r\nd: 3\r\n", 4},
		{"comment after a key", "a: # here\n  b: 1\n  c: 2\n", 3},
		{"block scalar", "a:\n  b: |\n    x: 1\n   # no\n\n  c: >-\n    y\n", 3},
		{"a list below a key", "a:\n  - b: 1\n  - c: 2\nd: 1\n", 2},
		{"duplicates below a key", "a:\n  b: 1\n  b: 2\nc:\n  b: 3\n  d: 4\n  b: 1\n", 7},
		{"template", "a:\n  b: {{ x }}\n  c: {{ y }}\nd: 1\n", 4},
		{"nothing below", "a:\nb:\n# no\nc: 1\n", 3},

		{"one key", "a: 1\n", 0},
		{"duplicates of the document", "a:\n  b: 1\n  b: 2\na:\n  b: 3\n  b: 4\nc: 1\n", 0},
		{"anchor", "a:\n  b: &x 1\n  c: *x\n", 0},
		{"merge", "a:\n  b: 1\n  <<: {c: 1}\n", 0},
		{"tag", "a:\n  b: !!str 1\n  c: 2\n", 0},
		{"documents", "a: 1\n---\nb: 2\n", 0},
		{"end mark", "a: 1\nb: 2\n...\n", 0},
		{"list", "- a: 1\n- b: 2\n", 0},
		{"quote across", "a: 'x\nb: y'\nc: 1\n", 0},
		{"quote across entries", "a:\n  b: \"x\n  c: y\"\n  d: 1\n", 0},
		{"bracket across", "a: [x,\nb]\nc: 1\n", 0},
		{"text below a key", "a:\n  b\n  c\nd: 1\n", 0},
		{"text across", "a:\n  b: 1\n  c\n  d: 2\n", 0},
		{"less indented", "a:\n  b: 1\n c: 2\n  d: 1\n", 0},
		{"more indented", "a:\n  b: 1\n    c: 2\n  d: 1\n", 0},
		{"explicit key", "? a\n: b\nc: 1\n", 0},
		{"quoted key", "\"a\": 1\nb: 2\n", 0},
		{"tab", "a:\n\tb: 1\nc: 2\n", 0},
		{"indented document", "  a: 1\n  b: 2\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sameInParts(t, c.text); got != c.parts {
				t.Errorf("%d parts, want %d", got, c.parts)
			}
		})
	}
}

// Random lines, most of which make sense: in parts they are what they are whole.
func TestPartsAreTheWhole(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d e", "f-1", "0", "_x", "Z"})
	values := rapid.SampledFrom([]string{
		"", " 1", " text", " 'q'", " \"q\"", " [1, 2]", " {k: v}", " |", " >-", " # comment", " ~", " {{ t }}", " 'open", " \"open", " [1,",
		" {k: 1,", " ]", " }", " '", " x # y", " a: b", " - z", " @", " *x", " &x 1", " !!str 1", " \\", " \u2028", " \u0085b: 1",
	})
	odd := rapid.SampledFrom([]string{"", "# comment", "---", "...", "? k", ": v", "- ", "- x", "- k: v", "text", "more text", "\tx: 1", "<<: {k: 1}", "'q': 1", "]", "}", "'", "\"", "%YAML 1.1", "{a: 1}", "[1]"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		tame := rapid.IntRange(0, 3).Draw(t, "tame")
		for range rapid.IntRange(1, 14).Draw(t, "lines") {
			b.WriteString(strings.Repeat(" ", rapid.SampledFrom([]int{0, 0, 2, 2, 2, 4, 4, 1, 3}).Draw(t, "indent")))
			if rapid.IntRange(0, 9).Draw(t, "odd") < tame {
				b.WriteString(odd.Draw(t, "line"))
			} else {
				fmt.Fprintf(&b, "%s:%s", keys.Draw(t, "key"), values.Draw(t, "value"))
			}
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\r"}).Draw(t, "end"))
		}
		sameInParts(t, b.String())
	})
}
