package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// writer draws plan files in which everything that rules look at happens often.
type writer struct {
	*rapid.T
	// measured are the services that have a latency; calls to them have none or one duration, which hides it.
	measured [7]bool
}

func (w writer) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(w.T, "chance") <= percent
}

func (w writer) ms(least, most int) string {
	return fmt.Sprintf("%dms", rapid.IntRange(least, most).Draw(w.T, "ms"))
}

func (w writer) of(words ...string) string { return rapid.SampledFrom(words).Draw(w.T, "of") }

// maybe adds a key in so many of a hundred cases.
func (w writer) maybe(keys *[]string, percent int, text func() string) {
	if w.chance(percent) {
		*keys = append(*keys, text())
	}
}

// key is a key with a duration, which is `none` now and then where that is allowed.
func (w writer) key(name string, least, most, none int) func() string {
	return func() string {
		if none > 0 && w.chance(none) {
			return name + ": none"
		}
		return name + ": " + w.ms(least, most)
	}
}

func (w writer) latency() string {
	switch rapid.IntRange(0, 4).Draw(w.T, "latency") {
	case 0:
		return "latency: " + w.ms(1, 200)
	case 1:
		return fmt.Sprintf("latency: {p99: %s}", w.ms(1, 200))
	case 2:
		return fmt.Sprintf("latency: {min: %s, p50: %s, p99: %s}", w.ms(1, 20), w.ms(21, 60), w.ms(61, 300))
	}
	return fmt.Sprintf("latency: {p50: %s, p99: %s, max: %s}", w.ms(1, 20), w.ms(21, 120), w.ms(121, 400))
}

// waiter draws the keys of one leg.
func (w writer) waiter() (keys []string) {
	w.maybe(&keys, 75, w.key("timeout", 5, 900, 6))
	w.maybe(&keys, 40, w.key("per_try_timeout", 5, 400, 3))
	w.maybe(&keys, 12, w.key("read_timeout", 5, 300, 3))
	w.maybe(&keys, 12, w.key("connect_timeout", 1, 80, 3))
	w.maybe(&keys, 8, w.key("pool_timeout", 1, 60, 0))
	w.maybe(&keys, 8, w.key("idle_timeout", 100, 900, 5))
	w.maybe(&keys, 6, w.key("retry_window", 10, 500, 0))
	w.maybe(&keys, 6, w.key("retry_after", 10, 900, 0))
	w.maybe(&keys, 8, w.key("min_remaining", 1, 80, 0))
	w.maybe(&keys, 10, func() string { return "connect_extra: true" })
	w.maybe(&keys, 50, func() string {
		n := rapid.IntRange(0, 4).Draw(w.T, "retries")
		switch {
		case w.chance(4):
			return "attempts: unlimited"
		case w.chance(30):
			return fmt.Sprintf("attempts: %d", n+1)
		}
		return fmt.Sprintf("retries: %d", n)
	})
	w.maybe(&keys, 35, func() string {
		return "backoff: " + w.of("{base: 10ms, max: 40ms, jitter: full}", "{base: 30ms}", "[0ms, 20ms, 90ms]", "{base: 5ms, jitter: 20%}")
	})
	w.maybe(&keys, 15, func() string {
		return "retry_on: " + w.of("connect", "[connect, refused]", "[reset, connect, timeout]", "error", "[timeout]", "[error, 504]", "[reset, error]")
	})
	w.maybe(&keys, 6, func() string { return "retry_budget: " + w.of("10%", "20%", "100%") })
	w.maybe(&keys, 5, func() string {
		return "hedge: " + w.of("{after: 10ms}", "{after: 50ms, attempts: 3}", "{after: 90ms, budget: 5%}")
	})
	w.maybe(&keys, 30, func() string { return "propagates: " + w.of("deadline", "cancel", "[deadline, cancel]", "nothing") })
	return keys
}

