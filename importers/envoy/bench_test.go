package envoy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/importers"
)

// BenchmarkRoutes reads a thousand route files of twenty routes each, at once.
func BenchmarkRoutes(b *testing.B) {
	var src strings.Builder
	src.WriteString("name: edge\nvirtual_hosts:\n- name: all\n  domains: ['*']\n  routes:\n")
	for i := range 20 {
		fmt.Fprintf(&src, "  - match: {prefix: /s%d}\n    route:\n      cluster: s%d\n      timeout: 3s\n      retry_policy: {retry_on: '5xx,reset', num_retries: 2, per_try_timeout: 1s}\n", i, i)
	}
	for b.Loop() {
		sources := make([]*importers.Source, 1000)
		for i := range sources {
			sources[i] = &importers.Source{File: fmt.Sprintf("r%d.yaml", i), Bytes: []byte(src.String())}
		}
		calls := 0
		fragments, _ := Importer.Together(sources)
		for _, f := range fragments {
			calls += len(f.Calls)
		}
		if calls != 20_000 {
			b.Fatal(calls)
		}
	}
}

// BenchmarkDump reads a config dump of 100 MB, with every cluster and route of a large mesh as Envoy prints them, and
// reports the memory that it holds on to at its peak.
func BenchmarkDump(b *testing.B) {
	text := largeDump(100 << 20)
	b.SetBytes(int64(len(text)))
	var peak uint64
	for b.Loop() {
		src := &importers.Source{File: "dump.json", Bytes: text}
		if !Importer.Recognise(src) {
			b.Fatal("not recognised")
		}
		f, found := Importer.Import(src)
		if len(f.Calls) < 50_000 || len(found) > 1 {
			b.Fatalf("%d calls, findings %v", len(f.Calls), found)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys)
		runtime.KeepAlive(src)
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
}

// largeDump writes a dump of at least so many bytes.
func largeDump(size int) []byte {
	var b strings.Builder
	b.Grow(size + 1<<20)
	const route = `            {
             "name": "default",
             "match": {"prefix": "/%d"},
             "route": {
              "cluster": "outbound|80||s%d.shop.svc.cluster.local",
              "timeout": "0s",
              "retry_policy": {
               "retry_on": "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes",
               "num_retries": 2,
               "retry_host_predicate": [{"name": "envoy.retry_host_predicates.previous_hosts"}],
               "host_selection_retry_max_attempts": "5",
               "retriable_status_codes": [503]
              },
              "max_grpc_timeout": "0s"
             },
             "metadata": {"filter_metadata": {"istio": {"config": "/apis/networking.istio.io/v1alpha3/namespaces/shop/virtual-service/s%d"}}},
             "decorator": {"operation": "s%d.shop.svc.cluster.local:80/*"}
            }`
	const cluster = `    {"version_info": "2026-01-01T00:00:00Z/1", "cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "outbound|80||s%d.shop.svc.cluster.local", "type": "EDS", "connect_timeout": "10s", "circuit_breakers": {"thresholds": [{"max_connections": 4294967295, "max_retries": 4294967295}]}}, "last_updated": "2026-01-01T00:00:00.000Z"}`
	b.WriteString("{\n \"configs\": [\n")
	b.WriteString(` {"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [` + "\n")
	n := size / 1400
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, cluster, i)
	}
	b.WriteString("\n]},\n" + ` {"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "80", "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [` + "\n")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, route, i, i%n, i, i)
	}
	b.WriteString("\n]}]}}]}\n]}\n")
	return []byte(b.String())
}
