package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// changed checks a plan after a change that no plan file can say: what a measurement knows, what a platform supplies.
func changed(t *testing.T, text string, change func(*model.Plan)) []diag.Finding {
	t.Helper()
	plan, _ := read(t, "plan.yaml", []byte(text))
	change(plan)
	g, _ := solver.Compile(plan)
	return rules.Check(plan, g, solver.Solve(g, solver.Options{Allowed: true, Fixes: true}), nil, rules.Options{})
}

// of gives the findings of a code.
func of(found []diag.Finding, code *diag.Code) []diag.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f diag.Finding) bool { return f.Code != code })
}

// TestThinData: what a measurement says of itself decides whether its percentile can be used.
func TestThinData(t *testing.T) {
	const text = `version: 1
services:
  app:
    calls: [{call: search, timeout: 2s, latency: {p50: 20ms, p99: 400ms}}]
`
	at := diag.Span{File: "metrics.prom", Line: 3, Col: 1}
	for _, c := range []struct {
		name string
		set  func(*model.Latency)
		want string
		s    diag.Severity
		note string
	}{
		{"nothing known", func(*model.Latency) {}, "", diag.Off, ""},
		{"open bucket", func(l *model.Latency) { l.Points[1].AtLeast = true }, "p99 of `app/search` is in the last bucket", diag.Warning, ""},
		{"another percentile's open bucket", func(l *model.Latency) {
			l.Points = append(l.Points, model.Point{P: 999_000, V: model.At(model.Second, at), AtLeast: true})
		}, "", diag.Off, ""},
		{
			"timeouts", func(l *model.Latency) { l.Samples, l.Timeouts = model.At[int64](9700, at), model.At[int64](300, at) },
			"3% of the attempts of `app/search` timed out", diag.Warning, "",
		},
		{"few timeouts", func(l *model.Latency) { l.Samples, l.Timeouts = model.At[int64](9970, at), model.At[int64](30, at) }, "", diag.Off, ""},
		{
			"timeouts among nobody knows how many", func(l *model.Latency) { l.Timeouts = model.At[int64](3, at) },
			"the attempts of `app/search` that timed out are not in its latency", diag.Warning, "",
		},
		{"several series", func(l *model.Latency) { l.Caveats = model.At(model.LargestOf, at) }, "the largest of several series", diag.Info, ""},
		{"a caveat alone", func(l *model.Latency) { l.Caveats = model.At(model.WithRetries|model.SinceStart, at) }, "", diag.Off, ""},
		{"a caveat beside few samples", func(l *model.Latency) {
			l.Samples, l.Caveats = model.At[int64](10, at), model.At(model.WithRetries, at)
		}, "10 samples, fewer than 1,000", diag.Warning, "retries are in it"},
		{"an exact latency", func(l *model.Latency) {
			*l = model.Latency{Exact: model.At(model.Second, at), Samples: model.At[int64](1, at)}
		}, "", diag.Off, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := of(changed(t, text, func(p *model.Plan) { c.set(p.Calls[0].Latency) }), rules.ThinLatencyData)
			switch {
			case c.want == "" && len(found) == 0:
			case c.want == "" || len(found) != 1:
				t.Errorf("%v", messages(found))
			case !strings.Contains(found[0].Message, c.want) || found[0].Severity != c.s:
				t.Errorf("%s: %s", found[0].Severity, found[0].Message)
			case c.note != "" && !slices.ContainsFunc(found[0].Notes, func(n diag.Note) bool { return strings.Contains(n.Text, c.note) }):
				t.Errorf("%+v", found[0].Notes)
			}
		})
	}
}

