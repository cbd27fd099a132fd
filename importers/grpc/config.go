package grpc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// config reads one service config. Where it is refused its calls have no limits.
func (r *reader) config(n *yamlsrc.Node) []model.Call {
	r.refused = false
	var calls []model.Call
	first := map[string]*yamlsrc.Node{}
	for _, block := range field(n, "methodConfig").Items() {
		w := r.method(block)
		names := field(block, "name").Items()
		if len(names) == 0 {
			f := importers.BadValue.New("", block.Span(), "a method config without `name` holds for no method")
			f.Severity, f.Help = diag.Warning, "name a service, or write `\"name\": [{}]` for every method that no other one names"
			r.found = append(r.found, f)
		}
		for _, name := range names {
			callee, ok := r.name(name)
			if !ok {
				continue
			}
			if before := first[callee]; before != nil {
				f := yamlsrc.Duplicate.New(callee, name.Span(), "`%s` is named twice, so gRPC refuses the whole service config", callee)
				f.Help = "keep it in one method config"
				f.Notes = []diag.Note{{Text: "first named here", At: diag.At(before.Span())}}
				r.found, r.refused = append(r.found, f), true
				continue
			}
			first[callee] = name
			calls = append(calls, model.Call{To: r.frag.Service(callee, name.Span()), At: name.Span(), Waiters: []model.Waiter{w}})
		}
	}
	budget := r.throttling(field(n, "retryThrottling"))
	r.unknown(n, "methodConfig", "retryThrottling")
	for i := range calls {
		w := &calls[i].Waiters[0]
		if r.refused {
			*w = model.Waiter{Dialect: "grpc", At: w.At, Timeout: dialect.GRPCTimeout.At(w.At), Attempts: dialect.GRPCNoRetry.At(w.At)}
			continue
		}
		if w.Retries() || w.Hedge().Set() {
			w.Edit().RetryBudget = budget
		}
	}
	return calls
}

// name gives the callee of `{service, method}`: a method, a service, or everything.
func (r *reader) name(n *yamlsrc.Node) (string, bool) {
	service, method := field(n, "service"), field(n, "method")
	switch {
	case n.Kind() != yamlsrc.Map:
		r.bad(n, "name", errors.New("a name is a mapping with `service` and `method`"))
		return "", false
	case service.Text() == "" && method.Text() != "":
		r.bad(method, "method", errors.New("a method needs the `service` that it belongs to"))
		return "", false
	case service.Text() == "":
		return AnyMethod, true
	case method.Text() == "":
		return service.Text(), true
	}
	return service.Text() + "." + method.Text(), true
}

// bad reports a value that no client takes; the same fault again is a further place of the first.
func (r *reader) bad(n *yamlsrc.Node, key string, err error) {
	r.refused = true
	fact, change, _ := strings.Cut(err.Error(), ", write ")
	f := importers.BadValue.New("", n.Span(), "`%s`: %s, so gRPC refuses the whole service config", key, fact)
	for i := range r.found {
		if r.found[i].Message == f.Message {
			r.found[i].Notes = append(r.found[i].Notes, diag.Note{Text: "and here", At: diag.At(n.Span())})
			return
		}
	}
	if change != "" {
		f.Help = "write " + change
	}
	r.found = append(r.found, f)
}

// unknown reports keys that clients ignore although they sound like a limit, once a key and file.
func (r *reader) unknown(n *yamlsrc.Node, known ...string) {
	for _, p := range n.Pairs() {
		key := p.Key.Text()
		if isOneOf(key, known) || !importers.SoundsLikeLimit(key) || r.told[key] {
			continue
		}
		r.told[key] = true
		f := importers.NotUnderstood.New(key, p.Key.Span(), "`%s` is no key of a service config here, and gRPC ignores it", key)
		f.Help = "correct it, or remove it"
		r.found = append(r.found, f)
	}
}

func isOneOf(key string, known []string) bool {
	for _, k := range known {
		if strings.EqualFold(key, k) {
			return true
		}
	}
	return false
}

