package rules

import (
	"fmt"
	"math"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// FanOutTail is raised for so many parallel calls that the slowest of them is slow on most days.
var FanOutTail = &diag.Code{
	ID: "BP305", Name: "fan-out-tail", Severity: diag.Info,
	Summary: "so many parallel calls that some call's tail decides: each must meet a higher percentile",
}

var fanOutTail = &Rule{Code: FanOutTail, Node: func(p *Pass, n solver.NodeID) {
	if p.service(n) != nil {
		p.tails(p.body(n))
	}
}}

// wide is how many calls may run in parallel before their tails are worth a word: ten of them at p99 are slow together
// in one request of ten.
const wide = 10

// tails looks at every parallel group, the outermost first, and at every call that is made many times at once.
func (p *Pass) tails(e element) {
	if e.kind != model.One && e.kind != model.Parallel {
		for _, g := range e.of {
			p.tails(g)
		}
		return
	}
	var most int64
	if e.legs(func(l solver.LegID) bool {
		most += min(p.Graph.Legs[l].FanOut, solver.MaxCount)
		return most <= wide
	}) {
		return
	}
	var legs []solver.LegID
	var all int64
	e.legs(func(l solver.LegID) bool {
		leg, _, c, _ := p.call(l)
		if !leg.Awaited() || leg.Optional {
			return true
		}
		if _, _, exact := c.Latency.Quantile(p.percentile(l)); !exact { // with a tail
			legs, all = append(legs, l), all+min(leg.FanOut, solver.MaxCount)
		}
		return true
	})
	if all > wide {
		p.reportTail(legs, all)
	}
}

// reportTail says how often a request meets a slow call, each sized by its own percentile and independent of the others,
// and which percentile all of them must meet (the product of k equal shares is the target: p^(1/k)).
func (p *Pass) reportTail(legs []solver.LegID, all int64) {
	first, fast := legs[0], 1.0
	for _, l := range legs {
		leg := &p.Graph.Legs[l]
		fast *= math.Pow(p.percentile(l).Float(), float64(leg.FanOut))
		if leg.FanOut > p.Graph.Legs[first].FanOut {
			first = l
		}
	}
	leg, _, c, _ := p.call(first)
	target := p.target(first)
	if fast >= target.Float() {
		return // sized for it
	}
	subject, what := p.Graph.LegName(first), fmt.Sprintf("%s to `%s`", counted(all, "parallel call"), p.nodeName(leg.To))
	f := FanOutTail.New(subject, c.At, "")
	f.Cause = c.FanOut().From
	if len(legs) > 1 {
		f.Subject = p.nodeName(leg.From)
		what = fmt.Sprintf("%s of `%s`", counted(all, "parallel call"), f.Subject)
		f.Cause, f.At = diag.At(p.Plan.Services[c.From].At), diag.Span{}
	}
	f.Touched = p.Sol.Nodes[leg.From].Touched
	f.Message = fmt.Sprintf("%s: %.1f%% of requests wait for one that is slower than its %s", what, 100*(1-fast), p.percentile(first).Percentile())
	each := percentileOf(math.Pow(target.Float(), 1/float64(all)))
	f.Help = fmt.Sprintf("size each by its %s", each)
	if len(legs) == 1 {
		if size, ok := model.ParsePercentile(each); ok {
			f.Fixes = []diag.Fix{p.setFix(first, "percentile", c.Percentile().From, percentileText(c), size.Percentile())}
			if v, used, exact := c.Latency.Quantile(size); v.Set() && !exact {
				f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("its %s is %s, its patience %s", used.Percentile(), v.V.Down(), patienceText(p.Sol.Legs[first].Patience)), At: v.From})
			}
		}
	}
	f.Notes = append(f.Notes, diag.Note{
		Text: fmt.Sprintf("%s of requests are fast only if each call is at its %s, with calls that are slow independently of each other", target, each),
	})
	f.Help += ", hedge them, or answer without the last ones"
	p.Report(f)
}

// percentileText writes the percentile of a call, "" where it has none of its own.
func percentileText(c *model.Call) string {
	if !c.Percentile().Set() {
		return ""
	}
	return c.Percentile().V.Percentile()
}

// percentileOf writes a share as a percentile with as many digits as its tail needs: one, rounded so that the percentile
// is enough.
func percentileOf(share float64) string {
	tail := 100 * (1 - share)
	if tail <= 0 || math.IsNaN(tail) {
		return "p100"
	}
	digits := int(math.Ceil(-math.Log10(tail)))
	scale := math.Pow(10, float64(max(0, digits)))
	tail = math.Floor(tail*scale*(1+1e-9)) / scale
	return "p" + strconv.FormatFloat(100-tail, 'f', max(0, digits), 64)
}
