package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/envoy"
	"github.com/budgetplan/budgetplan/importers/grpc"
	"github.com/budgetplan/budgetplan/importers/postgres"
	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/solver"
)

// feasible visits random plans that fit.
func feasible(t *testing.T, n int, prepare func(*model.Plan), visit func(t *testing.T, in *render.Input)) {
	plans := witness.Plans()
	for seed, found := 0, 0; found < n; seed++ {
		if seed > 20*n {
			t.Fatalf("only %d of %d plans fit: the generator makes none that do", found, seed)
		}
		p := plans.Example(seed)
		if prepare != nil {
			prepare(p)
		}
		in := solve(t, p)
		fits := len(in.Graph.Roots) > 0
		for i := range in.Solution.Roots {
			fits = fits && (in.Solution.Roots[i].Feasible || !in.Solution.Roots[i].FeasibleKnown)
		}
		if !fits {
			continue
		}
		found++
		if t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { visit(t, in) }); t.Failed() {
			return
		}
	}
}

// read imports a generated file as for a service, without any finding.
func read(t *testing.T, im *importers.Importer, f config.File, service string) *model.Fragment {
	t.Helper()
	src := &importers.Source{File: f.Name, Bytes: f.Text}
	if service != "" {
		src.Service = model.At(service, diag.Span{File: "budgetplan.yaml", Line: 1})
	}
	if !im.Recognise(src) {
		t.Fatalf("%s is not recognised:\n%s", f.Name, f.Text)
	}
	fragment, found := im.Import(src)
	for _, x := range found {
		t.Errorf("%s: %s\n%s", x.Code.ID, x.Message, f.Text)
	}
	return fragment
}

// timeoutOf is what a call is to have, by the solution: recommended, else as configured.
func timeoutOf(in *render.Input, id model.CallID) (d model.Duration, l *solver.Leg, t *solver.LegTimes) {
	leg := in.Graph.FirstLeg[id]
	l, t = &in.Graph.Legs[leg], &in.Solution.Legs[leg]
	switch {
	case l.Stream:
		return model.NoLimit, l, t
	case t.Recommended.Timeout > 0:
		return t.Recommended.Timeout, l, t
	}
	return in.Plan.Calls[id].Waiters[0].Timeout.Or(model.Unknown), l, t
}

// What Envoy is told is what was recommended: the same calls, timeouts and attempts, and attempts that fit.
func TestEnvoyRoundTrip(t *testing.T) {
	calls := 0
	feasible(t, 500, nil, func(t *testing.T, in *render.Input) {
		got := map[string]*model.Call{}
		files, _ := config.Envoy.Generate(in, config.Options{})
		for _, f := range files {
			fragment := read(t, envoy.Importer, f, "")
			for i := range fragment.Calls {
				c := &fragment.Calls[i]
				if name := fragment.Services[c.From].Name; name != f.Service {
					t.Errorf("%s: the caller is %s", f.Name, name)
				}
				got[c.Route] = c
			}
		}
		for i := range in.Plan.Calls {
			want, l, times := timeoutOf(in, model.CallID(i))
			id := in.Plan.Calls[i].ID
			c := got[id]
			if want == model.Unknown {
				if c != nil {
					t.Errorf("%s has no timeout to give, and has a route", id)
				}
				continue
			}
			if c == nil {
				t.Errorf("%s has no route", id)
				continue
			}
			calls++
			envoyCall(t, id, &c.Waiters[0], want, l, times, &in.Plan.Calls[i].Waiters[0])
		}
	})
	if calls == 0 {
		t.Error("no call was compared")
	}
}

