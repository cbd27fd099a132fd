package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
)

// WaterfallText draws the time that calls may take for a terminal, in 80 columns and without colour.
var WaterfallText = &render.Renderer{
	Name: "text", Kind: render.Waterfall, Title: "the time of every call for a terminal",
	Render: func(w io.Writer, in *render.Input) error { return writeCharts(w, []*render.Input{in}) }, Together: writeCharts,
}

// Columns of the terminal: names, the plot, and the number at its right.
const (
	textColumns = 80
	nameColumns = 24 // at most
	rightColumn = 9
)

const textKey = `[===] an attempt  ### own work  --- before the first attempt  ... back-off
/// after a caller has left  > nobody says how long  : earlier attempts
(~~~) share of the SLO  +++ margin  | SLO  ! the client gives up`

func writeCharts(out io.Writer, ins []*render.Input) error {
	w := bufio.NewWriter(out)
	drawn := false
	for _, in := range ins {
		list, err := waterfalls(in)
		if err != nil {
			return err
		}
		if name := clean(in.PlanName()); len(ins) > 1 && name != "" {
			fmt.Fprintf(w, "%s\n\n", name)
		}
		for _, f := range list {
			c := chart{waterfall: f}
			c.draw(w)
			drawn = true
		}
	}
	if drawn {
		fmt.Fprintf(w, "%s\n%s\n", explainedText, textKey)
	}
	return w.Flush()
}

// explainedText is explained in lines of a terminal.
const explainedText = "The worst case that the limits allow: each call under the last attempt of its\ncaller, its share of the SLO below it. 0 is when the request leaves the client."

// chart draws one root.
type chart struct {
	*waterfall
	names, width int
}

func (c *chart) draw(w *bufio.Writer) {
	for i := range c.rows {
		r := &c.rows[i]
		c.names = max(c.names, min(r.depth, mostIndent)+utf8.RuneCountInString(r.name)+1) // the colon of a group
	}
	c.names = min(c.names, nameColumns) + 1
	c.width = textColumns - c.names - rightColumn - 1
	w.WriteString(wrap(c.title()) + "\n\n")
	c.axis(w)
	for i := range c.rows {
		c.row(w, &c.rows[i])
	}
	w.WriteByte('\n')
}

// wrap breaks a line at its commas so that it fits the terminal where it can.
func wrap(text string) string {
	var b strings.Builder
	width := 0
	for i, part := range strings.SplitAfter(text, ", ") {
		n := utf8.RuneCountInString(part)
		if i > 0 && width+n > textColumns {
			b.WriteString("\n  ")
			width = 2
		}
		b.WriteString(part)
		width += n
	}
	return strings.ReplaceAll(b.String(), ", \n", ",\n")
}

// at is the column of the plot that a moment falls into; the last is for what lies beyond.
func (c *chart) at(d model.Duration) int {
	if d >= c.end {
		return c.width - 1
	}
	return int(d.Share(model.Duration(c.width-1), c.end))
}

func (c *chart) axis(w *bufio.Writer) {
	line := c.blank()
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
	c.line(w, "", line, "waits")
}

// blank is an empty plot with the lines of the SLO and of the client.
func (c *chart) blank() []rune {
	line := []rune(strings.Repeat(" ", c.width))
	if c.timeout.Finite() {
		line[c.at(c.timeout)] = '!'
	}
	if c.slo.Finite() {
		line[c.at(c.slo)] = '|'
	}
	return line
}

// line writes a name, a plot and a number.
func (c *chart) line(w *bufio.Writer, name string, plot []rune, number string) {
	if runes := []rune(name); len(runes) > c.names-1 {
		name = string(runes[:c.names-2]) + "…"
	}
	name += strings.Repeat(" ", max(0, c.names-utf8.RuneCountInString(name)))
	w.WriteString(strings.TrimRight(name+string(plot)+" "+number, " ") + "\n")
}

func (c *chart) row(w *bufio.Writer, r *row) {
	name := strings.Repeat(" ", min(r.depth, mostIndent)) + r.name
	line := c.blank()
	if r.group {
		c.line(w, name+":", line, "")
		return
	}
	for _, b := range r.limits {
		c.bar(line, r, b)
	}
	if r.tail.kind != noBar {
		c.bar(line, r, r.tail)
	}
	if r.open {
		line[c.width-1] = '>'
	}
	if r.note != "" {
		write(line, r.note)
	}
	c.line(w, name, line, r.numbers[0])
	line = c.blank()
	for _, b := range r.budget {
		c.bar(line, r, bar{b.from, b.to, shareOf(b.kind)})
	}
	var told []string
	if r.numbers[3] != "1" {
		told = append(told, r.numbers[3]+" attempts in all")
	}
	if r.tail.kind != noBar && r.tail.to.Finite() {
		told = append(told, "runs on "+r.numbers[1])
	}
	write(line, strings.Join(told, ", "))
	if len(r.budget) > 0 || len(told) > 0 {
		number := ""
		if len(r.budget) > 0 {
			number = "(" + r.numbers[2] + ")"
		}
		c.line(w, "", line, number)
	}
}

// write puts a text at the right end of a plot, unless something other than the client's lines is there.
func write(line []rune, text string) {
	runes := []rune(text)
	at := len(line) - len(runes)
	if at < 1 || len(runes) == 0 || strings.Trim(string(line[at-1:]), " |!") != "" {
		return
	}
	copy(line[at:], runes)
}

// Kinds of the lane of the SLO, which has signs of its own.
const (
	shareBar barKind = iota + 100
	shareBackoff
)

func shareOf(k barKind) barKind {
	switch k {
	case attemptBar, manyBar:
		return shareBar
	case backoffBar:
		return shareBackoff
	}
	return k
}

// signs are the first, middle and last character of a piece; one of a single column is its middle.
var signs = map[barKind][3]rune{
	attemptBar: {'[', '=', ']'}, manyBar: {'[', '=', ']'}, backoffBar: {'.', '.', '.'}, poolBar: {'-', '-', '-'},
	ownBar: {'#', '#', '#'}, marginBar: {'+', '+', '+'}, earlierBar: {':', ':', ':'}, tailBar: {'/', '/', '/'},
	shareBar: {'(', '~', ')'}, shareBackoff: {'.', '.', '.'},
}

// bar draws a piece of time over the columns that it covers, at least one.
func (c *chart) bar(line []rune, r *row, b bar) {
	if !b.from.Finite() || b.to <= b.from {
		return
	}
	x0, x1, s := c.at(b.from), c.at(b.to)-1, signs[b.kind]
	if b.kind == tailBar && !b.to.Finite() {
		line[x0] = '>' // what nobody knows is no fault
		return
	}
	if b.kind == ownBar || b.kind == marginBar {
		if x1 < x0 {
			return // less than a column of a bar that is there already
		}
	}
	x1 = max(x0, x1)
	if !b.to.Finite() {
		x1 = c.width - 2
	}
	for x := x0; x <= x1; x++ {
		line[x] = s[1]
		late := b.kind == attemptBar || b.kind == manyBar
		if late && r.gone.Finite() && x >= c.at(r.gone) {
			line[x] = '/'
		}
	}
	if x1 > x0 {
		line[x0] = s[0]
		if b.to.Finite() {
			line[x1] = s[2]
		}
	}
	if !b.to.Finite() {
		line[c.width-1] = '>'
	}
}
