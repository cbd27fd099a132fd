package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// NestedRetries is a path on which more than one layer retries.
var NestedRetries = &diag.Code{
	ID: "BP202", Name: "nested-retries", Severity: diag.Warning,
	Summary: "more than one layer of a path retries, so their attempts multiply",
}

var nestedRetries = &Rule{
	Code: NestedRetries, Run: runNestedRetries,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` retries by itself: %s below another layer that retries", d.Platform, retry(n))
	},
}

func retry(n int) string {
	if n == 1 {
		return "1 call retries"
	}
	return thousands(int64(n)) + " calls retry"
}

// A layer is told once: by the lowest layer of the way that multiplies most, or by itself where that way is another.
func runNestedRetries(p *Pass) {
	all, _ := p.layers()
	told := make([]bool, len(all))
	for i := len(all) - 1; i >= 0; i-- { // callees before callers
		if all[i].above < 0 || told[i] {
			continue
		}
		// Where a layer was told, so were those above it.
		for k := int32(i); k >= 0 && !told[k]; k = all[k].above {
			told[k] = true
		}
		p.Report(p.nested(all, int32(i)))
	}
}

// nested is the finding for the way that ends in a layer.
func (p *Pass) nested(all []layer, last int32) diag.Finding {
	low := &all[last]
	to := p.Graph.Legs[low.leg].To
	way := shown(all, last)
	var names, factors []string
	// The lowest layer that a person wrote is the place to point at.
	cause := p.layerOrigin(low.leg, low.root)
	for i := len(way) - 1; i >= 0 && !cause.Written(); i-- {
		if o := p.layerOrigin(way[i].leg, way[i].root); o.Written() {
			cause = o
		}
	}
	for _, x := range way {
		names = append(names, p.layerName(x.leg, x.root))
		factors = append(factors, countText(x.attempts))
	}
	f := NestedRetries.New(p.Graph.LegName(low.leg), diag.Span{}, "%s: %s attempts at `%s`",
		bothRetry(names, low.depth), productText(factors, low), p.nodeName(to))
	f.Cause, f.Touched = cause, p.Sol.Nodes[to].Touched
	if low.written < 2 {
		f.Severity = diag.Info
	}
	for i, x := range way {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s makes %s", names[i], attemptsText(x.attempts)), At: p.layerOrigin(x.leg, x.root)})
	}
	f.Help = "retry at one layer only, best the one that sees the failure first: keep the retries of " + names[len(names)-1]
	if low.depth == 2 {
		if p.onlyAbove(way[0], low.leg) {
			f.Help += ", or those of " + names[0]
			f.Fixes = []diag.Fix{p.layerFix(way[0].leg, way[0].root, 1)}
		}
		f.Fixes = append(f.Fixes, p.layerFix(low.leg, low.root, 1))
		f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	}
	return f
}

// nestedLooks bounds how many services above a layer are looked at for another one.
const nestedLooks = 1000

// onlyAbove reports whether a layer is the only one on any way to a leg: without it, nothing is nested there.
func (p *Pass) onlyAbove(only layer, l solver.LegID) bool {
	todo := []solver.NodeID{p.Graph.Legs[l].From}
	seen := map[solver.NodeID]bool{todo[0]: true}
	for i := 0; i < len(todo); i++ {
		for _, r := range p.rootsAt(todo[i]) {
			if p.Graph.Roots[r].Attempts > 1 && (only.leg != solver.ByRoot || only.root != r) {
				return false
			}
		}
		for _, in := range p.Graph.In(todo[i]) {
			leg := &p.Graph.Legs[in]
			if leg.Attempts > 1 && leg.RetryOn.Reaches() && in != only.leg {
				return false
			}
			if !seen[leg.From] {
				seen[leg.From] = true
				todo = append(todo, leg.From)
			}
		}
		if len(todo) > nestedLooks {
			return false
		}
	}
	return true
}

// shown lists the layers of a way, outermost first: all, or the outermost and the lowest where there are many.
func shown(all []layer, last int32) []layer {
	var way []layer
	for k := last; k >= 0; k = all[k].above {
		if len(way) == maxParts-1 && all[last].depth > maxParts {
			way = append(way, all[all[last].top])
			break
		}
		way = append(way, all[k])
	}
	slices.Reverse(way)
	return way
}

// bothRetry names the layers of a way of a given depth, of which some may be left out after the first.
func bothRetry(names []string, depth int) string {
	if depth == 2 {
		return names[0] + " and " + names[1] + " both retry"
	}
	if more := depth - len(names); more > 0 {
		names = slices.Insert(slices.Clone(names), 1, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s retry, %d layers", sentence(names, "and"), depth)
}

// productText writes 3 × 4 × 4 = 48.
func productText(factors []string, low *layer) string {
	switch {
	case endless(low.product):
		return countText(low.product)
	case low.depth > len(factors):
		return thousands(low.product)
	}
	return strings.Join(factors, " × ") + " = " + thousands(low.product)
}
