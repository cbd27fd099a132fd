// Package planfile reads the plan language: entrypoints, services and their calls, defaults, sources, aliases,
// policy and platforms. One set of tables drives the reader, the JSON Schema and the search for the nearest key.
package planfile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// duplicate is raised for names that are given twice; keys that are, yamlsrc finds.
var duplicate = yamlsrc.Duplicate

// Importer reads plan files, and policy files.
var Importer = &importers.Importer{
	Name:      "plan",
	Title:     "budgetplan plans and policies",
	Recognise: recognise,
	Import:    read,
	Codes:     []*diag.Code{yamlsrc.Syntax, unknownKey, badValue, duplicate},
}

var versionForm = &formInfo{name: "planVersion", takes: "`1`", schema: object{"const": 1}, examples: []any{1}}

func readVersion(r *reader, n *yamlsrc.Node) {
	switch {
	case n.Kind() != yamlsrc.Scalar:
		r.wrongShape(n, versionForm.takes)
	default:
		if v, p := number(n); p == nil && v == 1 {
			return
		}
		r.bad(n, problem{fmt.Sprintf("`%s` is no version of the plan language that is known here", n.Text()), "write `1`, without quotes"})
	}
}

var (
	entrypointsForm = &formInfo{
		name: "entrypoints", takes: "a mapping from names to entrypoints", parts: entrypointTable.forms(),
		schema: named(object{"$ref": "#/$defs/entrypoint"}), examples: []any{object{"checkout": object{"slo": "1s", "call": "gateway"}}},
	}
	servicesForm = &formInfo{
		name: "services", takes: "a mapping from names to services", parts: serviceTable.forms(),
		schema: named(anyOf(object{"$ref": "#/$defs/service"}, object{"type": "null"})), examples: []any{object{"gateway": object{"calls": []any{"auth"}}, "auth": nil}},
	}
	defaultsForm = &formInfo{
		name: "defaults", takes: "a mapping", parts: defaultsTable.forms(),
		schema: defaultsTable.schema(), examples: []any{object{"margin": "5%"}},
	}
)

// planTable has the keys of a plan file.
var planTable = table[model.Fragment]{
	what: "a plan",
	keys: []*key[model.Fragment]{
		custom("version", "The version of the plan language.", versionForm, func(r *reader, n *yamlsrc.Node, _ *model.Fragment) { readVersion(r, n) }),
		custom("entrypoints", "Where requests come in, each with its target and its client's timeout.", entrypointsForm, readEntrypoints),
		custom("defaults", "Keys of services and calls that hold where nothing more specific is said.", defaultsForm, func(r *reader, n *yamlsrc.Node, f *model.Fragment) { defaultsTable.read(r, n, &f.Defaults) }),
		custom("services", "The services, with what they call.", servicesForm, readServices),
		custom("sources", "Configs and metrics to read, with paths relative to the plan.", sourcesForm, readSources),
		custom("aliases", "Other names of a service, as configs and metrics have them.", aliasesForm, readAliases),
		custom("policy", "What the team decided about the checks: here, or the name of a file that has it.", policyForm, readPolicy),
		custom("platforms", "The versions of platforms whose defaults hold. Unset is the newest known.", platformsForm, readPlatforms),
	},
}

// policyFileTable has the keys of a file that is a policy and nothing else: they stand at the top.
var policyFileTable = table[model.Policy]{
	what: "a policy",
	keys: append([]*key[model.Policy]{
		custom("version", "The version of the plan language.", versionForm, func(r *reader, n *yamlsrc.Node, _ *model.Policy) { readVersion(r, n) }),
	}, policyTable.keys...),
}

func read(src *importers.Source) (*model.Fragment, []diag.Finding) {
	file, findings := src.YAML()
	r := newReader(src, findings)
	for _, doc := range file.Docs {
		r.register(doc)
		if isPolicy(doc) {
			policyFileTable.read(r, doc, &r.frag.Policy)
			continue
		}
		r.document(doc)
	}
	r.things.End()
	if r.things.Full() {
		return &model.Fragment{File: src.File, As: "plan", Structure: true}, append(slices.Clip(findings), r.things.TooMuch(r.tooMuch))
	}
	r.frag.LineIgnores = importers.LineIgnores(file)
	return r.frag, r.findings
}

// ReadPolicy reads a file that a plan names under `policy:`. The keys of the policy stand at its top, or under
// `policy:`.
func ReadPolicy(src *importers.Source) (model.Policy, []diag.Finding) {
	file, findings := src.YAML()
	r := newReader(src, findings)
	for _, doc := range file.Docs {
		if inner := doc.Get("policy"); inner.Kind() == yamlsrc.Map {
			r.document(doc)
			continue
		}
		r.key = "policy"
		policyFileTable.read(r, doc, &r.frag.Policy)
	}
	r.things.End()
	if r.things.Full() {
		return model.Policy{}, append(slices.Clip(findings), r.things.TooMuch(r.tooMuch))
	}
	return r.frag.Policy, r.findings
}

