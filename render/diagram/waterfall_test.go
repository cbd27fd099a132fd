package diagram_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
	"github.com/budgetplan/budgetplan/solver"
)

func text(t *testing.T, in *render.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := diagram.WaterfallText.Write(&out, []*render.Input{in}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	sloLine  = regexp.MustCompile(`<path d="M(\d+) \d+L\d+ \d+" stroke="#c0392b" fill="none" stroke-width="2" stroke-dasharray="6 3"/>`)
	attempt  = regexp.MustCompile(`<rect x="(\d+)" y="(\d+)" width="(\d+)" height="15" fill="#d6eaf8"`)
	orphaned = regexp.MustCompile(`<rect x="(\d+)" y="(\d+)" width="(\d+)" height="15" fill="#ffffff" stroke="#c0392b"`)
	ofSLO    = regexp.MustCompile(`<rect x="(\d+)" y="\d+" width="(\d+)" height="7" fill="#d5f5e3"`)
)

func numbers(t *testing.T, match []string) (n []int) {
	t.Helper()
	for _, m := range match[1:] {
		v, err := strconv.Atoi(m)
		if err != nil {
			t.Fatal(err)
		}
		n = append(n, v)
	}
	return n
}

// A stranger sees the incident: 30 s for an answer, promised in 5, and what goes on behind it. The bars are as long as
// the numbers say.
func TestCheckoutWaterfall(t *testing.T) {
	picture := string(svg(t, diagram.WaterfallSVG, load(t, []byte(examplePlans(t)["checkout"]))))
	for _, want := range []string{
		"SLO 5s, but an answer may take 30s, work for it may go on until 47s or longer", ">answer at the latest 30s<",
		">SLO 5s<", ">14s for nobody<", ">7s for nobody<", ">48<",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	slo := numbers(t, sloLine.FindStringSubmatch(picture))[0]
	bars := attempt.FindAllStringSubmatch(picture, -1)
	root := numbers(t, bars[0])
	second := func(n int) int { return root[0] + root[2]*n/30 }
	near := func(what string, got, want int) {
		if got < want-1 || got > want+1 {
			t.Errorf("%s is at %d px, want %d", what, got, want)
		}
	}
	near("the SLO", slo, second(5))
	for k := 1; k <= 3; k++ {
		b := numbers(t, bars[k])
		near(fmt.Sprintf("attempt %d of the order", k), b[0], second(10*(k-1)))
		near(fmt.Sprintf("the end of attempt %d of the order", k), b[0]+b[2], second(10*k))
	}
	late := numbers(t, orphaned.FindStringSubmatch(picture))
	near("what the order does for nobody", late[0], second(30))
	near("the end of that", late[0]+late[2], second(44))
}

// What calls share of the SLO lies between the start and the SLO.
func TestSharesEndAtTheSLO(t *testing.T) {
	plans, seen := examplePlans(t), 0
	for _, name := range mapKeys(plans) {
		picture := string(svg(t, diagram.WaterfallSVG, load(t, []byte(plans[name]))))
		line := sloLine.FindStringSubmatch(picture)
		if line == nil {
			t.Errorf("%s: no line of the SLO", name)
			continue
		}
		slo := numbers(t, line)[0]
		for _, m := range ofSLO.FindAllStringSubmatch(picture, -1) {
			seen++
			if b := numbers(t, m); b[0]+b[1] > slo+1 {
				t.Errorf("%s: a share ends at %d px, the SLO is at %d", name, b[0]+b[1], slo)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d shares", seen)
	}
}

// Whatever a plan is, its pictures are XML in which nothing lies on anything, and its charts fit a terminal.
func TestRandomPictures(t *testing.T) {
	pictures := 0
	rapid.Check(t, func(r *rapid.T) {
		p := witness.Plans().Draw(r, "plan")
		g, _ := solver.Compile(p)
		in := &render.Input{Plan: p, Graph: g, Solution: solver.Solve(g, solver.Options{})}
		graph := read(t, svg(t, diagram.SVG, in))
		pictures++
		for _, o := range append(graph.overlaps(true), graph.crossed()...) {
			r.Fatalf("graph: %s", o)
		}
		for _, o := range read(t, svg(t, diagram.WaterfallSVG, in)).overlaps(false) {
			r.Fatalf("waterfall: %s", o)
		}
		for line := range strings.Lines(text(t, in)) {
			// The number at the right may be long.
			if utf8.RuneCountInString(line) > 96 {
				r.Fatalf("%d columns: %s", utf8.RuneCountInString(line), line)
			}
		}
	})
	if pictures == 0 {
		t.Error("nothing was drawn")
	}
}

// Names are shown as they are, cut where they are too long, and never end a tag.
func TestAnyNameInPictures(t *testing.T) {
	for _, name := range append(odd, strings.Repeat("long", 100)) {
		in := named(name)
		g, _ := solver.Compile(in.Plan)
		in.Graph, in.Solution = g, solver.Solve(g, solver.Options{})
		want := shown(name)
		if n := []rune(want); len(n) > 60 {
			want = string(n[:59]) + "…"
		}
		for _, r := range []*render.Renderer{diagram.SVG, diagram.WaterfallSVG} {
			found := want == ""
			for _, e := range read(t, svg(t, r, in)).texts {
				found = found || strings.Contains(strings.TrimSpace(e.text), want)
			}
			if !found {
				t.Errorf("%s: %q is not shown", r.Name, name)
			}
		}
		if got := text(t, in); !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q: no text: %q", name, got)
		}
	}
}

// A cycle is named where it is cut, in a picture of a plan that was solved and of one that was not.
func TestCycleInPictures(t *testing.T) {
	in := load(t, []byte("version: 1\nservices: {a: {calls: [{call: b, timeout: 1s}]}, b: {calls: [{call: a, timeout: 1s}]}}\n"))
	bare := &render.Input{Plan: in.Plan}
	for _, got := range []string{string(svg(t, diagram.SVG, in)), string(svg(t, diagram.SVG, bare))} {
		if !strings.Contains(got, "back to a: a cycle") {
			t.Errorf("the cycle is not named: %s", got)
		}
	}
	in.Plan.Entrypoints = []model.Entrypoint{{Name: "in"}}
	in.Graph, _ = solver.Compile(in.Plan)
	in.Solution = solver.Solve(in.Graph, solver.Options{})
	if got := text(t, in); !strings.Contains(got, "a cycle, cut here") {
		t.Errorf("the cycle is not named: %s", got)
	}
}

// A plan that is too large is refused, not drawn for minutes.
func TestTooLarge(t *testing.T) {
	p := &model.Plan{Services: make([]model.Service, 100_001), Calls: make([]model.Call, 100_001)}
	for i := range p.Calls {
		p.Services[i].Name = fmt.Sprint(i)
		p.Calls[i] = model.Call{From: 0, To: model.ServiceID(i), Waiters: make([]model.Waiter, 1)}
		if i > 0 {
			p.Services[0].Flow.Of = append(p.Services[0].Flow.Of, model.Flow{Kind: model.One, Call: model.CallID(i)})
		}
	}
	g, _ := solver.Compile(p)
	in := &render.Input{Plan: p, Graph: g, Solution: solver.Solve(g, solver.Options{})}
	for _, r := range []*render.Renderer{diagram.SVG, diagram.WaterfallSVG, diagram.WaterfallText} {
		var large *diagram.TooLargeError
		if err := r.Write(new(bytes.Buffer), []*render.Input{in}); !errors.As(err, &large) {
			t.Errorf("%s: %v", r.Title, err)
		}
	}
}

// So are charts of a plan in which everybody is a root.
func TestTooManyCharts(t *testing.T) {
	p := &model.Plan{Services: make([]model.Service, 15000)}
	g, _ := solver.Compile(p)
	in := &render.Input{Plan: p, Graph: g, Solution: solver.Solve(g, solver.Options{})}
	var large *diagram.TooLargeError
	if err := diagram.WaterfallText.Write(new(bytes.Buffer), []*render.Input{in}); !errors.As(err, &large) || large.Most >= large.Count {
		t.Errorf("15,000 charts: %v", err)
	}
}

// Nothing to draw is an empty picture, and several plans are one.
func TestNoPlanAndSeveral(t *testing.T) {
	in := load(t, []byte(examplePlans(t)["product"]))
	for _, r := range []*render.Renderer{diagram.SVG, diagram.WaterfallSVG} {
		none, one, two := read(t, svg(t, r, &render.Input{})), read(t, svg(t, r, in)), read(t, svg(t, r, in, in))
		if two.h <= one.h || one.h <= none.h || len(two.overlaps(r == diagram.SVG)) > 0 {
			t.Errorf("%s: heights of none, one and two plans: %v, %v, %v; %q", r.Title, none.h, one.h, two.h, two.overlaps(r == diagram.SVG))
		}
	}
	a, b := *in, *in
	a.Name, b.Name = "one.yaml", "two.yaml"
	for _, r := range []*render.Renderer{diagram.SVG, diagram.WaterfallSVG, diagram.WaterfallText} {
		var out bytes.Buffer
		if err := r.Write(&out, []*render.Input{&a, &b}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Count(got, a.Name) != 1 || strings.Index(got, a.Name) > strings.Index(got, b.Name) {
			t.Errorf("%s: several plans are not named", r.Title)
		}
		if r != diagram.WaterfallText {
			if found := read(t, out.Bytes()).overlaps(r == diagram.SVG); len(found) > 0 {
				t.Errorf("%s: %q", r.Title, found)
			}
		}
	}
	if got := text(t, &render.Input{}); got != "" {
		t.Errorf("a chart of nothing: %q", got)
	}
}
