package merge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// names finds the service that each name of a source means. A plan's own names and aliases hold as they are written.
// Other names are read as their platforms spell them (see parsePlatform) and joined where exactly one service can be
// meant: the same host, else the same service and namespace, else the same service where one of the two has no
// namespace. Where several can be meant none is used, and a finding names them.
type names struct {
	*merger
	alias map[string]string
	// aliases are the names of `aliases` in the order of the files, seen those that a source mentions.
	aliases []aliasName
	seen    map[string]bool
	// meant is what a name of a config or metric stands for, empty for one that is no service.
	meant map[string]string
	// known are the plan's names. Services of the plan are found by host, by name and namespace, by a name without a
	// namespace, and by any name; placed has the services of a name of which a namespace is known.
	known                       map[string]bool
	hosts, spaced, loose, named map[string][]string
	placed                      map[[2]string]bool
	// spelled are the spellings in which the plan has a host.
	spelled map[string][]string
	// flats, firsts and bare find the names of configs for those of metrics, which spell them worse.
	flats, firsts, bare map[string][]string
}

type aliasName struct {
	service string
	model.Val[string]
}

// mention is a name where a source first has it.
type mention struct {
	name string
	at   diag.Span
	// observed is true where only metrics have the name.
	observed bool
	platformName
}

// noService says why a name stands for no service, empty where it may stand for one. A config's own machinery is left
// out by its importer, which knows whose names they are; metrics just have the names.
func (x *mention) noService() string {
	switch {
	case x.inbound:
		return "it is the way from a proxy to the application beside it"
	case x.observed && dialect.EnvoyInfrastructure(x.name):
		return "it is a proxy's own machinery, not a service"
	}
	return ""
}

// collectNames reads every `aliases:`, then decides on the names of configs, then on those of metrics.
func (m *merger) collectNames() {
	n := &names{
		merger: m, alias: map[string]string{}, seen: map[string]bool{}, meant: map[string]string{}, known: map[string]bool{},
		hosts: map[string][]string{}, spaced: map[string][]string{}, loose: map[string][]string{}, named: map[string][]string{},
		placed: map[[2]string]bool{}, spelled: map[string][]string{},
		flats: map[string][]string{}, firsts: map[string][]string{}, bare: map[string][]string{},
	}
	m.names = n
	n.collectAliases()
	if !slices.ContainsFunc(m.fragments, func(f *model.Fragment) bool { return !f.Structure && len(f.Services) > 0 }) {
		n.checkAliases()
		return
	}
	n.anchors()
	n.settle(n.mentions(false), (*names).configName)
	n.settle(n.mentions(true), (*names).metricName)
	n.checkAliases()
}

// collectAliases reads the aliases. A name that means two services is a duplicate, and the first holds.
func (n *names) collectAliases() {
	for _, f := range n.fragments {
		for _, a := range f.Aliases {
			for _, name := range a.Names {
				n.addAlias(a.Service, name)
			}
		}
	}
}

func (n *names) addAlias(service string, name model.Val[string]) {
	if known, twice := n.alias[name.V]; twice && known != service {
		f := duplicate.New(name.V, name.Span(), "`%s` is an alias of both `%s` and `%s`, and the first is used", name.V, known, service)
		f.Help = "keep it under one of them"
		n.findings = append(n.findings, f)
		return
	}
	n.alias[name.V] = service
	n.aliases = append(n.aliases, aliasName{service, name})
}

// checkAliases reports aliases that no source mentions.
func (n *names) checkAliases() {
	if len(n.aliases) == 0 {
		return
	}
	for _, f := range n.fragments {
		for i := range f.Services {
			n.seen[f.Services[i].Name] = true
		}
	}
	for _, a := range n.aliases {
		if n.seen[a.V] {
			continue
		}
		f := unmatched.New(a.service, a.Span(), "no source mentions `%s`, an alias of `%s`", a.V, a.service)
		f.Detail = a.V
		f.Help = "check the spelling against the name that the config or the metric uses, or drop the alias"
		n.findings = append(n.findings, f)
	}
}

// ofPlan gives the service that a plan's name means, through aliases of aliases; a circle ends where it began.
func (n *names) ofPlan(name string) string {
	for range len(n.alias) {
		service, ok := n.alias[name]
		if !ok {
			return name
		}
		name = service
	}
	return name
}

