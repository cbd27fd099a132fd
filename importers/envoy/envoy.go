// Package envoy reads Envoy's v3 configuration, as YAML or JSON, in snake_case or camelCase: static bootstraps,
// listeners, clusters, route configurations, virtual hosts and routes, alone, in lists, by name, as the resources of a
// discovery response, in a config dump or a part of one, as Go prints them, and as the text of a ConfigMap. Files that
// refer to each other are read together: see proxy.
//
// It reads of a route its cluster (or weighted_clusters, cluster_header, mirrors), timeout, max_stream_duration,
// max_grpc_timeout, idle_timeout, retry_policy and hedge_policy; of a virtual host its retry_policy, hedge_policy
// and mirrors; of a cluster its connect_timeout, HttpProtocolOptions, circuit_breakers.retry_budget and the members
// of an aggregate; of a listener its HTTP connection managers, TCP and Redis proxies, and the filters that ask a service
// before each route. What looks like a limit and is not read is a finding.
package envoy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Importer reads Envoy's configuration.
var Importer = &importers.Importer{
	Name:      "envoy",
	Title:     "Envoy v3 bootstrap, listeners, clusters and routes",
	Recognise: recognise,
	Resembles: resembles,
	Import:    read,
	Together:  together,
	Codes:     []*diag.Code{importers.BadValue, importers.NotUnderstood},
}

// perCall is how many things a call is, in the count of what a source stands for: it has more defaults than one of a
// plan. perFinding is the same for a finding, perText for the text of a ConfigMap. Routes times the members of aggregate
// clusters may be many calls in a few bytes.
const (
	perCall    = 3
	perFinding = 3
	perText    = 8
)

// reader is the state of one source.
type reader struct {
	src   *importers.Source
	frag  *model.Fragment
	proxy *proxy // whose configuration it is a part of
	found []diag.Finding
	// told has what was reported: a place for a bad value, a field for one that is not understood.
	told map[string]bool

	clusters  map[string]*cluster
	listeners []listener
	scope     scope // of the first document that says whose proxy it is
	whole     bool  // it has a bootstrap or is a dump, and so is a proxy by itself
	dump      bool
	routeless bool        // a listener's routes are nowhere
	dynamic   bool        // its bootstrap has parts from elsewhere
	lds       []diag.Span // where a bootstrap has its listeners from elsewhere
	paths     []string    // files that it refers to, as it names them
	seen      map[resource]int
	tables    []table
	byName    map[string]int // index of a table by its name
	flows     map[model.ServiceID][]model.Flow
	callers   []model.ServiceID      // in the order of their first flow
	own       map[scope]model.Waiter // what a proxy is before the service beside it
	things    *importers.Things      // what it stands for
	tooMuch   diag.Span              // the first of them that is too much
}

// scope is what a document says of the proxy that its resources belong to: whose calls they are.
type scope struct {
	caller string
	at     diag.Span
}

func read(src *importers.Source) (*model.Fragment, []diag.Finding) {
	r := gather(src)
	(&proxy{readers: []*reader{r}}).read()
	return r.frag, r.found
}

// gather finds the resources of a source. Nothing is read before all are known, of every source.
func gather(src *importers.Source) *reader {
	file, found := src.YAML()
	r := &reader{
		src: src, found: slices.Clone(found), things: importers.ThingsOf(src),
		frag:     &model.Fragment{File: src.File, As: "envoy", LineIgnores: importers.LineIgnores(file)},
		told:     map[string]bool{},
		clusters: map[string]*cluster{},
		byName:   map[string]int{},
		flows:    map[model.ServiceID][]model.Flow{},
		seen:     map[resource]int{},
	}
	for _, doc := range documents(file, func(n *yamlsrc.Node) bool { return r.room(perText, n.Span()) }) {
		sc := r.speaker(doc)
		if r.scope == (scope{}) {
			r.scope = sc
		}
		walk(doc, 0, func(kind resource, n *yamlsrc.Node) { r.collect(kind, n, sc) })
	}
	return r
}

