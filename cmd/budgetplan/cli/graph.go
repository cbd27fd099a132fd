package cli

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
)

// drawn are the formats that Graphviz makes of ours.
var drawn = []string{"svg", "png"}

func newGraph(s *streams) *cobra.Command {
	c := &common{streams: s}
	var format, out string
	cmd := &cobra.Command{
		Use:   "graph [FILE|DIRECTORY|-]...",
		Short: "Draw the call graph with its budgets and violations",
		Long: `graph draws the call graph: violations in red, groups visible, budgets and attempts at the calls. svg and png are drawn
by Graphviz's ` + "`dot`" + `, which must be installed. What is read is what ` + "`budgetplan check`" + ` reads.`,
		Example: `  budgetplan graph checkout.yaml > checkout.dot
  budgetplan graph --format svg -o checkout.svg checkout.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := among("format", format, graphFormats()); err != nil {
				return err
			}
			r, err := c.must(args, pipeline.Options{Fixes: true, Allowed: true})
			if err != nil {
				return err
			}
			return c.place(out, func(w io.Writer, color bool, width int) error {
				for _, in := range r.Plans {
					in.Color, in.Width = color, width
				}
				return draw(w, r.Plans, format)
			})
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&format, "format", "dot", "output format: "+oneOf(graphFormats()))
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	words(cmd, "format", graphFormats())
	return cmd
}

func graphFormats() []string {
	names := all.Names(render.Graph)
	for _, d := range drawn {
		if all.Find(d, render.Graph) == nil {
			names = append(names, d)
		}
	}
	return names
}

// draw writes a format of ours, or runs `dot` on ours. No shell is involved.
func draw(w io.Writer, plans []*render.Input, format string) error {
	if r := all.Find(format, render.Graph); r != nil {
		return r.Write(w, plans)
	}
	program, err := exec.LookPath("dot")
	if err != nil {
		return usage("install Graphviz, or write `--format dot` and draw it elsewhere", "--format %s needs the program `dot`, which is not installed", format)
	}
	var source, told bytes.Buffer
	if err := all.Find("dot", render.Graph).Write(&source, plans); err != nil {
		return err
	}
	cmd := exec.Command(program, "-T"+format)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &source, w, &told
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(told.String()), "\n")
		return usage("", "`dot` failed: %s", strings.TrimSpace(fmt.Sprintf("%v %s", err, first)))
	}
	return nil
}