// resolve gives the service that a name of a fragment means; false for a name that is no service.
func (n *names) resolve(f *model.Fragment, name string) (string, bool) {
	if !f.Structure {
		if meant, decided := n.meant[name]; decided {
			return meant, meant != ""
		}
	}
	return n.ofPlan(name), true
}

// elsewhere reports whether a name is a service in a namespace that no plan mentions.
func (n *names) elsewhere(name string) bool {
	return len(n.meant) > 0 && !n.known[name] && parsePlatform(name).space != ""
}

// anchors indexes what plans and aliases call their services.
func (n *names) anchors() {
	add := func(service, spelling string) {
		p := parsePlatform(spelling)
		if p.host != "" {
			addTo(n.hosts, p.host, service)
			addTo(n.spelled, p.host, spelling)
		}
		if p.host == spelling { // an operation, such as `order.Place`, has capital letters
			n.spell(spelling, service)
		}
		switch {
		case p.short == "" || p.route:
			return
		case p.space != "":
			addTo(n.spaced, p.short+"."+p.space, service)
			n.placed[[2]string{p.short, service}] = true
		default:
			addTo(n.loose, p.short, service)
		}
		addTo(n.named, p.short, service)
	}
	for _, f := range n.fragments {
		for i := range f.Services {
			if name := f.Services[i].Name; f.Structure && !n.known[name] {
				n.known[name] = true
				add(n.ofPlan(name), name)
			}
		}
	}
	for _, a := range n.aliases {
		n.known[a.service] = true
		add(n.ofPlan(a.service), a.V)
	}
}

// mentions gives the names of configs, or of metrics, that no plan has, in the order of the files.
func (n *names) mentions(observed bool) []mention {
	var out []mention
	met := map[string]bool{}
	for _, f := range n.fragments {
		if f.Structure || f.Observed != observed {
			continue
		}
		for i := range f.Services {
			s := &f.Services[i]
			if _, decided := n.meant[s.Name]; decided || met[s.Name] {
				continue
			}
			met[s.Name] = true
			if service, aliased := n.alias[s.Name]; aliased {
				n.join(mention{name: s.Name, at: s.At}, n.ofPlan(service), "an alias")
				continue
			}
			if !n.known[s.Name] {
				out = append(out, mention{s.Name, s.At, observed, parsePlatform(s.Name)})
			}
		}
	}
	return out
}

// settle decides on names. Of those that could be one service of the plan without a namespace, and have different
// namespaces themselves, none can be told to be it.
func (n *names) settle(list []mention, other func(*names, mention)) {
	open := map[string][]mention{} // by the service that they may mean
	var services []string
	for _, x := range list {
		if why := x.noService(); why != "" {
			n.leave(x, why)
			n.meant[x.name] = ""
			continue
		}
		service, why, candidates := n.candidates(&x)
		switch {
		case len(candidates) > 1:
			n.uncertain(x, candidates)
			other(n, x)
		case service == "":
			other(n, x)
		case why == bySpace && x.space != "":
			if open[service] == nil {
				services = append(services, service)
			}
			open[service] = append(open[service], x)
		default:
			n.join(x, service, why)
		}
	}
	for _, service := range services {
		rivals := open[service]
		if !slices.ContainsFunc(rivals, func(y mention) bool { return y.space != rivals[0].space }) {
			for _, x := range rivals {
				n.join(x, service, bySpace)
			}
			continue
		}
		n.rivals(service, rivals)
		for _, x := range rivals {
			other(n, x)
		}
	}
}

// bySpace is why two names are one where only one of them has a namespace.
const bySpace = "the service, with its namespace left out"

// candidates gives the one service of the plan that a name means and why, or the several that it may mean.
func (n *names) candidates(x *mention) (service, why string, several []string) {
	for _, tier := range []struct {
		why  string
		list []string
	}{
		{"the same host", n.hosts[x.host]},
		{"the same service and namespace", n.spaced[x.short+"."+x.space]},
		{bySpace, n.withoutSpace(x)},
	} {
		switch len(tier.list) {
		case 0:
			continue
		case 1:
			why := tier.why
			if x.route {
				why = "the name of the route"
			}
			return tier.list[0], why, nil
		}
		return "", "", tier.list
	}
	return "", "", nil
}

