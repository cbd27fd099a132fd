package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
)

// GRPC writes, for each service that calls others, the service config of its clients.
var GRPC = &Target{
	Name: "grpc", Title: "gRPC service config a caller: deadlines and retry policies",
	Generate: func(in *render.Input, opt Options) ([]File, []diag.Finding) {
		o := newOutput(in, opt, dialect.GRPC)
		for i := range in.Plan.Services {
			if s := &in.Plan.Services[i]; !s.Flow.Empty() && o.wants(s.Name) {
				o.grpc(model.ServiceID(i))
			}
		}
		return o.done()
	},
}

// serviceConfig has the keys that every client reads. Clients ignore keys that they do not know, which is where the
// comment stands: JSON has none.
type serviceConfig struct {
	Comment         []string         `json:"_comment"`
	MethodConfig    []methodConfig   `json:"methodConfig"`
	RetryThrottling *retryThrottling `json:"retryThrottling,omitempty"`
}

type methodConfig struct {
	Name        []methodName `json:"name"`
	Timeout     string       `json:"timeout,omitempty"`
	RetryPolicy *retryPolicy `json:"retryPolicy,omitempty"`
}

type methodName struct {
	Service string `json:"service,omitempty"`
	Method  string `json:"method,omitempty"`
}

type retryPolicy struct {
	MaxAttempts       int64       `json:"maxAttempts"`
	InitialBackoff    string      `json:"initialBackoff"`
	MaxBackoff        string      `json:"maxBackoff"`
	BackoffMultiplier json.Number `json:"backoffMultiplier"`
	Codes             []string    `json:"retryableStatusCodes"`
}

type retryThrottling struct {
	MaxTokens  int         `json:"maxTokens"`
	TokenRatio json.Number `json:"tokenRatio"`
}

// maxTokens is what a client may fail before it stops retrying, times two: the value of the proposal's example
// (grpc/proposal A6-client-retries.md).
const maxTokens = 10

// grpcKind reports whether calls to a service can be gRPC: where its kind says so, or nobody said.
func grpcKind(s *model.Service) bool { return http(s) && s.Kind.V != "http" }

// grpcFile is one service config being written.
type grpcFile struct {
	*output
	banner
	config serviceConfig
	values int
	ratio  model.Val[model.Fraction]
}

func (o *output) grpc(id model.ServiceID) {
	s := &o.Plan.Services[id]
	f := &grpcFile{output: o}
	f.caveats = o.elsewhere(id)
	for _, l := range o.callsOf(id, func(callee *model.Service) bool { return http(callee) && !grpcKind(callee) }) {
		f.caveats = append(f.caveats, o.say(NotCarried, &l, l.callee.Kind.From, "`budgetplan generate envoy` writes its limits",
			"%s does not carry `%s`: `%s` is of kind `%s`", o.dialect.Title, l.id, l.callee.Name, l.callee.Kind.V))
	}
	calls := o.callsOf(id, grpcKind)
	f.methods(calls)
	if len(f.config.MethodConfig) == 0 {
		return
	}
	f.throttling()
	f.what = fmt.Sprintf("gRPC service config for the calls of `%s`: budgets as deadlines, retries that fit.", s.Name)
	f.where = "Goes to the clients of the service: WithDefaultServiceConfig, defaultServiceConfig, or the resolver's TXT record."
	f.undo = "Undo: give the clients the config that they had before; without any there is no deadline and no retry."
	f.config.Comment = f.lines(o.Input)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(f.config) == nil { // texts and numbers of ours alone
		o.file(s.Name, ".grpc.json", b.String(), f.values)
	}
}

// methods writes a method config a callee. gRPC refuses a name that stands twice, so of several calls to one callee the
// shortest timeout holds for all.
func (f *grpcFile) methods(calls []limits) {
	at := map[methodName]*limits{}
	for i := range calls {
		l := &calls[i]
		if !l.Timeout.Finite() && l.Timeout != model.NoLimit {
			f.caveats = append(f.caveats, f.without(l))
			continue
		}
		name := f.name(l.callee.Name)
		if first := at[name]; first != nil {
			f.caveats = append(f.caveats, f.say(NotToldApart, l, nil, "give the calls services of their own, as `order.Place`",
				"gRPC cannot tell `%s` from `%s`: the shortest of their timeouts holds for both", l.id, first.id))
			if l.Timeout < first.Timeout {
				*first = *l
			}
			continue
		}
		at[name] = l
	}
	for i := range calls {
		l := &calls[i]
		if name := f.name(l.callee.Name); at[name] == l {
			f.method(name, l)
		}
	}
}

// name splits `order.Place` where the plan has `order`, too; any other name is a service of gRPC.
func (f *grpcFile) name(callee string) methodName {
	if callee == "*" {
		return methodName{}
	}
	if i := strings.LastIndexByte(callee, '.'); i > 0 && i < len(callee)-1 &&
		slices.ContainsFunc(f.Plan.Services, func(s model.Service) bool { return s.Name == callee[:i] }) {
		return methodName{callee[:i], callee[i+1:]}
	}
	return methodName{Service: callee}
}

func (f *grpcFile) method(name methodName, l *limits) {
	m := methodConfig{Name: []methodName{name}, Timeout: dialect.GRPC.Format(l.Timeout)}
	f.values++
	f.changes = append(f.changes, strings.TrimSuffix(fmt.Sprintf("%s timeout: %s (%s)", l.id, change(l.waiter.Timeout, l.Timeout), l.Kept), " ()"))
	if l.Attempts > 1 {
		m.RetryPolicy = f.retry(l)
	}
	f.caveats = append(f.caveats, f.unsaid(l, "retry_budget")...)
	f.config.MethodConfig = append(f.config.MethodConfig, m)
}

