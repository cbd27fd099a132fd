package yamlsrc

import (
	"testing"

	"github.com/budgetplan/budgetplan/internal/peak"
)

// TestMemory parses texts that are made to be large in memory: at most 64 times their size and 64 MB, of which the
// readers of the nodes need a part.
func TestMemory(t *testing.T) {
	large := []string{
		"keys below a key", "keys with a value", "keys, whole", "explicit keys", "quoted keys", "aliases", "JSON",
	}
	peak.Shapes(t, dense, 8<<20, large, func(text string) {
		f, found := Parse("f.yaml", []byte(text))
		t.Logf("%d documents, %d findings", len(f.Docs), len(found))
	})
}

// dense are texts of many values.
func dense(size int) map[string]string {
	fill := func(line func(i int) string) string { return peak.Fill(size, line) }
	one := func(text string) string { return fill(func(int) string { return text }) }
	each := func(before, after string) string {
		return fill(func(i int) string { return before + peak.Letters(i) + after })
	}
	return map[string]string{
		"keys":              each("", ":\n"),
		"keys below a key":  "services:\n" + each(" ", ":\n"),
		"keys in braces":    "{" + each("", ",") + "}",
		"keys with a value": each("", ": b\n"),
		"keys, whole":       "- &a b\n---\n" + each("", ": b\n"),
		"keys in a line":    "{" + each("", ": b,") + "b: b}",
		"list":              one("- b\n"),
		"list in brackets":  "[" + one("b,") + "b] # no JSON\n",
		"lists in a line":   one("- - - - - - - - b\n"),
		"JSON":              "[" + one(`"b",`) + `"b"]`,
		"JSON of numbers":   "[" + one("1,") + "1]",
		"JSON of lists":     "[" + one("[],") + "1]",
		"JSON of keys":      "{" + each(`"`, `":1,`) + `"":1}`,
		"explicit keys":     each("? ", "\n"),
		"quoted keys":       "{" + each(`"`, `":b,`) + "}",
		"anchors":           each("- &", " b\n"),
		"aliases":           "- &b b\n" + one("- *b\n"),
		"empty mappings":    "[" + one("{},") + "{}] #\n",
		"empty lists":       "[" + one("[],") + "[]] #\n",
		"documents":         one("---\nb\n"),
		"comments":          "a:\n" + one("#\n"),
		"blocks":            one("- |\n b\n"),
		"merges":            "a: &a {b: 1}\n" + each("", ": {<<: *a}\n"),
	}
}
