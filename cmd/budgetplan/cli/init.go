package cli

import (
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

//go:embed starter.yaml
var starter []byte

func newInit(s *streams) *cobra.Command {
	c := &common{streams: s}
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a small plan to start from",
		Long: `init writes a small plan that fits, every line explained, to budgetplan.yaml or FILE. A file that exists is left alone.
Who has configs begins with ` + "`budgetplan import`" + ` instead.`,
		Example: `  budgetplan init
  budgetplan init checkout.budgetplan.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := "budgetplan.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			if _, err := os.Lstat(file); err == nil && file != "-" {
				return usage("name another file, or delete this one", "`%s` exists", file)
			}
			err := c.place(file, func(w io.Writer, _ bool, _ int) error {
				_, err := w.Write(starter)
				return err
			})
			if err == nil && file != "-" {
				fmt.Fprintf(s.err, "wrote `%s`; now: budgetplan check %s\n", file, file)
			}
			return err
		},
	}
}
