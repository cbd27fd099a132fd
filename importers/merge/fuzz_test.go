package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// parts makes fragments of small parts, each choice one byte; without bytes every choice is the first.
type parts struct {
	data []byte
	line int32
}

func (p *parts) pick(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

func (p *parts) at(f *model.Fragment) diag.Span {
	p.line++
	return diag.Span{File: f.File, Line: p.line, Col: 1}
}

// pool has one service under many names, names that are parts of each other, and names that mean nothing.
var pool = []string{
	"a", "b", "c", "a.shop", "a.stage", "a.Get", "a/b", "b/c", "outbound|80||a.shop.svc.cluster.local", "outbound|80||b",
	"outbound_.80_.v1_.a.stage.svc.cluster.local", "inbound|80||", "inbound|80||a.shop.svc.cluster.local", "httproute/shop/a/rule/0",
	"a:80", "b.shop.svc:80", "api.example.com", "api", "", "|", "outbound|||", ".", "a.", "acb", "cab",
}

func (p *parts) name() string { return pool[p.pick(len(pool))] }

func (p *parts) duration(at diag.Span) model.Val[model.Duration] {
	values := []model.Duration{0, model.Second, 100 * model.Millisecond, model.NoLimit, 3 * model.Second}
	switch k := p.pick(len(values) + 2); {
	case k == 0:
		return model.Val[model.Duration]{}
	case k == 1:
		return model.Val[model.Duration]{V: 15 * model.Second, From: (&diag.Default{Platform: "envoy", Field: "f", Value: "15s"}).For(at)}
	default:
		return model.At(values[k-2], at)
	}
}

// latency gives percentiles, measured where the source observes.
func (p *parts) latency(f *model.Fragment, at diag.Span) *model.Latency {
	l := &model.Latency{}
	switch p.pick(4) {
	case 1:
		l.Exact = p.duration(at)
	case 2:
		l.Points = []model.Point{{P: 500_000, V: model.At(10*model.Millisecond, at)}, {P: 990_000, V: model.At(model.Duration(1+p.pick(9))*model.Second, at)}}
	case 3:
		l.Max = model.At(2*model.Second, at)
	}
	if f.Observed && l.Set() {
		l.Caveats, l.Samples = model.At(model.Caveats(0), at), model.At(int64(p.pick(5)), at)
	}
	return l
}

func (p *parts) call(f *model.Fragment, from model.ServiceID) model.CallID {
	at := p.at(f)
	c := model.Call{From: from, To: f.Service(p.name(), at), At: at, Latency: p.latency(f, at)}
	switch p.pick(4) {
	case 1:
		c.Edit().Name = model.At([]string{"read", "write"}[p.pick(2)], at)
	case 2:
		c.Route = []string{"prefix /", "read"}[p.pick(2)]
	case 3:
		c.Edit().Ignores = []model.Ignore{{Code: "BP101", Reason: "known", At: at}}
	}
	for range p.pick(3) {
		w := model.Waiter{At: at, Timeout: p.duration(at), PerTry: p.duration(at), Attempts: model.At(int32(1+p.pick(3)), at)}
		if len(c.Waiters) > 0 {
			w.Name = "sdk"
		}
		c.Waiters = append(c.Waiters, w)
	}
	f.Calls = append(f.Calls, c)
	return model.CallID(len(f.Calls) - 1)
}

func (p *parts) flow(f *model.Fragment, from model.ServiceID, depth int) model.Flow {
	kind := model.FlowKind(p.pick(6))
	if kind == model.One || depth > 2 {
		return model.Flow{Kind: model.One, Call: p.call(f, from)}
	}
	flow := model.Flow{Kind: kind}
	for range p.pick(4) {
		flow.Of = append(flow.Of, p.flow(f, from, depth+1))
	}
	return flow
}

func (p *parts) fragment(i int) *model.Fragment {
	f := &model.Fragment{File: fmt.Sprintf("f%d.yaml", i)}
	switch p.pick(3) {
	case 0:
		f.Structure, f.As = true, "plan"
	case 1:
		f.As = "envoy"
	case 2:
		f.As, f.Observed = "prometheus", true
	}
	for range p.pick(4) {
		at := p.at(f)
		id := f.Service(p.name(), at)
		if f.Services[id].Flow.Empty() {
			f.Services[id].Declared = f.Structure
			f.Services[id].Latency = p.latency(f, at)
			f.Services[id].ServerTimeout = p.duration(at)
			flow := p.flow(f, id, 0)
			f.Services[id].Flow = flow
		}
	}
	if f.Observed { // metrics know calls and no flow
		for i := range f.Services {
			f.Services[i].Flow = model.Flow{}
		}
	}
	if f.Structure {
		at := p.at(f)
		for range p.pick(3) {
			f.Aliases = append(f.Aliases, model.Alias{Service: p.name(), At: at, Names: []model.Val[string]{model.At(p.name(), at)}})
		}
		for range p.pick(2) {
			f.Entrypoints = append(f.Entrypoints, model.Entrypoint{Name: "shop", At: at, SLO: p.duration(at), Call: f.Service(p.name(), at)})
		}
	}
	return f
}

// assemble makes the same fragments from the same bytes, in the order that seed gives.
func assemble(data []byte, seed uint64) []*model.Fragment {
	p := &parts{data: data}
	var out []*model.Fragment
	for i := range 1 + p.pick(5) {
		out = append(out, p.fragment(i))
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// FuzzFragments: whatever fragments say of each other, the plan of them has every call once, under an id of its own,
// compiles and is solved, and is the same in whatever order the fragments come.
func FuzzFragments(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		data := make([]byte, 30+rng.IntN(300))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		p, findings := Plan(assemble(data, 0))
		again, others := Plan(assemble(data, uint64(len(data))))
		diag.Sort(findings)
		diag.Sort(others)
		if diff := cmp.Diff(fmt.Sprintf("%+v", texts(findings)), fmt.Sprintf("%+v", texts(others))); diff != "" {
			t.Fatalf("another order, other findings:\n%s", diff)
		}
		if diff := cmp.Diff(p, again, cmp.AllowUnexported(model.Plan{})); diff != "" {
			t.Fatalf("another order, another plan:\n%.2000s", diff)
		}
		checkPlan(t, p)
		g, _ := solver.Compile(p)
		solver.Solve(g, solver.Options{Allowed: len(p.Calls) < 20, Fixes: len(p.Calls) < 20})
	})
}

func texts(findings []diag.Finding) []string {
	var out []string
	for i := range findings {
		out = append(out, findings[i].Place().String()+" "+findings[i].Message)
	}
	return out
}

// checkPlan: ids are unique, every call stands once in the flow of its caller, and everything that points points into the plan.
func checkPlan(t *testing.T, p *model.Plan) {
	t.Helper()
	placed := make([]int, len(p.Calls))
	for i := range p.Services {
		p.Services[i].Flow.Walk(func(c model.CallID) {
			placed[c]++
			if p.Calls[c].From != model.ServiceID(i) {
				t.Fatalf("%s stands in the flow of %s", p.Calls[c].ID, p.Services[i].Name)
			}
		})
	}
	ids := map[string]bool{}
	for i := range p.Calls {
		c := &p.Calls[i]
		if placed[i] != 1 || ids[c.ID] || c.ID == "" || len(c.Waiters) == 0 {
			t.Fatalf("call %d, `%s`: %d times in a flow, id known before: %v, %d waiters", i, c.ID, placed[i], ids[c.ID], len(c.Waiters))
		}
		ids[c.ID] = true
		if int(c.To) >= len(p.Services) || c.To < 0 {
			t.Fatalf("`%s` calls service %d of %d", c.ID, c.To, len(p.Services))
		}
	}
	for _, e := range p.Entrypoints {
		if int(e.Call) >= len(p.Services) || e.Call < 0 {
			t.Fatalf("`%s` calls service %d of %d", e.Name, e.Call, len(p.Services))
		}
	}
	for _, read := range p.Read {
		if slices.ContainsFunc(read.Alone, func(id model.CallID) bool { return int(id) >= len(p.Calls) }) {
			t.Fatalf("%s knows calls %v of %d", read.File, read.Alone, len(p.Calls))
		}
	}
}
