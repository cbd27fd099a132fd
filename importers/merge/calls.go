package merge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
)

// number gives every call of every fragment its place among the sightings.
func (m *merger) number() {
	total := 0
	m.offset = make([]int32, len(m.fragments))
	for i, f := range m.fragments {
		m.offset[i] = int32(total)
		total += len(f.Calls)
	}
	m.fragment = make([]int32, total)
	m.from, m.to = make([]model.ServiceID, total), make([]model.ServiceID, total)
	m.emit, m.placed = make([]bool, total), make([]bool, total)
	m.ids = make([]string, total)
	m.layers, m.leaves = map[int32][]int32{}, map[int32][]int32{}
	for i, f := range m.fragments {
		for k := range f.Calls {
			g := m.offset[i] + int32(k)
			m.fragment[g] = int32(i)
			m.from[g], m.to[g] = m.local[i][f.Calls[k].From], m.local[i][f.Calls[k].To]
			if m.from[g] == nobody || m.to[g] == nobody {
				m.from[g], m.to[g] = nobody, nobody
			}
		}
	}
}

func (m *merger) sighting(g int32) *model.Call {
	f := m.fragment[g]
	return &m.fragments[f].Calls[g-m.offset[f]]
}

func (m *merger) structural(g int32) bool { return m.fragments[m.fragment[g]].Structure }

// matchAll decides, caller by caller and callee by callee, which sightings are one call, and names the calls.
func (m *merger) matchAll() {
	at, byCaller := bucket(m.from, len(m.plan.Services))
	group := make([]int32, len(m.plan.Services)) // of a callee among the caller's, counted from 1
	var groups [][]int32
	for s := range m.plan.Services {
		callees := int32(0)
		for _, g := range byCaller[at[s]:at[s+1]] {
			k := &group[m.to[g]]
			if *k == 0 {
				if int(callees) == len(groups) {
					groups = append(groups, nil)
				}
				groups[callees] = groups[callees][:0]
				callees++
				*k = callees
			}
			groups[*k-1] = append(groups[*k-1], g)
		}
		for _, calls := range groups[:callees] {
			group[m.to[calls[0]]] = 0
			m.match(calls)
			m.name(calls)
		}
	}
	m.tellApart()
}

// tellApart numbers calls of different services that share an id, which only names with a slash can do: `a/b` calls `c`,
// and `a` calls `b/c`.
func (m *merger) tellApart() {
	if !slices.ContainsFunc(m.plan.Services, func(s model.Service) bool { return strings.ContainsRune(s.Name, '/') }) {
		return
	}
	seen := make(map[string]bool, len(m.ids))
	for g := range m.ids {
		if !m.emit[g] {
			continue
		}
		id := m.ids[g]
		for n := 2; seen[id]; n++ {
			id = m.ids[g] + "#" + strconv.Itoa(n)
		}
		seen[id] = true
		m.ids[g] = id
	}
}

// nobody is the service of a sighting that is no call between services.
const nobody model.ServiceID = -1

// bucket sorts indices by key, stably: those of key k are order[at[k]:at[k+1]]. Those of nobody are left out.
func bucket(keys []model.ServiceID, n int) (at, order []int32) {
	at = make([]int32, n+1)
	for _, k := range keys {
		at[k+1]++ // nobody counts at 0, as if before the first
	}
	skipped := at[0]
	at[0] = 0
	for k := range n {
		at[k+1] += at[k]
	}
	next := slices.Clone(at)
	order = make([]int32, len(keys)-int(skipped))
	for i, k := range keys {
		if k != nobody {
			order[next[k]] = int32(i)
			next[k]++
		}
	}
	return at, order
}

// key tells the calls of one caller to one callee apart: the nth of its name in its fragment.
type key struct {
	name string
	n    int32
}

// keyOf names a sighting: a plan's call by its name alone, a config's by its name, else its route.
func (m *merger) keyOf(g int32) string {
	c := m.sighting(g)
	if c.Name().Set() && c.Name().V != "" {
		return c.Name().V
	}
	if m.structural(g) {
		return ""
	}
	return c.Route
}

// match decides which sightings of one pair of services are calls, and which others say something of those.
func (m *merger) match(group []int32) {
	if len(group) == 1 || m.fragment[group[0]] == m.fragment[group[len(group)-1]] {
		for _, g := range group { // one fragment never contradicts itself
			m.emit[g] = true
		}
		return
	}
	var plans, routes, facts []int32
	for _, g := range group {
		switch {
		case m.structural(g):
			plans = append(plans, g)
		case m.keyOf(g) != "":
			routes = append(routes, g)
		default:
			facts = append(facts, g)
		}
	}
	planKeys, plans := m.once(plans)
	_, routes = m.once(routes)
	_, facts = m.once(facts)
	for _, g := range plans {
		m.emit[g] = true
	}
	m.matchFacts(facts, m.matchRoutes(plans, planKeys, routes))
}

// once keeps the first sighting of each key and joins the later ones to it.
func (m *merger) once(list []int32) (map[key]int32, []int32) {
	first, seen := make(map[key]int32, len(list)), map[string]int32{}
	kept, fragment := list[:0:0], int32(-1)
	for _, g := range list {
		if m.fragment[g] != fragment {
			fragment = m.fragment[g]
			clear(seen)
		}
		name := m.keyOf(g)
		k := key{name, seen[name]}
		seen[name]++
		if f, found := first[k]; found {
			m.layers[f] = append(m.layers[f], g)
			continue
		}
		first[k] = g
		kept = append(kept, g)
	}
	return first, kept
}

