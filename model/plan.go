package model

import (
	"time"

	"github.com/budgetplan/budgetplan/model/diag"
)

// ServiceID and CallID index Plan.Services and Plan.Calls.
type (
	ServiceID int32
	CallID    int32
)

// Plan is one call graph with everything known about it. Merge makes it; the rest of the program reads it.
type Plan struct {
	Entrypoints []Entrypoint
	Services    []Service
	Calls       []Call
	Policy      Policy
	// Platforms are the versions whose defaults hold, by platform name.
	Platforms map[string]Val[string]
	// LineIgnores are `# budgetplan:ignore CODE reason` comments; each holds for its line of its file.
	LineIgnores []Ignore
	// Read says of every file what it was read as.
	Read []Read
	// Joined are the names of sources that stand for a service with another name, Left those that stand for none.
	Joined, Left []Joined
}

// Read is one input: As names the importer, empty where the file was skipped for the reason in Skipped.
type Read struct {
	File, As string
	Calls    int
	Skipped  string
	// Without says what the file is instead where it has no call.
	Without string
	// Alone are the calls that only this file knows, where another has calls too.
	Alone []CallID
}

// Joined is a name in a source with the service that it was taken for, and why; for a name that was taken for none,
// why not.
type Joined struct {
	Name, Service, Why string
	At                 diag.Span
}

// Entrypoint is where requests come in. SLO is a target, Timeout is when the client gives up.
type Entrypoint struct {
	Name       string
	At         diag.Span
	SLO        Val[Duration]
	Percentile Val[Fraction]
	Overhead   Val[Duration]
	Timeout    Val[Duration]
	// Attempts of the client, the first included. RetriesKey is the key that was written: `retries` or `attempts`.
	Attempts   Val[int32]
	RetriesKey string
	Rate       Val[float64] // requests a second
	// Call names the first service; in a fragment To is resolved by merge from CallName.
	Call    ServiceID
	CallAt  diag.Span
	Ignores []Ignore
}

// Service is one operation of one deployable. Declared is false for a name that only calls mention.
type Service struct {
	Name     string
	At       diag.Span
	Declared bool
	Kind     Val[string]
	// Before is the service's own work before its calls.
	Before        Val[Duration]
	Margin        Val[Margin]
	ServerTimeout Val[Duration]
	Honors        Val[Propagation]
	// Latency, FailureRate and Idempotent hold for every call to the service that has none of its own.
	// Merge copies them to the calls; the solver does not read them here.
	Latency *Latency
	Flow    Flow
	// CallsAt is where the calls are listed.
	CallsAt diag.Span
	Rare    *ServiceRare
}

// FlowKind says how the elements of a flow follow each other.
type FlowKind uint8

// The kinds of flow. One is a single call. In time a Sequence and a Fallback cost their sum, Parallel and
// OneOf their longest; Unordered (nobody said) costs its sum as an upper bound, its longest as a lower one.
const (
	Sequence FlowKind = iota // the zero Flow is an empty sequence
	One
	Parallel
	Fallback
	OneOf
	Unordered
)

var flowNames = [...]string{"sequence", "call", "parallel", "fallback", "one_of", "unordered"}

// String gives the key that the plan language uses.
func (k FlowKind) String() string { return flowNames[k] }

// Sums reports whether the elements of such a flow follow each other in time, so that their times add up.
// Unordered elements may (the upper bound), or may not (the lower one).
func (k FlowKind) Sums(upper bool) bool {
	return k == Sequence || k == Fallback || k == Unordered && upper
}

// Flow is a tree of calls: One has Call, every other kind has Of.
type Flow struct {
	Kind FlowKind
	Call CallID
	Of   []Flow
}

// Empty reports whether the flow makes no call.
func (f Flow) Empty() bool {
	if f.Kind == One {
		return false
	}
	for _, g := range f.Of {
		if !g.Empty() {
			return false
		}
	}
	return true
}

// Walk visits every call of the flow in the order written.
func (f Flow) Walk(visit func(CallID)) {
	if f.Kind == One {
		visit(f.Call)
		return
	}
	for _, g := range f.Of {
		g.Walk(visit)
	}
}

