package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	// The types of what a bootstrap holds behind `@type`.
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"

	"gopkg.in/yaml.v3"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/solver"
)

// generated visits what a target writes for random plans, whose names are hostile and whose leaves are databases where
// that is asked for.
func generated(t *testing.T, target *config.Target, plans int, databases bool, visit func(f config.File)) {
	t.Helper()
	seen := 0
	for seed := range plans {
		p := witness.Plans().Example(seed)
		at := diag.Span{File: "plan.yaml", Line: 1}
		for i := range p.Services {
			s := &p.Services[i]
			if databases && s.Flow.Empty() {
				s.Kind = model.At("postgres", at)
			}
			if seed%7 == 0 {
				s.Name = fmt.Sprintf("%s's \"x\\y\" é{%d}: #", s.Name, i)
			}
			if seed%5 == 0 && !databases {
				s.Kind = model.At("grpc", at)
			}
		}
		for i := range p.Calls {
			p.Calls[i].ID = fmt.Sprintf("%s/%s:%d", p.Services[p.Calls[i].From].Name, p.Services[p.Calls[i].To].Name, i)
			p.Calls[i].Waiters[0].Edit().Idle = model.At(model.Duration(i+1)*10*model.Second, at)
		}
		g, _ := solver.Compile(p)
		in := &render.Input{Plan: p, Graph: g, Solution: solver.Solve(g, solver.Options{})}
		files, _ := target.Generate(in, config.Options{})
		for _, f := range files {
			seen++
			visit(f)
		}
	}
	if seen == 0 {
		t.Error("nothing was generated")
	}
}

// grpc-go takes every service config: a client with one that it refuses is not made.
func TestGRPCTakesGenerated(t *testing.T) {
	judge := func(text string) error {
		client, err := grpc.NewClient("passthrough:///x", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(text))
		if err == nil {
			err = client.Close()
		}
		return err
	}
	generated(t, config.GRPC, 200, false, func(f config.File) {
		if err := judge(string(f.Text)); err != nil {
			t.Errorf("%v\n%s", err, f.Text)
		}
	})
	if judge(`{"methodConfig": [{"name": [{"service": "a"}], "timeout": "250ms"}]}`) == nil {
		t.Error("a time in ms is taken: the client judges nothing")
	}
}

// Envoy's own types take every bootstrap, strictly, and so do the rules of their fields.
func TestEnvoyTypesTakeGenerated(t *testing.T) {
	generated(t, config.Envoy, 200, false, func(f config.File) {
		if err := envoyTypes(f.Text); err != nil {
			t.Errorf("%v\n%s", err, f.Text)
		}
	})
	if envoyTypes([]byte("static_resources: {clusters: [{name: '', connect_timeout: 0s}]}")) == nil {
		t.Error("a cluster without a name is taken: the types judge nothing")
	}
}

func envoyTypes(text []byte) error {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return err
	}
	asJSON, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var b bootstrap.Bootstrap
	if err := protojson.Unmarshal(asJSON, &b); err != nil {
		return err
	}
	return b.ValidateAll()
}

// found gives a program, which CI must have.
func found(t *testing.T, name string, more ...string) string {
	t.Helper()
	for _, pattern := range more {
		if paths, _ := filepath.Glob(pattern); len(paths) > 0 {
			return paths[len(paths)-1]
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs %s: %v", name, err)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

// Envoy itself takes bootstraps of every shape. Each start of it costs a second, so it is asked about a few.
func TestEnvoyTakesGenerated(t *testing.T) {
	envoy := found(t, "envoy")
	judge := func(text []byte) (string, error) {
		file := filepath.Join(t.TempDir(), "envoy.yaml")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(envoy, "--mode", "validate", "--use-dynamic-base-id", "-c", file).CombinedOutput()
		return string(out), err
	}
	n := 0
	generated(t, config.Envoy, 60, false, func(f config.File) {
		if n++; n%15 != 1 {
			return
		}
		if out, err := judge(f.Text); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, f.Text)
		}
	})
	if _, err := judge([]byte("static_resources: {clusters: [{name: a, connect_timeout: 250ms}]}")); err == nil {
		t.Error("a time in ms is taken: Envoy judges nothing")
	}
}

// A PostgreSQL server takes every script, and gives each role what the script says.
func TestPostgresTakesGenerated(t *testing.T) {
	initdb := found(t, "initdb", "/usr/lib/postgresql/*/bin/initdb")
	single := filepath.Join(filepath.Dir(initdb), "postgres")
	data := filepath.Join(t.TempDir(), "data")
	asServer := func(stdin string, program string, args ...string) string {
		cmd := exec.Command(program, args...)
		if os.Geteuid() == 0 { // the server refuses to run as root
			cmd = exec.Command("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", program}, args...)...)
		}
		cmd.Stdin = strings.NewReader(stdin)
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		return string(out)
	}
	if os.Geteuid() == 0 {
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		for dir := data; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chown(dir, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
	asServer("", initdb, "-D", data, "-U", "postgres", "--no-sync", "--no-locale", "--encoding=UTF8", "-A", "trust")

	// The server in single-user mode: a statement a line, no port, no second process.
	var session bytes.Buffer
	roles, wanted := map[string]bool{}, 0
	generated(t, config.Postgres, 60, true, func(f config.File) {
		for line := range strings.Lines(string(f.Text)) {
			if !strings.HasPrefix(line, "ALTER ROLE ") {
				continue
			}
			role := line[len("ALTER ROLE "):strings.LastIndex(line, " SET ")]
			if !roles[role] {
				roles[role] = true
				session.WriteString("CREATE ROLE " + role + ";\n")
			}
			wanted++
			session.WriteString(line)
			key, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line[strings.LastIndex(line, " SET ")+5:]), ";"), " = ")
			fmt.Fprintf(&session, "SELECT 'kept' AS kept FROM pg_roles WHERE quote_ident(rolname) IN (%s, trim('\"' from %s)) AND '%s=' || trim('''' from %s) = ANY (rolconfig);\n",
				literal(role), literal(role), key, literal(value))
		}
	})
	out := asServer(session.String(), single, "--single", "-D", data, "postgres")
	if strings.Contains(out, "ERROR") || strings.Count(out, `= "kept"`) != wanted || wanted == 0 {
		t.Errorf("%d of %d settings are kept\n%s", strings.Count(out, `= "kept"`), wanted, firstError(out))
	}
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// firstError keeps a message short.
func firstError(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "ERROR") {
			return line
		}
	}
	return out[:min(len(out), 1000)]
}