func envoyCall(t *testing.T, id string, w *model.Waiter, want model.Duration, l *solver.Leg, times *solver.LegTimes, plan *model.Waiter) {
	if w.Timeout.V != want && !(want.Finite() && want-want%model.Millisecond == w.Timeout.V) {
		t.Errorf("%s: timeout %s, want %s", id, w.Timeout.V, want)
	}
	if len(w.Dead()) > 0 {
		t.Errorf("%s: %s is without effect: %s", id, w.Dead()[0].Key, w.Dead()[0].Reason)
	}
	attempts := int64(w.Attempts.V)
	if attempts != times.Recommended.Attempts && !(attempts == 1 && silent(plan.Retried())) {
		t.Errorf("%s: %d attempts, want %d on %s", id, attempts, times.Recommended.Attempts, plan.Retried())
	}
	if attempts <= 1 {
		return
	}
	if w.PerTry.Set() && !w.RetryOn().V.Timeout() || l.RetryOn.Timeout() && !w.RetryOn().V.Timeout() {
		t.Errorf("%s: per-try %s, retried on %s, to be retried on %s", id, w.PerTry.V, w.RetryOn().V, plan.Retried())
	}
	if rec := times.Recommended; w.PerTry.Set() && rec.Timeout > 0 && w.PerTry.V > rec.PerTry {
		t.Errorf("%s: per-try %s, recommended is %s", id, w.PerTry.V, rec.PerTry)
	}
	fixed := l.Fixed.PerTry()
	if rec := times.Recommended; !fixed && !l.Stream && l.RetryOn.Timeout() && rec.Timeout > 0 && rec.PerTry >= 10*model.Millisecond && !w.PerTry.Set() {
		t.Errorf("%s: no per-try timeout, recommended is %s", id, rec.PerTry)
	}
	sum := model.Duration(0)
	for k := int64(1); k < attempts; k++ {
		_, hi := w.Backoff.Wait(k)
		_, most := plan.Backoff.Wait(k)
		if hi > max(most, dialect.EnvoyMinInterval) {
			t.Errorf("%s: Envoy may wait %s before retry %d, the plan %s", id, hi, k, most)
		}
		sum = sum.Add(hi)
	}
	if w.PerTry.Set() && !fixed && w.PerTry.V.Mul(attempts).Add(sum) >= w.Timeout.V {
		t.Errorf("%s: %d × %s + %s do not fit into %s", id, attempts, w.PerTry.V, sum, w.Timeout.V)
	}
}

// silent reports whether Envoy has no word that retries some of the failures and nothing beyond.
func silent(f model.Failures) bool {
	if f.Timeout() {
		return false
	}
	tokens, _, _ := dialect.Envoy.Tokens(f)
	return len(tokens) == 0
}

// What gRPC is told is what was recommended; of several calls to one callee the shortest timeout.
func TestGRPCRoundTrip(t *testing.T) {
	calls := 0
	feasible(t, 500, nil, func(t *testing.T, in *render.Input) {
		want := map[string]model.Duration{}
		attempts := map[string]int64{}
		for i := range in.Plan.Calls {
			d, l, times := timeoutOf(in, model.CallID(i))
			key := in.Plan.Services[in.Plan.Calls[i].From].Name + "/" + in.Plan.Services[in.Plan.Calls[i].To].Name
			if before, known := want[key]; d != model.Unknown && (!known || d < before) {
				want[key] = d
				if attempts[key] = min(times.Recommended.Attempts, dialect.GRPCMaxAttempts); !l.RetryOn.Fast() {
					attempts[key] = 1 // gRPC has no limit of one attempt to retry
				}
			}
		}
		files, _ := config.GRPC.Generate(in, config.Options{})
		for _, f := range files {
			fragment := read(t, grpc.Importer, f, f.Service)
			for i := range fragment.Calls {
				c, w := &fragment.Calls[i], &fragment.Calls[i].Waiters[0]
				key := f.Service + "/" + fragment.Services[c.To].Name
				if d, known := want[key]; !known || w.Timeout.V != d {
					t.Errorf("%s: timeout %s, want %s", key, w.Timeout.V, d)
				}
				if n := int64(w.Attempts.V); n != attempts[key] && !(n == 1 && strings.Contains(string(f.Text), "gRPC makes one attempt")) {
					t.Errorf("%s: %d attempts, want %d", key, n, attempts[key])
				}
				delete(want, key)
				calls++
			}
		}
		for key := range want {
			t.Errorf("%s has no method config", key)
		}
	})
	if calls == 0 {
		t.Error("no call was compared")
	}
}

