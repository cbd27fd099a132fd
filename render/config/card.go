package config

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// CardSchema is the JSON Schema of a deadline card.
//
//go:embed card.schema.json
var CardSchema []byte

// complete and solverNode are the solver's words, used where a plan's ids are turned into the graph's.
const complete = solver.Complete

func solverNode(id model.ServiceID) solver.NodeID { return solver.NodeID(id) }

// cardDialect stands for a middleware that reads a card: it can say everything that a card has.
var cardDialect = &dialect.Dialect{Name: "card", Title: "a deadline card", Granule: model.Millisecond}

// Card writes what a middleware needs to keep deadlines: for each service the header that carries one, the budget
// without one, the margin, the least time worth starting with, and what each outgoing call may take.
var Card = &Target{
	Name: "card", Title: "deadline card, for a middleware to load", Separator: "", Formats: []string{"json", "yaml"},
	Generate: func(in *render.Input, opt Options) ([]File, []diag.Finding) {
		o := newOutput(in, opt, cardDialect)
		c := card{Version: 1}
		values := 0
		var silent []model.ServiceID
		for i := range in.Plan.Services {
			if s := &in.Plan.Services[i]; o.wants(s.Name) {
				entry, n := o.card(model.ServiceID(i), &silent)
				c.Services = append(c.Services, entry)
				values += n
			}
		}
		if len(c.Services) == 0 {
			return nil, nil
		}
		o.noHeader(silent)
		b := banner{
			what:  "Deadline card: what each service does with the time that it is given. Times are ms.",
			where: "Goes to the deadline middleware of each service.",
			undo:  "Undo: take the card away; the middleware then keeps no deadline.",
		}
		c.Comment = b.lines(in)
		o.cardFile(&c, values)
		return o.done()
	},
}

type card struct {
	Comment  []string      `json:"comment"`
	Version  int           `json:"version"`
	Services []cardService `json:"services"`
}

type cardService struct {
	Name      string      `json:"name"`
	Header    *string     `json:"deadline_header"`
	Fallback  *cardTime   `json:"fallback_budget_ms"`
	Margin    cardMargin  `json:"margin"`
	Admission *cardTime   `json:"admission_ms"`
	Calls     []*cardCall `json:"calls"`
}

type cardMargin struct {
	Share cardTime `json:"share_percent"`
	Fixed cardTime `json:"fixed_ms"`
}

type cardCall struct {
	ID       string     `json:"id"`
	To       string     `json:"to"`
	Cap      *cardTime  `json:"cap_ms"`
	PerTry   *cardTime  `json:"per_try_ms"`
	Attempts int64      `json:"attempts"`
	Backoff  []cardTime `json:"backoff_ms"`
	MinLeft  *cardTime  `json:"min_remaining_ms"`
	Budget   *cardTime  `json:"retry_budget_percent"`
	Optional bool       `json:"optional"`
}

// cardTime is a number as it is written, exact.
type cardTime = json.Number

func cardMS(d model.Duration) cardTime {
	return cardTime(strconv.FormatFloat(float64(d)/float64(model.Millisecond), 'f', -1, 64))
}

// finiteMS gives null for a time that is none.
func finiteMS(d model.Duration) *cardTime {
	if !d.Finite() || d <= 0 {
		return nil
	}
	ms := cardMS(d)
	return &ms
}

func (o *output) card(id model.ServiceID, silent *[]model.ServiceID) (cardService, int) {
	s, n, t := &o.Plan.Services[id], &o.Graph.Nodes[id], &o.Solution.Nodes[id]
	out := cardService{
		Name: s.Name, Header: o.cardHeader(id, silent),
		Margin: cardMargin{Share: cardTime(strconv.FormatFloat(n.Margin.Share.Float()*100, 'f', -1, 64)), Fixed: cardMS(n.Margin.Fixed)},
		Calls:  []*cardCall{},
	}
	fallback := t.Received
	if s.DefaultDeadline().Set() {
		fallback = min(fallback, s.DefaultDeadline().V)
	}
	if fallback.Finite() && fallback > 0 {
		out.Fallback = finiteMS(max(model.Millisecond, fallback-fallback%model.Millisecond))
	}
	switch {
	case s.MinRemaining().Set():
		out.Admission = finiteMS(s.MinRemaining().V)
	case t.Need.Known != solver.Nothing && t.Need.V.Finite():
		out.Admission = finiteMS(t.Need.V.Add(model.Millisecond - 1).Div(int64(model.Millisecond)).Mul(int64(model.Millisecond)))
	}
	values := 0
	for _, l := range o.callsOf(id, func(*model.Service) bool { return true }) {
		if l.Timeout.Finite() {
			values++
		}
		out.Calls = append(out.Calls, o.cardCall(&l))
	}
	return out, values
}

