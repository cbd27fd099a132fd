// Package cli has the commands, one a file. It is the only user of cobra.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
)

// The exit statuses.
const (
	statusOK       = 0
	statusFindings = 1 // findings at or above --fail-on, or a refusal
	statusUsage    = 2 // bad usage, unreadable input, nothing to check
	statusFault    = 3 // a fault of ours
)

// exit is an error that knows its exit status. A nil err has been told already.
type exit struct {
	status int
	err    error
	help   string
}

func (e *exit) Error() string {
	if e.err == nil {
		return "findings"
	}
	return e.err.Error()
}

// usage is an error in what was asked for, with what to do about it.
func usage(help, format string, args ...any) error {
	return &exit{statusUsage, fmt.Errorf(format, args...), help}
}

// Main runs the command line and gives the exit status. It never panics.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "budgetplan: a fault of ours: %v\n", p)
			fmt.Fprintln(stderr, "hint: please report it with the command line and, if you may, the files; nothing was written")
			status = statusFault
		}
	}()
	root := newRoot(&streams{stdin, stdout, stderr})
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return exitStatus(stderr, root.Execute())
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitStatus tells an error to a person and gives its exit status.
func exitStatus(stderr io.Writer, err error) int {
	if err == nil {
		return statusOK
	}
	e := &exit{status: statusUsage, err: err}
	var input *load.Error
	switch {
	case errors.As(err, &e):
	case errors.As(err, &input):
		e.help = input.Help
	case strings.HasPrefix(err.Error(), "unknown command"), strings.HasPrefix(err.Error(), "unknown flag"),
		strings.HasPrefix(err.Error(), "unknown shorthand"):
		e.help = "`budgetplan help` lists the commands, `budgetplan help COMMAND` its flags"
	}
	if e.err != nil {
		fmt.Fprintf(stderr, "budgetplan: %s\n", e.err)
		if e.help != "" {
			fmt.Fprintf(stderr, "hint: %s\n", e.help)
		}
	}
	return e.status
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "budgetplan",
		Short: "Static timing analysis for service call graphs",
		Long: `budgetplan proves, call by call, whether every timeout, retry and deadline of a call graph fits,
and computes the numbers that would.

  budgetplan check              the plan here, its findings, and exit status 1 if any is an error
  budgetplan plan               the time each call has, needs, and should be given
  budgetplan explain gateway/order     the arithmetic behind one call, line by line
  budgetplan explain BP101             what a finding means and how to end it

Exit status: 0 fine, 1 findings at --fail-on, 2 bad usage or unreadable input, 3 a fault of ours.`,
		Args:          cobra.NoArgs,
		Version:       versionNumber(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newCheck(s), newPlan(s), newExplain(s), newImport(s), newGenerate(s), newGraph(s), newWhatIf(s),
		newInit(s), newSchema(), newRules(), newDocs(s), newVersion(),
	)
	return root
}

// isTerminal reports whether a stream is a terminal, and its width.
func isTerminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, false
	}
	return terminal(f)
}
