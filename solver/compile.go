package solver

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Cycle is raised by Compile.
var Cycle = &diag.Code{
	ID: "BP007", Name: "cycle", Severity: diag.Error,
	Summary: "services call each other in a circle",
}

// Codes are the findings that this package raises.
var Codes = []*diag.Code{Cycle}

// unlimited stands for attempts without an end, and for every count that they are part of. It is far above MaxCount, and
// two of it can be added.
const unlimited int64 = 1 << 61

// Compile turns a plan into a graph. It always gives one: each cycle is a finding, and is cut at the back edge of
// a depth-first walk from the roots in file order, calls in file order (from its first service where no root
// reaches it).
func Compile(p *model.Plan) (*Graph, []diag.Finding) {
	c := &compiler{plan: p, called: make([]bool, len(p.Services)), cut: make([]bool, len(p.Calls))}
	c.walk()
	g := &Graph{plan: p}
	c.nodes(g)
	c.legs(g)
	c.bodies(g)
	g.index()
	g.order(c.order)
	g.byLevel()
	c.roots(g)
	return g, c.findings
}

type compiler struct {
	plan     *model.Plan
	called   []bool // by service: some call that is not cut reaches it
	cut      []bool // by call
	order    []model.ServiceID
	findings []diag.Finding
}

// walk visits every service depth first, cuts the calls that close a cycle, and leaves a topological order.
func (c *compiler) walk() {
	for i := range c.plan.Calls {
		c.called[c.plan.Calls[i].To] = true
	}
	state := make([]visitState, len(c.plan.Services))
	for _, e := range c.plan.Entrypoints {
		c.visit(e.Call, state)
	}
	for s := range c.plan.Services {
		if !c.called[s] {
			c.visit(model.ServiceID(s), state)
		}
	}
	for s := range c.plan.Services {
		c.visit(model.ServiceID(s), state)
	}
	for i, j := 0, len(c.order)-1; i < j; i, j = i+1, j-1 {
		c.order[i], c.order[j] = c.order[j], c.order[i]
	}
	clear(c.called)
	for i := range c.plan.Calls {
		if !c.cut[i] {
			c.called[c.plan.Calls[i].To] = true
		}
	}
}

type visitState uint8

const (
	unseen visitState = iota
	open
	done
)

// frame is one service of the walk's own stack, which a chain of any depth cannot overflow.
type frame struct {
	service model.ServiceID
	calls   []model.CallID
}

func (c *compiler) visit(root model.ServiceID, state []visitState) {
	if state[root] != unseen {
		return
	}
	state[root] = open
	stack := []frame{{root, c.callsOf(root)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.calls) == 0 {
			state[top.service] = done
			c.order = append(c.order, top.service)
			stack = stack[:len(stack)-1]
			continue
		}
		id := top.calls[0]
		top.calls = top.calls[1:]
		switch to := c.plan.Calls[id].To; state[to] {
		case unseen:
			state[to] = open
			stack = append(stack, frame{to, c.callsOf(to)})
		case open:
			c.cut[id] = true
			c.report(id, stack)
		}
	}
}

func (c *compiler) callsOf(s model.ServiceID) []model.CallID {
	var calls []model.CallID
	c.plan.Services[s].Flow.Walk(func(id model.CallID) { calls = append(calls, id) })
	return calls
}

func (c *compiler) report(id model.CallID, stack []frame) {
	call := &c.plan.Calls[id]
	first := len(stack) - 1
	for stack[first].service != call.To {
		first--
	}
	var names []string
	for _, f := range stack[first:] {
		names = append(names, "`"+c.plan.Services[f.service].Name+"`")
	}
	names = append(names, names[0])
	if len(names) > 10 {
		names = append(append(names[:5:5], "…"), names[len(names)-4:]...)
	}
	f := Cycle.New(call.ID, call.At, "%s is a cycle", strings.Join(names, " → "))
	f.Cause = diag.At(call.At)
	f.Notes = []diag.Note{{Text: "the rest is analysed without the call `" + call.ID + "`"}}
	for _, s := range stack[first:] {
		if depth := c.plan.Services[s.service].MaxDepth(); depth.Set() {
			f.Notes = append(f.Notes, diag.Note{
				Text: fmt.Sprintf("`max_depth` bounds it at %d rounds; the numbers are those of one", depth.V), At: depth.From,
			})
		}
	}
	f.Help = "remove one of these calls, or name the operations apart (`" + c.plan.Services[call.To].Name +
		".first`, `" + c.plan.Services[call.To].Name + ".second`) where they are different ones"
	c.findings = append(c.findings, f)
}

func (c *compiler) nodes(g *Graph) {
	g.Nodes = make([]Node, 0, len(c.plan.Services))
	for i := range c.plan.Services {
		s := &c.plan.Services[i]
		g.Nodes = append(g.Nodes, Node{
			Service: model.ServiceID(i),
			Waiter:  -1,
			Before:  s.Before.Or(0),
			After:   s.After().Or(0),
			Queue:   s.QueueTimeout().Or(0),
			Limit:   s.ServerTimeout.Or(model.NoLimit),
			Margin:  s.Margin.Or(model.Margin{Share: DefaultMargin}),
			Honors:  s.Honors.Or(0),

			hasLocal: s.Before.Set() || s.After().Set(),
			deadline: s.DefaultDeadline().Or(model.NoLimit),
		})
	}
}

