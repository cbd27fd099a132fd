package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// retrying lets a rule look at the legs that make more than one attempt.
func retrying(visit func(*Pass, solver.LegID)) func(*Pass, solver.LegID) {
	return func(p *Pass, l solver.LegID) {
		// A leg that stands in no flow was never bounded: Rounds is at least 1 where it was.
		if p.Graph.Legs[l].Attempts > 1 && p.Sol.Legs[l].Rounds > 0 {
			visit(p, l)
		}
	}
}

// endless reports whether a count stands for attempts without end, or for more than can be told apart.
func endless(attempts int64) bool { return attempts >= solver.MaxCount }

// layer is one that retries: a leg, or the client of a root (leg is solver.ByRoot). Above is the nearest layer on the
// way from a root that multiplies most, -1 for none; top is the outermost one of that way, depth how many it has, written
// how many of them a person wrote, and product what they multiply to, all with this layer included.
type layer struct {
	leg            solver.LegID
	root           int32
	attempts       int64
	above, top     int32
	depth, written int
	product        int64
}

// layers finds, by one topological pass, the nearest retrying layer above every node: near gives its index in all,
// -1 for none. Retries that never reach the callee multiply nothing and are left out.
func (p *Pass) layers() (all []layer, near []int32) {
	if p.near != nil {
		return p.retries, p.near
	}
	near = make([]int32, len(p.Graph.Nodes))
	for i := range near {
		near[i] = -1
	}
	offer := func(n solver.NodeID, l int32) {
		if l >= 0 && (near[n] < 0 || all[near[n]].product < all[l].product) {
			near[n] = l
		}
	}
	add := func(x layer, to solver.NodeID) {
		i := int32(len(all))
		x.top, x.depth, x.product = i, 1, x.attempts
		if x.above >= 0 {
			over := &all[x.above]
			x.top, x.depth, x.written, x.product = over.top, over.depth+1, over.written, solver.MulCount(x.attempts, over.product)
		}
		if p.layerOrigin(x.leg, x.root).Written() {
			x.written++
		}
		all = append(all, x)
		offer(to, i)
	}
	for r := range p.Graph.Roots {
		if root := &p.Graph.Roots[r]; root.Attempts > 1 {
			add(layer{leg: solver.ByRoot, root: int32(r), attempts: root.Attempts, above: -1}, root.Node)
		}
	}
	for _, n := range p.Graph.Order {
		p.Graph.Out(n, func(l solver.LegID) {
			leg, above := &p.Graph.Legs[l], near[n]
			if leg.Attempts < 2 || !leg.RetryOn.Reaches() {
				offer(leg.To, above)
				return
			}
			add(layer{leg: l, root: -1, attempts: leg.Attempts, above: above}, leg.To)
		})
	}
	p.retries, p.near = all, near
	return all, near
}

// layerName is what messages call a layer, with its backquotes.
func (p *Pass) layerName(l solver.LegID, root int32) string {
	if l != solver.ByRoot {
		return "`" + p.Graph.LegName(l) + "`"
	}
	return "the client of `" + p.rootName(root) + "`"
}

// layerOrigin is where the attempts of a layer come from.
func (p *Pass) layerOrigin(l solver.LegID, root int32) *diag.Origin {
	if l == solver.ByRoot {
		if e := p.Graph.Roots[root].Entrypoint; e >= 0 {
			return p.Plan.Entrypoints[e].Attempts.From
		}
		return nil
	}
	c, w := p.Graph.CallOf(l)
	switch {
	case w.Attempts.Set():
		return w.Attempts.From
	case w.Hedge().Attempts.Set():
		return w.Hedge().Attempts.From
	case w.Hedge().After.Set():
		return w.Hedge().After.From
	}
	return diag.At(c.At)
}

// layerFix gives a layer at most so many attempts.
func (p *Pass) layerFix(l solver.LegID, root int32, attempts int64) diag.Fix {
	if l != solver.ByRoot {
		return p.retriesFix(l, attempts)
	}
	key, less := spelling(p.Plan.Entrypoints[p.Graph.Roots[root].Entrypoint].RetriesKey)
	f := diag.Fix{Subject: p.rootName(root), Key: key, Bound: "most", To: strconv.FormatInt(attempts-less, 10)}
	f.From = "unlimited"
	if n := p.Graph.Roots[root].Attempts; !endless(n) {
		f.From = strconv.FormatInt(n-less, 10)
	}
	if o := p.layerOrigin(l, root); o != nil {
		f.At = o.Span()
	}
	return f
}

// countText writes a count that may be without end.
func countText(n int64) string { return solver.CountText(n) }

// stopText names the limit that stops the attempts of a leg, with its place.
func (p *Pass) stopText(l solver.LegID) (string, *diag.Origin) {
	leg, t, _, w := p.call(l)
	if t.Stop == leg.Timeout {
		return fmt.Sprintf("its timeout of %s", t.Stop), w.Timeout.From
	}
	from, name := &p.Graph.Nodes[leg.From], p.nodeName(leg.From)
	told := p.Sol.Nodes[leg.From].Told
	text, at := fmt.Sprintf("the deadline of %s that `%s` is told", told, name), (*diag.Origin)(nil)
	if s := p.service(leg.From); s != nil && from.Limit <= told {
		text, at = fmt.Sprintf("`%s`'s `server_timeout` of %s", name, from.Limit), s.ServerTimeout.From
	}
	if from.Before > 0 {
		text = fmt.Sprintf("the %s that %s leaves after %s local work", t.Stop, text, from.Before)
	}
	return text, at
}

// failing says what one attempt costs at a callee that hangs, or fails as late as it may where it stops before its
// caller does, and whether such a failure is retried.
func (p *Pass) failing(l solver.LegID) (cost model.Duration, again bool) {
	leg, t, _, _ := p.call(l)
	if late := t.CalleeBusy.Add(leg.Network); late < t.Patience {
		return late, leg.RetryOn.Late()
	}
	return t.Patience, leg.RetryOn.Timeout()
}

// ordinals words a range of retries: `retry 3`, `retries 3 to 5`.
func ordinals(from, to int64) string {
	if from == to {
		return fmt.Sprintf("retry %d", from)
	}
	return fmt.Sprintf("retries %s to %s", thousands(from), countText(to))
}

// sentence joins names: a; a and b; a, b and c.
func sentence(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}
