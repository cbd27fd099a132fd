package envoy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
)

// shared is where real files and real incidents are, beside the repository.
const shared = "../../../shared"

// sharedFile reads one of them. Without it a test is skipped, except in CI.
func sharedFile(t *testing.T, name string) *importers.Source {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skip("not here: ", err)
		}
		t.Fatal(err)
	}
	return &importers.Source{File: filepath.Base(name), Bytes: src}
}

// callless are the files of the corpus from which no call can be had, with what they are.
var callless = map[string]string{
	"envoyproxy__examples__udp--envoy.yaml":                                "an Envoy configuration whose listeners and routes call no other service",
	"envoyproxy__gateway__xds-ir--circuit-breaker.yaml":                    "Envoy Gateway's intermediate form (xds-ir), from which it makes Envoy's configuration",
	"envoyproxy__gateway__xds-ir--ext-auth-retry.listeners.yaml":           "Envoy listeners whose routes are in no file that is read",
	"envoyproxy__gateway__xds-ir--ext-proc-with-retries.listeners.yaml":    "Envoy listeners whose routes are in no file that is read",
	"istio__istio__configdump--testdata--configdump.json":                  "an Envoy config dump without a listener or a route",
	"istio__istio__ecds--configdump.json":                                  "an Envoy config dump without a listener or a route",
	"istio__istio__empty-gateway--configdump.json":                         "an Envoy configuration whose listeners and routes call no other service",
	"istio__istio__testdata--default_golden.json":                          "an Envoy bootstrap whose listeners come from elsewhere",
	"istio__istio__testdata--dump.json":                                    "a dump of ztunnel, Istio's proxy of a node, which has no timeouts and no retries",
	"istio__istio__testdata--envoy_bootstrap_v2.tmpl.json":                 "an Envoy configuration whose listeners and routes call no other service",
	"istio__istio__testdata--none_cds.json":                                "Envoy clusters without a route to them",
	"istio__istio__testdata--tracing_zipkin_golden.json":                   "an Envoy bootstrap whose listeners come from elsewhere",
	"kumahq__kuma__testdata--bootstrap.k8s.golden.yaml":                    "an Envoy bootstrap whose listeners come from elsewhere",
	"kumahq__kuma__testdata--http_outbound_cluster.golden.yaml":            "Envoy clusters without a route to them",
	"solo-io__gloo__source_data--envoy-config.yaml":                        "an Envoy bootstrap whose listeners come from elsewhere",
	"emissary-ingress__emissary__ambex--httpbin.json":                      "Envoy clusters without a route to them",
	"emissary-ingress__emissary__testdata--diagnostics.json":               "Emissary's diagnostics, not the configuration of its Envoy",
	"envoyproxy__examples___include--response-config-active-clusters.json": "Envoy clusters without a route to them",
}

// TestCorpus gives an answer for every real file: calls, or what it is instead.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared, "corpus/envoy/*"))
	if err != nil || len(files) == 0 {
		sharedFile(t, "corpus/envoy")
	}
	with, calls := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		src := sharedFile(t, "corpus/envoy/"+name)
		why := resembles(src)
		if Importer.Recognise(src) {
			f, found := Importer.Import(src)
			checkFragment(t, f, found)
			if why = f.Without; len(f.Calls) > 0 {
				with, calls = with+1, calls+len(f.Calls)
			}
		} else if _, found := src.YAML(); len(found) > 0 {
			why = found[0].Message
		}
		if why != callless[name] {
			t.Errorf("%s: no call: %q, want %q", name, why, callless[name])
		}
		if why != "" {
			t.Logf("%s: no call: %s", name, why)
		}
	}
	t.Logf("%d of %d files gave %d calls", with, len(files), calls)
}

// TestRealFiles compares all that is read of files that were chosen for their traps, and of the incidents that have a
// file of Envoy.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	const name = "testdata/real/want.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range ar.Files {
		got := show(Importer.Import(sharedFile(t, want.Name)))
		if *update {
			ar.Files[i].Data = []byte(got)
		}
		if diff := cmp.Diff(string(ar.Files[i].Data), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", want.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
