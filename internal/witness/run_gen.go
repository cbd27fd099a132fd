package witness

import (
	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
)

// RunPlans generates plans for runs: those of Plans, with what only a run reads, and without moments that only chance
// would order: where copies of a hedge race, no two things happen at the same nanosecond.
func RunPlans() *rapid.Generator[*model.Plan] {
	return rapid.Custom(func(t *rapid.T) *model.Plan {
		g := gen{t}
		p := g.plan()
		for i := range p.Services {
			v := &p.Services[i]
			v.Edit().DefaultDeadline = g.time(10, "default deadline", limits, false)
			v.Edit().MinRemaining = g.time(10, "min remaining", shorts, false)
		}
		odd := model.Duration(7)
		for i := range p.Calls {
			for k := range p.Calls[i].Waiters {
				if h := &p.Calls[i].Waiters[k].Edit().Hedge; h.Set() {
					h.After = written(h.After.Or(0) + odd)
					odd *= 11
				}
			}
		}
		return p
	})
}

// Fates draws a service of the plan and what becomes of it.
func Fates(p *model.Plan) *rapid.Generator[Fate] {
	return rapid.Custom(func(t *rapid.T) Fate {
		g := gen{t}
		f := Fate{Service: p.Services[g.evenly(len(p.Services), "service")].Name, Takes: Never}
		switch pick(g, "fate", "hangs", "slow", "slow", "late", "fast") {
		case "slow":
			f.Takes = int64(pick(g, "takes", append(limits, latencies...)...))
		case "late":
			f.Takes, f.Fails = int64(pick(g, "takes", append(limits, latencies...)...)), true
		case "fast":
			f.Takes, f.Fails = 0, true
		}
		return f
	})
}
