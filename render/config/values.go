// Package config writes what is known of a plan in the words of a configuration: here, the plan language itself.
package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Value is one key with its value as the plan language writes it, and where that comes from. A key that is a mapping
// has Sub instead of Text.
type Value struct {
	Key, Text string
	From      *diag.Origin
	Sub       []Value
}

// list collects the values that are set.
type list []Value

func add[T any](l *list, key string, v model.Val[T], text func(T) string) {
	if v.Set() {
		*l = append(*l, Value{Key: key, Text: text(v.V), From: v.From})
	}
}

func (l *list) sub(key string, values list) {
	if len(values) > 0 {
		*l = append(*l, Value{Key: key, Sub: values})
	}
}

func plain[T fmt.Stringer](v T) string   { return v.String() }
func boolean(v bool) string              { return strconv.FormatBool(v) }
func number(v float64) string            { return strconv.FormatFloat(v, 'g', -1, 64) }
func whole[T int32 | int64](v T) string  { return strconv.FormatInt(int64(v), 10) }
func percentile(v model.Fraction) string { return v.Percentile() }
func ratio(v model.Fraction) string      { return number(v.Float()) }

func attempts(v int32) string {
	if v == model.Unlimited {
		return "unlimited"
	}
	return whole(v)
}

func durations(v []model.Duration) string {
	words := make([]string, len(v))
	for i, d := range v {
		words[i] = d.String()
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func thresholds(t model.Thresholds) string {
	var parts []string
	if t.Warning > 0 {
		parts = append(parts, "warning: "+whole(t.Warning))
	}
	if t.Error > 0 {
		parts = append(parts, "error: "+whole(t.Error))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func minRemaining(m model.MinRemaining) string {
	if m.Percentile > 0 {
		return m.Percentile.Percentile()
	}
	return m.D.String()
}

func failures(f model.Failures) string {
	return f.String()
}

func fixed(f model.Fixed) string {
	if f.All {
		return "true"
	}
	return "[" + strings.Join(f.Keys, ", ") + "]"
}

// Entrypoint gives the values of an entrypoint, but for its call.
func Entrypoint(e *model.Entrypoint) []Value {
	var l list
	add(&l, "slo", e.SLO, plain)
	add(&l, "percentile", e.Percentile, percentile)
	add(&l, "overhead", e.Overhead, plain)
	add(&l, "timeout", e.Timeout, plain)
	add(&l, "attempts", e.Attempts, attempts)
	add(&l, "rate", e.Rate, number)
	return l
}

// Service gives the values of a service, but for its calls and for what merge has copied to the calls of it.
func Service(s *model.Service) []Value {
	var l, work, concurrency list
	add(&l, "kind", s.Kind, quote)
	add(&work, "before", s.Before, plain)
	add(&work, "after", s.After(), plain)
	l.sub("local_work", work)
	add(&l, "margin", s.Margin, plain)
	add(&l, "server_timeout", s.ServerTimeout, plain)
	add(&l, "queue_timeout", s.QueueTimeout(), plain)
	add(&l, "idle_timeout", s.IdleTimeout(), plain)
	add(&l, "honors", s.Honors, plain)
	add(&l, "min_remaining", s.MinRemaining(), plain)
	add(&l, "default_deadline", s.DefaultDeadline(), plain)
	add(&l, "max_amplification", s.MaxAmplify(), thresholds)
	add(&l, "max_depth", s.MaxDepth(), whole)
	add(&concurrency, "workers", s.Workers(), whole)
	add(&concurrency, "queue", s.Queue(), whole)
	l.sub("concurrency", concurrency)
	add(&l, "owner", s.Owner(), quote)
	l.latency(s.Latency.Get())
	add(&l, "failure_rate", s.FailureRate(), number)
	add(&l, "idempotent", s.Idempotent(), boolean)
	return l
}

// Call gives the values of a call and of its first waiter.
func Call(c *model.Call) []Value {
	var l list
	add(&l, "optional", c.Optional, boolean)
	add(&l, "async", c.Async, boolean)
	add(&l, "stream", c.Stream(), boolean)
	if len(c.Waiters) > 0 {
		l = append(l, Waiter(&c.Waiters[0])...)
	}
	add(&l, "idempotent", c.Idempotent, boolean)
	add(&l, "repeat", c.Repeat(), whole)
	add(&l, "fan_out", c.FanOut(), whole)
	add(&l, "probability", c.Probability(), number)
	l.latency(c.Latency.Get())
	add(&l, "headroom", c.Headroom(), plain)
	add(&l, "percentile", c.Percentile(), percentile)
	add(&l, "network", c.Network(), plain)
	add(&l, "failure_rate", c.FailureRate(), number)
	add(&l, "fixed", c.Fixed(), fixed)
	add(&l, "client", c.Client(), quote)
	return l
}

// Waiter gives the values of one waiter.
func Waiter(w *model.Waiter) []Value {
	var l, hedge list
	add(&l, "timeout", w.Timeout, plain)
	add(&l, "per_try_timeout", w.PerTry, plain)
	add(&l, "read_timeout", w.Read(), plain)
	add(&l, "connect_timeout", w.Connect, plain)
	add(&l, "connect_extra", w.ConnectExtra(), boolean)
	add(&l, "pool_timeout", w.Pool(), plain)
	add(&l, "idle_timeout", w.Idle(), plain)
	add(&l, "attempts", w.Attempts, attempts)
	add(&l, "retry_on", w.RetryOn(), failures)
	l.backoff(w.Backoff.Get())
	add(&l, "retry_window", w.RetryWindow(), plain)
	add(&l, "retry_after", w.RetryAfter(), plain)
	add(&l, "min_remaining", w.MinRemaining(), minRemaining)
	add(&l, "retry_budget", w.RetryBudget(), plain)
	add(&hedge, "after", w.Hedge().After, plain)
	add(&hedge, "attempts", w.Hedge().Attempts, whole)
	add(&hedge, "budget", w.Hedge().Budget, plain)
	l.sub("hedge", hedge)
	add(&l, "propagates", w.Propagates, plain)
	add(&l, "header", w.Header(), quote)
	add(&l, "honors", w.Honors(), plain)
	return l
}

func (l *list) backoff(b model.Backoff) {
	var parts list
	add(&parts, "waits", b.Waits, durations)
	add(&parts, "base", b.Base, plain)
	add(&parts, "multiplier", b.Multiplier, ratio)
	add(&parts, "max", b.Max, plain)
	add(&parts, "jitter", b.Jitter, plain)
	l.sub("backoff", parts)
}

func (l *list) latency(t model.Latency) {
	if t.Exact.Set() {
		add(l, "latency", t.Exact, plain)
		return
	}
	var parts, buckets list
	add(&parts, "min", t.Min, plain)
	for _, p := range t.Points {
		add(&parts, p.P.Percentile(), p.V, plain)
	}
	add(&parts, "max", t.Max, plain)
	for _, p := range t.Histogram {
		share := p.P
		add(&buckets, p.V.V.String(), p.V, func(model.Duration) string { return share.String() })
	}
	parts.sub("histogram", buckets)
	add(&parts, "samples", t.Samples, whole)
	add(&parts, "window", t.Window, plain)
	l.sub("latency", parts)
}

// quote writes a text so that YAML reads the same text.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_./-", r)
	}) || s == "" || s[0] == '-' || s[0] >= '0' && s[0] <= '9' || s[0] == '.' || s[len(s)-1] == '.' {
		return strconv.Quote(s)
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	return s
}
