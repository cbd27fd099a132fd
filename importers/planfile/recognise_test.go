package planfile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
)

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"plan", "entrypoints: {web: {call: a}}", true},
		{"services", "services: {a: {calls: [b]}, b: }", true},
		{"JSON", `{"version": 1, "services": {"a": null}}`, true},
		{"defaults with version", "version: 1\ndefaults: {margin: 5%}", true},
		{"sources", "sources: [{envoy: x.yaml}]", true},
		{"misspelt key", "version: 1\nservices: {a: {calls: [b]}}\nentrypionts: {}", true},
		{"nothing but a misspelt key", "servces: {a: {calls: [b]}}", true},
		{"a misspelt key and a version", "version: 1\nentrypiont: {web: {call: a}}", true},
		{"a misspelt key of nobody's", "servers: {a: {port: 80}}", false},
		{"a misspelt key beside others", "service: {a: {calls: [b]}}\njobs: {}", false},
		{"misspelt service keys", "services: {a: {cals: [b], kind: http}}", true},
		{"keys of a call at its service", "services: {a: {calls: [{call: b}], timeout: 1s, retries: 3}}", true},
		{"policy in a plan", "policy: {preset: strict}", true},
		{"policy alone", "preset: strict\nrules: {BP207: off}", true},
		{"two plans", "services: {a: }\n---\nservices: {b: }", true},
		{"version alone", "version: 1", true},
		{"empty", "", false},
		{"text", "hello", false},
		{"list", "[1]", false},
		{"Compose", "version: \"3\"\nservices: {web: {image: nginx, ports: [80]}}", false},
		{"Compose without version", "services: {web: {image: nginx, ports: [80]}}", false},
		{"Compose with volumes", "services: {web: }\nvolumes: {}", false},
		{"Kubernetes", "apiVersion: v1\nkind: Service\nspec: {}", false},
		{"Kubernetes role", "apiVersion: v1\nrules: [{verbs: [get]}]", false},
		{"Envoy", "static_resources: {clusters: []}", false},
		{"gRPC", `{"methodConfig": [{"name": [{}], "timeout": "1s"}]}`, false},
		{"Prometheus rules", "groups: [{rules: []}]", false},
		{"rules of another tool", "rules: [{name: x}]", false},
		{"Kong", "_format_version: \"3.0\"\nservices: [{name: a}]", false},
		{"workflow", "version: 2\njobs: {}", false},
		{"plan beside a manifest", "services: {a: }\n---\napiVersion: v1", false},
	} {
		if got := recognise(&importers.Source{File: c.name, Bytes: []byte(c.text)}); got != c.want {
			t.Errorf("%s: recognised %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReadPolicy(t *testing.T) {
	for _, text := range []string{"preset: strict\nsamples: 5", "policy: {preset: strict, samples: 5}", "version: 1\npolicy: {preset: strict, samples: 5}"} {
		p, findings := ReadPolicy(&importers.Source{File: "policy.yaml", Bytes: []byte(text)})
		if len(findings) > 0 || p.Preset.V != "strict" || p.Samples.V != 5 {
			t.Errorf("%q is read as %+v\n%s", text, p, show(findings))
		}
	}
	_, findings := ReadPolicy(&importers.Source{File: "policy.yaml", Bytes: []byte("presets: strict")})
	if diff := cmp.Diff("1:1-8 BP002 unknown key `presets`, did you mean `preset`?\n  help write `preset`, or begin a key of your own with `x-`\n", show(findings)); diff != "" {
		t.Error(diff)
	}
}

// TestManyDocuments joins documents, and finds what two of them define.
func TestManyDocuments(t *testing.T) {
	frag, findings := readText("services: {a: {calls: [b]}}\n---\nservices: {a: {kind: http}, c: }\nentrypoints: {e: {call: a}}\n---\nentrypoints: {e: {call: c}}")
	want := "3:12-13 BP004 [a] the service `a` is given twice\n  note 1:12-13 first given here\n  help join the two, or rename one\n" +
		"6:15-16 BP004 [e] the entrypoint `e` is given twice\n  note 4:15-16 first given here\n  help join the two, or rename one\n"
	if diff := cmp.Diff(want, show(findings)); diff != "" {
		t.Error(diff)
	}
	if len(frag.Services) != 3 || len(frag.Entrypoints) != 1 || len(frag.Calls) != 1 {
		t.Errorf("%d services, %d entrypoints, %d calls, want 3, 1, 1", len(frag.Services), len(frag.Entrypoints), len(frag.Calls))
	}
}

// TestHostile reads what is meant to exhaust a reader.
func TestHostile(t *testing.T) {
	bomb := "services:\n  a0: {calls: &a0 [x, x, x, x, x, x, x, x, x, x]}\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("  a%d: {calls: &a%d [%s]}\n", i, i, strings.Repeat(fmt.Sprintf("{parallel: *a%d}, ", i-1), 10))
	}
	for _, c := range []struct{ name, text, want string }{
		{"bomb", bomb, "the aliases up to here stand for more than"},
		{"itself", "services: {a: &a {calls: *a}}", "the anchor `a` contains itself"},
		{"deep groups", "services: {a: {calls: " + strings.Repeat("[{sequence: ", 5000) + "[]" + strings.Repeat("}]", 5000) + "}}", "values are nested more than 1000 levels deep"},
		{"long key", "services: {a: {" + strings.Repeat("x", 900) + ": 1}}", "unknown key"},
		{"long name", "services: {a: {calls: ['" + strings.Repeat("x", 1<<20) + "', 5]}}", "`5` is no text"},
		{"huge number", "services: {a: {calls: [{call: b, retries: 1" + strings.Repeat("0", 400) + "}]}}", "is too large"},
		{"huge exponent", "services: {a: {calls: [{call: b, retries: 1e999999999}]}}", "is too large"},
		{"huge duration", "services: {a: {server_timeout: 9999999999999h}}", "is longer than 292 years"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			frag, findings := readText(c.text)
			if said := show(findings); !strings.Contains(said, c.want) {
				t.Errorf("%.2000s\nis without %q", said, c.want)
			}
			if len(frag.Calls) > 1_000_000 {
				t.Errorf("%d calls", len(frag.Calls))
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestCounts holds both spellings of retries against the attempts they mean.
func TestCounts(t *testing.T) {
	frag, findings := readText("services: {a: {calls: [{call: b, retries: 2}, {call: c, attempts: 2}, {call: d, retries: unlimited}, {call: e, backoff: 1s}]}}")
	if len(findings) > 0 {
		t.Fatal(show(findings))
	}
	var got []int32
	for _, c := range frag.Calls {
		got = append(got, c.Waiters[0].Attempts.Or(1))
	}
	if diff := cmp.Diff([]int32{3, 2, model.Unlimited, 1}, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if b := frag.Calls[3].Waiters[0].Backoff; len(b.Waits.V) != 1 || b.Waits.V[0] != model.Second || !b.Jitter.Set() {
		t.Errorf("a constant back-off is %+v", b)
	}
}