func newReader(src *importers.Source, findings []diag.Finding) *reader {
	return &reader{
		things:      importers.ThingsOf(src),
		frag:        &model.Fragment{File: src.File, As: "plan", Structure: true},
		findings:    slices.Clip(findings),
		homes:       homes(),
		entrypoints: map[string]diag.Span{},
		calls:       map[string]diag.Span{},
	}
}

// homes says for every key whose key it is.
var homes = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	add := func(what string, names []string) {
		for _, n := range names {
			m[n] = append(m[n], what)
		}
	}
	add(planTable.what, planTable.names())
	add(entrypointTable.what, entrypointTable.names())
	add(serviceTable.what, serviceTable.names())
	add(callTable.what, callTable.names())
	add("a group of calls", groupNames())
	add(policyTable.what, policyTable.names())
	m["honors"] = append(m["honors"], viaTable.what)
	add(backoffTable.what, backoffTable.names())
	add(latencyTable.what, latencyTable.names())
	add(localWorkTable.what, localWorkTable.names())
	add(concurrencyTable.what, concurrencyTable.names())
	return m
})

// register makes the document's services known in file order, before calls mention them.
func (r *reader) register(doc *yamlsrc.Node) {
	services := doc.Get("services").Pairs()
	r.frag.Expect(r.things.Expect(len(services)), r.things.Expect(countCalls(services)))
	for _, p := range services {
		if !r.room(p.Key) {
			return
		}
		if n := p.Key.Text(); p.Key.Kind() == yamlsrc.Scalar && isName(n) && !isUser(n) {
			id := r.frag.Service(n, p.Key.Span())
			r.frag.Services[id].Declared = true
		}
	}
}

// countCalls gives the most calls that the services can have, so that there is room for all.
func countCalls(services []yamlsrc.Pair) (calls int) {
	for _, s := range services {
		calls += countElements(s.Value.Get("calls"))
	}
	return calls
}

func countElements(flow *yamlsrc.Node) (calls int) {
	for _, item := range flow.Items() {
		if item.Kind() == yamlsrc.Scalar || item.Get("call") != nil {
			calls++
			continue
		}
		for _, group := range item.Pairs() {
			calls += countElements(group.Value)
		}
	}
	return calls
}

func (r *reader) document(doc *yamlsrc.Node) {
	switch {
	case doc.Broken():
	case doc.Kind() != yamlsrc.Map:
		r.report(badValue, doc.Span(), problem{fmt.Sprintf("a plan is a mapping, not %s", doc.Kind()), "write `services:` with the services and what they call"})
	default:
		planTable.read(r, doc, r.frag)
	}
}

// duplicate reports a name that is defined again.
func (r *reader) duplicate(at diag.Span, fact string, first diag.Span) {
	f := r.report(duplicate, at, problem{fact, "join the two, or rename one"})
	f.Notes = []diag.Note{{Text: "first given here", At: diag.At(first)}}
}

func readEntrypoints(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	r.entries(n, entrypointsForm.takes, func(name string, key, value *yamlsrc.Node) {
		if value.Broken() || !r.room(key) {
			return
		}
		e := model.Entrypoint{Name: name, At: key.Span(), Call: -1}
		r.within(subject{name: name}, func() {
			if first, known := r.entrypoints[name]; known {
				r.duplicate(key.Span(), fmt.Sprintf("the entrypoint `%s` is given twice", name), first)
				return
			}
			r.entrypoints[name] = key.Span()
			r.key = name
			entrypointTable.read(r, value, &e)
			f.Entrypoints = append(f.Entrypoints, e)
		})
	})
}

func readEntry(r *reader, n *yamlsrc.Node, e *model.Entrypoint) {
	if to, ok := name.read(r, n); ok {
		e.Call, e.CallAt = r.mention(to, n), n.Span()
	}
}

func readServices(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	r.entries(n, servicesForm.takes, func(name string, key, value *yamlsrc.Node) {
		if value.Broken() {
			return
		}
		r.within(subject{name: name}, func() {
			at := key.Span()
			id := f.Service(name, at)
			r.id = id
			if more := int(id) + 1 - len(r.services); more > 0 {
				r.services = append(r.services, make([]diag.Span, more)...)
			}
			if first := r.services[id]; !first.Nowhere() {
				r.duplicate(at, fmt.Sprintf("the service `%s` is given twice", name), first)
				return
			}
			r.services[id] = at
			r.service = f.Services[id]
			if r.key = name; value.Kind() != yamlsrc.Null {
				serviceTable.read(r, value, &r.service)
			}
			f.Services[id] = r.service
		})
	})
}
