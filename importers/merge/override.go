package merge

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
)

// Override sets every value that a fragment has on the thing of the same name, for a what-if. Calls takes the place of
// the fragment's own numbering: the values of its one call go to these. A service's latency, failure rate and
// idempotence reach the calls that took them from the service.
func Override(p *model.Plan, f *model.Fragment, calls []model.CallID) {
	for i := range f.Entrypoints {
		for k := range p.Entrypoints {
			if p.Entrypoints[k].Name == f.Entrypoints[i].Name {
				override.entrypoint(&p.Entrypoints[k], &f.Entrypoints[i])
			}
		}
	}
	if len(f.Calls) > 0 {
		for _, id := range calls {
			override.call(&p.Calls[id], &f.Calls[0])
		}
		return
	}
	for i := range f.Services {
		for k := range p.Services {
			if p.Services[k].Name == f.Services[i].Name {
				overrideService(p, model.ServiceID(k), &f.Services[i])
			}
		}
	}
}

func overrideService(p *model.Plan, id model.ServiceID, src *model.Service) {
	s := &p.Services[id]
	was := *s
	override.service(s, src)
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.To != id {
			continue
		}
		inherit(c, was.Latency.Get(), s.Latency)
		if c.FailureRate().From == was.FailureRate().From {
			c.Edit().FailureRate = s.FailureRate()
		}
		if c.Idempotent.From == was.Idempotent().From {
			c.Idempotent = s.Idempotent()
		}
	}
}

// inherit gives a call what its callee's latency is now in place of what it had taken of it before.
func inherit(c *model.Call, was model.Latency, now *model.Latency) {
	if c.Latency == nil {
		c.Latency = now
		return
	}
	of := *c.Latency
	drop(&of.Exact, was.Exact)
	drop(&of.Min, was.Min)
	drop(&of.Max, was.Max)
	drop(&of.Samples, was.Samples)
	drop(&of.Window, was.Window)
	of.Points = slices.DeleteFunc(slices.Clone(of.Points), func(p model.Point) bool { return slices.Contains(was.Points, p) })
	if len(of.Histogram) > 0 && slices.Equal(of.Histogram, was.Histogram) {
		of.Histogram = nil
	}
	c.Latency = &of
	fill.latency(&c.Latency, now)
}

// drop unsets a value that was taken from elsewhere: it has the same origin.
func drop[T any](v *model.Val[T], was model.Val[T]) {
	if v.From == was.From {
		*v = model.Val[T]{}
	}
}
