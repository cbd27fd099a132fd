package exam

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/envoy"
	"github.com/budgetplan/budgetplan/importers/prometheus"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// measured are bootstraps with the paths that reach each of their clusters.
var measured = map[string][]string{
	"envoyproxy__examples__front-proxy--service-envoy.yaml":            {"/service/1"},
	"envoyproxy__examples__route-mirror--envoy.yaml":                   {"/service/1", "/service/2"},
	"envoyproxy__examples__jaeger-tracing--service1-envoy-jaeger.yaml": {"/", "/trace/2"},
}

var endpoint = regexp.MustCompile(`address: (\S+)(\s+)port_value: \d+`)

// The metrics of a running Envoy measure the very calls that its bootstrap makes.
func TestEnvoyStats(t *testing.T) {
	t.Parallel()
	binary := envoyBinary(t)
	for name, paths := range measured {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := corpusFile(t, name)
			backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(3 * time.Millisecond)
			}))
			defer backend.Close()
			to, err := url.Parse(backend.URL)
			if err != nil {
				t.Fatal(err)
			}
			var listeners []int
			text = endpoint.ReplaceAllFunc(text, func(m []byte) []byte {
				part := endpoint.FindSubmatch(m)
				port := to.Port()
				if string(part[1]) == "0.0.0.0" {
					listeners = append(listeners, freePort(t))
					port = fmt.Sprint(listeners[len(listeners)-1])
				}
				return fmt.Appendf(nil, "address: 127.0.0.1%sport_value: %s", part[2], port)
			})
			admin := freePort(t)
			text = fmt.Appendf(text, "\nadmin: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}\n", admin)
			config := filepath.Join(t.TempDir(), "envoy.yaml")
			if err := os.WriteFile(config, text, 0o644); err != nil {
				t.Fatal(err)
			}
			startEnvoy(t, binary, config, admin)
			dump(t, admin, "/config_dump") // waits until it is ready
			for range 3 {
				for _, port := range listeners {
					for _, path := range paths {
						if resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path)); err == nil {
							_ = resp.Body.Close()
						}
					}
				}
			}
			want := pairs(t, envoy.Importer, "envoy.yaml", text, func(c *model.Call) bool { return !c.Async.V })
			var got []string
			for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && !slices.Equal(got, want); time.Sleep(500 * time.Millisecond) {
				if stats := dump(t, admin, "/stats/prometheus"); bytes.Contains(stats, []byte("upstream_rq_time_bucket")) {
					// What the tracer and the mirror send is measured too, and is no call that anybody waits for; what the
					// proxy hands to its own service is no call at all.
					got = slices.DeleteFunc(pairs(t, prometheus.Importer, "stats.prom", stats, func(c *model.Call) bool { return c.Latency.Set() }),
						func(pair string) bool {
							_, to, _ := strings.Cut(pair, "/")
							return to == "jaeger" || to == "local_service" || strings.HasSuffix(to, "-mirror")
						})
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("measured %v, the file calls %v", got, want)
			}
		})
	}
}

// pairs are the callers and callees of the calls that a source has, each once, sorted.
func pairs(t *testing.T, imp *importers.Importer, name string, text []byte, keep func(*model.Call) bool) []string {
	t.Helper()
	src := &importers.Source{File: name, Bytes: text, Service: model.At("edge", diag.Span{File: "plan.yaml", Line: 1})}
	if !imp.Recognise(src) {
		t.Fatalf("%s is not recognised", name)
	}
	f, _ := imp.Import(src)
	var out []string
	for i := range f.Calls {
		if c := &f.Calls[i]; keep(c) {
			out = append(out, f.Services[c.From].Name+"/"+f.Services[c.To].Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