// A statement ends before its caller gives up, and what a role is told is what its calls may take at most.
func TestPostgresRoundTrip(t *testing.T) {
	roles := 0
	database := func(p *model.Plan) {
		for i := range p.Services {
			if p.Services[i].Flow.Empty() {
				p.Services[i].Kind = model.At("postgres", diag.Span{File: "plan.yaml", Line: 1})
			}
		}
	}
	feasible(t, 500, database, func(t *testing.T, in *render.Input) {
		files, _ := config.Postgres.Generate(in, config.Options{})
		for _, f := range files {
			for _, service := range []string{"", f.Service} { // the file says whose limits it has
				if fragment := read(t, postgres.Importer, f, service); len(fragment.Services) != 1 || fragment.Services[0].Name != f.Service {
					t.Errorf("%s: it has %d services", f.Name, len(fragment.Services))
				}
			}
			mark := []byte("-- budgetplan:service " + f.Service)
			if !bytes.Contains(f.Text, mark) {
				t.Fatalf("%s does not say whose limits it has", f.Name)
			}
			f.Text = bytes.ReplaceAll(f.Text, mark, nil) // now each role is a service of its own
			fragment := read(t, postgres.Importer, f, "")
			for i := range fragment.Services {
				s := &fragment.Services[i]
				longest, bounded := patience(in, s.Name, f.Service)
				if roles++; bounded && s.ServerTimeout.V >= longest && s.ServerTimeout.V > model.Millisecond {
					t.Errorf("%s: role %s has %s, its calls wait %s", f.Name, s.Name, s.ServerTimeout.V, longest)
				}
			}
		}
	})
	if roles == 0 {
		t.Error("no role was compared")
	}
}

// patience is the longest that an attempt of a caller's calls to a callee is waited for.
func patience(in *render.Input, caller, callee string) (longest model.Duration, bounded bool) {
	for i := range in.Plan.Calls {
		c := &in.Plan.Calls[i]
		if in.Plan.Services[c.From].Name != caller || in.Plan.Services[c.To].Name != callee {
			continue
		}
		d, l, times := timeoutOf(in, model.CallID(i))
		if p := times.Recommended.PerTry; p > 0 && times.Recommended.Timeout > 0 && !l.Stream {
			d = min(d, p)
		}
		longest = max(longest, d)
	}
	return longest, longest.Finite()
}

// A card follows its schema in both forms, and both say the same.
func TestCardRoundTrip(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.CardSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("card.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("card.json")
	if err != nil {
		t.Fatal(err)
	}
	caps := 0
	feasible(t, 500, nil, func(t *testing.T, in *render.Input) {
		cards := map[string]any{}
		for _, format := range config.Card.Formats {
			files, _ := config.Card.Generate(in, config.Options{Format: format})
			if len(files) != 1 {
				t.Fatalf("%d cards", len(files))
			}
			file, found := yamlsrc.Parse(files[0].Name, files[0].Text)
			if len(found) > 0 || len(file.Docs) != 1 {
				t.Fatalf("%v in\n%s", found, files[0].Text)
			}
			text, err := json.Marshal(plain(file.Docs[0]))
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Fatalf("%v\n%s", err, files[0].Text)
			}
			delete(value.(map[string]any), "comment")
			cards[format] = value
			if format == "json" {
				caps += strings.Count(string(text), "cap_ms")
			}
		}
		if fmt.Sprint(cards["json"]) != fmt.Sprint(cards["yaml"]) {
			t.Errorf("the forms differ:\n%v\n%v", cards["json"], cards["yaml"])
		}
	})
	if caps == 0 {
		t.Error("no cap was seen")
	}
	if schema.Validate(map[string]any{"version": 2.0, "services": []any{}}) == nil {
		t.Error("another version is taken: the schema judges nothing")
	}
}

// plain makes values of nodes.
func plain(n *yamlsrc.Node) any {
	switch n.Kind() {
	case yamlsrc.Map:
		m := map[string]any{}
		for _, p := range n.Pairs() {
			m[p.Key.Text()] = plain(p.Value)
		}
		return m
	case yamlsrc.Seq:
		l := []any{}
		for _, item := range n.Items() {
			l = append(l, plain(item))
		}
		return l
	case yamlsrc.Null:
		return nil
	}
	if text := n.Text(); !n.Quoted() && (text == "true" || text == "false") {
		return text == "true"
	} else if !n.Quoted() {
		return json.Number(text)
	}
	return n.Text()
}
