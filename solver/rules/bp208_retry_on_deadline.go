package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// RetryOnDeadline is a retry of a timeout that comes again.
var RetryOnDeadline = &diag.Code{
	ID: "BP208", Name: "retry-on-deadline", Severity: diag.Warning,
	Summary: "a retry of a timeout that comes again: DEADLINE_EXCEEDED, 504, or the callee's own `server_timeout`",
}

var retryOnDeadline = &Rule{Code: RetryOnDeadline, Leg: retrying((*Pass).deadlineRetried)}

func (p *Pass) deadlineRetried(l solver.LegID) {
	leg, t, _, w := p.call(l)
	status, limit := deadlineStatus(w), p.Graph.Nodes[leg.To].Limit
	own := p.service(leg.To) != nil && ownTimeout(leg, t, limit, p.Sol.Nodes[leg.To].Flow)
	if status == "" && !own {
		return
	}
	id, callee := p.Graph.LegName(l), p.nodeName(leg.To)
	f := RetryOnDeadline.New(id, diag.Span{}, "")
	f.Cause, f.Touched = w.RetryOn().From, p.Sol.Nodes[leg.To].Touched
	without := w.Retried()
	if status != "" {
		f.Message = fmt.Sprintf("`%s` retries `%s`, which says that the time is gone: the next attempt has less of it", id, status)
	} else {
		f.Message = fmt.Sprintf("`%s` retries the error of `%s` at its own `server_timeout` of %s, which comes again", id, callee, limit)
		f.Notes = append(f.Notes, diag.Note{
			Text: fmt.Sprintf("`%s` stops at %s, before the %s that `%s` waits for it", callee, limit, patienceText(t.Patience), p.nodeName(leg.From)),
			At:   p.service(leg.To).ServerTimeout.From,
		})
		// Nobody chose to retry that error, and nothing says that work that long is usual.
		if needs := t.One; !w.RetryOn().Written() && (needs.Known == solver.Nothing || needs.V <= limit) {
			f.Severity = diag.Info
		}
		if !w.RetryOn().Set() {
			f.Cause = p.layerOrigin(l, -1)
		}
	}
	// Whatever of it comes again goes: left in, it would be the next finding.
	without.Statuses = slices.DeleteFunc(slices.Clone(without.Statuses), func(s string) bool { return saysDeadline(w, s) })
	if own {
		without.Kinds &^= model.OnError
	}
	f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("%s, retried: %s", makes(id, leg.Attempts), w.Retried()), At: w.Attempts.From})
	if len(without.Statuses) == 0 && without.Kinds == 0 {
		f.Help = fmt.Sprintf("give `%s` no retries", id)
		f.Fixes = []diag.Fix{p.retriesFix(l, 1)}
	} else {
		f.Help = fmt.Sprintf("leave it out of what `%s` retries: `retry_on: %s`", id, without)
		f.Fixes = []diag.Fix{p.setFix(l, "retry_on", w.RetryOn().From, given(w.RetryOn()), without.String())}
	}
	p.Report(f)
}

// ownTimeout reports whether a callee that takes too long stops by itself, before its caller gives up, with an
// answer that is retried.
func ownTimeout(leg *solver.Leg, t *solver.LegTimes, limit, flow model.Duration) bool {
	return leg.RetryOn&model.OnError != 0 && limit.Finite() && flow > limit && limit.Add(leg.Network) < t.Patience
}

// deadlineStatus gives the first status of an expired deadline that is retried, as it is spelt, "" without one.
func deadlineStatus(w *model.Waiter) string {
	statuses := w.Retried().Statuses
	if i := slices.IndexFunc(statuses, func(s string) bool { return saysDeadline(w, s) }); i >= 0 {
		return statuses[i]
	}
	return ""
}

// saysDeadline reports whether a status that is retried says that a deadline expired. A platform that makes a 504 of its
// own per-try timeout means that by it.
func saysDeadline(w *model.Waiter, status string) bool {
	switch strings.ToLower(strings.ReplaceAll(status, "-", "_")) {
	case "deadline_exceeded":
		return true
	case "504":
		return w.Dialect == "" || !w.Retried().Timeout()
	}
	return false
}

// patienceText words how long a callee is waited for.
func patienceText(d model.Duration) string {
	switch d {
	case model.NoLimit:
		return "unlimited time"
	case model.Unknown:
		return "unknown time"
	}
	return d.String()
}
