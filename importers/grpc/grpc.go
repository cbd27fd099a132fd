// Package grpc reads the service config of gRPC: a JSON file, or what another JSON or YAML file carries as an object or
// as a string, under any key.
//
// It reads of a method config its names, timeout, retryPolicy and hedgingPolicy, and of the whole config
// retryThrottling. Every name is a call of its own: blocks are not merged, so the most specific one that names a method
// is all that holds for it. A config with a fault is refused whole by every client, so nothing of it holds; the
// finding says so.
package grpc

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Importer reads gRPC service configs.
var Importer = &importers.Importer{
	Name:      "grpc",
	Title:     "gRPC service config",
	Recognise: func(src *importers.Source) bool { return len(configs(src)) > 0 },
	Import:    read,
	Codes:     []*diag.Code{importers.BadValue, importers.NotUnderstood, yamlsrc.Duplicate},
}

// AnyMethod is the callee of a method config without a service: it holds for every method that no other one names. An
// alias can say what is meant.
const AnyMethod = "*"

// maxDepth is how deep a config is looked for in another file.
const maxDepth = 20

// marks are the words that every config has, in lower case.
var marks = [][]byte{[]byte("methodconfig"), []byte("retrythrottling"), []byte("retrypolicy"), []byte("hedgingpolicy")}

// marked reports whether a text may have a config in it, without parsing it.
func marked(text []byte) bool {
	text = bytes.ToLower(text)
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(text, m) })
}

// configs gives every service config of a source, in file order.
func configs(src *importers.Source) []*yamlsrc.Node {
	if !marked(src.Bytes) {
		return nil
	}
	file, _ := src.YAML()
	f := finder{seen: map[*yamlsrc.Node]bool{}}
	for _, doc := range file.Docs {
		if f.find(doc, 0); len(f.found) == 0 && isPolicy(doc) {
			f.found = append(f.found, doc)
		}
	}
	return f.found
}

// finder looks for configs; what an alias repeats is looked at once.
type finder struct {
	found []*yamlsrc.Node
	seen  map[*yamlsrc.Node]bool
}

func (f *finder) find(n *yamlsrc.Node, depth int) {
	if depth > maxDepth || f.seen[n] {
		return
	}
	switch n.Kind() {
	case yamlsrc.Map:
		f.seen[n] = true
		if isConfig(n, depth == 0) {
			f.found = append(f.found, n)
			return
		}
		for _, p := range n.Pairs() {
			f.find(p.Value, depth+1)
		}
	case yamlsrc.Seq:
		f.seen[n] = true
		for _, item := range n.Items() {
			f.find(item, depth+1)
		}
	case yamlsrc.Scalar:
		if !n.Quoted() || !marked([]byte(n.Text())) {
			return
		}
		f.seen[n] = true
		inner, _ := yamlsrc.Inside(n)
		for _, doc := range inner.Docs {
			f.find(doc, depth+1)
		}
	}
}

// isConfig tells a service config by its method configs, which are mappings; one without any only where it is the file.
func isConfig(n *yamlsrc.Node, whole bool) bool {
	methods := field(n, "methodConfig")
	if methods.Kind() == yamlsrc.Seq {
		return !slices.ContainsFunc(methods.Items(), func(m *yamlsrc.Node) bool { return m.Kind() != yamlsrc.Map })
	}
	throttling := field(n, "retryThrottling")
	return whole && methods == nil && (field(throttling, "maxTokens") != nil || field(throttling, "tokenRatio") != nil)
}

// isPolicy recognises a part of a config: a policy that stands for no method.
func isPolicy(n *yamlsrc.Node) bool {
	for _, key := range []string{"retryPolicy", "hedgingPolicy"} {
		if field(field(n, key), "maxAttempts") != nil {
			return true
		}
	}
	return false
}

// field gives the value of a key in any case, as clients look it up; nil where it is absent or null.
func field(n *yamlsrc.Node, key string) *yamlsrc.Node {
	_, v := pair(n, key)
	return v
}

func pair(n *yamlsrc.Node, key string) (k, v *yamlsrc.Node) {
	for _, p := range n.Pairs() {
		if strings.EqualFold(p.Key.Text(), key) && p.Value.Kind() != yamlsrc.Null {
			return p.Key, p.Value
		}
	}
	return nil, nil
}

// reader is the state of one import.
type reader struct {
	src   *importers.Source
	frag  *model.Fragment
	found []diag.Finding
	told  map[string]bool // the fields that were reported as not understood
	// refused is set by the first fault of the config that is being read.
	refused bool
}

func read(src *importers.Source) (*model.Fragment, []diag.Finding) {
	file, found := src.YAML()
	r := &reader{
		src: src, found: slices.Clone(found), told: map[string]bool{},
		frag: &model.Fragment{File: src.File, As: "grpc", LineIgnores: importers.LineIgnores(file)},
	}
	var of []model.Flow
	for _, n := range configs(src) {
		for _, c := range r.config(n) {
			r.frag.Calls = append(r.frag.Calls, c)
			of = append(of, model.Flow{Kind: model.One, Call: model.CallID(len(r.frag.Calls) - 1)})
		}
	}
	if len(of) == 0 {
		r.frag.Without = "a gRPC service config that names no method"
		return r.frag, r.found
	}
	name, at := r.caller(r.frag.Calls[0].At)
	caller := r.frag.Service(name, at)
	for i := range r.frag.Calls {
		r.frag.Calls[i].From = caller
	}
	s := &r.frag.Services[caller]
	s.Declared = true
	s.Flow = of[0]
	if len(of) > 1 {
		s.Flow = model.Flow{Kind: model.Unordered, Of: of}
	}
	return r.frag, r.found
}

// caller says whose calls these are: the source's word, else what the file is called. A config itself has no word for
// its client.
func (r *reader) caller(first diag.Span) (string, diag.Span) {
	if s := r.src.Service; s.Set() {
		return s.V, s.Span()
	}
	name := path.Base(strings.ReplaceAll(r.src.File, "\\", "/"))
	name, _, _ = strings.Cut(name, ".")
	for cut := true; cut; {
		cut = false
		name = strings.TrimRight(name, "-_ ")
		for _, word := range []string{"config", "service", "grpc", "client"} {
			if rest, found := strings.CutSuffix(strings.ToLower(name), word); found {
				name, cut = name[:len(rest)], true
			}
		}
	}
	if name == "" || r.frag.Has(name) {
		name = "client"
	}
	return name, first
}
