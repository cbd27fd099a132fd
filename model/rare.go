package model

// What few calls, waiters and services say stands in a part of its own, which is nil where nothing of it is said: a plan
// of a million calls takes the memory of what it says, not of what it could say. There is a method to read each value.
// Copies of a call share its part, so a part that is in use is not changed: Edit gives a copy to write to.

// CallRare is what few calls say.
type CallRare struct {
	Name        Val[string]
	Method      Val[string]
	Stream      Val[bool]
	Repeat      Val[int32]
	FanOut      Val[int32]
	Probability Val[float64]
	Headroom    Val[Fraction]
	Percentile  Val[Fraction]
	Network     Val[Duration]
	FailureRate Val[float64]
	Fixed       Val[Fixed]
	Client      Val[string]
	Ignores     []Ignore
}

// Edit gives a copy of the rare part, which is the call's from now on, to write to.
func (c *Call) Edit() *CallRare { return edit(&c.Rare) }

func (c *Call) rare() *CallRare { return or(c.Rare, &noCallRare) }

// Name tells calls of one caller to one callee apart.
func (c *Call) Name() Val[string] { return c.rare().Name }

// Method is the HTTP method that the route matches, where it matches one: POST and PATCH are not idempotent.
func (c *Call) Method() Val[string] { return c.rare().Method }

// Stream says that the call is left out of wait and need.
func (c *Call) Stream() Val[bool] { return c.rare().Stream }

// Repeat is how often the call is made, one after the other.
func (c *Call) Repeat() Val[int32] { return c.rare().Repeat }

// FanOut is how often the call is made, all at once.
func (c *Call) FanOut() Val[int32] { return c.rare().FanOut }

// Probability is how likely a request makes the call. Predictions use it, bounds do not.
func (c *Call) Probability() Val[float64] { return c.rare().Probability }

// Headroom is added to measured percentiles.
func (c *Call) Headroom() Val[Fraction] { return c.rare().Headroom }

// Percentile says which one of the latency sizes the timeout.
func (c *Call) Percentile() Val[Fraction] { return c.rare().Percentile }

// Network is time on the wire, where the latency was not measured by the caller.
func (c *Call) Network() Val[Duration] { return c.rare().Network }

// FailureRate is the share of attempts that fail.
func (c *Call) FailureRate() Val[float64] { return c.rare().FailureRate }

// Fixed says which values the solver keeps.
func (c *Call) Fixed() Val[Fixed] { return c.rare().Fixed }

// Client is the client library or proxy that makes the call. Its defaults are not applied.
func (c *Call) Client() Val[string] { return c.rare().Client }

// Ignores are the findings that somebody accepted on the call.
func (c *Call) Ignores() []Ignore { return c.rare().Ignores }

// WaiterRare is what few waiters say.
type WaiterRare struct {
	Read         Val[Duration]
	Pool         Val[Duration]
	Idle         Val[Duration]
	ConnectExtra Val[bool]
	RetryOn      Val[Failures]
	RetryWindow  Val[Duration]
	RetryAfter   Val[Duration]
	MinRemaining Val[MinRemaining]
	RetryBudget  Val[Fraction]
	Hedge        Hedge
	Header       Val[string]
	Honors       Val[Propagation]
	Dead         []Dead
}

// Edit gives a copy of the rare part, which is the waiter's from now on, to write to.
func (w *Waiter) Edit() *WaiterRare { return edit(&w.Rare) }

func (w *Waiter) rare() *WaiterRare { return or(w.Rare, &noWaiterRare) }

// Read is the longest silence, or wait for the first byte.
func (w *Waiter) Read() Val[Duration] { return w.rare().Read }

// Pool is the longest wait for a free connection, before every other clock.
func (w *Waiter) Pool() Val[Duration] { return w.rare().Pool }

// Idle is how long an unused connection is kept.
func (w *Waiter) Idle() Val[Duration] { return w.rare().Idle }

// ConnectExtra says that the per-try clock starts once connected.
func (w *Waiter) ConnectExtra() Val[bool] { return w.rare().ConnectExtra }

// RetryOn is what happened to an attempt that is retried.
func (w *Waiter) RetryOn() Val[Failures] { return w.rare().RetryOn }

