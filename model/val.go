// Package model has the nouns of a plan: entrypoints, services, flows, calls and their waiters, each
// value with the place where it was written or the default that supplied it.
package model

import "github.com/budgetplan/budgetplan/model/diag"

// Val is a value with its origin. From nil means that nobody said, and V is not to be read.
type Val[T any] struct {
	V    T
	From *diag.Origin
}

// Set reports whether anybody, or a default, gave the value.
func (v Val[T]) Set() bool { return v.From != nil }

// Written reports whether a person wrote the value, as opposed to a platform's default.
func (v Val[T]) Written() bool { return v.From.Written() }

// Or gives the value, or what holds when nobody said.
func (v Val[T]) Or(unset T) T {
	if v.From == nil {
		return unset
	}
	return v.V
}

// At makes a written value.
func At[T any](v T, at diag.Span) Val[T] { return Val[T]{v, diag.At(at)} }

// Span gives the place of the value, nowhere for one that nobody wrote.
func (v Val[T]) Span() diag.Span {
	if v.From == nil {
		return diag.Span{}
	}
	return v.From.Span()
}
