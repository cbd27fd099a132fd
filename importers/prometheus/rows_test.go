package prometheus

import (
	"os"
	"strings"
	"testing"
)

// rows maps the rows of the reference on Prometheus data, by the start of their first cell, to the archives of
// testdata that hold them, or after `-` to the reason why a row has none. Those of the quantile rules are held
// against a server as well.
var rows = map[string]string{
	// metric names
	"`envoy_cluster_upstream_rq_time_bucket`":               "g1_envoy_cluster g1_envoy_summary",
	"cluster names with `.` or `:`":                         "g1_envoy_cut_names",
	"also `..._internal_upstream_rq_time`":                  "g1_envoy_variants",
	"`envoy_http_downstream_rq_time_bucket`":                "g1_envoy_listener",
	"`envoy_cluster_upstream_cx_connect_ms`":                "g1_envoy_connect g1_envoy_cluster",
	"scrape variants":                                       "g1_envoy_summary",
	"`istio_request_duration_milliseconds_bucket`":          "g1_istio",
	"`grpc_client_handling_seconds_bucket`":                 "g1_grpc_go g1_grpc_java",
	"`grpc_server_handling_seconds_bucket`":                 "g1_grpc_server",
	"gRPC OTel `grpc.client.attempt.duration`":              "g1_grpc_otel",
	"`http_client_request_duration_seconds_bucket`":         "g1_otel_http g1_otel_untranslated",
	"`http_client_duration_milliseconds_bucket`":            "g1_otel_http",
	"`rpc_client_call_duration_seconds_bucket`":             "g1_otel_rpc",
	"`traces_service_graph_request_client_seconds_bucket`":  "g1_service_graph",
	"spanmetrics `duration_milliseconds_bucket`":            "g1_spanmetrics",
	"`http_request_duration_seconds_bucket`":                "g1_server_side g1_micrometer_client",
	"`response_latency_ms_bucket` (Linkerd)":                "g1_linkerd",
	"`outbound_http_route_request_duration_seconds_bucket`": "g1_linkerd_routes",
	// quantile rules
	"rank = q*total":                 "g2_linear",
	"falls in `+Inf`":                "g2_last_bucket",
	"lowest bucket, upper > 0":       "g2_zero_bound",
	"no `+Inf` bucket":               "g2_no_observation",
	"q<0 / q>1":                      "- nobody can ask for such a percentile: the keys are p0.0001 to p99.9999",
	"q=0 with an empty first bucket": "- p0 is no percentile of a plan; the server's NaN is compared in TestQuantilesAreThoseOfPrometheus",
	"non-monotonic counts":           "g2_falling",
	"duplicate `le`":                 "g2_same_bound",
	"native exponential buckets":     "g4_native",
	"aggregation":                    "g2_sum_first g2_summaries",
	"counters vs rates":              "g2_window g2_two_targets g2_restart g2_times g2_same_scrape",
	"p99 vs timeout":                 "g1_envoy_cluster g1_istio",
	"le normalisation":               "g2_same_bound",
	// expfmt
	"zero value `expfmt.TextParser{}`":             "- a way to call the library",
	"no `# TYPE` line":                             "g3_no_type",
	"missing `+Inf` bucket":                        "g3_missing_last g3_wrong_last",
	"float bucket counts":                          "g3_float_counts",
	"duplicate series":                             "g3_twice g2_falling g3_not_a_number",
	"`# EOF`":                                      "g3_eof_exemplars",
	"exemplars":                                    "g3_eof_exemplars",
	"OpenMetrics float timestamp":                  "g3_eof_exemplars",
	"CRLF line ends":                               "g3_lines",
	"missing final newline":                        "g3_lines",
	"trailing blanks after value":                  "g3_lines",
	"second TYPE / TYPE after samples":             "g3_concatenated",
	"HTML or API JSON pasted":                      "g3_page g4_vector",
	"`expfmt.NewDecoder(r, FmtOpenMetrics_1_0_0)`": "- OpenMetrics is read by the text parser after what it adds is taken off; see the type text",
	"`NewDecoder(FmtText)`":                        "g1_otel_untranslated",
	"protobuf delimited":                           "- TestProtobuf writes its messages itself",
	// answers of the HTTP API
	"`value[0]` float seconds": "g4_vector g4_matrix g4_scalar g4_native",
	"errors:":                  "g4_error g4_no_name g4_vector",
	"Empty `result: []`":       "g4_empty",
}

// TestRows: each row of the reference has an archive or a reason, and each archive that is named for a row exists.
func TestRows(t *testing.T) {
	t.Parallel()
	text := string(sharedFile(t, "reference/dialects.md").Bytes)
	_, text, _ = strings.Cut(text, "\n## G. ")
	text, _, _ = strings.Cut(text, "\n## ")
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		cell, isRow := strings.CutPrefix(line, "| ")
		if !isRow {
			cell, isRow = strings.CutPrefix(line, "- ")
		}
		if !isRow || strings.HasPrefix(cell, "Metric |") || strings.HasPrefix(cell, "Case |") || strings.HasPrefix(cell, "Input |") {
			continue
		}
		row := ""
		for start := range rows {
			if strings.HasPrefix(cell, start) && len(start) > len(row) {
				row = start
			}
		}
		if row == "" {
			t.Errorf("no test and no reason for the row %q", cell)
		}
		found[row] = true
	}
	for row, archives := range rows {
		if !found[row] {
			t.Errorf("%q is no row", row)
		}
		if reason, without := strings.CutPrefix(archives, "- "); without {
			t.Logf("%s has no archive: %s", row, reason)
			continue
		}
		for name := range strings.FieldsSeq(archives) {
			if _, err := os.Stat("testdata/" + name + ".txtar"); err != nil {
				t.Errorf("%s: %v", row, err)
			}
		}
	}
}

// TestProfiles: names are those of families, each in one profile, and each profile says who was called or who serves.
func TestProfiles(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range profiles {
		if len(p.names) == 0 && p.pattern == nil || p.side == 0 && p.sideOf == nil {
			t.Errorf("the profile %v says nothing", p.names)
		}
		if p.side > serving && len(p.callee) == 0 {
			t.Errorf("%v does not say who was called", p.names)
		}
		for _, name := range p.names {
			if seen[name] || metricName(name) != name {
				t.Errorf("%s is in two profiles, or no family", name)
			}
			seen[name] = true
			if unitOf(name) == 0 && p.unit == 0 {
				t.Errorf("%s has no unit", name)
			}
		}
	}
}