// Call is an edge: its own limits and retries sit on its waiters.
type Call struct {
	// ID is `caller/callee`, with `:name` where a caller calls it more than once. Merge sets it.
	ID       string
	From, To ServiceID
	At       diag.Span
	// Route is what an importer knows of a route besides its name: its match, for ids and messages.
	Route string
	// Waiters wait in series, outermost first; never empty. The first is the caller's own client.
	Waiters    []Waiter
	Optional   Val[bool]
	Async      Val[bool]
	Idempotent Val[bool]
	Latency    *Latency
	Rare       *CallRare
}

// Fixed says which values of a call the solver keeps: all, or the keys listed.
type Fixed struct {
	All  bool
	Keys []string
}

// Has reports whether the key is kept.
func (f Fixed) Has(key string) bool {
	for _, k := range f.Keys {
		if k == key {
			return true
		}
	}
	return f.All
}

// Unlimited is the number of attempts of a client that never stops retrying.
const Unlimited int32 = 1<<31 - 1

// Waiter is whoever waits with a limit of its own on one call: the caller's client, a sidecar, a gateway.
type Waiter struct {
	// Name is empty for the caller's own client.
	Name string
	// Dialect names the platform whose vocabulary the values were read from, empty for a plan.
	Dialect string
	At      diag.Span
	// Timeout holds for the whole call, PerTry for one attempt, Connect for the connection (TLS included).
	Timeout, PerTry, Connect Val[Duration]
	// Attempts include the first. RetriesKey is the key that was written: `retries`, `attempts` or a dialect's.
	Attempts   Val[int32]
	RetriesKey string
	Backoff    *Backoff
	Propagates Val[Propagation]
	Rare       *WaiterRare
}

// Retried gives what is retried: any failure where nobody said.
func (w *Waiter) Retried() Failures { return w.RetryOn().Or(AnyFailure) }

// Retries reports whether the waiter makes more than one attempt.
func (w *Waiter) Retries() bool { return w.Attempts.Or(1) > 1 }

// Dead is a value that was written and has no effect, with the reason.
type Dead struct {
	Key, Value, Reason string
	At                 diag.Span
}

// MinRemaining is the least time that must be left to start an attempt: a duration, or a percentile of the callee's latency.
type MinRemaining struct {
	D          Duration
	Percentile Fraction // 0: D holds
}

// Hedge sends further copies of a request that is slow to answer.
type Hedge struct {
	After    Val[Duration]
	Attempts Val[int32] // copies in all, the first included
	Budget   Val[Fraction]
}

// Set reports whether hedging was asked for.
func (h Hedge) Set() bool { return h.After.Set() || h.Attempts.Set() || h.Budget.Set() }

// Propagation is what a caller tells its callee, or what a callee obeys.
type Propagation uint8

// What can be carried and honoured. The zero value is a written `nothing`.
const (
	Deadline Propagation = 1 << iota
	Cancel
)

// String gives the words of the plan language.
func (p Propagation) String() string {
	return [...]string{"nothing", "deadline", "cancel", "[deadline, cancel]"}[p&3]
}

// Margin is what a service keeps of its time: a share, a fixed time, or the larger of both.
type Margin struct {
	Share Fraction
	Fixed Duration
}

// Keep gives what is left of d after the margin, rounded down and at least 0.
func (m Margin) Keep(d Duration) Duration {
	return max(0, min(d.MulDown(Whole-m.Share), d.Sub(m.Fixed)))
}

// Gross gives the least time whose rest after the margin is d.
func (m Margin) Gross(d Duration) Duration {
	return max(d.DivUp(Whole-m.Share), d.Add(m.Fixed))
}

// String gives the words of the plan language.
func (m Margin) String() string {
	switch {
	case m.Fixed == 0:
		return m.Share.String()
	case m.Share == 0:
		return m.Fixed.String()
	}
	return "[" + m.Share.String() + ", " + m.Fixed.String() + "]"
}

// Thresholds are the attempts at a service per request above which BP201 warns and errs; 0 means not set.
type Thresholds struct{ Warning, Error int64 }

// Policy is what a team decided about the tool itself.
type Policy struct {
	Preset     Val[string]
	Rules      map[string]Val[diag.Severity]
	MaxAmplify Val[Thresholds]
	Samples    Val[int64]
	Allocation Val[string]
}

// Ignore suppresses the findings of a code on the thing it stands at, or (in Plan.LineIgnores) on its line.
type Ignore struct {
	Code, Reason string
	Until        time.Time // zero: for good
	At           diag.Span
}
