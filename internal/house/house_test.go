// Package house tests the house itself: which floor imports which, each list against its folder, the words
// that the project uses, what lies where. It reads files and asks the compiler only where nothing else can tell.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/budgetplan/budgetplan"

// root is the top of the repository, seen from this folder.
var root = filepath.Join("..", "..")

// goFile is one parsed file. Dir and Name are relative to the repository, with slashes.
type goFile struct {
	Dir, Name string
	Test      bool
	Lines     int
	Fset      *token.FileSet
	AST       *ast.File
	Imports   []string
}

// files gives every file below the repository that a person wrote, by slash-separated path.
// Other modules (a go.mod of their own) and hidden folders other than .ci are left out.
func files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !d.IsDir() {
			names = append(names, rel)
			return nil
		}
		if rel == "." || rel == ".ci" {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no file found: the test looks at the wrong folder")
	}
	slices.Sort(names)
	return names
}

// goFiles parses every Go file of the module.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g := goFile{
			Dir: path.Dir(name), Name: name, Test: strings.HasSuffix(name, "_test.go"),
			Lines: fset.Position(f.FileEnd).Line, Fset: fset, AST: f,
		}
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			g.Imports = append(g.Imports, p)
		}
		out = append(out, g)
	}
	return out
}

// place is where a node of a file stands, for messages.
func (g goFile) place(n ast.Node) string {
	return g.Name + ":" + strconv.Itoa(g.Fset.Position(n.Pos()).Line)
}

// under reports whether dir is folder or below it.
func under(dir, folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") }

func TestTopLevel(t *testing.T) {
	allowed := []string{
		"go.mod", "go.sum", "cmd", "model", "solver", "importers", "render", "internal",
		"examples", "testdata", "docs", "README.md", "LICENSE",
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s: the top level has only %s", e.Name(), strings.Join(allowed, ", "))
		}
	}
}

// longFiles are the files above the limit, each with the reason.
var longFiles = map[string]string{}

func TestFileLength(t *testing.T) {
	const limit = 500
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.Lines <= limit {
			continue
		}
		seen[f.Name] = true
		if longFiles[f.Name] == "" {
			t.Errorf("%s has %d lines: split it at %d, or say in longFiles why not", f.Name, f.Lines, limit)
		}
	}
	for name := range longFiles {
		if !seen[name] {
			t.Errorf("%s is in longFiles and is not long", name)
		}
	}
}