// bodies flattens every flow into preorder. A group directly in one of its kind, and a group of one, are
// written out, so that they count as if they had never been grouped.
func (c *compiler) bodies(g *Graph) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.flowAt = int32(len(g.flow))
		if n.Waiter >= 0 {
			g.flow = append(g.flow, flowNode{kind: model.One, leg: n.Waiter, end: n.flowAt + 1})
		} else if f, ok := c.trim(c.plan.Services[n.Service].Flow); ok {
			g.emit(f)
		}
		n.flowEnd = int32(len(g.flow))
		n.Leaf = true
		for _, f := range g.flow[n.flowAt:n.flowEnd] {
			if f.kind == model.One && g.Legs[f.leg].Awaited() {
				n.Leaf = false
			}
		}
	}
}

// trim drops cut calls and needless groups; ok is false where nothing is left.
func (c *compiler) trim(f model.Flow) (model.Flow, bool) {
	if f.Kind == model.One {
		return f, !c.cut[f.Call] && len(c.plan.Calls[f.Call].Waiters) > 0
	}
	var of []model.Flow
	for _, e := range f.Of {
		e, ok := c.trim(e)
		switch {
		case !ok:
		case e.Kind == f.Kind:
			of = append(of, e.Of...)
		default:
			of = append(of, e)
		}
	}
	switch len(of) {
	case 0:
		return f, false
	case 1:
		return of[0], true
	}
	f.Of = of
	return f, true
}

func (g *Graph) emit(f model.Flow) {
	at := len(g.flow)
	g.flow = append(g.flow, flowNode{kind: f.Kind, leg: -1})
	if f.Kind == model.One {
		g.flow[at].leg = g.FirstLeg[f.Call]
	} else {
		for _, e := range f.Of {
			g.emit(e)
		}
	}
	g.flow[at].end = int32(len(g.flow))
}

// index lists the legs into each node, and tells legs and nodes what they ask of each other in every pass. A leg that
// stands in no body (a call outside every flow) is left out.
func (g *Graph) index() {
	live := make([]bool, len(g.Legs))
	for _, f := range g.flow {
		if f.kind == model.One {
			live[f.leg] = true
		}
	}
	g.inAt = make([]int32, len(g.Nodes)+1)
	for l, ok := range live {
		if ok {
			g.inAt[g.Legs[l].To+1]++
		}
	}
	for i := range g.Nodes {
		g.inAt[i+1] += g.inAt[i]
	}
	g.inLegs, g.inFrom = make([]LegID, g.inAt[len(g.Nodes)]), make([]NodeID, g.inAt[len(g.Nodes)])
	next := append([]int32(nil), g.inAt...)
	for l, ok := range live {
		if ok {
			to := g.Legs[l].To
			g.inLegs[next[to]], g.inFrom[next[to]] = LegID(l), g.Legs[l].From
			next[to]++
			g.Nodes[to].most = max(g.Nodes[to].most, g.Legs[l].most)
		}
		g.Legs[l].meet(&g.Nodes[g.Legs[l].To])
	}
}

// order puts the inner waiters of a call between its caller and its callee.
func (g *Graph) order(services []model.ServiceID) {
	g.Order = make([]NodeID, 0, len(g.Nodes))
	for _, s := range services {
		g.Order = append(g.Order, NodeID(s))
		g.Out(NodeID(s), func(l LegID) {
			for n := g.Legs[l].To; g.Nodes[n].Waiter >= 0; n = g.Legs[g.Nodes[n].Waiter].To {
				g.Order = append(g.Order, n)
			}
		})
	}
}

func (c *compiler) roots(g *Graph) {
	for i := range c.plan.Entrypoints {
		e := &c.plan.Entrypoints[i]
		attempts := int64(e.Attempts.Or(DefaultAttempts))
		if attempts >= int64(model.Unlimited) {
			attempts = unlimited
		}
		g.Roots = append(g.Roots, Root{
			Entrypoint: int32(i),
			Node:       NodeID(e.Call),
			SLO:        e.SLO.Or(model.NoLimit),
			Timeout:    e.Timeout.Or(model.Unknown),
			TimeoutSet: e.Timeout.Set(),
			Overhead:   e.Overhead.Or(0),
			Attempts:   attempts,
			Percentile: e.Percentile.Or(DefaultPercentile),
			Rate:       e.Rate.Or(0),
		})
	}
	entered := make([]bool, len(c.plan.Services))
	for _, e := range c.plan.Entrypoints {
		entered[e.Call] = true
	}
	for s := range c.plan.Services {
		if !entered[s] && !c.called[s] {
			g.Roots = append(g.Roots, Root{
				Entrypoint: -1, Node: NodeID(s), SLO: model.NoLimit, Timeout: model.Unknown, Attempts: 1, Percentile: DefaultPercentile,
			})
		}
	}
}
