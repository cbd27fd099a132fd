package witness_test

import (
	"testing"

	"github.com/budgetplan/budgetplan/internal/witness"
	"github.com/budgetplan/budgetplan/model"
)

// Each kind of flow and each nature of a call, by hand.
func TestEventsInFlows(t *testing.T) {
	// pair has two calls, of a service that is named in the cases and of one that takes 30 ms.
	pair := func(kind model.FlowKind, first, second string, edits ...func(*model.Call)) *builder {
		b := build()
		b.entrypoint("in", "a", 0)
		b.service("a").Edit().After = millis(5)
		b.call("a", first, timeout(50), edits...)
		b.call("a", second, timeout(100))
		b.group("a", kind, 2)
		b.service("calm").Before = millis(30)
		return b
	}
	optional := func(c *model.Call) { c.Optional = set(true) }
	async := func(c *model.Call) { c.Async = set(true) }
	t.Run("a sequence ends with what fails, without work after", func(t *testing.T) {
		b := pair(model.Sequence, "b", "calm")
		figures(t, b, b.hangs("b"), "answer", "50ms", "answered", "false", "calm starts", "")
		figures(t, b, b.slow("b", 20), "answer", "55ms", "answered", "true")
	})
	t.Run("unordered calls may follow each other", func(t *testing.T) {
		b := pair(model.Unordered, "b", "calm")
		figures(t, b, b.slow("b", 20), "answer", "55ms")
	})
	t.Run("parallel calls are all waited for", func(t *testing.T) {
		b := pair(model.Parallel, "b", "calm")
		figures(t, b, b.fails("b", 10), "answer", "30ms", "answered", "false")
		figures(t, b, b.slow("b", 10), "answer", "35ms", "answered", "true")
	})
	t.Run("a fallback goes on where one fails", func(t *testing.T) {
		b := pair(model.Fallback, "b", "calm")
		figures(t, b, b.hangs("b"), "answer", "85ms", "answered", "true")
		figures(t, b, b.slow("b", 20), "answer", "25ms", "calm starts", "")
		b = pair(model.Fallback, "b", "b")
		figures(t, b, b.hangs("b"), "answer", "150ms", "answered", "false", "b starts", "2")
	})
	t.Run("one of several is the worst that leads there", func(t *testing.T) {
		b := pair(model.OneOf, "calm", "b")
		figures(t, b, b.slow("b", 10), "answer", "15ms", "calm starts", "")
		b = pair(model.OneOf, "b", "b")
		figures(t, b, b.slow("b", 60), "answer", "50ms", "answered", "false", "b starts", "1")
		figures(t, b, b.hangs("b"), "answer", "100ms", "answered", "false")
	})
	t.Run("an alternative that is not taken leaves nothing in the background", func(t *testing.T) {
		endless := model.Waiter{Name: "sdk", PerTry: millis(10), Attempts: set(int32(model.Unlimited))}
		background := func(b *builder, from, to string) {
			b.call(from, to, timeout(100), async)
			c := &b.Calls[len(b.Calls)-1]
			c.Waiters = append(c.Waiters, endless)
		}
		b := build()
		b.entrypoint("in", "a", 0)
		background(b, "a", "b")
		b.call("a", "b", timeout(100))
		b.group("a", model.OneOf, 2)
		figures(t, b, b.hangs("b"), "answer", "100ms", "b starts", "1", "b waited", "100ms")
		// Nor does a service that such an alternative leads to.
		b = build()
		b.entrypoint("in", "a", 0)
		b.call("a", "c", timeout(100))
		b.call("a", "b", timeout(100))
		b.group("a", model.OneOf, 2)
		background(b, "c", "b")
		figures(t, b, b.hangs("b"), "answer", "100ms", "b starts", "1", "c starts", "")
	})
	t.Run("an optional call is skipped at its timeout", func(t *testing.T) {
		b := pair(model.Sequence, "b", "calm", optional)
		figures(t, b, b.hangs("b"), "answer", "85ms", "answered", "true")
	})
	t.Run("nobody waits for an async call, and its caller's limits hold", func(t *testing.T) {
		b := pair(model.Sequence, "b", "calm", async)
		figures(t, b, b.hangs("b"), "answer", "35ms", "answered", "true", "b orphan", "never", "ends", "never")
		b.enforce(0)
		figures(t, b, b.hangs("b"), "b work", "50ms", "b orphan", "0ms", "ends", "50ms")
		b.service("a").ServerTimeout = millis(40)
		figures(t, b, b.hangs("b"), "b work", "40ms", "ends", "40ms")
		b.Calls[0].Async, b.Calls[0].Edit().Stream = b.Calls[0].Stream(), b.Calls[0].Async
		figures(t, b, b.hangs("b"), "b work", "40ms", "answer", "35ms")
	})
	t.Run("an async call is orphaned by nobody but its own waiter", func(t *testing.T) {
		b := build()
		e := b.entrypoint("in", "a", 0)
		e.Timeout = millis(20)
		b.call("a", "b", timeout(100), async)
		b.call("a", "c", timeout(100))
		b.call("c", "b", timeout(100))
		figures(t, b, b.slow("b", 60), "answer", "20ms", "a orphan", "40ms", "c orphan", "40ms", "b orphan", "40ms", "b work", "120ms")
	})
	t.Run("repeats follow each other, copies of a fan-out do not", func(t *testing.T) {
		b := pair(model.Sequence, "b", "calm", func(c *model.Call) { c.Edit().Repeat = set(int32(3)) })
		figures(t, b, b.slow("b", 20), "answer", "95ms", "b starts", "3", "b overlap", "1")
		figures(t, b, b.hangs("b"), "answer", "50ms", "b starts", "1")
		optional(&b.Calls[0])
		figures(t, b, b.hangs("b"), "answer", "185ms", "b starts", "3", "b overlap", "3")
		b = pair(model.Sequence, "b", "calm", func(c *model.Call) { c.Edit().FanOut = set(int32(3)) })
		figures(t, b, b.slow("b", 20), "answer", "55ms", "b starts", "3", "b overlap", "3")
	})
}

