package load

import (
	"os"
	"path/filepath"
	"testing"
)

// A file is named from the repository's root, from the working directory where there is no repository, and by its whole
// path where it is outside.
func TestRelative(t *testing.T) {
	top := t.TempDir()
	deploy := filepath.Join(top, "shop", "deploy")
	if err := os.MkdirAll(deploy, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deploy)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.ToSlash(filepath.Join(here, "..", "..", "other.yaml"))
	check := func(file, want string) {
		t.Helper()
		if got := Relative()(file); got != want {
			t.Errorf("%s is named %s, want %s", file, got, want)
		}
	}
	check("plan.yaml", "plan.yaml")
	check(filepath.Join("..", "plan.yaml"), filepath.ToSlash(filepath.Join(here, "..", "plan.yaml")))
	if err := os.Mkdir(filepath.Join(top, "shop", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("plan.yaml", "deploy/plan.yaml")
	check(filepath.Join(here, "a b.yaml"), "deploy/a b.yaml")
	check(filepath.Join("..", "..plan.yaml"), "..plan.yaml")
	check(filepath.Join("..", "..", "other.yaml"), outside)
}
