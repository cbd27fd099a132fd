package oracle

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/cli"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
)

// documents are what a format gives for every example, for all of them as plans of one run, and for names that try to
// leave whatever they are written into.
func documents(t *testing.T, r *render.Renderer) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	examples := filepath.Join("..", "..", "examples")
	folders, err := filepath.Glob(filepath.Join(examples, "*"))
	if err != nil || len(folders) < 3 {
		t.Fatalf("%d examples: %v", len(folders), err)
	}
	for _, folder := range append(folders, examples) {
		var out, told bytes.Buffer
		if status := cli.Main([]string{"check", "--format", r.Name, folder}, strings.NewReader(""), &out, &told); status > 1 {
			t.Fatalf("%s: exit status %d: %s", folder, status, told.String())
		}
		all[folder] = out.Bytes()
	}
	var out bytes.Buffer
	if err := r.Render(&out, &render.Input{Findings: hostile()}); err != nil {
		t.Fatal(err)
	}
	all["hostile names"] = out.Bytes()
	return all
}

func hostile() []diag.Finding {
	const name = "a|b`c<script>&\"]]> \x00\x1b\xff\ufffe\u202e日本 %41:\n--"
	at := diag.Span{File: "a b/" + name + ".yaml", Line: 3, Col: 2, EndCol: 4}
	code := &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Error, Summary: name}
	f := code.New(name, at, "%s", name)
	f.Help, f.Detail, f.Notes = name, name, []diag.Note{{Text: name, At: diag.At(at)}, {Text: name}}
	f.Edits = []diag.Edit{{At: at, New: name}}
	ignored := code.New(name, diag.Span{}, "%s", name)
	ignored.Ignored = &diag.Suppression{Reason: name}
	return []diag.Finding{f, ignored}
}

// Every log follows the OASIS schema of SARIF 2.1.0, and go-sarif reads it.
func TestSARIFFollowsTheSchema(t *testing.T) {
	schema := sarifSchema(t)
	judge := func(log []byte) error {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
		if err != nil {
			return err
		}
		return schema.Validate(document)
	}
	for name, log := range documents(t, report.SARIF) {
		if err := judge(log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if read, err := sarif.FromBytes(log); err != nil || len(read.Runs) != 1 || len(read.Runs[0].Results) == 0 && name == "hostile names" {
			t.Errorf("%s: go-sarif reads %+v: %v", name, read, err)
		}
	}
	for _, bad := range []string{`{"version": "2.1.0", "runs": [{"results": []}]}`, `{"version": "2.1.0", "runs": [], "extra": 1}`} {
		if judge([]byte(bad)) == nil {
			t.Errorf("%s is taken: the schema judges nothing", bad)
		}
	}
}

// sarifSchema compiles the schema that go-sarif carries as a constant of its package.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(folder)), "pkg", "report", "v210", "sarif", "schema.go")
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && len(literal.Value) > len(text) {
			text, err = strconv.Unquote(literal.Value)
		}
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// Every document follows the schema of Jenkins, the one that most readers of JUnit XML hold to
// (jenkinsci/xunit-plugin, junit-10.xsd, under its licence in testdata).
func TestJUnitFollowsTheSchema(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs xmllint: %v", err)
		}
		t.Skip("xmllint is not installed")
	}
	judge := func(document []byte) (string, error) {
		cmd := exec.Command(xmllint, "--noout", "--nonet", "--schema", filepath.Join("testdata", "junit-10.xsd"), "-")
		cmd.Stdin = bytes.NewReader(document)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, document := range documents(t, report.JUnit) {
		if out, err := judge(document); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	if _, err := judge([]byte(`<testsuites><testsuite name="a"><testcase/></testsuite></testsuites>`)); err == nil {
		t.Error("a test case without a name is taken: the schema judges nothing")
	}
}
