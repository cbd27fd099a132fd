package planfile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

const codePattern = `^(BP[0-9]{3}|[a-z][a-z0-9-]*)$`

var codeText = regexp.MustCompile(codePattern)

// codes visits a mapping whose keys are codes or names of findings.
func (r *reader) codes(n *yamlsrc.Node, takes string, visit func(code string, key, value *yamlsrc.Node)) {
	r.entries(n, takes, func(code string, key, value *yamlsrc.Node) {
		if !codeText.MatchString(code) {
			r.report(badValue, key.Span(), problem{fmt.Sprintf("`%s` is no code of a finding", code), "write a code such as `BP202`, or its name such as `nested-retries`"})
			return
		}
		if r.room(key) {
			visit(code, key, value)
		}
	})
}

func byCode(value any) object {
	return object{
		"type": "object", "patternProperties": object{"^x-": true}, "additionalProperties": value,
		"propertyNames": object{"pattern": codePattern},
	}
}

const ignoreDoc = "Findings that are not counted here: by code, the reason, or a mapping with `reason` and `until`."

var (
	reason      = text("reason", "a reason", `\S`, "say why the finding is acceptable", "one retry layer is the mesh's")
	ignoreTable = table[model.Ignore]{
		what: "an `ignore`",
		keys: []*key[model.Ignore]{
			plain("reason", "Why the finding is acceptable.", reason, func(i *model.Ignore) *string { return &i.Reason }),
			custom("until", "The last day on which it is ignored.", date.formInfo, func(r *reader, n *yamlsrc.Node, i *model.Ignore) {
				if t, ok := date.read(r, n); ok {
					i.Until = t
				}
			}),
		},
	}
	ignoreForm = &formInfo{
		name: "ignore", takes: "a mapping from codes to reasons", parts: ignoreTable.forms(),
		schema:   byCode(anyOf(reason.ref(), ignoreTable.schema(), object{"type": "null"})),
		examples: []any{object{"BP202": "one retry layer is the mesh's"}, object{"BP202": object{"reason": "one retry layer is the mesh's", "until": "2027-03-01"}}},
	}
)

// readIgnores reads what is ignored. One without a reason is kept: whoever applies it says so.
func readIgnores(r *reader, n *yamlsrc.Node, to *[]model.Ignore) {
	r.codes(n, ignoreForm.takes, func(code string, key, value *yamlsrc.Node) {
		i := model.Ignore{Code: code, At: key.Span()}
		switch value.Kind() {
		case yamlsrc.Scalar:
			v, ok := reason.read(r, value)
			if !ok {
				return
			}
			i.Reason = v
		case yamlsrc.Map:
			ignoreTable.read(r, value, &i)
		case yamlsrc.Seq:
			r.wrongShape(value, "a reason, or a mapping with `reason` and `until`")
			return
		}
		*to = append(*to, i)
	})
}

var severity = enum("severity", []string{"off", "info", "warning", "error"}, func(w string) diag.Severity {
	s, _ := diag.ParseSeverity(w)
	return s
})

var rulesForm = &formInfo{
	name: "rules", takes: "a mapping from codes to `off`, `info`, `warning` or `error`", parts: []*formInfo{severity.formInfo},
	schema: byCode(severity.ref()), examples: []any{object{"BP207": "off", "timeout-below-latency": "error"}},
}

var policyTable = table[model.Policy]{
	what: "a policy",
	keys: []*key[model.Policy]{
		field("preset", "Where the severities start: `default`, or `strict`, in which infos are warnings.", enum("preset", []string{"default", "strict"}, itself), func(p *model.Policy) *model.Val[string] { return &p.Preset }),
		custom("rules", "The severity of each rule, by code or name.", rulesForm, func(r *reader, n *yamlsrc.Node, p *model.Policy) {
			r.codes(n, rulesForm.takes, func(code string, _, value *yamlsrc.Node) {
				if value.Broken() {
					return
				}
				if s, ok := severity.read(r, value); ok {
					if p.Rules == nil {
						p.Rules = map[string]model.Val[diag.Severity]{}
					}
					p.Rules[code] = model.At(s, value.Span())
				}
			})
		}),
		field("max_amplification", "How many attempts a request may bring to a service that does not say so itself.", thresholds, func(p *model.Policy) *model.Val[model.Thresholds] { return &p.MaxAmplify }),
		field("samples", "With fewer samples a latency is thin data.", count[int64]("leastSamples", 0, "", 1000), func(p *model.Policy) *model.Val[int64] { return &p.Samples }),
		field("allocation", "How a budget is split: in proportion to need, with equal slack, or equally. Unset is eqf.", enum("allocation", []string{"eqf", "eqs", "equal"}, itself), func(p *model.Policy) *model.Val[string] { return &p.Allocation }),
	},
}

