package report

import (
	"bytes"
	"io"
	"strings"
)

// Columns aligns lines of cells that tabs end, as text/tabwriter does with two spaces between, but by the columns that a
// text takes in a terminal: wide signs count twice, combining ones not at all. Nothing is written before Flush.
type Columns struct {
	out    io.Writer
	buffer bytes.Buffer
}

// NewColumns gives an empty one that writes to out.
func NewColumns(out io.Writer) *Columns { return &Columns{out: out} }

// Write adds text. It never fails.
func (c *Columns) Write(text []byte) (int, error) { return c.buffer.Write(text) }

// Flush writes everything that was added. The error is the writer's.
func (c *Columns) Flush() error {
	text := c.buffer.String()
	c.buffer.Reset()
	if text == "" {
		return nil
	}
	rows := make([][]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	widths := make([][]int, len(rows))
	for i, row := range rows {
		widths[i] = make([]int, len(row)-1)
	}
	// A column is as wide as its widest cell, over the lines in a row that have it.
	for i, row := range rows {
		for k := range row[:len(row)-1] {
			if i > 0 && k < len(widths[i-1]) {
				widths[i][k] = widths[i-1][k]
				continue
			}
			for _, below := range rows[i:] {
				if len(below)-1 <= k {
					break
				}
				widths[i][k] = max(widths[i][k], width(below[k]))
			}
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for k, cell := range row[:len(row)-1] {
			b.WriteString(cell + strings.Repeat(" ", widths[i][k]-width(cell)+columnGap))
		}
		b.WriteString(row[len(row)-1])
		if i < len(rows)-1 || strings.HasSuffix(text, "\n") {
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(c.out, b.String())
	return err
}
