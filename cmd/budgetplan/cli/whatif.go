package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
)

var whatIfFormats = []string{"table", "json", "svg"}

func newWhatIf(s *streams) *cobra.Command {
	c := &common{streams: s}
	var sets []string
	var format, out string
	var fates fateFlags
	cmd := &cobra.Command{
		Use:   "what-if [--set 'SUBJECT KEY=VALUE']... [--slow SERVICE=TIME|--fail SERVICE|--hang SERVICE] [FILE|DIRECTORY|-]...",
		Short: "Show what a change would make of the numbers, or a slow service of a request",
		Long: `what-if solves the plan twice, as it is and with the change, and shows what differs: what the entrypoints need, their slack
and how long they wait, the calls whose numbers change, the findings that go and those that come. No file is changed.

SUBJECT is a call, a service or an entrypoint; KEY any key that it has in a plan, with a dot within a mapping.

--slow, --fail and --hang play one request, with the changes made, while one service is slow, fails or hangs: what the
user sees and when, the attempts that really start at each service, and the work that goes on when the callers are gone,
as configured and with every deadline carried and obeyed. Every other service takes its local work alone, and back-off
is as long as it can be.`,
		Example: `  budgetplan what-if --set 'gateway/order timeout=2s'
  budgetplan what-if --set 'order/inventory retries=0 backoff.base=50ms' --set 'checkout slo=800ms' checkout.yaml
  budgetplan what-if --hang warehouse
  budgetplan what-if --slow warehouse=40s --format svg -o slow.svg`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := among("format", format, whatIfFormats); err != nil {
				return err
			}
			f, err := fates.read()
			if err != nil {
				return err
			}
			if len(sets) == 0 && f == nil {
				return usage("`budgetplan what-if --set 'gateway/order timeout=2s'`, or `--hang SERVICE`", "what-if needs a change")
			}
			if f == nil && format == "svg" {
				return usage("add `--slow`, `--fail` or `--hang`", "--format svg draws a request, and no service is slow, fails or hangs")
			}
			d, err := c.whatIf(sets, args, f)
			if err != nil {
				return err
			}
			return c.place(out, func(w io.Writer, _ bool, _ int) error { return d.write(w, format, len(sets) > 0) })
		},
	}
	c.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&sets, "set", nil, "a change, such as 'gateway/order timeout=2s'; repeatable")
	fates.register(cmd, c)
	f.StringVar(&format, "format", "table", "output format: "+oneOf(whatIfFormats))
	f.StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	words(cmd, "format", whatIfFormats)
	_ = cmd.RegisterFlagCompletionFunc("set", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return c.planSubjects(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return cmd
}

func (c *common) whatIf(sets, args []string, f *fate) (*difference, error) {
	var settings []pipeline.Setting
	for _, text := range sets {
		s, err := pipeline.ParseSettings(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s...)
	}
	before, err := c.must(args, pipeline.Options{})
	if err != nil {
		return nil, err
	}
	if len(before.Plans) > 1 {
		return nil, usage("name the file of one of them", "what-if changes one plan, and there are %d", len(before.Plans))
	}
	after, err := c.must(args, pipeline.Options{Edit: func(p *model.Plan) error { return pipeline.Apply(p, settings) }})
	if err != nil {
		return nil, err
	}
	d := compare(before.Plans[0], after.Plans[0])
	if f != nil {
		err = d.play(after.Plans[0], f)
	}
	return d, err
}

// difference is what a change does.
type difference struct {
	Entrypoints []row    `json:"entrypoints"`
	Calls       []row    `json:"calls"`
	Gone        []judged `json:"gone"`
	New         []judged `json:"new"`
	// Run and Runs are there where a service is slow, fails or hangs: Run is the first of Runs.
	Run  json.RawMessage   `json:"run,omitempty"`
	Runs []json.RawMessage `json:"runs,omitempty"`

	played []*render.Run
}

// mostPlayed is how many entrypoints are shown to people; JSON has all.
const mostPlayed = 3

// write writes a format; changed says whether there was a change to compare.
func (d *difference) write(w io.Writer, format string, changed bool) error {
	shown := d.played[:min(mostPlayed, len(d.played))]
	switch format {
	case "json":
		return d.json(w)
	case "svg":
		return diagram.RunSVG(w, shown)
	}
	if changed {
		if err := d.table(w); err != nil {
			return err
		}
	}
	for i, r := range shown {
		if changed || i > 0 {
			fmt.Fprintln(w)
		}
		if err := report.RunTable(w, r); err != nil {
			return err
		}
		fmt.Fprintln(w)
		if err := diagram.RunText(w, r); err != nil {
			return err
		}
	}
	if more := len(d.played) - len(shown); more > 0 {
		fmt.Fprintf(w, "\n%s can reach it, all of them in `--format json`\n", count(more, "more entrypoint"))
	}
	return nil
}

// row is one number before and after.
type row struct {
	Subject string `json:"subject"`
	Number  string `json:"number"`
	Before  string `json:"before"`
	After   string `json:"after"`
}

// judged is a finding in short.
type judged struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Message  string `json:"message"`
}

