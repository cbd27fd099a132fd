package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

const runKey = "[==x an attempt, x its caller gave up  /// work after a caller has left\n> never ends  | SLO  ! the client has an answer, an error or enough of waiting"

// RunText draws both runs of a request for a terminal, in 80 columns and without colour.
func RunText(out io.Writer, r *render.Run) error {
	w := bufio.NewWriter(out)
	for _, t := range timelines(r) {
		w.WriteString(wrap(clipped(t.caption())) + "\n")
		c := runChart{timeline: t}
		c.draw(w)
		w.WriteByte('\n')
	}
	w.WriteString(runKey + "\n")
	return w.Flush()
}

// runChart is a timeline in characters.
type runChart struct {
	*timeline
	names, width int
}

func (c *runChart) draw(w *bufio.Writer) {
	if c.run.Invocations == nil {
		fmt.Fprintf(w, "more than %d invocations are not drawn\n", solver.MaxInvocations)
		return
	}
	for i := range c.rows {
		c.names = max(c.names, utf8.RuneCountInString(c.rows[i].name))
	}
	c.names = min(c.names, nameColumns)
	c.width = textColumns - c.names - 1
	c.axis(w)
	for i := range c.rows {
		row := &c.rows[i]
		name := row.name
		for _, lane := range row.lanes {
			c.line(w, name, c.lane(lane))
			name = ""
		}
		if row.hidden > 0 {
			fmt.Fprintf(w, "%*s and %d more that overlap\n", c.names, "", row.hidden)
		}
	}
	if c.more > 0 {
		fmt.Fprintf(w, "and %d more services\n", c.more)
	}
}

func (c *runChart) line(w *bufio.Writer, name string, plot []rune) {
	if runes := []rune(name); len(runes) > c.names {
		name = string(runes[:c.names-1]) + "…"
	}
	pad := strings.Repeat(" ", c.names-utf8.RuneCountInString(name)+1)
	w.WriteString(strings.TrimRight(name+pad+string(plot), " ") + "\n")
}

// at is the column that a moment falls into.
func (c *runChart) at(d model.Duration) int {
	if d >= c.end {
		return c.width - 1
	}
	return int(d.Share(model.Duration(c.width-1), c.end))
}

func (c *runChart) axis(w *bufio.Writer) {
	line := []rune(strings.Repeat(" ", c.width))
	end := -1
	for _, t := range ticks(c.end, 6) {
		text := t.String()
		if t == 0 {
			text = "0"
		}
		if x := c.at(t); x > end && x+len(text) <= c.width {
			copy(line[x:], []rune(text))
			end = x + len(text)
		}
	}
	c.line(w, "", line)
}

// lane draws attempts that follow each other.
func (c *runChart) lane(lane []solver.Invocation) []rune {
	line := []rune(strings.Repeat(" ", c.width))
	if slo := c.Graph.Roots[c.Root].SLO; slo.Finite() {
		line[c.at(slo)] = '|'
	}
	if c.run.Answer.Finite() {
		line[c.at(c.run.Answer)] = '!'
	}
	for i := range lane {
		c.bar(line, &lane[i])
	}
	return line
}

func (c *runChart) bar(line []rune, inv *solver.Invocation) {
	x0 := c.at(inv.Start)
	x1 := max(x0, c.at(inv.End)-1)
	if !inv.End.Finite() {
		x1 = c.width - 1
	}
	for x := x0; x <= x1; x++ {
		line[x] = '='
		if inv.Left.Finite() && x >= c.at(inv.Left) {
			line[x] = '/'
		}
	}
	if x1 > x0 {
		line[x0] = '['
		line[x1] = ']'
	}
	switch {
	case !inv.End.Finite():
		line[x1] = '>'
	case inv.Left.Finite() && x1 > x0:
		line[x1] = '/'
	}
	if inv.GaveUp.Finite() {
		if x := min(x1, c.at(inv.GaveUp)); x > x0 || x1 == x0 {
			line[x] = 'x'
		}
	}
}
