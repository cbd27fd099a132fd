package house

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// inDir gives the parsed files of one folder, tests left out.
func inDir(t *testing.T, dir string) []goFile {
	t.Helper()
	var out []goFile
	for _, f := range goFiles(t) {
		if f.Dir == dir && !f.Test {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no Go file", dir)
	}
	return out
}

// literals calls visit for every composite literal of a type whose name, without its package, is typ. The fields
// that are string literals come unquoted.
func literals(f goFile, typ string, visit func(lit *ast.CompositeLit, fields map[string]string)) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || typeName(lit.Type) != typ {
			return true
		}
		fields := map[string]string{}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				key, _ := kv.Key.(*ast.Ident)
				if b, ok := kv.Value.(*ast.BasicLit); ok && key != nil {
					if s, err := strconv.Unquote(b.Value); err == nil {
						fields[key.Name] = s
					}
				}
			}
		}
		visit(lit, fields)
		return true
	})
}

func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// listed gives the names in the variable of a list: identifiers, and the packages of selectors.
func listed(t *testing.T, files []goFile, variable string) []string {
	t.Helper()
	var names []string
	for _, f := range files {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || spec.Names[0].Name != variable {
				return true
			}
			for _, v := range spec.Values {
				lit, ok := v.(*ast.CompositeLit)
				if !ok {
					continue
				}
				for _, e := range lit.Elts {
					switch x := e.(type) {
					case *ast.Ident:
						names = append(names, x.Name)
					case *ast.SelectorExpr:
						names = append(names, typeName(x.X))
					}
				}
			}
			return true
		})
	}
	if len(names) == 0 {
		t.Fatalf("no list %s found", variable)
	}
	return names
}

var ruleFile = regexp.MustCompile(`^bp(\d{3})_([a-z_]+)\.go$`)

// TestRules compares the list of rules with the files of its folder: each has its code, its page and its place.
func TestRules(t *testing.T) {
	files := inDir(t, "solver/rules")
	all := listed(t, files, "All")
	var declared, ids []string
	for _, f := range files {
		rules := ruleVars(f)
		m := ruleFile.FindStringSubmatch(path.Base(f.Name))
		if m == nil {
			if len(rules) > 0 {
				t.Errorf("%s declares %v: a rule has a file of its own", f.Name, rules)
			}
			continue
		}
		if len(rules) != 1 {
			t.Errorf("%s declares the rules %v, want one", f.Name, rules)
		}
		declared = append(declared, rules...)
		codes := 0
		literals(f, "Code", func(lit *ast.CompositeLit, is map[string]string) {
			codes++
			ids = append(ids, is["ID"])
			if is["ID"] != "BP"+m[1] || is["Name"] != strings.ReplaceAll(m[2], "_", "-") {
				t.Errorf("%s: the code is %s %s", f.place(lit), is["ID"], is["Name"])
			}
			checkSummary(t, f.place(lit), is["Summary"])
		})
		if codes != 1 {
			t.Errorf("%s declares %d codes, want one", f.Name, codes)
		}
		checkPage(t, strings.TrimSuffix(f.Name, ".go")+".txtar")
	}
	if !slices.IsSorted(ids) {
		t.Errorf("codes out of order: %v", ids)
	}
	if !slices.Equal(all, declared) {
		t.Errorf("All differs from the files, in the order of their codes:\nlist  %v\nfiles %v", all, declared)
	}
}

// ruleVars names the variables of a file that are rules.
func ruleVars(f goFile) []string {
	var names []string
	for _, decl := range f.AST.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range gen.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				continue
			}
			if ref, ok := spec.Values[0].(*ast.UnaryExpr); ok {
				if lit, ok := ref.X.(*ast.CompositeLit); ok && typeName(lit.Type) == "Rule" {
					names = append(names, spec.Names[0].Name)
				}
			}
		}
	}
	return names
}

