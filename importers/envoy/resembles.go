package envoy

import (
	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
)

// lookalikes are files of programs near Envoy, by keys that they have at their top.
var lookalikes = []struct {
	keys []string
	is   string
}{
	{[]string{"workloads", "workloadState"}, "a dump of ztunnel, Istio's proxy of a node, which has no timeouts and no retries"},
	{[]string{"ambassador_services", "envoy_elements"}, "Emissary's diagnostics, not the configuration of its Envoy"},
}

// resembles says what a file is that looks like Envoy's and is not.
func resembles(src *importers.Source) string {
	file, _ := src.YAML()
	for _, doc := range file.Docs {
		for _, l := range lookalikes {
			if doc.Get(l.keys[0]) != nil && doc.Get(l.keys[1]) != nil {
				return l.is
			}
		}
		for _, listener := range doc.Get("http").Items() {
			if isIntermediate(listener) {
				return "Envoy Gateway's intermediate form (xds-ir), from which it makes Envoy's configuration"
			}
		}
	}
	return ""
}

// isIntermediate recognises a listener in the form that Envoy Gateway translates.
func isIntermediate(n *yamlsrc.Node) bool {
	return n.Get("address").Kind() == yamlsrc.Scalar && n.Get("port") != nil && n.Get("routes").Kind() == yamlsrc.Seq
}
