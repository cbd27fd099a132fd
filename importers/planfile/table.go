package planfile

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// object is a JSON Schema, or a part of one.
type object = map[string]any

// key is one line of a table: what the key is called, what it means, which values it takes, and where they go.
type key[T any] struct {
	name, doc string
	form      *formInfo
	read      func(r *reader, n *yamlsrc.Node, to *T)
	// scope says whether `defaults` has the key too.
	scope scope
}

type scope uint8

const (
	inherited scope = iota // `defaults` has it
	own                    // it belongs to the one thing that it stands at
)

// table is every key of one kind of mapping. Reading, the schema and the search for the nearest key are made from it.
type table[T any] struct {
	// what names the thing in messages, with its article.
	what     string
	keys     []*key[T]
	required []string
	// exclusive lists keys of which only one may be given.
	exclusive []exclusive
}

// exclusive says that key cannot stand beside any of others, and why.
type exclusive struct {
	key    string
	others []string
	why    string
}

// field makes a key whose value is stored as it is read, with its place. Written out at each of its hundred uses, it and
// those beside it would make the binary 100 kB larger.
//
//go:noinline
func field[T, V any](name, doc string, f form[V], at func(*T) *model.Val[V]) *key[T] {
	return &key[T]{name: name, doc: doc, form: f.formInfo, read: func(r *reader, n *yamlsrc.Node, to *T) {
		if v, ok := f.read(r, n); ok {
			*at(to) = written(r, v, n)
		}
	}}
}

// written makes a value of the key that is being read.
func written[V any](r *reader, v V, n *yamlsrc.Node) model.Val[V] {
	from := &r.origins.take()[0]
	*from = *diag.Behind(r.keyAt, n.Span())
	return model.Val[V]{V: v, From: from}
}

// custom makes a key that stores in a way of its own.
//
//go:noinline
func custom[T any](name, doc string, info *formInfo, read func(r *reader, n *yamlsrc.Node, to *T)) *key[T] {
	return &key[T]{name: name, doc: doc, form: info, read: read}
}

// lift makes the keys of a part the keys of the whole.
func lift[T, P any](keys []*key[P], part func(*T) *P) []*key[T] {
	out := make([]*key[T], len(keys))
	for i, k := range keys {
		out[i] = &key[T]{name: k.name, doc: k.doc, form: k.form, scope: k.scope, read: func(r *reader, n *yamlsrc.Node, to *T) {
			k.read(r, n, part(to))
		}}
	}
	return out
}

// only marks keys as no defaults.
func only[T any](keys ...*key[T]) []*key[T] {
	for i := range keys {
		keys[i].scope = own
	}
	return keys
}

func (t *table[T]) find(name string) *key[T] {
	for i := range t.keys {
		if t.keys[i].name == name {
			return t.keys[i]
		}
	}
	return nil
}

func (t *table[T]) names() []string {
	names := make([]string, len(t.keys))
	for i, k := range t.keys {
		names[i] = k.name
	}
	return names
}

// read reads a mapping key by key, and reports what is not in the table.
func (t *table[T]) read(r *reader, n *yamlsrc.Node, to *T) {
	if n.Kind() != yamlsrc.Map {
		r.wrongShape(n, "a mapping")
		return
	}
	outer, outerAt := r.key, r.keyAt
	for _, p := range n.Pairs() {
		if r.things.Full() {
			break
		}
		name := p.Key.Text()
		if isUser(name) || p.Key.Broken() {
			continue
		}
		k := t.find(name)
		if k == nil || p.Key.Kind() != yamlsrc.Scalar {
			r.unknown(p.Key, t.what, t.names())
			continue
		}
		r.key, r.keyAt = name, p.Key.Span()
		if !p.Value.Broken() {
			k.read(r, p.Value, to)
		}
	}
	r.key, r.keyAt = outer, outerAt
	r.complete(n, t.what, t.required, t.exclusive)
}

// complete reports the keys that a mapping lacks, and those that cannot stand beside each other.
func (r *reader) complete(n *yamlsrc.Node, what string, required []string, exclusive []exclusive) {
	for _, name := range required {
		if n.Get(name) == nil {
			r.missing(n, what, name, fmt.Sprintf("add `%s`", name))
		}
	}
	for _, x := range exclusive {
		first := n.Get(x.key)
		if first == nil {
			continue
		}
		for _, name := range x.others {
			if other := n.Get(name); other != nil {
				at := later(first, other)
				r.report(badValue, at.Span(), problem{fmt.Sprintf("`%s` and `%s` are given together: %s", x.key, name, x.why), "keep one of the two"})
			}
		}
	}
}

func later(a, b *yamlsrc.Node) *yamlsrc.Node {
	if a.Span().Compare(b.Span()) > 0 {
		return a
	}
	return b
}

// unknown reports a key that no table line has: with the nearest known key, the thing whose key it is, or else all
// known keys.
func (r *reader) unknown(k *yamlsrc.Node, what string, known []string) {
	name := k.Text()
	p := problem{fact: fmt.Sprintf("unknown key `%s`", name)}
	switch near := nearest(name, known); {
	case k.Kind() != yamlsrc.Scalar:
		p = problem{fmt.Sprintf("a key of %s is %s", what, k.Kind()), "write one of " + list(known)}
	case near != "":
		p.fact += fmt.Sprintf(", did you mean `%s`?", near)
		p.help = fmt.Sprintf("write `%s`, or begin a key of your own with `x-`", near)
	case len(r.homes[name]) > 0:
		p.fact = fmt.Sprintf("`%s` is a key of %s, not of %s", name, strings.Join(r.homes[name], " and "), what)
		p.help = fmt.Sprintf("the keys of %s are %s", what, list(known))
	default:
		p.help = fmt.Sprintf("the keys of %s are %s; begin a key of your own with `x-`", what, list(known))
	}
	r.report(unknownKey, k.Span(), p)
}

func list(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// schema is the table as a JSON Schema.
func (t *table[T]) schema() object {
	properties := object{}
	for _, k := range t.keys {
		properties[k.name] = k.form.described(k.doc)
	}
	return restricted(properties, t.required, t.exclusive)
}

// restricted is a closed mapping with what it requires and excludes.
func restricted(properties object, required []string, exclusive []exclusive) object {
	s := closed(properties)
	if len(required) > 0 {
		s["required"] = required
	}
	var not []any
	for _, x := range exclusive {
		for _, other := range x.others {
			not = append(not, object{"not": object{"required": []string{x.key, other}}})
		}
	}
	if len(not) > 0 {
		s["allOf"] = not
	}
	return s
}

// closed is a mapping of these keys, the user's own, and no others.
func closed(properties object) object {
	return object{
		"type": "object", "properties": properties, "additionalProperties": false,
		"patternProperties": object{"^x-": true},
	}
}

// named is a mapping from names that the user chooses.
func named(value any) object {
	return object{
		"type": "object", "patternProperties": object{"^x-": true}, "additionalProperties": value,
		"propertyNames": object{"pattern": namePattern},
	}
}