// TestPlatformDefaults: what nobody wrote is never an error, and told at the default's name.
func TestPlatformDefaults(t *testing.T) {
	const text = `version: 1
services:
  app:
    calls:
      - {call: prices, stream: true}
      - {call: orders, timeout: 10s}
      - {call: cache, timeout: 3s}
`
	found := changed(t, text, func(p *model.Plan) {
		prices, orders, cache := &p.Calls[0].Waiters[0], &p.Calls[1].Waiters[0], &p.Calls[2].Waiters[0]
		prices.Timeout = dialect.EnvoyTimeout.At(p.Calls[0].At)
		orders.Edit().Idle = dialect.EnvoyClusterIdle.At(p.Calls[1].At)
		p.Services[orderOf(p, "orders")].Edit().IdleTimeout = dialect.EnvoyListenerIdle.At(p.Calls[1].At)
		cache.Connect = dialect.EnvoyConnect.At(p.Calls[2].At)
	})
	var got []string
	for _, f := range found {
		got = append(got, f.Severity.String()+" "+f.Code.ID+" "+f.Message)
	}
	want := []string{
		"warning BP112 `envoy` ends a call after 15s by itself, also one that streams: 1 stream",
		"info BP111 `envoy` keeps idle connections for 1h by itself, at least as long as their servers do: 1 call",
		"info BP110 `envoy` waits 5s for a connection by itself, more than 1 call has time for",
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func orderOf(p *model.Plan, name string) int {
	return slices.IndexFunc(p.Services, func(s model.Service) bool { return s.Name == name })
}

// TestFoldedLater: what another finding already says is a note there, or not said at all, and comes back without it.
func TestFoldedLater(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		code, parent *diag.Code
		note         bool
	}{
		{"orphaned work of an inverted call", `
services:
  edge: {calls: [{call: app, timeout: 1s, propagates: deadline}]}
  app:
    honors: deadline
    calls: [{call: store, timeout: 3s}]
  store: {kind: postgres, server_timeout: 4s}
`, rules.OrphanedWork, rules.InvertedTimeout, false},
		{"orphaned work of a dropped deadline", `
services:
  edge: {calls: [{call: app, timeout: 1s, propagates: deadline}]}
  app:
    honors: deadline
    calls: [{call: store, timeout: 3s}]
  store: {server_timeout: 2s}
`, rules.OrphanedWork, rules.DeadlineDropped, true},
		{"slow connects of attempts that do not fit", `
services:
  app: {calls: [{call: store, timeout: 3s, per_try_timeout: 2s, connect_timeout: 1s, retries: 2}]}
`, rules.SlowConnect, rules.AttemptsDoNotFit, true},
		{"silence where nothing bounds", `
services:
  app: {calls: [{call: store, read_timeout: 2s, attempts: 3}]}
`, rules.SilenceTimeoutOnly, rules.MissingTimeout, true},
		{"a shared service below a target that nothing fits", `
entrypoints:
  checkout: {slo: 600ms, call: shop}
  status: {slo: 120ms, call: health}
defaults: {margin: 10%}
services:
  shop: {local_work: 10ms, calls: [{call: svc, timeout: 550ms}]}
  health: {local_work: 10ms, calls: [{call: svc, timeout: 180ms}]}
  svc: {local_work: 10ms, calls: [{call: store, timeout: 160ms, latency: 150ms}]}
`, rules.SharedLimitConflict, rules.InfeasibleSLO, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := check(t, "plan.yaml", []byte("version: 1"+c.text), rules.Options{})
			parent := of(found, c.parent)
			if len(parent) != 1 || len(of(found, c.code)) != 0 {
				t.Fatalf("%v", messages(found))
			}
			told := slices.ContainsFunc(parent[0].Notes, func(n diag.Note) bool { return strings.Contains(n.Text, c.code.ID) })
			if told != c.note {
				t.Errorf("notes %+v", parent[0].Notes)
			}
			off := "version: 1\npolicy: {rules: {" + c.parent.ID + ": off}}" + c.text
			if found := check(t, "plan.yaml", []byte(off), rules.Options{}); len(of(found, c.code)) != 1 {
				t.Errorf("without %s: %v", c.parent.ID, messages(found))
			}
		})
	}
}

// TestSharedService has the numbers of one service below two entrypoints, worked out by hand: of 600 ms it gets
// (600 − 10) × 0.9 = 531, of 120 ms 99, and it needs 10 + 150 ÷ 0.9 = 176.667.
func TestSharedService(t *testing.T) {
	const text = `version: 1
policy: {rules: {BP106: off}}
entrypoints:
  checkout: {slo: 600ms, call: shop}
  status: {slo: 120ms, call: health}
defaults: {margin: 10%}
services:
  shop: {local_work: 10ms, calls: [{call: svc, timeout: 550ms}]}
  health: {local_work: 10ms, calls: [{call: svc, timeout: 180ms}]}
  svc: {local_work: 10ms, calls: [{call: store, timeout: 160ms, latency: 150ms}]}
`
	const want = "BP306 the limits of `svc` cannot fit all its callers: it needs 176.667ms, `health/svc` gives it 99ms, `shop/svc` 531ms"
	got := messages(of(check(t, "plan.yaml", []byte(text), rules.Options{}), rules.SharedLimitConflict))
	if !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
	enough := strings.Replace(text, "slo: 120ms", "slo: 600ms", 1)
	if got := of(check(t, "plan.yaml", []byte(enough), rules.Options{}), rules.SharedLimitConflict); len(got) > 0 {
		t.Errorf("%q", messages(got))
	}
}
