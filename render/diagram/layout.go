package diagram

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// layout puts a graph into columns: services and entrypoints in the even ones, each service's calls, with their
// labels and groups, in the odd one right of it. What stands in a column never overlaps, and the columns do not, so
// that nothing does. A call that skips columns passes through each at a place of its own.
type layout struct {
	*graph
	items   []item
	columns [][]int // items, from top to bottom
	wires   []wire
	// left and right are the wires at each item.
	left, right [][]int
	column      []int  // of each service
	back        []bool // calls that would close a cycle: named, not drawn
	body        []int  // the item of each service's calls, -1 for none
}

// item is what takes place in a column. Coordinates are in px, y the top.
type item struct {
	column, x, y, w, h int
	lines              []string
	style              line
	kind               itemKind
	calls              *block // bodies
}

type itemKind uint8

const (
	serviceItem itemKind = iota
	entrypointItem
	bodyItem
	passItem
)

// block is a call with its label, or a group of blocks; x and y are relative to the item.
type block struct {
	x, y, w, h int
	left, top  int      // px from the item's corner
	lines      []string // the label; of a group its title, none for one without a box
	style      line
	of         []*block // nil for a call
	// free says that the order of the elements says nothing and may change.
	free  bool
	wires []int // of a call, right of it; none for one that is not drawn
}

// wire is a piece of an arrow between two neighbouring columns.
type wire struct {
	from, to int
	call     *block // where it starts, nil for the middle of the item
	toY      int    // where it ends below the top of a service
	style    line
	head     bool
}

const (
	padding    = 8  // px around text in a box
	itemGap    = 14 // px between items of a column
	blockGap   = 8  // px between elements of a group
	titleSize  = smallSize
	passHeight = 4
)

// maxPlaces bounds the places of a picture, which are ordered in a second or two: more is no picture any more.
const maxPlaces = 100_000

// TooLargeError says that a plan has more than a picture can show.
type TooLargeError struct {
	Count, Most int
	What        string
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d %s are too many for a picture: %d at most", e.Count, e.What, e.Most)
}

func newLayout(g *graph) (*layout, error) {
	l := &layout{graph: g, body: make([]int, len(g.plan.Services))}
	l.layers()
	if places := l.places(); places > maxPlaces {
		return nil, &TooLargeError{places, maxPlaces, "places of services and calls"}
	}
	last := 0
	for _, c := range l.column {
		last = max(last, c)
	}
	l.columns = make([][]int, last+2)
	l.fill()
	l.order()
	l.place()
	return l, nil
}

// layers gives every service the column right of all its callers: twice the longest path to it.
func (l *layout) layers() {
	plan := l.plan
	l.column, l.back = make([]int, len(plan.Services)), make([]bool, len(plan.Calls))
	order := l.topological()
	for i := range plan.Entrypoints {
		l.column[plan.Entrypoints[i].Call] = 2
	}
	for _, s := range order {
		plan.Services[s].Flow.Walk(func(id model.CallID) {
			if to := plan.Calls[id].To; !l.back[id] {
				l.column[to] = max(l.column[to], l.column[s]+2)
			}
		})
	}
}

// topological walks in depth from the entrypoints, then from every service in file order, and marks the calls that
// lead back. It gives callers before callees.
func (l *layout) topological() []int {
	plan := l.plan
	type frame struct {
		service int
		calls   []model.CallID
	}
	const open, done = 1, 2
	state := make([]uint8, len(plan.Services))
	var stack []frame
	var post []int
	push := func(s int) {
		state[s] = open
		f := frame{service: s}
		plan.Services[s].Flow.Walk(func(id model.CallID) { f.calls = append(f.calls, id) })
		stack = append(stack, f)
	}
	visit := func(root int) {
		if state[root] != 0 {
			return
		}
		push(root)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.calls) == 0 {
				state[top.service] = done
				post = append(post, top.service)
				stack = stack[:len(stack)-1]
				continue
			}
			id := top.calls[0]
			top.calls = top.calls[1:]
			switch to := int(plan.Calls[id].To); state[to] {
			case open:
				l.back[id] = true
			case 0:
				push(to)
			}
		}
	}
	for i := range plan.Entrypoints {
		visit(int(plan.Entrypoints[i].Call))
	}
	for s := range plan.Services {
		if l.callers[s] == 0 {
			visit(s)
		}
	}
	for s := range plan.Services {
		visit(s)
	}
	slices.Reverse(post)
	return post
}

