// Package diagram draws call graphs and the time that their calls take.
package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/render"
)

// Dot writes the call graph in the language of Graphviz.
var Dot = &render.Renderer{
	Name: "dot", Kind: render.Graph, Title: "the call graph for Graphviz",
	Render: func(w io.Writer, in *render.Input) error { return writeDots(w, []*render.Input{in}) }, Together: writeDots,
}

func writeDots(w io.Writer, ins []*render.Input) error {
	return writeGraphs(w, ins, func(out *bufio.Writer) language { return dot{out} })
}

// dot is the language of Graphviz.
type dot struct{ out *bufio.Writer }

func (d dot) begin(i int) {
	fmt.Fprintf(d.out, "digraph %s {\n", quote(fmt.Sprintf("budgetplan %d", i+1)))
	fmt.Fprintf(d.out, "  graph [rankdir=LR, fontname=\"Helvetica\", fontsize=9, labelloc=b, labeljust=l, label=%s];\n", quote(legend))
	fmt.Fprintf(d.out, "  node [shape=box, style=\"rounded,filled\", fillcolor=%s, color=%s, fontname=\"Helvetica\", fontsize=11];\n", quote(fillColor), quote(plainColor))
	fmt.Fprintf(d.out, "  edge [color=%s, fontname=\"Helvetica\", fontsize=9];\n", quote(plainColor))
}

func (d dot) end() { d.out.WriteString("}\n") }

func (d dot) entrypoint(id string, lines []string, style line) {
	shape := []string{"shape=cds", "style=filled", `margin="0.2,0.15"`, "label=" + quoteLines(lines)}
	d.statement(1, quote(id), append(shape, marks(style)...))
}

func (d dot) service(depth int, id string, lines []string, style line) {
	d.statement(depth, quote(id), append([]string{"label=" + quoteLines(lines)}, marks(style)...))
}

func (d dot) open(depth, number int, label string) {
	indent := strings.Repeat("  ", depth)
	fmt.Fprintf(d.out, "%ssubgraph %s {\n", indent, quote(fmt.Sprintf("cluster %d", number)))
	fmt.Fprintf(d.out, "%s  label=%s; labelloc=t; fontsize=9; style=rounded; color=%s;\n", indent, quote(label), quote(groupColor))
}

func (d dot) point(depth int, id string) {
	d.statement(depth, quote(id), []string{"shape=point", "width=0.08", `label=""`})
}

func (d dot) close(depth int) { d.out.WriteString(strings.Repeat("  ", depth) + "}\n") }

func (d dot) arrow(from, to string, lines []string, head bool, style line) {
	var attributes []string
	if !head {
		attributes = append(attributes, "arrowhead=none")
	}
	if len(lines) > 0 {
		attributes = append(attributes, "label="+quoteLines(lines))
	}
	d.statement(1, quote(from)+" -> "+quote(to), append(attributes, marks(style)...))
}

// marks gives the attributes that set a node or an arrow apart.
func marks(style line) []string {
	var list []string
	if style.bad {
		list = append(list, "color="+quote(violationColor), "fontcolor="+quote(violationColor))
	}
	if style.thick {
		list = append(list, "penwidth=3")
	}
	switch {
	case style.dotted:
		list = append(list, "style=dotted")
	case style.dashed:
		list = append(list, "style=dashed")
	}
	return list
}

// statement writes a node or an arrow with its attributes.
func (d dot) statement(depth int, what string, attributes []string) {
	d.out.WriteString(strings.Repeat("  ", depth) + what)
	if len(attributes) > 0 {
		d.out.WriteString(" [" + strings.Join(attributes, ", ") + "]")
	}
	d.out.WriteString(";\n")
}
