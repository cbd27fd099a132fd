package rules

import (
	"hash/maphash"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// shared counts the waiters and the services that take the value at a place; at most 1 where it is not shared.
func (p *Pass) shared(at diag.Span) int {
	if p.uses == nil {
		p.countUses()
	}
	if len(p.uses) == 0 {
		return 0
	}
	return p.uses[at]
}

// countUses finds the places of which several waiters or services take their value. Few are, in plans of any size, so
// that a first round only marks places, by a hash, and a second one counts those whose mark was met before.
func (p *Pass) countUses() {
	size := uint64(64)
	for size < uint64(len(p.Plan.Services)+len(p.Plan.Calls))*sparse {
		size *= 2
	}
	met, again := make([]uint64, size/64), make([]uint64, size/64)
	mark := marker{seed: maphash.MakeSeed(), last: size - 1}
	p.values(func(o *diag.Origin) {
		i, bit := mark.of(o.Span())
		again[i] |= met[i] & bit
		met[i] |= bit
	})
	p.uses = make(map[diag.Span]int)
	p.values(func(o *diag.Origin) {
		if i, bit := mark.of(o.Span()); again[i]&bit != 0 {
			p.uses[o.Span()]++
		}
	})
}

// sparse is how many marks there are for a service or a call, which have about two values each.
const sparse = 32

// marker gives places their marks: a word and a bit of it.
type marker struct {
	seed maphash.Seed
	last uint64
	file string
	hash uint64 // of the file
}

func (m *marker) of(s diag.Span) (word, bit uint64) {
	if m.hash == 0 || m.file != s.File {
		m.file, m.hash = s.File, maphash.String(m.seed, s.File)|1
	}
	h := (m.hash + uint64(uint32(s.Line))<<32 + uint64(uint32(s.Col))) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29) & m.last
	return h / 64, 1 << (h % 64)
}

// values calls visit for every written value of a limit or a count.
func (p *Pass) values(visit func(*diag.Origin)) {
	see := func(o *diag.Origin) {
		if o.Written() && !o.Nowhere() {
			visit(o)
		}
	}
	for i := range p.Plan.Services {
		see(p.Plan.Services[i].ServerTimeout.From)
	}
	for i := range p.Plan.Calls {
		for k := range p.Plan.Calls[i].Waiters {
			w := &p.Plan.Calls[i].Waiters[k]
			for _, v := range [...]model.Val[model.Duration]{w.Timeout, w.PerTry, w.Read()} {
				see(v.From)
			}
			see(w.Attempts.From)
		}
	}
}
