package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/render/docs"
)

func newDocs(s *streams) *cobra.Command {
	c := &common{streams: s}
	var out string
	cmd := &cobra.Command{
		Use:     "docs",
		Short:   "Print the reference of all findings as Markdown",
		Long:    "docs prints one Markdown document with the page of every finding, as `budgetplan explain` prints them one by one.",
		Example: "  budgetplan docs -o docs/rules.md",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var pages []docs.Page
			for _, code := range pipeline.Codes() {
				pages = append(pages, pageOf(code))
			}
			return c.place(out, func(w io.Writer, _ bool, _ int) error { return docs.Rules(w, pages) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	return cmd
}
