package diagram

import (
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/render"
)

// SVG draws the call graph in columns, without any other program. Several plans stand below each other.
var SVG = &render.Renderer{
	Name: "svg", Kind: render.Graph, Title: "the call graph as a picture",
	Render: func(w io.Writer, in *render.Input) error { return writeDrawings(w, []*render.Input{in}) }, Together: writeDrawings,
}

func writeDrawings(w io.Writer, ins []*render.Input) error {
	var c canvas
	var titles []string
	for _, in := range ins {
		y := c.heading(in, len(ins))
		g := newGraph(in)
		l, err := newLayout(g)
		if err != nil {
			return err
		}
		title := "Call graph of " + g.names()
		titles = append(titles, title)
		l.draw(&c, edge, y+edge)
	}
	c.legend(edge, c.h+edge)
	return c.write(w, strings.Join(titles, "; "), legend)
}

// heading writes which plan follows where there are several, and gives where that begins.
func (c *canvas) heading(in *render.Input, plans int) int {
	name := clean(in.PlanName())
	if plans < 2 || name == "" {
		return c.h
	}
	c.text(edge, c.h+edge+fontSize, fontSize, name, `font-style="italic"`)
	return c.h
}

// edge is the white around a picture in px.
const edge = 12

// names lists the entrypoints, or says how much is drawn.
func (p *graph) names() string {
	var names []string
	for i := range p.plan.Entrypoints {
		names = append(names, clean(p.plan.Entrypoints[i].Name))
	}
	if len(names) == 0 || len(names) > 5 {
		return fmt.Sprintf("%d services and %d calls", len(p.plan.Services), len(p.plan.Calls))
	}
	return strings.Join(names, ", ")
}

// draw puts the picture's top left corner at a point: arrows first, so that boxes lie on them.
func (l *layout) draw(c *canvas, x, y int) {
	right := make([]int, len(l.columns))
	for i := range l.items {
		l.items[i].x += x
		l.items[i].y += y
		it := &l.items[i]
		right[it.column] = max(right[it.column], it.x+it.w)
		c.grow(it.x+it.w, it.y+it.h)
	}
	for i := range l.items {
		if it := &l.items[i]; it.calls != nil {
			it.calls.frame(c, it.x, it.y)
		}
	}
	for w := range l.wires {
		l.drawWire(c, &l.wires[w], right)
	}
	for i := range l.items {
		it := &l.items[i]
		switch it.kind {
		case bodyItem:
			it.calls.draw(c, it.x, it.y)
		case serviceItem:
			c.box(it, 4)
		case entrypointItem:
			c.box(it, it.h/2)
		}
	}
}

func color(style line) string {
	if style.bad {
		return violationColor
	}
	return plainColor
}

// stroke gives the attributes of an arrow.
func stroke(style line) string {
	s := fmt.Sprintf("fill=\"none\" stroke=\"%s\"", color(style))
	if style.thick {
		s += " stroke-width=\"3\""
	}
	switch {
	case style.dotted:
		s += " stroke-dasharray=\"2 3\""
	case style.dashed:
		s += " stroke-dasharray=\"7 4\""
	}
	return s
}

func ink(style line) string {
	if style.bad {
		return fmt.Sprintf("fill=\"%s\"", violationColor)
	}
	return fmt.Sprintf("fill=\"%s\"", inkColor)
}

func (c *canvas) box(it *item, round int) {
	c.rect(it.x, it.y, it.w, it.h, fmt.Sprintf("rx=\"%d\" fill=\"%s\" stroke=\"%s\"", round, fillColor, color(it.style)))
	x := it.x + padding
	if it.kind == entrypointItem {
		x += padding
	}
	c.lines(x, it.y+padding, fontSize, it.lines, ink(it.style))
}

// frame draws the boxes of groups.
func (b *block) frame(c *canvas, x, y int) {
	if b.of != nil && len(b.lines) > 0 {
		c.rect(x, y, b.w, b.h, fmt.Sprintf("rx=\"4\" fill=\"none\" stroke=\"%s\"", groupColor))
		c.lines(x+padding, y+1, titleSize, b.lines, "fill=\"#5d6d7e\"")
	}
	for _, o := range b.of {
		o.frame(c, x+o.x, y+o.y)
	}
}

// draw writes the labels of calls, each on a line that leads through the body.
func (b *block) draw(c *canvas, x, y int) {
	for _, o := range b.of {
		o.draw(c, x+o.x, y+o.y)
	}
	if b.of == nil {
		c.lines(x, y, smallSize, b.lines, ink(b.style))
	}
}

// drawWire draws a piece of an arrow: straight through a column, curved between two.
func (l *layout) drawWire(c *canvas, w *wire, right []int) {
	from, to := &l.items[w.from], &l.items[w.to]
	y0, y1 := l.startY(w), l.endY(w)
	if to.kind == bodyItem {
		// From the service to every one of its calls.
		to.calls.enter(c, to.x, to.y, from.x+from.w, y0, right[from.column])
		return
	}
	x0, x1 := from.x+from.w, to.x
	if w.call != nil {
		x0 = from.x + w.call.left
	}
	if w.head {
		x1 -= 7
	}
	edge := right[from.column]
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", x0, y0)
	if x0 < edge {
		fmt.Fprintf(&d, "L%d %d", edge, y0)
	}
	bend(&d, edge, y0, x1, y1)
	if to.kind == passItem {
		fmt.Fprintf(&d, "L%d %d", to.x+to.w, y1)
	}
	c.path(d.String(), stroke(w.style))
	if w.head {
		c.path(fmt.Sprintf("M%d %dL%d %dL%d %dZ", to.x, y1, to.x-8, y1-4, to.x-8, y1+4), fmt.Sprintf("fill=\"%s\"", color(w.style)))
	}
}

// enter draws the lines from a service to its calls.
func (b *block) enter(c *canvas, x, y, x0, y0, edge int) {
	for _, o := range b.of {
		o.enter(c, x+o.x, y+o.y, x0, y0, edge)
	}
	if b.of != nil {
		return
	}
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", x0, y0)
	if x0 < edge {
		fmt.Fprintf(&d, "L%d %d", edge, y0)
	}
	bend(&d, edge, y0, x, y+b.h)
	if len(b.wires) == 0 {
		fmt.Fprintf(&d, "L%d %d", x+b.w, y+b.h)
	}
	c.path(d.String(), stroke(b.style))
}

func bend(d *strings.Builder, x0, y0, x1, y1 int) {
	if y0 == y1 {
		fmt.Fprintf(d, "L%d %d", x1, y1)
		return
	}
	half := (x0 + x1) / 2
	fmt.Fprintf(d, "C%d %d %d %d %d %d", half, y0, half, y1, x1, y1)
}

// legend says what the lines mean, each with one.
func (c *canvas) legend(x, y int) {
	for _, k := range []struct {
		style line
		text  string
	}{
		{line{bad: true}, violationSign + " violation"},
		{line{thick: true}, "least slack"},
		{line{dashed: true}, "optional"},
		{line{dotted: true}, "async or a stream"},
	} {
		c.path(fmt.Sprintf("M%d %dL%d %d", x, y-3, x+26, y-3), stroke(k.style))
		c.text(x+32, y, smallSize, k.text, ink(k.style))
		x += 32 + textWidth(k.text, smallSize) + 20
	}
}
