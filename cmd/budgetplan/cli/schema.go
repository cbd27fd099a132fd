package cli

import (
	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/report"
)

func newSchema() *cobra.Command {
	schemas := map[string]func() []byte{
		"plan":    planfile.Schema,
		"report":  func() []byte { return report.Schema },
		"what-if": func() []byte { return report.WhatIfSchema },
		"card":    func() []byte { return config.CardSchema },
	}
	names := []string{"plan", "report", "what-if", "card"}
	return &cobra.Command{
		Use:   "schema [plan|report|what-if|card]",
		Short: "Print the JSON Schema of plans, or of the json formats",
		Long: `schema prints a JSON Schema (2020-12): of plan files, which an editor completes and checks with, or of what
` + "`check --format json` and `plan --format json`, or `what-if --format json`," + ` print.`,
		Example: `  budgetplan schema > budgetplan.schema.json
  # then, as the first line of a plan: # yaml-language-server: $schema=budgetplan.schema.json`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			which := names[0]
			if len(args) == 1 {
				which = args[0]
			}
			if schemas[which] == nil {
				return usage("", "`%s` has no schema, and schema takes %s", which, oneOf(names))
			}
			_, err := cmd.OutOrStdout().Write(schemas[which]())
			return err
		},
	}
}
