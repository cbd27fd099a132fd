// Package all has the list of importers and finds the one that reads a given content.
package all

import (
	"slices"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/envoy"
	"github.com/budgetplan/budgetplan/importers/grpc"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/importers/postgres"
	"github.com/budgetplan/budgetplan/importers/prometheus"
	"github.com/budgetplan/budgetplan/model/diag"
)

// List has every importer. Content that several recognise goes to the first.
var List = []*importers.Importer{
	planfile.Importer,
	envoy.Importer,
	grpc.Importer,
	postgres.Importer,
	prometheus.Importer,
}

// Unrecognised is raised for a file that a person named and no importer reads. Files that a search came across are
// only counted.
var Unrecognised = &diag.Code{
	ID: "BP011", Name: "unrecognised-file", Severity: diag.Warning,
	Summary: "a file that was named is of no kind that budgetplan reads",
}

// Named gives the importer of a name, nil where there is none.
func Named(name string) *importers.Importer {
	i := slices.IndexFunc(List, func(im *importers.Importer) bool { return im.Name == name })
	if i < 0 {
		return nil
	}
	return List[i]
}

// Names gives the names of all importers, in the order of the list.
func Names() []string {
	names := make([]string, len(List))
	for i, im := range List {
		names[i] = im.Name
	}
	return names
}

// Resembles says what a content is that no importer reads, empty where nothing is known of it.
func Resembles(src *importers.Source) string {
	for _, im := range List {
		if im.Resembles == nil || src.Binary() {
			continue
		}
		if what := im.Resembles(src); what != "" {
			return what
		}
	}
	return ""
}

// Recognise gives the importer that reads a content, nil where none does.
func Recognise(src *importers.Source) *importers.Importer {
	binary := src.Binary()
	i := slices.IndexFunc(List, func(im *importers.Importer) bool { return (im.Binary || !binary) && im.Recognise(src) })
	if i < 0 {
		return nil
	}
	return List[i]
}
