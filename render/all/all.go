// Package all lists the renderers.
package all

import (
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
	"github.com/budgetplan/budgetplan/render/report"
)

// List has every renderer, sorted by name.
var List = []*render.Renderer{
	report.CSV,
	diagram.Dot,
	report.GitHub,
	report.JSON,
	report.JUnit,
	report.Markdown,
	report.MarkdownPlan,
	diagram.Mermaid,
	report.SARIF,
	report.Short,
	diagram.SVG,
	diagram.WaterfallSVG,
	report.Table,
	report.Text,
	diagram.WaterfallText,
	report.YAML,
}

// Find gives the renderer of a name for a kind of command, nil where there is none.
func Find(name string, kind render.Kind) *render.Renderer {
	for _, r := range List {
		if r.Name == name && r.Kind&kind != 0 {
			return r
		}
	}
	return nil
}

// Names gives the formats of a kind of command, sorted.
func Names(kind render.Kind) []string {
	var names []string
	for _, r := range List {
		if r.Kind&kind != 0 {
			names = append(names, r.Name)
		}
	}
	return names
}
