package yamlsrc

import (
	"fmt"
	"testing"
)

// TestInside: a value of a text that a file carries has its place in the file, to the column where the text is a
// literal block.
func TestInside(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src, place string }{
		{"block", "data:\n  conf: |\n    a: 1\n    deep:\n      key: value\n", "f.yaml:5:12-17"},
		{"block with a header", "conf: |-2\n\n  deep:\n    key: value", "f.yaml:4:10-15"},
		{"quoted", `conf: "deep: {key: value}"`, "f.yaml:1:7-27"},
		{"JSON in JSON", `{"a": 1, "conf": "{\"deep\": {\"key\": \"value\"}}"}`, "f.yaml:1:18-52"},
		{"folded", "conf: >\n  {deep:\n  {key: value}}\n", "f.yaml:1:7-0"},
		{"in a block in a block", "conf: |\n  conf: |\n    deep: {key: value}\n", "f.yaml:3:17-22"},
	}
	for _, tt := range tests {
		f, found := Parse("f.yaml", []byte(tt.src))
		n := f.Docs[0]
		if d := n.Get("data"); d != nil {
			n = d
		}
		n = n.Get("conf")
		for n.Kind() == Scalar && len(found) == 0 {
			f, found = Inside(n)
			n = f.Docs[0]
			if c := n.Get("conf"); c != nil {
				n = c
			}
		}
		value := n.Get("deep").Get("key")
		at := value.Span()
		if got := fmt.Sprintf("%s-%d", at, at.EndCol); value.Text() != "value" || got != tt.place || len(found) > 0 {
			t.Errorf("%s: %q at %s, want %s, findings %v", tt.name, value.Text(), got, tt.place, found)
		}
		if _, _, ok := value.Bytes(); ok {
			t.Errorf("%s: bytes of a value inside of a text could be replaced", tt.name)
		}
	}
}

// TestInsideFindings: what is wrong inside of a text is at its place in the file.
func TestInsideFindings(t *testing.T) {
	t.Parallel()
	f, _ := Parse("f.yaml", []byte("a: 1\nconf: |\n  x: 1\n  x: 2\n  y: [\n"))
	_, found := Inside(f.Docs[0].Get("conf"))
	if len(found) != 1 || found[0].At.Line < 5 {
		t.Errorf("findings %v", found)
	}
	f, _ = Parse("f.yaml", []byte("conf: |\n  x: 1\n  x: 2\n"))
	_, found = Inside(f.Docs[0].Get("conf"))
	if len(found) != 1 || found[0].At.String() != "f.yaml:3:3" || found[0].Notes[0].At.Span().String() != "f.yaml:2:3" {
		t.Errorf("findings %+v", found)
	}
	if f, found := Inside(nil); f == nil || len(f.Docs) > 0 || len(found) > 0 {
		t.Error("nothing has something inside")
	}
}

// TestJSONComments: people write comments into JSON, in which there are none; places stay.
func TestJSONComments(t *testing.T) {
	t.Parallel()
	f, found := Parse("f.json", []byte("// head\n{ /* a\n b */ \"key\": \"http://x/*y*/\", // tail\n \"n\": 1}"))
	if len(found) > 0 || len(f.Docs) != 1 {
		t.Fatalf("findings %v", found)
	}
	key, n := f.Docs[0].Get("key"), f.Docs[0].Get("n")
	if key.Text() != "http://x/*y*/" || key.Span().String() != "f.json:3:14" || n.Span().String() != "f.json:4:7" {
		t.Errorf("%q at %s, %s", key.Text(), key.Span(), n.Span())
	}
	for _, src := range []string{"{\"a\": 1} /* open", "/", "{ // only a comment\n"} {
		if _, found := Parse("f.json", []byte(src)); len(found) == 0 && src != "/" {
			t.Errorf("%q is read", src)
		}
	}
}

// TestIgnoreTag: a key with the tag only holds anchors.
func TestIgnoreTag(t *testing.T) {
	t.Parallel()
	f, found := Parse("f.yaml", []byte("!ignore parts: &p {a: 1}\nuse: *p\n"))
	if doc := f.Docs[0]; len(found) > 0 || doc.Get("parts") != nil || doc.Get("use").Get("a").Text() != "1" {
		t.Errorf("findings %v", found)
	}
}
