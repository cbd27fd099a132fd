package pipeline

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// Codes gives every finding that any stage raises, once each, by id.
func Codes() []*diag.Code {
	codes := slices.Concat(yamlsrc.Codes, merge.Codes, solver.Codes, rules.Codes, config.Codes, []*diag.Code{all.Unrecognised})
	for _, im := range all.List {
		codes = append(codes, im.Codes...)
	}
	for _, r := range rules.All {
		codes = append(codes, r.Code)
	}
	slices.SortStableFunc(codes, func(a, b *diag.Code) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(codes, func(a, b *diag.Code) bool { return a.ID == b.ID })
}
