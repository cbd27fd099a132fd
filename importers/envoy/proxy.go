package envoy

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// proxy is what the sources say together of one Envoy: a bootstrap and the files that it is fed from, or files alone.
// What a source names and does not have is looked for in the others.
type proxy struct {
	readers []*reader // by file
	// clusters and tables tell which source has one of a name first.
	clusters, tables map[string]*reader
}

// together reads all sources of a run. The order in which they are given changes nothing.
func together(sources []*importers.Source) ([]*model.Fragment, []diag.Finding) {
	readers := make([]*reader, len(sources))
	for i, src := range sources {
		readers[i] = gather(src)
	}
	byFile := slices.Clone(readers)
	slices.SortStableFunc(byFile, func(a, b *reader) int { return cmp.Compare(a.src.File, b.src.File) })
	all := proxies(byFile)
	tellApart(all)
	for _, p := range all {
		p.read()
	}
	fragments := make([]*model.Fragment, len(sources))
	for i, r := range readers {
		fragments[i] = r.frag
	}
	var found []diag.Finding
	for _, r := range byFile {
		found = append(found, r.found...)
	}
	return fragments, folded(found)
}

// folded tells of what is not understood once, not once a file.
func folded(found []diag.Finding) []diag.Finding {
	type repeat struct {
		at    diag.Span // where it stands again first
		first int
		files int
	}
	repeats := map[string]*repeat{}
	out := found[:0:0]
	for _, f := range found {
		r := repeats[f.Subject]
		switch {
		case f.Code != importers.NotUnderstood:
			out = append(out, f)
		case r == nil:
			repeats[f.Subject] = &repeat{first: len(out)}
			out = append(out, f)
		default:
			if r.files++; r.files == 1 {
				r.at = f.Place()
			}
		}
	}
	for _, r := range repeats {
		if f := &out[r.first]; r.files == 1 {
			f.Notes = append(f.Notes, diag.Note{Text: "and in one more file", At: diag.At(r.at)})
		} else if r.files > 1 {
			f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("and in %d more files, first in this one", r.files), At: diag.At(r.at)})
		}
	}
	return out
}

// proxies tells whose configuration each source is. Sources that a plan gives to one service are one; so is every
// bootstrap or dump otherwise. A file without either belongs to the bootstrap that names it, else to the only one of
// its folder that has parts elsewhere, else to the only such one at all; files that none of these holds for are one
// proxy, folder by folder.
func proxies(readers []*reader) []*proxy {
	var all []*proxy
	byKey := map[string]*proxy{}
	add := func(key string, r *reader) {
		if byKey[key] == nil {
			byKey[key] = &proxy{}
			all = append(all, byKey[key])
		}
		byKey[key].readers = append(byKey[key].readers, r)
	}
	var wholes []*reader
	for _, r := range readers {
		if r.whole && !r.src.Service.Set() {
			wholes = append(wholes, r)
		}
	}
	for _, r := range readers {
		switch owner := r.owner(wholes); {
		case r.src.Service.Set():
			add("service "+r.src.Service.V, r)
		case r.whole:
			add("file "+r.src.File, r)
		case owner != nil:
			add("file "+owner.src.File, r)
		default:
			add("folder "+path.Dir(r.src.File), r)
		}
	}
	return all
}

// tellApart names bootstraps and dumps after their files, where several do not say whose they are: the names of their
// listeners and routes are often the same, and they are not one caller.
func tellApart(all []*proxy) {
	var nameless []*reader
	count := map[string]int{}
	for _, p := range all {
		for _, r := range p.readers {
			if r.whole && p.scope().caller == "" {
				nameless = append(nameless, r)
				count[calledAfter(r.src.File)]++
			}
		}
	}
	if len(nameless) < 2 {
		return
	}
	for _, r := range nameless {
		name := calledAfter(r.src.File)
		if count[name] > 1 {
			name = strings.TrimSuffix(r.src.File, path.Ext(r.src.File))
		}
		r.scope = scope{name, diag.Span{File: r.src.File, Line: 1, Col: 1}}
	}
}

// calledAfter gives the name of a file without its ending, or that of its folder where every Envoy's file is called so.
func calledAfter(file string) string {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	switch folder := path.Base(path.Dir(file)); name {
	case "envoy", "bootstrap", "config", "config_dump", "config-dump", "configdump", "dump":
		if folder != "." && folder != "/" {
			return folder
		}
	}
	return name
}

