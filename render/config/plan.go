package config

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// WritePlan writes a plan as YAML that reads back to the same numbers without its sources, every value with a comment
// that says where it comes from. What merge took from `defaults` stands at each service and call. Comments ask for
// what no config says: where requests come in, and in which order calls follow. The error is the writer's.
func WritePlan(w io.Writer, p *model.Plan) error {
	out := &writer{Writer: bufio.NewWriter(w), plan: p}
	out.line(0, "version: 1", "")
	out.platforms()
	out.suggest()
	out.entrypoints()
	out.services()
	out.policy()
	return out.Flush()
}

type writer struct {
	*bufio.Writer
	plan *model.Plan
}

// commentAt is the column where comments begin, if the line leaves room.
const commentAt = 44

// line writes one line with a comment behind it.
func (w *writer) line(indent int, text, comment string) {
	text = strings.Repeat("  ", indent) + text
	w.WriteString(text)
	if comment != "" {
		w.WriteString(strings.Repeat(" ", max(2, commentAt-len([]rune(text)))))
		w.WriteString("# " + oneLine(comment))
	}
	w.WriteByte('\n')
}

// oneLine keeps a file name or a route with strange characters from ending the comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// Whence says where a value comes from: its place, or whose default it is.
func Whence(from *diag.Origin) string {
	switch {
	case from == nil:
		return ""
	case from.Default == nil:
		return from.Span().String()
	case from.Nowhere():
		return from.Default.String()
	}
	return from.Default.String() + ", for " + from.Span().String()
}

// values writes keys in the order given.
func (w *writer) values(indent int, values []Value) {
	for _, v := range values {
		if len(v.Sub) == 0 {
			w.line(indent, quote(v.Key)+": "+v.Text, Whence(v.From))
			continue
		}
		w.line(indent, v.Key+":", "")
		w.values(indent+1, v.Sub)
	}
}

func (w *writer) platforms() {
	if len(w.plan.Platforms) == 0 {
		return
	}
	w.line(0, "platforms:", "")
	for _, name := range slices.Sorted(maps.Keys(w.plan.Platforms)) {
		v := w.plan.Platforms[name]
		w.line(1, quote(name)+": "+fmt.Sprintf("%q", v.V), Whence(v.From))
	}
}

// suggested is how many services are suggested as entrypoints.
const suggested = 3

// suggest asks for entrypoints where there are none, and names who may be one: who calls others and is called by nobody.
func (w *writer) suggest() {
	if len(w.plan.Entrypoints) > 0 || len(w.plan.Calls) == 0 {
		return
	}
	calls, called := make([]bool, len(w.plan.Services)), make([]bool, len(w.plan.Services))
	for i := range w.plan.Calls {
		c := &w.plan.Calls[i]
		calls[c.From], called[c.To] = true, true
	}
	var names []string
	for i := range w.plan.Services {
		if calls[i] && !called[i] {
			names = append(names, w.plan.Services[i].Name)
		}
	}
	if len(names) == 0 {
		w.line(0, "# Name where requests come in, with a target: `entrypoints: {shop: {slo: 1s, call: SERVICE}}`.", "")
		return
	}
	more := ""
	if len(names) > suggested {
		more = fmt.Sprintf(", nor %d more", len(names)-suggested)
		names = names[:suggested]
	}
	w.line(0, "# Nobody calls these services"+more+": requests come in here. Give them a target of your own, and take off the marks.", "")
	w.line(0, "# entrypoints:", "")
	for _, name := range names {
		w.line(0, "#   "+quote(name)+": {slo: 1s, call: "+quote(name)+"}", "")
	}
}

func (w *writer) entrypoints() {
	if len(w.plan.Entrypoints) == 0 {
		return
	}
	w.line(0, "entrypoints:", "")
	for i := range w.plan.Entrypoints {
		e := &w.plan.Entrypoints[i]
		w.line(1, quote(e.Name)+":", e.At.String())
		w.values(2, Entrypoint(e))
		w.line(2, "call: "+quote(w.plan.Services[e.Call].Name), "")
		w.ignores(2, e.Ignores)
	}
}

