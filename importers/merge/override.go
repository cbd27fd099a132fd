package merge

import (
	"reflect"

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
		if reflect.DeepEqual(c.Latency, was.Latency) {
			c.Latency = s.Latency
		}
		if c.FailureRate.From == was.FailureRate.From {
			c.FailureRate = s.FailureRate
		}
		if c.Idempotent.From == was.Idempotent.From {
			c.Idempotent = s.Idempotent
		}
	}
}
