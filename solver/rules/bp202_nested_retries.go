package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
)

// NestedRetries is a path on which more than one layer retries.
var NestedRetries = &diag.Code{
	ID: "BP202", Name: "nested-retries", Severity: diag.Warning,
	Summary: "more than one layer of a path retries, so their attempts multiply",
}

var nestedRetries = &Rule{
	Code: NestedRetries, Run: runNestedRetries,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("%s retries by itself: %s below another layer that retries", d.Platform, retry(n))
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
		var way []layer // outermost first
		for k := int32(i); k >= 0; k = all[k].above {
			told[k] = true
			way = append(way, all[k])
		}
		slices.Reverse(way)
		p.Report(p.nested(way))
	}
}

// nested is the finding for one way, its layers outermost first.
func (p *Pass) nested(way []layer) diag.Finding {
	last := way[len(way)-1]
	to := p.Graph.Legs[last.leg].To
	var names, factors []string
	written := 0
	// The lowest layer that a person wrote is the place to point at.
	cause, root := p.layerOrigin(last.leg, last.root), way[0].root
	pointed := cause.Written()
	for i := len(way) - 1; i >= 0; i-- {
		o := p.layerOrigin(way[i].leg, root)
		if !o.Written() {
			continue
		}
		written++
		if !pointed {
			cause, pointed = o, true
		}
	}
	for _, x := range way {
		names = append(names, p.layerName(x.leg, root))
		factors = append(factors, countText(x.attempts))
	}
	f := NestedRetries.New(p.Graph.LegName(last.leg), diag.Span{}, "%s: %s attempts at `%s`",
		bothRetry(names), productText(factors, last.product), p.nodeName(to))
	f.Cause, f.Touched = cause, p.Sol.Nodes[to].Touched
	if written < 2 {
		f.Severity = diag.Info
	}
	for i, x := range way[:min(len(way), maxParts)] {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s makes %s", names[i], attemptsText(x.attempts)), At: p.layerOrigin(x.leg, root)})
	}
	f.Help = "retry at one layer only, best the one that sees the failure first: keep the retries of " + names[len(names)-1]
	if len(names) == 2 {
		f.Help += ", or those of " + names[0]
		f.Fixes = []diag.Fix{p.layerFix(way[0].leg, root, 1), p.layerFix(last.leg, root, 1)}
		f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	}
	return f
}

// bothRetry names the layers, the outermost and the lowest ones where there are many.
func bothRetry(names []string) string {
	if len(names) == 2 {
		return names[0] + " and " + names[1] + " both retry"
	}
	n := len(names)
	if n > maxParts {
		names = append(append(names[:2:2], fmt.Sprintf("%d more", n-3)), names[n-1])
	}
	return fmt.Sprintf("%s retry, %d layers", sentence(names, "and"), n)
}

// productText writes 3 × 4 × 4 = 48.
func productText(factors []string, total int64) string {
	if endless(total) {
		return "unlimited"
	}
	if n := len(factors); n > maxParts {
		factors = append(append(factors[:2:2], "…"), factors[n-1])
	}
	return strings.Join(factors, " × ") + " = " + thousands(total)
}
