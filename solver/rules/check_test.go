package rules_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
	"github.com/budgetplan/budgetplan/solver/rules"
)

// example is a plan whose lines 22 and 31 are those of the finding that the design prints.
const example = `version: 1

# The order path, as it was on the day of the incident:
# one attempt of the gateway against four attempts
# below it.
entrypoints:
  checkout:
    slo: 40s
    percentile: p99
    call: gateway

# The margin is 5%, the default.
platforms: {}

services:
  gateway:
    local_work: 0ms
    calls:

      # One attempt.
      - call: order
        timeout: 10s

  order:
    local_work: 2s
    calls:
      - call: inventory
        retries: 3
        # 25 + 50 + 100 ms
        backoff: [25ms, 50ms, 100ms]
        per_try_timeout: 5s
`

// TestExample prints the finding of the design to the letter.
func TestExample(t *testing.T) {
	const want = "error[BP101]: `order` may go on for 12.175s after `gateway` gave up\n" +
		"  --> checkout.yaml:22\n" +
		"   |\n" +
		"22 |         timeout: 10s\n" +
		"note: `order` may be busy 22.175s: 2s local work + 20.175s `inventory` (4 attempts × 5s + 175ms back-off)  --> checkout.yaml:31\n" +
		"note: nothing carries the caller's deadline on this call: `propagates` is not set, and `order` does not say that it `honors` one\n" +
		"help: give `order/inventory` no retries, or a timeout of 7.6s or less (10s − 2s, less 5% margin); or propagate the deadline on `gateway/order` and let `order` honor it\n"
	text := []byte(example)
	got := printed(t, check(t, "checkout.yaml", text, rules.Options{}), "BP101", "checkout.yaml", text)
	got = columns.ReplaceAllString(carets.ReplaceAllString(got, ""), "$1")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Which columns are pointed at is the reader's decision.
var (
	columns = regexp.MustCompile(`(checkout\.yaml:\d+):\d+`)
	carets  = regexp.MustCompile(`(?m)^ +\| +\^+\n`)
)

// TestExampleFixes applies each change of the finding and looks that it ends it, and that one millisecond or one
// retry more does not.
func TestExampleFixes(t *testing.T) {
	fixes := []struct {
		from, to string
		ends     bool
	}{
		{"retries: 3", "retries: 0", true},
		{"retries: 3", "retries: 1", false},
		{"per_try_timeout: 5s", "per_try_timeout: 5s\n        timeout: 7.6s", true},
		{"per_try_timeout: 5s", "per_try_timeout: 5s\n        timeout: 8s", false},
		{"per_try_timeout: 5s", "per_try_timeout: 1.856s", true},
		{"timeout: 10s", "timeout: 23.237s", true},
		{"timeout: 10s", "timeout: 22.174s", false},
		{"    local_work: 2s", "    local_work: 2s\n    server_timeout: 9.5s", true},
		{"    local_work: 2s", "    local_work: 2s\n    server_timeout: 10s", false},
		{"timeout: 10s", "timeout: 10s\n        propagates: deadline", false},
	}
	for _, f := range fixes {
		text := strings.Replace(example, f.from, f.to, 1)
		got := subjects(check(t, "checkout.yaml", []byte(text), rules.Options{}), "BP101")
		if ended := len(got) == 0; ended != f.ends {
			t.Errorf("%s: BP101 on %v", f.to, got)
		}
	}
	var offered []string
	for _, f := range check(t, "checkout.yaml", []byte(example), rules.Options{}) {
		for _, x := range f.Fixes {
			if f.Code == rules.InvertedTimeout {
				offered = append(offered, fmt.Sprintf("%s %s %s→%s", x.Subject, x.Key, x.From, x.To))
			}
		}
	}
	want := []string{
		"order/inventory retries 3→0", "order/inventory timeout →7.6s", "order/inventory per_try_timeout 5s→1.856s",
		"order server_timeout →9.5s", "gateway/order timeout 10s→23.237s",
	}
	if d := cmp.Diff(want, offered); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// subjects gives the subjects of the findings of a code that are not ignored, grouped ones too.
func subjects(findings []diag.Finding, code string) []string {
	var all []string
	for _, f := range findings {
		if f.Code.ID != code || f.Ignored != nil {
			continue
		}
		if len(f.Subjects) > 0 {
			all = append(all, f.Subjects...)
		} else {
			all = append(all, f.Subject)
		}
	}
	slices.Sort(all)
	return all
}

const checkout = `version: 1
entrypoints:
  checkout: {slo: 5s, call: gateway}
services:
  gateway:
    calls:
      - {call: order, per_try_timeout: 10s, retries: 2}
  order:
    calls:
      - parallel:
          - {call: inventory, per_try_timeout: 5s, retries: 3}
          - {call: payment, per_try_timeout: 8s, retries: 2}
  inventory:
    calls:
      - {call: warehouse, per_try_timeout: 3s, retries: 3}
`

// TestCheckout holds the incident against what is known of it.
func TestCheckout(t *testing.T) {
	got := subjects(check(t, "plan.yaml", []byte(checkout), rules.Options{}), "BP101")
	if d := cmp.Diff([]string{"gateway/order", "order/inventory"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text := strings.Replace(checkout, "slo: 5s", "slo: 5s, timeout: 5s", 1)
	got = subjects(check(t, "plan.yaml", []byte(text), rules.Options{}), "BP101")
	if d := cmp.Diff([]string{"checkout", "gateway/order", "order/inventory"}, got); d != "" {
		t.Errorf("with a timeout at the edge (-want +got):\n%s", d)
	}
}

// TestIgnores: an ignore suppresses what it names, and says so itself when it is no use.
func TestIgnores(t *testing.T) {
	base := `version: 1
services:
  gateway:
    calls:
      - call: order
        timeout: 2s%s
        ignore: {%s}
  order: {server_timeout: 3s}
`
	for _, c := range []struct {
		name, line, ignore string
		live               []string
		bad                string
	}{
		{"reason", "", "BP101: known", nil, ""},
		{"by name", "", "inverted-timeout: known", nil, ""},
		{"until today", "", "BP101: {reason: known, until: 2026-06-01}", nil, ""},
		{"past its date", "", "BP101: {reason: known, until: 2026-05-31}", []string{"gateway/order"}, "the ignore of `BP101` on `gateway/order` ended on 2026-05-31"},
		{"another code", "", "BP102: known", []string{"gateway/order"}, "the ignore of `BP102` on `gateway/order` matches no finding"},
		{"line", "  # budgetplan:ignore BP101 known", "BP101: known", nil, ""},
		{"line of nothing", "  # budgetplan:ignore BP301 known", "BP101: known", nil, "the ignore of `BP301` on this line matches no finding"},
		{"line without reason", "  # budgetplan:ignore BP101", "BP101: known", nil, "the ignore of `BP101` on this line gives no reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := check(t, "plan.yaml", fmt.Appendf(nil, base, c.line, c.ignore), rules.Options{Now: now})
			if d := cmp.Diff(c.live, subjects(found, "BP101")); d != "" {
				t.Errorf("BP101 (-want +got):\n%s", d)
			}
			var bad []string
			for _, f := range found {
				if f.Code == rules.BadIgnore {
					bad = append(bad, f.Message)
				}
			}
			if got := strings.Join(bad, "; "); got != c.bad {
				t.Errorf("BP010 %q, want %q", got, c.bad)
			}
			kept := slices.ContainsFunc(found, func(f diag.Finding) bool { return f.Code == rules.InvertedTimeout })
			if !kept {
				t.Error("the ignored finding is gone")
			}
		})
	}
}

// TestPolicy: a policy by id and by name, and the strict preset.
func TestPolicy(t *testing.T) {
	base := `version: 1
policy: {%s}
services:
  gateway:
    calls: [{call: order, timeout: 2s}]
  order: {server_timeout: 3s, kind: postgres}
  other:
    calls: [{call: database, timeout: 1s}]
  database: {kind: postgres}
`
	for _, c := range []struct {
		policy    string
		opt       rules.Options
		bp101     diag.Severity
		bp116     diag.Severity
		complaint string
	}{
		{"", rules.Options{}, diag.Error, diag.Info, ""},
		{"preset: strict", rules.Options{}, diag.Error, diag.Warning, ""},
		{"", rules.Options{Preset: "strict"}, diag.Error, diag.Warning, ""},
		{"rules: {BP101: off, missing-server-limit: error}", rules.Options{}, diag.Off, diag.Error, ""},
		{"preset: strict, rules: {BP116: info}", rules.Options{}, diag.Error, diag.Info, ""},
		{"rules: {BP888: off}", rules.Options{}, diag.Error, diag.Info, "the policy sets `BP888`, which is no finding"},
		{"rules: {invented-timeout: off}", rules.Options{Codes: solver.Codes}, diag.Error, diag.Info, "the policy sets `invented-timeout`, which is no finding"},
		{"rules: {BP099: off}", rules.Options{Codes: solver.Codes}, diag.Error, diag.Info, "the policy sets `BP099`, which is no finding"},
		{"rules: {BP099: off}", rules.Options{}, diag.Error, diag.Info, ""},
		{"rules: {cycle: warning}", rules.Options{Codes: solver.Codes}, diag.Error, diag.Info, ""},
	} {
		t.Run(c.policy, func(t *testing.T) {
			got := map[string]diag.Severity{}
			var complaint string
			for _, f := range check(t, "plan.yaml", fmt.Appendf(nil, base, c.policy), c.opt) {
				got[f.Code.ID] = f.Severity
				if f.Code == rules.BadIgnore {
					complaint = f.Message
				}
			}
			if got["BP101"] != c.bp101 || got["BP116"] != c.bp116 || complaint != c.complaint {
				t.Errorf("BP101 %s, BP116 %s, %q", got["BP101"], got["BP116"], complaint)
			}
		})
	}
}

// mesh is a caller with n calls that nobody gave a timeout to, and of which the platform's default is `none`.
func mesh(n int) *model.Plan {
	p := &model.Plan{Services: []model.Service{{Name: "gateway", Declared: true}}}
	none := &diag.Default{Platform: "istio", Field: "route.timeout", Value: "none"}
	flow := model.Flow{Kind: model.Parallel}
	for i := range n {
		to := model.ServiceID(len(p.Services))
		p.Services = append(p.Services, model.Service{Name: fmt.Sprintf("s%04d", i)})
		at := diag.Span{File: "mesh.yaml", Line: int32(i + 1), Col: 1}
		p.Calls = append(p.Calls, model.Call{
			ID: "gateway/" + p.Services[to].Name, From: 0, To: to, At: at,
			Waiters: []model.Waiter{{Timeout: model.Val[model.Duration]{V: model.NoLimit, From: none.For(at)}}},
		})
		flow.Of = append(flow.Of, model.Flow{Kind: model.One, Call: model.CallID(i)})
	}
	p.Services[0].Flow = flow
	return p
}

// TestDefaultToldOnce: what a platform's default causes is one finding, at the default's name, and a warning.
func TestDefaultToldOnce(t *testing.T) {
	p := mesh(2168)
	g, _ := solver.Compile(p)
	found := rules.Check(p, g, solver.Solve(g, solver.Options{}), nil, rules.Options{})
	if len(found) != 1 {
		t.Fatalf("%d findings", len(found))
	}
	f := found[0]
	if f.Message != "`istio` sets no timeout by itself: 2,168 calls are unbounded" || f.Severity != diag.Warning ||
		f.Count != 2168 || len(f.Subjects) != 2168 {
		t.Errorf("%s: %s (%d, %d subjects)", f.Severity, f.Message, f.Count, len(f.Subjects))
	}
	if len(f.Notes) > 5 {
		t.Errorf("%d notes", len(f.Notes))
	}
}

// defaults is a mesh of 500 services that call each other, with nothing but a platform's defaults.
func defaults(timeout model.Duration, attempts int32) *model.Plan {
	p := &model.Plan{}
	for i := range 500 {
		p.Services = append(p.Services, model.Service{Name: fmt.Sprintf("s%03d", i), At: diag.Span{File: "mesh.yaml", Line: int32(10 * i), Col: 1}})
	}
	for i := range p.Services {
		f := model.Flow{Kind: model.OneOf}
		for _, to := range []int{2*i + 1, 2*i + 2, 3*i + 5} {
			if to >= len(p.Services) {
				continue
			}
			at := diag.Span{File: "mesh.yaml", Line: int32(10*i + len(f.Of) + 1), Col: 3}
			by := func(field, value string) *diag.Origin {
				return (&diag.Default{Platform: "mesh", Field: field, Value: value}).For(at)
			}
			f.Of = append(f.Of, model.Flow{Kind: model.One, Call: model.CallID(len(p.Calls))})
			p.Calls = append(p.Calls, model.Call{
				ID: p.Services[i].Name + "/" + p.Services[to].Name, From: model.ServiceID(i), To: model.ServiceID(to), At: at,
				Waiters: []model.Waiter{{
					Timeout:  model.Val[model.Duration]{V: timeout, From: by("timeout", timeout.String())},
					Attempts: model.Val[int32]{V: attempts, From: by("attempts", fmt.Sprint(attempts))},
				}},
			})
		}
		p.Services[i].Flow = f
	}
	return p
}

// TestFirstRun: a mesh with nothing but a platform's defaults hears of ten things at most, none of them an error.
func TestFirstRun(t *testing.T) {
	for _, c := range []struct {
		timeout  model.Duration
		attempts int32
	}{{model.NoLimit, 3}, {15 * model.Second, 1}, {15 * model.Second, 2}} {
		p := defaults(c.timeout, c.attempts)
		g, _ := solver.Compile(p)
		found := rules.Check(p, g, solver.Solve(g, solver.Options{Allowed: true, Fixes: true}), nil, rules.Options{})
		if len(found) > 10 || len(found) == 0 {
			t.Errorf("timeout %s, %d attempts: %d findings", c.timeout, c.attempts, len(found))
		}
		for i, f := range found {
			if i < 20 && (f.Severity == diag.Error || len(found) > 10) {
				t.Errorf("%s %s: %s (%d)", f.Severity, f.Code.ID, f.Message, f.Count)
			}
		}
	}
}

// TestFollows: what follows from a finding is a note on it, and comes back when the finding is switched off.
func TestFollows(t *testing.T) {
	const plan = `version: 1
%s
entrypoints:
  checkout: {slo: 1s, call: gateway}
services:
  gateway:
    calls: [{call: app, timeout: 2s}]
  app:
    calls: [{call: database, timeout: 5s}]
`
	found := check(t, "plan.yaml", fmt.Appendf(nil, plan, ""), rules.Options{})
	i := slices.IndexFunc(found, func(f diag.Finding) bool { return f.Code == rules.InvertedTimeout })
	if d := cmp.Diff([]string{"gateway"}, subjects(found, "BP103")); d != "" || i < 0 {
		t.Fatalf("BP103 beside BP101: %v (-want +got):\n%s", messages(found), d)
	}
	if !slices.ContainsFunc(found[i].Notes, func(n diag.Note) bool { return strings.Contains(n.Text, "BP103") }) {
		t.Errorf("no note about BP103: %+v", found[i].Notes)
	}
	found = check(t, "plan.yaml", fmt.Appendf(nil, plan, "policy: {rules: {BP101: off}}"), rules.Options{})
	if d := cmp.Diff([]string{"app", "gateway"}, subjects(found, "BP103")); d != "" {
		t.Errorf("without BP101 (-want +got):\n%s", d)
	}
}

// TestSameTwice: the same plan checked twice gives the same findings in the same order.
func TestSameTwice(t *testing.T) {
	one := fmt.Sprintf("%+v", messages(check(t, "plan.yaml", []byte(checkout), rules.Options{})))
	for range 5 {
		if two := fmt.Sprintf("%+v", messages(check(t, "plan.yaml", []byte(checkout), rules.Options{Now: time.Now()}))); one != two {
			t.Fatalf("%s\n%s", one, two)
		}
	}
}

func messages(found []diag.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.Code.ID+" "+f.Message)
	}
	return all
}

// BenchmarkMesh checks a gateway with a hundred thousand calls that take a platform's default.
func BenchmarkMesh(b *testing.B) {
	p := mesh(100_000)
	g, _ := solver.Compile(p)
	s := solver.Solve(g, solver.Options{})
	for b.Loop() {
		rules.Check(p, g, s, nil, rules.Options{})
	}
}