// method reads what a method config says of each of its calls.
func (r *reader) method(block *yamlsrc.Node) model.Waiter {
	w := model.Waiter{Dialect: "grpc", At: block.Span(), RetriesKey: dialect.GRPC.RetriesKey}
	w.Timeout = dialect.GRPCTimeout.At(w.At)
	if d, ok := r.duration(block, "timeout"); ok {
		w.Timeout = d
		if d.Set() && d.V == 0 {
			f := importers.BadValue.New("", d.Span(), "`timeout`: `%s` is a deadline that is over when the call starts", field(block, "timeout").Text())
			f.Help = "leave `timeout` out for no deadline"
			r.found = append(r.found, f)
			w.Timeout = model.Val[model.Duration]{}
		}
	}
	w.Attempts = dialect.GRPCNoRetry.At(w.At)
	retry, hedge := field(block, "retryPolicy"), field(block, "hedgingPolicy")
	switch {
	case retry != nil && hedge != nil:
		key, _ := pair(block, "hedgingPolicy")
		r.bad(key, "hedgingPolicy", errors.New("a method has a `retryPolicy` or a `hedgingPolicy`, not both"))
	case retry != nil:
		r.retry(&w, retry)
	case hedge != nil:
		r.hedge(&w, hedge)
	}
	if w.Timeout.Set() && w.Timeout.V.Finite() {
		// Clients always send the time that is left; what goes on from the callee is the callee's.
		w.Propagates, w.Edit().Header = model.At(model.Deadline, w.Timeout.Span()), model.At("grpc-timeout", w.Timeout.Span())
	}
	r.unknown(block, "name", "timeout", "retryPolicy", "hedgingPolicy", "waitForReady", "maxRequestMessageBytes", "maxResponseMessageBytes")
	return w
}

// duration reads a time; ok is true where the key is there and can be read.
func (r *reader) duration(n *yamlsrc.Node, key string) (v model.Val[model.Duration], ok bool) {
	node := field(n, key)
	if node == nil {
		return v, false
	}
	d, err := dialect.GRPC.Parse(node.Text())
	if node.Kind() != yamlsrc.Scalar {
		err = fmt.Errorf("%s is not a duration, write `1.5s`", node.Kind())
	}
	if err != nil {
		r.bad(node, key, err)
		return v, false
	}
	return model.At(d, node.Span()), true
}

// positive reads a time that a policy must have.
func (r *reader) positive(policy *yamlsrc.Node, name, key string) (v model.Val[model.Duration]) {
	v, ok := r.duration(policy, key)
	switch {
	case ok && v.V == 0:
		r.bad(field(policy, key), key, errors.New("the time must be above 0s"))
		return model.Val[model.Duration]{}
	case field(policy, key) == nil:
		r.bad(policy, name, fmt.Errorf("`%s` is required", key))
	}
	return v
}

// attempts reads the number of attempts in all, which clients cut to five.
func (r *reader) attempts(w *model.Waiter, policy *yamlsrc.Node, name string) (v model.Val[int32]) {
	n := field(policy, "maxAttempts")
	if n == nil {
		r.bad(policy, name, errors.New("`maxAttempts` is required"))
		return v
	}
	i, err := strconv.ParseInt(n.Text(), 10, 64)
	switch {
	case err != nil:
		r.bad(n, "maxAttempts", fmt.Errorf("`%s` is not a whole number", n.Text()))
		return v
	case i < 2:
		r.bad(n, "maxAttempts", errors.New("it counts the first attempt, too, and must be at least 2"))
		return v
	case i > dialect.GRPCMaxAttempts:
		w.Edit().Dead = append(slices.Clip(w.Dead()), model.Dead{
			Key: "maxAttempts", Value: n.Text(), At: n.Span(),
			Reason: fmt.Sprintf("clients make at most %d attempts", dialect.GRPCMaxAttempts),
		})
		i = dialect.GRPCMaxAttempts
	}
	return model.At(int32(i), n.Span())
}

func (r *reader) retry(w *model.Waiter, p *yamlsrc.Node) {
	if p.Kind() != yamlsrc.Map {
		r.bad(p, "retryPolicy", fmt.Errorf("%s stands where a mapping belongs", p.Kind()))
		return
	}
	attempts := r.attempts(w, p, "retryPolicy")
	base, most := r.positive(p, "retryPolicy", "initialBackoff"), r.positive(p, "retryPolicy", "maxBackoff")
	multiplier := r.multiplier(p)
	on := r.statuses(p, "retryableStatusCodes")
	if len(field(p, "retryableStatusCodes").Items()) == 0 {
		r.bad(p, "retryPolicy", errors.New("`retryableStatusCodes` must list a status"))
	}
	if n := field(p, "perAttemptRecvTimeout"); n != nil {
		w.Edit().Dead = append(slices.Clip(w.Dead()), model.Dead{
			Key: "perAttemptRecvTimeout", Value: n.Text(), At: n.Span(),
			Reason: "Java reads it and does nothing, Go does not know it, C++ has it as an experiment",
		})
	}
	r.unknown(p, "maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes", "perAttemptRecvTimeout")
	if !attempts.Set() || !on.Set() || !base.Set() || !most.Set() || !multiplier.Set() {
		return
	}
	w.Attempts, w.Edit().RetryOn = attempts, on
	waits := &model.Backoff{Jitter: dialect.GRPCJitter.At(p.Span())}
	w.Backoff = waits
	if base.V > most.V {
		base.V = most.V // the cut holds for the first wait, too
	}
	if multiplier.V >= model.Whole {
		waits.Base, waits.Max, waits.Multiplier = base, most, multiplier
		return
	}
	each := make([]model.Duration, attempts.V-1)
	for i, d := 0, base.V; i < len(each); i, d = i+1, d.MulUp(multiplier.V) {
		each[i] = d
	}
	waits.Waits = model.Val[[]model.Duration]{V: each, From: base.From}
}

