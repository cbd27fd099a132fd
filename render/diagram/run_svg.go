package diagram

import (
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// Sizes of the picture of a run in px.
const (
	laneHeight = 14
	runGap     = 8 // between rows
	runBar     = 10
)

// RunSVG draws requests, both runs of each below each other.
func RunSVG(out io.Writer, runs []*render.Run) error {
	var c canvas
	var titles []string
	for _, r := range runs {
		titles = append(titles, clipped(r.Sentence()), clipped(r.Remedy()))
		y := c.h + edge
		c.text(edge, y+14, fontSize+2, clipped(r.Sentence()), `font-weight="bold"`)
		c.text(edge, y+33, fontSize, clipped(r.Remedy()), "")
		y += 38
		for _, t := range timelines(r) {
			y = newRunPlot(t, &c).draw(y+10) + edge
		}
		c.grow(0, y-edge)
	}
	c.runKeys(edge, c.h+edge)
	return c.write(out, titles[0], strings.Join(titles, ". "))
}

// clipped is clean for a sentence, which may be longer than a name.
func clipped(text string) string {
	const most = 180
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.WriteString(clean(word)); b.Len() > most {
			return b.String() + " …"
		}
	}
	return b.String()
}

// runPlot is one run with a place for everything.
type runPlot struct {
	*timeline
	c     *canvas
	x     int // left of the plot
	costs int // left of what is done for nobody
}

func newRunPlot(t *timeline, c *canvas) *runPlot {
	names := 60
	for i := range t.rows {
		names = max(names, textWidth(t.rows[i].name, fontSize))
	}
	p := &runPlot{timeline: t, c: c, x: edge + names + columnGap}
	for i := range t.rows {
		p.costs = max(p.costs, textWidth(p.asked(&t.rows[i]), smallSize))
	}
	p.costs += p.x + plotWidth + 2*columnGap
	return p
}

func (p *runPlot) at(d model.Duration) int {
	if d >= p.end {
		return p.x + plotWidth
	}
	return p.x + int(d.Share(plotWidth, p.end))
}

// draw draws the run below y and gives where it ends.
func (p *runPlot) draw(y int) int {
	p.c.text(edge, y+12, fontSize, clipped(p.caption()), `font-weight="bold"`)
	y += 22
	if p.run.Invocations == nil {
		p.c.text(edge, y+12, fontSize, fmt.Sprintf("more than %d invocations are not drawn", solver.MaxInvocations), "")
		return y + 18
	}
	top := y + 2*(smallSize+4) // room for the words of the lines
	rows := top + 18
	bottom := rows
	for i := range p.rows {
		bottom += p.rows[i].height()
	}
	p.axis(top, bottom)
	y = rows
	for i := range p.rows {
		p.row(&p.rows[i], y)
		y += p.rows[i].height()
	}
	p.lines(top, bottom)
	if p.more > 0 {
		p.c.text(edge, y+12, smallSize, fmt.Sprintf("and %d more services", p.more), "")
		y += 16
	}
	return y
}

func (row *timelineRow) height() int { return len(row.lanes)*laneHeight + runGap }

// axis draws the times, and a faint line at each.
func (p *runPlot) axis(y, bottom int) {
	last := -1
	for _, t := range ticks(p.end, 10) {
		text := t.String()
		if t == 0 {
			text = "0"
		}
		x := p.at(t)
		p.c.path(fmt.Sprintf("M%d %dV%d", x, y+15, bottom), fmt.Sprintf("stroke=\"%s\" stroke-opacity=\"0.35\" fill=\"none\"", groupColor))
		w := textWidth(text, smallSize)
		near := func(d model.Duration) bool { return d.Finite() && max(p.at(d), x)-min(p.at(d), x) < w/2+3 }
		if near(p.run.Answer) || near(p.Graph.Roots[p.Root].SLO) {
			continue // a line with a time of its own is there
		}
		if x-w/2 > last {
			p.c.text(x-w/2, y+11, smallSize, text, `fill="#5d6d7e"`)
			last = x + w/2 + 6
		}
	}
}

// lines mark the SLO and the answer, and name them above the axis.
func (p *runPlot) lines(top, bottom int) {
	mark := func(d model.Duration, y int, text, color, dash string) {
		if !d.Finite() {
			return
		}
		x := p.at(d)
		p.c.path(fmt.Sprintf("M%d %dV%d", x, y+3, bottom), fmt.Sprintf("stroke=\"%s\" stroke-width=\"2\" fill=\"none\"%s", color, dash))
		p.c.text(min(x+4, p.x+plotWidth-textWidth(text, smallSize)), y, smallSize, text, fmt.Sprintf("fill=\"%s\"", color))
	}
	slo := p.Graph.Roots[p.Root].SLO
	mark(slo, top-smallSize-4, "SLO "+slo.String(), "#1e8449", ` stroke-dasharray="5 3"`)
	what, color := "error at ", violationColor
	if p.run.Answered {
		what, color = "answer at ", inkColor
	}
	mark(p.run.Answer, top, what+render.Brief(p.run.Answer, true), color, "")
}

