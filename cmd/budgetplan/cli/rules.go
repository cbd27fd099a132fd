package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/docs"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver/rules"
	"github.com/budgetplan/budgetplan/testdata"
)

func newRules() *cobra.Command {
	return &cobra.Command{
		Use:   "rules",
		Short: "List every finding with its code, name and severity",
		Long:  "rules lists every finding. `budgetplan explain CODE` has the page of one: what it means, why it hurts, how to end it.",
		Example: `  budgetplan rules
  budgetplan explain BP101`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := report.NewColumns(cmd.OutOrStdout())
			for _, c := range pipeline.Codes() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.ID, c.Name, c.Severity, c.Summary)
			}
			return w.Flush()
		},
	}
}

// page gives the page of a finding, by code or name, upper or lower case.
func page(what string) (text string, ok bool) {
	codes := pipeline.Codes()
	i := slices.IndexFunc(codes, func(c *diag.Code) bool {
		return strings.EqualFold(c.ID, what) || strings.EqualFold(c.Name, what)
	})
	if i < 0 {
		return "", false
	}
	return pageOf(codes[i]).Text(), true
}

// pageOf takes the page of a rule or a target from the archive beside it, that of an input finding from its script.
func pageOf(c *diag.Code) docs.Page {
	for _, archive := range [][]byte{rules.Archive(c.ID), config.Archive(c.ID)} {
		if archive != nil {
			return docs.Page{Code: c, Archive: archive}
		}
	}
	return docs.Page{Code: c, Archive: []byte(testdata.Page(c.ID))}
}
