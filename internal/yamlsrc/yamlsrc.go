// Package yamlsrc turns bytes of YAML or JSON into nodes that know where they were written. It is the only
// user of the YAML library, and checks what that library does not: duplicate keys, aliases that refer to
// themselves or multiply, nesting, the encoding, templates that nobody rendered.
package yamlsrc

import (
	"github.com/budgetplan/budgetplan/model/diag"
)

// MaxBytes is the largest input that Parse reads.
const MaxBytes = 256 << 20

// MaxDepth is how deep mappings and lists may be nested.
const MaxDepth = 1000

// The aliases and merges of one document may stand for AliasedFree values together, and AliasedPerValue more for
// every value that is written out before.
const (
	AliasedFree     = 100_000
	AliasedPerValue = 30
)

// maxFindings is the number of findings of one file that are told; one more says that there are others.
const maxFindings = 10_000

// maxSyntax is the number of documents of one file whose syntax errors are told.
const maxSyntax = 20

// Syntax is raised for what is no YAML, and for what is too large or too deep to be read.
var Syntax = &diag.Code{ID: "BP001", Name: "syntax", Severity: diag.Error, Summary: "a file cannot be read as YAML or JSON"}

// Duplicate is raised for a key that a mapping has twice. Readers raise it too, for two spellings of one key.
var Duplicate = &diag.Code{ID: "BP004", Name: "duplicate", Severity: diag.Error, Summary: "a thing is given twice"}

// Codes lists what Parse raises.
var Codes = []*diag.Code{Syntax, Duplicate}

// File is one parsed input.
type File struct {
	// Name is the name that spans show.
	Name string
	// Docs has a node for every document that is not empty, in file order.
	Docs []*Node

	src    []byte  // without a byte order mark
	bom    int     // bytes of the byte order mark
	starts []int32 // byte offset of every line, made on demand

	// outer is the text that the file stands in, nil for a file of its own; indent is the columns before each of
	// its lines, negative where the text is not written line by line.
	outer  *Node
	indent int32
}

// Kind is the shape of a node.
type Kind uint8

// The kinds. An absent node (nil) and an empty value are Null.
const (
	Null Kind = iota
	Scalar
	Map
	Seq
)

// String gives the word for messages, with its article.
func (k Kind) String() string {
	return [...]string{"an empty value", "a single value", "a mapping", "a list"}[k]
}

type style uint8

const (
	quoted style = 1 << iota // never null, number or bool
	quotes                   // '…' or "…"
	block                    // | or >
	flow                     // {…} or […]
	broken                   // a finding has already said what is wrong
)

// Node is a value with its place. Aliases are resolved and merges applied: a node that is reached through an
// alias is the node at the anchor itself. Every method may be called on nil, which is an absent value.
type Node struct {
	file  *File
	text  string
	pairs []Pair
	items []*Node
	// Where the value begins, with its anchor and tag: line and column, and the same in bytes.
	line, col, offset int32
	kind              Kind
	style             style
}

// Pair is a key of a mapping with its value.
type Pair struct{ Key, Value *Node }

// Kind gives the shape of the node, Null for nil.
func (n *Node) Kind() Kind {
	if n == nil {
		return Null
	}
	return n.kind
}

// Text gives the text of a scalar with quotes and escapes resolved, empty for every other kind.
func (n *Node) Text() string {
	if n.Kind() != Scalar {
		return ""
	}
	return n.text
}

// Quoted reports whether a scalar is a text whatever it looks like: quoted, a block, or tagged `!!str`.
func (n *Node) Quoted() bool { return n != nil && n.style&quoted != 0 }

// Flow reports whether a mapping or list is written in braces or brackets, as all of JSON is.
func (n *Node) Flow() bool { return n != nil && n.style&flow != 0 }

// Broken reports whether Parse could not read the value and has said so; it is Null then.
func (n *Node) Broken() bool { return n != nil && n.style&broken != 0 }

// Get gives the value of a key, nil where n is no mapping or has no such key.
func (n *Node) Get(key string) *Node {
	for _, p := range n.Pairs() {
		if p.Key.kind == Scalar && p.Key.text == key {
			return p.Value
		}
	}
	return nil
}

// Pairs gives the keys and values of a mapping in file order: its own, then merged ones that no own key hides.
// The slice belongs to the node.
func (n *Node) Pairs() []Pair {
	if n == nil {
		return nil
	}
	return n.pairs
}

// Items gives the elements of a list, nil for every other kind. The slice belongs to the node.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.items
}
