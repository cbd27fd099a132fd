package witness

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
)

// Describe prints a plan in a few lines, each value that is set by the key of the plan language, to read a failing case by.
func Describe(p *model.Plan) string {
	var b strings.Builder
	for i := range p.Entrypoints {
		e := &p.Entrypoints[i]
		fmt.Fprintf(&b, "entrypoint %s -> %s:%s\n", e.Name, p.Services[e.Call].Name, keys(
			val("slo", e.SLO), val("timeout", e.Timeout), val("overhead", e.Overhead), val("percentile", e.Percentile), val("attempts", e.Attempts)))
	}
	for i := range p.Services {
		v := &p.Services[i]
		fmt.Fprintf(&b, "service %s:%s calls %s\n", v.Name, keys(
			val("before", v.Before), val("after", v.After()), val("margin", v.Margin), val("server_timeout", v.ServerTimeout),
			val("queue_timeout", v.QueueTimeout()), val("default_deadline", v.DefaultDeadline()), val("min_remaining", v.MinRemaining()),
			val("honors", v.Honors)), flowText(p, v.Flow))
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		fmt.Fprintf(&b, "call %s:%s\n", c.ID, keys(
			val("optional", c.Optional), val("async", c.Async), val("stream", c.Stream()), val("repeat", c.Repeat()), val("fan_out", c.FanOut()),
			val("network", c.Network()), val("headroom", c.Headroom()), val("percentile", c.Percentile()), val("fixed", c.Fixed()), latencyText(c.Latency.Get())))
		for j := range c.Waiters {
			fmt.Fprintf(&b, "  @%s%s\n", c.Waiters[j].Name, waiterText(&c.Waiters[j]))
		}
	}
	return b.String()
}

func val[T any](key string, v model.Val[T]) string {
	if !v.Set() {
		return ""
	}
	return fmt.Sprintf("%s=%v", key, v.V)
}

func keys(ks ...string) string {
	var b strings.Builder
	for _, k := range ks {
		if k != "" {
			b.WriteString(" " + k)
		}
	}
	return b.String()
}

func flowText(p *model.Plan, f model.Flow) string {
	if f.Kind == model.One {
		return p.Calls[f.Call].ID
	}
	parts := make([]string, len(f.Of))
	for i, g := range f.Of {
		parts[i] = flowText(p, g)
	}
	return f.Kind.String() + "[" + strings.Join(parts, ", ") + "]"
}

func latencyText(l model.Latency) string {
	ks := []string{val("exact", l.Exact), val("min", l.Min), val("max", l.Max)}
	for _, pt := range l.Points {
		ks = append(ks, val(pt.P.Percentile(), pt.V))
	}
	for _, pt := range l.Histogram {
		ks = append(ks, val("le "+pt.P.String(), pt.V))
	}
	if text := keys(ks...); text != "" {
		return "latency{" + text + " }"
	}
	return ""
}

func waiterText(w *model.Waiter) string {
	return keys(
		val("timeout", w.Timeout), val("per_try", w.PerTry), val("read", w.Read()), val("connect", w.Connect), val("connect_extra", w.ConnectExtra()),
		val("pool", w.Pool()), val("attempts", w.Attempts), val("retry_on", w.RetryOn()), val("waits", w.Backoff.Get().Waits), val("base", w.Backoff.Get().Base),
		val("max", w.Backoff.Get().Max), val("multiplier", w.Backoff.Get().Multiplier), val("jitter", w.Backoff.Get().Jitter), val("window", w.RetryWindow()),
		val("min_remaining", w.MinRemaining()), val("retry_budget", w.RetryBudget()), val("hedge_after", w.Hedge().After),
		val("hedge_attempts", w.Hedge().Attempts), val("propagates", w.Propagates), val("honors", w.Honors()))
}
