package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// generator is one run of generate.
type generator struct {
	*common
	target  *config.Target
	folder  string
	force   bool
	options config.Options
}

func newGenerate(s *streams) *cobra.Command {
	g := &generator{common: &common{streams: s}}
	var lines []string
	for _, t := range config.Targets {
		lines = append(lines, fmt.Sprintf("  %-10s %s", t.Name, t.Title))
	}
	cmd := &cobra.Command{
		Use:   "generate TARGET [FILE|DIRECTORY|-]...",
		Short: "Write configurations whose limits fit",
		Long: `generate writes the recommended limits of a plan in the words of a platform:

` + strings.Join(lines, "\n") + `

Every file opens with what it is, where it goes, what it changes and how to undo that. What the platform cannot say is
a finding on standard error and a comment in the file. What is read is what ` + "`budgetplan check`" + ` reads.

A plan that does not fit is refused with exit status 1 and the changes that would make it fit; --force writes the files
all the same.`,
		Example: `  budgetplan generate envoy --out deploy/envoy
  budgetplan generate grpc --service gateway checkout.yaml
  budgetplan generate card --format yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("`budgetplan generate envoy`", "generate needs a target: %s", oneOf(config.TargetNames()))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return config.TargetNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return g.run(args[0], args[1:]) },
	}
	g.register(cmd)
	f := cmd.Flags()
	f.StringVar(&g.folder, "out", "", "write the files into `DIR` instead of standard output")
	f.BoolVar(&g.force, "force", false, "write the files of a plan that does not fit, too")
	f.StringVar(&g.options.Service, "service", "", "write only the file of this service")
	f.StringVar(&g.options.Format, "format", "", "of a card: "+oneOf(config.Card.Formats)+" (default json)")
	words(cmd, "format", config.Card.Formats)
	return cmd
}

func (g *generator) run(target string, args []string) error {
	if g.target = config.TargetNamed(target); g.target == nil {
		return usage("", "`%s` is no target, and generate takes %s", target, oneOf(config.TargetNames()))
	}
	if g.options.Format != "" && len(g.target.Formats) == 0 {
		return usage("", "--format is a card's: `%s` has one form", target)
	}
	if err := among("format", g.options.Format, g.target.Formats); err != nil {
		return err
	}
	var files []config.File
	r, err := g.must(args, pipeline.Options{Fixes: true, Allowed: true, Target: func(in *render.Input) []diag.Finding {
		of, found := g.target.Generate(in, g.options)
		files = append(files, of...)
		return found
	}})
	if err != nil {
		return err
	}
	if err := g.refuse(r); err != nil {
		return err
	}
	if err := g.empty(r, files); err != nil {
		return err
	}
	g.keep(r, func(f *diag.Finding) bool { return isTarget(f.Code) || !isRule(f.Code) })
	g.tell(r)
	if g.folder == "" {
		return g.stream(files)
	}
	return g.write(files)
}

func isTarget(c *diag.Code) bool { return slices.Contains(config.Codes, c) }

func isRule(c *diag.Code) bool {
	return slices.ContainsFunc(rules.All, func(r *rules.Rule) bool { return r.Code == c })
}

// fits are the findings that no generated value could end: what is needed does not fit, or the plan was not understood.
var fits = []*diag.Code{rules.InfeasibleSLO, rules.BudgetExhausted}

// refuse is the error for a plan that does not fit, once what is wrong and what would make it fit is told.
func (g *generator) refuse(r *pipeline.Result) error {
	against := func(f *diag.Finding) bool {
		return f.Severity == diag.Error && f.Ignored == nil && (slices.Contains(fits, f.Code) || !isRule(f.Code) && !isTarget(f.Code))
	}
	n := 0
	var first *diag.Finding
	for _, in := range r.Plans {
		for i := range in.Findings {
			if f := &in.Findings[i]; against(f) {
				if n++; first == nil {
					first = f
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	if g.force {
		fmt.Fprintf(g.streams.err, "budgetplan: the plan does not fit, and --force writes it all the same: %s\n", first.Message)
		return nil
	}
	g.keep(r, against)
	for _, in := range r.Plans {
		for i := range in.Findings {
			if err := g.told(&in.Findings[i]); err != nil {
				return err
			}
		}
	}
	return &exit{
		statusFindings, fmt.Errorf("the plan does not fit, nothing is written: %s", render.Counted(n, "error")),
		"make one of the changes named above, or write the files all the same with --force",
	}
}

// told writes a finding that refuses, with what would end it.
func (g *generator) told(f *diag.Finding) error {
	where := f.Place().String()
	if where != "" {
		where += ": "
	}
	_, err := fmt.Fprintf(g.streams.err, "%s%s %s: %s\n  help: %s\n", where, f.Severity, f.Code.ID, f.Message, f.Help)
	return err
}

// keep leaves of the findings of each plan only those that a filter takes.
func (g *generator) keep(r *pipeline.Result, take func(*diag.Finding) bool) {
	for _, in := range r.Plans {
		in.Findings = slices.DeleteFunc(in.Findings, func(f diag.Finding) bool { return !take(&f) || f.Ignored != nil })
	}
}

// empty is the error where nothing is to be written.
func (g *generator) empty(r *pipeline.Result, files []config.File) error {
	if name := g.options.Service; name != "" {
		known := false
		for _, in := range r.Plans {
			known = known || slices.ContainsFunc(subjects(in), func(s string) bool { return s == name })
		}
		if !known {
			return usage("`budgetplan plan` lists the services", "--service is `%s`, which the plan does not have", name)
		}
	}
	values := 0
	for _, f := range files {
		values += f.Values
	}
	if values > 0 {
		return nil
	}
	g.keep(r, func(f *diag.Finding) bool { return isTarget(f.Code) })
	g.tell(r)
	help := "give an entrypoint an slo, so that its calls have budgets"
	if g.target == config.Postgres {
		help = "mark the databases of the plan: `database: {kind: postgres}`"
	}
	return &exit{statusFindings, fmt.Errorf("nothing to generate: no call of the plan has a limit that %s could say", g.target.Name), help}
}

// stream writes everything to standard output, where the format can join several files.
func (g *generator) stream(files []config.File) error {
	if len(files) > 1 && g.target.Separator == "" {
		var names []string
		for _, f := range files {
			names = append(names, f.Service)
		}
		return usage("write them into a folder with --out DIR, or one of them with --service "+names[0],
			"%s has a file for each of %d services: %s", g.target.Name, len(files), strings.Join(names[:min(len(names), shown)], ", "))
	}
	return g.place("", func(w io.Writer, _ bool, _ int) error {
		for i, f := range files {
			if i > 0 {
				fmt.Fprint(w, g.target.Separator)
			}
			if _, err := w.Write(f.Text); err != nil {
				return err
			}
		}
		return nil
	})
}

// write puts every file into the folder, each under a temporary name first, so that a failed run leaves old files whole.
func (g *generator) write(files []config.File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return usage("generate one plan at a time", "two plans have a file `%s`", f.Name)
		}
		seen[f.Name] = true
	}
	if err := os.MkdirAll(g.folder, 0o755); err != nil {
		return usage("", "cannot make the folder `%s`: %s", g.folder, trim(err))
	}
	for _, f := range files {
		name := filepath.Join(g.folder, f.Name)
		if err := replace(name, f.Text); err != nil {
			return err
		}
		if !g.quiet {
			fmt.Fprintf(g.streams.err, "wrote `%s`: %s\n", name, render.Counted(f.Values, "value"))
		}
	}
	return nil
}
