package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
)

// Envoy writes, for each service that calls others, a bootstrap whose listener takes the service's calls by host name
// and whose routes and clusters have the recommended limits.
var Envoy = &Target{
	Name: "envoy", Title: "Envoy bootstrap a caller: routes with timeouts and retries, clusters", Separator: "---\n",
	Generate: func(in *render.Input, opt Options) ([]File, []diag.Finding) {
		o := newOutput(in, opt, dialect.Envoy)
		for i := range in.Plan.Services {
			if s := &in.Plan.Services[i]; !s.Flow.Empty() && o.wants(s.Name) {
				o.envoy(model.ServiceID(i))
			}
		}
		return o.done()
	},
}

// header tells calls to one callee apart where their routes are not known.
const header = "x-budgetplan-call"

// envoyFile is one bootstrap being written.
type envoyFile struct {
	*output
	banner
	hosts    []envoyHost
	clusters []*envoyCluster
	values   int
}

// envoyHost is the virtual host of one callee.
type envoyHost struct {
	callee  *model.Service
	domain  string
	cluster *envoyCluster
	routes  []string
}

// envoyCluster has what holds for every call to its callee.
type envoyCluster struct {
	name, domain string
	grpc         bool
	connect      model.Duration
	idle         model.Val[model.Duration]
	budget       model.Val[model.Fraction]
}

func (o *output) envoy(id model.ServiceID) {
	s := &o.Plan.Services[id]
	f := &envoyFile{output: o}
	f.caveats = o.elsewhere(id)
	calls := o.callsOf(id, http)
	var written []limits
	for i := range calls {
		if !calls[i].Timeout.Finite() && calls[i].Timeout != model.NoLimit {
			f.caveats = append(f.caveats, o.without(&calls[i]))
			continue
		}
		written = append(written, calls[i])
	}
	if len(written) == 0 {
		return
	}
	for i := range written {
		f.call(&written[i], written)
	}
	f.what = fmt.Sprintf("Envoy for the calls of %s: budgets as timeouts, retries that fit.", quote(s.Name))
	f.where = "Goes beside the service: give listener and clusters your own addresses, then `envoy -c` this file."
	f.undo = "Undo: put back the file that stood here before; nothing else is changed."
	o.file(s.Name, ".envoy.yaml", f.banner.text(o.Input, "#")+f.body(s.Name), f.values)
}

// host finds or adds the virtual host and the cluster of a callee.
func (f *envoyFile) host(callee *model.Service) *envoyHost {
	for i := range f.hosts {
		if f.hosts[i].callee == callee {
			return &f.hosts[i]
		}
	}
	domain := hostName(callee.Name)
	for n := 2; slices.ContainsFunc(f.hosts, func(h envoyHost) bool { return strings.EqualFold(h.domain, domain) }); n++ {
		domain = fmt.Sprintf("%s-%d", hostName(callee.Name), n)
	}
	c := &envoyCluster{name: callee.Name, domain: domain, grpc: callee.Kind.V == "grpc"}
	f.clusters = append(f.clusters, c)
	f.hosts = append(f.hosts, envoyHost{callee: callee, domain: domain, cluster: c})
	return &f.hosts[len(f.hosts)-1]
}

// call writes the route of one call, and what it asks of the cluster.
func (f *envoyFile) call(l *limits, all []limits) {
	h := f.host(l.callee)
	w := l.waiter
	var r strings.Builder
	match, told := envoyMatch(l, all)
	if !told {
		f.caveats = append(f.caveats, f.say(NotToldApart, l, nil, "send the header, or match on what the calls differ in",
			"Envoy cannot tell `%s` from the other calls to `%s` by itself: its route asks for the header `%s`", l.id, l.callee.Name, header))
	}
	fmt.Fprintf(&r, "                      - name: %s\n                        match: %s\n", yamlText(l.id), match)
	fmt.Fprintf(&r, "                        route:\n                          cluster: %s\n", yamlText(l.callee.Name))
	note := ""
	if l.Kept != "" {
		note = "  # " + l.Kept
	}
	fmt.Fprintf(&r, "                          timeout: %s%s\n", dialect.Envoy.Format(l.Timeout), note)
	f.values++
	f.changes = append(f.changes, fmt.Sprintf("%s timeout: %s", l.id, change(w.Timeout, l.Timeout)))
	f.retries(l, &r)
	if w.Read().Set() && w.Read().V.Finite() && w.Read().V < l.Timeout {
		fmt.Fprintf(&r, "                          idle_timeout: %s\n", dialect.Envoy.Format(w.Read().V))
	}
	h.routes = append(h.routes, r.String())
	f.cluster(h.cluster, l)
	f.caveats = append(f.caveats, f.unsaid(l, "read_timeout", "connect_timeout", "idle_timeout", "retry_budget")...)
}

