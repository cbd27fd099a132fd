package envoy

import (
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// cluster is what the file says of one, read when the first route needs it.
type cluster struct {
	node *yamlsrc.Node
	read bool

	connect, idle model.Val[model.Duration]
	// maxStream bounds one attempt from its start.
	maxStream duration
	// policy replaces the retry policy of every route to the cluster.
	policy *message
	budget model.Val[model.Fraction]
	// local tells that its endpoints are on the machine of the proxy.
	local bool
	// members are the clusters of an aggregate, of which one takes each attempt.
	members []target
}

func (r *reader) addCluster(n *yamlsrc.Node) {
	name := field(n, "name").Text()
	if _, known := r.clusters[name]; !known && name != "" {
		r.clusters[name] = &cluster{node: n}
	}
}

// cluster gives what is known of a cluster, nil where neither the source nor another one of its proxy has it.
func (r *reader) cluster(name string) *cluster {
	if c := r.clusters[name]; c != nil {
		return r.readCluster(c)
	}
	if home := r.proxy.clusters[name]; home != nil {
		return home.readCluster(home.clusters[name])
	}
	return nil
}

func (r *reader) readCluster(c *cluster) *cluster {
	if c.read {
		return c
	}
	c.read = true
	m := r.message("cluster", c.node)
	c.connect = r.connectTimeout(m)
	options := m.sub("common_http_protocol_options")
	if ext := r.extension(m.get("typed_extension_protocol_options"), "HttpProtocolOptions"); ext != nil {
		if o := ext.sub("common_http_protocol_options"); o != nil {
			options = o
		}
		c.policy = ext.sub("retry_policy")
		ext.done()
	}
	c.idle = dialect.EnvoyClusterIdle.At(m.at())
	if d := options.duration("idle_timeout"); d.Set() {
		c.idle = orNone(d)
	}
	c.maxStream = options.duration("max_stream_duration")
	options.harmless("max_connection_duration")
	options.done()
	c.local = onMachine(m.get("load_assignment"))
	c.budget = r.retryBudget(m.sub("circuit_breakers"))
	kind := m.sub("cluster_type")
	if config := kind.sub("typed_config"); strings.Contains(config.text("@type").V, "aggregate") {
		for _, n := range list(config.get("clusters")) {
			if r.room(1, n.Span()) {
				c.members = append(c.members, target{name: n.Text(), at: n.Span()})
			}
		}
	}
	m.harmless("track_timeout_budgets")
	m.done()
	return c
}

// onMachine reports whether every endpoint is a loopback address or a socket of the machine.
func onMachine(assignment *yamlsrc.Node) bool {
	count := 0
	for _, locality := range list(field(assignment, "endpoints")) {
		for _, n := range list(field(locality, "lb_endpoints")) {
			address := field(field(n, "endpoint"), "address")
			host := field(field(address, "socket_address"), "address").Text()
			if field(address, "pipe") == nil && !strings.HasPrefix(host, "127.") && host != "::1" && host != "localhost" {
				return false
			}
			count++
		}
	}
	return count > 0
}

func (r *reader) connectTimeout(m *message) model.Val[model.Duration] {
	d := m.duration("connect_timeout")
	switch {
	case !d.given:
		return dialect.EnvoyConnect.At(m.at())
	case d.Set() && d.V == 0:
		r.bad(d.Span(), "cluster", "connect_timeout", errZero)
		return model.Val[model.Duration]{}
	}
	return d.Val
}

// extension gives the message of a type among extensions, which are keyed by their names.
func (r *reader) extension(n *yamlsrc.Node, kind string) *message {
	for _, p := range n.Pairs() {
		if strings.HasSuffix(p.Key.Text(), kind) || strings.HasSuffix(p.Value.Get("@type").Text(), "."+kind) {
			return r.message(kind, p.Value)
		}
	}
	return nil
}

// retryBudget gives the share of active requests that may be retries at the default priority. `max_retries` counts
// concurrent retries to the cluster, never those of one request.
func (r *reader) retryBudget(breakers *message) (share model.Val[model.Fraction]) {
	for _, n := range list(breakers.get("thresholds")) {
		t := r.message("thresholds", n)
		if p := t.text("priority").V; p != "" && !strings.EqualFold(p, "DEFAULT") && p != "0" {
			continue
		}
		budget := t.sub("retry_budget")
		if budget == nil {
			continue
		}
		if budget.get("budget_percent") == nil {
			return dialect.EnvoyRetryBudget.At(budget.at())
		}
		return budget.percent("budget_percent")
	}
	return share
}

// orNone reads a time of which 0, and what Envoy cuts down to 0, switches the limit off.
func orNone(d duration) model.Val[model.Duration] {
	v := d.Val
	if v.V = trim(v.V); v.Set() && v.V == 0 {
		v.V = model.NoLimit
	}
	return v
}

// trim cuts a time to whole milliseconds, as Envoy does.
func trim(d model.Duration) model.Duration {
	if !d.Finite() {
		return d
	}
	return d - d%dialect.Envoy.Granule
}

// targets gives the clusters that may take a request to one: itself, or the members of an aggregate, of
// aggregates too.
func (r *reader) targets(name string, at diag.Span) []target {
	var out []target
	seen := map[string]bool{}
	var expand func(name string, at diag.Span, depth int)
	expand = func(name string, at diag.Span, depth int) {
		c := r.cluster(name)
		if seen[name] || depth > maxWrapped {
			return
		}
		seen[name] = true
		if c == nil || len(c.members) == 0 {
			out = append(out, target{name: name, at: at, cluster: c})
			return
		}
		for _, member := range c.members {
			if !r.room(1, at) {
				return
			}
			expand(member.name, member.at, depth+1)
		}
	}
	if c := r.cluster(name); c == nil || len(c.members) == 0 {
		return []target{{name: name, at: at, cluster: c}}
	}
	expand(name, at, 0)
	return out
}

// target is one possible callee of a route.
type target struct {
	name    string
	at      diag.Span
	cluster *cluster
	// share is the weight as a share, unset where the route has no weights.
	share model.Val[float64]
}
