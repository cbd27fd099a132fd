package diagram

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
)

// WaterfallSVG draws the time that calls may take, and their shares of the SLO. Several plans stand below each other.
var WaterfallSVG = &render.Renderer{
	Name: "svg", Kind: render.Waterfall, Title: "the time of every call as a picture",
	Render: func(w io.Writer, in *render.Input) error { return writeWaterfalls(w, []*render.Input{in}) }, Together: writeWaterfalls,
}

func writeWaterfalls(out io.Writer, ins []*render.Input) error {
	var c canvas
	var titles []string
	for _, in := range ins {
		list, err := waterfalls(in)
		if err != nil {
			return err
		}
		c.heading(in, len(ins))
		for _, w := range list {
			titles = append(titles, w.title())
			w.draw(&c, c.h+edge)
		}
	}
	c.keys(edge, c.h+edge)
	return c.write(out, strings.Join(titles, ". "), explained+" "+keyText())
}

// explained says what every waterfall shows.
const explained = "The worst case that the limits allow: each call under the last attempt of its caller. 0 is when the request leaves the client."

// Sizes of the picture in px.
const (
	plotWidth  = 640
	rowHeight  = 36
	barHeight  = 15
	shareTop   = 18 // of the lane of the SLO, below the top of the row
	shareSize  = 7
	groupSize  = 17
	indent     = 12
	mostIndent = 12 // levels
	columnGap  = 24
)

// plot is where the picture of one root has its parts.
type plot struct {
	*waterfall
	c       *canvas
	x, y    int // top left of the plot
	columns [4]int
	lines   []int // x of the marks
}

func (p *plot) at(d model.Duration) int {
	if d >= p.end {
		return p.x + plotWidth
	}
	return p.x + int(d.Share(plotWidth, p.end))
}

func (w *waterfall) draw(c *canvas, top int) {
	p := plot{waterfall: w, c: c}
	names := 0
	for i := range w.rows {
		r := &w.rows[i]
		names = max(names, min(r.depth, mostIndent)*indent+textWidth(r.name, fontSize))
	}
	p.x = edge + names + columnGap
	at := p.x + plotWidth + columnGap
	for k := range p.columns {
		width := textWidth(headings[k], smallSize)
		for i := range w.rows {
			width = max(width, textWidth(w.rows[i].numbers[k], smallSize))
		}
		p.columns[k] = at
		at += width + columnGap
	}
	c.text(edge, top+14, 14, w.title(), `font-weight="bold"`)
	c.text(edge, top+30, smallSize, explained, `fill="#5d6d7e"`)
	p.y = top + 40 + len(w.marks())*(smallSize+5)
	for _, m := range w.marks() {
		p.lines = append(p.lines, p.at(m.at))
	}
	p.drawAxis()
	y := p.y + 24
	bottom := y
	for i := range w.rows {
		bottom += w.rows[i].height()
	}
	if w.slo < w.end {
		// A path and no rectangle: texts may lie across its border.
		c.path(fmt.Sprintf("M%d %dH%dV%dH%dZ", p.at(w.slo), y-1, p.x+plotWidth, bottom, p.at(w.slo)), `fill="#fbf0ee"`)
	}
	for i := range w.rows {
		p.drawRow(&w.rows[i], y)
		y += w.rows[i].height()
	}
	p.drawLines(top+40, y)
	c.grow(at-columnGap, y)
}

// drawAxis draws the ticks and the headings of the numbers.
func (p *plot) drawAxis() {
	y := p.y + 14
	last := -1
	for _, t := range ticks(p.end, 10) {
		x, text := p.at(t), t.String()
		if t == 0 {
			text = "0"
		}
		p.c.path(fmt.Sprintf("M%d %dL%d %d", x, y+3, x, y+8), `stroke="#95a5a6" fill="none"`)
		width := textWidth(text, smallSize)
		if x > last && x+3+width <= p.x+plotWidth && slices.Contains(p.free(x+3, x+3+width, width), x+3) {
			p.c.text(x+3, y, smallSize, text, `fill="#5d6d7e"`) // beside a line that may stand at the tick
			last = x + 3 + width
		}
	}
	p.c.path(fmt.Sprintf("M%d %dL%d %d", p.x, y+8, p.x+plotWidth, y+8), `stroke="#95a5a6" fill="none"`)
	for k, x := range p.columns {
		p.c.text(x, y, smallSize, headings[k], `fill="#5d6d7e"`)
	}
}

