package solver

import "github.com/budgetplan/budgetplan/model"

// splitter shares a service's budget out over its body (DESIGN.md §3.13, numbers.md 9 and 10).
type splitter struct {
	*solve
	gr     *group
	budget []model.Duration // by leg
	ask    []ask            // by flow node
}

// ask is what an element of a flow asks for: nothing where absent (nobody waits for it), an unknown time where open.
type ask struct {
	time         model.Duration
	open, absent bool
}

func newSplitter(s *solve, gr *group) splitter {
	return splitter{solve: s, gr: gr, budget: make([]model.Duration, len(s.g.Legs)), ask: make([]ask, len(s.g.flow))}
}

// over splits b over a node's body.
func (p *splitter) over(n *Node, b model.Duration) {
	for i := n.flowEnd - 1; i >= n.flowAt; i-- {
		p.ask[i] = p.askOf(i)
	}
	p.split(n.flowAt, b)
}

// askOf needs the asks of the node's subtree, which stand behind it.
func (p *splitter) askOf(at int32) ask {
	f := &p.g.flow[at]
	if f.kind == model.One {
		return p.askOfCall(f.leg)
	}
	// Who shares a budget with a call of unknown need is of unknown need; beside others it asks for the largest known.
	sums, shares := f.kind.Sums(false), f.kind.Sums(true)
	a := ask{absent: true, open: !shares}
	for i := at + 1; i < f.end; i = p.g.flow[i].end {
		b := p.ask[i]
		if b.absent {
			continue
		}
		a.absent = false
		if shares {
			a.open = a.open || b.open
		} else {
			a.open = a.open && b.open
		}
		if sums {
			a.time = a.time.Add(b.time)
		} else if !b.open {
			a.time = max(a.time, b.time)
		}
	}
	return a
}

// askOfCall: a fixed call asks for its own limit, any other for its need, and where that is not known in full for
// its own limit too.
func (p *splitter) askOfCall(id LegID) ask {
	l, t := &p.g.Legs[id], &p.sol.Legs[id]
	if !l.Awaited() {
		return ask{absent: true}
	}
	if need := p.gr.leg[id]; need.Known == Complete && !p.fixed(id) {
		return ask{time: need.V}
	}
	own := l.own(t)
	return ask{time: own, open: !own.Finite()}
}

// fixed reports whether the call keeps its own timeout, and has one.
func (p *splitter) fixed(id LegID) bool {
	l := &p.g.Legs[id]
	return l.Fixed.Timeout() && l.own(&p.sol.Legs[id]).Finite()
}

// split gives an element its budget and hands it on.
func (p *splitter) split(at int32, b model.Duration) {
	f := &p.g.flow[at]
	if f.kind == model.One {
		if p.fixed(f.leg) {
			b = p.g.Legs[f.leg].own(&p.sol.Legs[f.leg])
		}
		p.budget[f.leg] = b
		return
	}
	if f.kind == model.Parallel || f.kind == model.OneOf {
		for i := at + 1; i < f.end; i = p.g.flow[i].end {
			p.split(i, b)
		}
		return
	}
	share := p.share(at, b)
	for i := at + 1; i < f.end; i = p.g.flow[i].end {
		p.split(i, share(i))
	}
}

// share divides b over a sequence. Fixed calls are taken off first. Elements with an unknown ask share equally
// what the others leave.
func (p *splitter) share(at int32, b model.Duration) func(int32) model.Duration {
	var asked model.Duration
	var known, open int64
	for i := at + 1; i < p.g.flow[at].end; i = p.g.flow[i].end {
		switch a := p.ask[i]; {
		case a.absent:
		case p.fixedAt(i):
			b = max(0, b.Sub(a.time))
		case a.open:
			open++
		default:
			known++
			asked = asked.Add(a.time)
		}
	}
	return func(i int32) model.Duration {
		a := p.ask[i]
		switch {
		case a.absent || p.fixedAt(i):
			return 0
		case p.opt.Policy == "equal":
			return b.Div(known + open)
		case open > 0 && a.open:
			return max(0, b.Sub(asked)).Div(open)
		case open > 0 && b >= asked:
			return a.time
		case asked == 0:
			return b.Div(known)
		case p.opt.Policy == "eqs" && b >= asked:
			return a.time.Add((b - asked).Div(known))
		}
		return b.Share(a.time, asked)
	}
}

func (p *splitter) fixedAt(i int32) bool {
	return p.g.flow[i].kind == model.One && p.fixed(p.g.flow[i].leg)
}