func (w writer) call(to int) string {
	keys := append([]string{fmt.Sprintf("call: s%d", to)}, w.waiter()...)
	if w.measured[to] {
		w.maybe(&keys, 15, w.key("latency", 1, 200, 0))
	} else {
		w.maybe(&keys, 45, w.latency)
	}
	w.maybe(&keys, 20, func() string { return "optional: true" })
	w.maybe(&keys, 6, func() string { return "async: true" })
	w.maybe(&keys, 6, func() string { return "stream: true" })
	w.maybe(&keys, 10, func() string { return "repeat: " + w.of("2", "3") })
	w.maybe(&keys, 6, func() string { return "fan_out: " + w.of("2", "12", "40") })
	w.maybe(&keys, 8, w.key("network", 1, 10, 0))
	w.maybe(&keys, 20, func() string { return "idempotent: " + w.of("true", "false") })
	w.maybe(&keys, 8, func() string { return "fixed: true" })
	w.maybe(&keys, 6, func() string { return "percentile: " + w.of("p50", "p99", "p99.9") })
	w.maybe(&keys, 15, func() string {
		return "via: [{" + strings.Join(append([]string{"name: side"}, w.waiter()...), ", ") + "}]"
	})
	return "{" + strings.Join(keys, ", ") + "}"
}

func (w writer) service(i, all int) string {
	var keys, calls []string
	w.maybe(&keys, 30, w.key("server_timeout", 20, 900, 10))
	w.maybe(&keys, 30, w.key("local_work", 1, 60, 0))
	w.maybe(&keys, 30, func() string { return "margin: " + w.of("0%", "10%", "5ms", "[10%, 20ms]") })
	w.maybe(&keys, 30, func() string { return "honors: " + w.of("deadline", "cancel", "[deadline, cancel]", "nothing") })
	if w.measured[i] {
		keys = append(keys, w.latency())
	}
	w.maybe(&keys, 8, w.key("queue_timeout", 1, 50, 0))
	w.maybe(&keys, 8, w.key("idle_timeout", 100, 900, 5))
	w.maybe(&keys, 5, w.key("default_deadline", 10, 500, 0))
	w.maybe(&keys, 15, func() string { return "kind: " + w.of("postgres", "grpc", "queue") })
	w.maybe(&keys, 8, func() string { return "concurrency: {workers: " + w.of("1", "4", "30") + ", queue: 500}" })
	w.maybe(&keys, 8, func() string { return "max_amplification: " + w.of("2", "{warning: 3, error: 6}") })
	to := i + 1
	for range rapid.IntRange(0, 3).Draw(w.T, "calls") {
		if to > all {
			break
		}
		calls = append(calls, w.call(to))
		if w.chance(20) && len(calls) > 1 {
			calls = append(calls[:len(calls)-2], "{"+w.of("parallel", "sequence", "one_of", "fallback")+": ["+strings.Join(calls[len(calls)-2:], ", ")+"]}")
		}
		to += rapid.IntRange(1, 2).Draw(w.T, "step")
	}
	if len(calls) > 0 {
		body := strings.Join(calls, ", ")
		if g := w.of("", "", "", "parallel", "fallback", "one_of", "unordered"); g != "" {
			body = "{" + g + ": [" + body + "]}"
		}
		keys = append(keys, "calls: ["+body+"]")
	}
	return fmt.Sprintf("  s%d: {%s}\n", i, strings.Join(keys, ", "))
}

func (w writer) plan() string {
	var b strings.Builder
	b.WriteString("version: 1\n")
	w.entrypoint(&b, "e", "s0")
	if w.chance(15) {
		w.entrypoint(&b, "f", w.of("s0", "s1"))
	}
	if w.chance(40) {
		fmt.Fprintf(&b, "defaults: {margin: %s, headroom: %s}\n", w.of("0%", "5%"), w.of("0%", "10%"))
	}
	if w.chance(15) {
		fmt.Fprintf(&b, "policy: {allocation: %s}\n", w.of("eqs", "equal"))
	}
	b.WriteString("services:\n")
	all := rapid.IntRange(1, 5).Draw(w.T, "services")
	for i := range w.measured {
		w.measured[i] = w.chance(20)
	}
	for i := range all + 1 {
		b.WriteString(w.service(i, all))
	}
	return b.String()
}

