package planfile

import (
	"fmt"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
)

// groups are the keys under which a list of calls stands, with what its elements are to each other.
var groups = []struct {
	kind model.FlowKind
	doc  string
}{
	{model.Sequence, "Calls made one after the other."},
	{model.Parallel, "Calls made at once; all are waited for."},
	{model.Fallback, "Calls made in order until one succeeds."},
	{model.OneOf, "One of these calls is made a request: routes, weighted clusters."},
	{model.Unordered, "Calls whose order nobody said."},
}

func groupNames() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.kind.String()
	}
	return names
}

var flowForm = &formInfo{
	name: "flow", takes: "a list of calls and groups", parts: append(callTable.forms(), name.formInfo),
	schema: object{"type": "array", "items": object{
		"if":   object{"type": "object"},
		"then": object{"if": object{"required": []string{"call"}}, "then": object{"$ref": "#/$defs/call"}, "else": object{"$ref": "#/$defs/group"}},
		"else": name.ref(),
	}},
	examples: []any{[]any{"auth", object{"call": "order", "timeout": "2s"}, object{"parallel": []any{"a", "b"}}}},
}

func groupSchema() object {
	properties := object{}
	var one []any
	for _, g := range groups {
		properties[g.kind.String()] = flowForm.described(g.doc)
		one = append(one, object{"required": []string{g.kind.String()}})
	}
	s := closed(properties)
	s["oneOf"] = one
	return s
}

func readCalls(r *reader, n *yamlsrc.Node, s *model.Service) {
	s.CallsAt = n.Span()
	s.Flow = r.flow(n, model.Sequence, s.Name)
}

// flow reads the list of a group.
func (r *reader) flow(n *yamlsrc.Node, kind model.FlowKind, from string) model.Flow {
	f := model.Flow{Kind: kind}
	if n.Kind() != yamlsrc.Seq {
		r.wrongShape(n, flowForm.takes)
		return f
	}
	for i, item := range n.Items() {
		if !r.room(item) {
			return f
		}
		if g, ok := r.element(item, from); ok {
			if f.Of == nil {
				f.Of = make([]model.Flow, 0, r.things.Expect(len(n.Items())-i))
			}
			f.Of = append(f.Of, g)
		}
	}
	return f
}

// element reads a name, a call or a group. What is none of these is told and left out.
func (r *reader) element(n *yamlsrc.Node, from string) (f model.Flow, ok bool) {
	callee := n.Get("call")
	switch {
	case n.Broken():
		return f, false
	case n.Kind() == yamlsrc.Scalar:
		to, ok := name.read(r, n)
		if !ok {
			return f, false
		}
		return r.addCall(from, to, n, nil), true
	case n.Kind() != yamlsrc.Map:
		r.wrongShape(n, "calls and groups as its elements")
		return f, false
	case callee != nil:
		outer := r.key
		r.key = "call"
		to, ok := name.read(r, callee)
		r.key = outer
		if !ok {
			to = "" // read on, for what else there is to tell
		}
		f = r.addCall(from, to, callee, n)
		return f, ok
	}
	return r.group(n, from)
}

// addCall reads one call; keys is nil for a name alone, and a call to nobody is read and dropped.
func (r *reader) addCall(from, to string, callee, keys *yamlsrc.Node) model.Flow {
	at, id := callee.Span(), len(r.frag.Calls)
	r.frag.Calls = append(r.frag.Calls, model.Call{At: at, Waiters: r.waiters.take()})
	c := &r.frag.Calls[id] // no other call is added meanwhile
	c.Waiters[0].At = at
	if keys != nil {
		r.within(subject{from, to}, func() { callTable.read(r, keys, c) })
	}
	if to == "" {
		r.frag.Calls = r.frag.Calls[:id]
		return model.Flow{}
	}
	r.tellApart(from, to, c)
	c.From, c.To = r.id, r.mention(to, callee)
	return model.Flow{Kind: model.One, Call: model.CallID(id)}
}

// mention finds or adds a service.
func (r *reader) mention(name string, n *yamlsrc.Node) model.ServiceID {
	known := len(r.frag.Services)
	id := r.frag.Service(name, n.Span())
	if len(r.frag.Services) > known {
		r.room(n)
	}
	return id
}

// tellApart reports two calls that have one id.
func (r *reader) tellApart(from, to string, c *model.Call) {
	if !c.Name().Set() {
		return
	}
	id := from + "/" + to + ":" + c.Name().V
	if first, known := r.calls[id]; known {
		r.within(subject{name: id}, func() {
			r.duplicate(c.Name().Span(), fmt.Sprintf("`%s` calls `%s` twice under the name `%s`", from, to, c.Name().V), first)
		})
		return
	}
	r.calls[id] = c.Name().Span()
}

// group reads a mapping with one group key.
func (r *reader) group(n *yamlsrc.Node, from string) (f model.Flow, ok bool) {
	var found *yamlsrc.Node
	outer := r.key
	for _, p := range n.Pairs() {
		key := p.Key.Text()
		kind, isGroup := groupKind(key)
		switch {
		case isUser(key) || p.Key.Broken():
		case !isGroup:
			r.unknown(p.Key, "an element of `calls`", append([]string{"call"}, groupNames()...))
		case found != nil:
			r.report(badValue, p.Key.Span(), problem{fmt.Sprintf("`%s` and `%s` are in one element", found.Text(), key), "write an element for each, with a `-` of its own"})
		default:
			found, r.key = p.Key, key
			if !p.Value.Broken() {
				f, ok = r.flow(p.Value, kind, from), true
			}
			r.key = outer
		}
	}
	if found == nil && !r.toldIn(n) {
		r.missing(n, "an element of `calls`", "call", "add `call`, or one of the groups "+list(groupNames()))
	}
	return f, ok
}

// toldIn reports whether the last finding is about a key of the mapping.
func (r *reader) toldIn(n *yamlsrc.Node) bool {
	if len(r.findings) == 0 {
		return false
	}
	last := r.findings[len(r.findings)-1].At
	for _, p := range n.Pairs() {
		if p.Key.Span() == last {
			return true
		}
	}
	return false
}

func groupKind(key string) (model.FlowKind, bool) {
	for _, g := range groups {
		if g.kind.String() == key {
			return g.kind, true
		}
	}
	return 0, false
}
