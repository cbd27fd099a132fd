package envoy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// sameName reports whether a key as written, in snake_case or camelCase, is the field of that snake_case name.
func sameName(key, snake string) bool {
	i := 0
	for j := 0; j < len(snake); j++ {
		c := snake[j]
		if i >= len(key) {
			return false
		}
		if c == '_' && key[i] != '_' {
			j++
			if j == len(snake) || key[i] != snake[j]-'a'+'A' {
				return false
			}
		} else if key[i] != c {
			return false
		}
		i++
	}
	return i == len(key)
}

// field gives the value of a field in either spelling, nil where it is absent or null.
func field(n *yamlsrc.Node, snake string) *yamlsrc.Node {
	for _, p := range n.Pairs() {
		if sameName(p.Key.Text(), snake) && p.Value.Kind() != yamlsrc.Null {
			return p.Value
		}
	}
	v, _ := oneof(n, snake)
	return v
}

// oneof finds a field in the form in which Go prints a choice, as `Action: {Route: …}`, with the index of the choice.
func oneof(n *yamlsrc.Node, snake string) (*yamlsrc.Node, int) {
	for i, p := range n.Pairs() {
		if key := p.Key.Text(); key == "" || key[0] < 'A' || key[0] > 'Z' {
			continue
		}
		for _, q := range p.Value.Pairs() {
			if key := q.Key.Text(); key != "" && sameName(strings.ToLower(key[:1])+key[1:], snake) && q.Value.Kind() != yamlsrc.Null {
				return q.Value, i
			}
		}
	}
	return nil, 0
}

// list gives the elements of a repeated field. Envoy takes a single mapping for a list of one.
func list(n *yamlsrc.Node) []*yamlsrc.Node {
	if n.Kind() == yamlsrc.Map {
		return []*yamlsrc.Node{n}
	}
	return n.Items()
}

// message is a mapping whose fields are read by name, so that those that nobody read can be looked at in the end.
// The nil message is absent.
type message struct {
	r    *reader
	kind string // the name of the message, for findings
	node *yamlsrc.Node
	// seen marks the pairs that were read; a message has at most 64 fields worth telling of.
	seen uint64
}

// message gives a mapping as a message, nil for anything else.
func (r *reader) message(kind string, n *yamlsrc.Node) *message {
	switch n.Kind() {
	case yamlsrc.Map:
		return &message{r: r, kind: kind, node: n}
	case yamlsrc.Null:
	default:
		r.bad(n.Span(), kind, kind, fmt.Errorf("%s stands where a mapping belongs", n.Kind()))
	}
	return nil
}

// get gives a field in either spelling, nil where it is absent or null. Both spellings at once are a duplicate.
func (m *message) get(snake string) *yamlsrc.Node {
	if m == nil {
		return nil
	}
	var found *yamlsrc.Node
	var first string
	for i, p := range m.node.Pairs() {
		key := p.Key.Text()
		if !sameName(key, snake) {
			continue
		}
		m.seen |= 1 << (i & 63)
		if first != "" && key != first {
			m.r.twice(p.Key, key, first)
			continue
		}
		if first = key; p.Value.Kind() != yamlsrc.Null {
			found = p.Value
		}
	}
	if first == "" {
		v, i := oneof(m.node, snake)
		if v != nil {
			m.seen |= 1 << (i & 63)
		}
		return v
	}
	return found
}

// twice reports a field that is given in both spellings.
func (r *reader) twice(at *yamlsrc.Node, key, first string) {
	if id := "twice " + at.Span().String(); !r.told[id] {
		r.told[id] = true
		if !r.room(perFinding, at.Span()) {
			return
		}
		f := yamlsrc.Duplicate.New(key, at.Span(), "`%s` and `%s` are one field", first, key)
		f.Help = "keep one of them"
		r.found = append(r.found, f)
	}
}

// sub gives a field that is a message itself.
func (m *message) sub(snake string) *message {
	if m == nil {
		return nil
	}
	return m.r.message(snake, m.get(snake))
}

// at is the place of the message.
func (m *message) at() diag.Span {
	if m == nil {
		return diag.Span{}
	}
	return m.node.Span()
}

// harmless marks fields as read that bear no limit of a call.
func (m *message) harmless(names ...string) {
	for _, name := range names {
		m.get(name)
	}
}

// done reports fields that nobody read and that look like a limit or a retry.
func (m *message) done() {
	if m == nil {
		return
	}
	for i, p := range m.node.Pairs() {
		if i < 64 && m.seen&(1<<i) != 0 || p.Value.Kind() == yamlsrc.Null {
			continue
		}
		if key := p.Key.Text(); importers.SoundsLikeLimit(key) {
			m.r.unread(m.kind+"."+key, p.Key.Span(), "remove it, or check by hand what it does to the calls of this file",
				"`%s` of `%s` is not understood, and may change a limit", key, m.kind)
		}
	}
}

