package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
)

// routeFiles writes a plan and n route files beside it, each the routes of one gateway to five services, of which
// neighbours share four, under the names of a mesh.
func routeFiles(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	plan := "version: 1\nsources: [{envoy: 'routes-*.yaml'}]\nservices:\n"
	for i := range n {
		text := fmt.Sprintf("name: gateway-%d\nvirtual_hosts:\n- name: all\n  domains: ['*']\n  routes:\n", i)
		for k := range 5 {
			text += fmt.Sprintf("  - match: {prefix: /%d}\n    route: {cluster: 'outbound|80||service-%d.shop.svc.cluster.local', timeout: 1s}\n", k, i+k)
		}
		write(fmt.Sprintf("routes-%04d.yaml", i), text)
		plan += fmt.Sprintf("  service-%d: {local_work: 1ms}\n", i)
	}
	write("budgetplan.yaml", plan)
	return filepath.Join(dir, "budgetplan.yaml")
}

// TestManyFiles: each route of each file is a call, to the service that the plan means.
func TestManyFiles(t *testing.T) {
	const n = 50
	r, err := Run(Options{Args: []string{routeFiles(t, n)}})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Plans[0].Plan
	if len(p.Calls) != 5*n || len(p.Services) != 2*n+4 {
		t.Errorf("%d calls, %d services; want %d, %d", len(p.Calls), len(p.Services), 5*n, 2*n+4)
	}
	if len(p.Joined) != n+4 {
		t.Errorf("%d names joined, want %d", len(p.Joined), n+4)
	}
}

// BenchmarkManyFiles walks the whole corridor over a plan and 1,000 route files, reading included.
func BenchmarkManyFiles(b *testing.B) {
	plan := routeFiles(b, 1000)
	for b.Loop() {
		r, err := Run(Options{Args: []string{plan}, Loader: &load.Loader{}, Fixes: true, Allowed: true})
		if err != nil || len(r.Plans[0].Plan.Calls) != 5000 {
			b.Fatalf("%v, %d calls", err, len(r.Plans[0].Plan.Calls))
		}
	}
}