// envoyMatch tells a call from the caller's other calls to the callee: by the route that it was imported from, else by
// a header. told is false where only the header does.
func envoyMatch(l *limits, all []limits) (match string, told bool) {
	same := 0
	for i := range all {
		if all[i].callee == l.callee {
			same++
		}
	}
	if same == 1 {
		return `{prefix: "/"}`, true
	}
	key := strings.TrimPrefix(strings.TrimPrefix(l.id, l.caller.Name+"/"+l.callee.Name), ":")
	if key == "" {
		key = l.callee.Name
	}
	return fmt.Sprintf(`{prefix: "/", headers: [{name: %s, string_match: {exact: %s}}]}`, header, yamlText(key)), false
}

// retries writes the retry policy: nothing without retries, and a per-try timeout only where it is retried.
func (f *envoyFile) retries(l *limits, r *strings.Builder) {
	if l.Attempts <= 1 {
		return
	}
	w, line := l.waiter, func(text string, args ...any) {
		fmt.Fprintf(r, "                          "+text+"\n", args...)
	}
	tokens, statuses := f.conditions(l)
	if len(tokens) == 0 {
		f.caveats = append(f.caveats, f.say(AttemptsClamped, l, w.Attempts.From, "name failures that Envoy knows under `retry_on`",
			"Envoy makes one attempt of `%s`, not %s: it knows nothing of what is retried", l.id, countText(l.Attempts)))
		return
	}
	retries := min(l.Attempts-1, int64(1)<<32-1)
	if l.waiter.Attempts.V == model.Unlimited {
		retries = 1<<32 - 1
	}
	base, most, waits := f.envoyBackoff(l)
	perTry := l.fit(waits)
	failures, _, _ := dialect.Envoy.Failures(tokens, statuses)
	line("retry_policy:")
	line("  retry_on: %s", strings.Join(tokens, ","))
	if len(statuses) > 0 {
		line("  retriable_status_codes: [%s]", strings.Join(statuses, ", "))
	}
	line("  num_retries: %d  # %s in all", retries, render.Counted(int(retries+1), "attempt"))
	switch {
	case perTry > 0 && failures.Timeout():
		line("  per_try_timeout: %s", dialect.Envoy.Format(perTry))
		f.values++
		f.changes = append(f.changes, fmt.Sprintf("%s per-try timeout: %s", l.id, change(w.PerTry, perTry)))
	case perTry > 0:
		f.caveats = append(f.caveats, f.say(PerTryNotSaid, l, w.RetryOn().From, "add `timeout` to `retry_on`",
			"`%s` gets no per-try timeout: Envoy would end the call with the first attempt that runs out, since `timeout` is not retried", l.id))
	}
	line("  retry_back_off: {base_interval: %s, max_interval: %s}", dialect.Envoy.Format(base), dialect.Envoy.Format(most))
}

// envoyReset is what Envoy's `reset` retries: every attempt without an answer.
const envoyReset = model.OnConnect | model.OnRefused | model.OnReset | model.OnTimeout

