package prometheus

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
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

// settings are what a plan would say of real files that cannot say it themselves, in the form of an archive's comment.
var settings = map[string]string{
	"DataDog__integrations-core__istio-proxy-tail.prom":                      "metric istio_request_bytes\nunit ms\ncaller source_app\ncallee destination_app",
	"DataDog__integrations-extras__fixtures--metrics-prometheus.txt":         "metric hikaricp_connection_acquired_nanos\ncaller app\ncallee pool",
	"DataDog__integrations-extras__fixtures--mock_tidb_metrics.txt":          "metric tidb_server_handle_query_duration_seconds\nservice tidb",
	"DataDog__integrations-extras__fixtures--open_policy_agent.txt":          "service opa",
	"DataDog__integrations-extras__fixtures--metrics.txt":                    "metric go_gc_pauses_seconds_total\nservice gitea\nunit s",
	"fluent__cmetrics__data--histogram_different_label_count.txt":            "metric k8s_network_load\nunit ms\nservice network",
	"fluent__cmetrics__data--issue_fluent_bit_5541.txt":                      "service node",
	"fluent__cmetrics__data--issue_fluent_bit_5894.txt":                      "metric hikaricp_connections_usage_seconds\nservice spring",
	"kiali__kiali__skupper-metrics.prom":                                     "metric kiali_ext_response_time_seconds\ncaller source_name\ncallee dest_name",
	"kumahq__kuma__histogram.envoy-cx-connect.prom":                          "metric envoy_cluster_upstream_cx_connect_ms\nservice gateway\ncallee envoy_cluster_name",
	"kumahq__kuma__profiles-basic.prom":                                      "service gateway",
	"kumahq__kuma__prom-text.prom":                                           "metric sm_api_http_req_process_duration\nservice api\nunit s",
	"linkerd__linkerd2__testdata--sampleMetrics.txt":                         "service slow-cooker",
	"prometheus__OpenMetrics__bad_exemplars_7.om":                            "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__bad_histograms_0.om":                           "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__bad_histograms_10.om":                          "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__bad_histograms_12.om":                          "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__bad_histograms_3.om":                           "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__histogram_exemplars.om":                        "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__simple_histogram.om":                           "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__summary_quantiles.om":                          "metric a\nservice x\nunit s",
	"prometheus__OpenMetrics__bad_missing_or_invalid_labels_for_a_type_0.om": "metric a\nservice x\nunit s",
	"prometheus__common__fuzz-parse_4.prom":                                  "metric request_duration_microseconds\nservice x",
	"prometheus__common__fuzz-parse_error_19.prom":                           "metric metric\nservice x\nunit s",
	"prometheus__common__fuzz-parse_error_7.prom":                            "metric metric\nservice x\nunit s",
	"prometheus__prometheus__testdata--1histogram.om.txt":                    "metric golang_manual_histogram_seconds\ncaller address\ncallee port",
	"prometheus__prometheus__testdata--alltypes.237mfs.prom.txt":             "metric prometheus_http_request_duration_seconds\nservice prometheus",
	"prometheus__prometheus__testdata--metrics-test.prom":                    "metric prometheus_tsdb_compaction_chunk_size_bytes\nservice x\nunit s",
}

// foreign are files of the corpus that are no scrapes.
var foreign = map[string]bool{
	"prometheus__OpenMetrics__bad_no_eof.om":                   true, // empty
	"prometheus__common__fuzz-parse_error_12.prom":             true, // comments alone
	"prometheus__common__fuzz-parse_error_2.prom":              true, // broken from its first line
	"prometheus__prometheus__testdata--native_histograms.test": true, // a script of tests
}

// TestCorpus gives an answer for every real file, and counts the answers.
func TestCorpus(t *testing.T) {
	t.Parallel()
	sharedFile(t, "corpus/INDEX.tsv")
	entries, err := os.ReadDir(filepath.Join(shared, "corpus/prometheus"))
	if err != nil {
		t.Fatal(err)
	}
	latency, refused := 0, map[string]int{}
	for _, e := range entries {
		src := real(t, e.Name())
		if got := Importer.Recognise(src); got == foreign[e.Name()] {
			t.Errorf("%s: recognised %v", e.Name(), got)
		}
		f, found := Importer.Import(src)
		checkFragment(t, f, found)
		if len(f.Services) > 0 {
			latency++
			continue
		}
		if len(found) == 0 {
			t.Errorf("%s: no latency, and nothing says why", e.Name())
			continue
		}
		refused[strings.ReplaceAll(found[0].Code.ID+" "+found[0].Message, e.Name(), "FILE")]++
	}
	t.Logf("%d files, %d with latency", len(entries), latency)
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%3d × %s", refused[why], why)
	}
}

// real reads a file of the corpus with its settings.
func real(t *testing.T, name string) *importers.Source {
	t.Helper()
	return named(t, name, sharedFile(t, "corpus/prometheus/"+name).Bytes, "--\n"+settings[name])
}

// TestRealFiles compares all that is read of files that were chosen for their traps.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	const name = "testdata/real/want.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range ar.Files {
		f, found := Importer.Import(real(t, want.Name))
		got := show([]*model.Fragment{f}, found)
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
