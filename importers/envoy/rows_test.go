package envoy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// row is one of the reference's on Envoy, by how it begins, with the tests of it or why it needs none.
type row struct{ section, begins, tests, why string }

var rows = []row{
	{"A1", "timeout", "a1_timeout_unset a1_timeout_zero", ""},
	{"A1", "idle_timeout", "a1_idle_timeout", ""},
	{"A1", "flush_timeout", "", "bounds the flush of an answer, not the wait for it"},
	{"A1", "max_stream_duration.max_stream_duration", "a1_max_stream_duration", ""},
	{"A1", "presence of max_stream_duration", "a1_max_stream_duration", ""},
	{"A1", "max_stream_duration.grpc_timeout_header_max", "a1_grpc_timeout_header", ""},
	{"A1", "max_stream_duration.grpc_timeout_header_offset", "a1_grpc_timeout_header", ""},
	{"A1", "max_grpc_timeout", "a1_max_grpc_timeout", ""},
	{"A1", "early_data_policy", "", "is no timeout; a 425 is repeated at once, without a wait"},
	{"A1", "retry_policy.per_try_timeout", "a1_per_try_at_or_above_timeout a1_per_try_zero", ""},
	{"A1", "retry_policy.per_try_idle_timeout", "a1_per_try_idle_timeout", ""},
	{"A1", "sub-millisecond durations", "a1_sub_millisecond", ""},
	{"A2", "No retry_on", "a2_no_retry_on", ""},
	{"A2", "num_retries", "a2_num_retries", ""},
	{"A2", "Unknown tokens", "a2_unknown_token", ""},
	{"A2", "5xx", "a2_retry_on_words", ""},
	{"A2", "gateway-error", "a2_retry_on_words", ""},
	{"A2", "reset", "a2_retry_on_words", ""},
	{"A2", "reset-before-request", "a2_retry_on_words", ""},
	{"A2", "connect-failure", "a2_retry_on_words", ""},
	{"A2", "refused-stream", "a2_retry_on_words", ""},
	{"A2", "retriable-4xx", "a2_retry_on_words", ""},
	{"A2", "retriable-status-codes", "a2_retriable_status_codes", ""},
	{"A2", "retriable-headers", "a2_retriable_headers a2_retry_on_words", ""},
	{"A2", "gRPC:", "a2_retry_on_words", ""},
	{"A2", "Per-try timeout is retried only", "a2_retry_on_words", ""},
	{"A2", "Precedence", "a2_route_over_host a2_cluster_policy", ""},
	{"A2", "There is no RouteConfiguration-level", "", "fields that Envoy does not have; one that sounds like a limit is told of (wrong_shapes)"},
	{"A2", "retriable_request_headers", "", "depends on the request; the worst case retries"},
	{"A2", "Retry budget/breaker", "a2_retry_budget", ""},
	{"A2", "Requests whose body exceeds", "", "depends on the request; the worst case retries"},
	{"A2", "host_selection_retry_max_attempts", "", "adds no wait and no attempt"},
	{"A2", "Hedging", "a2_hedging", ""},
	{"A2", "Kill switch", "", "is runtime, which no configuration has"},
	{"A2", "Back-off", "a2_back_off", ""},
	{"A2", "rate_limited", "a2_rate_limited_back_off", ""},
	{"A3", "x-envoy-upstream-rq-timeout-ms", "", "a request's header, which no configuration has"},
	{"A3", "x-envoy-upstream-rq-per-try-timeout-ms", "", "a request's header, which no configuration has"},
	{"A3", "x-envoy-max-retries", "", "a request's header, which no configuration has"},
	{"A3", "x-envoy-retry-on", "", "a request's header, which no configuration has"},
	{"A3", "x-envoy-hedge-on-per-try-timeout", "", "a request's header, which no configuration has"},
	{"A3", "trust", "", "decides whose headers count, and no header is known"},
	{"A3", "emits x-envoy-expected-rq-timeout-ms", "", "the next Envoy ignores it unless told otherwise, so it carries no deadline"},
	{"A3", "Router respect_expected_rq_timeout", "a3_expected_timeout", ""},
	{"A3", "grpc-timeout", "a1_max_grpc_timeout", ""},
	{"A3", "x-envoy-attempt-count", "", "is no limit"},
	{"A3", "x-envoy-upstream-stream-duration-ms", "", "a request's header, which no configuration has"},
	{"A4", "cluster connect_timeout", "a4_connect_timeout", ""},
	{"A4", "cluster (HttpProtocolOptions", "a4_cluster_options", ""},
	{"A4", "common_http_protocol_options.max_stream_duration", "a4_cluster_options a1_listener_max_stream_duration", ""},
	{"A4", "HCM request_timeout", "", "bounds how long a client sends, before the route begins"},
	{"A4", "HCM request_headers_timeout", "", "bounds how long a client sends, before the route begins"},
	{"A4", "HCM stream_idle_timeout", "a1_stream_idle_timeout", ""},
	{"A4", "HCM drain_timeout", "", "is of a connection that closes, not of a call"},
	{"A4", "tcp_proxy idle_timeout", "a4_tcp_proxy", ""},
	{"A4", "tcp_proxy max_downstream_connection_duration", "a4_tcp_proxy", ""},
	{"A4", "tcp_proxy max_connect_attempts", "a4_tcp_proxy", ""},
	{"A4", "Envoy DB filters", "a4_redis_proxy a4_other_filters", ""},
	{"A4", "ext_authz", "a4_service_filters", ""},
	{"A5", "route.cluster", "a5_routes_of_one_cluster", ""},
	{"A5", "route.cluster_header", "a5_cluster_header", ""},
	{"A5", "route.weighted_clusters", "a5_weighted_clusters", ""},
	{"A5", "cluster_specifier_plugin", "a5_no_call", ""},
	{"A5", "redirect", "a5_no_call", ""},
	{"A5", "request_mirror_policies", "a5_mirrors", ""},
	{"A5", "internal_redirect_policy", "a4_other_filters", ""},
	{"A5", "aggregate cluster", "a5_aggregate", ""},
	{"A5", "HCM route_config inline", "a5_rds a5_dynamic", ""},
	{"A5", "vhost pick", "", "decides which alternative a request takes; every one is a call"},
	{"A5", "same cluster reached by several routes", "a5_routes_of_one_cluster", ""},
	{"A5", "caller", "a5_caller a5_inbound a5_inbound_host", ""},
	{"A6", ".configs[]", "a6_config_dump", ""},
	{"A6", "Bootstrap:", "a6_config_dump", ""},
	{"A6", "Clusters:", "a6_config_dump", ""},
	{"A6", "Listeners:", "a6_config_dump", ""},
	{"A6", "Routes:", "a6_config_dump", ""},
	{"A6", "field names", "a6_istioctl a6_config_dump", ""},
	{"A6", "variants", "a6_resource a6_mask a6_istioctl a6_go_struct a6_discovery_response a6_several_proxies", ""},
	{"A7", "Extension decides the parser", "", "files are recognised by their content; binary ones are not read"},
	{"A7", "YAML -> generic Value", "a7_spelling", ""},
	{"A7", "Durations:", "a7_durations", ""},
	{"A7", "null = unset", "a7_null_and_numbers", ""},
	{"A7", "Unknown field in static bootstrap", "", "Envoy does not start; here a field that sounds like a limit is told of (wrong_shapes)"},
	{"A7", "Unknown @type", "a4_other_filters", ""},
	{"A7", "Anchors/aliases work", "a7_anchors", ""},
	{"A7", "Keys tagged !ignore", "a7_ignore_tag", ""},
	{"A7", "Multi-document files", "a7_documents", ""},
	{"A7", "No environment substitution", "a5_caller a7_durations", ""},
	{"A7", "Duplicate mapping keys", "", "a finding of the YAML reader, whose tests have it"},
	{"A7", "v2 configs", "a7_v2", ""},
	{"A7", "repeated field given as a single map", "a7_single_for_list", ""},
}

