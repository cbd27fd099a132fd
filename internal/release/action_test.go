package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// action is the metadata of a composite action.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Description, Value string }
	Runs              struct {
		Using string
		Steps []step
	}
}

type step struct {
	Name, ID, If, Shell, Run, Uses string
	WorkingDirectory               string `yaml:"working-directory"`
	Env, With                      map[string]string
}

var expression = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// runStep runs one step of the action as the runner does: inputs reach it through its environment alone. It gives the
// output, the exit status and what the step wrote to the runner's files.
func runStep(t *testing.T, name, folder string, inputs map[string]string, env ...string) (output string, status int, files map[string][]byte) {
	t.Helper()
	var a action
	read(t, filepath.Join(".ci", "action", "action.yml"), &a)
	for _, s := range a.Runs.Steps {
		if s.Name != name {
			continue
		}
		if strings.Contains(s.Run, "${{") || s.Shell != "bash" {
			t.Fatalf("%s: an expression in a script lets its value be run", name)
		}
		temp := t.TempDir()
		env = append(env, "RUNNER_TEMP="+temp)
		written := map[string]string{}
		for _, f := range []string{"GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
			written[f] = filepath.Join(temp, f)
			env = append(env, f+"="+written[f])
		}
		for key, value := range s.Env {
			env = append(env, key+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
				input := expression.FindStringSubmatch(e)[1]
				if _, declared := a.Inputs[input]; !declared {
					t.Errorf("%s takes the input %s, which is not declared", name, input)
				}
				if v, given := inputs[input]; given {
					return v
				}
				return a.Inputs[input].Default
			}))
		}
		output, status = bash(t, folder, s.Run, env...)
		files = make(map[string][]byte)
		for f, file := range written {
			files[f], _ = os.ReadFile(file) // a step need not write all of them
		}
		return output, status, files
	}
	t.Fatalf("the action has no step %q", name)
	return "", 0, nil
}