// checkSummary holds a code's summary to the voice of messages.
func checkSummary(t *testing.T, place, summary string) {
	t.Helper()
	if summary == "" || strings.HasSuffix(summary, ".") || strings.ToLower(summary[:1]) != summary[:1] {
		t.Errorf("%s: summary %q: lower case, no final period, never empty", place, summary)
	}
}

// checkPage wants a page with its three parts, and plans that trigger the rule and do not.
func checkPage(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Errorf("%v: every rule has a page", err)
		return
	}
	ar := txtar.Parse(data)
	for _, part := range []string{"What it means", "Why it hurts", "How to fix it"} {
		if !strings.Contains(string(ar.Comment), part) {
			t.Errorf("%s: the page does not say %q", name, part)
		}
	}
	have := map[string]bool{}
	for _, f := range ar.Files {
		have[f.Name] = len(strings.TrimSpace(string(f.Data))) > 0
	}
	for _, f := range []string{"bad.yaml", "want", "good.yaml"} {
		if !have[f] {
			t.Errorf("%s has no %s, or it is empty", name, f)
		}
	}
}

// TestCodesAreDeclaredOnce: one variable a code, declared where it is raised.
func TestCodesAreDeclaredOnce(t *testing.T) {
	at := map[string]string{}
	for _, f := range goFiles(t) {
		if f.Test {
			continue
		}
		literals(f, "Code", func(lit *ast.CompositeLit, is map[string]string) {
			for _, key := range []string{is["ID"], is["Name"]} {
				if key == "" {
					continue
				}
				if first := at[key]; first != "" {
					t.Errorf("%s: %s is declared at %s already", f.place(lit), key, first)
				}
				at[key] = f.place(lit)
			}
		})
	}
	if len(at) == 0 {
		t.Error("no code found")
	}
}

// rooms are the folders whose packages declare values of a type, which the list of the package all names.
var rooms = []struct{ folder, typ, list string }{
	{"importers", "Importer", "List"},
	{"render", "Renderer", "List"},
}

func TestPackagesAreListed(t *testing.T) {
	for _, r := range rooms {
		declared := map[string]bool{}
		for _, f := range goFiles(t) {
			if under(f.Dir, r.folder) && f.Dir != r.folder && !f.Test {
				literals(f, r.typ, func(*ast.CompositeLit, map[string]string) { declared[path.Base(f.Dir)] = true })
			}
		}
		delete(declared, "all")
		names := listed(t, inDir(t, r.folder+"/all"), r.list)
		for name := range declared {
			if !slices.Contains(names, name) {
				t.Errorf("%s/all does not list %s", r.folder, name)
			}
		}
		for _, name := range names {
			if !declared[name] {
				t.Errorf("%s/all lists %s, which declares no %s", r.folder, name, r.typ)
			}
		}
	}
}

// commands are what the command line has, each in a file of its own.
var commands = []string{
	"check", "plan", "explain", "import", "generate", "graph", "what-if", "init", "schema", "rules", "version", "docs",
}

func TestCommands(t *testing.T) {
	files := inDir(t, "cmd/budgetplan/cli")
	found := map[string]bool{}
	for _, f := range files {
		literals(f, "Command", func(lit *ast.CompositeLit, is map[string]string) {
			word, _, _ := strings.Cut(is["Use"], " ")
			if word == "" || word == "budgetplan" {
				return
			}
			found[word] = true
			if !slices.Contains(commands, word) && word != "completion" {
				t.Errorf("%s: `commands` does not list %s", f.place(lit), word)
			}
			if want := strings.ReplaceAll(word, "-", "") + ".go"; strings.ReplaceAll(path.Base(f.Name), "_", "") != want {
				t.Errorf("%s: %s has a file of its own, %s", f.place(lit), word, want)
			}
		})
	}
	for _, c := range commands {
		if !found[c] {
			t.Errorf("no command %s", c)
		}
	}
}