func (w *writer) services() {
	if len(w.plan.Services) == 0 {
		return
	}
	w.line(0, "services:", "")
	for i := range w.plan.Services {
		s := &w.plan.Services[i]
		values := Service(s)
		switch {
		case len(values) > 0 || !s.Flow.Empty() || len(s.Ignores()) > 0:
			w.line(1, quote(s.Name)+":", s.At.String())
			w.values(2, values)
			w.caveats(2, s.Latency.Get())
			if !s.Flow.Empty() {
				w.calls(s.Flow)
			}
			w.ignores(2, s.Ignores())
		default: // listed even where nothing is known of it, so that no name is taken for a slip of another
			w.line(1, quote(s.Name)+": {}", s.At.String())
		}
	}
}

// calls writes a body: a list is a sequence, every other kind is the one element of it.
func (w *writer) calls(f model.Flow) {
	w.line(2, "calls:", "")
	if f.Kind == model.Sequence {
		for _, g := range f.Of {
			w.element(3, g)
		}
		return
	}
	w.element(3, f)
}

func (w *writer) element(indent int, f model.Flow) {
	switch {
	case f.Kind == model.One:
		w.call(indent, &w.plan.Calls[f.Call])
	case !f.Empty():
		w.line(indent, "- "+f.Kind.String()+":", asked[f.Kind])
		for _, g := range f.Of {
			w.element(indent+2, g)
		}
	}
}

// asked is what a flow that a config knows says to whoever finishes the plan.
var asked = map[model.FlowKind]string{
	model.OneOf:     "one of these a request",
	model.Unordered: "sequential or parallel?",
}

func (w *writer) call(indent int, c *model.Call) {
	w.line(indent, "- call: "+quote(w.plan.Services[c.To].Name), strings.TrimSuffix(c.At.String()+", "+c.Route, ", "))
	indent++
	if name := keyOf(c, w.plan); name != "" {
		w.line(indent, "name: "+quote(name), "")
	}
	w.values(indent, Call(c))
	if len(c.Waiters) > 1 {
		w.line(indent, "via:", "")
		for i := range c.Waiters[1:] {
			inner := &c.Waiters[i+1]
			w.line(indent+1, "- name: "+quote(inner.Name), inner.At.String())
			w.values(indent+2, Waiter(inner))
		}
	}
	w.ignores(indent, c.Ignores())
	w.caveats(indent, c.Latency.Get())
	for i := range c.Waiters {
		for _, d := range c.Waiters[i].Dead() {
			w.line(indent, fmt.Sprintf("# without effect: %s: %s, %s (%s)", oneLine(d.Key), oneLine(d.Value), oneLine(d.Reason), oneLine(d.At.String())), "")
		}
	}
}

// caveats says what is known to be wrong with a measured latency, which no key of the plan language can.
func (w *writer) caveats(indent int, l model.Latency) {
	if c := l.Caveats; c.Set() && c.V != 0 {
		w.line(indent, "# of the latency: "+c.V.String()+" ("+oneLine(Whence(c.From))+")", "")
	}
	for _, p := range l.Points { // in rising order: so are all after it
		if p.AtLeast {
			w.line(indent, "# of the latency: "+p.P.Percentile()+" and above are at least that ("+oneLine(Whence(p.V.From))+")", "")
			return
		}
	}
}

// keyOf is the name that gives the call the same id when it is read again.
func keyOf(c *model.Call, p *model.Plan) string {
	if c.Name().Set() && c.Name().V != "" {
		return c.Name().V
	}
	id := p.Services[c.From].Name + "/" + p.Services[c.To].Name
	if key, found := strings.CutPrefix(c.ID, id+":"); found {
		return key
	}
	return ""
}

func (w *writer) ignores(indent int, ignores []model.Ignore) {
	if len(ignores) == 0 {
		return
	}
	w.line(indent, "ignore:", "")
	for _, i := range ignores {
		text := fmt.Sprintf("%s: {reason: %q", quote(i.Code), i.Reason)
		if !i.Until.IsZero() {
			text += ", until: " + i.Until.Format(time.DateOnly)
		}
		w.line(indent+1, text+"}", i.At.String())
	}
}

func (w *writer) policy() {
	p := &w.plan.Policy
	var l list
	add(&l, "preset", p.Preset, quote)
	add(&l, "max_amplification", p.MaxAmplify, thresholds)
	add(&l, "samples", p.Samples, whole)
	add(&l, "allocation", p.Allocation, quote)
	var rules list
	for _, code := range slices.Sorted(maps.Keys(p.Rules)) {
		add(&rules, code, p.Rules[code], func(s diag.Severity) string { return quote(s.String()) })
	}
	l.sub("rules", rules)
	if len(l) > 0 {
		w.line(0, "policy:", "")
		w.values(1, l)
	}
}
