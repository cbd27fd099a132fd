package merge

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

func point(p model.Fraction, d model.Duration, line int32) model.Point {
	return model.Point{P: p, V: model.At(d, diag.Span{File: "plan.yaml", Line: line})}
}

// TestOverrideLatency: what would be of a service's latency reaches a call that has percentiles of its own beside it.
func TestOverrideLatency(t *testing.T) {
	const p50, p99 model.Fraction = 500_000, 990_000
	f := layered(1)
	callee := f.Calls[0].To
	f.Services[callee].Latency = &model.Latency{Points: []model.Point{point(p50, 10*model.Millisecond, 2), point(p99, 100*model.Millisecond, 3)}}
	f.Calls[0].Latency = &model.Latency{Points: []model.Point{point(p99, 200*model.Millisecond, 4)}}
	p, _ := Plan([]*model.Fragment{f})
	change := &model.Fragment{}
	change.Service(f.Services[callee].Name, diag.Span{})
	change.Services[0].Latency = &model.Latency{Points: []model.Point{point(p50, 30*model.Millisecond, 9)}}
	Override(p, change, nil)
	got := p.Calls[0].Latency.Points
	if len(got) != 2 || got[0].V.V != 30*model.Millisecond || got[1].V.V != 200*model.Millisecond {
		t.Errorf("the call has %+v; want 30ms of the service and 200ms of its own", got)
	}
}

// TestMeasuredLatency: a measurement takes the place of percentiles that somebody wrote, keeps their bounds, and gives way
// to one with more samples.
func TestMeasuredLatency(t *testing.T) {
	const p99 model.Fraction = 990_000
	measured := func(file string, samples int64, d model.Duration) *model.Fragment {
		f := layered(1)
		f.File, f.As, f.Structure, f.Observed, f.Entrypoints = file, "prometheus", false, true, nil
		at := diag.Span{File: file, Line: 1}
		f.Calls[0].Waiters = nil
		f.Calls[0].Latency = &model.Latency{Points: []model.Point{{P: p99, V: model.At(d, at)}}, Samples: model.At(samples, at), Caveats: model.At(model.Caveats(0), at)}
		return f
	}
	plan := layered(1)
	plan.Entrypoints = nil
	plan.Calls[0].Latency = &model.Latency{
		Points: []model.Point{point(p99, 100*model.Millisecond, 4)},
		Max:    model.At(2*model.Second, diag.Span{File: "plan.yaml", Line: 5}),
	}
	p, found := Plan([]*model.Fragment{plan, measured("a.prom", 10, 120*model.Millisecond), measured("b.prom", 1000, 130*model.Millisecond)})
	l := p.Calls[0].Latency
	if len(l.Points) != 1 || l.Points[0].V.V != 130*model.Millisecond || l.Max.V != 2*model.Second || l.Samples.V != 1000 {
		t.Errorf("latency is %+v", l)
	}
	if len(found) != 2 {
		t.Fatalf("findings: %+v", found)
	}
	for _, f := range found {
		if f.Code != disagree || f.Severity != diag.Info || f.Subject != "service-0/service-1" {
			t.Errorf("finding: %+v", f)
		}
	}
}
