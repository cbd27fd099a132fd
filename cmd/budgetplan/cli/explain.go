package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/docs"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
)

func newExplain(s *streams) *cobra.Command {
	c := &common{streams: s}
	var quantities []string
	paths := 3
	cmd := &cobra.Command{
		Use:   "explain WHAT [FILE|DIRECTORY|-]...",
		Short: "Show the arithmetic behind a call, or what a finding means",
		Long: `explain takes one of

  a finding, by code or name     what it means, why it hurts, how to end it
  a call, gateway/order          its numbers line by line, each with the place it comes from
  a service                      who calls it, and how often
  an entrypoint                  its numbers, and its longest paths hop by hop: what each takes, the sum so far, and how
                                 much longer the path becomes for each ms that the call, or one attempt of it, needs more
  defaults                       what holds where nobody wrote anything
  a platform, client/envoy       what it can say of a plan, and what holds where nobody says

Findings, defaults and platforms need no plan. For the rest, what is read is what ` + "`budgetplan check`" + ` reads.`,
		Example: `  budgetplan explain BP102
  budgetplan explain gateway/order
  budgetplan explain gateway/order --quantity wait checkout.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("`budgetplan explain BP101`, `budgetplan explain gateway/order`", "explain what?")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return c.explain(args[0], args[1:], quantities, paths)
		},
		ValidArgsFunction: c.completeSubjects,
	}
	c.register(cmd)
	cmd.Flags().StringSliceVar(&quantities, "quantity", nil, "of a call, only these: "+oneOf(quantityNames()))
	words(cmd, "quantity", quantityNames())
	cmd.Flags().IntVar(&paths, "paths", paths, "of an entrypoint, the `K` longest paths")
	return cmd
}

func quantityNames() []string {
	var names []string
	for _, q := range solver.Quantities {
		names = append(names, string(q))
	}
	return names
}

func (c *common) explain(what string, files, quantities []string, paths int) error {
	if paths < 1 {
		return usage("", "--paths is %d, and takes 1 or more", paths)
	}
	for _, q := range quantities {
		if err := among("quantity", q, quantityNames()); err != nil {
			return err
		}
	}
	if page, ok := page(what); ok {
		_, err := io.WriteString(c.streams.out, page)
		return err
	}
	if what == "defaults" {
		return explainDefaults(c.streams.out)
	}
	platform := dialect.Named(strings.TrimPrefix(what, clientPrefix))
	if platform != nil && strings.HasPrefix(what, clientPrefix) {
		return docs.Platform(c.streams.out, platform)
	}
	r, err := c.must(files, pipeline.Options{})
	switch {
	case err != nil && len(files) == 0 && strings.HasPrefix(what, clientPrefix):
		return unknownClient(what) // no plan is needed to ask for a client's defaults
	case err != nil:
		return err
	}
	known := false
	err = c.place("", func(w io.Writer, _ bool, _ int) error {
		for _, in := range r.Plans {
			e := explainer{w, in, paths}
			known = e.subject(what, quantities) || known
		}
		return nil
	})
	switch {
	case err != nil || known:
		return err
	case platform != nil:
		return docs.Platform(c.streams.out, platform)
	case strings.HasPrefix(what, clientPrefix):
		return unknownClient(what)
	}
	return unknownSubject(what, r)
}

// clientPrefix opens the name of a platform or client library, as in `client/envoy`.
const clientPrefix = "client/"

// unknownClient says whose defaults are known instead.
func unknownClient(what string) error {
	var known []string
	for _, d := range dialect.All {
		known = append(known, "`"+clientPrefix+d.Name+"`")
	}
	return usage("known are "+strings.Join(known, ", "), "`%s` is no call, and no platform or client whose defaults are known", what)
}

// unknownSubject says what is known instead: names that contain what was asked for, or are near it.
func unknownSubject(what string, r *pipeline.Result) error {
	var near []string
	for _, in := range r.Plans {
		for _, s := range subjects(in) {
			if strings.Contains(s, what) || strings.Contains(what, s) {
				near = append(near, s)
			}
		}
	}
	help := "a call is `caller/callee`; `budgetplan plan` lists them"
	if len(near) > 0 {
		help = "known are `" + strings.Join(near[:min(len(near), 5)], "`, `") + "`"
	}
	return usage(help, "`%s` is no finding, and no call, service or entrypoint of this plan", what)
}

// subjects are the calls, services and entrypoints of a plan.
func subjects(in *render.Input) []string {
	var names []string
	for i := range in.Plan.Entrypoints {
		names = append(names, in.Plan.Entrypoints[i].Name)
	}
	for i := range in.Plan.Services {
		names = append(names, in.Plan.Services[i].Name)
	}
	for i := range in.Plan.Calls {
		names = append(names, in.Plan.Calls[i].ID)
	}
	return names
}

// completeSubjects completes codes, and the names of the plan that is found here.
func (c *common) completeSubjects(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // files
	}
	words := []string{"defaults"}
	for _, d := range dialect.All {
		words = append(words, clientPrefix+d.Name)
	}
	for _, code := range pipeline.Codes() {
		words = append(words, code.ID+"\t"+code.Name, code.Name+"\t"+code.ID)
	}
	return append(words, c.planSubjects()...), cobra.ShellCompDirectiveNoFileComp
}

// planSubjects are the names of the plan that is found here, for completion; none where there is none.
func (c *common) planSubjects() (names []string) {
	if r, err := c.run(nil, pipeline.Options{}); err == nil {
		for _, in := range r.Plans {
			names = append(names, subjects(in)...)
		}
	}
	return names
}

func explainDefaults(out io.Writer) error {
	w := report.NewColumns(out)
	fmt.Fprintln(w, "key\tdefault\twhy")
	for _, d := range solver.Defaults {
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Field, d.Value, d.Source)
	}
	return w.Flush()
}

// explainer writes what is known of one subject of one plan.
type explainer struct {
	w     io.Writer
	in    *render.Input
	paths int // how many of an entrypoint
}

// subject explains everything that has this name; it reports whether anything has.
func (e explainer) subject(what string, quantities []string) (known bool) {
	p := e.in.Plan
	for i := range p.Entrypoints {
		if p.Entrypoints[i].Name == what {
			e.entrypoint(i)
			known = true
		}
	}
	for i := range p.Services {
		if p.Services[i].Name == what {
			e.service(solver.NodeID(i))
			known = true
		}
	}
	id, leg, _ := strings.Cut(what, "@")
	for i := range p.Calls {
		if p.Calls[i].ID == what || p.Calls[i].ID == id && leg != "" {
			e.call(i, quantities)
			known = true
		}
	}
	return known
}

func (e explainer) call(i int, quantities []string) {
	c := &e.in.Plan.Calls[i]
	fmt.Fprintf(e.w, "%s  %s\n", c.ID, c.At)
	if e.in.Graph.FirstLeg[i] < 0 {
		fmt.Fprintln(e.w, "  this call closes a cycle: it is left out of all numbers (BP007)")
		return
	}
	var what []solver.Quantity
	for _, q := range quantities {
		what = append(what, solver.Quantity(q))
	}
	for _, l := range solver.Explain(e.in.Plan, e.in.Graph, e.in.Solution, model.CallID(i), what...) {
		fmt.Fprintf(e.w, "%s%s\n", strings.Repeat("  ", l.Depth+1), lineText(l))
	}
}

// lineText writes a line of arithmetic: what, how much, made how, and from where.
func lineText(l solver.Line) string {
	text := l.Label + ": " + valueText(l)
	if op := l.Op.String(); op != "" {
		text += ", " + op
	}
	switch {
	case l.From.Written():
		text += "  " + l.From.Place().String()
	case l.From != nil:
		text += "  " + l.From.Default.String()
	case l.See != "":
		text += "  see `" + l.See + "`"
	}
	return text
}

func valueText(l solver.Line) string {
	switch l.Unit {
	case solver.Count:
		return solver.CountText(l.Count)
	case solver.Share:
		return l.Share.String()
	}
	return bound(l.Time)
}

// service says who calls a service and what that makes of it.
func (e explainer) service(n solver.NodeID) {
	in := e.in
	s, t := &in.Plan.Services[n], &in.Solution.Nodes[n]
	fmt.Fprintf(e.w, "%s  %s\n", s.Name, s.At)
	fmt.Fprintf(e.w, "  received %s, needs %s, may be busy %s\n", bound(t.Received), need(t.Need), bound(t.Busy))
	fmt.Fprintf(e.w, "  attempts per request: configured %s, time-limited %s, with retry budgets %s\n",
		solver.CountText(t.Attempts.Configured), solver.CountText(t.Attempts.TimeLimited), solver.RatioText(t.Attempts.Budgeted))
	e.expected(n)
	legs := in.Graph.In(n)
	if len(legs) == 0 {
		fmt.Fprintln(e.w, "  nobody calls it")
	}
	for _, l := range legs {
		leg, lt := &in.Graph.Legs[l], &in.Solution.Legs[l]
		fmt.Fprintf(e.w, "  called by %s: %s, waits %s, attempts reaching it %s\n", in.Graph.LegName(l),
			attemptsText(leg.Attempts), bound(lt.Wait), solver.CountText(lt.Amplification.Configured))
	}
}

// expected says how many attempts reach a service in the mean, where the plan has failure rates.
func (e explainer) expected(n solver.NodeID) {
	root := e.in.Solution.Nodes[n].AttemptsRoot
	rated := func(c model.Call) bool { return c.FailureRate().Set() }
	if root < 0 || !slices.ContainsFunc(e.in.Plan.Calls, rated) {
		return
	}
	mean := solver.Expected(e.in.Graph, int(root))[n]
	text := solver.RatioText(mean.V)
	switch {
	case mean.Known == solver.Nothing:
		return
	case mean.Known == solver.Partial && mean.V < float64(solver.MaxCount):
		text = "at least " + text
	}
	fmt.Fprintf(e.w, "  expected at the failure rates given: %s\n", text)
}

// entrypoint gives its numbers and its longest paths.
func (e explainer) entrypoint(i int) {
	in := e.in
	root := slices.IndexFunc(in.Graph.Roots, func(r solver.Root) bool { return int(r.Entrypoint) == i })
	ep := &in.Plan.Entrypoints[i]
	fmt.Fprintf(e.w, "%s  %s\n", ep.Name, ep.At)
	if root < 0 {
		return
	}
	t := &in.Solution.Roots[root]
	fmt.Fprintf(e.w, "  SLO %s, needs %s, slack %s, waits %s, last work ends %s\n", slo(in.Graph.Roots[root].SLO), need(t.Need),
		slack(t.Slack, t.SlackKnown), bound(t.Wait), bound(t.WorkEnds))
	e.longest(int32(root))
}
