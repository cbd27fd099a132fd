package house

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestDocComments wants a comment on every public identifier and on every package.
func TestDocComments(t *testing.T) {
	packages := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.Test {
			continue
		}
		packages[f.Dir] = packages[f.Dir] || f.AST.Doc != nil
		for _, decl := range f.AST.Decls {
			for _, id := range undocumented(decl) {
				t.Errorf("%s: %s has no doc comment", f.place(id), id.Name)
			}
		}
	}
	for dir, documented := range packages {
		if !documented {
			t.Errorf("%s: no file of the package has a package comment", dir)
		}
	}
}

// undocumented gives the public names of a declaration that no comment covers. A comment on a group of
// constants or variables covers the group.
func undocumented(decl ast.Decl) []*ast.Ident {
	var out []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		// The interface error documents its method.
		if d.Name.IsExported() && publicReceiver(d.Recv) && d.Doc == nil && !(d.Recv != nil && d.Name.Name == "Error") {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					out = append(out, s.Name)
				}
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if id.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						out = append(out, id)
					}
				}
			}
		}
	}
	return out
}

// publicReceiver reports whether a method belongs to a public type; a function has none and is public.
func publicReceiver(recv *ast.FieldList) bool {
	if recv == nil || len(recv.List) == 0 {
		return true
	}
	typ := recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// TestNoInit: lists, not registration at start.
func TestNoInit(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && !f.Test {
				t.Errorf("%s: no init: put the value in a list", f.place(fn))
			}
		}
	}
}

// TestNoPanic: nothing that a user gives may end in a panic of ours, and nothing is left for later.
func TestNoPanic(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.Test {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
					t.Errorf("%s: panic", f.place(call))
				}
			}
			return true
		})
		for _, group := range f.AST.Comments {
			for _, word := range []string{"TO" + "DO", "FIX" + "ME", "X" + "XX"} {
				if strings.Contains(group.Text(), word) {
					t.Errorf("%s: %s", f.place(group), word)
				}
			}
		}
	}
}

// TestUndocumented holds the test's own eye against a small file.
func TestUndocumented(t *testing.T) {
	decls := []ast.Decl{
		&ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{Name: ast.NewIdent("Public")}}},
		&ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{Name: ast.NewIdent("private")}}},
		&ast.FuncDecl{Name: ast.NewIdent("Do")},
		&ast.FuncDecl{Name: ast.NewIdent("Do"), Doc: &ast.CommentGroup{}},
	}
	var got []string
	for _, d := range decls {
		for _, id := range undocumented(d) {
			got = append(got, id.Name)
		}
	}
	if strings.Join(got, " ") != "Public Do" {
		t.Errorf("undocumented: %v", got)
	}
}