// conditions gives the words of retry_on. What is unset in a plan is every failure; Envoy's `5xx` is next to that.
func (f *envoyFile) conditions(l *limits) (tokens, statuses []string) {
	if l.RetryOn.Kinds&model.OnError != 0 && l.RetryOn.Timeout() {
		tokens = []string{"5xx"}
		if l.waiter.RetryOn().Written() {
			f.caveats = append(f.caveats, f.say(ConditionsChanged, l, l.waiter.RetryOn().From, "list the statuses that are to be retried",
				"Envoy retries answers of `%s` by status: `error` becomes `5xx`", l.id))
		}
		return tokens, nil
	}
	on := l.RetryOn
	if on.Timeout() && on.Kinds&envoyReset != envoyReset {
		// What may have been begun is retried already, so a reset adds no new risk.
		f.caveats = append(f.caveats, f.say(ConditionsChanged, l, l.waiter.RetryOn().From, "add `reset`, `refused` and `connect` to `retry_on`",
			"Envoy has no word for `timeout` alone: `reset` retries `%s` on every attempt without an answer", l.id))
		on.Kinds |= envoyReset
	}
	tokens, statuses, left := dialect.Envoy.Tokens(on)
	if left.Kinds != 0 || len(left.Statuses) > 0 {
		f.caveats = append(f.caveats, f.say(ConditionsChanged, l, l.waiter.RetryOn().From, "list failures that Envoy has a word for",
			"Envoy cannot retry `%s` on %s alone", l.id, left))
	}
	return tokens, statuses
}

// envoyBackoff gives base and max with which no wait is longer than the plan's, by Envoy's documented bounds, and the
// sum of the waits. Envoy always waits: at least up to 1 ms.
func (f *envoyFile) envoyBackoff(l *limits) (base, most, sum model.Duration) {
	for _, w := range l.waits {
		most = max(most, min(w, maxWait))
	}
	base = most
	for k, w := range l.waits {
		factor := model.Duration(1)<<min(k+1, 40) - 1
		if k == 0 || w < most {
			base = min(base, w/factor)
		}
	}
	exact := slices.Equal(clip(dialect.EnvoyBackoff(base, most), len(l.waits)), l.waits) && l.waiter.Backoff.Get().Jitter.V.Kind == model.JitterFull
	cut := func(d model.Duration) model.Duration { return max(dialect.EnvoyMinInterval, d-d%dialect.Envoy.Granule) }
	base, most = cut(base), max(cut(base), cut(most))
	bounds := dialect.EnvoyBackoff(base, most)
	sum = longer(bounds, l.Attempts-1)
	if !exact {
		from := cmpOrigin(l.waiter.Backoff.Get().Base.From, l.waiter.Backoff.Get().Waits.From)
		f.caveats = append(f.caveats, f.say(BackoffChanged, l, from, "write `jitter: full` and waits that Envoy has, as `{waits: [25ms, 75ms, 175ms, 250ms], jitter: full}`",
			"before retry k of `%s` Envoy draws a wait of up to min((2^k − 1) × %s, %s)", l.id, base, most))
	}
	return base, most, sum
}

// maxWait keeps a wait within what every platform can hold.
const maxWait = 24 * 3600 * model.Second

// clip gives the first n waits of a list whose last repeats.
func clip(waits []model.Duration, n int) []model.Duration {
	out := slices.Clone(waits[:min(n, len(waits))])
	for len(out) < n {
		out = append(out, waits[len(waits)-1])
	}
	return out
}

// longer sums n waits of a list whose last repeats.
func longer(waits []model.Duration, n int64) (sum model.Duration) {
	for i, w := range waits {
		switch {
		case int64(i) >= n:
			return sum
		case i == len(waits)-1:
			return sum.Add(w.Mul(n - int64(i)))
		}
		sum = sum.Add(w)
	}
	return sum
}

func cmpOrigin(of ...*diag.Origin) *diag.Origin {
	for _, o := range of {
		if o != nil {
			return o
		}
	}
	return nil
}

// cluster joins what the calls to one callee ask of their common cluster: the longest connect and idle time, the least
// retry budget. Where nobody says how long connecting may take, it is no longer than the call.
func (f *envoyFile) cluster(c *envoyCluster, l *limits) {
	connect := l.waiter.Connect
	d := dialect.EnvoyConnect.V
	switch {
	case connect.Set() && connect.V.Finite():
		d = max(connect.V, dialect.Envoy.Granule)
	case l.Timeout.Finite():
		d = min(d, max(l.Timeout, dialect.Envoy.Granule))
	}
	c.connect = max(c.connect, d)
	if i := l.waiter.Idle(); i.Written() && (!c.idle.Set() || i.V > c.idle.V) {
		c.idle = i
	}
	if b := l.waiter.RetryBudget(); b.Set() && (!c.budget.Set() || b.V < c.budget.V) {
		c.budget = b
	}
}
