package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

var (
	inverted  = &diag.Code{ID: "BP101", Name: "inverted-timeout", Severity: diag.Error}
	missing   = &diag.Code{ID: "BP104", Name: "missing-timeout", Severity: diag.Warning}
	repeats   = &diag.Code{ID: "BP203", Name: "retry-not-idempotent", Severity: diag.Info}
	unlimited = &diag.Code{ID: "BP116", Name: "missing-server-limit", Severity: diag.Info}
)

const checkoutFile = "services:\n  gateway:\n    calls:\n      - call: order\n        timeout: 10s\n"

// sample has a finding of every kind.
func sample() *render.Input {
	f := inverted.New("gateway/order", diag.Span{File: "checkout.yaml", Line: 5, Col: 9, EndCol: 16}, "`order` may go on for 12.175s after `gateway` gave up")
	f.Help = "give `order/inventory` no retries"
	f.Notes = []diag.Note{
		{Text: "`order` may be busy 22.175s", At: diag.At(diag.Span{File: "checkout.yaml", Line: 3, Col: 5})},
		{Text: "nothing carries the caller's deadline on this call"},
		{Text: "the time is Envoy's", At: &diag.Origin{Default: &diag.Default{Platform: "envoy", Field: "route.timeout", Value: "15s"}}},
	}
	d := missing.New("a/b", diag.Span{}, "Istio sets no timeout by itself: 2168 calls are unbounded")
	d.Cause = &diag.Origin{Default: &diag.Default{Platform: "istio", Field: "timeout", Value: "none"}}
	d.Count, d.Subjects = 4, []string{"a/b", "c/d", "e/f", "g/h"}
	ignored := missing.New("x/y", diag.Span{File: "checkout.yaml", Line: 1, Col: 1, EndCol: 9}, "nothing bounds `x/y`")
	ignored.Ignored = &diag.Suppression{Reason: "the mesh does", At: diag.Span{File: "checkout.yaml", Line: 2, Col: 3}}
	info := repeats.New("p/q", diag.Span{File: "gone.yaml", Line: 7, Col: 2}, "a retry of `p/q` can execute twice")
	info2, info3 := info, unlimited.New("db", diag.Span{}, "`db` has no limit")
	return &render.Input{
		Findings: []diag.Finding{f, d, ignored, info, info2, info3},
		Source: func(file string) []byte {
			if file == "checkout.yaml" {
				return []byte(checkoutFile)
			}
			return nil
		},
	}
}

const sampleError = "error[BP101]: `order` may go on for 12.175s after `gateway` gave up\n" +
	` --> checkout.yaml:5:9
  |
5 |         timeout: 10s
  |         ^^^^^^^
` + "note: `order` may be busy 22.175s  --> checkout.yaml:3:5\n" +
	`note: nothing carries the caller's deadline on this call
note: the time is Envoy's  --> envoy's default route.timeout 15s
` + "help: give `order/inventory` no retries\n"

const sampleWarning = `warning[BP104]: Istio sets no timeout by itself: 2168 calls are unbounded
  --> istio's default timeout none
` + "note: 4 share this cause: `a/b`, `c/d`, `e/f` and 1 more\n"

func TestText(t *testing.T) {
	check(t, Text, sample(), sampleError+"\n"+sampleWarning+"\n3 infos: BP203 ×2, BP116\n")
}

func TestTextQuiet(t *testing.T) {
	in := sample()
	in.Quiet = true
	check(t, Text, in, sampleError+"\n"+sampleWarning)
}

func TestTextVerbose(t *testing.T) {
	in := sample()
	in.Verbose = true
	const info = "info[BP203]: a retry of `p/q` can execute twice\n  --> gone.yaml:7:2\n"
	check(t, Text, in, sampleError+"\n"+sampleWarning+"\nwarning[BP104]: nothing bounds `x/y`\n"+` --> checkout.yaml:1:1
  |
1 | services:
  | ^^^^^^^^
note: ignored: the mesh does  --> checkout.yaml:2:3

`+info+"\n"+info+"\ninfo[BP116]: `db` has no limit\n")
}

func TestTextOfSeveralPlans(t *testing.T) {
	a, b := sample(), &render.Input{Name: "b/budgetplan.yaml"}
	a.Name = "a/budgetplan.yaml"
	var out bytes.Buffer
	if err := Text.Write(&out, []*render.Input{a, b}); err != nil {
		t.Fatal(err)
	}
	want := "plan a/budgetplan.yaml\n\n" + sampleError + "\n" + sampleWarning + "\n3 infos: BP203 ×2, BP116\n\nplan b/budgetplan.yaml\n\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Without the codes of its colours the output is the same to the byte, whatever the width of the terminal.
func TestColorIsAllThatDiffers(t *testing.T) {
	for _, r := range []*render.Renderer{Text, Short, Table} {
		plain, colored := sample(), sample()
		colored.Color, colored.Width = true, 200
		var a, b bytes.Buffer
		if err := r.Render(&a, plain); err != nil {
			t.Fatal(err)
		}
		if err := r.Render(&b, colored); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "\x1b[") {
			t.Errorf("%s: no colour", r.Name)
		}
		if got := uncolored(b.String()); got != a.String() {
			t.Errorf("%s: with colours:\n%s\nwithout:\n%s", r.Name, got, a.String())
		}
	}
}

func uncolored(s string) string {
	for _, attributes := range []string{red, yellow, cyan, blue, bold, "0"} {
		s = strings.ReplaceAll(s, "\x1b["+attributes+"m", "")
	}
	return s
}

func TestShort(t *testing.T) {
	check(t, Short, sample(), "checkout.yaml:5:9: error BP101: `order` may go on for 12.175s after `gateway` gave up\n"+
		"istio's default timeout none: warning BP104: Istio sets no timeout by itself: 2168 calls are unbounded (4 share this cause)\n"+
		strings.Repeat("gone.yaml:7:2: info BP203: a retry of `p/q` can execute twice\n", 2)+
		"db: info BP116: `db` has no limit\n")
}

// Names come from files; none of them may move the cursor or make a line of its own.
func TestTextIsSafe(t *testing.T) {
	in := sample()
	f := &in.Findings[0]
	f.Message, f.Help, f.At.File = "a\nb\x1b[2J\xff\u202e", "c\r", "d\x07.yaml"
	in.Verbose = true
	for _, r := range []*render.Renderer{Text, Short, Table} {
		var out bytes.Buffer
		if err := r.Render(&out, in); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\r\x07\u202e") || !strings.Contains(out.String(), `a\nb\u001b[2J\xff\u202e`) {
			t.Errorf("%s: %q", r.Name, out.String())
		}
	}
}

func TestWriteFinding(t *testing.T) {
	in := sample()
	var out bytes.Buffer
	if err := WriteFinding(&out, &in.Findings[0], in.Source); err != nil {
		t.Fatal(err)
	}
	if out.String() != sampleError {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), sampleError)
	}
}

func check(t *testing.T, r *render.Renderer, in *render.Input, want string) {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, []*render.Input{in}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