// drawLines draws the SLO and the moments of the client over the rows, each with its label on a line of its own.
func (p *plot) drawLines(top, bottom int) {
	for i, m := range p.marks() {
		x, y := p.lines[i], top+i*(smallSize+5)
		style := fmt.Sprintf("stroke=\"%s\" fill=\"none\" stroke-dasharray=\"1 3\"", inkColor)
		if m.slo {
			style = fmt.Sprintf("stroke=\"%s\" fill=\"none\" stroke-width=\"2\" stroke-dasharray=\"6 3\"", violationColor)
		}
		p.c.path(fmt.Sprintf("M%d %dL%d %d", x, y, x, bottom), style)
	}
	for i, m := range p.marks() {
		y, width := top+i*(smallSize+5), textWidth(m.text, smallSize)
		x := p.lines[i] + 4
		if x+width > p.x+plotWidth {
			x = p.lines[i] - 4 - width
		}
		p.c.rect(x-1, y-1, width+2, smallSize+4, `fill="#ffffff"`)
		weight := ""
		if m.slo {
			weight = fmt.Sprintf(" fill=\"%s\"", violationColor)
		}
		p.c.text(x, y+smallSize, smallSize, m.text, strings.TrimSpace(weight+` data-mark="1"`))
	}
}

func (r *row) height() int {
	if r.group {
		return groupSize
	}
	return rowHeight
}

func (p *plot) drawRow(r *row, y int) {
	x := edge + min(r.depth, mostIndent)*indent
	if r.group {
		p.c.text(x, y+12, smallSize, r.name, `fill="#5d6d7e" font-style="italic"`)
		p.c.path(fmt.Sprintf("M%d %dL%d %d", p.x, y+9, p.x+plotWidth, y+9), `stroke="#d5d8dc" fill="none"`)
		return
	}
	p.c.text(x, y+fontSize, fontSize, r.name, ink(r.style))
	for k, text := range r.numbers {
		p.c.text(p.columns[k], y+fontSize, smallSize, text, ink(line{bad: k == 1 && r.tail.kind != noBar && r.tail.to.Finite()}))
	}
	free := p.x
	for _, b := range r.limits {
		free = max(free, p.drawBar(r, b, y))
	}
	free = max(free, p.drawTail(r, y))
	if r.open {
		free = max(free, p.drawOpen(r, y))
	}
	if width := textWidth(r.note, smallSize); r.note != "" && free+6+width <= p.x+plotWidth {
		p.c.text(free+6, y+11, smallSize, r.note, `fill="#5d6d7e" font-style="italic"`)
	}
	for _, b := range r.budget {
		p.drawShare(b, y+shareTop)
	}
}

// drawBar draws a piece of what a call may take, and gives where it ends. What it does after the first of its callers
// has left is hatched.
func (p *plot) drawBar(r *row, b bar, y int) int {
	if !b.from.Finite() {
		return p.x
	}
	x0, x1 := p.at(b.from), p.at(b.to)
	middle := y + barHeight/2
	switch b.kind {
	case earlierBar:
		p.c.path(fmt.Sprintf("M%d %dL%d %d", x0, middle, x1, middle), `stroke="#85929e" fill="none" stroke-dasharray="1 4"`)
		const text = "earlier attempts of its callers"
		if fits := p.free(x0+4, x1-4, textWidth(text, smallSize)); len(fits) > 0 {
			p.c.text(fits[0], y+4, smallSize, text, `fill="#5d6d7e"`)
		}
		return x1
	case backoffBar:
		p.c.rect(x0, middle-1, max(1, x1-x0), 3, fmt.Sprintf("fill=\"%s\"", plainColor))
		return x1
	case poolBar:
		p.c.rect(x0, y+4, max(1, x1-x0), barHeight-8, fmt.Sprintf("fill=\"#ffffff\" stroke=\"%s\"", plainColor))
		return x1
	case ownBar:
		p.c.rect(x0, y, max(1, x1-x0), barHeight, fmt.Sprintf("fill=\"%s\"", plainColor))
		return x1
	}
	dash := ""
	switch {
	case r.style.dotted:
		dash = ` stroke-dasharray="2 2"`
	case r.style.dashed:
		dash = ` stroke-dasharray="5 3"`
	}
	fill := "#d6eaf8"
	if !b.to.Finite() {
		fill, dash = "#ffffff", ` stroke-dasharray="4 2"`
	}
	p.c.rect(x0, y, max(1, x1-x0), barHeight, fmt.Sprintf("fill=\"%s\" stroke=\"%s\"%s", fill, plainColor, dash))
	if gone := p.at(r.gone); r.gone.Finite() && b.to > r.gone && gone < x1 {
		p.c.hatch(max(x0, gone), y, x1-max(x0, gone), barHeight, violationColor)
	}
	if b.to.Finite() {
		p.inBar(r, b, x0, x1, y)
	}
	return x1
}

