package envoy

import (
	"testing"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/peak"
)

// TestMemory reads configurations that are made to be large in memory: at most 64 times their size and 64 MB.
func TestMemory(t *testing.T) {
	large := []string{
		"weighted clusters", "routes to many", "routes with a limit", "clusters by name", "routes in JSON", "mirrors", "ConfigMaps",
	}
	peak.Shapes(t, dense, 4<<20, large, func(text string) {
		f, found := Importer.Import(&importers.Source{File: "envoy.yaml", Bytes: []byte(text)})
		t.Logf("%d calls, %d findings", len(f.Calls), len(found))
	})
}

// dense are configurations that say as much as they can in a few bytes.
func dense(size int) map[string]string {
	fill := func(line func(i int) string) string { return peak.Fill(size, line) }
	one := func(text string) string { return fill(func(int) string { return text }) }
	host := func(routes string) string {
		return "virtual_hosts:\n- name: h\n  domains: ['*']\n  routes:\n" + routes
	}
	weighted := func(clusters string) string {
		return host("  - match: {prefix: /}\n    route:\n      weighted_clusters:\n        clusters:\n" + clusters)
	}
	aggregate := func(members string) string {
		return "static_resources:\n  clusters:\n  - name: all\n    cluster_type: {typed_config: {'@type': envoy.clusters.aggregate.v3.ClusterConfig, clusters: [" + members + "]}}\n---\n"
	}
	return map[string]string{
		"routes":                  host(one("  - {match: {}, route: {cluster: b}}\n")),
		"routes to many":          host(fill(func(i int) string { return "  - {match: {}, route: {cluster: " + peak.Letters(i) + "}}\n" })),
		"routes in JSON":          `{"virtual_hosts":[{"routes":[` + one(`{"match":{},"route":{"cluster":"b"}},`) + `{"match":{},"route":{}}]}]}`,
		"routes alone":            one("- {match: {}, route: {cluster: b}}\n"),
		"routes that call nobody": host(one("  - {match: {}, redirect: {}}\n")),
		"routes with a limit":     host(one("  - {match: {}, route: {cluster: b, timeout: 1s, retry_policy: {retry_on: 5xx}}}\n")),
		"bad limits":              host(one("  - {match: {}, route: {cluster: b, timeout: x}}\n")),
		"empty routes":            host(one("  - {}\n")),
		"weighted clusters":       weighted(one("        - {name: b, weight: 1}\n")),
		"clusters without weight": weighted(one("        - {name: b}\n")),
		"weighted in a line":      weighted("        [" + one("{name: b}, ") + "]\n"),
		"weighted headers":        weighted(fill(func(i int) string { return "        - {cluster_header: " + peak.Letters(i) + "}\n" })),
		"hosts":                   "virtual_hosts:\n" + one("- {name: h, routes: [{match: {}, route: {cluster: b}}]}\n"),
		"empty hosts":             "virtual_hosts:\n" + one("- {}\n"),
		"hosts without name":      "virtual_hosts: [" + one("{}, ") + "]\n",
		"tables":                  one("- {virtual_hosts: [{routes: [{match: {}, route: {cluster: b}}]}]}\n"),
		"empty tables":            one("- {virtual_hosts: []}\n"),
		"mirrors":                 host("  - match: {}\n    route:\n      cluster: b\n      request_mirror_policies:\n" + one("      - {cluster: b}\n")),
		"clusters":                "clusters:\n" + fill(func(i int) string { return "- {name: " + peak.Letters(i) + ", lb_policy: r}\n" }),
		"clusters by name":        fill(func(i int) string { n := peak.Letters(i); return n + ": {name: " + n + ", lb_policy: r}\n" }),
		"clusters with routes":    "static_resources:\n  clusters:\n" + fill(func(i int) string { return "  - {name: " + peak.Letters(i) + ", lb_policy: r}\n" })[:size/2] + "}\n" + "---\n" + host(fill(func(i int) string { return "  - {match: {}, route: {cluster: " + peak.Letters(i) + "}}\n" })[:size/2]+"}}\n"),
		"endpoints":               "clusters:\n- name: a\n  lb_policy: r\n  load_assignment:\n    endpoints:\n    - lb_endpoints:\n" + one("      - {endpoint: {}}\n"),
		"listeners":               "listeners:\n" + fill(func(i int) string { return "- {name: " + peak.Letters(i) + ", filter_chains: []}\n" }),
		"listeners with a proxy": "listeners:\n" + fill(func(i int) string {
			return "- {name: " + peak.Letters(i) + ", filter_chains: [{filters: [{name: tcp_proxy, config: {cluster: b}}]}]}\n"
		}),
		"managers": "listeners:\n" + fill(func(i int) string {
			return "- {name: " + peak.Letters(i) + ", filter_chains: [{filters: [{name: http_connection_manager, config: {stat_prefix: s, rds: {route_config_name: r}}}]}]}\n"
		}),
		"filters":            "listeners:\n- name: l\n  filter_chains:\n  - filters:\n" + one("    - {name: redis_proxy, config: {prefix_routes: {catch_all_route: {cluster: b}}}}\n"),
		"dump entries":       "configs:\n" + one("- {'@type': type.googleapis.com/envoy.admin.v3.RoutesConfigDump}\n"),
		"members":            aggregate(one("b, ")) + host("  - {match: {}, route: {cluster: all}}\n"),
		"routes to members":  aggregate(peak.Fill(size/2, func(i int) string { return peak.Letters(i) + ",\n" })) + host(one("  - {match: {}, route: {cluster: all}}\n")[:size/2]+"}}\n"),
		"both spellings":     host(one("  - {match: {}, route: {cluster: b, maxGrpcTimeout: 1s, max_grpc_timeout: 1s}}\n")),
		"headers":            host("  - route: {cluster: b}\n    match:\n      headers:\n" + one("      - {name: a}\n")),
		"policies by filter": host("  - match: {}\n    route: {cluster: b}\n    typed_per_filter_config:\n" + fill(func(i int) string { return "      " + peak.Letters(i) + ": {}\n" })),
		"documents":          one("virtual_hosts: []\n---\n"),
		"ConfigMaps":         one("kind: ConfigMap\ndata: {a: \"virtual_hosts: []\"}\n---\n"),
		"nothing":            "resources: [" + one("{}, ") + "]\n",
		"dashes":             "resources:\n" + one("-\n"),
	}
}
