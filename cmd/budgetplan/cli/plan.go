package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
)

func newPlan(s *streams) *cobra.Command {
	c := &common{streams: s}
	var formats []string
	var out string
	var sources bool
	var at []string
	cmd := &cobra.Command{
		Use:   "plan [FILE|DIRECTORY|-]...",
		Short: "Show the time that each call has, needs and should be given",
		Long: `plan prints the budgets and changes nothing: for every call what its caller received, its budget, what it needs, the
configured and the recommended limits, the slack and the attempts; then a line a finding. What is read is what
` + "`budgetplan check`" + ` reads. --sources prints what each file gave and where every value comes from instead, --corners
what is needed at percentiles: as a table, and --corners with --format json for programs.`,
		Example: `  budgetplan plan
  budgetplan plan --policy eqs --format csv -o budgets.csv checkout.yaml
  budgetplan plan --sources budgetplan.yaml deploy/envoy.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			outs, err := outputs(render.Plan, formats, out)
			if err != nil {
				return err
			}
			columns, err := corners(at)
			if err != nil {
				return err
			}
			if err := otherwise(sources, len(columns) > 0, outs); err != nil {
				return err
			}
			r, err := c.must(args, pipeline.Options{Fixes: len(columns) == 0, Allowed: len(columns) == 0 && showAllowed(outs)})
			if err != nil {
				return err
			}
			switch {
			case sources:
				return c.each(outs, func(string) writer { return writeSources(r) })
			case len(columns) > 0:
				return c.each(outs, func(format string) writer { return writeCorners(r, columns, format) })
			}
			return c.write(r, outs)
		},
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&formats, "format", []string{"table"}, "output format, or `FORMAT[=FILE]` to write it to a file; repeatable: "+formatNames(render.Plan))
	f.StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	f.BoolVar(&sources, "sources", false, "print what each file gave, which names were joined, and every value with the place or the default that it comes from")
	f.StringSliceVar(&at, "corners", nil, "print what each entrypoint and call needs at percentiles, and at most waits under its `limits`, side by side instead: p50,p99,limits")
	completeFormats(cmd, render.Plan)
	return cmd
}

// otherwise checks the formats of what --sources and --corners print in the place of budgets.
func otherwise(sources, corners bool, outs []output) error {
	for _, out := range outs {
		switch name := out.renderer.Name; {
		case sources && corners:
			return usage("run plan once for each", "--sources and --corners each print something else")
		case sources && name != "table":
			return usage("", "--format is `%s`, and with --sources takes table", name)
		case corners && name != "table" && name != "json":
			return usage("", "--format is `%s`, and with --corners takes table|json", name)
		}
	}
	return nil
}

// writer writes a product, in colour or not, for a terminal so wide or, where that is 0, for none.
type writer = func(w io.Writer, color bool, width int) error

// each writes what a format makes to each output.
func (c *common) each(outs []output, write func(format string) writer) error {
	for _, out := range outs {
		if err := c.place(out.file, write(out.renderer.Name)); err != nil {
			return err
		}
	}
	return nil
}

func formatNames(kind render.Kind) string { return strings.Join(all.Names(kind), "|") }

func completeFormats(cmd *cobra.Command, kind render.Kind) { words(cmd, "format", all.Names(kind)) }
