// Package merge joins fragments into one plan: structure from plan files, limits from configs, latency from
// metrics, all by service name.
//
// The order of the fragments never changes the result. Plan files come first, by file name, then everything
// else by file name; services and calls are numbered in that order. Where two plan files differ, the first is
// used and the difference is an error; where a plan and a config differ, the config is used, even its default, since
// it is what runs, and the difference is a warning with both places. Of two configs what one wrote is used before
// the other's default, then the first.
//
// Calls from one service to another are matched by their key: the call's name, else the route. A plan's calls
// that no key matches take the one config call there is; with several, a single unnamed call becomes a one_of
// of them, and several unnamed calls are paired with them in order. A call that has no key in a config or a
// metric says something of every call between its two services.
//
// `order.Place` takes from `order`, the longest prefix that a plan declares, every key but `calls`,
// `max_amplification` and `ignore`: those speak of the one operation that they stand at.
package merge

import (
	"cmp"
	"slices"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// duplicate is what two plan files do that give one value differently, as one file that gives it twice.
var duplicate = yamlsrc.Duplicate

// The findings that Plan raises.
var (
	misspelt = &diag.Code{
		ID: "BP005", Name: "misspelt-service", Severity: diag.Error,
		Summary: "a call names a service that is not listed and is one slip away from one that is",
	}
	unreachable = &diag.Code{
		ID: "BP006", Name: "unreachable-service", Severity: diag.Warning,
		Summary: "no entrypoint reaches a listed service",
	}
	disagree = &diag.Code{
		ID: "BP008", Name: "sources-disagree", Severity: diag.Warning,
		Summary: "two sources give one value differently, and the config's is used",
	}
	unmatched = &diag.Code{
		ID: "BP009", Name: "unmatched-alias", Severity: diag.Warning,
		Summary: "an alias that no source mentions, or a name that may mean several services",
	}
)

// Codes are the findings that Plan raises, beside BP004 duplicate.
var Codes = []*diag.Code{misspelt, unreachable, disagree, unmatched}

// Plan joins fragments. It takes them over: the plan shares their memory. It always gives a plan, with an id
// for every call, defaults applied, and findings where sources contradict each other.
func Plan(fragments []*model.Fragment) (*model.Plan, []diag.Finding) {
	m := &merger{fragments: ordered(fragments), plan: &model.Plan{}}
	m.joinHeads()
	m.joinServices()
	m.joinEntrypoints()
	m.number()
	m.matchAll()
	m.buildFlows()
	m.emitCalls()
	m.tellSources()
	m.applyDefaults()
	m.checkNames()
	m.checkReach()
	return m.plan, m.findings
}

// merger is the state of one merge. A sighting is one call of one fragment, numbered through all fragments in order.
type merger struct {
	fragments []*model.Fragment
	plan      *model.Plan
	findings  []diag.Finding
	defaults  model.Defaults
	planFiles map[string]bool

	names    *names
	services map[string]model.ServiceID
	local    [][]model.ServiceID                 // plan ids of each fragment's services, -1 for what is none
	facts    []facts                             // parallel to plan.Services
	near     map[model.ServiceID]model.ServiceID // what a misspelt name means

	offset   []int32 // first sighting of each fragment
	fragment []int32 // fragment of each sighting
	from, to []model.ServiceID
	emit     []bool            // whether a sighting is a call of the plan
	ids      []string          // of those
	layers   map[int32][]int32 // further sightings of one that is emitted
	leaves   map[int32][]int32 // what a plan's call site becomes, where it is not itself
	placed   []bool            // whether a flow has the sighting
	call     []model.CallID    // plan ids of emitted sightings
}

// facts are what merge knows of a service beyond the model.
type facts struct {
	planned   bool            // a plan file lists it
	confirmed bool            // a config or a metric mentions it
	mention   diag.Span       // where a call or an entrypoint of a plan first names it
	base      model.ServiceID // what an operation takes its keys from, -1 for none
}

// ordered sorts plan files before everything else, both by file name.
func ordered(fragments []*model.Fragment) []*model.Fragment {
	sorted := slices.Clone(fragments)
	sorted = slices.DeleteFunc(sorted, func(f *model.Fragment) bool { return f == nil })
	slices.SortStableFunc(sorted, func(a, b *model.Fragment) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.As, b.As))
	})
	return sorted
}

