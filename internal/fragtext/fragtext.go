// Package fragtext prints what an importer read, for tests: every value with its place or the default that supplied it.
package fragtext

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Show prints a fragment: a line a call with its waiter's values below it, each with the line and column where it
// is written, or the default that supplied it; then the flows, the services, and the findings.
func Show(f *model.Fragment, findings []diag.Finding) string {
	var b bytes.Buffer
	for i := range f.Calls {
		showCall(&b, f, &f.Calls[i])
	}
	if f.Without != "" {
		fmt.Fprintf(&b, "no call: %s\n", f.Without)
	}
	for i := range f.Services {
		s := &f.Services[i]
		if !s.Flow.Empty() && len(f.Calls) > 1 {
			fmt.Fprintf(&b, "flow %s: %s\n", s.Name, flowText(f, s.Flow))
		}
		line(&b, "service "+s.Name+" kind", s.Kind)
		line(&b, "service "+s.Name+" server_timeout", s.ServerTimeout)
		line(&b, "service "+s.Name+" queue_timeout", s.QueueTimeout())
		line(&b, "service "+s.Name+" idle_timeout", s.IdleTimeout())
		for k := range s.Front() {
			fmt.Fprintf(&b, "service %s behind %s\n", s.Name, s.Front()[k].Name)
			showWaiter(&b, &s.Front()[k])
		}
	}
	for _, fd := range findings {
		fmt.Fprintf(&b, "%s%s %d:%d %s\n", fd.Code.ID, less(&fd), fd.Place().Line, fd.Place().Col, fd.Message)
		for _, n := range fd.Notes {
			fmt.Fprintf(&b, "  note %d:%d %s\n", n.At.Line, n.At.Col, n.Text)
		}
		if fd.Help != "" {
			fmt.Fprintf(&b, "  help: %s\n", fd.Help)
		}
	}
	return b.String()
}

func showCall(b *bytes.Buffer, f *model.Fragment, c *model.Call) {
	fmt.Fprintf(b, "%s -> %s [%s] @%d:%d\n", f.Services[c.From].Name, f.Services[c.To].Name, c.Route, c.At.Line, c.At.Col)
	line(b, "  method", c.Method())
	line(b, "  async", c.Async)
	line(b, "  optional", c.Optional)
	line(b, "  repeat", c.Repeat())
	line(b, "  probability", c.Probability())
	showWaiter(b, &c.Waiters[0])
}

func showWaiter(b *bytes.Buffer, w *model.Waiter) {
	line(b, "  timeout", w.Timeout)
	line(b, "  per_try_timeout", w.PerTry)
	line(b, "  read_timeout", w.Read())
	line(b, "  connect_timeout", w.Connect)
	line(b, "  idle_timeout", w.Idle())
	line(b, "  attempts", w.Attempts)
	line(b, "  retry_on", w.RetryOn())
	line(b, "  waits", w.Backoff.Get().Waits)
	line(b, "  base", w.Backoff.Get().Base)
	line(b, "  max", w.Backoff.Get().Max)
	line(b, "  multiplier", w.Backoff.Get().Multiplier)
	line(b, "  jitter", w.Backoff.Get().Jitter)
	line(b, "  retry_after", w.RetryAfter())
	line(b, "  retry_budget", w.RetryBudget())
	line(b, "  hedge.after", w.Hedge().After)
	line(b, "  hedge.attempts", w.Hedge().Attempts)
	line(b, "  propagates", w.Propagates)
	line(b, "  header", w.Header())
	for _, d := range w.Dead() {
		fmt.Fprintf(b, "  dead %s %s @%d:%d: %s\n", d.Key, d.Value, d.At.Line, d.At.Col, d.Reason)
	}
}

func line[T any](b *bytes.Buffer, key string, v model.Val[T]) {
	if !v.Set() {
		return
	}
	fmt.Fprintf(b, "%s %v @%d:%d", key, v.V, v.From.Line, v.From.Col)
	if d := v.From.Default; d != nil {
		fmt.Fprintf(b, " (%s)", d)
	}
	b.WriteByte('\n')
}

func flowText(f *model.Fragment, flow model.Flow) string {
	if flow.Kind == model.One {
		c := &f.Calls[flow.Call]
		return fmt.Sprintf("%s#%d", f.Services[c.To].Name, flow.Call)
	}
	var of []string
	for _, g := range flow.Of {
		of = append(of, flowText(f, g))
	}
	return fmt.Sprintf("%s(%s)", flow.Kind, strings.Join(of, ", "))
}

// less tells of a finding that is less severe than its code.
func less(f *diag.Finding) string {
	if f.Severity == f.Code.Severity {
		return ""
	}
	return " " + f.Severity.String()
}
