package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/report"
	"github.com/budgetplan/budgetplan/solver"
)

// fateFlags are the flags that say what becomes of a service.
type fateFlags struct{ slow, fail, hang string }

func (f *fateFlags) register(cmd *cobra.Command, c *common) {
	cmd.Flags().StringVar(&f.slow, "slow", "", "play a request while SERVICE takes a time to answer: SERVICE=40s")
	cmd.Flags().StringVar(&f.fail, "fail", "", "play a request while SERVICE fails, at once or after a time: SERVICE or SERVICE=300ms")
	cmd.Flags().StringVar(&f.hang, "hang", "", "play a request while SERVICE never answers")
	for _, flag := range []string{"slow", "fail", "hang"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return c.planServices(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	}
}

// fate is what becomes of a service. Of a text that may be a name or a name and a time, the plan decides.
type fate struct {
	flag, text string
	scenario   solver.Scenario
}

// read gives the one fate that the flags ask for, nil where they ask for none.
func (f *fateFlags) read() (*fate, error) {
	var fates []*fate
	for _, flag := range []struct {
		name, text string
		scenario   solver.Scenario
	}{
		{"slow", f.slow, solver.Scenario{}},
		{"fail", f.fail, solver.Scenario{Fails: true}},
		{"hang", f.hang, solver.Scenario{Takes: model.NoLimit}},
	} {
		if flag.text != "" {
			fates = append(fates, &fate{flag.name, flag.text, flag.scenario})
		}
	}
	switch len(fates) {
	case 0:
		return nil, nil
	case 1:
		return fates[0], nil
	}
	return nil, usage("run what-if once for each", "--%s and --%s: one service at a time is slow, fails or hangs", fates[0].flag, fates[1].flag)
}

// resolve finds the service in a plan and reads the time.
func (f *fate) resolve(p *model.Plan) (solver.Scenario, error) {
	sc := f.scenario
	name, text, timed := f.text, "", false
	if serviceOf(p, name) < 0 && f.flag != "hang" {
		if i := strings.LastIndexByte(name, '='); i >= 0 {
			name, text, timed = name[:i], name[i+1:], true
		}
	}
	n := serviceOf(p, name)
	if n < 0 {
		help := "`budgetplan plan` lists the calls and their services"
		if near := planfile.Nearest(name, serviceNames(p)); near != "" {
			help = "did you mean `" + near + "`?"
		}
		return sc, usage(help, "--%s: `%s` is no service of this plan", f.flag, name)
	}
	sc.Service = solver.NodeID(n)
	if f.flag == "slow" && !timed {
		return sc, usage("write `--slow "+name+"=40s`", "--slow: how long `%s` takes is missing", name)
	}
	if timed {
		d, err := model.ParseDuration(text)
		if err != nil {
			return sc, usage("", "--%s: %s", f.flag, err)
		}
		sc.Takes = d
	}
	return sc, nil
}

func serviceOf(p *model.Plan, name string) int {
	return slices.IndexFunc(p.Services, func(s model.Service) bool { return s.Name == name })
}

func serviceNames(p *model.Plan) []string {
	names := make([]string, len(p.Services))
	for i := range p.Services {
		names[i] = p.Services[i].Name
	}
	return names
}

// planServices are the services of the plan that is found here, for completion; none where there is none.
func (c *common) planServices() (names []string) {
	if r, err := c.run(nil, pipeline.Options{}); err == nil {
		for _, in := range r.Plans {
			names = append(names, serviceNames(in.Plan)...)
		}
	}
	return names
}

// play runs a request at every root that reaches the service; where an entrypoint does, at the entrypoints alone.
func (d *difference) play(in *render.Input, f *fate) error {
	sc, err := f.resolve(in.Plan)
	if err != nil {
		return err
	}
	var roots []int
	entered, leads := false, in.Graph.LeadingTo(sc.Service)
	for i := range in.Graph.Roots {
		root := &in.Graph.Roots[i]
		if root.Entrypoint < 0 && entered || !leads[root.Node] {
			continue
		}
		roots, entered = append(roots, i), entered || root.Entrypoint >= 0
	}
	if len(roots) == 0 {
		return usage("call it from a service that an entrypoint reaches", "no request reaches `%s`", in.Plan.Services[sc.Service].Name)
	}
	for _, i := range roots {
		r := &render.Run{Input: in, Root: i, Scenario: sc}
		for _, enforced := range []bool{false, true} {
			sc.Enforced = enforced
			run, err := in.Graph.Run(&in.Graph.Roots[i], sc)
			if err != nil {
				return tooLarge(r, err)
			}
			if r.AsIs == nil {
				r.AsIs = run
			}
			r.Enforced = run
			d.Runs = append(d.Runs, nil)
		}
		d.played = append(d.played, r)
		d.Runs[len(d.Runs)-2], d.Runs[len(d.Runs)-1] = json.RawMessage(report.RunJSON(r, false)), json.RawMessage(report.RunJSON(r, true))
	}
	d.Run = d.Runs[0]
	return nil
}

// tooLarge says where a run that is not computed has its attempts.
func tooLarge(r *render.Run, err error) error {
	large := (*solver.TooLarge)(nil)
	if !errors.As(err, &large) || large.Depth || large.Leg < 0 {
		return usage("", "`%s`: %s", r.Entrypoint(), err)
	}
	return usage("give it fewer attempts, or a timeout", "`%s`: %s, the last of them of `%s`", r.Entrypoint(), err, r.Graph.LegName(large.Leg))
}
