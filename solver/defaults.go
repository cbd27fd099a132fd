package solver

import (
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// What holds where nobody said. Defaults has the same for people.
const (
	DefaultMargin     model.Fraction = 50_000  // 5%
	DefaultHeadroom   model.Fraction = 100_000 // 10%
	DefaultPercentile model.Fraction = 990_000 // p99
	DefaultAttempts   int32          = 1
	DefaultHedges     int32          = 2 // copies, where hedging is asked for
)

// Defaults is the table of everything that budgetplan assumes where nobody wrote it, by the key of the plan
// language. All of them are decisions of this project, none a platform's; those are in model/dialect.
var Defaults = []diag.Default{
	{Platform: "budgetplan", Field: "retries", Value: "0", Source: "a client that does not say that it retries does not"},
	{Platform: "budgetplan", Field: "backoff", Value: "no wait", Source: "a retry that nobody delays starts at once"},
	{Platform: "budgetplan", Field: "backoff.multiplier", Value: "2", Source: "the factor of every client that names none"},
	{Platform: "budgetplan", Field: "backoff.jitter", Value: "none", Source: "the longest wait that a back-off can draw"},
	{Platform: "budgetplan", Field: "retry_on", Value: "every failure", Source: "the most load, and the longest wait"},
	{Platform: "budgetplan", Field: "hedge.attempts", Value: "2", Source: "a hedge that names no number sends one copy"},
	{Platform: "budgetplan", Field: "margin", Value: DefaultMargin.String(), Source: "the least that survives a noisy day"},
	{Platform: "budgetplan", Field: "headroom", Value: DefaultHeadroom.String(), Source: "a measured percentile moves by as much within a week"},
	{Platform: "budgetplan", Field: "percentile", Value: DefaultPercentile.Percentile(), Source: "the usual target of an SLO"},
	{Platform: "budgetplan", Field: "local_work", Value: "0ms", Source: "work that nobody stated is not guessed"},
	{Platform: "budgetplan", Field: "network", Value: "0ms", Source: "latency measured by the caller contains it"},
	{Platform: "budgetplan", Field: "propagates", Value: "nothing", Source: "nothing in a config proves otherwise"},
	{Platform: "budgetplan", Field: "honors", Value: "nothing", Source: "nothing in a config proves otherwise"},
}

// Assumed is the origin of a value that nobody wrote: the default of a key, at the place of the thing that it
// was assumed for.
func Assumed(key string, at diag.Span) *diag.Origin {
	for i := range Defaults {
		if Defaults[i].Field == key {
			return Defaults[i].For(at)
		}
	}
	return nil
}