// inBar writes how long a piece takes into it where there is room, beside the lines that cross it.
func (p *plot) inBar(r *row, b bar, x0, x1, y int) {
	text := render.Brief(b.to.Sub(b.from), true)
	for _, o := range r.limits {
		if o.kind == ownBar && o.from == b.from {
			x0 = max(x0, p.at(o.to))
		}
	}
	p.number(x0, x1, y, text, "#d6eaf8", line{})
}

// number writes a text on a bar, on a patch that keeps signs off it, where there is room.
func (p *plot) number(x0, x1, y int, text, patch string, style line) bool {
	width := textWidth(text, smallSize)
	fits := p.free(x0+3, x1-2, width)
	if len(fits) > 0 {
		p.c.rect(fits[0]-1, y+2, width+2, barHeight-3, fmt.Sprintf("fill=\"%s\"", patch))
		p.c.text(fits[0], y+11, smallSize, text, ink(style))
	}
	return len(fits) > 0
}

// free gives the places where a text fits between two points without touching a line.
func (p *plot) free(x0, x1, width int) []int {
	starts := append([]int{x0}, p.lines...)
	slices.Sort(starts)
	var fits []int
	for _, x := range starts {
		if x > x0 {
			x += 4
		}
		clear := x >= x0 && x+width <= x1
		for _, l := range p.lines {
			clear = clear && (l < x-2 || l > x+width+2)
		}
		if clear {
			fits = append(fits, x)
		}
	}
	return fits
}

// drawTail draws work for a caller who has left; where nobody says how long it lasts, a question mark.
func (p *plot) drawTail(r *row, y int) int {
	if r.tail.kind == noBar {
		return p.x
	}
	x0, x1 := p.at(r.tail.from), p.at(r.tail.to)
	if !r.tail.to.Finite() {
		return p.arrow(x0, y, "?")
	}
	p.c.rect(x0, y, max(1, x1-x0), barHeight, fmt.Sprintf("fill=\"#ffffff\" stroke=\"%s\"", violationColor))
	p.c.hatch(x0, y, x1-x0, barHeight, violationColor)
	text := render.Brief(r.tail.to.Sub(r.tail.from), true)
	if !p.number(x0, x1, y, text+" for nobody", "#ffffff", line{bad: true}) {
		p.number(x0, x1, y, text, "#ffffff", line{bad: true})
	}
	return x1
}

// drawOpen draws that nothing ends a call.
func (p *plot) drawOpen(r *row, y int) int {
	x := p.x
	for _, b := range r.limits {
		if b.from.Finite() {
			x = max(x, p.at(b.to))
		}
	}
	return p.arrow(x, y, "")
}

// arrow leads on from a point, where it must beyond the axis, and gives where it ends.
func (p *plot) arrow(x, y int, text string) int {
	const length = 14
	middle, x1 := y+barHeight/2, min(x, p.x+plotWidth-4)+length
	p.c.path(fmt.Sprintf("M%d %dL%d %dM%d %dL%d %dL%d %d", x, middle, x1, middle, x1-5, middle-4, x1, middle, x1-5, middle+4),
		fmt.Sprintf("stroke=\"%s\" fill=\"none\" stroke-dasharray=\"4 2\"", plainColor))
	p.c.text(x1+2, y+11, smallSize, text, ink(line{}))
	return x1 + 2 + textWidth(text, smallSize)
}