// flowOf says how the calls of a caller follow each other. A proxy that stands for itself makes one of them for each
// request. The service beside a sidecar may make all, in an order that nobody said; its routes to one callee are still
// alternatives.
func (r *reader) flowOf(caller model.ServiceID) model.Flow {
	s, flows := &r.frag.Services[caller], r.flows[caller]
	sidecar := false
	for sc := range r.own {
		sidecar = sidecar || sc.caller == s.Name
	}
	if !sidecar || len(flows) == 1 {
		return oneOf(flows)
	}
	byCallee := map[model.ServiceID]int{}
	var groups [][]model.Flow
	for _, f := range flows {
		callee := model.ServiceID(-1)
		f.Walk(func(c model.CallID) {
			if callee < 0 {
				callee = r.frag.Calls[c].To
			}
		})
		i, known := byCallee[callee]
		if !known {
			i = len(groups)
			byCallee[callee] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	if len(groups) == 1 {
		return oneOf(groups[0])
	}
	all := model.Flow{Kind: model.Unordered}
	for _, g := range groups {
		all.Of = append(all.Of, oneOf(g))
	}
	return all
}

// room reports whether the source may stand for so many things more.
func (r *reader) room(things int, at diag.Span) bool {
	if full := r.things.Full(); full || r.things.Add(things) {
		return !full
	}
	r.tooMuch = at
	return false
}

// finish closes the fragment: each caller calls one of its routes, and a service has its proxy in front of it. Of a
// source that stands for too much nothing is read.
func (r *reader) finish() {
	r.things.End()
	if r.things.Full() {
		*r.frag = model.Fragment{File: r.frag.File, As: r.frag.As}
		_, found := r.src.YAML()
		r.found = append(slices.Clip(found), r.things.TooMuch(r.tooMuch))
		return
	}
	for _, c := range r.callers {
		r.frag.Services[c].Flow = r.flowOf(c)
	}
	for _, sc := range slices.SortedFunc(maps.Keys(r.own), func(a, b scope) int { return cmp.Compare(a.caller, b.caller) }) {
		w := r.own[sc]
		if s := r.frag.Service(sc.caller, sc.at); limits(&w) {
			r.frag.Services[s].Declared, r.frag.Services[s].Edit().Front = true, []model.Waiter{w}
		}
	}
	if len(r.frag.Calls) == 0 {
		r.frag.Without = r.instead()
	}
}

// collect keeps a resource until all are known: routes need the clusters that may stand behind them.
func (r *reader) collect(kind resource, n *yamlsrc.Node, sc scope) {
	if r.seen[kind]++; !r.room(1, n.Span()) {
		return
	}
	switch kind {
	case isBootstrap:
		r.bootstrap(n)
	case isDump:
		r.whole, r.dump = true, true
	case isCluster:
		r.addCluster(n)
	case isListener:
		// A dump has a static listener in its bootstrap, too.
		if id := "listener " + text(field(n, "name")) + text(field(n, "address")); !r.told[id] || !r.dump {
			r.told[id] = true
			r.listeners = append(r.listeners, listener{node: n, scope: sc})
		}
	case isManager:
		r.listeners = append(r.listeners, listener{manager: n, scope: sc})
	case isTable, isHost, isRoute:
		r.addTable(kind, n, sc)
	}
}

// addTable keeps a route configuration once by its name; hosts and routes without one stand for themselves.
func (r *reader) addTable(kind resource, n *yamlsrc.Node, sc scope) {
	if kind == isRoute && len(r.tables) > 0 {
		if last := &r.tables[len(r.tables)-1]; len(last.bare) > 0 && last.scope == sc {
			last.bare = append(last.bare, n)
			return
		}
	}
	t := table{scope: sc}
	switch kind {
	case isTable:
		t.node = n
		t.name = field(n, "name").Text()
		if _, known := r.byName[t.name]; known && t.name != "" {
			return // a dump repeats what a listener has inline, and a list what another has
		}
		r.byName[t.name] = len(r.tables)
	case isHost:
		t.hosts = []*yamlsrc.Node{n}
	case isRoute:
		t.bare = []*yamlsrc.Node{n}
	}
	r.tables = append(r.tables, t)
}

// bootstrap notes what a proxy has from elsewhere.
func (r *reader) bootstrap(n *yamlsrc.Node) {
	r.whole = true
	d := field(n, "dynamic_resources")
	r.dynamic = r.dynamic || d != nil
	if lds := field(d, "lds_config"); lds != nil {
		r.lds = append(r.lds, lds.Span())
		r.paths = append(r.paths, sourcePath(lds))
	}
	if cds := field(d, "cds_config"); cds != nil {
		r.paths = append(r.paths, sourcePath(cds))
	}
}

// sourcePath gives the file that a config source names, empty where it names none.
func sourcePath(n *yamlsrc.Node) string {
	if p := field(field(n, "path_config_source"), "path"); p != nil {
		return p.Text()
	}
	return field(n, "path").Text()
}

// speaker says whose calls a document has: the source's word, else what the bootstrap calls itself.
func (r *reader) speaker(doc *yamlsrc.Node) scope {
	if s := r.src.Service; s.Set() {
		return scope{s.V, s.Span()}
	}
	var sc scope
	walk(doc, 0, func(kind resource, n *yamlsrc.Node) {
		if kind == isBootstrap && sc.caller == "" {
			sc = nameOf(n)
		}
	})
	return sc
}

// nameOf gives what a bootstrap calls its proxy: the cluster of its node, else what Istio's metadata call the
// workload, else the node itself, else the cluster that the node is in.
func nameOf(bootstrap *yamlsrc.Node) scope {
	node := field(bootstrap, "node")
	meta := field(node, "metadata")
	app := field(meta, "LABELS").Get("app")
	if app == nil {
		app = meta.Get("WORKLOAD_NAME")
	}
	for _, name := range []*yamlsrc.Node{
		field(node, "cluster"), app, field(node, "id"), field(field(bootstrap, "cluster_manager"), "local_cluster_name"),
	} {
		text := name.Text()
		if text == "" || placeholder(text) {
			continue
		}
		if ns := meta.Get("NAMESPACE").Text(); name == app && ns != "" {
			text += "." + ns
		}
		if istio := strings.Split(text, "~"); len(istio) == 4 {
			text = istio[2] // kind, address, pod with its namespace, domain
		}
		return scope{text, name.Span()}
	}
	return scope{}
}

// text gives all that a value says, to compare it.
func text(n *yamlsrc.Node) string {
	var b strings.Builder
	b.WriteString(n.Text())
	for _, p := range n.Pairs() {
		b.WriteString(p.Key.Text() + ":" + text(p.Value) + ",")
	}
	for _, item := range n.Items() {
		b.WriteString(text(item) + ",")
	}
	return b.String()
}

// placeholder reports whether a text waits for another tool to fill it in.
func placeholder(s string) bool {
	return strings.Contains(s, "{{") || strings.Contains(s, "${") || strings.Contains(s, "{%") || strings.Contains(s, "$(")
}

// add appends a flow to a caller's, which is one of them for each request.
func (r *reader) add(caller model.ServiceID, f model.Flow) {
	if _, known := r.flows[caller]; !known {
		r.callers = append(r.callers, caller)
	}
	r.flows[caller] = append(r.flows[caller], f)
}

// oneOf gives alternatives, or the only one.
func oneOf(of []model.Flow) model.Flow {
	if len(of) == 1 {
		return of[0]
	}
	return model.Flow{Kind: model.OneOf, Of: of}
}

// bad reports a value that Envoy refuses, once a place. The text of err may end in the change to make.
func (r *reader) bad(at diag.Span, subject, key string, err error) {
	if id := "bad " + at.String(); !r.told[id] {
		r.told[id] = true
		if !r.room(perFinding, at) {
			return
		}
		fact, change, _ := strings.Cut(err.Error(), ", write ")
		f := importers.BadValue.New(subject, at, "`%s`: %s", key, fact)
		if change != "" {
			f.Help = "write " + change
		}
		r.found = append(r.found, f)
	}
}

// unread reports something that would change a number and is not read, once a key and file.
func (r *reader) unread(key string, at diag.Span, help, format string, args ...any) {
	if r.told[key] {
		return
	}
	r.told[key] = true
	if !r.room(perFinding, at) {
		return
	}
	f := importers.NotUnderstood.New(key, at, format, args...)
	f.Help = help
	r.found = append(r.found, f)
}
