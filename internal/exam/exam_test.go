package exam

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/cli"
)

// examDir has the incidents that the tests are written from; it lies beside the repository.
const examDir = "../../../shared/exam"

// left are the incidents that no plan and no Envoy file can say, with what they wait for.
var left = map[string]string{
	"03-mesh-default-retries-nine-calls": "the istio importer: the retries are a mesh's default that no file contains",
}

// Every incident is a test: its plan in testdata/exam, in our own words, against the figures of its case.
func TestExam(t *testing.T) {
	run(t, "../../testdata/exam")
}

// Every figure that the design prints is a test.
func TestVectors(t *testing.T) {
	run(t, "../../testdata/vectors")
}

// Each incident has a test or a reason why it has none, and each test an incident.
func TestExamIsComplete(t *testing.T) {
	cases := folders(t)
	for name := range cases {
		_, err := os.Stat(filepath.Join("../../testdata/exam", name+".txtar"))
		switch {
		case err != nil && left[name] == "":
			t.Errorf("%s has neither a test nor a reason in `left`", name)
		case err == nil && left[name] != "":
			t.Errorf("%s has a test and still a reason in `left`: %s", name, left[name])
		}
	}
	files, err := filepath.Glob("../../testdata/exam/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); !cases[name] {
			t.Errorf("%s is no incident of the exam", name)
		}
	}
}

// folders are the incidents; where the exam is absent the test is skipped, except in CI.
func folders(t *testing.T) map[string]bool {
	t.Helper()
	needExam(t)
	found, err := filepath.Glob(filepath.Join(examDir, "*", "case.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no incident in %s: %v", examDir, err)
	}
	names := map[string]bool{}
	for _, f := range found {
		names[filepath.Base(filepath.Dir(f))] = true
	}
	return names
}

func needExam(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(examDir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the exam must be beside the repository in CI: %v", err)
		}
		t.Skip("the exam is not beside the repository")
	}
}

// run takes every archive of a folder: NAME.yaml is a plan, NAME.want what the tool must say about it.
func run(t *testing.T, dir string) {
	archives, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archive in %s: %v", dir, err)
	}
	for _, path := range archives {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tmp := t.TempDir()
			wants := map[string]string{}
			for _, f := range archive.Files {
				if base, ok := strings.CutSuffix(f.Name, ".want"); ok {
					wants[base] = string(f.Data)
				} else if err := os.WriteFile(filepath.Join(tmp, f.Name), f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if len(wants) == 0 {
				t.Fatal("the archive wants nothing")
			}
			for base, want := range wants {
				t.Run(base, func(t *testing.T) { answer(t, name, filepath.Join(tmp, base+".yaml"), want) })
			}
		})
	}
}

// answer runs the tool on one plan and holds its JSON against the lines wanted.
func answer(t *testing.T, incident, plan, want string) {
	args := []string{"plan", "--format", "json"}
	if _, err := os.Stat(plan); err == nil {
		args = append(args, plan)
	}
	var lines []string
	for line := range strings.Lines(want) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		words := strings.Fields(line)
		switch {
		case len(words) == 0, line[0] == '#':
		case words[0] == "args":
			args = append(args, files(t, incident, filepath.Dir(plan), words[1:])...)
		default:
			lines = append(lines, line)
		}
	}
	stdout, stderr, status := tool(args...)
	if status != 0 {
		t.Fatalf("budgetplan %s: exit status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	out, err := parse([]byte(stdout))
	if err != nil {
		t.Fatal(err)
	}
	out.rules = codes(t)
	for _, line := range lines {
		if words := strings.Fields(line); words[0] == "when" && !out.rules[words[1]] {
			t.Logf("waits for the rule %s: %s", words[1], strings.Join(words[2:], " "))
		}
		if wrong := out.check(line); wrong != "" {
			t.Errorf("%s: %s", line, wrong)
		}
	}
}

// codes are those that `budgetplan rules` lists.
func codes(t *testing.T) map[string]bool {
	t.Helper()
	stdout, stderr, status := tool("rules")
	if status != 0 {
		t.Fatalf("budgetplan rules: exit status %d\n%s", status, stderr)
	}
	all := map[string]bool{}
	for _, w := range strings.Fields(stdout) {
		all[w] = true
	}
	if !all["BP101"] {
		t.Fatalf("`budgetplan rules` does not list BP101:\n%s", stdout)
	}
	return all
}

// tool runs the product in this process, with nothing on its standard input.
func tool(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = cli.Main(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), status
}

// files resolves the arguments of an `args` line.
func files(t *testing.T, incident, dir string, words []string) []string {
	t.Helper()
	var args []string
	for _, w := range words {
		if rest, ok := strings.CutPrefix(w, "exam:"); ok {
			needExam(t)
			args = append(args, filepath.Join(examDir, incident, rest))
		} else {
			args = append(args, filepath.Join(dir, w))
		}
	}
	return args
}
