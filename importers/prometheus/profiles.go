package prometheus

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/budgetplan/budgetplan/model"
)

// side says whose clock a metric is, and so which of several is used for one call: the highest.
type side uint8

const (
	serving  side = iota + 1 // the callee's own time, without the network
	answered                 // the callee's time, but by caller
	calling                  // the caller's time of a whole call, retries in it
	trying                   // the caller's time of one attempt
)

// profile says how one family of metrics speaks of calls. Sources: the documentation and code of each project as
// named at its entry.
type profile struct {
	names []string
	// pattern finds families whose name has a part of the callee's; its first group is that part.
	pattern *regexp.Regexp
	// unit holds where neither the name nor a `# UNIT` has one.
	unit model.Duration
	// caller and callee are labels, the first that says something counts. Where no caller does, it is the scraped target.
	caller, callee []string
	// server are labels by which a serving program calls itself, before what the source or the target says.
	server []string
	side   side
	// sideOf refines side by the labels of a series; 0 leaves the series out.
	sideOf  func(labels map[string]string) side
	caveats model.Caveats
	// timedOut tells the series that count attempts which ran into a limit.
	timedOut func(labels map[string]string) bool
	// stream tells the series of streams and queues, whose length is nobody's wait; they are left out.
	stream func(labels map[string]string) bool
}