// owner finds the bootstrap or dump that a file of single resources belongs to, nil for none.
func (r *reader) owner(wholes []*reader) *reader {
	only := func(fits func(*reader) bool) *reader {
		var one *reader
		for _, w := range wholes {
			if fits(w) {
				if one != nil {
					return nil
				}
				one = w
			}
		}
		return one
	}
	here := func(w *reader) bool { return path.Dir(w.src.File) == path.Dir(r.src.File) }
	names := func(w *reader) bool {
		return slices.ContainsFunc(w.paths, func(p string) bool { return p != "" && path.Base(p) == path.Base(r.src.File) })
	}
	for _, fits := range []func(*reader) bool{
		func(w *reader) bool { return names(w) && here(w) }, names,
		func(w *reader) bool { return w.open() && here(w) }, (*reader).open,
	} {
		if owner := only(fits); owner != nil {
			return owner
		}
	}
	return nil
}

// open reports whether a bootstrap or dump has parts that may stand in other files.
func (r *reader) open() bool {
	return r.dump || r.dynamic || bytes.Contains(r.src.Bytes, []byte("route_config_name")) || bytes.Contains(r.src.Bytes, []byte("routeConfigName"))
}

// read reads what the sources of a proxy call. Listeners come first, since they say which routes hold for them.
func (p *proxy) read() {
	sc := p.scope()
	p.clusters, p.tables = map[string]*reader{}, map[string]*reader{}
	for _, r := range p.readers {
		r.proxy = p
		for name := range r.clusters {
			p.clusters[name] = cmp.Or(p.clusters[name], r)
		}
		for name := range r.byName {
			p.tables[name] = cmp.Or(p.tables[name], r)
		}
		for i := range r.listeners {
			r.listeners[i].scope = cmp.Or(r.listeners[i].scope, sc)
		}
		for i := range r.tables {
			r.tables[i].scope = cmp.Or(r.tables[i].scope, sc)
		}
	}
	listeners := slices.ContainsFunc(p.readers, func(r *reader) bool { return r.seen[isListener] > 0 && !(r.whole && !r.dump) })
	for _, r := range p.readers {
		if !listeners {
			r.fed()
		}
		for i := range r.listeners {
			r.listener(&r.listeners[i])
		}
	}
	for _, r := range p.readers {
		for i := range r.tables {
			if t := &r.tables[i]; len(t.read) == 0 {
				r.table(t, nil)
			}
		}
	}
	for _, r := range p.readers {
		r.finish()
	}
}

// scope is the name of the proxy, where the sources agree on one: the bootstrap's, else the service that its inbound
// clusters are of.
func (p *proxy) scope() scope {
	var named, beside []scope
	for _, r := range p.readers {
		named = append(named, r.scope)
		for name, c := range r.clusters {
			if host := dialect.EnvoyInboundHost(name); host != "" {
				beside = append(beside, scope{host, c.node.Span()})
			}
		}
	}
	return cmp.Or(agreed(named), agreed(beside))
}

// agreed gives the first place of the one name that there is, nothing for several.
func agreed(all []scope) (sc scope) {
	for _, s := range all {
		switch {
		case s.caller == "":
		case sc.caller == "" || s.caller == sc.caller && s.at.Compare(sc.at) < 0:
			sc = s
		case s.caller != sc.caller:
			return scope{}
		}
	}
	return sc
}

// fed tells of listeners that a bootstrap gets from elsewhere, where no source has any. A dump has them.
func (r *reader) fed() {
	if len(r.lds) == 0 {
		return
	}
	r.unread("dynamic_resources", r.lds[0], "check a config dump of the running Envoy, or the files that it is fed from",
		"listeners and their routes come from elsewhere, by `lds_config`, and are not read")
}

// instead says what a source without a call is.
func (r *reader) instead() string {
	calls := r.seen[isListener] + r.seen[isManager] + r.seen[isTable] + r.seen[isHost] + r.seen[isRoute]
	switch {
	case len(r.lds) > 0:
		return "an Envoy bootstrap whose listeners come from elsewhere"
	case r.routeless:
		return "Envoy listeners whose routes are in no file that is read"
	case calls > 0:
		return "an Envoy configuration whose listeners and routes call no other service"
	case r.seen[isCluster] > 0:
		return "Envoy clusters without a route to them"
	case r.dump:
		return "an Envoy config dump without a listener or a route"
	}
	return "an Envoy configuration without a listener or a route"
}
