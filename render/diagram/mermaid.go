package diagram

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/budgetplan/budgetplan/render"
)

// Mermaid writes the call graph as a Mermaid flowchart, which Markdown viewers draw in place. Several plans are
// several documents, each beginning with `flowchart`.
var Mermaid = &render.Renderer{
	Name: "mermaid", Kind: render.Graph, Title: "the call graph for Mermaid",
	Render: func(w io.Writer, in *render.Input) error { return writeMermaids(w, []*render.Input{in}) }, Together: writeMermaids,
}

func writeMermaids(w io.Writer, ins []*render.Input) error {
	return writeGraphs(w, ins, func(out *bufio.Writer) language { return &mermaid{out: out} })
}

// mermaid is the language of Mermaid. How an arrow looks is said at the end, by its number.
type mermaid struct {
	out                        *bufio.Writer
	arrows                     int
	bad, thick, dashed, dotted []string
}

func (m *mermaid) begin(int) {
	m.out.WriteString("flowchart LR\n")
	fmt.Fprintf(m.out, "  accTitle: call graph\n  accDescr: %s\n", legend)
	fmt.Fprintf(m.out, "  classDef default fill:%s,stroke:%s,color:%s\n", fillColor, plainColor, plainColor)
	fmt.Fprintf(m.out, "  classDef bad stroke:%s,color:%s\n", violationColor, violationColor)
}

func (m *mermaid) end() {
	for _, s := range []struct {
		arrows []string
		style  string
	}{
		{m.bad, "stroke:" + violationColor + ",color:" + violationColor},
		{m.thick, "stroke-width:4px"},
		{m.dashed, "stroke-dasharray:8 4"},
		{m.dotted, "stroke-dasharray:2 4"},
	} {
		if len(s.arrows) > 0 {
			fmt.Fprintf(m.out, "  linkStyle %s %s\n", strings.Join(s.arrows, ","), s.style)
		}
	}
}

func (m *mermaid) entrypoint(id string, lines []string, style line) {
	m.node(1, id, "([", "])", lines, style)
}

func (m *mermaid) service(depth int, id string, lines []string, style line) {
	m.node(depth, id, "(", ")", lines, style)
}

func (m *mermaid) node(depth int, id, left, right string, lines []string, style line) {
	fmt.Fprintf(m.out, "%s%s%s%s%s", strings.Repeat("  ", depth), mermaidID(id), left, mermaidLabel(lines), right)
	if style.bad {
		m.out.WriteString(":::bad")
	}
	m.out.WriteByte('\n')
}

func (m *mermaid) open(depth, number int, label string) {
	fmt.Fprintf(m.out, "%ssubgraph group_%d[%s]\n", strings.Repeat("  ", depth), number, mermaidLabel([]string{label}))
}

func (m *mermaid) point(depth int, id string) {
	fmt.Fprintf(m.out, "%s%s((%s))\n", strings.Repeat("  ", depth), mermaidID(id), mermaidLabel(nil))
}

func (m *mermaid) close(depth int) { m.out.WriteString(strings.Repeat("  ", depth) + "end\n") }

func (m *mermaid) arrow(from, to string, lines []string, head bool, style line) {
	shape := "-->"
	if !head {
		shape = "---"
	}
	number := fmt.Sprint(m.arrows)
	m.arrows++
	fmt.Fprintf(m.out, "  %s %s", mermaidID(from), shape)
	if len(lines) > 0 {
		fmt.Fprintf(m.out, "|%s|", mermaidLabel(lines))
	}
	fmt.Fprintf(m.out, " %s\n", mermaidID(to))
	for _, s := range []struct {
		on   bool
		list *[]string
	}{{style.bad, &m.bad}, {style.thick, &m.thick}, {style.dashed, &m.dashed}, {style.dotted, &m.dotted}} {
		if s.on {
			*s.list = append(*s.list, number)
		}
	}
}

// mermaidID makes an id of ours one word; `end` and its kind are reserved, and none of ours is.
func mermaidID(id string) string { return strings.ReplaceAll(id, " ", "_") }

// mermaidLabel quotes lines as one label that shows them as they are. What Mermaid could read as markup is written
// by its number (`#58;`); an empty label is a space, since Mermaid refuses none.
func mermaidLabel(lines []string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, line := range lines {
		if i > 0 {
			b.WriteString("<br>")
		}
		line = strings.ToValidUTF8(line, "\ufffd")
		for at, r := range line {
			switch {
			case (r == '.' || r == '-') && strings.HasPrefix(line[at+1:], " "):
				fmt.Fprintf(&b, "#%d;", r) // else a list of Markdown, which Mermaid refuses to draw
			case r == '\n' || r == '\r' || r == '\t':
				b.WriteByte(' ')
			case unicode.IsControl(r):
				b.WriteRune('\ufffd')
			case r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ,./%()-", r):
				fmt.Fprintf(&b, "#%d;", r)
			default:
				b.WriteRune(r)
			}
		}
	}
	if b.Len() == 1 {
		b.WriteByte(' ')
	}
	b.WriteByte('"')
	return b.String()
}