// profiles has one entry a family of metrics.
var profiles = []*profile{
	{ // Envoy, source/common/router/router.cc onUpstreamComplete: not recorded for timeouts, retries and back-off in it
		pattern: regexp.MustCompile(`^envoy_cluster_(?:(.+)_)?upstream_rq_time$`), unit: model.Millisecond,
		callee: []string{"envoy_cluster_name", "cluster_name"}, side: calling, sideOf: ofCluster,
		caveats: model.WithRetries | model.WithoutTimeouts,
	},
	{ // Envoy's listeners, source/common/http/conn_manager_impl.cc
		names: []string{"envoy_http_downstream_rq_time"}, unit: model.Millisecond, side: serving, sideOf: ofListener,
	},
	{ // istio.io, reference/config/metrics
		names:  []string{"istio_request_duration_milliseconds", "istio_request_duration_seconds"},
		caller: []string{"source_canonical_service", "source_workload", "source_app"},
		callee: []string{"destination_service", "destination_canonical_service", "destination_workload", "destination_service_name"},
		server: []string{"destination_service", "destination_canonical_service", "destination_workload", "destination_service_name"},
		sideOf: ofReporter, caveats: model.WithRetries,
		timedOut: func(l map[string]string) bool { return strings.Contains(l["response_flags"], "UT") },
		stream:   func(l map[string]string) bool { return l["request_protocol"] == "tcp" },
	},
	{ // linkerd2-proxy, linkerd/app/core/src/metrics: time to the first byte
		names: []string{"response_latency_ms"}, callee: []string{"dst_deployment", "dst_statefulset", "dst_daemonset", "dst_service", "authority"},
		sideOf: ofDirection, caveats: model.FirstByte | model.WithRetries,
	},
	{ // linkerd2-proxy since 2.16: a route's requests, with retries
		names:  []string{"outbound_http_route_request_duration_seconds", "outbound_grpc_route_request_duration_seconds"},
		callee: []string{"parent_name"}, side: calling, caveats: model.WithRetries,
	},
	{ // and each response of a backend
		names:  []string{"outbound_http_route_backend_response_duration_seconds", "outbound_grpc_route_backend_response_duration_seconds"},
		callee: []string{"backend_name"}, side: trying,
	},
	{ // go-grpc-middleware/providers/prometheus@v1.1.1 client_metrics.go: an interceptor around retries
		names: []string{"grpc_client_handling_seconds"}, callee: []string{"grpc_service"}, side: calling,
		caveats: model.WithRetries, stream: grpcStream,
	},
	{ // the same, server_metrics.go
		names: []string{"grpc_server_handling_seconds"}, callee: []string{"grpc_service"}, side: serving, stream: grpcStream,
	},
	{ // Micrometer's interceptors of grpc-java, MetricCollectingClientInterceptor
		names: []string{"grpc_client_processing_duration_seconds"}, callee: []string{"service"}, side: calling,
		caveats: model.WithRetries, stream: grpcStream, timedOut: grpcTimedOut,
	},
	{
		names: []string{"grpc_server_processing_duration_seconds"}, callee: []string{"service"}, side: serving, stream: grpcStream,
	},
	{ // gRFC A66
		names: []string{"grpc_client_attempt_duration_seconds", "grpc_client_attempt_duration"}, unit: model.Second,
		callee: []string{"grpc_target"}, side: trying, timedOut: grpcTimedOut,
	},
	{
		names: []string{"grpc_client_call_duration_seconds", "grpc_client_call_duration"}, unit: model.Second,
		callee: []string{"grpc_target"}, side: calling, caveats: model.WithRetries, timedOut: grpcTimedOut,
	},
	{
		names: []string{"grpc_server_call_duration_seconds", "grpc_server_call_duration"}, unit: model.Second, side: serving,
	},
	{ // OpenTelemetry semantic conventions, docs/http/http-metrics.md
		names: []string{"http_client_request_duration_seconds", "http_client_request_duration"}, unit: model.Second,
		caller: instrumented, callee: []string{"server_address", "net_peer_name"}, side: trying, timedOut: httpTimedOut,
	},
	{ // the conventions before 1.23
		names:  []string{"http_client_duration_milliseconds", "http_client_duration"},
		caller: instrumented, callee: []string{"net_peer_name", "server_address", "http_host"}, side: trying, unit: model.Millisecond,
	},
	{ // docs/rpc/rpc-metrics.md: seconds since 1.38, milliseconds before; the call, with what the library retries
		names:  []string{"rpc_client_call_duration_seconds", "rpc_client_duration_milliseconds", "rpc_client_duration_seconds"},
		caller: instrumented, callee: []string{"server_address", "rpc_service", "net_peer_name"}, side: calling,
		caveats: model.WithRetries, timedOut: httpTimedOut,
	},
	{ // docs/database/database-metrics.md
		names:  []string{"db_client_operation_duration_seconds", "db_client_operation_duration"},
		caller: instrumented, callee: []string{"server_address", "db_namespace", "db_system_name", "db_system"}, side: calling, unit: model.Second,
	},
	{
		names: []string{
			"http_server_request_duration_seconds", "http_server_request_duration", "rpc_server_call_duration_seconds",
		},
		unit: model.Second, server: instrumented, side: serving,
	},
	{
		names: []string{"http_server_duration_milliseconds", "http_server_duration", "rpc_server_duration_milliseconds"},
		unit:  model.Millisecond, server: instrumented, side: serving,
	},
	{ // opentelemetry-collector-contrib/connector/servicegraphconnector README, and Tempo
		names:  []string{"traces_service_graph_request_client_seconds", "traces_service_graph_request_client"},
		caller: []string{"client"}, callee: []string{"server"}, side: calling, unit: model.Second, stream: messaging,
	},
	{
		names:  []string{"traces_service_graph_request_server_seconds", "traces_service_graph_request_server"},
		caller: []string{"client"}, callee: []string{"server"}, side: answered, unit: model.Second, stream: messaging,
	},
	{ // connector/spanmetricsconnector README; Tempo's own name has no unit and is in seconds
		names: []string{
			"traces_span_metrics_duration_milliseconds", "traces_span_metrics_duration_seconds", "traces_spanmetrics_latency",
			"duration_milliseconds", "duration_seconds",
		},
		unit: model.Second, caller: instrumented, callee: []string{"peer_service", "server_address", "net_peer_name", "db_system"},
		server: instrumented, sideOf: ofSpan,
	},
	{ // Micrometer, HttpClientObservation
		names:  []string{"http_client_requests_seconds"},
		caller: instrumented, callee: []string{"client_name", "clientName"}, side: trying,
	},
	{ // what servers call it by themselves, and Micrometer; no caller in it
		names:  []string{"http_request_duration_seconds", "http_request_duration_milliseconds", "http_server_requests_seconds"},
		server: instrumented, side: serving,
	},
}

// instrumented names the program that was instrumented, where its metrics say so.
var instrumented = []string{"service_name", "service"}

// target are the labels by which the scraped target is known, the first that says something.
var target = []string{"service_name", "service", "app", "application", "deployment", "job"}

// profileOf finds the profile of a family, and the part of the callee's name that is in the metric's.
func profileOf(family string) (p *profile, part string) {
	family = metricName(family)
	for _, p := range profiles {
		for _, name := range p.names {
			if name == family {
				return p, ""
			}
		}
		if p.pattern == nil {
			continue
		}
		if m := p.pattern.FindStringSubmatch(family); m != nil {
			return p, m[1]
		}
	}
	return nil, ""
}

