package rules

import (
	"strings"
	"time"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// Options are what a run, and not the plan, says about findings.
type Options struct {
	// Now decides which ignores are past their date; none is at the zero time.
	Now time.Time
	// Preset overrides the plan's, "" leaves it, and so does Allocation, by which the solution splits budgets.
	Preset, Allocation string
	// Codes are the codes that other stages may raise, so that a policy may name one that was not raised.
	Codes []*diag.Code
}

// Check runs every rule over a solved plan and gives what there is to say: the earlier stages' findings and its
// own, judged by policy and preset, ignores applied, one finding a cause, what follows from another as a note
// there, sorted. Findings with Ignored set are among them; those that a policy switched off are not.
func Check(plan *model.Plan, g *solver.Graph, s *solver.Solution, earlier []diag.Finding, opt Options) []diag.Finding {
	p := newPass(plan, g, s)
	if opt.Allocation != "" {
		p.allocation = opt.Allocation
	}
	for _, f := range earlier {
		p.Report(f)
	}
	p.run()
	ig := newIgnores(plan, opt.Now)
	if len(ig.all) > 0 {
		for _, f := range p.all() {
			ig.apply(&f.Finding)
		}
	}
	for _, f := range append(ig.bad(opt.Codes), unknownRules(plan, opt)...) {
		p.Report(f)
	}
	all := p.all()
	if judge := newJudge(plan, opt); judge.strict || len(judge.rules) > 0 {
		for _, f := range all {
			judge.severity(&f.Finding)
		}
	}
	return p.told(all)
}

// judge gives findings the severity that preset and policy ask for.
type judge struct {
	strict bool
	rules  map[string]model.Val[diag.Severity]
}

func newJudge(plan *model.Plan, opt Options) judge {
	preset := opt.Preset
	if preset == "" {
		preset = plan.Policy.Preset.Or("")
	}
	return judge{strict: preset == "strict", rules: plan.Policy.Rules}
}

// severity applies the preset, then the policy's word for the code, by its id or its name.
func (j judge) severity(f *diag.Finding) {
	if j.strict && f.Severity == diag.Info {
		f.Severity = diag.Warning
	}
	for _, key := range [...]string{f.Code.ID, f.Code.Name} {
		if s := j.rules[key]; s.Set() {
			f.Severity = s.V
		}
	}
}

// unknownRules reports the words of a policy that name no code: it would be off without anybody knowing.
func unknownRules(plan *model.Plan, opt Options) []diag.Finding {
	known := make(map[string]bool)
	for _, r := range All {
		known[r.Code.ID], known[r.Code.Name] = true, true
	}
	for _, c := range append([]*diag.Code{BadIgnore}, opt.Codes...) {
		known[c.ID], known[c.Name] = true, true
	}
	var found []diag.Finding
	for key, s := range plan.Policy.Rules {
		if known[key] || len(opt.Codes) == 0 && (otherStage(key) || !strings.HasPrefix(key, "BP")) {
			continue
		}
		f := BadIgnore.New("policy", s.Span(), "the policy sets `%s`, which is no finding", key)
		f.Cause = s.From
		f.Help = "name a code (`BP101`) or its name (`inverted-timeout`); `budgetplan rules` lists them"
		found = append(found, f)
	}
	return found
}

// otherStage reports whether an id belongs to the findings of input or of targets.
func otherStage(id string) bool {
	return len(id) == 5 && (strings.HasPrefix(id, "BP0") || strings.HasPrefix(id, "BP4"))
}