// drawShare draws a piece of the SLO's lane.
func (p *plot) drawShare(b bar, y int) {
	if !b.from.Finite() || !b.to.Finite() || b.to <= b.from {
		return
	}
	x0, x1 := p.at(b.from), p.at(b.to)
	width := max(1, x1-x0)
	switch b.kind {
	case ownBar:
		p.c.rect(x0, y, width, shareSize, fmt.Sprintf("fill=\"%s\"", plainColor))
	case marginBar:
		p.c.rect(x0, y, width, shareSize, `fill="#ffffff" stroke="#1e8449"`)
		var d strings.Builder
		for x := x0 + 2; x < x1; x += 3 {
			fmt.Fprintf(&d, "M%d %dL%d %d", x, y, x, y+shareSize)
		}
		if d.Len() > 0 {
			p.c.path(d.String(), `stroke="#1e8449" fill="none"`)
		}
	case poolBar:
		p.c.rect(x0, y+2, width, shareSize-4, fmt.Sprintf("fill=\"#ffffff\" stroke=\"%s\"", plainColor))
	case backoffBar:
		p.c.rect(x0, y+shareSize/2, width, 1, fmt.Sprintf("fill=\"%s\"", plainColor))
	default:
		p.c.rect(x0, y, width, shareSize, `fill="#d5f5e3" stroke="#1e8449"`)
	}
}

// key is a sign of the picture and its meaning.
type key struct {
	text string
	draw func(c *canvas, x, y int) // y is the baseline
}

func barKey(attributes string) func(*canvas, int, int) {
	return func(c *canvas, x, y int) { c.rect(x, y-9, 24, 10, attributes) }
}

var keyList = []key{
	{"attempt", barKey(`fill="#d6eaf8" stroke="` + plainColor + `"`)},
	{"own work", barKey(`fill="` + plainColor + `"`)},
	{"before the first attempt", func(c *canvas, x, y int) {
		c.rect(x, y-7, 24, 6, `fill="#ffffff" stroke="`+plainColor+`"`)
	}},
	{"back-off", func(c *canvas, x, y int) { c.rect(x, y-5, 24, 3, `fill="`+plainColor+`"`) }},
	{"after a caller has left", func(c *canvas, x, y int) {
		c.rect(x, y-9, 24, 10, `fill="#ffffff" stroke="`+violationColor+`"`)
		c.hatch(x, y-9, 24, 10, violationColor)
	}},
	{"share of the SLO", barKey(`fill="#d5f5e3" stroke="#1e8449"`)},
	{"margin", func(c *canvas, x, y int) {
		c.rect(x, y-9, 24, 10, `fill="#ffffff" stroke="#1e8449"`)
		c.path(fmt.Sprintf("M%d %dv10M%d %dv10M%d %dv10M%d %dv10", x+5, y-9, x+10, y-9, x+15, y-9, x+20, y-9), `stroke="#1e8449" fill="none"`)
	}},
	{"? or an arrow: nobody says how long", func(c *canvas, x, y int) {
		c.path(fmt.Sprintf("M%d %dL%d %dM%d %dL%d %dL%d %d", x, y-4, x+24, y-4, x+19, y-8, x+24, y-4, x+19, y), `stroke="`+plainColor+`" fill="none" stroke-dasharray="4 2"`)
	}},
}

func keyText() string {
	var words []string
	for _, k := range keyList {
		words = append(words, k.text)
	}
	return "Signs: " + strings.Join(words, ", ") + "."
}

// keys draws the signs and their meanings, as wide as the picture is.
func (c *canvas) keys(x, y int) {
	right, left := c.w, x
	for _, k := range keyList {
		width := 30 + textWidth(k.text, smallSize)
		if x > left && x+width > right {
			x, y = left, y+18
		}
		k.draw(c, x, y)
		c.text(x+30, y, smallSize, k.text, ink(line{}))
		x += width + 18
	}
	c.grow(x-18, y)
}
