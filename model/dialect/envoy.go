package dialect

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Where the facts of Envoy stand.
const (
	envoyAPI     = "github.com/envoyproxy/go-control-plane/envoy@v1.40.0 "
	envoyRoute   = envoyAPI + "config/route/v3/route_components.pb.go"
	envoyCluster = envoyAPI + "config/cluster/v3/cluster.pb.go"
	envoyOptions = envoyAPI + "config/core/v3/protocol.pb.go"
	envoyBreaker = envoyAPI + "config/cluster/v3/circuit_breaker.pb.go"
	envoyHCM     = envoyAPI + "extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.go"
	envoyTCP     = envoyAPI + "extensions/filters/network/tcp_proxy/v3/tcp_proxy.pb.go"
	envoyDocs    = "envoyproxy/envoy docs/root/configuration/http/http_filters/router_filter.rst"
	envoyRouter  = "envoyproxy/envoy source/common/router/retry_state_impl.cc"
)

// Envoy is Envoy's v3 API.
var Envoy = &Dialect{
	Name: "envoy", Title: "Envoy", Version: "1.40",
	Granule: model.Millisecond, Zero: ZeroIsNone,
	Counts: Retries, RetriesKey: "num_retries",
	Fields: []Field{
		{"timeout", "route.timeout"},
		{"per_try_timeout", "retry_policy.per_try_timeout"},
		{"read_timeout", "retry_policy.per_try_idle_timeout"},
		{"connect_timeout", "cluster.connect_timeout"},
		{"idle_timeout", "common_http_protocol_options.idle_timeout"},
		{"retries", "retry_policy.num_retries"},
		{"attempts", "retry_policy.num_retries"},
		{"retry_on", "retry_policy.retry_on"},
		{"backoff", "retry_policy.retry_back_off"},
		{"retry_after", "retry_policy.rate_limited_retry_back_off.max_interval"},
		{"retry_budget", "circuit_breakers.thresholds.retry_budget"},
		{"hedge", "hedge_policy.hedge_on_per_try_timeout"},
	},
	Conditions: envoyConditions,
	Defaults: []*diag.Default{
		&EnvoyTimeout.Default, &EnvoyNoRetry.Default, &EnvoyRetries.Default, &EnvoyWaits.Default, &EnvoyJitter.Default,
		&EnvoyRetryAfter.Default, &EnvoyConnect.Default, &EnvoyConnectExtra.Default, &EnvoyClusterIdle.Default,
		&EnvoyListenerIdle.Default, &EnvoyStreamIdle.Default, &EnvoyTCPIdle.Default, &EnvoyTCPConnects.Default,
		&EnvoyRetryBudget.Default, &EnvoyExtAuthz.Default, &EnvoyExtProc.Default, &EnvoyRateLimit.Default,
	},
	Parse: parseProto,
	Format: func(d model.Duration) string {
		if !d.Finite() {
			return "0s"
		}
		return formatSeconds(cut(d, model.Millisecond), 3)
	},
}

func envoyDefault[T any](v T, field, value, since, source string) Default[T] {
	return Default[T]{diag.Default{Platform: "envoy", Field: field, Value: value, Since: since, Source: source}, v}
}

// What Envoy does when nobody says. A field that came with the v3 API, or whose first release is not
// recorded, has Since empty.
var (
	// EnvoyTimeout bounds a route, retries and back-off in it.
	EnvoyTimeout = envoyDefault(15*model.Second, "route.timeout", "15s", "1.0", envoyRoute)
	// EnvoyNoRetry is one attempt: nothing is retried without `retry_on`.
	EnvoyNoRetry = envoyDefault[int32](1, "retry_policy.retry_on", "none", "1.0", envoyRouter)
	// EnvoyRetries is one retry once `retry_on` is set; the value counts attempts.
	EnvoyRetries = envoyDefault[int32](2, "retry_policy.num_retries", "1", "1.0", envoyRoute)
	// EnvoyWaits are the documented upper bounds of the waits before each retry.
	EnvoyWaits = envoyDefault(EnvoyBackoff(25*model.Millisecond, 0), "retry_policy.retry_back_off", "25ms, at most 250ms", "1.0", envoyDocs)
	// EnvoyJitter draws each wait between 0 and its bound.
	EnvoyJitter = envoyDefault(model.Jitter{Kind: model.JitterFull}, "retry_policy.retry_back_off", "full jitter", "1.0", envoyDocs)
	// EnvoyRetryAfter is the longest wait that a reset header may ask for; Envoy waits up to half as long again.
	EnvoyRetryAfter = envoyDefault(300*model.Second, "rate_limited_retry_back_off.max_interval", "300s", "", envoyRoute)
	// EnvoyConnect bounds a connection attempt, TLS included.
	EnvoyConnect = envoyDefault(5*model.Second, "cluster.connect_timeout", "5s", "1.20", envoyCluster)
	// EnvoyConnectExtra says that the per-try clock starts once connected.
	EnvoyConnectExtra = envoyDefault(true, "per-try clock", "starts once connected", "1.0", "envoyproxy/envoy source/common/router/upstream_request.cc")
	// EnvoyClusterIdle and EnvoyListenerIdle keep a connection without requests, on either side.
	EnvoyClusterIdle  = envoyDefault(3600*model.Second, "cluster.common_http_protocol_options.idle_timeout", "1h", "", envoyOptions)
	EnvoyListenerIdle = envoyDefault(3600*model.Second, "listener.common_http_protocol_options.idle_timeout", "1h", "", envoyOptions)
	// EnvoyStreamIdle bounds the silence of one request.
	EnvoyStreamIdle = envoyDefault(300*model.Second, "http_connection_manager.stream_idle_timeout", "5m", "", envoyHCM)
	// EnvoyTCPIdle and EnvoyTCPConnects hold for proxied TCP connections.
	EnvoyTCPIdle     = envoyDefault(3600*model.Second, "tcp_proxy.idle_timeout", "1h", "", envoyTCP)
	EnvoyTCPConnects = envoyDefault[int32](1, "tcp_proxy.max_connect_attempts", "1", "", envoyTCP)
	// EnvoyRetryBudget is the share of active requests that may be retries, once a retry budget is set.
	EnvoyRetryBudget = envoyDefault[model.Fraction](200_000, "retry_budget.budget_percent", "20%", "", envoyBreaker)
	// EnvoyExtAuthz, EnvoyExtProc and EnvoyRateLimit bound what a filter asks of a service before each route.
	EnvoyExtAuthz  = envoyDefault(200*model.Millisecond, "ext_authz.grpc_service.timeout", "200ms", "", "envoyproxy/envoy source/extensions/filters/http/ext_authz/config.cc")
	EnvoyExtProc   = envoyDefault(200*model.Millisecond, "ext_proc.message_timeout", "200ms", "", envoyAPI+"extensions/filters/http/ext_proc/v3/ext_proc.pb.go")
	EnvoyRateLimit = envoyDefault(20*model.Millisecond, "ratelimit.timeout", "20ms", "", envoyAPI+"extensions/filters/http/ratelimit/v3/rate_limit.pb.go")
)

