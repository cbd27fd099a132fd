package diagram_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
)

// parsed is what Mermaid itself read in a chart.
type parsed struct {
	Error    string
	Vertices []struct{ ID, Text string }
	Edges    []struct{ Start, End, Text string }
	Groups   []struct{ ID, Title string }
}

// mermaid hands charts to the real Mermaid: `mermaid-parse`, a few lines around the library that .ci/setup installs.
// Without it the test is skipped, except where CI promises that it is there.
func mermaid(t *testing.T, charts []string) []parsed {
	t.Helper()
	path, err := exec.LookPath("mermaid-parse")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("mermaid-parse is not installed: .ci/setup does that")
		}
		t.Skip("mermaid-parse is not installed: charts are not held against Mermaid")
	}
	in, err := json.Marshal(charts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var list []parsed
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil || len(list) != len(charts) {
		t.Fatalf("mermaid-parse read %d of %d charts: %v\n%s", len(list), len(charts), err, out)
	}
	return list
}

func chart(t *testing.T, in *render.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := diagram.Mermaid.Write(&out, []*render.Input{in}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Mermaid reads every name as it is: its reserved words, its markup, its quotes.
func TestAnyNameInMermaid(t *testing.T) {
	var charts []string
	for _, name := range odd {
		charts = append(charts, chart(t, named(name)))
	}
	for i, p := range mermaid(t, charts) {
		if p.Error != "" {
			t.Errorf("%q: %s\n%s", odd[i], p.Error, charts[i])
			continue
		}
		// The entrypoint, three services, and the point through which the shared one is called.
		if len(p.Vertices) != 5 || len(p.Edges) != 5 || len(p.Groups) != 1 {
			t.Errorf("%q: %d nodes, %d arrows, %d groups", odd[i], len(p.Vertices), len(p.Edges), len(p.Groups))
		}
		found := false
		for _, v := range p.Vertices {
			found = found || strings.TrimSpace(v.Text) == shown(odd[i])
		}
		if !found {
			t.Errorf("%q is not shown: %q", odd[i], p.Vertices)
		}
	}
}

func TestTopologiesInMermaid(t *testing.T) {
	plans := topologyPlans(t)
	var charts []string
	var ins []*render.Input
	for _, name := range mapKeys(plans) {
		in := load(t, []byte(plans[name]))
		ins, charts = append(ins, in), append(charts, chart(t, in))
	}
	for i, p := range mermaid(t, charts) {
		if want := len(ins[i].Plan.Calls) + len(ins[i].Plan.Entrypoints); p.Error != "" || len(p.Edges) < want {
			t.Errorf("%s: %d arrows, want at least %d: %s", mapKeys(plans)[i], len(p.Edges), want, p.Error)
		}
	}
}

// odd are names that a language of pictures could take for something of its own.
var odd = []string{
	"plain", "with space", `quote"d`, `back\slash`, `end\`, `\N`, "line\nbreak", "nul\x00", "<b>html</b>", "&amp;", "digraph", "a->b", "日本", "\xff",
	"{a|b}", "//comment", "/*", "#x", "a;b", "", "node 1", "end", "subgraph", "graph", "click", "style x:y#z;", "classDef a:#b;", "%% no", "1. one", "- item",
	"`code`", "**bold**", "a|b", "[x]", "(y)", "#quot;", "linkStyle 0", "]]>", "<!--", "--", "x:::bad", "@{shape: x}", "$$x^2$$",
}

// shown is a name as a picture shows it, white space at the ends left out.
func shown(name string) string {
	name = strings.NewReplacer("\n", " ", "\x00", "\ufffd").Replace(strings.ToValidUTF8(name, "\ufffd"))
	return strings.TrimSpace(name)
}

// named is a plan in which everything has the name: a parallel group, one of whose services is shared.
func named(name string) *render.Input {
	plan := &model.Plan{
		Entrypoints: []model.Entrypoint{{Name: name}},
		Services:    []model.Service{{Name: name}, {Name: name + "'"}, {Name: "both"}},
		Calls: []model.Call{
			{ID: "a", From: 0, To: 1, Waiters: []model.Waiter{{}, {Name: name, Timeout: model.At(model.Second, diag.Span{})}}},
			{ID: "b", From: 0, To: 2, Waiters: []model.Waiter{{}}},
			{ID: "c", From: 1, To: 2, Waiters: []model.Waiter{{}}},
		},
	}
	call := func(id model.CallID) model.Flow { return model.Flow{Kind: model.One, Call: id} }
	plan.Services[0].Flow = model.Flow{Of: []model.Flow{{Kind: model.Parallel, Of: []model.Flow{call(0), call(1)}}}}
	plan.Services[1].Flow = model.Flow{Of: []model.Flow{call(2)}}
	return &render.Input{Plan: plan}
}
