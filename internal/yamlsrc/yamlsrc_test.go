package yamlsrc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/model/diag"
)

// brief prints findings with their places, notes and helps.
func brief(findings []diag.Finding) string {
	var out []string
	for _, f := range findings {
		s := fmt.Sprintf("%d:%d %s %s", f.At.Line, f.At.Col, f.Code.ID, f.Message)
		for _, n := range f.Notes {
			s += fmt.Sprintf(" | %d:%d %s", n.At.Line, n.At.Col, n.Text)
		}
		if f.Help != "" {
			s += " | help: " + f.Help
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// tree prints a node, short.
func tree(n *Node) string {
	switch n.Kind() {
	case Scalar:
		if n.Quoted() {
			return fmt.Sprintf("%q", n.Text())
		}
		return n.Text()
	case Map:
		var parts []string
		for _, p := range n.Pairs() {
			parts = append(parts, tree(p.Key)+": "+tree(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case Seq:
		var parts []string
		for _, i := range n.Items() {
			parts = append(parts, tree(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if n.Broken() {
		return "!"
	}
	return "~"
}

func trees(f *File) string {
	var parts []string
	for _, d := range f.Docs {
		parts = append(parts, tree(d))
	}
	return strings.Join(parts, " --- ")
}

func utf16le(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, src, tree, findings string }{
		{"plain", "a: 1\nb: [x, 'y', \"z\"]\n", `{a: 1, b: [x, "y", "z"]}`, ""},
		{"json", `{"a": {"b": [1, true, null]}}`, `{"a": {"b": [1, true, ~]}}`, ""},
		{"tabbed json", "{\n\t\"a\": 1\n}", `{"a": 1}`, ""},
		{"documents", "a: 1\n---\n# nothing\n---\nb: 2\n...\n", "{a: 1} --- {b: 2}", ""},
		{"byte order mark", "\ufeffa: 1", "{a: 1}", ""},
		{"CRLF", "a: 1\r\nb:\r\n  - c\r\n", "{a: 1, b: [c]}", ""},
		{"block scalars", "a: |\n  x # no comment\n  y\nb: 1", `{a: "x # no comment\ny\n", b: 1}`, ""},
		{"null", "a:\nb: ~\nc: null\nd: ''\ne: !!str\n", `{a: ~, b: ~, c: ~, d: "", e: ""}`, ""},
		{"alias", "a: &x {k: 1}\nb: *x", "{a: {k: 1}, b: {k: 1}}", ""},
		{"merge", "a: &x {k: 1, l: 2}\nb: {l: 3, <<: *x}", "{a: {k: 1, l: 2}, b: {l: 3, k: 1}}", ""},
		{"merges", "a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}", "{a: {k: 1}, b: {k: 2, l: 2}, c: {k: 1, l: 2}}", ""},
		{"quoted merge key", "a: {'<<': 1}", `{a: {"<<": 1}}`, ""},
		{"tags", "a: !x {b: !!int 5}", "{a: {b: 5}}", ""},

		{"empty", "", "", "1:1 BP001 the file is empty"},
		{"white space", " \n\n", "", "1:1 BP001 the file is empty"},
		{"comments", "# a\n---\n# b\n", "", "1:1 BP001 the file has no value, only comments or document marks"},
		{"NUL", "a: 1\nb: \x00", "", "2:4 BP001 the file has a NUL byte, it is no text"},
		{"UTF-16", "\xff\xfe" + utf16le("a: 1"), "", "1:1 BP001 the file is UTF-16 | help: save it as UTF-8"},
		{"UTF-16 unmarked", utf16le("entry: 1"), "", "1:1 BP001 the file is UTF-16 | help: save it as UTF-8"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "", "1:1 BP001 the file is UTF-32 | help: save it as UTF-8"},
		{"Latin-1", "a: caf\xe9", "", "1:7 BP001 the byte 0xE9 is not UTF-8"},
		{"control character", "a: \x1b[0m", "", "1:4 BP001 the file has the control character U+001B, which YAML does not allow"},
		{"joined files", "a: 1\n\ufeffb: 2", "", "2:1 BP001 a byte order mark stands inside the file"},

		{"first line", "a: b: c", "", "1:5 BP001 a key with `:` cannot stand here | help: give the keys of one mapping the same indentation, and quote a text that has `: ` in it"},
		{"indentation", "a:\n    b: 1\n  c: 2\n", "", "3:3 BP001 this fits neither the mapping before it nor a new one | 1:1 while parsing a block mapping that begins here | help: give the keys of one mapping the same indentation, and look for a quote that is not closed"},
		{"tab", "a:\n\tb: 1", "", "2:1 BP001 a tab cannot indent YAML | help: use spaces"},
		{"bracket", "a: [1, 2\nb: 3", "", "2:2 BP001 a list in brackets is not closed here | 1:4 while parsing a flow sequence that begins here | help: write `,` between elements and `]` after the last"},
		{"quote", "a: 'b\nc: d\n", "", "1:4 BP001 a quoted text is never closed | help: close it with the quote that it begins with"},
		{"at sign", "a: @b", "", "1:4 BP001 a value cannot start with `@` | help: put the value in quotes"},
		{"unknown anchor", "a: 1\nb: *x", "", "2:4 BP001 the anchor `x` is not defined before this place | help: write `&x` before the value that is meant, further up in the same document"},
		{"goes on", "a: 1\n---\nb: [\n---\nc: 3\n---\nd: e: f\n", "{a: 1} --- {c: 3}", "4:1 BP001 a value is expected here\n7:5 BP001 a key with `:` cannot stand here | help: give the keys of one mapping the same indentation, and quote a text that has `: ` in it"},

		{"duplicate", "a: 1\nb: 2\na: 3", "{a: 1, b: 2}", "3:1 BP004 the key `a` is given twice in one mapping | 1:1 first given here | help: keep one of the two"},
		{"duplicate in JSON", `{"a": 1, "a": 2}`, `{"a": 1}`, "1:10 BP004 the key `a` is given twice in one mapping | 1:2 first given here | help: keep one of the two"},
		{"itself", "a: &x {b: *x, c: 1}", "{a: {b: !, c: 1}}", "1:11 BP001 the anchor `x` contains itself"},
		{"bad merge", "a: {<<: 5, b: 1}", "{a: {b: 1}}", "1:9 BP001 `<<` takes a mapping or a list of mappings, not a single value"},

		{"template", "a: {{ .Values.a }}\nb: 1", "{a: !, b: 1}", "1:4 BP001 `{{ .Values.a }}` is a template, not YAML | help: render it first, for example `helm template . | budgetplan check -`"},
		{"template block", "a: 1\n{{- if .x }}\nb: 2\n{{- end }}\n", "", "2:1 BP001 `{{- if .x }}` is a template, not YAML | help: render it first, for example `helm template . | budgetplan check -`"},
		{"quoted template", "a: '{{ x }}'", `{a: "{{ x }}"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, findings := Parse("f.yaml", []byte(c.src))
			if diff := cmp.Diff(c.findings, brief(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.tree, trees(f)); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseBounds(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 10))
	}
	merges := "m0: &m0 {k0: 1}\n"
	for i := 1; i <= 3000; i++ {
		merges += fmt.Sprintf("m%d: &m%d {<<: *m%d, k%d: 1}\n", i, i, i-1, i)
	}
	for _, c := range []struct{ name, src, want string }{
		{"bomb", bomb, "5:29 BP001 the aliases up to here stand for more than 100630 values | help: write fewer values behind anchors that contain aliases themselves"},
		{"merges", merges, "266:18 BP001 the aliases up to here stand for more than 139840 values | help: write fewer values behind anchors that contain aliases themselves"},
		{"brackets", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "1:1002 BP001 values are nested more than 1000 levels deep"},
		{"far too many brackets", strings.Repeat("[", 20_000), "1:10001 BP001 values are nested more than 1000 levels deep"},
		{"braces", strings.Repeat("{a: ", 5000) + strings.Repeat("}", 5000), "1:4002 BP001 values are nested more than 1000 levels deep"},
		{"dashes", strings.Repeat("- ", 10_001), "1:20001 BP001 values are nested more than 1000 levels deep"},
		{"dense", "a: [" + strings.Repeat("a,", 1<<20) + "]", "1:1 BP001 the file packs about 2097154 values into 2048 KB, more than can be read in the memory allowed | help: split it into several files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, findings := Parse("f.yaml", []byte(c.src))
			if diff := cmp.Diff(c.want, brief(findings)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpan holds places against the source: the text at the place is the value.
func TestSpan(t *testing.T) {
	src := "\ufeffa: &x 1s # c\nü: \"q\\\"d\" \nlist: ['it''s', !!str 5, *x]\n? key\n: [*x]\nb: |\n  block\nm: &m {k: v}\nn: {<<: *m}\n"
	f, findings := Parse("f.yaml", []byte(src))
	if len(findings) > 0 {
		t.Fatal(brief(findings))
	}
	root := f.Docs[0]
	for _, c := range []struct {
		n    *Node
		span string
		text string
	}{
		{root.Get("a"), "1:7-9", "1s"},
		{root.Get("ü"), "2:4-10", `"q\"d"`},
		{root.Get("list").Items()[0], "3:8-15", "'it''s'"},
		{root.Get("list").Items()[1], "3:23-24", "5"},
		{root.Get("list").Items()[2], "1:7-9", "1s"},
		{root.Get("list"), "3:7-0", ""},
		{root.Get("key").Items()[0], "1:7-9", "1s"},
		{root.Get("b"), "6:4-0", ""},
		{root.Get("n").Get("k"), "8:11-12", "v"},
		{root.Pairs()[1].Key, "2:1-2", "ü"},
	} {
		s := c.n.Span()
		if got := fmt.Sprintf("%d:%d-%d", s.Line, s.Col, s.EndCol); got != c.span {
			t.Errorf("%s is at %s, want %s", tree(c.n), got, c.span)
		}
		start, end, ok := c.n.Bytes()
		if ok != (c.text != "") || ok && src[start:end] != c.text {
			t.Errorf("%s has bytes %d to %d (%v), want %q", tree(c.n), start, end, ok, c.text)
		}
	}
}

func TestNilNode(t *testing.T) {
	var n *Node
	if n.Kind() != Null || n.Text() != "" || n.Quoted() || n.Get("a").Get("b") != nil || n.Pairs() != nil || n.Items() != nil || n.Broken() || n.Flow() || !n.Span().Nowhere() {
		t.Error("an absent node is not empty")
	}
}

func TestComments(t *testing.T) {
	src := "# one\na: 'x # no' # two\nb: \"y\n  # no\" #three\nc: |  # four\n  # no\n  text\nd: e#no\nf: [1, # five\n  2]\ng: >\n  # no\n"
	f, findings := Parse("f.yaml", []byte(src))
	if len(findings) > 0 {
		t.Fatal(brief(findings))
	}
	var got []string
	f.Comments(func(line int32, text string) { got = append(got, fmt.Sprintf("%d %s", line, text)) })
	if want := []string{"1 one", "2 two", "4 three", "5 four", "9 five"}; !slices.Equal(got, want) {
		t.Errorf("comments %q, want %q", got, want)
	}
}

// TestJSONIsYAML holds the reader for JSON against the one for YAML: the same values in the same places.
func TestJSONIsYAML(t *testing.T) {
	for _, src := range []string{
		`{}`, `[]`, ` [ ] `, "{\n\t\"a\": 1,\n\t\"b\" : [1, -2.5e3, true, false, null, {}, [], \"\"]\n}\n",
		`{"a": "x\u00e9\n\"y\"", "ü": {"k": "v"}, "z": "é"}`, `[[["a"]], {"a": {"b": {"c": "d"}}}]`, `{"<<": {"a": 1}, "a": 2}`,
		"{\"a\":\r\n1,\r\n\"b\":\"é\"\r\n}",
	} {
		if !sameAsYAML(t, src) {
			t.Errorf("%s was not read both ways", src)
		}
	}
}

// sameAsYAML reads a JSON text both ways and compares; false where YAML cannot read it.
func sameAsYAML(t *testing.T, src string) bool {
	t.Helper()
	read := func(parse func(*parser)) (*File, string) {
		f := &File{Name: "f", src: []byte(src)}
		p := &parser{file: f}
		parse(p)
		return f, brief(p.findings)
	}
	asJSON, said := read((*parser).json)
	asYAML, saidYAML := read((*parser).documents)
	if strings.Contains(saidYAML, "BP001") || len(asYAML.Docs) == 0 {
		return false
	}
	var places func(*Node) string
	places = func(n *Node) string {
		s := n.Span()
		out := fmt.Sprintf("%d:%d-%d ", s.Line, s.Col, s.EndCol)
		for _, p := range n.Pairs() {
			out += places(p.Key) + places(p.Value)
		}
		for _, i := range n.Items() {
			out += places(i)
		}
		return out
	}
	if diff := cmp.Diff(saidYAML, said); diff != "" {
		t.Errorf("%s: findings (-YAML +JSON):\n%s", src, diff)
	}
	if diff := cmp.Diff(trees(asYAML), trees(asJSON)); diff != "" {
		t.Errorf("%s: values (-YAML +JSON):\n%s", src, diff)
	}
	if diff := cmp.Diff(places(asYAML.Docs[0]), places(asJSON.Docs[0])); diff != "" {
		t.Errorf("%s: places (-YAML +JSON):\n%s", src, diff)
	}
	return true
}

// FuzzParse demands of any bytes an answer with places inside the file.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x {b: *x}", "{{ x }}", "a: |\n # b\n", "- - - -", "\"\\u2028\"", "a: b: c", "? [a]\n: &b !!str \n", "a: 'b", "a: \u2028b: #c", "%YAML 1.1\n---\na", "<<: [{a: b}]", "a:\n  b: 1\n  # c\n  d: |\n    e\nf: [1,\n 2]", `{"a": [1, "b\u00e9", null]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, findings := Parse("f", src)
		if len(file.Docs) == 0 && len(findings) == 0 {
			t.Fatal("neither a document nor a finding")
		}
		if p := (&parser{file: file}); len(findings) == 0 && p.isJSON() {
			sameAsYAML(t, string(file.src))
		}
		sameInParts(t, string(src))
		lines := int32(len(file.lines()))
		for _, found := range findings {
			if found.At.Line < 1 || found.At.Line > lines || found.Message == "" {
				t.Fatalf("%q at line %d of %d", found.Message, found.At.Line, lines)
			}
		}
		var walk func(*Node)
		seen := map[*Node]bool{}
		walk = func(n *Node) {
			if n == nil || seen[n] {
				return
			}
			seen[n] = true
			if s := n.Span(); s.Line < 1 || s.Line > lines+1 || s.Col < 1 {
				t.Fatalf("%s is at %v of %d lines", tree(n), s, lines)
			}
			if start, end, ok := n.Bytes(); ok && (start > end || end > len(src)) {
				t.Fatalf("%s has bytes %d to %d of %d", tree(n), start, end, len(src))
			}
			for _, p := range n.Pairs() {
				walk(p.Key)
				walk(p.Value)
			}
			for _, item := range n.Items() {
				walk(item)
			}
		}
		for _, d := range file.Docs {
			walk(d)
		}
		file.Comments(func(line int32, _ string) {
			if line < 1 || line > lines {
				t.Fatalf("a comment in line %d of %d", line, lines)
			}
		})
	})
}

// A file that is wrong throughout says so, and takes no memory for each mistake.
func TestManyFindings(t *testing.T) {
	_, found := Parse("f.yaml", []byte("{"+strings.Repeat("a: 1,\n", maxFindings+1000)+"}"))
	last := found[len(found)-1:]
	if got, want := brief(last), "10002:1 BP001 what else is wrong with the file, from here on, is not told"; len(found) != maxFindings+1 || got != want {
		t.Errorf("%d findings, the last is %s", len(found), got)
	}
}