// retry writes all five keys of a retry policy, which clients refuse without any of them.
func (f *grpcFile) retry(l *limits) *retryPolicy {
	w := l.waiter
	codes := f.codes(l)
	if len(codes) == 0 {
		f.caveats = append(f.caveats, f.say(AttemptsClamped, l, w.Attempts.From, "name a status of gRPC under `retry_on`, as `unavailable`",
			"gRPC makes one attempt of `%s`, not %s: it has no status for what is retried", l.id, countText(l.Attempts)))
		return nil
	}
	p := &retryPolicy{MaxAttempts: min(l.Attempts, dialect.GRPCMaxAttempts), Codes: codes}
	if l.Attempts > dialect.GRPCMaxAttempts {
		f.caveats = append(f.caveats, f.say(AttemptsClamped, l, w.Attempts.From, fmt.Sprintf("plan for %d attempts", dialect.GRPCMaxAttempts),
			"gRPC makes at most %d attempts of `%s`, not %s", dialect.GRPCMaxAttempts, l.id, countText(l.Attempts)))
	}
	if l.RetryOn.Timeout() && l.PerTry > 0 {
		f.caveats = append(f.caveats, f.say(PerTryNotSaid, l, w.PerTry.From, "set the per-try timeout in the client, or plan for one attempt that hangs",
			"gRPC has no limit of one attempt: an attempt of `%s` that hangs uses all of %s, and is not retried", l.id, l.Timeout))
	}
	f.backoff(l, p)
	if b := w.RetryBudget(); b.Set() && (!f.ratio.Set() || b.V < f.ratio.V) {
		f.ratio = b
	}
	f.values++
	return p
}

// codes gives the statuses to retry. Where a plan does not say, or says `error` alone, a failing answer of gRPC is worth
// a retry only when it is UNAVAILABLE.
func (f *grpcFile) codes(l *limits) []string {
	on := l.RetryOn
	if on.Kinds&model.OnError != 0 {
		if l.waiter.RetryOn().Written() {
			f.caveats = append(f.caveats, f.say(ConditionsChanged, l, l.waiter.RetryOn().From, "list the statuses that are to be retried, as `unavailable`",
				"gRPC retries answers of `%s` by status: `error` becomes UNAVAILABLE", l.id))
		}
		on.Kinds &^= model.OnError
		on.Statuses = append(slices.Clone(on.Statuses), "unavailable")
	}
	if on.HasStatus("unavailable") { // what clients say of a connection, too
		on.Kinds |= model.OnConnect | model.OnRefused | model.OnReset
	}
	tokens, _, left := dialect.GRPC.Tokens(on)
	if left.Kinds &^= model.OnTimeout; len(tokens) == 0 && left.Kinds != 0 && len(left.Statuses) == 0 {
		// Nothing was begun, or it broke off: UNAVAILABLE says that, and answers of the callee besides.
		tokens = []string{"UNAVAILABLE"}
	}
	if left.Kinds != 0 || len(left.Statuses) > 0 {
		f.caveats = append(f.caveats, f.say(ConditionsChanged, l, l.waiter.RetryOn().From, "list statuses of gRPC under `retry_on`, as `unavailable`",
			"gRPC cannot retry `%s` on %s alone", l.id, left))
	}
	return tokens
}

// backoff chooses base, multiplier and maximum so that no wait with its jitter is longer than the plan's. gRPC refuses
// to wait for nothing.
func (f *grpcFile) backoff(l *limits, p *retryPolicy) {
	up := model.Fraction(model.Whole) + dialect.GRPCJitter.V.Share
	waits := clip(l.waits, max(1, min(len(l.waits), int(p.MaxAttempts)-1)))
	base := waits[0].MulDivDown(model.Whole, up)
	most := base
	for _, w := range waits {
		most = max(most, min(w, maxWait).MulDivDown(model.Whole, up))
	}
	b := l.waiter.Backoff.Get()
	multiplier := b.Multiplier.Or(2 * model.Whole)
	grown := func(m model.Fraction) bool {
		d := base
		for _, w := range waits {
			if min(d, most).MulUp(up) > w {
				return false
			}
			d = d.MulUp(m)
		}
		return true
	}
	if !b.Base.Set() && len(waits) > 1 && waits[1] < 2*waits[0] || !grown(multiplier) {
		multiplier = model.Whole
		for _, w := range waits {
			base = min(base, w.MulDivDown(model.Whole, up))
		}
		most = base
	}
	exact := b.Base.Set() && b.Jitter.V == dialect.GRPCJitter.V
	if base < model.Microsecond {
		base, most = model.Millisecond, max(most, model.Millisecond)
	}
	base, most = base-base%model.Microsecond, most-most%model.Microsecond
	p.InitialBackoff, p.MaxBackoff = dialect.GRPC.Format(base), dialect.GRPC.Format(most)
	p.BackoffMultiplier = json.Number(number(multiplier.Float()))
	if !exact {
		f.caveats = append(f.caveats, f.say(BackoffChanged, l, cmpOrigin(b.Base.From, b.Waits.From), "write `{base, multiplier, max, jitter: 20%}`, which is how gRPC waits",
			"before retry k of `%s` gRPC waits min(%s × %s^(k−1), %s), 20%% either side", l.id, base, p.BackoffMultiplier, most))
	}
}

// throttling writes the retry budget as the tokens that a success gives back. It holds for all calls over a channel.
func (f *grpcFile) throttling() {
	if !f.ratio.Set() || f.ratio.V <= 0 {
		return
	}
	// Clients keep three decimals of the ratio.
	thousandths := max(1, int64(f.ratio.V)/1000)
	f.config.RetryThrottling = &retryThrottling{MaxTokens: maxTokens, TokenRatio: json.Number(number(float64(thousandths) / 1000))}
	f.values++
}