// places counts the items and calls of the picture before it is made.
func (l *layout) places() int {
	n := len(l.plan.Services) + len(l.plan.Entrypoints)
	for i := range l.plan.Calls {
		n++
		if !l.back[i] {
			n += l.column[l.plan.Calls[i].To] - l.column[l.plan.Calls[i].From] - 2
		}
	}
	for i := range l.plan.Entrypoints {
		n += l.column[l.plan.Entrypoints[i].Call] - 1
	}
	return n
}

func (l *layout) add(it item) int {
	l.items = append(l.items, it)
	l.left, l.right = append(l.left, nil), append(l.right, nil)
	id := len(l.items) - 1
	l.columns[it.column] = append(l.columns[it.column], id)
	return id
}

// fill makes the items in the order of a walk in depth, so that what belongs together starts out together.
func (l *layout) fill() {
	services := make([]int, len(l.plan.Services))
	for s := range l.plan.Services {
		services[s] = -1
		l.body[s] = -1
	}
	for i := range l.plan.Entrypoints {
		lines, style := l.entrypoint(i)
		at := l.add(boxed(item{kind: entrypointItem, lines: lines, style: style}))
		s := int(l.plan.Entrypoints[i].Call)
		l.stand(s, services)
		l.wire(at, nil, services[s], style)
	}
	for s := range l.plan.Services {
		if l.callers[s] == 0 {
			l.stand(s, services)
		}
	}
	for s := range l.plan.Services {
		l.stand(s, services)
	}
	for s := range l.plan.Services {
		if l.body[s] >= 0 {
			l.connect(l.items[l.body[s]].calls, &l.plan.Services[s].Flow, l.body[s], services)
		}
	}
	for i := range l.wires {
		w := &l.wires[i]
		l.right[w.from], l.left[w.to] = append(l.right[w.from], i), append(l.left[w.to], i)
		if w.call != nil {
			w.call.wires = append(w.call.wires, i)
		}
	}
}

// boxed measures an item that is a box around its text.
func boxed(it item) item {
	it.lines = flagged(cleanAll(it.lines), it.style)
	w, h := textSize(it.lines, fontSize)
	it.w, it.h = w+2*padding, h+2*padding
	if it.kind == entrypointItem {
		it.w += 2 * padding // its ends are round
	}
	return it
}

// flagged marks a violation in the text too, for readers without colour.
func flagged(lines []string, style line) []string {
	if !style.bad {
		return lines
	}
	if len(lines) == 0 {
		return []string{violationSign}
	}
	lines[0] = violationSign + " " + lines[0]
	return lines
}

// stand makes the items of a service and of everything that it calls.
func (l *layout) stand(root int, services []int) {
	for stack := []int{root}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if services[s] >= 0 {
			continue
		}
		lines, style := l.service(s)
		services[s] = l.add(boxed(item{kind: serviceItem, column: l.column[s], lines: lines, style: style}))
		body := plain(&l.plan.Services[s].Flow)
		if body.Empty() {
			continue
		}
		calls := l.block(body, unboxed(body), "")
		calls.measure()
		calls.settle(0, 0)
		l.body[s] = l.add(item{kind: bodyItem, column: l.column[s] + 1, w: calls.w, h: calls.h, calls: calls})
		l.wires = append(l.wires, wire{from: services[s], to: l.body[s]})
		next := len(stack)
		body.Walk(func(id model.CallID) { stack = append(stack, int(l.plan.Calls[id].To)) })
		slices.Reverse(stack[next:])
	}
}

