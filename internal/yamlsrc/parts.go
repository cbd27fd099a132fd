package yamlsrc

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"gopkg.in/yaml.v3"
)

// A large text is nearly always one mapping of a few keys, of which one has thousands of entries below it, each some
// lines long. Such a text is parsed in parts, each a YAML text of its own to the library: several at the same time, and
// only a few of them held as the library's nodes, which are many times larger than ours.
//
// A cut must not change what a text means. So a text is cut only before a key that stands in the column of the mapping,
// where no block scalar can reach; a quote or a bracket that is open at a cut is an error of its part; and where a part
// is anything but a mapping in block style, or the text has what parts would have to share (anchors, tags, several
// documents), the text is parsed whole.

// partSize is how large a part becomes at least; a text of less than two parts is parsed whole.
const partSize = 64 << 10

// part is some entries of one mapping: the document's own, or the one below the last key of the document before it.
type part struct {
	text      []byte
	firstLine int // 0-based
	below     bool
}

// cut gives the parts of a text, nil where it must be parsed whole.
func (f *File) cut(size int) []part {
	if len(f.src) < 2*size || bytes.ContainsAny(f.src, "&*!") || bytes.Contains(f.src, []byte("<<")) {
		return nil
	}
	var c cutter
	starts := f.lines()
	for i, at := range starts {
		line := f.src[at:]
		if i+1 < len(starts) {
			line = f.src[at:starts[i+1]]
		}
		if !c.line(i, int(at), line, size) {
			return nil
		}
	}
	for i := range c.parts {
		end := len(f.src)
		if i+1 < len(c.parts) {
			end = int(starts[c.parts[i+1].firstLine])
		}
		c.parts[i].text = f.src[starts[c.parts[i].firstLine]:end]
	}
	return c.parts
}

type cutter struct {
	parts []part
	from  int // where the last part begins, in bytes
	// column is where the entries below the last key of the document stand: 0 as long as none does, -1 where that key has
	// a value of another kind.
	column int
}

// line looks whether a cut must or may stand before a line, and reports false where the text must not be cut.
func (c *cutter) line(number, at int, line []byte, size int) bool {
	text := bytes.TrimLeft(line, " ")
	column := len(line) - len(text)
	switch key := startsKey(text); {
	case len(text) == 0, text[0] == '#', text[0] == '\n', text[0] == '\r':
	case text[0] == '?': // a key whose value, if it has none, stands where the next entry begins
		return false
	case column == 0 && len(c.parts) == 0 && bytes.Equal(bytes.TrimRight(text, " \r\n"), []byte("---")):
	case column == 0 && len(c.parts) > 0 && text[0] == '-' && blank(text[1:]): // a list below the last key
		c.column = -1
	case column == 0 && !key:
		return false
	case column == 0:
		if len(c.parts) == 0 || c.parts[len(c.parts)-1].below || at-c.from >= size {
			c.begin(number, at, false)
		}
		c.column = -1
		if opens(text) {
			c.column = 0
		}
	case len(c.parts) == 0:
		return false
	case c.column == 0 && !key:
		c.column = -1
	case c.column == 0:
		c.column = column
		c.begin(number, at, true)
	case column == c.column && key && at-c.from >= size:
		c.begin(number, at, true)
	}
	return true
}

func (c *cutter) begin(line, at int, below bool) {
	c.parts, c.from = append(c.parts, part{firstLine: line, below: below}), at
}

// startsKey reports whether a text may begin with a key that is not quoted. What else it may be is no mapping.
func startsKey(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	b := text[0]
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// opens reports whether a line is a key alone, whose value stands in the lines below it.
func opens(line []byte) bool {
	_, value, found := bytes.Cut(line, []byte(":"))
	value = bytes.TrimLeft(value, " ")
	return found && (len(value) == 0 || value[0] == '\n' || value[0] == '\r' || value[0] == '#')
}

// inParts reads the only document of a text from its parts. It reports false, and has changed nothing, where the text
// must be parsed whole.
func (p *parser) inParts(parts []part) bool {
	if len(parts) < 2 {
		return false
	}
	ahead := make(chan struct{}, 2*runtime.GOMAXPROCS(0)) // parts in the library's hands
	parsed := make([]chan *yaml.Node, len(parts))
	var failed atomic.Bool
	for i := range parsed {
		parsed[i] = make(chan *yaml.Node, 1)
	}
	go func() {
		for i := range parts {
			ahead <- struct{}{}
			go func() {
				var root *yaml.Node
				if !failed.Load() {
					root = mappingIn(parts[i].text)
				}
				parsed[i] <- root
			}()
		}
	}()
	before := *p
	j := joiner{p: p}
	for i := range parts {
		if root := <-parsed[i]; root == nil || !failed.Load() && !j.add(root, &parts[i]) {
			failed.Store(true)
		}
		<-ahead
	}
	if failed.Load() {
		*p = before
		return false
	}
	p.file.Docs = append(p.file.Docs, j.root)
	return true
}

// mappingIn parses a part: nil where it is not a single mapping in block style.
func mappingIn(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, rest yaml.Node
	if decode(dec, &doc) != nil || !errors.Is(decode(dec, &rest), io.EOF) || len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil
	}
	return root
}

// joiner puts the entries of the parts into one document.
type joiner struct {
	p           *parser
	root, value *Node  // the document, and the value of its last key so far
	keys, below keySet // of both
}

// add joins one part. It reports false for a key that the document has twice, whose finding would come too early: the
// entries below the key are yet to come.
func (j *joiner) add(y *yaml.Node, from *part) bool {
	switch {
	case !from.below:
		if j.root == nil {
			j.root = j.mapping(y, from.firstLine)
			j.keys = keySet{pairs: &j.root.pairs}
		}
		before := len(j.root.pairs)
		_, j.value, _ = j.p.entries(&j.keys, y, from.firstLine, 0)
		return len(j.root.pairs)-before == len(y.Content)/2
	case j.value.kind != Map:
		*j.value = *j.mapping(y, from.firstLine)
		j.below = keySet{pairs: &j.value.pairs}
	}
	j.p.entries(&j.below, y, from.firstLine, 1)
	return true
}

func (j *joiner) mapping(y *yaml.Node, firstLine int) *Node {
	n := j.p.newNode(y, firstLine)
	n.kind = Map
	return n
}