// compare sets two solutions of one graph side by side: a change of values moves no call.
func compare(a, b *render.Input) *difference {
	d := &difference{Entrypoints: []row{}, Calls: []row{}}
	for i := range a.Graph.Roots {
		if e := a.Graph.Roots[i].Entrypoint; e >= 0 {
			d.entrypoint(a.Plan.Entrypoints[e].Name, a, b, i)
		}
	}
	for l := range min(len(a.Graph.Legs), len(b.Graph.Legs)) {
		d.leg(solver.LegID(l), a, b)
	}
	d.Gone, d.New = missing(a.Findings, b.Findings), missing(b.Findings, a.Findings)
	return d
}

func (d *difference) entrypoint(name string, a, b *render.Input, i int) {
	x, y := &a.Solution.Roots[i], &b.Solution.Roots[i]
	d.Entrypoints = append(d.Entrypoints,
		row{name, "SLO", slo(a.Graph.Roots[i].SLO), slo(b.Graph.Roots[i].SLO)},
		row{name, "need", need(x.Need), need(y.Need)},
		row{name, "slack", slack(x.Slack, x.SlackKnown), slack(y.Slack, y.SlackKnown)},
		row{name, "wait", bound(x.Wait), bound(y.Wait)},
	)
}

func (d *difference) leg(l solver.LegID, a, b *render.Input) {
	name := a.Graph.LegName(l)
	p, q := &a.Graph.Legs[l], &b.Graph.Legs[l]
	x, y := &a.Solution.Legs[l], &b.Solution.Legs[l]
	for _, r := range []row{
		{name, "timeout", bound(p.Timeout), bound(q.Timeout)},
		{name, "attempts", solver.CountText(p.Attempts), solver.CountText(q.Attempts)},
		{name, "need", need(x.Need), need(y.Need)},
		{name, "budget", bound(x.Budget), bound(y.Budget)},
		{name, "slack", slack(x.Slack, x.SlackKnown), slack(y.Slack, y.SlackKnown)},
		{name, "wait", bound(x.Wait), bound(y.Wait)},
		{name, "busy", bound(x.Busy), bound(y.Busy)},
		{name, "attempts per request", solver.CountText(x.Amplification.Configured), solver.CountText(y.Amplification.Configured)},
	} {
		if r.Before != r.After {
			d.Calls = append(d.Calls, r)
		}
	}
}

// missing gives the findings of a that b does not have. A finding whose numbers alone differ is the same one.
func missing(a, b []diag.Finding) []judged {
	type key struct {
		code            *diag.Code
		severity        diag.Severity
		subject, detail string
	}
	have := map[key]int{}
	for i := range b {
		if b[i].Ignored == nil {
			have[key{b[i].Code, b[i].Severity, b[i].Subject, b[i].Detail}]++
		}
	}
	found := []judged{}
	for i := range a {
		f := &a[i]
		k := key{f.Code, f.Severity, f.Subject, f.Detail}
		switch {
		case f.Ignored != nil:
		case have[k] > 0:
			have[k]--
		default:
			found = append(found, judged{f.Code.ID, f.Severity.String(), f.Subject, f.Message})
		}
	}
	return found
}

func (d *difference) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

func (d *difference) table(out io.Writer) error {
	w := report.NewColumns(out)
	for _, part := range []struct {
		title string
		rows  []row
	}{{"entrypoint", d.Entrypoints}, {"call", d.Calls}} {
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\tnumber\tbefore\tafter\n", part.title)
		last := ""
		for _, r := range part.rows {
			subject := r.Subject
			if subject == last {
				subject = ""
			}
			last = r.Subject
			after := r.After
			if after == r.Before {
				after = "the same"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", subject, r.Number, r.Before, after)
		}
		fmt.Fprintln(w)
	}
	if len(d.Calls) == 0 {
		fmt.Fprint(w, "no call changes\n")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	list(&b, "gone", d.Gone)
	list(&b, "new", d.New)
	if b.Len() == 0 {
		b.WriteString("no finding goes or comes\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func list(b *strings.Builder, title string, found []judged) {
	for _, f := range found {
		fmt.Fprintf(b, "%s: %s[%s]: %s\n", title, f.Severity, f.Code, f.Message)
	}
}
