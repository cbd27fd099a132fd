package yamlsrc

import (
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/budgetplan/budgetplan/model/diag"
)

// anchored is what an anchor stands for: its node and the number of values in it, aliases written out.
// A nil node is one that is still being converted.
type anchored struct {
	node *Node
	size int
}

func (p *parser) document(doc *yaml.Node, firstLine int) {
	if len(doc.Content) == 0 {
		return
	}
	p.anchors, p.values, p.aliased, p.toldAliased = nil, 0, 0, false
	root, _ := p.convert(doc.Content[0], firstLine, 0)
	if root.kind != Null || root.style&broken != 0 {
		p.file.Docs = append(p.file.Docs, root)
	}
}

// take gives an empty node of a slab: one allocation for many.
func (p *parser) take() *Node {
	if len(p.slab) == 0 {
		p.slabSize = min(256, 2*p.slabSize+8)
		p.slab = make([]Node, p.slabSize)
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.file = p.file
	return n
}

func (p *parser) newNode(y *yaml.Node, firstLine int) *Node {
	p.values++
	n := p.take()
	n.line, n.col = int32(y.Line+firstLine), int32(y.Column)
	n.offset = p.locate(n.line, n.col)
	return n
}

// locate turns a line and column into an offset. Nodes come in the order of the text, so it goes on from where the
// last one was: a file of a single line takes no more time than one of many.
func (p *parser) locate(line, col int32) int32 {
	c := &p.cursor
	if line != c.line || col < c.col {
		*c = cursor{line, 1, int32(p.file.offset(line, 1))}
	}
	for ; c.col < col && int(c.offset) < len(p.file.src); c.col++ {
		_, size := utf8.DecodeRune(p.file.src[c.offset:])
		c.offset += int32(size)
	}
	return c.offset
}

type cursor struct{ line, col, offset int32 }

// convert makes a node of the library's, and counts the values in it with aliases written out.
func (p *parser) convert(y *yaml.Node, firstLine, depth int) (n *Node, size int) {
	if y.Kind == yaml.AliasNode {
		return p.alias(y, firstLine)
	}
	n = p.newNode(y, firstLine)
	if depth > MaxDepth {
		p.tooDeep(n.Span())
		n.style |= broken
		return n, 1
	}
	if y.Anchor != "" {
		if p.anchors == nil {
			p.anchors = map[*yaml.Node]anchored{}
		}
		p.anchors[y] = anchored{}
	}
	size = p.fill(n, y, firstLine, depth)
	if y.Anchor != "" {
		p.anchors[y] = anchored{n, size}
	}
	return n, size
}

func (p *parser) fill(n *Node, y *yaml.Node, firstLine, depth int) (size int) {
	if y.Style&yaml.FlowStyle != 0 {
		n.style |= flow
	}
	switch y.Kind {
	case yaml.ScalarNode:
		p.scalar(n, y)
		return 1
	case yaml.SequenceNode:
		n.kind = Seq
		n.items = make([]*Node, len(y.Content))
		for i, c := range y.Content {
			item, s := p.convert(c, firstLine, depth+1)
			n.items[i], size = item, size+s
		}
	case yaml.MappingNode:
		if isTemplate(y) {
			n.style |= broken
			p.templateAt(int(n.offset))
			return 1
		}
		n.kind = Map
		size = p.mapping(n, y, firstLine, depth)
	}
	return size + 1
}

// ignoreTag marks a key that is not part of its mapping, as Envoy reads it.
const ignoreTag = "!ignore"

// isTemplate recognises `{{ .Values.x }}`, which is YAML: a mapping whose key is a mapping.
func isTemplate(y *yaml.Node) bool {
	return y.Style&yaml.FlowStyle != 0 && len(y.Content) > 0 && y.Content[0].Kind == yaml.MappingNode &&
		y.Content[0].Line == y.Line && y.Content[0].Column == y.Column+1
}

func (p *parser) scalar(n *Node, y *yaml.Node) {
	n.kind, n.text = Scalar, y.Value
	switch {
	case y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		n.style |= quoted | quotes
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.style |= quoted | block
	case y.Style&yaml.TaggedStyle != 0 && y.Tag == "!!str":
		n.style |= quoted
	case isNull(y.Value):
		n.kind = Null
	}
}

func isNull(s string) bool {
	return s == "" || s == "~" || s == "null" || s == "Null" || s == "NULL"
}

// alias gives the node at the anchor, unless it is one that contains the alias, or the document would
// grow beyond all bounds.
func (p *parser) alias(y *yaml.Node, firstLine int) (*Node, int) {
	target, found := p.anchors[y.Alias]
	most := AliasedFree + AliasedPerValue*p.values
	if target.node != nil && !p.toldAliased && p.aliased+target.size <= most {
		p.aliased += target.size
		return target.node, target.size
	}
	n := p.newNode(y, firstLine)
	n.style |= broken
	switch {
	case !found: // inside what is nested too deep, and told
	case target.node == nil:
		p.fail(n.Span(), "the anchor `%s` contains itself", y.Value)
	case !p.toldAliased:
		p.toldAliased = true
		p.fail(n.Span(), "the aliases up to here stand for more than %d values", most).
			Help = "write fewer values behind anchors that contain aliases themselves"
	}
	return n, 1
}

func (p *parser) mapping(n *Node, y *yaml.Node, firstLine, depth int) (size int) {
	n.pairs = make([]Pair, 0, len(y.Content)/2)
	keys := keySet{pairs: &n.pairs}
	merged, _, size := p.entries(&keys, y, firstLine, depth)
	for _, m := range merged {
		p.merge(&keys, m)
	}
	return size
}

// entries adds what a mapping says to keys, and gives what it merges, and its last value.
func (p *parser) entries(keys *keySet, y *yaml.Node, firstLine, depth int) (merged []*Node, last *Node, size int) {
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, ks := p.convert(y.Content[i], firstLine, depth+1)
		value, vs := p.convert(y.Content[i+1], firstLine, depth+1)
		last, size = value, size+ks+vs
		if y.Content[i].Tag == ignoreTag {
			continue // it only holds anchors
		}
		if y.Content[i].Tag == "!!merge" && key.style&quoted == 0 {
			merged = append(merged, value)
			continue
		}
		if first := keys.find(key); first != nil {
			p.duplicate(first, key)
			continue
		}
		keys.add(Pair{key, value})
	}
	return merged, last, size
}