// metricName writes a family's name as Prometheus did before it took names with dots, without the part of a
// histogram that a person may have copied along.
func metricName(name string) string {
	name = strings.TrimSuffix(name, "_bucket")
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '/' {
			return '_'
		}
		return r
	}, name)
}

// timeoutCounter finds what an Envoy counts of attempts that ran into a limit, by cluster.
var timeoutCounter = regexp.MustCompile(`^envoy_cluster_(?:(.+)_)?upstream_rq(?:_per_try)?_timeout$`)

// ofCluster tells calls from what a sidecar passes on to its own service.
func ofCluster(l map[string]string) side {
	name := first(l, "envoy_cluster_name", "cluster_name")
	if strings.HasPrefix(name, "inbound|") || strings.HasPrefix(name, "inbound_") {
		return serving
	}
	return calling
}

// ofListener leaves out Envoy's own administration, and what a sidecar takes from its own service to pass it on.
func ofListener(l map[string]string) side {
	prefix := first(l, "envoy_http_conn_manager_prefix", "http_conn_manager_prefix")
	if prefix == "admin" || strings.HasPrefix(prefix, "outbound") || strings.HasPrefix(prefix, "egress") {
		return 0
	}
	return serving
}

// ofReporter tells the two proxies of a call apart, which both report it.
func ofReporter(l map[string]string) side {
	switch {
	case l["reporter"] == "source", l["reporter"] == "waypoint":
		return calling
	case known(first(l, "source_canonical_service", "source_workload", "source_app")):
		return answered
	}
	return serving
}

func ofDirection(l map[string]string) side {
	if l["direction"] == "inbound" {
		return serving
	}
	return calling
}

// ofSpan takes spans of clients where they name what they call, and spans of servers.
func ofSpan(l map[string]string) side {
	switch kind := strings.TrimPrefix(l["span_kind"], "SPAN_KIND_"); {
	case kind == "SERVER":
		return serving
	case kind == "CLIENT" && known(first(l, "peer_service", "server_address", "net_peer_name", "db_system")):
		return calling
	}
	return 0
}

func grpcStream(l map[string]string) bool {
	kind := strings.ToLower(first(l, "grpc_type", "methodType"))
	return kind != "" && kind != "unary"
}

func grpcTimedOut(l map[string]string) bool {
	return first(l, "grpc_status", "statusCode", "grpc_code") == "DEADLINE_EXCEEDED"
}

func httpTimedOut(l map[string]string) bool {
	kind := strings.ToLower(l["error_type"])
	return strings.Contains(kind, "timeout") || strings.Contains(kind, "deadline")
}

// messaging leaves out what waits in a queue: nobody stands there.
func messaging(l map[string]string) bool { return l["connection_type"] == "messaging_system" }

// first gives the first label that says something.
func first(l map[string]string, names ...string) string {
	for _, name := range names {
		if known(l[name]) {
			return l[name]
		}
	}
	return ""
}

// known reports whether the value of a label names something.
func known(v string) bool {
	switch v {
	case "", "unknown", "-", "none", "UNKNOWN", "PassthroughCluster", "BlackHoleCluster", "InboundPassthroughCluster", "InboundPassthroughClusterIpv4":
		return false
	}
	return !strings.ContainsFunc(v, unicode.IsControl)
}

// units are the words for a unit, as suffixes of names and in `# UNIT` lines.
var units = []struct {
	word string
	unit model.Duration
}{
	{"milliseconds", model.Millisecond},
	{"microseconds", model.Microsecond},
	{"nanoseconds", model.Nanosecond},
	{"seconds", model.Second},
	{"millis", model.Millisecond},
	{"micros", model.Microsecond},
	{"nanos", model.Nanosecond},
	{"ms", model.Millisecond},
	{"us", model.Microsecond},
	{"ns", model.Nanosecond},
	{"s", model.Second},
}

// unitOf gives the unit of a metric by the last word of its name; 0 where that is none.
func unitOf(name string) model.Duration {
	name = metricName(name)
	word := name[strings.LastIndexByte(name, '_')+1:]
	for _, u := range units {
		if u.word == word {
			return u.unit
		}
	}
	return 0
}
