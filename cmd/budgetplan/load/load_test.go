package load

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files in a new working directory.
func tree(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func names(inputs []Input) []string {
	list := make([]string, len(inputs))
	for i, in := range inputs {
		list[i] = in.File
	}
	return list
}

func TestArgs(t *testing.T) {
	tree(t, "a.yaml", "b.yaml", "plans/budgetplan.yaml", "plans/x/pay.budgetplan.yaml", "plans/vendor/budgetplan.yaml",
		"plans/node_modules/budgetplan.yaml", "plans/.git/budgetplan.yaml", "loose/c.yaml", "loose/.d.yaml", "loose/e/f.prom")
	for _, c := range []struct {
		args, want string
	}{
		{"a.yaml b.yaml", "a.yaml b.yaml"},
		{"./a.yaml a.yaml -", "a.yaml -"},
		{"plans", "plans/budgetplan.yaml | plans/x/pay.budgetplan.yaml"},
		{"loose", "loose/c.yaml loose/e/f.prom"},
		{"loose a.yaml", "a.yaml loose/c.yaml loose/e/f.prom"},
		{"loose plans", "loose/c.yaml loose/e/f.prom | plans/budgetplan.yaml | plans/x/pay.budgetplan.yaml"},
		{"plans plans/x", "plans/budgetplan.yaml | plans/x/pay.budgetplan.yaml"},
		{"plans plans/budgetplan.yaml", "plans/budgetplan.yaml | plans/x/pay.budgetplan.yaml"},
		{"a.yaml plans", "a.yaml | plans/budgetplan.yaml | plans/x/pay.budgetplan.yaml"},
	} {
		sets, err := (&Loader{}).Args(strings.Fields(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var got []string
		for _, s := range sets {
			got = append(got, strings.Join(names(s.Inputs), " "))
		}
		if joined := strings.Join(got, " | "); joined != c.want {
			t.Errorf("%s gives %s, want %s", c.args, joined, c.want)
		}
	}
}

// TestEmptyArgument refuses what a variable gives that is not set, which would else mean the directory here.
func TestEmptyArgument(t *testing.T) {
	tree(t, "budgetplan.yaml")
	if sets, err := (&Loader{}).Args([]string{""}); err == nil {
		t.Errorf("an empty argument means %v", sets)
	}
}

func TestNear(t *testing.T) {
	tree(t, "team/budgetplan.yaml", "team/envoy/a.yaml", "team/envoy/b.yaml", "team/envoy/deep/c.yaml", "team/envoy/.hidden.yaml",
		"team/envoy/vendor/d.yaml", "other/e.yaml", "team/[odd].yaml")
	plan := filepath.Join("team", "budgetplan.yaml")
	for pattern, want := range map[string]string{
		"envoy/a.yaml":       "team/envoy/a.yaml",
		"envoy/*.yaml":       "team/envoy/a.yaml team/envoy/b.yaml",
		"envoy/[ab].yaml":    "team/envoy/a.yaml team/envoy/b.yaml",
		"envoy/?.yml":        "",
		"**/*.yaml":          "team/[odd].yaml team/budgetplan.yaml team/envoy/a.yaml team/envoy/b.yaml team/envoy/deep/c.yaml",
		"envoy/**/c.yaml":    "team/envoy/deep/c.yaml",
		"envoy":              "team/envoy/a.yaml team/envoy/b.yaml team/envoy/deep/c.yaml",
		"../other/*.yaml":    "other/e.yaml",
		"../*/envoy/b.yaml":  "team/envoy/b.yaml",
		`\[odd\]*.yaml`:      "team/[odd].yaml",
		"envoy/deep/../*.ya": "",
	} {
		inputs, err := Near(plan, pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if got := strings.Join(names(inputs), " "); got != want {
			t.Errorf("%s gives %q, want %q", pattern, got, want)
		}
	}
	abs, err := filepath.Abs("other")
	if err != nil {
		t.Fatal(err)
	}
	if inputs, err := Near(plan, abs+"/*.yaml"); err != nil || len(inputs) != 1 {
		t.Errorf("an absolute glob gives %v, %v", inputs, err)
	}
	if _, err := Near(plan, "envoy/[.yaml"); err == nil {
		t.Error("a glob that is not closed is no error")
	}
	if _, err := Near(plan, "nowhere.yaml"); err == nil {
		t.Error("a path that leads nowhere is no error")
	}
}

func TestRead(t *testing.T) {
	tree(t, "a.yaml")
	if err := os.Truncate("a.yaml", MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	l := &Loader{Stdin: strings.NewReader("from stdin")}
	var e *Error
	if _, err := l.Read("a.yaml"); !errors.As(err, &e) || !strings.Contains(e.Message, "larger than 256 MB") {
		t.Errorf("a file above the limit gives %v", err)
	}
	if _, err := l.Read("."); !errors.As(err, &e) || !strings.Contains(e.Message, "is a directory") {
		t.Errorf("a directory gives %v", err)
	}
	if _, err := l.Read("nowhere"); !errors.As(err, &e) || e.Cause != "no such file or directory" {
		t.Errorf("a missing file gives %v", err)
	}
	src, err := l.Read(Stdin)
	if err != nil || string(src) != "from stdin" {
		t.Fatalf("standard input gives %q, %v", src, err)
	}
	if again, _ := l.Read(Stdin); string(again) != "from stdin" || string(l.Source(Stdin)) != "from stdin" {
		t.Error("standard input cannot be read twice")
	}
	if _, err := (&Loader{}).Read(Stdin); err == nil {
		t.Error("no standard input is no error")
	}
}

func TestIsPlan(t *testing.T) {
	plans := []string{"budgetplan.yaml", "checkout.budgetplan.yaml"}
	for _, name := range append(slices.Clone(plans), "budgetplan.yml", "mybudgetplan.yaml", "envoy.yaml") {
		if IsPlan(name) != slices.Contains(plans, name) {
			t.Errorf("IsPlan(%q) is %v", name, IsPlan(name))
		}
	}
}
