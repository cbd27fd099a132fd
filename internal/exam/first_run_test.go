package exam

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mesh writes the sidecars of a mesh of 500 services that make 2,000 calls, none of which has a limit of its own.
func mesh(t *testing.T) string {
	t.Helper()
	const services, calls = 500, 2000
	random := rand.New(rand.NewPCG(1, 1))
	callees := make([]map[int]bool, services)
	for n := 0; n < calls; {
		from := random.IntN(services - 1)
		to := from + 1 + random.IntN(min(60, services-from-1))
		if n < services-1 {
			to = n + 1 // everybody is called
			from = random.IntN(to)
		}
		if callees[from] == nil {
			callees[from] = map[int]bool{}
		}
		if !callees[from][to] {
			callees[from][to] = true
			n++
		}
	}
	dir := t.TempDir()
	for from, to := range callees {
		if len(to) == 0 {
			continue
		}
		var hosts, clusters strings.Builder
		for c := range services {
			if to[c] {
				fmt.Fprintf(&hosts, "            - {name: svc%03d, domains: [svc%03d], routes: [{match: {prefix: /}, route: {cluster: svc%03d}}]}\n", c, c, c)
				fmt.Fprintf(&clusters, "  - {name: svc%03d, type: STRICT_DNS}\n", c)
			}
		}
		text := fmt.Sprintf(`node: {cluster: svc%03d}
static_resources:
  listeners:
  - name: out
    address: {socket_address: {address: 127.0.0.1, port_value: 15001}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          route_config:
            virtual_hosts:
%s  clusters:
%s`, from, &hosts, &clusters)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("svc%03d.yaml", from)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The first run over a mesh with nothing but a platform's defaults says a handful of things, and what to type next.
func TestFirstRun(t *testing.T) {
	dir := mesh(t)
	for _, run := range []struct {
		preset   string
		findings int
	}{{"default", 10}, {"strict", 15}} {
		stdout, stderr, status := tool("check", "--preset", run.preset, "--format", "short", dir)
		if status != 0 {
			t.Fatalf("%s: exit status %d\n%s", run.preset, status, stderr)
		}
		if n := strings.Count(stdout, "\n"); n == 0 || n > run.findings {
			t.Errorf("%s: %d findings, want at most %d and not none\n%s", run.preset, n, run.findings, stdout[:min(len(stdout), 3000)])
		}
		if !strings.Contains(stderr, "2000 calls, 500 services; found 0 errors") {
			t.Errorf("%s: %s", run.preset, stderr)
		}
	}
	stdout, stderr, status := tool("check", dir)
	if n := strings.Count(stdout+stderr, "\n"); status != 0 || n >= 60 {
		t.Errorf("exit status %d, %d lines\n%s", status, n, stdout[:min(len(stdout), 3000)])
	}
	_, command, found := strings.Cut(stderr, "next: budgetplan ")
	command, _, _ = strings.Cut(command, ",")
	if !found || !strings.HasPrefix(command, "init --from ") {
		t.Fatalf("what to type next is not said:\n%s", stderr)
	}

	// The commands that it says to type, one after the other.
	plan := filepath.Join(t.TempDir(), "budgetplan.yaml")
	if _, stderr, status := tool(append(strings.Fields(command), plan)...); status != 0 {
		t.Fatalf("%s: exit status %d\n%s", command, status, stderr)
	}
	_, stderr, status = tool("check", plan)
	if status != 0 || !strings.Contains(stderr, "2000 calls, 500 services") {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	_, command, _ = strings.Cut(stderr, "next: budgetplan ")
	if stdout, stderr, status := tool(strings.Fields(command)...); status != 0 || !strings.Contains(stdout, "15s") {
		t.Errorf("%s: exit status %d\n%s%s", command, status, stdout, stderr)
	}
}
