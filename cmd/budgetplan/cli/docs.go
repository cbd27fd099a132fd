package cli

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/docs"
	"github.com/budgetplan/budgetplan/render/report"
)

// document is a page that is made from the program itself.
type document struct {
	name, file string
	write      func(io.Writer) error
}

// documents are all of them, by name.
func documents() []document {
	return []document{
		{"commands", "commands.md", func(w io.Writer) error {
			program, commands := commandPages()
			return docs.Commands(w, program, commands)
		}},
		{"json", "json.md", func(w io.Writer) error {
			return errors.Join(docs.JSON(w, report.Schema), docs.WhatIfJSON(w, report.WhatIfSchema), docs.CardJSON(w, config.CardSchema))
		}},
		{"man", "budgetplan.1", func(w io.Writer) error {
			program, commands := commandPages()
			return docs.Man(w, program, commands)
		}},
		{"rules", "rules.md", writeRules},
		{"targets", "targets.md", func(w io.Writer) error { return docs.Targets(w, formatList(), dialect.All) }},
	}
}

func newDocs(s *streams) *cobra.Command {
	c := &common{streams: s}
	var out, folder string
	var names []string
	for _, d := range documents() {
		names = append(names, d.name)
	}
	cmd := &cobra.Command{
		Use:   "docs [commands|json|man|rules|targets]",
		Short: "Print the reference pages that are made from the program itself",
		Long: `docs prints one document in Markdown: the page of every finding (rules, unless another is named), the commands, the
keys of the json format, the formats and what each platform can say; man is the manual page. --dir writes all of them.`,
		Example: `  budgetplan docs > rules.md
  budgetplan docs man -o budgetplan.1`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			which := "rules"
			if len(args) == 1 {
				which = args[0]
			}
			if err := among("page", which, names); err != nil {
				return usage("", "`%s` is no document, and docs takes %s", which, oneOf(names))
			}
			for _, d := range documents() {
				file := out
				switch {
				case folder != "":
					file = filepath.Join(folder, d.file)
				case d.name != which:
					continue
				}
				if err := c.place(file, func(w io.Writer, _ bool, _ int) error { return d.write(w) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	cmd.Flags().StringVar(&folder, "dir", "", "write every document into `FOLDER`")
	return cmd
}

func writeRules(w io.Writer) error {
	var pages []docs.Page
	for _, code := range pipeline.Codes() {
		pages = append(pages, pageOf(code))
	}
	return docs.Rules(w, pages)
}

// commandPages are the help pages: of the program, then of each command.
func commandPages() (program docs.Command, commands []docs.Command) {
	root := newRoot(&streams{})
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			cmd.InitDefaultHelpFlag()
			commands = append(commands, docs.Command{
				Name: cmd.Name(), Usage: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example, Flags: cmd.LocalFlags().FlagUsages(),
			})
		}
	}
	return docs.Command{Name: root.Name(), Usage: root.UseLine(), Short: root.Short, Long: root.Long}, commands
}

// formatList has the formats of every command that takes `--format`.
func formatList() []docs.Format {
	formats := docs.Formats("check", render.Check, all.List)
	formats = append(formats, docs.Formats("plan", render.Plan, all.List)...)
	formats = append(formats, docs.Formats("graph", render.Graph, all.List)...)
	formats = append(formats, docs.Formats("graph --view waterfall", render.Waterfall, all.List)...)
	for _, t := range config.Targets {
		for _, name := range t.Formats {
			formats = append(formats, docs.Format{Command: "generate " + t.Name, Name: name, Title: t.Title})
		}
	}
	return formats
}
