package merge

import (
	"strings"

	"github.com/budgetplan/budgetplan/model/dialect"
)

// platformName is what a platform's name of a service says of it.
type platformName struct {
	// host is the name without direction, port and subset, in small letters.
	host string
	// short and space are the service and its namespace; space is empty where the name has none.
	short, space string
	// mesh is true for a form that nothing but a mesh or a cluster's DNS gives: it has one shorter spelling.
	mesh bool
	// route is true where the platform names a route, after which the service may or may not be called.
	route bool
	// inbound is true for the way from a proxy to the application beside it, which is no call between services.
	inbound bool
}

// parsePlatform reads a name in the forms of Istio (`outbound|80|v1|product.shop.svc.cluster.local`, and the same
// with `_.` for `|`), of Envoy Gateway (`httproute/shop/product/rule/0`), of Kubernetes (`product.shop`,
// `product.shop.svc`, `product.shop.svc.cluster.local`) and with a port (`product:8080`). Any other name is its own host.
//
// Sources: istio.io/istio pilot/pkg/model/service.go, BuildSubsetKey and BuildDNSSrvSubsetKey; envoyproxy/gateway
// internal/gatewayapi/helpers.go, irRouteDestinationName; kubernetes/dns docs/specification.md, 2.3.1.
func parsePlatform(name string) platformName {
	var p platformName
	if space, route, ok := gatewayRoute(name); ok {
		return platformName{host: strings.ToLower(name), short: route, space: space, route: true}
	}
	host, mesh := meshHost(name)
	p.mesh, p.inbound = mesh, dialect.EnvoyInbound(name)
	host = withoutPort(host)
	p.host = strings.ToLower(host)
	first, rest, dotted := strings.Cut(host, ".")
	space, domain, _ := strings.Cut(rest, ".")
	switch {
	case !dnsLabel(first):
	case !dotted:
		p.short = first
	case dnsLabel(space) && (domain == "" || domain == "svc" || strings.HasPrefix(domain, "svc.")):
		p.short, p.space = first, space
		p.mesh = p.mesh || domain != ""
	}
	return p
}

// meshHost takes direction, port and subset off a name of Istio's; false for any other name.
func meshHost(name string) (string, bool) {
	for _, sep := range []string{"|", "_."} {
		parts := strings.SplitN(name, sep, 4)
		if len(parts) == 4 && (parts[0] == "outbound" || parts[0] == "inbound") {
			return strings.TrimPrefix(parts[3], "_"), true
		}
	}
	return name, false
}

// gatewayRoute reads `httproute/NAMESPACE/NAME/rule/0…`.
func gatewayRoute(name string) (space, route string, ok bool) {
	parts := strings.Split(name, "/")
	if len(parts) < 5 || parts[3] != "rule" || !strings.HasSuffix(parts[0], "route") {
		return "", "", false
	}
	return parts[1], parts[2], dnsLabel(parts[2])
}

func withoutPort(host string) string {
	name, port, found := strings.Cut(host, ":")
	if found && name != "" && port != "" && strings.Trim(port, "0123456789") == "" {
		return name
	}
	return host
}

// dnsLabel reports whether a text can be the name of a Kubernetes service or namespace. A number alone is a part of an
// address, and a capital letter is a method's.
func dnsLabel(s string) bool {
	letter := false
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z':
			letter = true
		case r >= '0' && r <= '9', r == '-':
		default:
			return false
		}
	}
	return letter
}

// spelling is the one that a name of a mesh is shown in: `product.shop`. Every other name is kept.
func (p platformName) spelling(name string) string {
	switch {
	case !p.mesh || p.host == "":
		return name
	case p.space != "":
		return p.short + "." + p.space
	}
	return p.host
}

// flat is a name as a metric's name can have it: nothing but letters, digits and underscores.
func flat(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// untilDot is what Envoy's tag extraction leaves of a cluster's name: what stands before its first dot.
// Source: envoyproxy/envoy source/common/config/well_known_names.cc, CLUSTER_NAME as a token.
func untilDot(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}
