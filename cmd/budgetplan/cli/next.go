package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// next gives the command to type after a check: a plan where there are configs alone, else the arithmetic of what
// touches most requests. It is empty where nothing is left to do.
func next(r *pipeline.Result, args []string) string {
	for _, in := range r.Plans {
		if len(in.Plan.Entrypoints) == 0 && !hasPlanFile(in) && !slices.Contains(args, "-") {
			from := ""
			for _, a := range args {
				from += " --from " + shellQuoted(a)
			}
			if from != "" {
				return "budgetplan init" + from + ", then give an entrypoint an slo"
			}
		}
	}
	for _, in := range r.Plans {
		for i := range in.Findings {
			f := &in.Findings[i]
			if f.Ignored != nil || f.Severity < diag.Warning {
				continue
			}
			what := f.Code.ID
			if slices.Contains(subjects(in), f.Subject) {
				what = f.Subject
			}
			words := []string{"budgetplan", "explain", shellQuoted(what)}
			for _, a := range args {
				words = append(words, shellQuoted(a))
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// hasPlanFile reports whether a person has written anything of the plan.
func hasPlanFile(in *render.Input) bool {
	for _, f := range in.Plan.Read {
		if f.As == "plan" {
			return true
		}
	}
	return false
}

// shellQuoted writes a word as a shell takes it.
func shellQuoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plainName is what YAML reads as text without quotes, its few words aside.
var plainName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_./-]*$`)

// yamlName writes a name so that YAML reads it as text.
func yamlName(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainName.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// chain gives the recommended timeouts of calls one below the other, nil where there is none for one of them.
func chain(slo model.Duration, calls int) []model.Duration {
	p := &model.Plan{Services: make([]model.Service, calls+1)}
	at := diag.Span{Line: 1}
	p.Entrypoints = []model.Entrypoint{{SLO: model.At(slo, at)}}
	for i := range calls {
		p.Calls = append(p.Calls, model.Call{From: model.ServiceID(i), To: model.ServiceID(i + 1), Waiters: []model.Waiter{{}}})
		p.Services[i].Flow = model.Flow{Kind: model.One, Call: model.CallID(i)}
	}
	g, _ := solver.Compile(p)
	s := solver.Solve(g, solver.Options{})
	timeouts := make([]model.Duration, calls)
	for i := range timeouts {
		timeouts[i] = s.Legs[g.FirstLeg[i]].Recommended.Timeout
		if timeouts[i] <= 0 || i > 0 && timeouts[i] >= timeouts[i-1] {
			return nil
		}
	}
	return timeouts
}