// withoutSpace gives the services that a name may mean where one of the two has no namespace. A service whose namespace
// is known from another spelling is not that of a further namespace.
func (n *names) withoutSpace(x *mention) []string {
	if x.space == "" {
		return n.named[x.short]
	}
	return slices.DeleteFunc(slices.Clone(n.loose[x.short]), func(service string) bool { return n.placed[[2]string{x.short, service}] })
}

// configName gives a name that no plan knows the short spelling of its platform.
func (n *names) configName(x mention) {
	name := x.spelling(x.name)
	if n.known[name] { // the plan's service of that name is another
		name = x.name
	}
	n.meant[x.name] = name
	if name != x.name {
		n.join(x, name, "its shorter name")
	}
	n.spell(x.name, name)
	n.spell(x.host, name)
	if x.short != "" {
		addTo(n.bare, x.short, name)
	}
}

// spell remembers a config's spelling of a service for metrics, which cut names at dots and flatten them.
func (n *names) spell(spelling, service string) {
	addTo(n.flats, flat(spelling), service)
	if strings.Contains(spelling, ".") {
		addTo(n.firsts, untilDot(spelling), service)
	}
}

// several is how many candidates are remembered: more are told as others.
const several = 16

func addTo(index map[string][]string, key, service string) {
	if len(index[key]) < several && !slices.Contains(index[key], service) {
		index[key] = append(index[key], service)
	}
}

// metricName finds the config's name that a metric's stands for.
func (n *names) metricName(x mention) {
	for _, tier := range []struct {
		why  string
		list []string
	}{
		{"the same host", n.flats[flat(x.host)]},
		{"the name as a metric has it", n.flats[flat(x.name)]},
		{"the name up to its first dot", n.firsts[x.name]},
		{bySpace, n.bare[x.short]},
	} {
		switch {
		case len(tier.list) == 1:
			n.join(x, tier.list[0], tier.why)
			return
		case len(tier.list) > 1:
			n.uncertain(x, tier.list)
		default:
			continue
		}
		break
	}
	if _, decided := n.meant[x.name]; !decided {
		n.configName(x)
	}
}

// join says that a name means a service, and lets metrics find it by that name, too.
func (n *names) join(x mention, service, why string) {
	n.meant[x.name] = service
	n.plan.Joined = append(n.plan.Joined, model.Joined{Name: x.name, Service: service, Why: why, At: x.at})
	n.spell(x.name, service)
	for _, spelling := range n.spelled[x.host] {
		n.seen[spelling] = true
	}
}

// leave says why a name stands for no service.
func (n *names) leave(x mention, why string) {
	n.plan.Left = append(n.plan.Left, model.Joined{Name: x.name, Why: why, At: x.at})
}

// uncertain reports a name that may mean several services.
func (n *names) uncertain(x mention, services []string) {
	for _, s := range services {
		n.leave(x, fmt.Sprintf("it may mean `%s`", s))
	}
	f := unmatched.New(x.name, x.at, "`%s` may mean %s, and is taken for none of them", x.name, or(services))
	f.Help = fmt.Sprintf("say which under `aliases`: `%s: [%q]`", services[0], x.name)
	n.findings = append(n.findings, f)
}

// rivals reports names that may all mean one service.
func (n *names) rivals(service string, list []mention) {
	var all []string
	for _, x := range list {
		all = append(all, x.name)
		n.leave(x, fmt.Sprintf("it may mean `%s`, as other names may", service))
	}
	f := unmatched.New(service, list[0].at, "`%s` may be %s, and is taken for none of them", service, or(all))
	for _, x := range list[1:min(len(list), most)] {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("`%s` is named here", x.name), At: originOf(x.at)})
	}
	f.Help = fmt.Sprintf("say which under `aliases`: `%s: [%q]`", service, all[0])
	n.findings = append(n.findings, f)
}

// most is how many candidates a message names.
const most = 5

func or(list []string) string {
	if len(list) <= most {
		return "`" + strings.Join(list, "` or `") + "`"
	}
	return "`" + strings.Join(list[:most], "` or `") + "` or others"
}
