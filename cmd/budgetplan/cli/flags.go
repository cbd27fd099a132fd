package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/diag"
)

// common are the flags of every command that reads a plan.
type common struct {
	streams    *streams
	cmd        *cobra.Command
	loader     *load.Loader
	allocation string
	preset     string
	color      string
	quiet      bool
	verbose    bool
	// failOn is the least severity that fails the run, of commands that fail on findings.
	failOn diag.Severity
}

// The words that flags take.
var (
	allocations = []string{"eqf", "eqs", "equal"}
	presets     = []string{"default", "strict"}
	colors      = []string{"auto", "always", "never"}
	severities  = []string{"error", "warning", "never"}
)

func (c *common) register(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.allocation, "policy", "", "how budgets are split: "+oneOf(allocations)+" (default: the plan's, else eqf)")
	f.StringVar(&c.preset, "preset", "", "which severities rules have: "+oneOf(presets)+" (default: the plan's)")
	f.StringVar(&c.color, "color", "auto", "when to use colour: "+oneOf(colors))
	f.BoolVarP(&c.quiet, "quiet", "q", false, "leave out infos and the closing line")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "show ignored findings and every file that was not read")
	words(cmd, "policy", allocations)
	words(cmd, "preset", presets)
	words(cmd, "color", colors)
}

// words completes the values of a flag.
func words(cmd *cobra.Command, flag string, values []string) {
	// The only error is a flag that does not exist, which every test of completion would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func oneOf(words []string) string { return strings.Join(words, "|") }

// among checks a flag against the words it takes; empty is not given.
func among(flag, value string, words []string) error {
	if value == "" {
		return nil
	}
	for _, w := range words {
		if w == value {
			return nil
		}
	}
	return usage("", "--%s is `%s`, and takes %s", flag, value, oneOf(words))
}

// run checks the common flags and walks the pipeline.
func (c *common) run(args []string, opts pipeline.Options) (*pipeline.Result, error) {
	for _, err := range []error{
		among("policy", c.allocation, allocations), among("preset", c.preset, presets), among("color", c.color, colors),
	} {
		if err != nil {
			return nil, err
		}
	}
	if c.loader == nil {
		c.loader = &load.Loader{Stdin: c.streams.in}
	}
	opts.Args, opts.Loader, opts.Allocation, opts.Preset = args, c.loader, c.allocation, c.preset
	r, err := pipeline.Run(opts)
	if err == nil {
		err = c.spare()
	}
	return r, err
}

// must is run for commands that have nothing to show without a call or an entrypoint.
func (c *common) must(args []string, opts pipeline.Options) (*pipeline.Result, error) {
	r, err := c.run(args, opts)
	if err == nil {
		if err = nothing(r); err != nil {
			c.tell(r)
		}
	}
	return r, err
}

// colored decides on colour for a stream: always, never, or where it is a terminal and NO_COLOR is not set.
func (c *common) colored(w io.Writer) bool {
	switch c.color {
	case "always":
		return true
	case "never":
		return false
	}
	_, ok := isTerminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