func (p *parser) duplicate(first, again *Node) {
	f := Duplicate.New("", again.Span(), "the key `%s` is given twice in one mapping", again.text)
	f.Help = "keep one of the two"
	f.Notes = []diag.Note{{Text: "first given here", At: diag.At(first.Span())}}
	p.tell(f)
}

// merge appends what `<<` brings and no key before it hides; of several mappings the first wins.
func (p *parser) merge(keys *keySet, from *Node) {
	switch from.kind {
	case Map:
		for _, pair := range from.pairs {
			if keys.find(pair.Key) == nil {
				keys.add(pair)
			}
		}
	case Seq:
		for _, item := range from.items {
			if item.kind == Seq {
				p.badMerge(item)
				continue
			}
			p.merge(keys, item)
		}
	default:
		p.badMerge(from)
	}
}

func (p *parser) badMerge(at *Node) {
	if !at.Broken() {
		p.fail(at.Span(), "`<<` takes a mapping or a list of mappings, not %s", at.kind)
	}
}

// keySet finds a key of a mapping. Only large mappings get an index.
type keySet struct {
	pairs *[]Pair
	index map[string]*Node
}

const indexFrom = 16

func (s *keySet) find(key *Node) *Node {
	if key.kind != Scalar {
		return nil
	}
	if s.index != nil {
		return s.index[key.text]
	}
	for _, p := range *s.pairs {
		if p.Key.kind == Scalar && p.Key.text == key.text {
			return p.Key
		}
	}
	return nil
}

func (s *keySet) add(p Pair) {
	*s.pairs = append(*s.pairs, p)
	if s.index == nil && len(*s.pairs) >= indexFrom {
		s.index = make(map[string]*Node, 2*indexFrom)
		for _, q := range *s.pairs {
			if q.Key.kind == Scalar {
				s.index[q.Key.text] = q.Key
			}
		}
	} else if s.index != nil && p.Key.kind == Scalar {
		s.index[p.Key.text] = p.Key
	}
}