// duration is a field's time with the text that it was written as.
type duration struct {
	model.Val[model.Duration]
	text string
	// given is true for a field that is there, even where its value cannot be used.
	given bool
}

// duration reads a time to the nanosecond.
func (m *message) duration(snake string) duration {
	n := m.get(snake)
	if n == nil {
		return duration{}
	}
	d, text, err := parseDuration(n)
	if err != nil {
		m.r.bad(n.Span(), m.kind, snake, err)
		return duration{given: true}
	}
	return duration{model.At(d, n.Span()), text, true}
}

// goTime is the number from which on a bare one is nanoseconds, as Go prints a time: nobody means eleven days in
// seconds. Envoy itself takes no bare number.
const goTime = 1_000_000

// parseDuration reads `1.5s`, and {seconds, nanos} as older files have it.
func parseDuration(n *yamlsrc.Node) (d model.Duration, text string, err error) {
	switch n.Kind() {
	case yamlsrc.Scalar:
		if placeholder(n.Text()) {
			return 0, "", fmt.Errorf("`%s` is a placeholder that is not filled in", n.Text())
		}
		if ns, ok := whole(n); ok && ns >= goTime {
			return model.Duration(ns), n.Text(), nil
		}
		d, err = dialect.Envoy.Parse(n.Text())
		return d, n.Text(), err
	case yamlsrc.Map:
		d, err = secondsNanos(n)
		return d, d.String(), err
	}
	return 0, "", fmt.Errorf("%s is not a duration, write `1.5s`", n.Kind())
}

func secondsNanos(n *yamlsrc.Node) (model.Duration, error) {
	var d model.Duration
	for _, p := range n.Pairs() {
		v, ok := whole(p.Value)
		unit := model.Nanosecond
		switch key := p.Key.Text(); {
		case key == "seconds":
			unit = model.Second
		case key != "nanos":
			return 0, fmt.Errorf("a duration has no field `%s`, write `1.5s`", key)
		}
		if !ok || unit == model.Nanosecond && v >= int64(model.Second) {
			return 0, fmt.Errorf("`%s` of `%s` is not a number of %s, write `1.5s`", p.Value.Text(), p.Key.Text(), p.Key.Text())
		}
		d = d.Add(unit.Mul(v))
	}
	return d, nil
}

// whole reads a count of at least 0, which may be written as 3, 3.0 or "3".
func whole(n *yamlsrc.Node) (int64, bool) {
	if v := n.Get("value"); v != nil && len(n.Pairs()) == 1 {
		n = v // Go prints a wrapped number so
	}
	text := n.Text()
	if i, frac, dotted := strings.Cut(text, "."); dotted && strings.Trim(frac, "0") == "" && frac != "" {
		text = i
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil && v >= 0
}

// count reads a number of things up to 2^32 − 1, as Envoy does.
func (m *message) count(snake string) (v model.Val[int64]) {
	n := m.get(snake)
	if n == nil {
		return v
	}
	i, ok := whole(n)
	if !ok || i > math.MaxUint32 {
		what := "`" + n.Text() + "`"
		if n.Kind() != yamlsrc.Scalar {
			what = n.Kind().String()
		}
		m.r.bad(n.Span(), m.kind, snake, fmt.Errorf("%s is not a whole number from 0 to 4294967295", what))
		return v
	}
	return model.At(i, n.Span())
}

// text reads a string.
func (m *message) text(snake string) (v model.Val[string]) {
	n := m.get(snake)
	if n.Kind() == yamlsrc.Scalar {
		return model.At(n.Text(), n.Span())
	}
	if n != nil {
		m.r.bad(n.Span(), m.kind, snake, fmt.Errorf("%s stands where a text belongs", n.Kind()))
	}
	return v
}

// percent reads {value: 20.0}.
func (m *message) percent(snake string) (v model.Val[model.Fraction]) {
	p := m.sub(snake)
	n := p.get("value")
	if n == nil {
		if p != nil {
			return model.At[model.Fraction](0, p.at()) // the value of an empty percentage
		}
		return v
	}
	f, err := strconv.ParseFloat(n.Text(), 64)
	if err != nil || !(f >= 0 && f <= 100) {
		m.r.bad(n.Span(), m.kind, snake, errors.New("a percentage is a number from 0 to 100"))
		return v
	}
	return model.At(model.Fraction(math.Round(f*model.Whole/100)), n.Span())
}
