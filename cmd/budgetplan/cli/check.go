package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

func newCheck(s *streams) *cobra.Command {
	c := &common{streams: s}
	var formats []string
	var out, failOn string
	cmd := &cobra.Command{
		Use:   "check [FILE|DIRECTORY|-]...",
		Short: "Find timeouts, retries and deadlines that do not fit",
		Long: `check reads a plan and the configs beside it, and says what does not fit, with the arithmetic and the change
that ends it.

Files together are one plan: plan files, Envoy configs and so on, recognised by their content. A directory is searched
for budgetplan.yaml and *.budgetplan.yaml, each a plan of its own; without any, all files in it that are recognised are
one plan. Without arguments the plan is budgetplan.yaml here or in a parent. - is standard input.

The exit status is 1 where a finding is at --fail-on, and 2 where there was nothing to check.`,
		Example: `  budgetplan check
  budgetplan check budgetplan.yaml deploy/envoy.yaml
  helm template . | budgetplan check budgetplan.yaml -
  budgetplan check --format text --format json=report.json --fail-on warning deploy/`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := among("fail-on", failOn, severities); err != nil {
				return err
			}
			outs, err := outputs(render.Check, formats, out)
			if err != nil {
				return err
			}
			c.failOn, _ = diag.ParseSeverity(failOn) // `never` is no severity: an error is one still
			r, err := c.run(args, pipeline.Options{Fixes: true, Allowed: showAllowed(outs)})
			if err != nil {
				return err
			}
			return c.conclude(r, args, outs, failOn)
		},
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&formats, "format", []string{"text"}, "output format, or `FORMAT[=FILE]` to write it to a file; repeatable: "+formatNames(render.Check))
	f.StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	f.StringVar(&failOn, "fail-on", "error", "least severity for exit status 1: "+oneOf(severities))
	words(cmd, "fail-on", severities)
	completeFormats(cmd, render.Check)
	return cmd
}

// conclude writes the findings, closes with a line or two for people, and decides on the exit status.
func (c *common) conclude(r *pipeline.Result, args []string, outs []output, failOn string) error {
	t := r.Totals()
	empty := nothing(r)
	if empty == nil || t.Errors+t.Warnings > 0 {
		if err := c.write(r, outs); err != nil {
			return err
		}
	}
	if empty != nil {
		return empty
	}
	if !c.quiet {
		fmt.Fprintln(c.streams.err, c.closing(r, t))
		if then := next(r, args); then != "" {
			fmt.Fprintln(c.streams.err, "next: "+then)
		}
	}
	if failOn == "error" && t.Errors > 0 || failOn == "warning" && t.Errors+t.Warnings > 0 {
		return &exit{status: statusFindings}
	}
	return nil
}

// nothing is the error of a run that found neither a call nor an entrypoint: nothing checked is never green.
func nothing(r *pipeline.Result) error {
	t := r.Totals()
	if !t.Nothing() {
		return nil
	}
	none := "none with a call"
	if t.Read+t.Skipped == 1 {
		none = "and it has no call"
	}
	if what := instead(r); what != "" {
		none += ": " + what
	}
	return usage("a plan lists `services` with their `calls`; `budgetplan help check` says what is read",
		"nothing to check: read %s, %s", count(t.Read+t.Skipped, "file"), none)
}

// instead says of a few files what they are, where they have no call.
func instead(r *pipeline.Result) string {
	var parts []string
	for _, in := range r.Plans {
		for _, f := range in.Plan.Read {
			if f.Without != "" && len(parts) < shown {
				parts = append(parts, fmt.Sprintf("`%s` is %s", f.File, f.Without))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// closing says what was read, what was found, and what was not read.
func (c *common) closing(r *pipeline.Result, t pipeline.Totals) string {
	var b strings.Builder
	fmt.Fprintf(&b, "read %s: %s, %s; found ", count(t.Read, "file"), count(t.Calls, "call"), count(t.Services, "service"))
	if t.Errors+t.Warnings+t.Infos == 0 {
		b.WriteString("nothing")
	} else {
		fmt.Fprintf(&b, "%s, %s, %s", count(t.Errors, "error"), count(t.Warnings, "warning"), count(t.Infos, "info"))
	}
	if t.Skipped > 0 {
		b.WriteString("; not read: " + c.skipped(r, t.Skipped))
	}
	return b.String()
}

// shown is how many files that were not read are named; -v names all.
const shown = 3

func (c *common) skipped(r *pipeline.Result, total int) string {
	var parts []string
	for _, in := range r.Plans {
		for _, f := range in.Plan.Read {
			if f.As != "" {
				continue
			}
			if len(parts) == shown && total > shown && !c.verbose {
				return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more (-v names them)", total-shown)
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", f.File, f.Skipped))
		}
	}
	return strings.Join(parts, ", ")
}
