package diagram_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const topologies = "../../../shared/corpus/topologies"

// otherwise are the files among the topologies that have no call graph, each with what it has instead.
var otherwise = map[string]string{
	"frontend.yaml": "one service", "recommendationservice.yaml": "one service", "experiment_results.json": "measurements",
	"results_S1.csv": "measurements", "service-config.json": "addresses and pools", "hotelReservation--config.json": "ports",
	"WorkModelParameters.json": "a generator's parameters",
}

// topologyPlans gives a plan for every published topology, by file. Without the corpus the test is skipped, except
// where CI promises that it is there.
func topologyPlans(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(topologies, "*"))
	if err != nil || len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the corpus must be beside the repository in CI: %v", err)
		}
		t.Skip("the corpus is not beside the repository")
	}
	plans := map[string]string{}
	for _, file := range files {
		name := filepath.Base(file)
		if slices.ContainsFunc(mapKeys(otherwise), func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := yaml.Unmarshal(data, &tree); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := topology{calls: map[string][]string{}}
		p.read(tree)
		if len(p.calls) == 0 {
			t.Errorf("%s: no service found", name)
		}
		plans[name] = p.plan()
	}
	if len(plans) < 15 {
		t.Errorf("%d topologies", len(plans))
	}
	return plans
}

func mapKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// topology is who calls whom: elements of `calls:`, in the plan language.
type topology struct {
	calls  map[string][]string
	called []string
}

// read takes the forms of isotope (scripts), muBench (external services), cloud-native-app-simulator (called services)
// and Compose (depends_on).
func (p *topology) read(tree any) {
	root, _ := tree.(map[string]any)
	services := root["services"]
	if services == nil {
		services = tree
	}
	switch list := services.(type) {
	case []any:
		for _, s := range list {
			service := s.(map[string]any)
			p.service(service["name"].(string), service)
		}
	case map[string]any:
		for _, name := range mapKeys(list) {
			if service, ok := list[name].(map[string]any); ok {
				p.service(name, service)
			}
		}
	}
}

func (p *topology) service(name string, s map[string]any) {
	p.calls[name] = nil
	add := func(element string) { p.calls[name] = append(p.calls[name], element) }
	for _, step := range items(s["script"]) {
		if group := items(step); len(group) > 0 {
			add(p.group("parallel", group))
		} else if call := p.call(step); call != "" {
			add(call)
		}
	}
	for _, g := range items(s["external_services"]) {
		add(p.group("parallel", items(g.(map[string]any)["services"])))
	}
	for _, e := range items(s["endpoints"]) {
		if n, ok := e.(map[string]any)["network_complexity"].(map[string]any); ok {
			for _, c := range items(n["called_services"]) {
				add(p.call(c.(map[string]any)["service"]))
			}
		}
	}
	var needs []any
	switch d := s["depends_on"].(type) {
	case map[string]any:
		for _, k := range mapKeys(d) {
			needs = append(needs, k)
		}
	case []any:
		needs = d
	}
	if len(needs) > 0 {
		add(p.group("unordered", needs))
	}
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

func (p *topology) group(kind string, elements []any) string {
	var calls []string
	for _, e := range elements {
		if call := p.call(e); call != "" {
			calls = append(calls, call)
		}
	}
	return fmt.Sprintf("{%s: [%s]}", kind, strings.Join(calls, ", "))
}

// call is a call with limits, so that every label has something to say.
func (p *topology) call(e any) string {
	if m, ok := e.(map[string]any); ok {
		e = m["call"]
		if m, ok := e.(map[string]any); ok {
			e = m["service"]
		}
	}
	name, ok := e.(string)
	if !ok {
		return ""
	}
	p.called = append(p.called, name)
	return fmt.Sprintf("{call: %q, timeout: %dms, per_try_timeout: 90ms, retries: %d}", name, 200+50*(len(p.called)%7), len(p.called)%3)
}

func (p *topology) plan() string {
	var b strings.Builder
	b.WriteString("version: 1\nentrypoints:\n")
	roots := 0
	for _, name := range mapKeys(p.calls) {
		if !slices.Contains(p.called, name) && len(p.calls[name]) > 0 {
			fmt.Fprintf(&b, "  %q: {slo: 2s, call: %q}\n", "to "+name, name)
			roots++
		}
	}
	if roots == 0 {
		name := mapKeys(p.calls)[0]
		fmt.Fprintf(&b, "  %q: {slo: 2s, call: %q}\n", "to "+name, name)
	}
	b.WriteString("services:\n")
	for _, name := range mapKeys(p.calls) {
		fmt.Fprintf(&b, "  %q: {local_work: 5ms, calls: [%s]}\n", name, strings.Join(p.calls[name], ", "))
	}
	return b.String()
}
