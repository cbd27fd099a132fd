package pipeline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/importers/merge"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Setting is one value of a what-if: the key of a call, a service or an entrypoint, and what it would be.
type Setting struct{ Subject, Key, Value string }

var keys = regexp.MustCompile(`(?:^|\s)([a-z][a-z0-9_.]*)=`)

// ParseSettings reads `gateway/order timeout=2s retries=1`. A key within a mapping has a dot: `backoff.base=25ms`.
func ParseSettings(text string) ([]Setting, error) {
	at := keys.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 || strings.TrimSpace(text[:at[0][0]]) == "" || strings.ContainsAny(text, "\r\n") {
		return nil, &load.Error{
			Message: fmt.Sprintf("`%s` sets nothing", text),
			Help:    "write a call, a service or an entrypoint, then `key=value`: --set 'gateway/order timeout=2s'",
		}
	}
	subject := strings.TrimSpace(text[:at[0][0]])
	var settings []Setting
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		settings = append(settings, Setting{subject, text[m[2]:m[3]], strings.TrimSpace(text[m[1]:end])})
	}
	return settings, nil
}

// Apply changes a plan. The values are read by the importer of plan files, so each key takes what it takes there.
func Apply(p *model.Plan, settings []Setting) error {
	for _, s := range settings {
		if err := s.apply(p); err != nil {
			return err
		}
	}
	return nil
}

func (s Setting) apply(p *model.Plan) error {
	if key, _, _ := strings.Cut(s.Key, "."); key == "calls" || key == "call" || key == "name" {
		return &load.Error{
			Message: fmt.Sprintf("--set: `%s` says who calls whom, which what-if does not change", s.Key),
			Help:    "change a copy of the plan, and compare `budgetplan plan` of both",
		}
	}
	var attempts []attempt
	id, leg, _ := strings.Cut(s.Subject, "@")
	var calls []model.CallID
	for i := range p.Calls {
		if c := &p.Calls[i]; c.ID == s.Subject || leg != "" && c.ID == id && hasWaiter(c, leg) {
			calls = append(calls, model.CallID(i))
		}
	}
	if len(calls) > 0 {
		attempts = append(attempts, attempt{s.callText(p, calls[0]), calls})
	}
	if slices.ContainsFunc(p.Services, func(v model.Service) bool { return v.Name == s.Subject }) {
		attempts = append(attempts, attempt{"services:\n  " + quoted(s.Subject) + ":\n" + s.keyText("    "), nil})
	}
	for i := range p.Entrypoints {
		if e := &p.Entrypoints[i]; e.Name == s.Subject {
			call := "    call: " + quoted(p.Services[e.Call].Name) + "\n"
			attempts = append(attempts, attempt{"entrypoints:\n  " + quoted(s.Subject) + ":\n" + call + s.keyText("    "), nil})
		}
	}
	if len(attempts) == 0 {
		return &load.Error{
			Message: fmt.Sprintf("`%s` is no call, service or entrypoint of this plan", s.Subject),
			Help:    "a call is `caller/callee`; `budgetplan plan` lists them",
		}
	}
	var first error
	for _, a := range attempts { // a service and an entrypoint may share a name; the key tells which is meant
		f, err := a.read()
		if err == nil {
			merge.Override(p, f, a.calls)
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// attempt is one reading of a setting, as a plan.
type attempt struct {
	text  string
	calls []model.CallID
}

func (a attempt) read() (*model.Fragment, error) {
	f, findings := all.Named(planName).Import(&importers.Source{File: "--set", Bytes: []byte("version: 1\n" + a.text)})
	for _, found := range findings {
		if found.Severity == diag.Error {
			return nil, &load.Error{Message: "--set: " + found.Message, Help: found.Help}
		}
	}
	return f, nil
}

func hasWaiter(c *model.Call, name string) bool {
	return slices.ContainsFunc(c.Waiters, func(w model.Waiter) bool { return w.Name == name })
}

func (s Setting) callText(p *model.Plan, id model.CallID) string {
	c := &p.Calls[id]
	text := "services:\n  " + quoted(p.Services[c.From].Name) + ":\n    calls:\n      - call: " + quoted(p.Services[c.To].Name) + "\n"
	if c.ID == s.Subject {
		return text + s.keyText("        ")
	}
	_, leg, _ := strings.Cut(s.Subject, "@")
	return text + "        via:\n          - name: " + quoted(leg) + "\n" + s.keyText("            ")
}

// keyText writes the key, one level a dot.
func (s Setting) keyText(indent string) string {
	parts := strings.Split(s.Key, ".")
	if parts[0] == "latency" {
		parts = strings.SplitN(s.Key, ".", 2) // a percentile has a dot of its own: `latency.p99.9`
	}
	var b strings.Builder
	for i, k := range parts {
		b.WriteString(indent + strings.Repeat("  ", i) + quoted(k) + ":")
		if i == len(parts)-1 {
			b.WriteString(" " + s.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// quoted writes a name so that YAML reads the same name: JSON is YAML.
func quoted(name string) string {
	text, err := json.Marshal(name)
	if err != nil {
		return `""`
	}
	return string(text)
}