// row draws a service: its name, its attempts, and what they come to.
func (p *runPlot) row(row *timelineRow, y int) {
	style := ""
	if row.service == p.Scenario.Service {
		style = `font-weight="bold"`
	}
	p.c.text(edge, y+10, fontSize, row.name, style)
	for i, lane := range row.lanes {
		for k := range lane {
			p.bar(&lane[k], y+i*laneHeight)
		}
	}
	for i, lane := range row.lanes {
		for k := range lane {
			if gone := lane[k].GaveUp; gone.Finite() {
				p.c.cross(min(p.at(gone), p.x+plotWidth)-1, y+i*laneHeight+runBar/2)
			}
		}
	}
	p.c.text(p.x+plotWidth+columnGap, y+10, smallSize, p.asked(row), "")
	if orphan := p.Spent(p.run, row.service).Orphan; orphan > 0 {
		p.c.text(p.costs, y+10, smallSize, p.worked(orphan)+" for nobody", fmt.Sprintf("fill=\"%s\"", violationColor))
	}
}

// asked says how often a service is asked and how long it works.
func (p *runPlot) asked(row *timelineRow) string {
	s := p.Spent(p.run, row.service)
	text := "asked " + solver.CountText(s.Starts) + "×, works " + p.worked(s.Work)
	if row.hidden > 0 {
		text += fmt.Sprintf(" (%d not drawn)", row.hidden)
	}
	return text
}

// worked words a time of work.
func (p *runPlot) worked(d model.Duration) string {
	if !d.Finite() && !p.run.Ends.Finite() {
		return "without end"
	}
	return render.SumText(p.run, d)
}

// bar draws one attempt: plain while every caller waits, hatched when one has left, a cross where its own did.
func (p *runPlot) bar(inv *solver.Invocation, y int) {
	x0, x1 := p.at(inv.Start), p.at(inv.End)
	left := x1
	if inv.Left.Finite() {
		left = min(x1, max(x0, p.at(inv.Left)))
	}
	if left > x0 || x1 == x0 {
		p.c.rect(x0, y, max(2, left-x0-1), runBar, fmt.Sprintf("fill=\"#aed6f1\" stroke=\"%s\"", plainColor))
	}
	if left < x1 {
		p.c.rect(left, y, max(1, x1-left-1), runBar, fmt.Sprintf("fill=\"#ffffff\" stroke=\"%s\"", violationColor))
		p.c.hatch(left, y, max(1, x1-left-1), runBar, violationColor)
	}
	if !inv.End.Finite() {
		p.c.path(fmt.Sprintf("M%d %dL%d %dL%d %d", x1, y, x1+7, y+runBar/2, x1, y+runBar), fmt.Sprintf("stroke=\"%s\" fill=\"none\"", violationColor))
	}
}

// cross marks that a caller gave up.
func (c *canvas) cross(x, y int) {
	c.path(fmt.Sprintf("M%d %dl6 6m0 -6l-6 6", x-3, y-3), fmt.Sprintf("stroke=\"%s\" stroke-width=\"2\" fill=\"none\"", inkColor))
}

// runKeys draws the signs of a run and their meanings.
func (c *canvas) runKeys(x, y int) {
	for _, k := range []key{
		{"an attempt that its callers wait for", barKey(`fill="#aed6f1" stroke="` + plainColor + `"`)},
		{"work after a caller on the path has left", func(c *canvas, x, y int) {
			c.rect(x, y-9, 24, 10, `fill="#ffffff" stroke="`+violationColor+`"`)
			c.hatch(x, y-9, 24, 10, violationColor)
		}},
		{"its caller gave up", func(c *canvas, x, y int) { c.cross(x+12, y-4) }},
		{"never ends", func(c *canvas, x, y int) {
			c.path(fmt.Sprintf("M%d %dL%d %dL%d %d", x+12, y-9, x+19, y-4, x+12, y+1), `stroke="`+violationColor+`" fill="none"`)
		}},
	} {
		k.draw(c, x, y)
		c.text(x+30, y, smallSize, k.text, ink(line{}))
		x += 30 + textWidth(k.text, smallSize) + 18
	}
	c.grow(x, y)
}
