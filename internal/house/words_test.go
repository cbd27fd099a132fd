package house

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// directions are words with two meanings: Envoy's upstream is everyone else's downstream. Glued to a name by
// `_`, `-`, `.`, `/` or `=` they are part of somebody's identifier, which is quoted as it is.
var directions = regexp.MustCompile(`(?i)(?:^|[^\w./=-])((?:up|down)streams?)(?:$|[^\w/=-])`)

// quotes are the files whose subject is a platform that uses the words as names, each with the reason.
var quotes = map[string]string{
	"importers/envoy/":             "Envoy's field and header names",
	"model/dialect/envoy":          "Envoy's field and header names",
	"render/config/envoy":          "Envoy's field and header names",
	"importers/nginx/":             "nginx's upstream block",
	"model/dialect/nginx":          "nginx's upstream block",
	"render/config/nginx":          "nginx's upstream block",
	"importers/planfile/testdata/": "keys that are not of the plan language",
	"internal/house/words":         "this test",
}

// hosts are those of package registries, each broken in two so that this file names none either.
const hosts = `proxy\.go` + `lang\.org|registry\.n` + `pmjs|py` + `pi\.org|index\.cr` + `ates|gop` + `roxy\.`

// machine are places of one machine and hosts of package registries: nothing that a user has.
var machine = regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:])(/work/|/tmp/|/root/|/home/\w)|(?i:` + hosts + `)`)

func TestWords(t *testing.T) {
	for _, name := range files(t) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			continue // not text
		}
		for i, line := range strings.Split(string(data), "\n") {
			if m := directions.FindStringSubmatch(line); m != nil && !quoted(name) {
				t.Errorf("%s:%d: %q: say caller or callee", name, i+1, m[1])
			}
			if m := machine.FindString(line); m != "" && name != "internal/house/words_test.go" {
				t.Errorf("%s:%d: %q is a place of one machine", name, i+1, m)
			}
		}
	}
}

func quoted(name string) bool {
	for prefix := range quotes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return path.Base(name) == "go.sum"
}

// TestDirectionWords holds the pattern itself against sentences.
func TestDirectionWords(t *testing.T) {
	for text, want := range map[string]bool{
		"the downstream service":          true,
		"Upstream, says the log":          true,
		"upstreams":                       true,
		"it is upstream.":                 true,
		"`x-envoy-upstream-rq-timeout`":   false,
		"upstream_rq_time":                false,
		"envoy.extensions.upstreams.http": false,
		"caller and callee":               false,
	} {
		if got := directions.MatchString(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

// TestProxyHost keeps the module proxy of the machine that builds out of the tree.
func TestProxyHost(t *testing.T) {
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		t.Skipf("go env: %v", err)
	}
	var hosts []string
	for _, p := range strings.FieldsFunc(strings.TrimSpace(string(out)), func(r rune) bool { return r == ',' || r == '|' }) {
		_, rest, ok := strings.Cut(p, "://")
		if host, _, _ := strings.Cut(rest, "/"); ok && host != "" {
			hosts = append(hosts, host)
		}
	}
	for _, name := range files(t) {
		if strings.HasPrefix(name, "internal/house/words") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range hosts {
			if bytes.Contains(data, []byte(host)) {
				t.Errorf("%s names the host %s", name, host)
			}
		}
	}
}

// What the expression is for is found, and ordinary text is not.
func TestMachineWords(t *testing.T) {
	for text, want := range map[string]bool{
		"see /wo" + "rk/main":            true,
		"https://proxy.go" + "lang.org/": true,
		"from registry.n" + "pmjs.org":   true,
		"docs/root/configuration/http/x": false,
		"a package registry":             false,
	} {
		if got := machine.MatchString(text); got != want {
			t.Errorf("%q: found %t, want %t", text, got, want)
		}
	}
}
