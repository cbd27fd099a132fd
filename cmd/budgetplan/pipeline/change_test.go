package pipeline

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// infeasible are plans that do not fit, each with the latencies that changes set.
var infeasible = map[string]struct {
	plan string
	want map[string]string // by subject and key, the single target
}{
	"a chain": {`
entrypoints: {e: {slo: 350ms, call: A}}
defaults: {margin: 15%, headroom: 0%}
services:
  A: {local_work: 30ms, calls: [B]}
  B: {local_work: 30ms, calls: [C]}
  C: {local_work: 30ms, calls: [D]}
  D: {local_work: 30ms, calls: [{call: db, retries: 1}]}
  db: {latency: {p99: 120ms}}
`, map[string]string{"db latency.p99": "50.721625ms"}},
	"one database below two services": {`
entrypoints: {e: {slo: 90ms, call: a}}
defaults: {headroom: 0%, margin: 0%}
services:
  a: {calls: [{call: x, retries: 1}, {call: y, attempts: 2}]}
  x: {calls: [{call: db}]}
  y: {calls: [{call: db}]}
  db: {latency: {p99: 50ms}}
`, map[string]string{"db latency.p99": "22.5ms"}},
	// 200ms less 5% leave 91ms beside the own call: 1.1 × (1 + 2 ÷ .95) of the target.
	"a call with a latency of its own": {`
entrypoints: {e: {slo: 200ms, call: a, percentile: p99.9}}
services:
  a: {calls: [{call: db, timeout: 1s}, {call: b, timeout: 1s}, {call: db, name: own, latency: {p99.9: 90ms}}]}
  b: {calls: [{call: db, timeout: 1s, via: [{name: sdk, attempts: 2}]}]}
  db: {latency: {p50: 5ms, p99.9: 60ms}}
`, map[string]string{"db latency.p99.9": "26.640985ms", "a/db:own latency.p99.9": ""}},
	"a latency at each call": {`
entrypoints: {e: {slo: 100ms, call: a}}
defaults: {headroom: 0%, margin: 0%}
services:
  a: {calls: [{call: db, name: one, latency: {p99: 70ms}}, {call: db, name: two, latency: {p99: 60ms}}]}
`, map[string]string{"a/db:one latency.p99": "40ms", "a/db:two latency.p99": "30ms"}},
	"a maximum, and one duration": {`
entrypoints: {e: {slo: 100ms, call: a}}
services:
  a: {margin: 0%, calls: [{call: m, repeat: 2}, {call: d, timeout: 1s}]}
  m: {latency: {max: 45ms}}
  d: {latency: 40ms}
`, map[string]string{"m latency.max": "30ms", "d latency": "10ms"}},
}

// The values of every change, set as `what-if --set` does, give what the change claims.
func TestChangesCanBeSet(t *testing.T) {
	for name, c := range infeasible {
		t.Run(name, func(t *testing.T) {
			files := []txtar.File{{Name: "plan.yaml", Data: []byte(c.plan)}}
			in := solvedFiles(t, files, Options{Fixes: true})
			fixes, set := in.Solution.Roots[0].Fixes, 0
			got := map[string]string{}
			for i := range fixes {
				values := in.Graph.Settings(0, &fixes[i])
				if fixes[i].Kind == solver.FixLatency {
					got[values[0].Subject+" "+values[0].Key] = values[0].To
				}
				edit, ok := setting(t, values)
				if !ok {
					continue
				}
				set++
				after := solvedFiles(t, files, Options{Edit: edit}).Solution.Roots[0]
				if after.Need.V != fixes[i].Need || after.Feasible != fixes[i].Feasible {
					t.Errorf("%+v: claimed to need %s (%t), needs %s (%t)", values, fixes[i].Need, fixes[i].Feasible, after.Need.V, after.Feasible)
				}
			}
			for what, want := range c.want {
				if got[what] != want {
					t.Errorf("%s: got %q, want %q", what, got[what], want)
				}
			}
			if set < 5 {
				t.Errorf("only %d changes were made", set)
			}
		})
	}
}

// setting makes the values of a change in a plan; ok is false where one of them moves a call.
func setting(t *testing.T, values []diag.Fix) (edit func(*model.Plan) error, ok bool) {
	var texts, everywhere []string
	for _, v := range values {
		switch {
		case v.Key == "parallel" || v.Key == "call":
			return nil, false
		case v.Subject == "defaults":
			everywhere = append(everywhere, v.Key+"="+v.To)
		default:
			texts = append(texts, v.Subject+" "+v.Key+"="+v.To)
		}
	}
	return func(p *model.Plan) error {
		all := texts
		for i := range p.Services {
			for _, text := range everywhere {
				all = append(all, p.Services[i].Name+" "+text)
			}
		}
		for _, text := range all {
			settings, err := ParseSettings(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := Apply(p, settings); err != nil {
				return err
			}
		}
		return nil
	}, true
}