// matchRoutes joins a config's calls to the plan's and gives all calls of the pair so far.
func (m *merger) matchRoutes(plans []int32, planKeys map[key]int32, routes []int32) (calls []int32) {
	join := func(plan, route int32) { m.layers[plan] = append(m.layers[plan], route) }
	matched := map[int32]bool{}
	rest := routes[:0:0]
	for _, r := range routes {
		if p, found := planKeys[key{name: m.keyOf(r)}]; found && !matched[p] {
			join(p, r)
			matched[p] = true
			continue
		}
		rest = append(rest, r)
	}
	var open, unnamed []int32
	for _, p := range plans {
		if matched[p] {
			continue
		}
		open = append(open, p)
		if m.keyOf(p) == "" {
			unnamed = append(unnamed, p)
		}
	}
	switch {
	case len(rest) == 1 && len(open) > 0:
		for _, p := range open {
			join(p, rest[0])
		}
		return plans
	case len(rest) > 1 && len(unnamed) == 1:
		m.expand(unnamed[0], rest)
		plans = slices.DeleteFunc(slices.Clone(plans), func(p int32) bool { return p == unnamed[0] })
		return append(plans, rest...)
	}
	n := min(len(unnamed), len(rest))
	for i := range n {
		join(unnamed[i], rest[i])
	}
	for _, r := range rest[n:] {
		m.emit[r] = true
	}
	return slices.Concat(plans, rest[n:])
}

// expand makes a plan's one unnamed call the one_of of the routes that a config has for it.
func (m *merger) expand(plan int32, routes []int32) {
	m.emit[plan] = false
	m.leaves[plan] = routes
	for _, r := range routes {
		m.emit[r] = true
		m.layers[r] = append(m.layers[r], plan)
	}
}

// matchFacts spreads what is said of all calls of a pair.
func (m *merger) matchFacts(facts, calls []int32) {
	if len(facts) == 1 && len(calls) > 0 {
		for _, c := range calls {
			m.layers[c] = append(m.layers[c], facts[0])
		}
		return
	}
	n := min(len(facts), len(calls))
	for i := range n {
		m.layers[calls[i]] = append(m.layers[calls[i]], facts[i])
	}
	for _, f := range facts[n:] {
		m.emit[f] = true
	}
}

// name gives the calls of one pair their ids: `a/b`, or `a/b:name` where there are several. The first unnamed one
// keeps `a/b`, the next is `a/b#2`; so do calls that share a name.
func (m *merger) name(group []int32) {
	calls := group
	if slices.ContainsFunc(group, func(g int32) bool { return !m.emit[g] }) {
		calls = nil
		for _, g := range group {
			if m.emit[g] {
				calls = append(calls, g)
			}
		}
	}
	if len(calls) == 0 {
		return
	}
	id := m.plan.Services[m.from[calls[0]]].Name + "/" + m.plan.Services[m.to[calls[0]]].Name
	if len(calls) == 1 {
		m.ids[calls[0]] = id
		return
	}
	seen := map[string]int{}
	for _, g := range calls {
		name := id
		if k := m.keyOf(g); k != "" {
			name += ":" + k
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name += "#" + strconv.Itoa(n)
		}
		m.ids[g] = name
	}
}

// emitCalls writes the calls of the plan, in the order of the sightings, and joins what else is said of them.
func (m *merger) emitCalls() {
	p := m.plan
	alone := len(m.fragments) == 1 && !slices.Contains(m.emit, false)
	if alone {
		p.Calls = m.fragments[0].Calls // nothing is joined, and a million calls need not be copied
	}
	for g := range m.emit {
		if !m.emit[g] {
			continue
		}
		if !alone {
			p.Calls = append(p.Calls, *m.sighting(int32(g)))
		}
		c := &p.Calls[m.call[g]]
		c.ID, c.From, c.To = m.ids[g], m.from[g], m.to[g]
		if len(c.Waiters) == 0 {
			c.Waiters = []model.Waiter{{At: c.At}}
		}
		if len(m.layers[int32(g)]) > 0 {
			m.joinLayers(m.join(c.ID), c, int32(g))
		}
	}
}

// tellSources says of each file which calls only it knows, where a plan or another config has calls, too.
func (m *merger) tellSources() {
	having := 0
	for _, f := range m.fragments {
		if len(f.Calls) > 0 {
			having++
		}
	}
	if having < 2 {
		return
	}
	shared := make([]bool, len(m.emit))
	for g, layers := range m.layers {
		for _, l := range layers {
			if m.fragment[l] != m.fragment[g] {
				shared[g] = true
			}
		}
	}
	for g := range m.emit {
		if m.emit[g] && !shared[g] {
			read := &m.plan.Read[m.fragment[g]]
			read.Alone = append(read.Alone, m.call[g])
		}
	}
}

// joinLayers joins to a call what the further sightings of one say, and what is joined to those in turn.
func (m *merger) joinLayers(j *joiner, c *model.Call, g int32) {
	for _, l := range m.layers[g] {
		j.call(c, m.sighting(l))
		m.joinLayers(j, c, l)
	}
}
