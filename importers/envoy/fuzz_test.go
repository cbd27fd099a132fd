package envoy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/peak"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// beside has a listener without routes, and routes without a listener.
var beside = []byte(`[{"name": "l", "filter_chains": [{"filters": [{"name": "envoy.http_connection_manager", "config": {"stat_prefix": "s", "rds": {"route_config_name": "edge"}}}]}]},
{"name": "more", "virtual_hosts": [{"name": "a", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "api"}}]}]}]`)

// FuzzEnvoy reads anything: no panic, no hang, not far more memory than its size, and a fragment that holds together.
func FuzzEnvoy(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
	}
	for _, text := range dense(300) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s := &importers.Source{File: "fuzz", Bytes: src}
		var known bool
		var frag *model.Fragment
		var found []diag.Finding
		all := peak.Allocated(func() {
			known = Importer.Recognise(s)
			frag, found = Importer.Import(s)
		})
		if all > peak.MostAllocated(len(src)) {
			t.Errorf("%d bytes take %d MB to read", len(src), all>>20)
		}
		if len(frag.Calls) > 0 && !known {
			t.Error("calls from a file that is not recognised")
		}
		checkFragment(t, frag, found)
		// Beside another file it is read as well, whatever the two say of each other.
		both, found := Importer.Together([]*importers.Source{s, {File: "beside", Bytes: beside}})
		for _, frag := range both {
			checkFragment(t, frag, found)
		}
	})
}

// checkFragment checks what every fragment promises to those who read it.
func checkFragment(t *testing.T, f *model.Fragment, found []diag.Finding) {
	t.Helper()
	placed := make([]int, len(f.Calls))
	for i := range f.Services {
		f.Services[i].Flow.Walk(func(c model.CallID) {
			placed[c]++
			if f.Calls[c].From != model.ServiceID(i) {
				t.Errorf("a flow of %s has a call of another service", f.Services[i].Name)
			}
		})
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		if placed[i] != 1 {
			t.Errorf("call %d stands in %d places of a flow", i, placed[i])
		}
		if len(c.Waiters) != 1 || c.At.Line == 0 || int(c.To) >= len(f.Services) {
			t.Errorf("call %d is not whole: %+v", i, c)
		}
		w := &c.Waiters[0]
		if w.PerTry.Set() && w.Timeout.Set() && w.PerTry.V >= w.Timeout.V {
			t.Errorf("call %d: per-try timeout %s is not below the timeout %s", i, w.PerTry.V, w.Timeout.V)
		}
		for _, v := range []model.Val[model.Duration]{w.Timeout, w.PerTry, w.Read(), w.Connect, w.Idle()} {
			if v.Set() && v.V <= 0 {
				t.Errorf("call %d has a limit of %s", i, v.V)
			}
		}
		if w.Attempts.Set() && w.Attempts.V < 1 || w.Retries() && !w.RetryOn().Set() {
			t.Errorf("call %d has %d attempts on %v", i, w.Attempts.V, w.RetryOn())
		}
	}
	for _, fd := range found {
		if fd.Code == nil || fd.Message == "" || fd.Place().File == "" {
			t.Errorf("a finding is not whole: %+v", fd)
		}
	}
}

// TestExplosion reads files that stand for far more than they say: many routes to one aggregate of many members.
func TestExplosion(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("static_resources:\n  clusters:\n  - name: all\n    cluster_type: {typed_config: {\"@type\": envoy.clusters.aggregate.v3.ClusterConfig, clusters: [")
	for i := range 200 {
		fmt.Fprintf(&b, "m%d, ", i)
	}
	b.WriteString("]}}\n---\nvirtual_hosts:\n- name: h\n  domains: ['*']\n  routes:\n")
	for range 200 {
		b.WriteString("  - {match: {prefix: /}, route: {cluster: all}}\n")
	}
	f, found := read(&importers.Source{File: "big.yaml", Bytes: []byte(b.String())})
	if len(f.Calls) != 0 || len(found) != 1 || found[0].Code != yamlsrc.Syntax || found[0].At.Line < 2 || !strings.Contains(found[0].Message, "more than 76") {
		t.Fatalf("%d calls, findings %v", len(f.Calls), found)
	}
}
