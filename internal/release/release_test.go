package release

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

var root = filepath.Join("..", "..")

// read decodes a YAML file of the repository; a key that the type does not know is an error.
func read(t *testing.T, file string, into any) {
	t.Helper()
	open(t, file, true, into)
}

// decode does the same and passes over keys that the type does not know.
func decode(t *testing.T, file string, into any) {
	t.Helper()
	open(t, file, false, into)
}

func open(t *testing.T, file string, strict bool, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(strict)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// binary builds the program once, and gives the folder that has it.
var binary = sync.OnceValues(func() (folder string, err error) {
	folder, err = os.MkdirTemp("", "budgetplan")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(folder, "budgetplan"), "./cmd/budgetplan")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return folder, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if folder, err := binary(); err == nil {
		os.RemoveAll(folder)
	}
	os.Exit(status)
}

// programs is a PATH on which the program comes first.
func programs(t *testing.T) string {
	t.Helper()
	folder, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return folder + string(os.PathListSeparator) + os.Getenv("PATH")
}

// bash runs a script and gives its output and exit status.
func bash(t *testing.T, folder, script string, env ...string) (output string, status int) {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs bash: %v", err)
		}
		t.Skip("bash is not installed")
	}
	cmd := exec.Command(shell, "--noprofile", "--norc", "-eo", "pipefail", "-c", script) // as GitHub runs `shell: bash`
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// goreleaser is what the tests read of the build configuration.
type goreleaser struct {
	Version     int
	ProjectName string `yaml:"project_name"`
	Before      struct{ Hooks []string }
	Builds      []struct {
		ID, Main, Binary                  string
		Env, Flags, LDFlags, GOOS, GOArch []string
		ModTimestamp                      string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		ID              string
		NameTemplate    string `yaml:"name_template"`
		Formats, Files  []string
		FormatOverrides []struct {
			GOOS    string
			Formats []string
		} `yaml:"format_overrides"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
	NFPMs []struct {
		ID                                                  string
		PackageName                                         string `yaml:"package_name"`
		FileNameTemplate                                    string `yaml:"file_name_template"`
		Formats                                             []string
		Homepage, Maintainer, Description, License, Section string
		Contents                                            []struct{ Src, Dst string }
	}
	Kos []struct {
		ID, Build       string
		Repositories    []string
		BaseImage       string `yaml:"base_image"`
		Platforms, Tags []string
		Bare            bool
		SBOM            string
	}
	Changelog struct{ Disable bool }
	Release   struct{ GitHub struct{ Owner, Name string } }
}

// Every platform gets an archive, Linux its packages and its image; what they contain is there or is made first.
func TestBuildConfiguration(t *testing.T) {
	var g goreleaser
	read(t, ".goreleaser.yaml", &g)
	b := g.Builds[0]
	if g.Version != 2 || !slices.Equal(b.GOOS, []string{"linux", "darwin", "windows"}) || !slices.Equal(b.GOArch, []string{"amd64", "arm64"}) {
		t.Errorf("builds %+v", b)
	}
	if !slices.Equal(g.NFPMs[0].Formats, []string{"deb", "rpm"}) || !slices.Equal(g.Kos[0].Platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("packages %+v, images %+v", g.NFPMs, g.Kos)
	}
	made := strings.Join(g.Before.Hooks, "\n")
	contents := slices.Clone(g.Archives[0].Files)
	for _, c := range g.NFPMs[0].Contents {
		contents = append(contents, c.Src)
	}
	for _, file := range contents {
		if strings.HasPrefix(file, "dist-completions/") {
			if name := strings.TrimSuffix(file, "*"); !strings.Contains(made, "> "+name) {
				t.Errorf("%s is packed, and no hook makes it", file)
			}
		} else if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("%s is packed, and is not there", file)
		}
	}
	if _, err := exec.LookPath("goreleaser"); err == nil {
		cmd := exec.Command("goreleaser", "check")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("goreleaser check: %v\n%s", err, out)
		}
	}
}

// The hooks that run before a build make the completions of every shell that is packed.
func TestBuildHooks(t *testing.T) {
	var g goreleaser
	read(t, ".goreleaser.yaml", &g)
	folder := t.TempDir()
	for _, hook := range g.Before.Hooks {
		// The program is built already; `go run` would build it again and again.
		if out, status := bash(t, folder, strings.ReplaceAll(hook, "go run ./cmd/budgetplan", "budgetplan"), "PATH="+programs(t)); status != 0 {
			t.Fatalf("%s: exit status %d\n%s", hook, status, out)
		}
	}
	for _, c := range g.NFPMs[0].Contents {
		if text, err := os.ReadFile(filepath.Join(folder, c.Src)); strings.HasPrefix(c.Src, "dist-completions") && (err != nil || len(text) < 1000) {
			t.Errorf("%s: %d bytes, %v", c.Src, len(text), err)
		}
	}
}

// The pre-commit hook checks every plan of a repository, whatever files a commit has.
func TestPreCommitHook(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Entry, Language string
		Args                                   []string
		TypesOr                                []string `yaml:"types_or"`
		PassFilenames                          bool     `yaml:"pass_filenames"`
	}
	read(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 1 || hooks[0].Language != "golang" || hooks[0].PassFilenames {
		t.Fatalf("hooks %+v", hooks)
	}
	command := strings.Join(append([]string{hooks[0].Entry}, hooks[0].Args...), " ")
	for example, want := range map[string]int{"checkout": 1, "checkout-redesigned": 0} {
		if out, status := bash(t, filepath.Join(root, "examples", example), command, "PATH="+programs(t)); status != want {
			t.Errorf("%s: exit status %d, want %d\n%s", example, status, want, out)
		}
	}
}

func copyExample(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	text, err := os.ReadFile(filepath.Join(root, "examples", name, "budgetplan.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "budgetplan.yaml"), text, 0o644)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(folder, ".git"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func contains(t *testing.T, what string, text []byte, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !bytes.Contains(text, []byte(p)) {
			t.Errorf("%s has no %q:\n%s", what, p, text)
		}
	}
}
