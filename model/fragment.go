package model

import (
	"slices"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Fragment is any subset of a plan, as one source yields it. Its ids index its own tables; merge joins
// fragments by service name.
type Fragment struct {
	// File and As say what was read, and as what.
	File, As    string
	Entrypoints []Entrypoint
	Services    []Service
	Calls       []Call
	// Structure is true for a plan file: its flows say how calls follow each other, its limits are a person's wish.
	// False for a config or metrics: limits are what runs, the flow is only what is known of it.
	Structure bool
	// Observed is true for metrics and traces: what was measured, which stands beside what is configured.
	Observed bool
	Defaults Defaults
	Sources  []SourceRef
	Aliases  []Alias
	Policy   Policy
	// PolicyFile is `policy: ../policy.yaml`, relative to this file.
	PolicyFile  Val[string]
	Platforms   map[string]Val[string]
	LineIgnores []Ignore
	// Without says what a source without a call is instead, for the message that nothing was checked.
	Without string

	index map[string]ServiceID
}

// Defaults are the keys of `defaults:`, as a service and a call that everything inherits from.
// Call.Waiters has exactly one element when any call key is set, else none.
type Defaults struct {
	Service Service
	Call    Call
}

// SourceRef is one element of `sources:`: files (a path or a glob, relative to the plan) read as a dialect.
type SourceRef struct {
	Dialect string
	Files   Val[string]
	Service Val[string]
	// Metric, Caller, Callee and Unit describe a Prometheus metric that no profile knows.
	Metric, Caller, Callee, Unit Val[string]
}

// Alias says that other names mean a service.
type Alias struct {
	Service string
	Names   []Val[string]
	At      diag.Span
}

// Has reports whether the fragment has a service of that name.
func (f *Fragment) Has(name string) bool {
	for i := range f.Services {
		if f.Services[i].Name == name {
			return true
		}
	}
	return false
}

// Expect makes room for so many more services and calls.
func (f *Fragment) Expect(services, calls int) {
	f.Services = slices.Grow(f.Services, services)
	f.Calls = slices.Grow(f.Calls, calls)
	if f.index == nil {
		f.reindex(services)
	}
}

func (f *Fragment) reindex(more int) {
	f.index = make(map[string]ServiceID, len(f.Services)+more)
	for i := range f.Services {
		f.index[f.Services[i].Name] = ServiceID(i)
	}
}

// Service finds or adds a service by name and gives its id in the fragment.
func (f *Fragment) Service(name string, at diag.Span) ServiceID {
	if f.index == nil {
		f.reindex(1)
	}
	id, ok := f.index[name]
	if !ok {
		id = ServiceID(len(f.Services))
		f.Services = append(f.Services, Service{Name: name, At: at})
		f.index[name] = id
	}
	return id
}
