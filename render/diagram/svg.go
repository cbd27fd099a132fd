package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// fontFamily names fonts of which every system has one; nothing is fetched.
const fontFamily = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

// fontSize is the size of a picture's text in px; small is that of what belongs to a line or a bar.
const (
	fontSize  = 12
	smallSize = 10
)

// canvas collects the shapes of one SVG picture. Coordinates are whole px, so that every machine draws the same bytes.
type canvas struct {
	shapes strings.Builder
	w, h   int
}

// grow makes the picture large enough for a point and a margin around it.
func (c *canvas) grow(x, y int) {
	const margin = 12
	c.w, c.h = max(c.w, x+margin), max(c.h, y+margin)
}

func (c *canvas) rect(x, y, w, h int, attributes string) {
	c.grow(x+w, y+h)
	fmt.Fprintf(&c.shapes, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>\n", x, y, w, h, attributes)
}

func (c *canvas) path(d, attributes string) {
	fmt.Fprintf(&c.shapes, "<path d=\"%s\" %s/>\n", d, attributes)
}

// text writes a line with its baseline at y; size is in px.
func (c *canvas) text(x, y, size int, line, attributes string) {
	if line == "" {
		return
	}
	c.grow(x+textWidth(line, size), y)
	fmt.Fprintf(&c.shapes, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" %s>%s</text>\n", x, y, size, attributes, xmlText(line))
}

// lines writes several lines below each other, the first with its top at y.
func (c *canvas) lines(x, y, size int, lines []string, attributes string) {
	for i, line := range lines {
		c.text(x, y+i*lineHeight(size)+size, size, line, attributes)
	}
}

// hatch fills a rectangle with slanted lines, told apart from a plain one without colour.
func (c *canvas) hatch(x, y, w, h int, color string) {
	const step = 6
	var d strings.Builder
	for s := step; s < w+h; s += step {
		// The line x + y = s, cut to the rectangle.
		x0, y0 := s, 0
		if x0 > w {
			x0, y0 = w, s-w
		}
		x1, y1 := 0, s
		if y1 > h {
			x1, y1 = s-h, h
		}
		fmt.Fprintf(&d, "M%d %dL%d %d", x+x0, y+y0, x+x1, y+y1)
	}
	if d.Len() > 0 {
		c.path(d.String(), fmt.Sprintf("stroke=\"%s\" fill=\"none\"", color))
	}
}

// write gives the whole document. The title and the description are what a screen reader says.
func (c *canvas) write(out io.Writer, title, description string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", c.w, c.h, c.w, c.h)
	fmt.Fprintf(w, "<title>%s</title>\n<desc>%s</desc>\n", xmlText(title), xmlText(description))
	fmt.Fprintf(w, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", c.w, c.h)
	fmt.Fprintf(w, "<g font-family=\"%s\" fill=\"%s\">\n", fontFamily, inkColor)
	w.WriteString(c.shapes.String())
	w.WriteString("</g>\n</svg>\n")
	return w.Flush()
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func xmlText(s string) string { return xmlEscapes.Replace(s) }
