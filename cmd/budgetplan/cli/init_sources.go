package cli

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
)

// fromConfigs writes a plan that reads configs where they live, and asks where requests come in.
func fromConfigs(in *render.Input, folder string) string {
	var b strings.Builder
	b.WriteString("version: 1\n\nsources:                        # read where they live, so that what is checked is what is deployed\n")
	for _, s := range sourcesOf(in.Plan.Read, folder) {
		fmt.Fprintf(&b, "  - %s: %s\n", s.as, yamlName(s.files))
	}
	b.WriteString("\n# Requests come in where nobody calls: name it, give it a target of your own, and take off the marks.\n# entrypoints:\n")
	named := 0
	for i := range in.Graph.Roots {
		if r := &in.Graph.Roots[i]; r.Entrypoint < 0 && named < shown {
			named++
			name := yamlName(in.Plan.Services[r.Node].Name)
			fmt.Fprintf(&b, "#   %s: {slo: 1s, call: %s}\n", name, name)
		}
	}
	if more := len(in.Graph.Roots) - named; more > 0 {
		fmt.Fprintf(&b, "#   and %s more that nobody calls\n", render.Counted(more, "service"))
	}
	b.WriteString("\n# What no config says: latency, the order of calls, the work of each service.\n# services:\n" +
		"#   SERVICE: {local_work: 30ms, latency: {p99: 140ms}}\n")
	return b.String()
}

// sourced is one element of `sources`.
type sourced struct{ as, files string }

// sourcesOf names what was read, relative to a folder: a folder's files of one ending as one pattern, where all of them
// are of one kind.
func sourcesOf(read []model.Read, folder string) []sourced {
	kinds := map[string]map[string]bool{} // by pattern
	files := map[string][]sourced{}
	for _, f := range read {
		name := relativeTo(folder, f.File)
		pattern := path.Join(path.Dir(name), "*"+path.Ext(name))
		if kinds[pattern] == nil {
			kinds[pattern] = map[string]bool{}
		}
		kinds[pattern][f.As] = true
		if f.As != "" {
			files[pattern] = append(files[pattern], sourced{f.As, name})
		}
	}
	var out []sourced
	for _, pattern := range slices.Sorted(maps.Keys(files)) {
		of := files[pattern]
		if len(of) > 1 && len(kinds[pattern]) == 1 && path.Ext(pattern) != "" && !strings.ContainsAny(path.Dir(pattern), "*?[") {
			of = []sourced{{of[0].as, pattern}}
		}
		out = append(out, of...)
	}
	return out
}

func relativeTo(folder, file string) string {
	base, err := filepath.Abs(folder)
	if err != nil {
		return filepath.ToSlash(file)
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return filepath.ToSlash(file)
	}
	if rel, err := filepath.Rel(base, whole); err == nil {
		whole = rel
	}
	return filepath.ToSlash(whole)
}