// EnvoyMinInterval is what a shorter back-off base is raised to.
const EnvoyMinInterval = model.Millisecond

// EnvoyBackoff gives the documented upper bounds min((2^k − 1) × base, most) of the waits before retry 1, 2, …
// up to the first that no longer grows. A most of 0 is unset: ten times the base.
func EnvoyBackoff(base, most model.Duration) []model.Duration {
	base = max(base, EnvoyMinInterval)
	if most == 0 {
		most = base.Mul(10)
	}
	var waits []model.Duration
	for factor := int64(1); ; factor = 2*factor + 1 {
		w := min(base.Mul(factor), most)
		waits = append(waits, w)
		if w >= most || !w.Finite() {
			return waits
		}
	}
}

const anyReset = model.OnConnect | model.OnRefused | model.OnReset | model.OnTimeout

// envoyConditions are the words of `retry_on`. `5xx`, `gateway-error` and `reset` share one code path for an
// attempt without an answer, which includes a per-try timeout; no other word retries that. The gRPC words look
// at grpc-status in response headers alone.
var envoyConditions = []Condition{
	{Token: "5xx", Means: model.Failures{Kinds: anyReset, Statuses: []string{"5xx"}}},
	{Token: "gateway-error", Means: model.Failures{Kinds: anyReset, Statuses: []string{"502", "503", "504"}}},
	{Token: "reset", Means: model.Failures{Kinds: anyReset}},
	{Token: "connect-failure", Means: model.Failures{Kinds: model.OnConnect}},
	{Token: "reset-before-request", Means: model.Failures{Kinds: model.OnConnect}},
	{Token: "refused-stream", Means: model.Failures{Kinds: model.OnRefused}},
	{Token: "http3-post-connect-failure", Means: model.Failures{Kinds: model.OnReset}},
	{Token: "retriable-4xx", Means: model.Failures{Statuses: []string{"409"}}},
	{Token: "envoy-ratelimited", Means: model.Failures{Statuses: []string{"429"}}},
	{Token: "retriable-headers", Means: model.Failures{Kinds: model.OnError}},
	{Token: "retriable-status-codes", Listed: true},
	{Token: "cancelled", Means: model.Failures{Statuses: []string{"cancelled"}}},
	{Token: "deadline-exceeded", Means: model.Failures{Statuses: []string{"deadline_exceeded"}}},
	{Token: "internal", Means: model.Failures{Statuses: []string{"internal"}}},
	{Token: "resource-exhausted", Means: model.Failures{Statuses: []string{"resource_exhausted"}}},
	{Token: "unavailable", Means: model.Failures{Statuses: []string{"unavailable"}}},
}

// EnvoyInfrastructure reports whether a cluster is part of a mesh's own machinery, not a service that is called: of
// Istio by its names, of Kuma by their beginnings.
func EnvoyInfrastructure(cluster string) bool {
	switch cluster {
	case "BlackHoleCluster", "InboundPassthroughCluster", "InboundPassthroughClusterIpv4", "InboundPassthroughClusterIpv6",
		"PassthroughCluster", "agent", "prometheus_stats", "sds-grpc", "xds-grpc", "zipkin",
		"encap", "main_internal", "connect_originate", "ads_cluster", "access_log_sink":
		return true
	}
	return startsWith(cluster, "self_transparentproxy_", "system_", "kuma:", "_kuma_", "inbound:passthrough", "outbound:passthrough")
}

// EnvoyInbound reports whether a cluster is the service that a sidecar stands beside, by the names of Istio and Kuma.
func EnvoyInbound(cluster string) bool {
	return startsWith(cluster, "inbound|", "inbound_.", "self_inbound")
}

// EnvoyInboundHost gives the host in the name of an inbound cluster, which older releases of Istio put there, as
// `inbound|80|http|order.shop.svc.cluster.local`; empty for every other name.
func EnvoyInboundHost(cluster string) string {
	if parts := strings.Split(cluster, "|"); len(parts) == 4 && parts[0] == "inbound" {
		return parts[3]
	}
	return ""
}

func startsWith(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
