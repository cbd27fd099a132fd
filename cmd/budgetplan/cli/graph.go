package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
	"github.com/budgetplan/budgetplan/render/diagram"
)

// views are the pictures that graph draws, the first by default.
var views = []struct {
	name, format string // its default format
	kind         render.Kind
}{{"graph", "dot", render.Graph}, {"waterfall", "text", render.Waterfall}}

// drawn are the formats that Graphviz makes of ours.
var drawn = []string{"svg", "png"}

// layouts say who places what svg shows: Graphviz where it is installed, else our own columns.
var layouts = []string{"auto", "dot", "own"}

func newGraph(s *streams) *cobra.Command {
	c := &common{streams: s}
	var view, format, layout, out string
	cmd := &cobra.Command{
		Use:   "graph [FILE|DIRECTORY|-]...",
		Short: "Draw the call graph, or the time that its calls take",
		Long: `graph draws the call graph: violations in red, groups visible, budgets and attempts at the calls. ` + "`--view waterfall`" + `
draws a bar a call instead: what it may take in the worst case, its share of the SLO, and what runs on after a caller
has left.

svg is drawn by Graphviz's ` + "`dot`" + ` where that is installed, else in columns of our own (` + "`--layout`" + ` says which); png needs
` + "`dot`" + `. What is read is what ` + "`budgetplan check`" + ` reads.`,
		Example: `  budgetplan graph checkout.yaml > checkout.dot
  budgetplan graph --format svg -o checkout.svg checkout.yaml
  budgetplan graph --view waterfall checkout.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := among("view", view, viewNames()); err != nil {
				return err
			}
			at := slices.Index(viewNames(), view)
			if !cmd.Flags().Changed("format") {
				format = views[at].format
			}
			if err := among("format", format, graphFormats(views[at].kind)); err != nil {
				return err
			}
			if err := among("layout", layout, layouts); err != nil {
				return err
			}
			r, err := c.must(args, pipeline.Options{Fixes: true})
			if err != nil {
				return err
			}
			return c.place(out, func(w io.Writer, color bool, width int) error {
				for _, in := range r.Plans {
					in.Color, in.Width = color, width
				}
				return draw(w, r.Plans, views[at].kind, format, layout)
			})
		},
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringVar(&view, "view", views[0].name, "what to draw: "+oneOf(viewNames()))
	f.StringVar(&format, "format", views[0].format, "output format: "+oneOf(graphFormats(render.Graph))+"; of the waterfall "+oneOf(graphFormats(render.Waterfall))+", text by default")
	f.StringVar(&layout, "layout", layouts[0], "who places what the svg of a graph shows: "+oneOf(layouts))
	f.StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	words(cmd, "view", viewNames())
	words(cmd, "format", append(graphFormats(render.Graph), "text"))
	words(cmd, "layout", layouts)
	return cmd
}

func viewNames() []string {
	var names []string
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

// graphFormats gives our formats of a picture and, for a call graph, Graphviz's.
func graphFormats(kind render.Kind) []string {
	names := all.Names(kind)
	for _, d := range drawn {
		if kind == render.Graph && !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	return names
}

// draw writes a format of ours, or runs `dot` on ours.
func draw(w io.Writer, plans []*render.Input, kind render.Kind, format, layout string) error {
	ours := all.Find(format, kind)
	if kind == render.Graph && slices.Contains(drawn, format) && layout != "own" {
		program, err := exec.LookPath("dot")
		switch {
		case err == nil:
			return graphviz(w, plans, program, format)
		case ours == nil:
			return usage("install Graphviz, or write `--format svg`", "--format %s needs the program `dot`, which is not installed", format)
		case layout == "dot":
			return usage("install Graphviz, or write `--layout own`", "--layout dot needs the program `dot`, which is not installed")
		}
	}
	if ours == nil {
		return usage("write `--layout auto`, or `--format svg`", "--format %s has no layout of our own", format)
	}
	err := ours.Write(w, plans)
	if large := (*diagram.TooLargeError)(nil); errors.As(err, &large) {
		help := "write `--format dot`, and draw a part of it"
		if kind == render.Waterfall {
			help = "plan the entrypoints that matter in files of their own"
		}
		return usage(help, "%s", large)
	}
	return err
}

// graphviz runs `dot`, for no longer than two minutes. No shell is involved.
func graphviz(w io.Writer, plans []*render.Input, program, format string) error {
	var source, told bytes.Buffer
	if err := all.Find("dot", render.Graph).Write(&source, plans); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "-T"+format)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &source, w, &told
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(told.String()), "\n")
		return usage("", "`dot` failed: %s", strings.TrimSpace(fmt.Sprintf("%v %s", err, first)))
	}
	return nil
}
