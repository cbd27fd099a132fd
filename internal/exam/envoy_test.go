package exam

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/template"
	"time"
)

// envoyBinary finds a real Envoy; without one the tests skip, except in CI.
func envoyBinary(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("envoy")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs a real envoy: %v", err)
		}
		t.Skip("no envoy on PATH")
	}
	return path
}

// Envoy itself takes the configuration of the example.
func TestEnvoyTakesTheExample(t *testing.T) {
	out, err := exec.Command(envoyBinary(t), "--mode", "validate", "--use-dynamic-base-id", "-c", "../../examples/envoy-front-proxy/deploy/envoy.yaml").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// routes are configurations whose attempts and wait are claimed by the tool and counted at a real Envoy.
var routes = []struct {
	Name, Route string
	Status      int // what the backend answers at once; 0: it hangs
	want        []string
}{
	{
		Name: "four-tries", Route: "timeout: 3s, retry_policy: {retry_on: 5xx, num_retries: 3, per_try_timeout: 1s}",
		want: []string{"attempts_possible", "if_hangs.wait_ms"},
	},
	{
		Name: "no-per-try", Route: "timeout: 1s, retry_policy: {retry_on: 5xx, num_retries: 3}",
		want: []string{"attempts_possible", "if_hangs.wait_ms"},
	},
	{
		Name: "ignored-per-try", Route: "timeout: 1s, retry_policy: {retry_on: 5xx, num_retries: 3, per_try_timeout: 1s}",
		want: []string{"attempts_possible", "if_hangs.wait_ms"},
	},
	{
		Name: "fails-fast", Route: "timeout: 3s, retry_policy: {retry_on: 5xx, num_retries: 3, per_try_timeout: 1s}", Status: 503,
		want: []string{"amplification.configured"},
	},
	{
		Name: "no-conditions", Route: "timeout: 3s, retry_policy: {num_retries: 3, per_try_timeout: 1s}", Status: 503,
		want: []string{"amplification.configured"},
	},
	{
		Name: "timeouts-not-retried", Route: "timeout: 3s, retry_policy: {retry_on: connect-failure, num_retries: 3, per_try_timeout: 1s}",
		want: []string{"amplification.configured", "if_hangs.wait_ms"},
	},
}

var bootstrap = template.Must(template.New("envoy.yaml").Parse(`
static_resources:
  listeners:
    - address: {socket_address: {address: 127.0.0.1, port_value: {{.Listen}}}}
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: edge
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
{{range .Routes}}                        - {match: {prefix: /{{.Name}}}, route: {cluster: {{.Name}}, {{.Route}}}}
{{end}}                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
{{range .Routes}}    - name: {{.Name}}
      connect_timeout: 0.25s
      load_assignment:
        cluster_name: {{.Name}}
        endpoints:
          - lb_endpoints:
              - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: {{$.Backend}}}}}
{{end}}`))

// What the tool claims of a route, a running Envoy does: the attempts that reach the callee and how long the caller waits.
func TestEnvoyDoesWhatWeClaim(t *testing.T) {
	binary := envoyBinary(t)
	backend := newBackend()
	defer backend.server.Close()
	listen := freePort(t)
	config := filepath.Join(t.TempDir(), "envoy.yaml")
	var text bytes.Buffer
	data := map[string]any{"Listen": listen, "Backend": port(backend.server.Listener.Addr()), "Routes": routes}
	if err := bootstrap.Execute(&text, data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	claims := claim(t, config)
	startEnvoy(t, binary, config, listen)

	var all sync.WaitGroup
	for _, r := range routes {
		all.Go(func() {
			start := time.Now()
			resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", listen, r.Name))
			waited := time.Since(start)
			if err != nil {
				t.Errorf("%s: %v", r.Name, err)
				return
			}
			_ = resp.Body.Close()
			row := claims.rows["call edge/"+r.Name]
			for _, field := range r.want {
				got, ok := lookup(row, field)
				switch {
				case !ok:
					t.Errorf("%s: the tool says nothing of %s", r.Name, field)
				case field == "if_hangs.wait_ms":
					// Timers fire late on a busy machine, never early.
					if !nearWait(fmt.Sprint(got), waited) {
						t.Errorf("%s: the tool says the caller waits %s ms, envoy answered after %s", r.Name, got, waited)
					}
				case fmt.Sprint(got) != fmt.Sprint(backend.count(r.Name)):
					t.Errorf("%s: the tool says %s %s, envoy sent %d requests", r.Name, field, got, backend.count(r.Name))
				}
			}
		})
	}
	all.Wait()
}

// nearWait allows 10 ms early and a second late.
func nearWait(claimed string, waited time.Duration) bool {
	want, err := time.ParseDuration(claimed + "ms")
	return err == nil && waited > want-10*time.Millisecond && waited < want+time.Second
}

// claim is what the tool says of the configuration.
func claim(t *testing.T, config string) *output {
	t.Helper()
	plan := filepath.Join(filepath.Dir(config), "budgetplan.yaml")
	if err := os.WriteFile(plan, []byte("version: 1\nsources: [{envoy: envoy.yaml, service: edge}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := tool("plan", "--format", "json", plan)
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	out, err := parse([]byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// backend counts the requests of each route and answers or hangs as the route says.
type backend struct {
	server *httptest.Server
	mu     sync.Mutex
	seen   map[string]int
}

func newBackend() *backend {
	b := &backend{seen: map[string]int{}}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		b.mu.Lock()
		b.seen[name]++
		b.mu.Unlock()
		for _, route := range routes {
			if route.Name == name && route.Status != 0 {
				w.WriteHeader(route.Status)
				return
			}
		}
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	return b
}

func (b *backend) count(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[name]
}

func startEnvoy(t *testing.T, binary, config string, listen int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "-c", config, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", listen))
		if err == nil {
			_ = conn.Close()
			return
		}
	}
	cancel()
	_ = cmd.Wait()
	t.Fatalf("envoy did not listen within 20 s\n%s", log.String())
}

func port(a net.Addr) int { return a.(*net.TCPAddr).Port }

// given has the ports that freePort has given away.
var given sync.Map

// freePort gives a port that nobody listens on, and gives none twice. It is below those that the system gives to
// connections, one of which would take it before its server starts.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 15_000 + rand.IntN(15_000)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
