package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model/dialect"
)

// body writes the bootstrap: one listener, a virtual host and a cluster a callee.
func (f *envoyFile) body(caller string) string {
	var b strings.Builder
	fmt.Fprintf(&b, envoyHead, yamlText(caller), yamlText(caller))
	for _, h := range f.hosts {
		fmt.Fprintf(&b, "                  - name: %s\n                    domains: [%s, %s]\n                    routes:\n",
			yamlText(h.callee.Name), yamlText(h.domain), yamlText(h.domain+":*"))
		for _, r := range h.routes {
			b.WriteString(r)
		}
	}
	b.WriteString(envoyFilters)
	for _, c := range f.clusters {
		c.write(&b)
	}
	return b.String()
}

const envoyHead = `node: {id: %s, cluster: %s}
static_resources:
  listeners:
    - name: calls
      address: {socket_address: {address: 127.0.0.1, port_value: 15001}}  # yours
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: calls
                stream_idle_timeout: 0s
                route_config:
                  name: calls
                  virtual_hosts:
`

const envoyFilters = `                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
`

// write writes a cluster. Its endpoint is the callee's name, which the reader replaces.
func (c *envoyCluster) write(b *strings.Builder) {
	fmt.Fprintf(b, "    - name: %s\n      type: STRICT_DNS\n      connect_timeout: %s\n", yamlText(c.name), dialect.Envoy.Format(c.connect))
	if c.budget.Set() {
		fmt.Fprintf(b, "      circuit_breakers: {thresholds: [{retry_budget: {budget_percent: {value: %s}}}]}\n",
			strconv.FormatFloat(c.budget.V.Float()*100, 'f', -1, 64))
	}
	if c.idle.Set() || c.grpc {
		protocol := "http_protocol_options"
		if c.grpc {
			protocol = "http2_protocol_options"
		}
		b.WriteString("      typed_extension_protocol_options:\n        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:\n" +
			"          \"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions\n" +
			"          explicit_http_config: {" + protocol + ": {}}\n")
		if c.idle.Set() {
			fmt.Fprintf(b, "          common_http_protocol_options: {idle_timeout: %s}\n", dialect.Envoy.Format(c.idle.V))
		}
	}
	fmt.Fprintf(b, "      load_assignment:\n        cluster_name: %s\n        endpoints:\n          - lb_endpoints:\n"+
		"              - endpoint: {address: {socket_address: {address: %s, port_value: 80}}}  # yours\n", yamlText(c.name), yamlText(c.domain))
}

// yamlText writes a text that YAML reads as the same string inside of braces, too.
func yamlText(s string) string { return strconv.Quote(s) }

// countText writes a number of attempts, which may have no end.
func countText(n int64) string {
	if n >= 1<<31-1 {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}
