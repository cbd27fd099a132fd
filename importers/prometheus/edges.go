package prometheus

import (
	"cmp"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// edge is what latency belongs to: a call, or all calls to a service where caller is empty.
type edge struct{ caller, callee string }

// candidate is what one metric says of an edge. Of several, the best is used: the same requests are in all.
type candidate struct {
	family  string
	side    side
	unit    model.Duration
	caveats model.Caveats
	at      diag.Span
	of      []measured
	// cutOff counts observations that ended at a limit.
	cutOff float64
}

// edges has what is known of each edge, in the order in which they were met.
type edges struct {
	*reporter
	by    map[edge][]*candidate
	order []edge
	// timeouts counts, by edge, what a metric of the edge leaves out.
	timeouts map[edge]float64
	// empty counts series without an observation. said is set where a finding has told why a series is not used.
	empty int
	said  bool
}

// metric is a profile with what the source says of this metric.
type metric struct {
	*profile
	part string // of the callee's name, from the metric's
	unit model.Duration
}

// collect takes one scrape's series to their edges.
func (e *edges) collect(s *scrape) {
	metrics := map[string]*metric{}
	for _, x := range s.order {
		m, known := metrics[x.family]
		if !known {
			m = s.metric(x.family)
			metrics[x.family] = m
			if m != nil && m.unit == 0 {
				e.said = true
				e.unread("unit "+x.family, x.family, diag.Warning, x.at, "write `unit: s`, or `ms`, beside `metric` in `sources`",
					"neither the name `%s` nor the file says the unit of the metric", x.family)
			}
		}
		switch {
		case m != nil && m.unit > 0:
			e.take(s, m, x)
		case timeoutCounter.MatchString(x.family):
			e.countTimeouts(s, x)
		}
	}
}

// metric gives the profile of a family, changed by what `sources` says; nil for a family that is none.
func (s *scrape) metric(family string) *metric {
	if !s.wanted(family) {
		return nil
	}
	ref := &s.source.Ref
	p, part := profileOf(family)
	if p == nil {
		p = &profile{side: serving}
		if ref.Callee.Set() {
			p.side = calling
		}
	}
	m := &metric{profile: p, part: part, unit: unitOf(family)}
	if ref.Caller.Set() || ref.Callee.Set() {
		own := *p
		if ref.Caller.Set() {
			own.caller = []string{ref.Caller.V}
		}
		if ref.Callee.Set() {
			own.callee = []string{ref.Callee.V}
		}
		m.profile = &own
	}
	if m.unit == 0 {
		m.unit = unitOf("_" + s.units[family])
	}
	if m.unit == 0 {
		m.unit = p.unit
	}
	if ref.Unit.Set() {
		m.unit = unitOf("_" + ref.Unit.V)
	}
	return m
}

// take adds a series to its edge.
func (e *edges) take(s *scrape, m *metric, x *series) {
	on := m.side
	if m.sideOf != nil {
		on = m.sideOf(x.labels)
	}
	if on == 0 || m.stream != nil && m.stream(x.labels) || s.variant(m, x) {
		return
	}
	w := x.over()
	if w.reset {
		e.unread("reset "+s.file+x.family, x.family, diag.Info, x.at, "take two scrapes without a restart between them",
			"the counts of `%s` began anew between two scrapes: what came before is left out", x.family)
	}
	if w.dist == nil || w.n <= 0 {
		e.empty++
		return
	}
	to, ok := e.edgeOf(s, m, x, on)
	if !ok {
		return
	}
	c := e.candidate(to, x.family, on)
	if len(c.of) == 0 {
		c.unit, c.at = m.unit, x.at
		if on > answered {
			c.caveats = m.caveats
		}
	}
	c.of = append(c.of, w)
	if m.timedOut != nil && m.timedOut(x.labels) {
		c.cutOff += w.n
	}
}

func (e *edges) candidate(to edge, family string, on side) *candidate {
	if _, known := e.by[to]; !known {
		e.order = append(e.order, to)
	}
	for _, c := range e.by[to] {
		if c.family == family && c.side == on {
			return c
		}
	}
	c := &candidate{family: family, side: on}
	e.by[to] = append(e.by[to], c)
	return c
}

// variant reports whether an Envoy's histogram has the same observations again, split by where they came from.
func (s *scrape) variant(m *metric, x *series) bool {
	if m.part == "" {
		return false
	}
	base, word := "", m.part
	if i := strings.LastIndexByte(m.part, '_'); i >= 0 {
		base, word = m.part[:i+1], m.part[i+1:]
	}
	if word != "internal" && word != "external" && word != "canary" {
		return false
	}
	_, found := s.series[keyOf("envoy_cluster_"+base+"upstream_rq_time", x.labels)]
	return found
}

// edgeOf gives the two services of a series. What the labels of the metric say comes before what the source says,
// and that before what is known of the target.
func (e *edges) edgeOf(s *scrape, m *metric, x *series, on side) (edge, bool) {
	own := s.source.Service.V
	if on == serving {
		name := cmp.Or(first(x.labels, m.server...), own)
		if name == "" {
			name = cmp.Or(e.target(m, x), s.named(m.callee, x.labels))
		}
		if name == "" {
			e.said = true
			e.unread("nowhere "+x.family, x.family, diag.Warning, x.at, "write `service: NAME` beside the file in `sources`",
				"`%s` is the time of the scraped service itself, and nothing says which one that is", x.family)
		}
		return edge{callee: host(name)}, name != ""
	}
	callee := s.named(m.callee, x.labels)
	if callee == "" {
		e.said = true
		e.unread("callee "+x.family, x.family, diag.Info, x.at, "name the label in `sources`: `{metric: "+x.family+", callee: LABEL}`",
			"no label of `%s` says who was called", x.family)
		return edge{}, false
	}
	if m.part != "" {
		callee += "." + strings.ReplaceAll(m.part, "_", ".")
	}
	caller := cmp.Or(s.named(m.caller, x.labels), own)
	if caller == "" {
		caller = e.target(m, x)
	}
	if caller == "" {
		e.unread("caller "+x.family, x.family, diag.Warning, x.at, "write `service: NAME` beside the file in `sources`",
			"nothing says whose calls `%s` measures, so it is taken for every call to the same service", x.family)
	}
	return edge{host(caller), host(callee)}, true
}

// named gives the value of the first label that says something. A name that `sources` gives and no series of the
// metric has as a label is the service itself.
func (s *scrape) named(labels []string, of map[string]string) string {
	if v := first(of, labels...); v != "" || len(labels) != 1 {
		return v
	}
	if ref := &s.source.Ref; labels[0] != ref.Caller.V && labels[0] != ref.Callee.V {
		return ""
	}
	if slices.ContainsFunc(s.order, func(x *series) bool { _, has := x.labels[labels[0]]; return has && s.wanted(x.family) }) {
		return ""
	}
	return labels[0]
}

// target gives the name of the scraped target by its labels, and says so. A label that names the callee is none.
func (e *edges) target(m *metric, x *series) string {
	for _, label := range target {
		v := x.labels[label]
		if !known(v) || slices.Contains(m.callee, label) {
			continue
		}
		e.unread("target "+label, "", diag.Info, x.at, "write `service: NAME` beside the file in `sources` if it is called otherwise",
			"the scraped service is taken from the label `%s` of the target: `%s`", label, v)
		return v
	}
	return ""
}

// host takes off an address what is no part of a name: `dns:///product:50051` is `product`.
func host(address string) string {
	address = strings.TrimRight(address, ";") // Istio ends its clusters' names so
	if i := strings.Index(address, "://"); i >= 0 {
		address = strings.TrimLeft(address[i+3:], "/")
		address = address[strings.LastIndexByte(address, '/')+1:]
	}
	if name, port, found := strings.Cut(address, ":"); found && strings.Trim(port, "0123456789") == "" && name != "" {
		return name
	}
	return address
}

// countTimeouts adds what an Envoy counts of attempts that its histogram leaves out.
func (e *edges) countTimeouts(s *scrape, x *series) {
	p, _ := profileOf("envoy_cluster_upstream_rq_time")
	m := &metric{profile: p, part: timeoutCounter.FindStringSubmatch(x.family)[1]}
	if w := x.over(); w.n > 0 && ofCluster(x.labels) == calling {
		quiet := &edges{reporter: newReporter()}
		if to, ok := quiet.edgeOf(s, m, x, calling); ok {
			e.timeouts[to] += w.n
		}
	}
}

// best gives what is used for an edge: the caller's clock before the callee's, attempts before whole calls.
func (e *edges) best(to edge) *candidate {
	return slices.MaxFunc(e.by[to], func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(a.total(), b.total()), -cmp.Compare(a.family, b.family))
	})
}

func (c *candidate) total() float64 {
	n := 0.0
	for _, m := range c.of {
		n += m.n
	}
	return n
}