// block makes the blocks of a flow. A group of one, and a group directly in one of its kind, count as written out.
func (l *layout) block(flow *model.Flow, parent model.FlowKind, place string) *block {
	if flow.Kind == model.One {
		lines, style := l.call(flow.Call, place)
		if l.back[flow.Call] {
			lines = append(lines, "back to "+l.plan.Services[l.plan.Calls[flow.Call].To].Name+": a cycle")
		}
		return &block{lines: flagged(cleanAll(lines), style), style: style}
	}
	b := &block{of: []*block{}, free: flow.Kind != model.Sequence && flow.Kind != model.Fallback}
	if len(flow.Of) > 1 && flow.Kind != parent {
		b.lines = []string{flow.Kind.String()}
	}
	for i := range flow.Of {
		if f := &flow.Of[i]; !f.Empty() {
			b.of = append(b.of, l.block(f, flow.Kind, inner(flow, place, i)))
		}
	}
	return b
}

// connect draws the calls of a body to their callees, walking blocks and flow side by side.
func (l *layout) connect(b *block, flow *model.Flow, from int, services []int) {
	var calls []*block
	b.walk(func(c *block) { calls = append(calls, c) })
	i := 0
	flow.Walk(func(id model.CallID) {
		if !l.back[id] {
			l.wire(from, calls[i], services[l.plan.Calls[id].To], calls[i].style)
		}
		i++
	})
}

// wire leads from an item to a service, through a place of its own in every column between.
func (l *layout) wire(from int, call *block, to int, style line) {
	for c := l.items[from].column + 1; c < l.items[to].column; c++ {
		pass := l.add(item{kind: passItem, column: c, h: passHeight, style: style})
		l.wires = append(l.wires, wire{from: from, to: pass, call: call, style: style})
		from, call = pass, nil
	}
	l.wires = append(l.wires, wire{from: from, to: to, call: call, style: style, head: true})
}

// walk visits the calls of a block from top to bottom.
func (b *block) walk(visit func(*block)) {
	if b.of == nil {
		visit(b)
		return
	}
	for _, o := range b.of {
		o.walk(visit)
	}
}

// measure gives every block its place below its title and beside its frame.
func (b *block) measure() {
	if b.of == nil {
		b.w, b.h = textSize(b.lines, smallSize)
		b.h += 4 // the line that the label stands on
		return
	}
	frame, top := 0, 0
	if len(b.lines) > 0 {
		frame = padding
		b.w, top = textSize(b.lines, titleSize)
		top += padding / 2
	}
	y := top
	for i, o := range b.of {
		if i > 0 {
			y += blockGap
		}
		o.measure()
		o.x, o.y = frame, y
		y += o.h
		b.w = max(b.w, o.w)
	}
	b.stretch(b.w)
	b.w += 2 * frame
	b.h = y + frame
}

// stretch makes elements as wide as their group, so that every call leaves it at its edge.
func (b *block) stretch(w int) {
	for _, o := range b.of {
		if o.of != nil {
			frame := 0
			if len(o.lines) > 0 {
				frame = padding
			}
			o.stretch(w - 2*frame)
		}
		o.w = w
	}
}

// startY is where a wire leaves its item: on the line below a label, or in the middle.
func (l *layout) startY(w *wire) int {
	it := &l.items[w.from]
	if w.call == nil {
		return it.y + it.h/2
	}
	return it.y + w.call.top + w.call.h
}

// settle gives every block its place in the item.
func (b *block) settle(left, top int) {
	b.left, b.top = left, top
	for _, o := range b.of {
		o.settle(left+o.x, top+o.y)
	}
}

// endY is where a wire meets its item.
func (l *layout) endY(w *wire) int {
	it := &l.items[w.to]
	if w.head {
		return it.y + w.toY
	}
	return it.y + it.h/2
}

// spread gives the arrows at every service places of their own.
func (l *layout) spread() {
	for i := range l.items {
		l.spreadAt(i)
	}
}

// spreadAt gives the arrows at an item places of their own, in the order they come.
func (l *layout) spreadAt(i int) {
	in := slices.Clone(l.left[i])
	slices.SortStableFunc(in, func(a, b int) int { return cmp.Compare(l.startY(&l.wires[a]), l.startY(&l.wires[b])) })
	for k, w := range in {
		l.wires[w].toY = l.items[i].h * (k + 1) / (len(in) + 1)
	}
}