// RetryWindow is how long after the first attempt the last one may start.
func (w *Waiter) RetryWindow() Val[Duration] { return w.rare().RetryWindow }

// RetryAfter is the longest wait that a server may ask for.
func (w *Waiter) RetryAfter() Val[Duration] { return w.rare().RetryAfter }

// MinRemaining is the least time that must be left to start an attempt.
func (w *Waiter) MinRemaining() Val[MinRemaining] { return w.rare().MinRemaining }

// RetryBudget is the most retries, as a share of first attempts.
func (w *Waiter) RetryBudget() Val[Fraction] { return w.rare().RetryBudget }

// Hedge says when further copies of a slow request are sent.
func (w *Waiter) Hedge() Hedge { return w.rare().Hedge }

// Header carries the deadline.
func (w *Waiter) Header() Val[string] { return w.rare().Header }

// Honors is what this waiter itself obeys as a callee; read on all but the first waiter of a call.
func (w *Waiter) Honors() Val[Propagation] { return w.rare().Honors }

// Dead are values that were written and have no effect.
func (w *Waiter) Dead() []Dead { return w.rare().Dead }

// ServiceRare is what few services say.
type ServiceRare struct {
	After           Val[Duration]
	QueueTimeout    Val[Duration]
	IdleTimeout     Val[Duration]
	MinRemaining    Val[Duration]
	DefaultDeadline Val[Duration]
	MaxAmplify      Val[Thresholds]
	MaxDepth        Val[int32]
	Workers         Val[int32]
	Queue           Val[int32]
	Owner           Val[string]
	FailureRate     Val[float64]
	Idempotent      Val[bool]
	Front           []Waiter
	Ignores         []Ignore
}

// Edit gives a copy of the rare part, which is the service's from now on, to write to.
func (s *Service) Edit() *ServiceRare { return edit(&s.Rare) }

func (s *Service) rare() *ServiceRare { return or(s.Rare, &noServiceRare) }

// After is the service's own work after its calls.
func (s *Service) After() Val[Duration] { return s.rare().After }

// QueueTimeout is the longest a request waits before work on it begins.
func (s *Service) QueueTimeout() Val[Duration] { return s.rare().QueueTimeout }

// IdleTimeout is how long the service keeps an unused connection.
func (s *Service) IdleTimeout() Val[Duration] { return s.rare().IdleTimeout }

// MinRemaining is the least time left with which a request is not rejected on arrival.
func (s *Service) MinRemaining() Val[Duration] { return s.rare().MinRemaining }

// DefaultDeadline is assumed when none arrives.
func (s *Service) DefaultDeadline() Val[Duration] { return s.rare().DefaultDeadline }

// MaxAmplify is how many attempts a request may bring here.
func (s *Service) MaxAmplify() Val[Thresholds] { return s.rare().MaxAmplify }

// MaxDepth is how deep a recursion through the service may go.
func (s *Service) MaxDepth() Val[int32] { return s.rare().MaxDepth }

// Workers is how many requests are worked on at once.
func (s *Service) Workers() Val[int32] { return s.rare().Workers }

// Queue is how many requests wait for a worker.
func (s *Service) Queue() Val[int32] { return s.rare().Queue }

// Owner is whose service it is.
func (s *Service) Owner() Val[string] { return s.rare().Owner }

// FailureRate holds for every call to the service that has none of its own.
func (s *Service) FailureRate() Val[float64] { return s.rare().FailureRate }

// Idempotent holds for every call to the service that does not say itself.
func (s *Service) Idempotent() Val[bool] { return s.rare().Idempotent }

// Front waits before the service on every call to it: the proxy that stands beside it. Merge puts it into the calls.
func (s *Service) Front() []Waiter { return s.rare().Front }

// Ignores are the findings that somebody accepted on the service.
func (s *Service) Ignores() []Ignore { return s.rare().Ignores }

// The parts of what says nothing rare.
var (
	noCallRare    CallRare
	noWaiterRare  WaiterRare
	noServiceRare ServiceRare
)

func or[T any](part, nothing *T) *T {
	if part == nil {
		return nothing
	}
	return part
}

func edit[T any](part **T) *T {
	to := new(T)
	if *part != nil {
		*to = **part
	}
	*part = to
	return to
}
