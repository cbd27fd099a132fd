// Command budgetplan is static timing analysis for service call graphs: timeouts, retries and deadlines.
package main

import (
	"os"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/cli"
)

//go:generate go run . docs --dir ../../docs

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
