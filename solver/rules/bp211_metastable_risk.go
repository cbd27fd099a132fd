package rules

import (
	"fmt"
	"math"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// MetastableRisk is raised for a service that retries can keep overloaded when what overloaded it is long gone.
var MetastableRisk = &diag.Code{
	ID: "BP211", Name: "metastable-risk", Severity: diag.Warning,
	Summary: "rate, capacity and unenforced retries allow a storm that outlives its trigger",
}

var metastableRisk = &Rule{Code: MetastableRisk, Run: func(p *Pass) {
	var all []layer
	var near []int32
	for n := range p.Plan.Services {
		s := p.storm(solver.NodeID(n))
		if s == nil {
			continue
		}
		if near == nil {
			all, near = p.layers()
		}
		p.reportStorm(s, all, near[n])
	}
}}

// storm is a service that three conditions make vulnerable, after Bronson et al., Metastable Failures in Distributed
// Systems, HotOS 2021: with its retries it is offered more than it can serve, its queue holds work longer than that is
// waited for, and nothing drops the work that nobody waits for.
type storm struct {
	node          solver.NodeID
	at            *solver.NodeTimes
	work          model.Duration // what one attempt takes
	workAt        *diag.Origin
	capacity      float64 // attempts a second
	queued        model.Duration
	by            solver.LegID
	waited        model.Duration
	workers, line int64
}

// storm looks at a service whose rate, workers, queue and time are known, nil where one of them is not, or all is well.
func (p *Pass) storm(n solver.NodeID) *storm {
	svc, t := p.service(n), &p.Sol.Nodes[n]
	if t.Offered <= t.Rate || !svc.Workers().Set() || !svc.Queue().Set() || svc.Workers().V <= 0 {
		return nil
	}
	s := &storm{node: n, at: t, workers: int64(svc.Workers().V), line: int64(svc.Queue().V), by: -1, waited: model.NoLimit}
	for _, l := range p.Graph.In(n) {
		_, lt, c, _ := p.call(l)
		typical := atMedian(c.Latency.Get())
		if !typical.Set() || typical.V <= 0 {
			return nil
		}
		if s.work == 0 || typical.V < s.work {
			s.work, s.workAt = typical.V, typical.From
		}
		if !lt.Enforced && lt.Patience < s.waited {
			s.by, s.waited = l, lt.Patience
		}
	}
	if s.by < 0 || s.work == 0 {
		return nil
	}
	s.capacity = float64(s.workers) / (float64(s.work) / float64(model.Second))
	s.queued = s.work.Mul(s.line).Div(s.workers)
	if limit := p.Graph.Nodes[n].Queue; limit > 0 {
		s.queued = min(s.queued, limit)
	}
	if t.Offered <= s.capacity || s.queued <= s.waited {
		return nil
	}
	return s
}

// atMedian is the median of a latency, or the highest percentile known below it: a lower bound of the mean wherever slow
// attempts are rarer than fast ones, so that a capacity made of it is rather too high.
func atMedian(lat model.Latency) model.Val[model.Duration] {
	best := lat.Exact
	var used model.Fraction
	for _, pts := range [][]model.Point{lat.Points, lat.Histogram} {
		for _, pt := range pts {
			if pt.P <= model.Whole/2 && pt.P > used {
				best, used = pt.V, pt.P
			}
		}
	}
	return best
}

func (p *Pass) reportStorm(s *storm, all []layer, near int32) {
	svc, t, callee := p.service(s.node), s.at, p.nodeName(s.node)
	f := MetastableRisk.New(callee, diag.Span{}, "a storm at `%s` may outlive its trigger: its retries make %s attempts a second of %s requests, it serves %s",
		callee, perSecond(t.Offered), perSecond(t.Rate), perSecond(s.capacity))
	f.Cause, f.Touched = svc.Workers().From, t.Touched
	safe := s.capacity / (t.Offered / t.Rate)
	_, _, _, w := p.call(s.by)
	f.Notes = []diag.Note{
		{Text: fmt.Sprintf("%s, each %s for one attempt: %s a second", counted(s.workers, "worker"), s.work, perSecond(s.capacity)), At: s.workAt},
		{Text: fmt.Sprintf("an attempt may stand %s in the queue, `%s` waits %s for it: most of the work is for nobody", s.queued.Down(), p.Graph.LegName(s.by), s.waited), At: patience(w).From},
		{Text: fmt.Sprintf("up to %s requests a second it recovers by itself", perSecond(safe))},
	}
	f.Help = "keep the queue shorter than its callers wait, let expired work be dropped, or retry less"
	if near >= 0 {
		p.calm(&f, s, all[near])
	}
	p.Report(f)
}

// calm adds the changes of the nearest retrying layer after which the service is offered less than it serves. Where other
// ways lead to it, one layer alone decides nothing.
func (p *Pass) calm(f *diag.Finding, s *storm, x layer) {
	if o := p.layerOrigin(x.leg, x.root); o != nil {
		f.Cause = o
	}
	if x.leg == solver.ByRoot || len(p.Graph.In(s.node)) != 1 || p.Graph.In(s.node)[0] != x.leg {
		return
	}
	leg, t, _, w := p.call(x.leg)
	own := float64(solver.MulCount(t.Possible, leg.Copies))
	if leg.Budget >= 0 {
		own = min(own, 1+leg.Budget.Float())
	}
	arriving := s.at.Offered / own // what one attempt each would make
	if arriving >= s.capacity || leg.Copies > 1 {
		return
	}
	var ways []string
	offer := func(fix diag.Fix, text string) {
		// What is offered is the lesser of two counts of the whole way: only solving anew tells.
		if q := p.again(x.leg, fix); q != nil && q.storm(s.node) == nil {
			f.Fixes, ways = append(f.Fixes, fix), append(ways, text)
		}
	}
	most := max(1, int64(math.Ceil(s.capacity/arriving))-1)
	offer(p.retriesFix(x.leg, most), retriesText(most))
	if share := model.Fraction((s.capacity/arriving-1)*100) * (model.Whole / 100); share > 0 && leg.Budget < 0 {
		fix := p.setFix(x.leg, "retry_budget", w.RetryBudget().From, "", share.String())
		fix.Bound = "most"
		offer(fix, fmt.Sprintf("a `retry_budget` of %s or less", share))
	}
	if len(ways) > 0 {
		f.Help += fmt.Sprintf(": give `%s` %s", p.Graph.LegName(x.leg), either(ways))
	}
}

// perSecond writes a rate with what digits it needs below ten.
func perSecond(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return thousands(int64(math.Round(min(rate, float64(solver.MaxCount)))))
}
