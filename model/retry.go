package model

import (
	"slices"
	"strings"
)

// Failures says what happened to an attempt that is retried, in the words of the plan language.
type Failures struct {
	Kinds FailureKind
	// Statuses are HTTP or gRPC statuses and classes: `503`, `5xx`, `unavailable`.
	Statuses []string
}

// FailureKind is a set of things that can happen to an attempt.
type FailureKind uint8

// The failures: nothing was sent; sent, not begun; reset; the patience ran out; any failing answer.
const (
	OnConnect FailureKind = 1 << iota
	OnRefused
	OnReset
	OnTimeout
	OnError
	// OnStatus stands for the statuses of Failures, where only the kinds are at hand.
	OnStatus
)

var failureNames = []struct {
	kind FailureKind
	name string
}{{OnConnect, "connect"}, {OnRefused, "refused"}, {OnReset, "reset"}, {OnTimeout, "timeout"}, {OnError, "error"}}

// FailureNamed gives the kind that a word of the plan language stands for, 0 for a status.
func FailureNamed(word string) FailureKind {
	for _, f := range failureNames {
		if f.name == word {
			return f.kind
		}
	}
	return 0
}

// AnyFailure is what an unset `retry_on` means.
var AnyFailure = Failures{Kinds: OnConnect | OnRefused | OnReset | OnTimeout | OnError}

// Late reports whether a callee that fails late is retried: an answer or a reset is.
func (k FailureKind) Late() bool { return k&(OnReset|OnError|OnStatus) != 0 }

// Timeout reports whether an attempt whose patience ran out is retried.
func (k FailureKind) Timeout() bool { return k&OnTimeout != 0 }

// Unsent reports whether an attempt that never began is retried.
func (k FailureKind) Unsent() bool { return k&(OnConnect|OnRefused) != 0 }

// Fast reports whether a callee that fails at once is retried: on anything but `timeout`.
func (k FailureKind) Fast() bool { return k.Late() || k.Unsent() }

// Reaches reports whether a retry can reach the callee at all: not on `connect` and `refused` alone.
func (k FailureKind) Reaches() bool { return k.Late() || k.Timeout() }

// Late is FailureKind.Late; a status is an answer.
func (f Failures) Late() bool { return f.All().Late() }

// Timeout is FailureKind.Timeout.
func (f Failures) Timeout() bool { return f.All().Timeout() }

// Unsent is FailureKind.Unsent.
func (f Failures) Unsent() bool { return f.All().Unsent() }

// All gives the kinds, the statuses as one of them.
func (f Failures) All() FailureKind {
	if len(f.Statuses) > 0 {
		return f.Kinds | OnStatus
	}
	return f.Kinds
}

// HasStatus reports whether the status is listed by itself.
func (f Failures) HasStatus(s string) bool { return slices.Contains(f.Statuses, s) }

// String gives the list as the plan language writes it.
func (f Failures) String() string {
	words := slices.Clone(f.Statuses)
	for _, n := range failureNames {
		if f.Kinds&n.kind != 0 {
			words = append(words, n.name)
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Jitter spreads a back-off: none [w, w], full [0, w], equal [w/2, w], or a share either side.
type Jitter struct {
	Kind  JitterKind
	Share Fraction // JitterShare only
}

// JitterKind names the shape of a jitter.
type JitterKind uint8

// The shapes of jitter.
const (
	JitterNone JitterKind = iota
	JitterFull
	JitterEqual
	JitterShare
)

// String gives the words of the plan language.
func (j Jitter) String() string {
	if j.Kind == JitterShare {
		return j.Share.String()
	}
	return [...]string{"none", "full", "equal"}[j.Kind]
}

// bounds spreads one wait: the upper end rounds up, the lower end down.
func (j Jitter) bounds(w Duration) (lo, hi Duration) {
	switch j.Kind {
	case JitterFull:
		return 0, w
	case JitterEqual:
		return w.Div(2), w
	case JitterShare:
		return w.MulDown(max(0, Whole-j.Share)), w.MulUp(Whole + j.Share)
	}
	return w, w
}

// Backoff is the wait before each retry: Waits as listed, the last repeating, or base × multiplier^(k−1) cut at
// max. Multiplier 2 and no jitter where nobody says; no wait at all where neither Waits nor Base is set. Nil is no
// back-off, and one that is in use is not changed: waiters may share it.
type Backoff struct {
	Waits      Val[[]Duration]
	Base, Max  Val[Duration]
	Multiplier Val[Fraction] // parts per million, at least Whole
	Jitter     Val[Jitter]
}

// Get gives what is said of the back-off, nothing for nil.
func (b *Backoff) Get() Backoff {
	if b == nil {
		return Backoff{}
	}
	return *b
}

// Set reports whether there is any back-off.
func (b *Backoff) Set() bool {
	return b != nil && (len(b.Waits.V) > 0 && b.Waits.Set() || b.Base.Set())
}

// Wait gives the bounds of the wait before retry k = 1, 2, …
func (b *Backoff) Wait(k int64) (lo, hi Duration) {
	if b == nil {
		return 0, 0
	}
	return b.Jitter.V.bounds(b.nominal(k))
}

func (b *Backoff) nominal(k int64) Duration {
	if b.Waits.Set() && len(b.Waits.V) > 0 {
		return b.Waits.V[min(k, int64(len(b.Waits.V)))-1]
	}
	if !b.Base.Set() {
		return 0
	}
	w, top, m := b.Base.V, b.Max.Or(NoLimit), b.Multiplier.Or(2*Whole)
	for ; k > 1 && w < top && w > 0 && m > Whole; k-- {
		w = w.MulUp(m)
	}
	return min(w, top)
}

// Sum adds the bounds of the waits before count retries.
func (b *Backoff) Sum(count int64) (lo, hi Duration) {
	if count <= 0 || !b.Set() {
		return 0, 0
	}
	steady := b.Steady(count)
	for k := int64(1); k < steady; k++ {
		l, h := b.Wait(k)
		lo, hi = lo.Add(l), hi.Add(h)
	}
	l, h := b.Wait(steady)
	return lo.Add(l.Mul(count - steady + 1)), hi.Add(h.Mul(count - steady + 1))
}

// Steady gives the retry from which on the wait no longer changes, never later than limit.
func (b *Backoff) Steady(limit int64) int64 {
	switch {
	case b == nil:
		return 1
	case b.Waits.Set() && len(b.Waits.V) > 0:
		return min(limit, int64(len(b.Waits.V)))
	case !b.Base.Set() || b.Base.V == 0 || b.Multiplier.Or(2*Whole) <= Whole:
		return 1
	}
	k := int64(1)
	for w, top := b.Base.V, b.Max.Or(NoLimit); k < limit && w < top; k++ {
		w = w.MulUp(b.Multiplier.Or(2 * Whole))
	}
	return k
}