func (w writer) entrypoint(b *strings.Builder, name, first string) {
	keys := []string{"call: " + first}
	w.maybe(&keys, 80, w.key("slo", 20, 1500, 0))
	w.maybe(&keys, 60, w.key("timeout", 20, 3000, 0))
	w.maybe(&keys, 15, w.key("overhead", 1, 60, 0))
	w.maybe(&keys, 15, func() string { return "retries: " + w.of("1", "2") })
	w.maybe(&keys, 30, func() string { return "rate: " + w.of("1", "40", "400") })
	if name == "e" {
		b.WriteString("entrypoints:\n")
	}
	fmt.Fprintf(b, "  %s: {%s}\n", name, strings.Join(keys, ", "))
}

// TestEveryFixEndsItsFinding sets every change of every finding of random plans, as a user would by `what-if --set`, and
// looks that the finding is gone: the same code and detail on the same subject. No rule fails on any plan.
func TestEveryFixEndsItsFinding(t *testing.T) {
	applied := make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		text := writer{T: rt}.plan()
		plan, _ := read(t, "plan.yaml", []byte(text))
		for _, f := range rules.Raw(plan) {
			if f.Message == "" || f.Severity == diag.Off || strings.HasSuffix(f.Message, ".") || f.Touched < 0 {
				rt.Fatalf("%s%s on %s: %q", text, f.Code.ID, f.Subject, f.Message)
			}
			for _, x := range f.Fixes {
				applied[f.Code.ID+" "+x.Key]++
				again, _ := read(t, "plan.yaml", []byte(text))
				if err := changes(again, x); err != nil {
					rt.Fatalf("%s%s on %s: %+v: %v", text, f.Code.ID, f.Subject, x, err)
				}
				for _, left := range rules.Raw(again) {
					if left.Code == f.Code && left.Subject == f.Subject && left.Detail == f.Detail {
						rt.Fatalf("%s%s: %s\n%s\nset %s of %s from %q to %s: %s", text, f.Code.ID, f.Message, f.Help, x.Key, x.Subject, x.From, x.To, left.Message)
					}
				}
			}
		}
	})
	t.Log(applied)
}

// TestAdvice holds single advices against plans in which an obvious one would end nothing.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ name, plan, code, help string }{
		{"no number of retries is few enough", `
entrypoints: {e: {slo: 1s, call: a}}
defaults: {margin: 0%}
services:
  a: {calls: [{call: s, optional: true, timeout: 20ms}]}
  s: {calls: [{call: b, timeout: 80ms, retries: 3}]}
  b: {local_work: 26ms, calls: [{call: d, timeout: 5ms}]}
`, "BP113", "with no retries on `s/b` it would receive 20ms"},
		{"a share that shrinks with the limit of an optional call", `
entrypoints: {e: {slo: 400ms, call: a}}
defaults: {margin: 0%, headroom: 0%}
services:
  a: {calls: [{call: b, timeout: 1s, retries: 1}, {call: c, timeout: 200ms, latency: {p99: 200ms}}]}
  b: {calls: [{call: d, optional: true, timeout: 95ms, pool_timeout: 50ms}]}
`, "BP103", "what `b` receives shrinks with what it needs"},
		{"a deadline above the timeout", `
entrypoints: {e: {slo: 1s, call: a}}
defaults: {margin: 0%}
services:
  a: {calls: [{call: b, timeout: 200ms, propagates: deadline}]}
  b: {honors: deadline, calls: [{call: c, timeout: 158ms, retries: 3}]}
  c: {server_timeout: 150ms, calls: [{call: d, timeout: 149ms}]}
`, "BP204", "give `b/c` a per-try timeout of 39ms or less (158ms ÷ 4), or at most 1 retry"},
		{"a further waiter", `
entrypoints: {e: {slo: 1s, call: a}}
services:
  a: {calls: [{call: b, timeout: 200ms, via: [{name: side, retries: 1, per_try_timeout: 40ms, timeout: 90ms}]}]}
`, "BP203", "say `idempotent: true` on `a/b` if a repeat changes nothing; else give `a/b@side` no retries"},
		{"a latency of the call", `
entrypoints: {e: {slo: 100ms, call: a}}
defaults: {margin: 0%, headroom: 0%}
services:
  a: {calls: [{call: db, latency: {p99: 70ms}, timeout: 200ms}, {call: c, latency: {p99: 60ms}, timeout: 200ms}]}
`, "BP106", "a latency of 40ms or less for `a/db`"},
		{"two limits of a stream", `
services:
  a: {calls: [{call: b, stream: true, timeout: 2s, per_try_timeout: 1s}]}
`, "BP112", "give `a/b` `per_try_timeout: none` and `timeout: none`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, _ := read(t, "plan.yaml", []byte("version: 1"+c.plan))
			var said []string
			for _, f := range rules.Raw(plan) {
				if f.Code.ID == c.code {
					said = append(said, f.Help)
				}
			}
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, c.help) }) {
				t.Errorf("%q", said)
			}
		})
	}
}

