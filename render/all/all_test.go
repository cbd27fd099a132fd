package all_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
)

// The list has every renderer that a file of the folders beside it declares, and no other.
func TestListAgainstFolders(t *testing.T) {
	var declared, listed []string
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("..", folder.Name(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				declared = append(declared, renderersIn(t, file)...)
			}
		}
	}
	for _, r := range all.List {
		listed = append(listed, r.Name)
	}
	slices.Sort(declared)
	if !slices.Equal(declared, listed) {
		t.Errorf("declared: %v\nlisted:   %v", declared, listed)
	}
}

// renderersIn gives the names of the renderers that a file declares as literals.
func renderersIn(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if s, ok := literal.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Renderer" {
			return true
		}
		for _, e := range literal.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			if !ok || field.Key.(*ast.Ident).Name != "Name" {
				continue
			}
			name, err := strconv.Unquote(field.Value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	return names
}

func TestListIsComplete(t *testing.T) {
	kinds := make(map[string]render.Kind)
	for i, r := range all.List {
		if r.Title == "" || r.Render == nil || r.Kind == 0 {
			t.Errorf("%s: title, kind or function is missing", r.Name)
		}
		if i > 0 && all.List[i-1].Name > r.Name {
			t.Errorf("%s is out of order", r.Name)
		}
		if kinds[r.Name]&r.Kind != 0 {
			t.Errorf("%s is listed twice for one command", r.Name)
		}
		kinds[r.Name] |= r.Kind
	}
	for name, kind := range map[string]render.Kind{"text": render.Check, "json": render.Plan, "table": render.Plan, "dot": render.Graph} {
		if r := all.Find(name, kind); r == nil || r.Name != name {
			t.Errorf("%s is not found", name)
		}
	}
	if all.Find("dot", render.Check) != nil {
		t.Error("dot is found for check")
	}
	if got := all.Names(render.Check); !slices.Equal(got, []string{"github", "json", "junit", "markdown", "sarif", "short", "text"}) {
		t.Errorf("formats of check: %v", got)
	}
	if got := all.Names(render.Plan); !slices.Equal(got, []string{"csv", "json", "markdown", "table", "yaml"}) {
		t.Errorf("formats of plan: %v", got)
	}
}
