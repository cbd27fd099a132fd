package house

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floors orders the folders: a package imports only packages of a lower floor. The first match counts;
// a pattern that ends in /* stands for every folder directly below.
var floors = []struct {
	pattern string
	floor   int
}{
	{"model/diag", 0},
	{"testdata", 0}, // the pages of input findings, embedded from their scripts
	{"model", 1},
	{"model/dialect", 2},
	{"solver", 2},
	{"internal/yamlsrc", 2},
	{"importers", 3},
	{"render", 3},
	{"solver/rules", 4},
	{"importers/all", 5},
	{"importers/merge", 5},
	{"render/all", 5},
	{"importers/*", 4},
	{"render/*", 4},
	{"cmd/budgetplan/load", 6},
	{"cmd/budgetplan/pipeline", 7},
	{"cmd/budgetplan/cli", 8},
	{"cmd/budgetplan", 9},
	{"internal/*", 10}, // what serves tests alone
}

// floorOf gives the floor of a folder; ok is false for a folder that the house does not know.
func floorOf(dir string) (floor int, ok bool) {
	for _, f := range floors {
		parent, any := strings.CutSuffix(f.pattern, "/*")
		if dir == f.pattern || any && strings.HasPrefix(dir, parent+"/") && !strings.Contains(dir[len(parent)+1:], "/") {
			return f.floor, true
		}
	}
	return 0, false
}

func TestArrows(t *testing.T) {
	checked := 0
	for _, f := range goFiles(t) {
		if f.Test {
			continue
		}
		from, ok := floorOf(f.Dir)
		if !ok {
			t.Errorf("%s: the house has no such room", f.Name)
			continue
		}
		for _, imp := range f.Imports {
			dir, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			checked++
			if to, ok := floorOf(dir); !ok || to >= from && !(servesTests(f.Dir) && servesTests(dir)) {
				t.Errorf("%s imports %s: imports go down, never sideways or up", f.Name, dir)
			}
		}
	}
	if checked == 0 {
		t.Error("no import of the module found: the test looks at the wrong thing")
	}
}

// pure are the folders whose packages run in a page: bytes in, bytes out.
var pure = []string{"model", "solver", "importers", "render", "internal/yamlsrc"}

func isPure(dir string) bool {
	return slices.ContainsFunc(pure, func(p string) bool { return under(dir, p) })
}

func TestPurePackages(t *testing.T) {
	forbidden := func(imp string) bool {
		return imp == "os" || under(imp, "net") && imp != "net/url" && imp != "net/netip" ||
			slices.Contains([]string{"os/exec", "os/signal", "os/user", "syscall", "plugin", "unsafe", "C", "runtime/cgo"}, imp)
	}
	for _, f := range goFiles(t) {
		if f.Test || !isPure(f.Dir) {
			continue
		}
		for _, imp := range f.Imports {
			if forbidden(imp) {
				t.Errorf("%s imports %s: only cmd touches files, processes and the network", f.Name, imp)
			}
		}
	}
}

func TestDiagImportsStandardLibraryAlone(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Test || f.Dir != "model/diag" {
			continue
		}
		for _, imp := range f.Imports {
			if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
				t.Errorf("%s imports %s", f.Name, imp)
			}
		}
	}
}

// TestWASM builds everything that a page needs the way a page needs it.
func TestWASM(t *testing.T) {
	if testing.Short() {
		t.Skip("builds for another platform")
	}
	dirs := map[string]bool{}
	for _, f := range goFiles(t) {
		if !f.Test && isPure(f.Dir) {
			dirs["./"+f.Dir] = true
		}
	}
	if !dirs["./model"] || !dirs["./solver"] {
		t.Fatal("model and solver not found")
	}
	args := []string{"build"}
	for dir := range dirs {
		args = append(args, dir)
	}
	slices.Sort(args[1:])
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("GOOS=js GOARCH=wasm go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// libraries are the modules that the program may use, each with its homes: nothing else imports them outside of
// tests. No home at all: tests alone.
var libraries = map[string][]string{
	"github.com/spf13/cobra":                {"cmd/budgetplan/cli"},
	"gopkg.in/yaml.v3":                      {"internal/yamlsrc"},
	"github.com/olekukonko/tablewriter":     {"render/report"},
	"gonum.org/v1/gonum":                    {"solver"},
	"github.com/prometheus/common":          {"importers/prometheus"},
	"github.com/prometheus/client_model":    {"importers/prometheus"}, // the types that expfmt gives
	"golang.org/x/term":                     {"cmd/budgetplan/cli"},
	"golang.org/x/tools/txtar":              {"solver/rules", "render/docs"}, // the pages of rules are archives
	"github.com/santhosh-tekuri/jsonschema": {},
	"github.com/google/go-cmp":              {},
	"github.com/rogpeppe/go-internal":       {},
	"pgregory.net/rapid":                    {},
}

func TestLibrariesHaveOneHome(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Test || servesTests(f.Dir) {
			continue
		}
		for _, imp := range f.Imports {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") || under(imp, module) {
				continue
			}
			homes, known := []string(nil), false
			for lib, h := range libraries {
				if under(imp, lib) {
					homes, known = h, true
				}
			}
			switch {
			case !known:
				t.Errorf("%s imports %s, which `libraries` does not list", f.Name, imp)
			case !slices.Contains(homes, f.Dir):
				t.Errorf("%s imports %s, whose only home is %q", f.Name, imp, homes)
			}
		}
	}
}

// servesTests reports whether a folder holds what only tests import.
func servesTests(dir string) bool {
	floor, ok := floorOf(dir)
	return ok && floor == 10
}

// TestTestRooms: what serves tests alone is imported by tests alone.
func TestTestRooms(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Test || servesTests(f.Dir) {
			continue
		}
		for _, imp := range f.Imports {
			if dir, ours := strings.CutPrefix(imp, module+"/"); ours && servesTests(dir) {
				t.Errorf("%s imports %s, which serves tests alone", f.Name, dir)
			}
		}
	}
}
