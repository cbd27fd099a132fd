package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/render/config"
)

func newImport(s *streams) *cobra.Command {
	c := &common{streams: s}
	var as, out string
	cmd := &cobra.Command{
		Use:   "import FILE|DIRECTORY|-...",
		Short: "Write what configs say as a plan",
		Long: `import reads configs and prints a plan in YAML, every value with a comment that says where it comes from. It is a
start for a plan of one's own: the routes of a proxy are alternatives, ` + "`one_of`" + `, until somebody says in which order calls
follow. Findings go to standard error.`,
		Example: `  budgetplan import deploy/envoy.yaml > budgetplan.yaml
  helm template . | budgetplan import --as envoy -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("`budgetplan import deploy/envoy.yaml`", "import needs a file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := among("as", as, all.Names()); err != nil {
				return err
			}
			r, err := c.must(args, pipeline.Options{As: as, Input: true})
			if err != nil {
				return err
			}
			c.tell(r)
			return c.place(out, func(w io.Writer, _ bool, _ int) error {
				for i, in := range r.Plans {
					if i > 0 {
						fmt.Fprintln(w, "---")
					}
					if err := config.WritePlan(w, in.Plan); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.register(cmd)
	cmd.Flags().StringVar(&as, "as", "", "what the files are, where their content does not say: "+oneOf(all.Names()))
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	words(cmd, "as", all.Names())
	return cmd
}
