package rules

import (
	"fmt"
	"strconv"

	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// maker draws small plans in which everything that rules look at happens often.
type maker struct {
	*rapid.T
	line int32
}

func (m *maker) span() diag.Span {
	m.line++
	return diag.Span{File: "plan.yaml", Line: m.line, Col: 1}
}

func (m *maker) chance(percent int, label string) bool {
	return rapid.IntRange(1, 100).Draw(m.T, label) <= percent
}

// time draws a duration in steps of 50ms, none sometimes, unset often.
func (m *maker) time(percent int, label string) model.Val[model.Duration] {
	if !m.chance(percent, label+"?") {
		return model.Val[model.Duration]{}
	}
	return model.At(model.Duration(rapid.IntRange(1, 80).Draw(m.T, label))*50*model.Millisecond, m.span())
}

func (m *maker) limit(percent int, label string) model.Val[model.Duration] {
	v := m.time(percent, label)
	if v.Set() && m.chance(8, label+" none") {
		v.V = model.NoLimit
	}
	return v
}

func (m *maker) waiter(name string) model.Waiter {
	w := model.Waiter{Name: name, At: m.span(), Timeout: m.limit(60, "timeout"), PerTry: m.limit(40, "per try"), Connect: m.time(10, "connect")}
	w.Rare = &model.WaiterRare{Read: m.time(15, "read"), Pool: m.time(5, "pool")}
	if m.chance(20, "extra") {
		w.Edit().ConnectExtra = model.At(true, m.span())
	}
	if m.chance(50, "retries") {
		w.Attempts = model.At(int32(rapid.IntRange(1, 5).Draw(m.T, "attempts")), m.span())
		if m.chance(5, "unlimited") {
			w.Attempts.V = model.Unlimited
		}
		w.RetriesKey = rapid.SampledFrom([]string{"retries", "attempts"}).Draw(m.T, "key")
	}
	if m.chance(25, "back-off") {
		w.Backoff = &model.Backoff{Base: model.At(model.Duration(rapid.IntRange(1, 400).Draw(m.T, "base"))*model.Millisecond, m.span())}
	}
	if m.chance(10, "retry on") {
		w.Edit().RetryOn = model.At(model.Failures{Kinds: model.FailureKind(rapid.IntRange(0, 31).Draw(m.T, "kinds"))}, m.span())
	}
	w.Edit().RetryWindow = m.time(5, "window")
	w.Edit().Idle = m.limit(10, "idle")
	if m.chance(8, "hedge") {
		w.Edit().Hedge = model.Hedge{After: m.time(70, "hedge after"), Attempts: model.At(int32(rapid.IntRange(1, 4).Draw(m.T, "copies")), m.span())}
	}
	if m.chance(25, "propagates") {
		w.Propagates = model.At(model.Propagation(rapid.IntRange(0, 3).Draw(m.T, "what")), m.span())
	}
	return w
}

func (m *maker) call(p *model.Plan, from, to int) model.CallID {
	id := model.CallID(len(p.Calls))
	c := model.Call{
		ID: fmt.Sprintf("%s/%s:%d", p.Services[from].Name, p.Services[to].Name, id), At: m.span(),
		From: model.ServiceID(from), To: model.ServiceID(to), Waiters: []model.Waiter{m.waiter("")}, Rare: &model.CallRare{Network: m.time(10, "network")},
	}
	if m.chance(15, "via") {
		c.Waiters = append(c.Waiters, m.waiter("proxy"))
	}
	for _, b := range []struct {
		v       *model.Val[bool]
		percent int
	}{{&c.Optional, 10}, {&c.Async, 5}, {&c.Edit().Stream, 5}} {
		if m.chance(b.percent, "nature") {
			*b.v = model.At(true, m.span())
		}
	}
	if m.chance(10, "repeat") {
		c.Edit().Repeat = model.At(int32(rapid.IntRange(1, 3).Draw(m.T, "times")), m.span())
	}
	switch rapid.IntRange(0, 19).Draw(m.T, "nature") {
	case 0:
		c.Edit().Stream = model.At(true, m.span())
	case 1:
		c.Async = model.At(true, m.span())
	case 2:
		c.Edit().FanOut = model.At(int32(rapid.IntRange(2, 40).Draw(m.T, "fan-out")), m.span())
	}
	c.Latency = m.latency()
	p.Calls = append(p.Calls, c)
	return id
}

// latency draws facts that agree with each other.
func (m *maker) latency() *model.Latency {
	l := &model.Latency{}
	l.Min = m.time(15, "min")
	least := l.Min.Or(0)
	if m.chance(40, "p99") {
		least = least.Add(model.Duration(rapid.IntRange(1, 2000).Draw(m.T, "p99")) * model.Millisecond)
		l.Points = []model.Point{{P: 990_000, V: model.At(least, m.span())}}
	}
	if l.Max = m.time(30, "max"); l.Max.Set() {
		l.Max.V = l.Max.V.Add(least)
	}
	return l
}

func (m *maker) flow(p *model.Plan, from, depth int) model.Flow {
	f := model.Flow{Kind: model.FlowKind(rapid.IntRange(2, 5).Draw(m.T, "kind"))}
	if depth == 0 {
		f.Kind = model.Sequence
	}
	for range rapid.IntRange(0, 3).Draw(m.T, "elements") {
		if depth < 2 && m.chance(20, "group") {
			f.Of = append(f.Of, m.flow(p, from, depth+1))
			continue
		}
		to := rapid.IntRange(from+1, len(p.Services)-1).Draw(m.T, "to")
		f.Of = append(f.Of, model.Flow{Kind: model.One, Call: m.call(p, from, to)})
	}
	return f
}

func (m *maker) plan() *model.Plan {
	p := &model.Plan{}
	for i := range rapid.IntRange(2, 6).Draw(m.T, "services") {
		s := model.Service{Name: "s" + strconv.Itoa(i), At: m.span(), Declared: true, Before: m.time(30, "before"), ServerTimeout: m.limit(25, "server timeout"), Rare: &model.ServiceRare{QueueTimeout: m.time(5, "queue")}}
		if m.chance(50, "margin") {
			s.Margin = model.At(model.Margin{Share: model.Fraction(rapid.IntRange(0, 20).Draw(m.T, "share")) * 10_000}, m.span())
		}
		if m.chance(20, "honors") {
			s.Honors = model.At(model.Propagation(rapid.IntRange(0, 3).Draw(m.T, "what")), m.span())
		}
		s.Edit().DefaultDeadline = m.time(3, "default deadline")
		s.Edit().IdleTimeout = m.limit(10, "idle")
		if m.chance(15, "concurrency") {
			s.Edit().Workers = model.At(int32(rapid.IntRange(1, 50).Draw(m.T, "workers")), m.span())
			s.Edit().Queue = model.At(int32(rapid.IntRange(0, 1000).Draw(m.T, "queue")), m.span())
		}
		if m.chance(20, "database") {
			s.Kind = model.At("postgres", m.span())
		}
		p.Services = append(p.Services, s)
	}
	for i := range len(p.Services) - 1 {
		p.Services[i].Flow = m.flow(p, i, 0)
	}
	if m.chance(70, "entrypoint") {
		p.Entrypoints = []model.Entrypoint{{Name: "root", At: m.span(), SLO: m.time(70, "slo"), Timeout: m.limit(50, "client"), Overhead: m.time(20, "overhead")}}
		if m.chance(50, "rate") {
			p.Entrypoints[0].Rate = model.At(float64(rapid.IntRange(1, 500).Draw(m.T, "requests")), m.span())
		}
	}
	return p
}

// raw gives what the rules raise, before anything is selected.
func raw(p *model.Plan) []diag.Finding {
	g, _ := solver.Compile(p)
	pass := newPass(p, g, solver.Solve(g, solver.Options{Policy: p.Policy.Allocation.Or(""), Allowed: true, Fixes: true}))
	pass.run()
	var found []diag.Finding
	for _, f := range pass.all() {
		found = append(found, f.Finding)
	}
	return found
}
