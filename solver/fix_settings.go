package solver

import (
	"strconv"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Settings gives a change to a root as values of the plan, exactly; all of them together make it, those of both halves of a
// pair. The subject `defaults` stands for every service. Two calls in parallel have the key `parallel` with the other call,
// a call that is left out has the key `call` with nothing: these are no values, but have the same form.
func (g *Graph) Settings(r int32, x *RootFix) []diag.Fix {
	own := g.settings(r, x)
	if x.With != nil {
		own = append(own, g.settings(r, x.With)...)
	}
	return own
}

func (g *Graph) settings(r int32, x *RootFix) []diag.Fix {
	switch x.Kind {
	case FixMargin:
		n := &g.Nodes[x.Node]
		s := &g.plan.Services[n.Service]
		return []diag.Fix{{Subject: s.Name, Key: "margin", At: placeOf(s.Margin.From, s.At), From: n.Margin.String(), Bound: "most", To: x.Margin.String()}}
	case FixMargins:
		return []diag.Fix{{Subject: "defaults", Key: "margin", Bound: "most", To: x.Margin.String()}}
	case FixLatency:
		return g.latencySettings(x)
	case FixSLO:
		e := &g.plan.Entrypoints[g.Roots[r].Entrypoint]
		return []diag.Fix{{Subject: e.Name, Key: "slo", At: e.SLO.Span(), From: e.SLO.V.String(), Bound: "least", To: x.Time.String()}}
	}
	call, w := g.CallOf(x.Leg)
	one := diag.Fix{Subject: g.LegName(x.Leg), At: call.At}
	switch x.Kind {
	case FixRetry:
		one.Key, one.At, one.Bound = "retries", placeOf(w.Attempts.From, call.At), "most"
		less := int64(1)
		if w.RetriesKey == "attempts" {
			one.Key, less = "attempts", 0
		}
		one.From, one.To = strconv.FormatInt(g.Legs[x.Leg].Attempts-less, 10), strconv.FormatInt(x.Attempts-less, 10)
	case FixOptional:
		limit := one
		limit.Key, limit.At, limit.Bound, limit.To = "timeout", placeOf(w.Timeout.From, call.At), "most", x.Time.String()
		if w.Timeout.Set() {
			limit.From = w.Timeout.V.String()
		}
		if g.Legs[x.Leg].Optional {
			return []diag.Fix{limit}
		}
		one.Key, one.At, one.From, one.To = "optional", placeOf(call.Optional.From, call.At), "false", "true"
		return []diag.Fix{one, limit}
	case FixParallel:
		one.Key, one.To = "parallel", g.LegName(x.Other)
	case FixDrop:
		one.Key = "call"
	}
	return []diag.Fix{one}
}

// placeOf is where a value stands, else the thing that does not have it.
func placeOf(from *diag.Origin, at diag.Span) diag.Span {
	if from == nil || from.Nowhere() {
		return at
	}
	return from.Span()
}

// latencySettings changes the latency of the service where the calls take theirs from it, else that of each call.
func (g *Graph) latencySettings(x *RootFix) []diag.Fix {
	call, _ := g.CallOf(x.Leg)
	key := "latency"
	switch {
	case call.Latency.Exact.Set():
	case x.Latency.From.Same(call.Latency.Max.From):
		key = "latency.max"
	default:
		key = "latency." + x.Percentile.Percentile()
	}
	subjects := g.callsOf(x)
	if g.ofService(x) {
		subjects = []string{g.plan.Services[g.Nodes[x.Node].Service].Name}
	}
	var all []diag.Fix
	for _, subject := range subjects {
		all = append(all, diag.Fix{
			Subject: subject, Key: key, At: placeOf(x.Latency.From, call.At), From: x.Latency.V.String(), Bound: "most", To: x.Time.String(),
		})
	}
	return all
}

// LatencyOf names for people whose latency a FixLatency is: the service's where it has one, or where all calls to it
// change, else that of the calls.
func (g *Graph) LatencyOf(x *RootFix) []string {
	if g.ofService(x) || len(x.Calls) == len(g.In(x.Node)) {
		return []string{g.plan.Services[g.Nodes[x.Node].Service].Name}
	}
	return g.callsOf(x)
}

func (g *Graph) ofService(x *RootFix) bool {
	return g.plan.Services[g.Nodes[x.Node].Service].Latency.Has(x.Latency.From)
}

func (g *Graph) callsOf(x *RootFix) []string {
	calls := make([]string, len(x.Calls))
	for i, l := range x.Calls {
		call, _ := g.CallOf(l)
		calls[i] = call.ID
	}
	return calls
}
