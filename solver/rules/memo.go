package rules

import (
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// memo has what several rules ask, or one of them again and again. Each is made on first use.
type memo struct {
	// uses counts the calls that take a value, by its place; a place that is missing has one.
	uses map[diag.Span]int
	// roots has the roots of every first service.
	roots map[solver.NodeID][]int32
	// names has every leg by its name.
	names map[string]solver.LegID
	// least has the least time of every node.
	least []model.Duration
	// waited has who waits shortest for every node.
	waited []waiting
	// bodies has what every node waits for.
	bodies []element
	// told has what findings say of a node.
	abouts []*about
	// layers has every layer that retries, and the nearest one above every node.
	retries []layer
	near    []int32
	// spelt has durations as they are written.
	spelt *spelt
	// texts numbers the files and the defaults that causes are known by.
	texts map[string]int32
	last  struct {
		file string
		n    int32
	}
}

// about is what findings say of a node, which may be the callee of thousands of calls. Each is made on first use.
type about struct {
	longest  []solver.LegID
	levers   []lever
	deciders []*diag.Origin
	flow     *diag.Note // the sum of what it may take, and the place of its largest part
	work     *diag.Note
	least    *diag.Note
	stopper  *diag.Note
	endless  []ref
	neediest *solver.LegID
}

func (p *Pass) about(n solver.NodeID) *about {
	if p.abouts == nil {
		p.abouts = make([]*about, len(p.Graph.Nodes))
	}
	if p.abouts[n] == nil {
		p.abouts[n] = &about{}
	}
	return p.abouts[n]
}

// once gives a slice that is made on first use, and that nobody appends to in place.
func once[T any](at *[]T, make func() []T) []T {
	if *at == nil {
		if *at = slices.Clip(make()); *at == nil {
			*at = []T{}
		}
	}
	return *at
}

// note gives a note that is made on first use.
func note(at **diag.Note, make func() diag.Note) diag.Note {
	if *at == nil {
		n := make()
		*at = &n
	}
	return **at
}

// cause is what findings have in common that blame one value: its place, or the platform's default whatever the place.
type cause struct{ text, line, col int32 }

// causeOf identifies the value that a finding blames; ok is false where nobody wrote anything that could be the same.
func (p *Pass) causeOf(o *diag.Origin) (c cause, ok bool) {
	switch {
	case o == nil:
		return cause{}, false
	case o.Default != nil:
		d := o.Default
		return cause{text: p.number(d.Platform + "\x00" + d.Field + "\x00" + d.Value)}, true
	case o.Nowhere():
		return cause{}, false
	}
	if p.last.n == 0 || p.last.file != o.File {
		p.last.file, p.last.n = o.File, p.number(o.File)
	}
	return cause{p.last.n, o.Line, o.Col}, true
}

// number numbers texts from 1.
func (p *Pass) number(text string) int32 {
	if p.texts == nil {
		p.texts = make(map[string]int32)
	}
	n, known := p.texts[text]
	if !known {
		n = int32(len(p.texts)) + 1
		p.texts[text] = n
	}
	return n
}