// TestSumOfAttempts: the bound that BP104 gives is what is waited for, connect time in it.
func TestSumOfAttempts(t *testing.T) {
	const text = "version: 1\nservices:\n  g: {calls: [{call: a, connect_timeout: 5s, read_timeout: 15s, retries: 1}]}\n"
	want := []string{"BP104 only the sum of its attempts bounds `g/a`: 2 attempts × 20s = 40s"}
	if got := messages(of(check(t, "plan.yaml", []byte(text), rules.Options{}), rules.MissingTimeout)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// changes makes a change, and those that belong to it.
func changes(p *model.Plan, x diag.Fix) error {
	for _, c := range append([]diag.Fix{x}, x.With...) {
		if err := change(p, c); err != nil {
			return err
		}
	}
	return nil
}

// change makes a change in a plan: by what the plan file says where it says it, and by hand for what it says by its
// structure.
func change(p *model.Plan, x diag.Fix) error {
	switch x.Key {
	case "call":
		id := call(p, x.Subject)
		if id < 0 {
			return fmt.Errorf("no such call")
		}
		from := &p.Services[p.Calls[id].From]
		from.Flow = without(from.Flow, id)
		return nil
	case "parallel":
		a, b := call(p, x.Subject), call(p, x.To)
		if a < 0 || b < 0 {
			return fmt.Errorf("no such call")
		}
		from := &p.Services[p.Calls[a].From]
		from.Flow = flat(from.Flow)
		if !beside(&from.Flow, a, b) {
			return fmt.Errorf("no neighbours")
		}
		return nil
	}
	if x.Subject == "defaults" {
		for i := range p.Services {
			if err := pipeline.Apply(p, []pipeline.Setting{{Subject: p.Services[i].Name, Key: x.Key, Value: x.To}}); err != nil {
				return err
			}
		}
		return nil
	}
	return pipeline.Apply(p, []pipeline.Setting{{Subject: x.Subject, Key: x.Key, Value: x.To}})
}

func call(p *model.Plan, id string) model.CallID {
	return model.CallID(slices.IndexFunc(p.Calls, func(c model.Call) bool { return c.ID == id }))
}

// without is a flow less one call.
func without(f model.Flow, id model.CallID) model.Flow {
	var of []model.Flow
	for _, g := range f.Of {
		if g.Kind != model.One || g.Call != id {
			of = append(of, without(g, id))
		}
	}
	f.Of = of
	if f.Kind == model.One && f.Call == id {
		return model.Flow{}
	}
	return f
}

// flat writes out a group within one of its kind, and a group of one: such calls follow each other too.
func flat(f model.Flow) model.Flow {
	var of []model.Flow
	for _, g := range f.Of {
		if g = flat(g); g.Kind == f.Kind && g.Kind != model.One {
			of = append(of, g.Of...)
		} else {
			of = append(of, g)
		}
	}
	if f.Of = of; len(of) == 1 {
		return of[0]
	}
	return f
}

// beside puts two neighbours of a sequence into a parallel group.
func beside(f *model.Flow, a, b model.CallID) bool {
	for i := range f.Of {
		if i+1 < len(f.Of) && f.Kind == model.Sequence && is(f.Of[i], a) && is(f.Of[i+1], b) {
			pair := model.Flow{Kind: model.Parallel, Of: []model.Flow{f.Of[i], f.Of[i+1]}}
			f.Of = slices.Replace(slices.Clone(f.Of), i, i+2, pair)
			return true
		}
		if beside(&f.Of[i], a, b) {
			return true
		}
	}
	return false
}

func is(f model.Flow, id model.CallID) bool { return f.Kind == model.One && f.Call == id }