// multiplier reads how much longer each wait is than the one before; below 1 they get shorter.
func (r *reader) multiplier(p *yamlsrc.Node) (v model.Val[model.Fraction]) {
	n := field(p, "backoffMultiplier")
	if n == nil {
		r.bad(p, "retryPolicy", errors.New("`backoffMultiplier` is required"))
		return v
	}
	f, err := strconv.ParseFloat(n.Text(), 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		r.bad(n, "backoffMultiplier", fmt.Errorf("`%s` is not a number above 0", n.Text()))
		return v
	}
	return model.At(model.Fraction(math.Ceil(min(f, 1e9)*model.Whole-1e-6)), n.Span())
}

// statuses reads a list of status names or numbers. Only upper case is taken by every client.
func (r *reader) statuses(p *yamlsrc.Node, key string) (v model.Val[model.Failures]) {
	list := field(p, key)
	var names []string
	for _, n := range list.Items() {
		name, exact, ok := dialect.GRPCStatus(n.Text())
		if !ok {
			r.bad(n, key, fmt.Errorf("`%s` is not a status of gRPC", n.Text()))
			continue
		}
		if !exact {
			f := importers.BadValue.New("", n.Span(), "`%s`: `%s` is taken by some clients alone, grpc-go refuses the whole service config for it", key, n.Text())
			f.Severity, f.Help = diag.Warning, "write `"+name+"`"
			r.found = append(r.found, f)
		}
		names = append(names, name)
	}
	f, _, _ := dialect.GRPC.Failures(names, nil)
	if len(f.Statuses) == 0 && f.Kinds == 0 {
		return v
	}
	return model.At(f, list.Span())
}

// hedge reads copies of a request that are sent on a clock. Clients in Go and C++ do not know them and send one.
func (r *reader) hedge(w *model.Waiter, p *yamlsrc.Node) {
	if p.Kind() != yamlsrc.Map {
		r.bad(p, "hedgingPolicy", fmt.Errorf("%s stands where a mapping belongs", p.Kind()))
		return
	}
	attempts := r.attempts(w, p, "hedgingPolicy")
	delay, given := r.duration(p, "hedgingDelay")
	if !given {
		delay = dialect.GRPCHedgingDelay.At(p.Span())
	}
	r.statuses(p, "nonFatalStatusCodes")
	r.unknown(p, "maxAttempts", "hedgingDelay", "nonFatalStatusCodes")
	if attempts.Set() {
		w.Edit().Hedge = model.Hedge{After: delay, Attempts: attempts}
	}
}

// throttling gives the share of first attempts that retries can be in the long run: each failure takes a token, each
// success gives tokenRatio of one back, and a call has one success at most. The tokens that a client starts with allow
// a burst beyond it.
func (r *reader) throttling(n *yamlsrc.Node) (v model.Val[model.Fraction]) {
	if n == nil {
		return v
	}
	if n.Kind() != yamlsrc.Map {
		r.bad(n, "retryThrottling", fmt.Errorf("%s stands where a mapping belongs", n.Kind()))
		return v
	}
	number := func(key string, most float64, says string) (f float64, at *yamlsrc.Node) {
		at = field(n, key)
		if at == nil {
			r.bad(n, "retryThrottling", fmt.Errorf("`%s` is required", key))
			return 0, nil
		}
		f, err := strconv.ParseFloat(at.Text(), 64)
		if err != nil || !(f > 0 && f <= most) {
			r.bad(at, key, fmt.Errorf("`%s` is not a number %s", at.Text(), says))
			return 0, nil
		}
		return f, at
	}
	number("maxTokens", 1000, "above 0 and at most 1000")
	ratio, at := number("tokenRatio", math.MaxFloat64, "above 0")
	r.unknown(n, "maxTokens", "tokenRatio")
	if at == nil {
		return v
	}
	return model.At(model.Fraction(math.Ceil(min(ratio, 1e6)*model.Whole-1e-6)), at.Span())
}