var policyForm = &formInfo{
	name: "policy", takes: "a mapping, or the name of a file that has it", parts: append(policyTable.forms(), path.formInfo),
	schema: anyOf(path.ref(), object{"$ref": "#/$defs/policyKeys"}), examples: []any{"../policy.yaml", object{"preset": "strict"}},
}

func readPolicy(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	switch n.Kind() {
	case yamlsrc.Scalar:
		if v, ok := path.read(r, n); ok {
			f.PolicyFile = model.At(v, n.Span())
		}
	case yamlsrc.Map:
		policyTable.read(r, n, &f.Policy)
	default:
		r.wrongShape(n, policyForm.takes)
	}
}

var platformsForm = &formInfo{
	name: "platforms", takes: "a mapping from platforms to versions", parts: []*formInfo{version.formInfo},
	schema: named(version.ref()), examples: []any{object{"istio": "1.24", "envoy": "1.33"}},
}

func readPlatforms(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	r.entries(n, platformsForm.takes, func(platform string, key, value *yamlsrc.Node) {
		if value.Broken() || !r.room(key) {
			return
		}
		if v, ok := version.read(r, value); ok {
			if f.Platforms == nil {
				f.Platforms = map[string]model.Val[string]{}
			}
			f.Platforms[platform] = model.At(v, value.Span())
		}
	})
}

var aliasesForm = &formInfo{
	name: "aliases", takes: "a mapping from services to lists of other names", parts: []*formInfo{name.formInfo},
	schema: named(anyOf(name.ref(), arrayOf(name.formInfo, 1))), examples: []any{object{"product": []any{"outbound|80||product.shop.svc.cluster.local", "product-v2"}}},
}

func readAliases(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	r.entries(n, aliasesForm.takes, func(service string, key, value *yamlsrc.Node) {
		if !r.room(key) {
			return
		}
		a := model.Alias{Service: service, At: key.Span()}
		switch {
		case value.Broken():
		case value.Kind() == yamlsrc.Scalar:
			if v, ok := name.read(r, value); ok {
				a.Names = append(a.Names, model.At(v, value.Span()))
			}
		case len(value.Items()) > 0:
			for _, item := range value.Items() {
				if item.Broken() {
					continue
				}
				if v, ok := name.read(r, item); ok {
					a.Names = append(a.Names, model.At(v, item.Span()))
				}
			}
		case value.Kind() == yamlsrc.Seq:
			r.bad(value, problem{fmt.Sprintf("`%s` has no other names", service), "write one, or leave the key out"})
		default:
			r.wrongShape(value, "a name or a list of names")
		}
		f.Aliases = append(f.Aliases, a)
	})
}

// sourceTable has the keys beside the one that names the dialect.
var sourceTable = table[model.SourceRef]{
	what: "a source",
	keys: []*key[model.SourceRef]{
		field("service", "Whose calls these are, where the file does not say.", name, func(s *model.SourceRef) *model.Val[string] { return &s.Service }),
		field("metric", "The one histogram or summary to read.", name, func(s *model.SourceRef) *model.Val[string] { return &s.Metric }),
		field("caller", "The label that names the caller, or the caller itself where no series has such a label.", name, func(s *model.SourceRef) *model.Val[string] { return &s.Caller }),
		field("callee", "The label that names the callee, or the callee itself where no series has such a label.", name, func(s *model.SourceRef) *model.Val[string] { return &s.Callee }),
		field("unit", "The unit of the metric.", enum("unit", []string{"ns", "us", "ms", "s"}, itself), func(s *model.SourceRef) *model.Val[string] { return &s.Unit }),
	},
}