func rank(f *model.Fragment) int {
	if f.Structure {
		return 0
	}
	return 1
}

// joinHeads joins what belongs to the plan as a whole.
func (m *merger) joinHeads() {
	p := m.plan
	policy, defaults, platforms := m.join("policy"), m.join("defaults"), m.join("platforms")
	m.planFiles = map[string]bool{}
	for _, f := range m.fragments {
		if f.Structure {
			m.planFiles[f.File] = true
		}
	}
	for _, f := range m.fragments {
		p.Read = append(p.Read, model.Read{File: f.File, As: f.As, Calls: len(f.Calls), Without: f.Without})
		p.LineIgnores = append(p.LineIgnores, f.LineIgnores...)
		policy.policy(&p.Policy, &f.Policy)
		defaults.service(&m.defaults.Service, &f.Defaults.Service)
		if len(f.Defaults.Call.Waiters) > 0 {
			defaults.call(&m.defaults.Call, &f.Defaults.Call)
		}
		takeMap(platforms, &p.Platforms, f.Platforms)
	}
}

// joinServices joins the services of all fragments by name, aliases resolved.
func (m *merger) joinServices() {
	m.collectNames()
	most := 0
	for _, f := range m.fragments {
		most = max(most, len(f.Services))
	}
	m.services = make(map[string]model.ServiceID, most)
	m.plan.Services, m.facts = make([]model.Service, 0, most), make([]facts, 0, most)
	m.local = make([][]model.ServiceID, len(m.fragments))
	for i, f := range m.fragments {
		m.local[i] = make([]model.ServiceID, len(f.Services))
		for k := range f.Services {
			m.local[i][k] = m.joinService(f, &f.Services[k])
		}
	}
}

func (m *merger) joinService(f *model.Fragment, s *model.Service) model.ServiceID {
	name, ok := m.names.resolve(f, s.Name)
	if !ok {
		return -1
	}
	id, known := m.services[name]
	if !known {
		id = model.ServiceID(len(m.plan.Services))
		m.services[name] = id
		m.plan.Services = append(m.plan.Services, *s)
		m.plan.Services[id].Name = name
		m.plan.Services[id].Flow = model.Flow{}
		m.facts = append(m.facts, facts{base: -1})
	} else {
		dst := &m.plan.Services[id]
		if s.Declared && !dst.Declared {
			dst.Declared, dst.At = true, s.At
		}
		m.join(name).service(dst, s)
	}
	fact := &m.facts[id]
	fact.planned = fact.planned || f.Structure && s.Declared
	fact.confirmed = fact.confirmed || !f.Structure
	if f.Structure && fact.mention.Nowhere() {
		fact.mention = s.At
	}
	return id
}

// join gives the joiner for what sources say of a subject.
func (m *merger) join(subject string) *joiner {
	return &joiner{subject: subject, plans: m.planFiles, found: &m.findings}
}

// joinEntrypoints joins the entrypoints of all fragments by name.
func (m *merger) joinEntrypoints() {
	byName := map[string]int{}
	for i, f := range m.fragments {
		for k := range f.Entrypoints {
			e := f.Entrypoints[k]
			if e.Call < 0 || int(e.Call) >= len(m.local[i]) || m.local[i][e.Call] < 0 {
				continue // the importer has said that the entrypoint calls nothing
			}
			e.Call = m.local[i][e.Call]
			at, known := byName[e.Name]
			if !known {
				byName[e.Name] = len(m.plan.Entrypoints)
				m.plan.Entrypoints = append(m.plan.Entrypoints, e)
				continue
			}
			dst := &m.plan.Entrypoints[at]
			j := m.join(e.Name)
			j.entrypoint(dst, &e)
			if dst.Call != e.Call {
				j.report("call", m.plan.Services[dst.Call].Name, originOf(dst.CallAt), m.plan.Services[e.Call].Name, originOf(e.CallAt))
			}
		}
	}
}
