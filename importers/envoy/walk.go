package envoy

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
)

// resource is a kind of thing that a document can have at its top, or inside of a wrapper.
type resource uint8

const (
	isNothing resource = iota
	isWrapper          // has wrapper fields, of Envoy or not
	isBootstrap
	isListener
	isManager
	isCluster
	isTable // a RouteConfiguration
	isHost
	isRoute
	isNamed // resources by their names
	isDump  // a part of a config dump
	isOther // of Envoy, but without calls: secrets, endpoints, empty dumps
)

// byType maps the last part of an `@type` to what it is. Everything else of Envoy is isOther.
var byType = map[string]resource{
	"Bootstrap": isBootstrap, "Listener": isListener, "HttpConnectionManager": isManager, "Cluster": isCluster,
	"RouteConfiguration": isTable, "VirtualHost": isHost, "Route": isRoute, "Resource": isWrapper,
}

// wrappers are the fields under which resources stand: of discovery responses, of files that a generator or a
// dump writes, and of bootstraps. Warming and draining states are left out: they do not serve.
var wrappers = []string{
	"resources", "resource", "configs", "bootstrap", "static_resources",
	"listeners", "clusters", "routes", "xds",
	"static_listeners", "dynamic_listeners", "active_state", "listener",
	"static_clusters", "dynamic_active_clusters", "cluster",
	"static_route_configs", "dynamic_route_configs", "route_config",
}

// maxWrapped is how deep wrappers are followed; a dump in a generator's file needs nine levels.
const maxWrapped = 12

// recognise reports whether any document has a resource of Envoy.
func recognise(src *importers.Source) bool {
	file, _ := src.YAML()
	found := false
	things := importers.ThingsOf(src)
	defer things.End()
	docs := documents(file, func(*yamlsrc.Node) bool { return things.Add(perText) })
	for _, doc := range docs {
		walk(doc, 0, func(kind resource, _ *yamlsrc.Node) { found = found || kind != isNothing })
	}
	return found
}

// documents gives those of a file, and those that its ConfigMaps carry as texts, as long as there is room for them.
func documents(file *yamlsrc.File, room func(*yamlsrc.Node) bool) []*yamlsrc.Node {
	docs := slices.Clip(file.Docs)
	for _, doc := range file.Docs {
		if doc.Get("kind").Text() != "ConfigMap" {
			continue
		}
		for _, p := range doc.Get("data").Pairs() {
			if p.Value.Quoted() && room(p.Value) {
				inner, _ := yamlsrc.Inside(p.Value)
				docs = append(docs, inner.Docs...)
			}
		}
	}
	return docs
}

// walk visits every resource of a document in file order.
func walk(n *yamlsrc.Node, depth int, visit func(resource, *yamlsrc.Node)) {
	if depth > maxWrapped {
		return
	}
	if n.Kind() == yamlsrc.Seq {
		for _, item := range n.Items() {
			walk(item, depth+1, visit)
		}
		return
	}
	kind := classify(n)
	switch kind {
	case isNothing:
		return
	case isNamed:
		for _, p := range n.Pairs() {
			walk(p.Value, depth+1, visit)
		}
	case isWrapper, isBootstrap, isDump, isOther:
		if kind != isWrapper {
			visit(kind, n)
		}
		for _, p := range n.Pairs() {
			walkField(p, depth, visit)
		}
	default:
		visit(kind, n)
	}
}

func walkField(p yamlsrc.Pair, depth int, visit func(resource, *yamlsrc.Node)) {
	key := p.Key.Text()
	i := slices.IndexFunc(wrappers, func(w string) bool { return sameName(key, w) })
	switch alone := i >= 0 && classify(p.Value) == isNothing && p.Value.Kind() == yamlsrc.Map; {
	case typeKey(key), alone && key == "xds": // keyed by type, then by name; or by proxy
		for _, named := range p.Value.Pairs() {
			walk(named.Value, depth+2, visit)
		}
	case alone && key == "bootstrap": // of a proxy that has everything from elsewhere
		visit(isBootstrap, p.Value)
	case i >= 0:
		walk(p.Value, depth+1, visit)
		if wrappers[i] == "static_resources" {
			walkTerse(field(p.Value, "clusters"), visit)
		}
	}
}

// walkTerse visits clusters that say too little to be known for what they are by themselves: a name alone, where every
// default holds.
func walkTerse(clusters *yamlsrc.Node, visit func(resource, *yamlsrc.Node)) {
	for _, c := range list(clusters) {
		if classify(c) == isNothing && field(c, "name") != nil {
			visit(isCluster, c)
		}
	}
}

// typeKey reports whether a key is the URL of one of Envoy's types.
func typeKey(key string) bool { return strings.HasPrefix(key, "type.googleapis.com/envoy.") }

// classify says what a mapping is, by its type if it has one, else by the fields that no other thing has.
func classify(n *yamlsrc.Node) resource {
	if n.Kind() != yamlsrc.Map {
		return isNothing
	}
	if t := n.Get("@type").Text(); t != "" {
		if !strings.Contains(t, "envoy.") {
			return isNothing
		}
		if kind, ok := byType[t[strings.LastIndexByte(t, '.')+1:]]; ok {
			return kind
		}
		if strings.Contains(t, "envoy.admin.") {
			return isDump
		}
		return isOther
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if field(n, name) != nil {
				return true
			}
		}
		return false
	}
	switch {
	case has("apiVersion") && has("kind"):
		return isNothing
	case has("static_resources", "dynamic_resources"):
		return isBootstrap
	case has("virtual_hosts"):
		return isTable
	case has("filter_chains", "default_filter_chain", "listener_filters") && has("address", "name"):
		return isListener
	case has("route_config", "rds") && has("stat_prefix"):
		return isManager
	case has("match") && has("route", "redirect", "direct_response"):
		return routeShape(n)
	case has("routes") && hasRoutes(n):
		return isHost
	case has("name") && has("connect_timeout", "load_assignment", "lb_policy", "typed_extension_protocol_options", "eds_cluster_config", "cluster_type"):
		return isCluster
	case has(wrappers...), slices.ContainsFunc(n.Pairs(), func(p yamlsrc.Pair) bool { return typeKey(p.Key.Text()) }):
		return isWrapper
	case isKeyed(n):
		return isNamed
	}
	return isNothing
}

// isKeyed reports whether a mapping has resources under their own names.
func isKeyed(n *yamlsrc.Node) bool {
	for _, p := range n.Pairs() {
		if name := field(p.Value, "name"); name == nil || name.Text() != p.Key.Text() {
			return false
		}
		if kind := classify(p.Value); kind != isCluster && kind != isListener && kind != isTable {
			return false
		}
	}
	return len(n.Pairs()) > 0
}

// hasRoutes tells the routes of a virtual host from those of other platforms.
func hasRoutes(n *yamlsrc.Node) bool {
	for _, route := range list(field(n, "routes")) {
		return classify(route) == isRoute
	}
	return false
}

// routeShape tells Envoy's route from an Istio rule, whose match is a list and whose route is one, too.
func routeShape(n *yamlsrc.Node) resource {
	if field(n, "match").Kind() != yamlsrc.Map || field(n, "route").Kind() == yamlsrc.Seq {
		return isNothing
	}
	return isRoute
}
