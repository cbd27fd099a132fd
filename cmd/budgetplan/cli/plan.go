package cli

import (
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
` + "`budgetplan check`" + ` reads. --sources prints what each file gave and where every value comes from instead.`,
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
			r, err := c.must(args, pipeline.Options{Fixes: len(columns) == 0, Allowed: showAllowed(outs)})
			if err != nil {
				return err
			}
			switch {
			case sources:
				return c.place(out, writeSources(r))
			case len(columns) > 0:
				return c.place(out, writeCorners(r, columns))
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

func formatNames(kind render.Kind) string { return strings.Join(all.Names(kind), "|") }

func completeFormats(cmd *cobra.Command, kind render.Kind) { words(cmd, "format", all.Names(kind)) }