// Waiters in series multiply, and go on when the outer one has left unless it is told and they honor it.
func TestEventsThroughWaiters(t *testing.T) {
	b := build()
	b.entrypoint("in", "a", 0)
	outer, sdk := tries(2, 50), tries(3, 30)
	sdk.Name = "sdk"
	b.call("a", "b", outer)
	b.Calls[0].Waiters = []model.Waiter{outer, sdk}
	// The sdk of the first attempt, left at 50 ms, makes its second until 60 ms and a third until 90 ms.
	figures(t, b, b.hangs("b"), "answer", "100ms", "b starts", "6", "b overlap", "6", "b waited", "180ms")
	figures(t, b, b.fails("b", 20), "answer", "100ms", "b starts", "6", "ends", "110ms", "b orphan", "20ms")
	b.Calls[0].Waiters[0].Propagates, b.Calls[0].Waiters[1].Edit().Honors = set(model.Deadline), set(model.Deadline)
	figures(t, b, b.hangs("b"), "answer", "100ms", "b starts", "4", "b waited", "100ms")
}

// Copies of a hedge share the patience of their attempt; the first good answer ends it, and the last bad one.
func TestEventsOfHedges(t *testing.T) {
	hedged := func() *builder {
		b := build()
		b.entrypoint("in", "a", 0)
		w := model.Waiter{Timeout: millis(100), Rare: &model.WaiterRare{Hedge: model.Hedge{After: millis(30), Attempts: set(int32(3))}}}
		b.call("a", "b", w)
		return b
	}
	b := hedged()
	figures(t, b, b.slow("b", 50), "answer", "50ms", "answered", "true", "b starts", "2", "b work", "100ms", "b orphan", "30ms")
	figures(t, b, b.slow("b", 30), "b starts", "1", "answer", "30ms")
	figures(t, b, b.fails("b", 50), "answer", "100ms", "b starts", "3", "answered", "false")
	figures(t, b, b.fails("b", 20), "answer", "20ms", "b starts", "1", "answered", "false")
	figures(t, b, b.hangs("b"), "answer", "100ms", "b starts", "3", "b waited", "210ms")
	// A deadline lets the copy that lost run until the patience would have been over, a cancellation stops it.
	b.Calls[0].Waiters[0].Propagates, b.service("b").Honors = set(model.Deadline), set(model.Deadline)
	figures(t, b, b.slow("b", 90), "answer", "90ms", "b starts", "3", "b work", "200ms", "ends", "100ms")
	b.Calls[0].Waiters[0].Propagates, b.service("b").Honors = set(model.Cancel), set(model.Cancel)
	figures(t, b, b.slow("b", 90), "answer", "90ms", "b starts", "3", "b work", "180ms", "b orphan", "0ms", "ends", "90ms")
}

// A copy that answers at the moment when it is cancelled has answered, unless its answer rests on a call that would begin
// then.
func TestEventsAtCancellation(t *testing.T) {
	for _, second := range []bool{false, true} {
		b := build()
		b.entrypoint("in", "a", 0)
		w := model.Waiter{Timeout: millis(200), Rare: &model.WaiterRare{Hedge: model.Hedge{After: millis(20)}}, Propagates: set(model.Cancel)}
		b.call("a", "b", w, func(c *model.Call) { c.Edit().Network = millis(20) })
		b.service("b").Honors = set(model.Cancel)
		b.call("b", "x", timeout(100))
		if second {
			b.call("b", "y", timeout(100))
		}
		x := b.slow("x", 30)
		// The first copy's answer is under way from 30 ms to 50 ms, when the other one is at its end.
		figures(t, b, x, "answer", "50ms", "answered", "true", "b starts", "2", "x starts", "2", "b work", "60ms")
		o, err := witness.Play(&b.Plan, &b.Entrypoints[0], b.Entrypoints[0].Call, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range o.Visits {
			if v.Service == b.ids["b"] && v.Start > 0 && v.OK == second {
				t.Errorf("a second call %t: the other copy has answered: %t", second, v.OK)
			}
		}
	}
}

// Who chooses among alternatives does not foresee that the copy will be cancelled: within 10 ms the short way would fail
// and be the worse one.
func TestEventsWithoutForesight(t *testing.T) {
	b := build()
	b.entrypoint("in", "a", 0)
	b.call("a", "b", model.Waiter{Timeout: millis(200), Rare: &model.WaiterRare{Hedge: model.Hedge{After: millis(40)}}, Propagates: set(model.Cancel)})
	b.service("b").Honors = set(model.Cancel)
	b.call("b", "c", timeout(100))
	b.call("b", "x", timeout(100))
	b.group("b", model.Sequence, 2)
	b.call("b", "y", timeout(100))
	b.group("b", model.OneOf, 2)
	b.call("y", "x", timeout(100))
	b.service("c").Before, b.service("y").Before = millis(10), millis(40)
	figures(t, b, b.slow("x", 10), "answer", "50ms", "b starts", "2", "y starts", "2", "c starts", "", "x starts", "2", "ends", "90ms")
}