const dialectPattern = `^[a-z][a-z0-9_-]*$`

var dialectText = regexp.MustCompile(dialectPattern)

var sourcesForm = &formInfo{
	name: "sources", takes: "a list of mappings, each with a format and a path", parts: append(sourceTable.forms(), path.formInfo),
	schema:   object{"type": "array", "items": sourceSchema()},
	examples: []any{[]any{object{"envoy": "deploy/envoy/*.yaml", "service": "gateway"}, object{"prometheus": "metrics/checkout.prom"}}},
}

// sourceSchema has one key more than the table: any other word of small letters, once, is the format.
func sourceSchema() object {
	s := sourceTable.schema()
	names := sourceTable.names()
	s["patternProperties"] = object{"^x-": true}
	s["additionalProperties"] = anyOf(path.ref(), arrayOf(path.formInfo, 1))
	s["propertyNames"] = object{"pattern": dialectPattern}
	s["minProperties"] = 1
	s["not"] = object{"propertyNames": anyOf(object{"enum": names}, object{"pattern": "^x-"})}
	return s
}

func readSources(r *reader, n *yamlsrc.Node, f *model.Fragment) {
	if n.Kind() != yamlsrc.Seq {
		r.wrongShape(n, sourcesForm.takes)
		return
	}
	for _, item := range n.Items() {
		switch {
		case !r.room(item):
			return
		case item.Broken():
		case item.Kind() != yamlsrc.Map:
			r.wrongShape(item, "mappings as its elements")
		default:
			f.Sources = append(f.Sources, r.source(item)...)
		}
	}
}

// source reads one element; several paths are as many sources.
func (r *reader) source(n *yamlsrc.Node) []model.SourceRef {
	var ref model.SourceRef
	var dialect *yamlsrc.Node
	var files []model.Val[string]
	outer := r.key
	for _, p := range n.Pairs() {
		word := p.Key.Text()
		switch k := sourceTable.find(word); {
		case isUser(word) || p.Key.Broken() || p.Value.Broken():
			continue
		case k != nil:
			r.key = word
			k.read(r, p.Value, &ref)
		case !dialectText.MatchString(word):
			r.unknown(p.Key, sourceTable.what, sourceTable.names())
		case dialect != nil:
			r.secondDialect(dialect, p.Key)
		default:
			dialect, r.key = p.Key, word
			files = r.paths(p.Value)
		}
	}
	if r.key = outer; dialect == nil {
		r.report(badValue, n.Span(), problem{"a source names no format and path", "write what it is and where, such as `envoy: deploy/envoy.yaml`"})
		return nil
	}
	refs := make([]model.SourceRef, len(files))
	for i, file := range files {
		refs[i] = ref
		refs[i].Dialect, refs[i].Files = dialect.Text(), file
	}
	return refs
}

func (r *reader) secondDialect(first, second *yamlsrc.Node) {
	for _, k := range []*yamlsrc.Node{second, first} {
		if near := nearest(k.Text(), sourceTable.names()); near != "" {
			r.unknown(k, sourceTable.what, sourceTable.names())
			return
		}
	}
	r.report(badValue, second.Span(), problem{fmt.Sprintf("a source has two formats, `%s` and `%s`", first.Text(), second.Text()), "write an element of `sources` for each"})
}

func (r *reader) paths(n *yamlsrc.Node) []model.Val[string] {
	nodes := []*yamlsrc.Node{n}
	if n.Kind() == yamlsrc.Seq {
		if nodes = n.Items(); len(nodes) == 0 {
			r.bad(n, problem{"the list has no path", "write one, or leave the source out"})
		}
	}
	var out []model.Val[string]
	for _, node := range slices.Clip(nodes) {
		if node.Broken() || !r.room(node) {
			continue
		}
		if v, ok := path.read(r, node); ok {
			out = append(out, model.At(v, node.Span()))
		}
	}
	return out
}
