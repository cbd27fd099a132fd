package exam

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/envoy"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// corpusDir has real files of other people's projects; it lies beside the repository.
const corpusDir = "../../../shared/corpus/envoy"

// corpusFile reads one of them. Without it the test is skipped, except in CI.
func corpusFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpusDir, name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs the corpus beside the repository: %v", err)
		}
		t.Skip("the corpus is not beside the repository")
	}
	return text
}

// dumped are static bootstraps: routes and mirrors, filters that call services, two listeners, Redis.
var dumped = []string{
	"envoyproxy__examples__front-proxy--service-envoy.yaml",
	"envoyproxy__examples__route-mirror--envoy.yaml",
	"envoyproxy__examples__grpc-service--v3.yaml",
	"envoyproxy__examples__jaeger-tracing--service1-envoy-jaeger.yaml",
	"envoyproxy__examples__redis--envoy.yaml",
}

var (
	portValue = regexp.MustCompile(`port_value: \d+`)
	anyHost   = regexp.MustCompile(`address: 0\.0\.0\.0`)
)

// The dump of a running Envoy comes in as the calls of the file that it was started with, each once.
func TestEnvoyDump(t *testing.T) {
	t.Parallel()
	binary := envoyBinary(t)
	for _, name := range dumped {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := corpusFile(t, name)
			text = portValue.ReplaceAllFunc(text, func([]byte) []byte { return fmt.Appendf(nil, "port_value: %d", freePort(t)) })
			text = anyHost.ReplaceAll(text, []byte("address: 127.0.0.1"))
			admin := freePort(t)
			text = fmt.Appendf(text, "\nadmin: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}\n", admin)
			config := filepath.Join(t.TempDir(), "envoy.yaml")
			if err := os.WriteFile(config, text, 0o644); err != nil {
				t.Fatal(err)
			}
			startEnvoy(t, binary, config, admin)
			want := calls(t, "envoy.yaml", text)
			if len(want) == 0 {
				t.Fatal("the bootstrap has no call")
			}
			for _, query := range []string{"/config_dump", "/config_dump?include_eds"} {
				if got := calls(t, "dump.json", dump(t, admin, query)); !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nthe file:\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			// The forms that are a part of it have what they have.
			part := dump(t, admin, "/config_dump?resource=static_listeners")
			if got := calls(t, "part.json", part); len(got) < len(want) { // without clusters nobody knows which are beside the proxy
				t.Errorf("static_listeners alone: %d calls, want %d", len(got), len(want))
			}
		})
	}
}

// dump asks the admin port once it answers with all listeners.
func dump(t *testing.T, admin int, query string) []byte {
	t.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d", admin)
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if status, _ := get(t, url+"/ready"); status == http.StatusOK {
			break
		}
	}
	status, body := get(t, url+query)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", query, status, body)
	}
	return body
}

func get(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// calls describes the calls that a source has, without their places, sorted.
func calls(t *testing.T, name string, text []byte) []string {
	t.Helper()
	src := &importers.Source{File: name, Bytes: text, Service: model.At("edge", diag.Span{File: "plan.yaml", Line: 1})}
	if !envoy.Importer.Recognise(src) {
		t.Fatalf("%s is not recognised:\n%.300s", name, text)
	}
	f, _ := envoy.Importer.Import(src)
	var out []string
	for i := range f.Calls {
		c := &f.Calls[i]
		w := &c.Waiters[0]
		out = append(out, fmt.Sprintf("%s/%s:%s async=%v optional=%v share=%v timeout=%v per-try=%v read=%v connect=%v idle=%v attempts=%v on=%v waits=%v budget=%v dead=%d",
			f.Services[c.From].Name, f.Services[c.To].Name, c.Route, c.Async.V, c.Optional.V, c.Probability().V, w.Timeout.V, w.PerTry.V, w.Read().V,
			w.Connect.V, w.Idle().V, w.Attempts.V, w.RetryOn().V, w.Backoff.Get().Waits.V, w.RetryBudget().V, len(w.Dead())))
	}
	slices.Sort(out)
	return out
}

// differ are the files about which Envoy and our reader do not agree, each with the reason.
var differ = map[string]string{
	"envoyproxy__envoy__google-vrp--envoy-edge.yaml":       "clusters as one mapping: older Envoys took it, and so do we",
	"envoyproxy__examples__fault-injection--envoy.yaml":    "valid, but it watches a folder of its own container",
	"envoyproxy__gateway__in--in.all.json":                 "a config dump, which no Envoy starts from",
	"envoyproxy__gateway__out--default-resources.all.yaml": "a dump with the Kubernetes resources that it was made from",
}

// Envoy and our reader agree on which files of the corpus are bootstraps that can be read.
func TestEnvoyAgreesOnBootstraps(t *testing.T) {
	t.Parallel()
	binary := envoyBinary(t)
	files, err := filepath.Glob(filepath.Join(corpusDir, "*"))
	if err != nil || len(files) == 0 {
		corpusFile(t, "any")
	}
	agreed := 0
	for _, path := range files {
		name := filepath.Base(path)
		text := corpusFile(t, name)
		if !bytes.Contains(text, []byte("static_resources")) && !bytes.Contains(text, []byte("staticResources")) {
			continue
		}
		out, err := exec.Command(binary, "--mode", "validate", "--use-dynamic-base-id", "--log-level", "error", "-c", path).CombinedOutput()
		theirs, ours := err == nil, readable(name, text)
		switch why := differ[name]; {
		case theirs != ours && why == "":
			t.Errorf("%s: envoy takes it: %t, we do: %t\n%.300s", name, theirs, ours, out)
		case theirs == ours && why != "":
			t.Errorf("%s: both say %t, so the reason %q is out of date", name, ours, why)
		case theirs == ours:
			agreed++
		}
	}
	t.Logf("agreed on %d files, differ on %d for a reason", agreed, len(differ))
	if agreed < 15 {
		t.Errorf("agreed on %d files only", agreed)
	}
}

// readable reports whether our reader takes a file without an error.
func readable(name string, text []byte) bool {
	src := &importers.Source{File: name, Bytes: text}
	_, found := envoy.Importer.Import(src)
	worst := diag.Off
	for _, f := range found {
		worst = max(worst, f.Severity)
	}
	return cmp.Compare(worst, diag.Error) < 0 && envoy.Importer.Recognise(src)
}