// TestRows: every row of the reference that changes a number has a test named after its section, and every such test
// a row.
func TestRows(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, r := range rows {
		if (r.tests == "") == (r.why == "") {
			t.Errorf("%s %s: tests %q and reason %q, wants one of them", r.section, r.begins, r.tests, r.why)
		}
		if r.tests == "" {
			t.Logf("%s %s: no test: %s", r.section, r.begins, r.why)
		}
		for name := range strings.FieldsSeq(r.tests) {
			tested[name] = true
			if _, err := os.Stat("testdata/" + name + ".txtar"); err != nil {
				t.Errorf("%s %s: %v", r.section, r.begins, err)
			}
		}
	}
	files, err := filepath.Glob("testdata/a[1-7]_*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txtar"); !tested[name] {
			t.Errorf("%s stands for no row", name)
		}
	}
	text := string(sharedFile(t, "reference/dialects.md").Bytes)
	for _, section := range []string{"A1", "A2", "A3", "A4", "A5", "A6", "A7"} {
		for _, cell := range cells(t, text, section) {
			if !slices.ContainsFunc(rows, func(r row) bool { return r.section == section && strings.HasPrefix(cell, r.begins) }) {
				t.Errorf("%s has the row %q, which is not in the list", section, cell)
			}
		}
	}
}

var firstCell = regexp.MustCompile(`^\| ([^|]+) \|`)

// cells gives the first cell of every row of a section, without marks.
func cells(t *testing.T, text, section string) []string {
	t.Helper()
	_, text, found := strings.Cut(text, "\n### "+section+".")
	text, _, _ = strings.Cut(text, "\n##")
	var out []string
	for line := range strings.Lines(text) {
		m := firstCell.FindStringSubmatch(line)
		if m != nil && !strings.HasPrefix(m[1], "--") && !slices.Contains([]string{"Field", "Item", "Header", "Shape", "Path", "Fact"}, m[1]) {
			out = append(out, strings.NewReplacer("`", "", "*", "").Replace(m[1]))
		}
	}
	if !found || len(out) == 0 {
		t.Fatalf("the reference has no rows under %q", section)
	}
	return out
}
