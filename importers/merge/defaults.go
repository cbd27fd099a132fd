package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
)

// applyDefaults gives services and calls what they leave out: an operation takes from its service, a call from its
// callee, both from `defaults`. A call ends in the proxy beside its callee.
func (m *merger) applyDefaults() {
	m.inheritOperations()
	services := m.plan.Services
	for i := range services {
		fill.service(&services[i], &m.defaults.Service)
	}
	for i := range m.plan.Calls {
		c := &m.plan.Calls[i]
		callee := &services[c.To]
		fill.latency(&c.Latency, callee.Latency)
		if rate := callee.FailureRate(); rate.Set() && !c.FailureRate().Set() {
			c.Edit().FailureRate = rate
		}
		take(fill, "idempotent", &c.Idempotent, callee.Idempotent())
		if len(m.defaults.Call.Waiters) > 0 {
			fill.call(c, &m.defaults.Call)
		}
		addFront(c, callee.Front())
	}
}

// addFront puts the proxy beside the callee after the waiters that the call has, unless one of them is it.
func addFront(c *model.Call, front []model.Waiter) {
	for i := range front {
		if !slices.ContainsFunc(c.Waiters[1:], func(w model.Waiter) bool { return w.Name == front[i].Name }) {
			c.Waiters = append(slices.Clip(c.Waiters), front[i])
		}
	}
}

// inheritOperations fills `order.Place` from `order`, shorter names first so that what is inherited is complete.
func (m *merger) inheritOperations() {
	var operations []model.ServiceID
	for i := range m.plan.Services {
		if base := m.operationOf(m.plan.Services[i].Name); base >= 0 {
			m.facts[i].base = base
			operations = append(operations, model.ServiceID(i))
		}
	}
	services := m.plan.Services
	slices.SortStableFunc(operations, func(a, b model.ServiceID) int {
		return cmp.Compare(len(services[a].Name), len(services[b].Name))
	})
	for _, id := range operations {
		base := services[m.facts[id].base]
		base.Edit().MaxAmplify = model.Val[model.Thresholds]{}
		fill.service(&services[id], &base)
	}
}

// operationOf finds the listed service that a dotted name is an operation of: the longest prefix. -1 for none. A name that
// only configs have, with a namespace, is another service, or the names would have been joined.
func (m *merger) operationOf(name string) model.ServiceID {
	if strings.IndexByte(name, '.') > 0 && m.names.elsewhere(name) {
		return -1
	}
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			return -1
		}
		name = name[:dot]
		if id, ok := m.services[name]; ok && m.facts[id].planned {
			return id
		}
	}
}
