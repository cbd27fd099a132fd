package model

import (
	"testing"
	"unsafe"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Copies share what is rare, and a change of one reaches no other.
func TestEdit(t *testing.T) {
	var c Call
	if c.Repeat().Set() || c.Ignores() != nil {
		t.Error("a call that says nothing says something rare")
	}
	c.Edit().Repeat = At[int32](2, diag.Span{Line: 1})
	d := c
	if d.Rare != c.Rare {
		t.Error("a copy has a part of its own")
	}
	d.Edit().Repeat = At[int32](3, diag.Span{Line: 2})
	d.Edit().Name = At("d", diag.Span{Line: 2})
	if c.Repeat().V != 2 || c.Name().Set() || d.Repeat().V != 3 || d.Name().V != "d" {
		t.Errorf("the call repeats %v, its changed copy %v", c.Repeat(), d.Repeat())
	}
	var none Call
	if none.Repeat().Set() {
		t.Error("a change reached what says nothing")
	}
}

// Nil is a latency or a back-off of which nothing is known.
func TestNil(t *testing.T) {
	var l *Latency
	if _, used, _ := l.Quantile(990_000); l.Set() || l.Least().Set() || l.Most().Set() || used != Whole || l.Get().Exact.Set() {
		t.Error("no latency says something")
	}
	if lo, hi, known := l.Above(Second); lo != 0 || hi != Whole || known {
		t.Error("no latency bounds something")
	}
	var b *Backoff
	if lo, hi := b.Sum(3); b.Set() || lo != 0 || hi != 0 || b.Steady(5) != 1 || b.Get().Base.Set() {
		t.Error("no back-off waits")
	}
	if lo, hi := b.Wait(1); lo != 0 || hi != 0 {
		t.Error("no back-off waits before the first retry")
	}
}

// A plan of a million calls is kept in memory: what each call takes before it says anything is bounded.
func TestSizes(t *testing.T) {
	for _, s := range []struct {
		what      string
		got, most uintptr
	}{
		{"call", unsafe.Sizeof(Call{}), 160},
		{"waiter", unsafe.Sizeof(Waiter{}), 176},
		{"service", unsafe.Sizeof(Service{}), 240},
		{"flow", unsafe.Sizeof(Flow{}), 32},
		{"origin", unsafe.Sizeof(diag.Origin{}), 48},
	} {
		if s.got > s.most {
			t.Errorf("a %s takes %d bytes, more than %d: put what few say into its rare part", s.what, s.got, s.most)
		}
	}
}
