package planfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
)

// compile compiles the schema, or one of its definitions. The library checks it against its metaschema.
func compile(t testing.TB, fragment string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(SchemaID + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a node as an editor sees it.
func instance(n *yamlsrc.Node) any {
	switch n.Kind() {
	case yamlsrc.Map:
		m := make(map[string]any, len(n.Pairs()))
		for _, p := range n.Pairs() {
			m[p.Key.Text()] = instance(p.Value)
		}
		return m
	case yamlsrc.Seq:
		s := make([]any, len(n.Items()))
		for i, item := range n.Items() {
			s[i] = instance(item)
		}
		return s
	case yamlsrc.Scalar:
		switch {
		case isBool(n):
			return n.Text() == "true"
		case isNumber(n):
			return json.Number(n.Text())
		}
		return n.Text()
	}
	return nil
}

// place is where the keys of one table stand: a plan with %s for the keys, and the keys themselves.
type place struct {
	what, plan string
	keys       []string
	infos      map[string]formInfo
	// alone is false where something is wrong already, or soon: then not even the examples are taken.
	alone bool
}

func placeOf[T any](plan string, t *table[T], extra ...string) place {
	p := place{t.what, plan, append(t.names(), extra...), map[string]formInfo{}, true}
	for _, k := range t.keys {
		p.infos[k.name] = *k.form
	}
	return p
}

func crowded(p place) place {
	p.alone = false
	return p
}

func places() []place {
	const call = "services: {a: {calls: [{call: b, %s}]}}"
	in := func(outer, inner string) string { return strings.Replace(outer, "%s", inner, 1) }
	return []place{
		placeOf("{%s}", &planTable),
		placeOf("entrypoints: {e: {call: a, %s}}", &entrypointTable),
		placeOf("services: {a: {%s}}", &serviceTable),
		placeOf(call, &callTable, "sequence", "parallel"),
		placeOf("services: {a: {calls: [{%s}]}}", &table[int]{what: "a group"}, append(groupNames(), "call", "timeout")...),
		placeOf(in(call, "via: [{name: s, %s}]"), &viaTable),
		crowded(placeOf(in(call, "via: [{%s}]"), &viaTable)),
		placeOf("defaults: {%s}", &defaultsTable, "calls", "name", "via"),
		placeOf("policy: {%s}", &policyTable),
		placeOf("sources: [{envoy: x, %s}]", &sourceTable),
		crowded(placeOf("sources: [{%s}]", &sourceTable, "envoy", "Envoy")),
		placeOf(in(call, "backoff: {%s}"), &backoffTable),
		crowded(placeOf(in(call, "backoff: {waits: [1s], %s}"), &backoffTable)),
		placeOf(in(call, "hedge: {%s}"), &hedgeTable),
		placeOf(in(call, "latency: {%s}"), &latencyTable, "p50", "p99.9", "p0", "p100", "p99.99999", "q50"),
		placeOf(in(call, "latency: {histogram: {%s}}"), &table[int]{what: "a histogram"}, "500ms", "0s", "5", "-5s", "none"),
		placeOf("services: {a: {local_work: {%s}}}", &localWorkTable),
		placeOf("services: {a: {concurrency: {%s}}}", &concurrencyTable),
		placeOf("services: {a: {max_amplification: {%s}}}", &thresholdsTable),
		placeOf(in(call, "ignore: {BP101: {%s}}"), &ignoreTable),
		crowded(placeOf(in(call, "attempts: 1, %s"), &callTable)),
	}
}

// pool has values of every shape and form, good for some keys and bad for others.
var pool = strings.Split(`~
""
"a b"
" a"
"a\nb"
"0"
"3"
"5s"
"true"
"503"
"1"
0
1
2
-1
3
1.0
1.5
0.5
.5
1e3
1e9
1e10
010
+3
50
99
true
false
True
yes
off
none
nothing
unlimited
0s
0ms
0
00.0h
5
5s
1.5s
.5s
5.s
.s
1h30m
7d
1d12h
1.5d
1dd
12x
-5s
5 s
5S
5us
5µs
0%
5%
005%
100%
100.0%
100.0001%
150%
99.65%
99.99999%
%
-5%
p50
p99
p99.9
p099
p0
p0.0
p100
p
p99.
p99%
deadline
cancel
[deadline, cancel]
[deadline, deadline]
[nothing]
[deadline, bogus]
[]
timeout
connect
[timeout, 503]
[5xx, reset, refused, connect, timeout]
[timeout, ~]
503
99
600
5xx
6xx
unavailable
UNAVAILABLE
full
equal
20%
[5%, 50ms]
[50ms, 5%]
[5%]
[5%, 5%, 5%]
[100%, 50ms]
[0ms, 50ms]
[0ms, 5]
[[0ms]]
{}
{x-a: 1}
{bogus: 1}
{base: 1s}
{base: 1s, max: 5s, multiplier: 1.5, jitter: full}
{base: 1s, multiplier: 0.5}
{waits: [1s]}
{waits: []}
{base: 1s, waits: [1s]}
{warning: 8}
{warning: 0}
{warning: 8, error: 24}
{after: 50ms, attempts: 2, budget: 5%}
{before: 1s}
{before: 20ms, after: 10ms}
{workers: 1, queue: 0}
{workers: 0}
{p99: 1s}
{p50: 1ms, p99: 1s, max: 2s, min: 0ms, samples: 3, window: 7d}
{p200: 1s}
{p0: 1s}
{samples: 0}
{histogram: {500ms: 99.65%}}
{histogram: {500ms: 101%}}
{histogram: {500: 99%}}
[a]
[a, b]
[[a]]
[1]
[~]
{a: b}
{a: [b]}
{a: []}
{a: 1}
{a: ~}
{a: 1.24}
{a: "1.24"}
{a: v1.2.3-rc1}
{" a": b}
{BP101: why}
{BP101: ~}
{BP101: " "}
{BP101: 5}
{BP101: [why]}
{BP101: {}}
{BP101: {reason: why, until: 2027-03-01}}
{BP101: {until: 2027-3-1}}
{BP101: {reasn: why}}
{inverted-timeout: why}
{BP1: why}
{Bogus: why}
{BP207: off}
{BP207: "off"}
{BP207: fatal}
{slo: 1s}
{call: a}
{e: {call: a}}
{e: {slo: 1s}}
{e: ~}
{e: []}
[{call: a}]
[{call: ~}]
[{timeout: 1s}]
[{call: a, timeout: 1s}]
[{call: a, timeout: 5}]
[{parallel: [a]}]
[{parallel: []}]
[{parallel: ~}]
[{parallel: a}]
[{parallel: [a], x-note: 1}]
[{parallel: [a], name: b}]
[{parallel: [{sequence: [a, {one_of: [b, c]}]}]}]
[{call: a, parallel: []}]
[{parallel: [], sequence: []}]
[{name: s}]
[{name: s, honors: deadline, attempts: 3}]
[{name: s, call: a}]
[{attempts: 3}]
[{envoy: x}]
[{envoy: [x, y], service: gateway}]
[{envoy: []}]
[{envoy: {}}]
[{envoy: 1}]
[{service: x}]
[{Envoy: x}]
[{prometheus: x, metric: m, unit: s}]
[{prometheus: x, unit: hours}]
{preset: strict}
{preset: bogus}
{margin: 5%}
{margin: 100%}
{timeout: 1s, margin: 5%}
{min_remaining: p95}
{min_remaining: 20ms, idle_timeout: none}
{retries: 1, attempts: 2}
../policy.yaml
http
HTTP
gateway
x-request-deadline
"x y"
1.24
"1.24"
v1.24.3
2027-03-01
2027-13-01
500/s
0.5/m
500/d
-5/s
default
strict
eqf
optimal
ms
error`, "\n")

// TestSchemaAgrees writes values of the pool behind every key of every table: the reader and the schema must take,
// and refuse, the same. The first key of every form gets the whole pool, the others a sample.
func TestSchemaAgrees(t *testing.T) {
	schema := compile(t, "")
	tried := map[string]bool{}
	for _, p := range places() {
		for k, key := range slices.Concat(p.keys, []string{"bogus", "x-mine", "X-mine", "TIMEOUT"}) {
			form, step := p.infos[key].name, 17
			if !tried[form] {
				tried[form], step = form != "", 1
			}
			for i := k % step; i < len(pool); i += step {
				judge(t, schema, strings.Replace(p.plan, "%s", key+": "+pool[i], 1))
			}
			for _, example := range p.infos[key].examples {
				text := strings.Replace(p.plan, "%s", key+": "+flowText(example), 1)
				if verdict := judge(t, schema, text); verdict == refused && p.alone {
					t.Errorf("%s: the example %v of `%s` is refused", p.what, example, key)
				}
			}
		}
	}
}

type verdict uint8

const (
	undecided verdict = iota
	accepted
	refused
)

// judge reads a plan with both, and complains where only one of them takes it.
func judge(t *testing.T, schema *jsonschema.Schema, text string) verdict {
	t.Helper()
	src := &importers.Source{File: "plan.yaml", Bytes: []byte(text)}
	file, syntax := src.YAML()
	if len(syntax) > 0 {
		return undecided // not a question of the language
	}
	_, findings := read(src)
	err := schema.Validate(instance(file.Docs[0]))
	switch said := show(findings); {
	case err == nil && len(findings) > 0:
		// JSON Schema cannot count keys whose names it does not know.
		if !strings.Contains(said, "has two formats") {
			t.Errorf("only the reader refuses %s\n%s", text, said)
		}
	case err != nil && len(findings) == 0:
		t.Errorf("only the schema refuses %s\n%v", text, err)
	case err == nil:
		return accepted
	default:
		return refused
	}
	return undecided
}

// flowText writes an example of the schema as YAML on one line.
func flowText(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = flowText(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case object:
		var parts []string
		for k := range v {
			parts = append(parts, strconv.Quote(k)+": "+flowText(v[k]))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case nil:
		return "~"
	}
	return fmt.Sprint(v)
}

// TestSchemaShapes replaces every mapping and list of the design's plan by something else.
func TestSchemaShapes(t *testing.T) {
	schema := compile(t, "")
	for _, text := range []string{
		"{}", "[]", "5", "text", "{version: 1}", "{version: 2}", `{version: "1"}`, "{version: 1.0}", "version: ~",
		"entrypoints: []", "entrypoints: {a: 5}", "services: []", "services: {a: 5}", "services: {a: ~}", "services: {a: []}",
		"services: {x-a: 5}", "services: {a: {calls: {}}}", "services: {a: {calls: [[b]]}}", "services: {a: {calls: [5]}}",
		"services: {a: {calls: [{}]}}", "services: {a: {calls: [{x-a: 1}]}}", "defaults: []", "policy: []", "policy: 5", "sources: {}",
		"aliases: []", "platforms: []", "x-a: [1, {b: c}]", "services: {5: {}}", "services: {true: {}}",
	} {
		judge(t, schema, text)
	}
}

// TestSchemaDescribes demands of every key a description, and of every form examples.
func TestSchemaDescribes(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
			Examples   []any
			Ref        string `json:"$ref"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	objects := []string{"call", "group", "service", "entrypoint", "policyKeys", "policyFile"}
	for name, def := range schema.Defs {
		for key, p := range def.Properties {
			if !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s: `%s` is not described", name, key)
			}
		}
		if len(def.Examples) == 0 && !slices.Contains(objects, name) {
			t.Errorf("%s has no example", name)
		}
	}
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("the schema is not the same twice")
	}
}
