package report

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// rootName names an entrypoint, or a service that nobody calls.
func rootName(in *render.Input, i int) string {
	root := &in.Graph.Roots[i]
	if root.Entrypoint >= 0 && int(root.Entrypoint) < len(in.Plan.Entrypoints) {
		return in.Plan.Entrypoints[root.Entrypoint].Name
	}
	return nodeName(in, root.Node)
}

// rootNameIf names the root that decided a number, empty where there is no such number.
func rootNameIf(in *render.Input, known bool, i int32) string {
	if !known || i < 0 || int(i) >= len(in.Graph.Roots) {
		return ""
	}
	return rootName(in, int(i))
}

// nodeName names a service, or the call of an inner waiter.
func nodeName(in *render.Input, n solver.NodeID) string {
	if n < 0 || int(n) >= len(in.Graph.Nodes) {
		return ""
	}
	node := &in.Graph.Nodes[n]
	if node.Waiter >= 0 && int(n) >= len(in.Plan.Services) {
		return in.Graph.LegName(node.Waiter)
	}
	return in.Plan.Services[node.Service].Name
}

// receivedBy names the call, or the entrypoint, that gives a service its time.
func receivedBy(in *render.Input, times *solver.NodeTimes) string {
	switch {
	case !times.Received.Finite():
		return ""
	case times.ReceivedBy >= 0 && int(times.ReceivedBy) < len(in.Graph.Legs):
		return in.Graph.LegName(times.ReceivedBy)
	}
	return rootNameIf(in, true, times.ReceivedRoot)
}

// unsetIsUnknown turns the solver's absent limit of a value that can only be absent into what a reader is told.
func unsetIsUnknown(d model.Duration) model.Duration {
	if d == model.NoLimit {
		return model.Unknown
	}
	return d
}

// rootTimeout is when the client gives up: unbounded where `none` was written, unknown where nobody said.
func rootTimeout(root *solver.Root) model.Duration {
	if root.TimeoutSet {
		return root.Timeout
	}
	return unsetIsUnknown(root.Timeout)
}

// legPlace is where a waiter's values stand: the call's place for the caller's own client.
func legPlace(call *model.Call, waiter *model.Waiter, leg *solver.Leg) diag.Span {
	if leg.Waiter > 0 && waiter.At.File != "" {
		return waiter.At
	}
	return call.At
}

// changeText says in words what a change to an infeasible entrypoint is, its time rounded so that it still fits.
func changeText(in *render.Input, fix *solver.RootFix) string {
	leg := func(id solver.LegID) string {
		if id < 0 || int(id) >= len(in.Graph.Legs) {
			return ""
		}
		return in.Graph.LegName(id)
	}
	if fix.With != nil {
		first := *fix
		first.With = nil
		return changeText(in, &first) + ", and " + changeText(in, fix.With)
	}
	switch fix.Kind {
	case solver.FixMargin:
		return fmt.Sprintf("give `%s` a margin of %s", nodeName(in, fix.Node), fix.Margin)
	case solver.FixMargins:
		return fmt.Sprintf("give every service a margin of %s", fix.Margin)
	case solver.FixRetry:
		return fmt.Sprintf("give `%s` %s", leg(fix.Leg), retriesText(fix.Attempts-1))
	case solver.FixOptional:
		if in.Graph.Legs[fix.Leg].Optional {
			return fmt.Sprintf("give `%s` a timeout of %s", leg(fix.Leg), brief(fix.Time, down))
		}
		return fmt.Sprintf("make `%s` optional, with a timeout of %s", leg(fix.Leg), brief(fix.Time, down))
	case solver.FixParallel:
		return fmt.Sprintf("run `%s` and `%s` in parallel", leg(fix.Leg), leg(fix.Other))
	case solver.FixDrop:
		return fmt.Sprintf("remove `%s`, or answer it from a cache", leg(fix.Leg))
	case solver.FixLatency:
		return fmt.Sprintf("bring the latency of %s down to %s", listed(in.Graph.LatencyOf(fix), 3), brief(fix.Time, down))
	}
	return fmt.Sprintf("raise the SLO to %s", brief(fix.Time, up))
}

func retriesText(n int64) string {
	switch {
	case n <= 0:
		return "no retries"
	case n == 1:
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}

// relative gives a file's path in its repository, with slashes.
func relative(in *render.Input, file string) string {
	if in.Relative == nil {
		return file
	}
	return in.Relative(file)
}

// absolute reports whether a path with slashes begins at a root or, on Windows, at a drive.
func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':' && path[2] == '/'
}

// shown reports whether a format for people shows a finding: ignored ones with -v, infos without --quiet.
func shown(in *render.Input, f *diag.Finding) bool {
	return (f.Ignored == nil || in.Verbose) && (f.Severity > diag.Info || !in.Quiet)
}
