package solver

import "github.com/budgetplan/budgetplan/model"

// Solution has the numbers of a graph, in arrays parallel to the graph's.
type Solution struct {
	Legs  []LegTimes
	Nodes []NodeTimes
	Roots []RootTimes
}

// Counts are the three amplification numbers, always named: attempts that reach a service per request at a
// root. They stop at MaxCount, unless unlimited attempts are among them.
type Counts struct {
	// Configured multiplies all attempts: fast failures reach it whatever the timeouts.
	Configured int64
	// TimeLimited counts the attempts that can start while the callee hangs.
	TimeLimited int64
	// Budgeted is the bound with retry budgets, ∏ (1 + ratio); +Inf where it is unlimited.
	Budgeted float64
}

// MaxCount is where attempt counts saturate. Only a count that is unlimited is above it.
const MaxCount int64 = 1_000_000_000_000_000

// Knowledge says how much of a sum is known.
type Knowledge uint8

// Complete: all parts known. Partial: the value is the sum of the known parts ("at least" for a need, "at
// most" for a slack). Nothing: no part is known, and the value is not to be read.
const (
	Nothing Knowledge = iota
	Partial
	Complete
)

// Need is the least time that something needs, rounded up.
type Need struct {
	V     model.Duration
	Known Knowledge
}

// Way is what one round of a call costs when its callee fails in one of three ways.
type Way struct {
	Started int64          // attempts that start under every limit that stops one
	Last    model.Duration // what the last attempt to start has
	Wait    model.Duration
}

// LegTimes are the numbers of one leg (numbers.md gives each rule).
type LegTimes struct {
	// Limit is the attempt limit: the longest one attempt can hold its caller, connect time in it.
	Limit model.Duration
	// Patience is how long a connected callee is waited for.
	Patience model.Duration
	// BackoffSum is the sum of the upper bounds of all waits between attempts.
	BackoffSum model.Duration
	// Attempt is the longest that one attempt can really last: min(limit, connect + busy + network).
	Attempt model.Duration
	// Retried is the longest that an attempt lasts which is then retried; Rounds counts the attempts that can
	// follow each other at all (1 where nothing is retried).
	Retried model.Duration
	Rounds  int64
	// Sequence is attempts × patience + back-off; Uncut what the attempts can really last; Wait the longest
	// the caller stands in the call, with pool wait and repeats, cut by the timeout.
	Sequence, Uncut, Wait model.Duration
	// CalleeBusy is the callee's bound before enforcement; Busy and Orphan are one attempt's, after it.
	CalleeBusy, Busy, Orphan model.Duration
	Enforced                 bool
	// Overhang is the longest that the callee may work on after a deadline that its caller was told, or the caller's
	// own limit before it, has stopped the caller; 0 where the call is enforced or every path tells the caller none.
	Overhang model.Duration
	// Starts is the latest start after the caller's start, Left what the caller has then.
	Starts, Left model.Duration
	// Stop is the least of the limits that stop an attempt: timeout, caller's server timeout, told deadlines.
	Stop                    model.Duration
	Started, Full, Possible int64
	Hang, Late, Fast        Way
	// One is the need of one attempt as the caller sees it, Need that of the whole call.
	One, Need Need
	// Budget is Unknown without an SLO or for a call that nobody waits for; BudgetBy is the root that decided.
	Budget   model.Duration
	BudgetBy int32
	// Given is what one attempt's callee receives.
	Given model.Duration
	// Slack is Budget − Need; Known says whether it is exact, an upper bound, or unknown.
	Slack      model.Duration
	SlackKnown Knowledge
	// Allowed is what the call may need, everything else unchanged, with the SLO still met: NoLimit where an
	// optional call's own limit hides it, Unknown where another unknown need decides. Set by Solve on graphs
	// and by Allowed on demand.
	Allowed model.Duration
	// Amplification counts the attempts of this leg per request.
	Amplification Counts
	Recommended   Recommended
}

// Recommended are the values that fit the budget, in whole ms; 0 where there is none to give.
type Recommended struct {
	Timeout, PerTry model.Duration
	Attempts        int64
}

// NodeTimes are the numbers of one service, or of an inner waiter.
type NodeTimes struct {
	// Received is the time given by the tightest caller; Unknown where nobody gives any. ReceivedBy is that
	// leg, -1 for a root; ReceivedRoot the root whose pass decided.
	Received     model.Duration
	ReceivedBy   LegID
	ReceivedRoot int32
	// Flow is queue, work and calls before the server timeout cuts them to Busy.
	Flow, Busy model.Duration
	Need       Need // of the most demanding caller, network out
	Slack      model.Duration
	SlackKnown Knowledge
	// Waited and Work are one request's: attempts × patience, attempts × busy, summed over callers.
	Waited, Work model.Duration
	// Told is the latest deadline that callers tell, NoLimit where one tells none.
	Told     model.Duration
	Attempts Counts
	// Visits are the invocations per request without any retry or hedge, Roots how many roots reach the node,
	// Touched the requests that reach it: a second where rates are known, else one a root.
	Visits  float64
	Touched float64
	// Rate is how many invocations a second the known rates of roots make, Offered how many attempts they become
	// while the node hangs: time-limited, and within retry budgets. Roots without a rate add nothing.
	Rate, Offered float64
	// AttemptsRoot is the root with the most configured attempts.
	AttemptsRoot int32
}

// RootTimes are the numbers of one root.
type RootTimes struct {
	Need       Need // overhead in it
	Slack      model.Duration
	SlackKnown Knowledge
	// Feasible: Complete and true, or false even where parts are unknown; FeasibleKnown says whether it is decided.
	Feasible, FeasibleKnown bool
	Wait                    model.Duration
	WorkEnds                model.Duration
	Fixes                   []RootFix
}

// FixKind names a single change that may make an infeasible entrypoint fit, in the order they are ranked.
type FixKind uint8

// The kinds of change.
const (
	FixMargin   FixKind = iota // one service's margin
	FixMargins                 // one margin everywhere
	FixRetry                   // fewer attempts of a call
	FixOptional                // a call made optional with a cap
	FixParallel                // two neighbours of a sequence made parallel
	FixDrop                    // a hop removed or cached
	FixLatency                 // a latency target of a service
	FixSLO                     // the SLO itself
)

// RootFix is one change, or two made together, and what the root needs after it.
type RootFix struct {
	Kind     FixKind
	Node     NodeID // FixMargin, FixLatency
	Leg      LegID  // FixRetry, FixOptional, FixParallel (the first), FixDrop, FixLatency (one of Calls)
	Other    LegID  // FixParallel: the second
	Margin   model.Fraction
	Attempts int64
	Time     model.Duration // cap, target or SLO; a target is a latency as it is written, headroom not in it
	Need     model.Duration
	Feasible bool
	// Calls are, of a FixLatency, the calls of the service that take the latency from one place, in plan order: they change
	// together. Latency is what stands there, Percentile which one it is, model.Whole for a maximum or an exact one.
	Calls      []LegID
	Latency    model.Val[model.Duration]
	Percentile model.Fraction
	// With is the second change of a pair, neither of which is enough by itself; nil for a single one.
	With *RootFix
}
