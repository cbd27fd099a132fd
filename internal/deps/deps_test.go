package deps

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/olekukonko/tablewriter/renderer"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
	_ "gonum.org/v1/gonum/graph/topo"
	_ "gonum.org/v1/gonum/graph/multi"
	_ "gopkg.in/yaml.v3"
	_ "pgregory.net/rapid"
)