// The check annotates, summarises, writes SARIF where it is asked to, and fails as the program does.
func TestActionChecks(t *testing.T) {
	path := "PATH=" + programs(t)
	folder := copyExample(t, "checkout")
	out, status, files := runStep(t, "Check", folder, map[string]string{"sarif": "out.sarif"}, path)
	if status != 1 {
		t.Errorf("exit status %d\n%s", status, out)
	}
	contains(t, "the log", []byte(out), "::error file=budgetplan.yaml,line=", "title=BP101 inverted-timeout::")
	contains(t, "the summary", files["GITHUB_STEP_SUMMARY"], "## budgetplan: ", "| BP101 |")
	contains(t, "the outputs", files["GITHUB_OUTPUT"], "status=1\n")
	sarif, err := os.ReadFile(filepath.Join(folder, "out.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the SARIF", sarif, `"uri": "budgetplan.yaml"`)

	out, status, files = runStep(t, "Check", folder, map[string]string{"fail-on": "never", "files": "budgetplan.yaml ."}, path)
	if status != 0 {
		t.Errorf("fail-on never: exit status %d\n%s", status, out)
	}
	contains(t, "the outputs", files["GITHUB_OUTPUT"], "status=0\n")

	// Nothing to check is not green, and an input is never run.
	out, status, _ = runStep(t, "Check", t.TempDir(), map[string]string{"files": "$(touch run) ;touch run"}, path)
	if status != 2 || strings.Contains(out, "::error") {
		t.Errorf("nothing to check: exit status %d\n%s", status, out)
	}
}

// The installation takes the release for the runner, holds it against its sum, and puts it on the PATH.
func TestActionInstalls(t *testing.T) {
	archive := packed(t, "#!/bin/sh\necho budgetplan v1.2.3\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/download/budgetplan_linux_arm64.tar.gz", "/download/v1.2.3/budgetplan_linux_arm64.tar.gz", "/download/bad/budgetplan_linux_arm64.tar.gz":
			_, _ = w.Write(archive)
		case "/latest/download/checksums.txt", "/download/v1.2.3/checksums.txt":
			fmt.Fprintf(w, "%s  budgetplan_linux_amd64.tar.gz\n%s  budgetplan_linux_arm64.tar.gz\n", strings.Repeat("0", 64), sum)
		case "/download/bad/checksums.txt":
			fmt.Fprintf(w, "%s  budgetplan_linux_arm64.tar.gz\n", strings.Repeat("0", 64))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	runner := []string{"RUNNER_OS=Linux", "RUNNER_ARCH=ARM64"}
	for _, version := range []string{"latest", "v1.2.3"} {
		out, status, files := runStep(t, "Install budgetplan", t.TempDir(), map[string]string{"version": version, "releases": server.URL}, runner...)
		if status != 0 || !strings.Contains(out, "budgetplan v1.2.3") || !bytes.HasSuffix(files["GITHUB_PATH"], []byte("/budgetplan\n")) {
			t.Errorf("%s: exit status %d, path %q\n%s", version, status, files["GITHUB_PATH"], out)
		}
	}
	for _, bad := range []string{"bad", "v9.9.9"} {
		out, status, files := runStep(t, "Install budgetplan", t.TempDir(), map[string]string{"version": bad, "releases": server.URL}, runner...)
		if status == 0 || len(files["GITHUB_PATH"]) > 0 || strings.Contains(out, "budgetplan v1.2.3") {
			t.Errorf("%s: exit status %d\n%s", bad, status, out)
		}
	}
	out, status, _ := runStep(t, "Install budgetplan", t.TempDir(), map[string]string{"releases": server.URL}, "RUNNER_OS=Plan9", "RUNNER_ARCH=X64")
	if status != 2 || !strings.Contains(out, "no release for Plan9") {
		t.Errorf("an unknown system: exit status %d\n%s", status, out)
	}
	out, status, _ = runStep(t, "Install budgetplan", t.TempDir(), map[string]string{"version": "installed"}, "PATH="+programs(t))
	if status != 0 || !strings.HasPrefix(out, "budgetplan ") {
		t.Errorf("installed: exit status %d\n%s", status, out)
	}
}

// packed is a release archive with a program in it.
func packed(t *testing.T, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "budgetplan", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write([]byte(program))
	}
	for _, close := range []func() error{w.Close, z.Close} {
		if err == nil {
			err = close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Archives have the names that the installation asks for, and the upload takes what the check wrote.
func TestActionFitsReleases(t *testing.T) {
	var g goreleaser
	read(t, ".goreleaser.yaml", &g)
	if got := g.Archives[0].NameTemplate; got != "budgetplan_{{ .Os }}_{{ .Arch }}" || g.Checksum.NameTemplate != "checksums.txt" {
		t.Errorf("archives are named %s, their sums %s", got, g.Checksum.NameTemplate)
	}
	var a action
	read(t, filepath.Join(".ci", "action", "action.yml"), &a)
	last := a.Runs.Steps[len(a.Runs.Steps)-1]
	if a.Runs.Using != "composite" || !strings.HasPrefix(last.Uses, "github/codeql-action/upload-sarif@v") || !strings.Contains(last.With["sarif_file"], "inputs.sarif") {
		t.Errorf("the last step is %+v", last)
	}
	for name, in := range a.Inputs {
		if in.Description == "" {
			t.Errorf("the input %s has no description", name)
		}
	}
}

// What the README tells people to copy is what there is: the action with its inputs, the hook by its id.
func TestReadmeFitsReleases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	read(t, filepath.Join(".ci", "action", "action.yml"), &a)
	hooks := make(map[string]bool)
	var list []struct{ ID string }
	decode(t, ".pre-commit-hooks.yaml", &list)
	for _, h := range list {
		hooks[h.ID] = true
	}
	uses := 0
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(- .*?)^```$").FindAllSubmatch(text, -1) {
		var steps []struct {
			Uses, Repo string
			With       map[string]string
			Hooks      []struct{ ID string }
		}
		if err := yaml.Unmarshal(block[1], &steps); err != nil {
			t.Fatalf("%v in:\n%s", err, block[1])
		}
		for _, s := range steps {
			if strings.HasPrefix(s.Uses, "budgetplan/budgetplan/.ci/action@") {
				uses++
				for input := range s.With {
					if _, declared := a.Inputs[input]; !declared {
						t.Errorf("the README gives the action an input %s, which it has not", input)
					}
				}
			}
			for _, h := range s.Hooks {
				uses++
				if !hooks[h.ID] {
					t.Errorf("the README names a hook %s, which there is not", h.ID)
				}
			}
		}
	}
	if uses < 2 {
		t.Errorf("the README uses %d of the action and the hook", uses)
	}
}