func (o *output) cardCall(l *limits) *cardCall {
	c := &cardCall{
		ID: l.id, To: l.callee.Name, Cap: finiteMS(l.Timeout), PerTry: finiteMS(l.PerTry), Attempts: l.Attempts,
		Backoff: []cardTime{}, Optional: l.call.Optional.Or(false),
	}
	if l.waiter.Attempts.V == model.Unlimited {
		c.Attempts = 1
		o.say(AttemptsClamped, l, l.waiter.Attempts.From, "plan for a number of attempts", "a card gives `%s` one attempt, not unlimited", l.id)
	}
	c.MinLeft = finiteMS(o.Graph.Legs[l.leg].MinLeft)
	if b := l.waiter.RetryBudget(); b.Set() {
		percent := cardTime(strconv.FormatFloat(b.V.Float()*100, 'f', -1, 64))
		c.Budget = &percent
	}
	if c.Attempts > 1 {
		for _, w := range l.waits {
			c.Backoff = append(c.Backoff, cardMS(w))
		}
	}
	if c.Cap == nil && !l.Stream {
		o.say(NothingToSay, l, nil, "give the entrypoint that reaches it an slo, or the call a timeout", "`%s` has neither a budget nor a timeout, and no cap", l.id)
	}
	o.unsaid(l, "min_remaining", "retry_budget")
	return c
}

// cardHeader is the header that calls to a service carry their deadline in: written, or gRPC's; a service without one
// joins the silent.
func (o *output) cardHeader(id model.ServiceID, silent *[]model.ServiceID) *string {
	s := &o.Plan.Services[id]
	name := ""
	if s.Kind.V == "grpc" {
		name = "grpc-timeout"
	}
	legs := o.Graph.In(solverNode(id))
	for _, leg := range legs {
		if _, w := o.Graph.CallOf(leg); w.Header().Set() && w.Header().V != "" {
			name = w.Header().V
			break
		}
	}
	if name != "" {
		return &name
	}
	if len(legs) > 0 && http(s) {
		*silent = append(*silent, id)
	}
	return nil
}

// noHeader tells once of all services whose header nobody wrote.
func (o *output) noHeader(silent []model.ServiceID) {
	if len(silent) == 0 {
		return
	}
	var names []string
	var touched float64
	for _, id := range silent {
		names = append(names, o.Plan.Services[id].Name)
		touched = max(touched, o.Solution.Nodes[id].Touched)
	}
	text := "`" + strings.Join(names[:min(len(names), suggested)], "`, `") + "`"
	if more := len(names) - suggested; more > 0 {
		text += fmt.Sprintf(" and %s more", render.Counted(more, "service"))
	}
	f := NoHeader.New(names[0], o.Plan.Services[silent[0]].At, "no call says which header carries its deadline to %s", text)
	f.Help = "write `header: x-deadline-ms`, or the one that your services agreed on, under `defaults`"
	f.Detail, f.Touched = o.dialect.Name, touched
	o.findings = append(o.findings, f)
}

func (o *output) cardFile(c *card, values int) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(c) != nil { // texts and numbers of ours alone
		return
	}
	name := "deadlines.card.json"
	text := b.String()
	if o.Format == "yaml" {
		name, text = "deadlines.card.yaml", cardYAML(c)
	}
	o.files = append(o.files, File{Name: name, Service: o.Service, Text: []byte(text), Values: values})
}

// cardYAML writes the same card as YAML, with real comments.
func cardYAML(c *card) string {
	var b strings.Builder
	for _, line := range c.Comment {
		b.WriteString("# " + oneLine(line) + "\n")
	}
	fmt.Fprintf(&b, "version: %d\nservices:\n", c.Version)
	for _, s := range c.Services {
		header := "null"
		if s.Header != nil {
			header = yamlText(*s.Header)
		}
		fmt.Fprintf(&b, "  - name: %s\n    deadline_header: %s\n    fallback_budget_ms: %s\n    margin: {share_percent: %s, fixed_ms: %s}\n    admission_ms: %s\n",
			yamlText(s.Name), header, orNull(s.Fallback), s.Margin.Share, s.Margin.Fixed, orNull(s.Admission))
		if len(s.Calls) == 0 {
			b.WriteString("    calls: []\n")
			continue
		}
		b.WriteString("    calls:\n")
		for _, l := range s.Calls {
			waits := make([]string, len(l.Backoff))
			for i, w := range l.Backoff {
				waits[i] = w.String()
			}
			fmt.Fprintf(&b, "      - {id: %s, to: %s, cap_ms: %s, per_try_ms: %s, attempts: %d, backoff_ms: [%s], min_remaining_ms: %s, retry_budget_percent: %s, optional: %t}\n",
				yamlText(l.ID), yamlText(l.To), orNull(l.Cap), orNull(l.PerTry), l.Attempts, strings.Join(waits, ", "),
				orNull(l.MinLeft), orNull(l.Budget), l.Optional)
		}
	}
	return b.String()
}

func orNull(n *cardTime) string {
	if n == nil {
		return "null"
	}
	return n.String()
}
