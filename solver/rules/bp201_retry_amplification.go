package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// RetryAmplification is a service that retries above it may overwhelm.
var RetryAmplification = &diag.Code{
	ID: "BP201", Name: "retry-amplification", Severity: diag.Error,
	Summary: "retries multiply one request into more attempts at a service than `max_amplification` allows",
}

var retryAmplification = &Rule{
	Code: RetryAmplification, Run: runRetryAmplification,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` retries by itself: %s may get more attempts than `max_amplification` allows", d.Platform, counted(int64(n), "service"))
	},
}

// The attempts at a service per request above which BP201 warns and errs, where nobody says otherwise.
const (
	warnAmplification  = 8
	errorAmplification = 24
)

// detailed bounds the work that goes into saying which layer costs what, in calls looked at for all findings of a
// plan. The worst come first; those beyond it still have their numbers.
const detailed = 1_000_000

// counts is about how many times a finding looks at the calls above its service.
const counts = 16

func runRetryAmplification(p *Pass) {
	all, near := p.layers()
	found := p.amplified()
	told, work := map[cause]bool{}, 0
	for _, n := range found {
		a := amplification{p: p, node: n, at: &p.Sol.Nodes[n]}
		a.warning, a.error, a.limits = p.thresholds(n)
		if l := near[n]; l >= 0 {
			a.cause = p.layerOrigin(all[l].leg, all[l].root)
		}
		if cause, same := p.causeOf(a.cause); !same || !told[cause] {
			told[cause] = true
			if work < detailed {
				a.counter = solver.NewAmplifier(p.Graph, n, a.at.AttemptsRoot)
				a.layers = a.counter.Layers()
				work += counts * a.counter.Size()
				if n := len(a.layers); n > 0 && a.cause == nil {
					a.cause = p.layerOrigin(a.layers[n-1], a.at.AttemptsRoot) // hedges alone
				}
			}
		}
		p.Report(a.finding())
	}
}

// amplified lists the services above their limit, most attempts first.
func (p *Pass) amplified() []solver.NodeID {
	var found []solver.NodeID
	for i := range p.Graph.Nodes {
		n, t := solver.NodeID(i), &p.Sol.Nodes[i]
		if p.service(n) == nil || t.AttemptsRoot < 0 {
			continue
		}
		warning, _, _ := p.thresholds(n)
		// Many visits without a retry are the flow's own doing.
		if t.Attempts.Configured > warning && float64(t.Attempts.Configured) > t.Visits {
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b solver.NodeID) int {
		return -cmp.Compare(p.Sol.Nodes[a].Attempts.Configured, p.Sol.Nodes[b].Attempts.Configured)
	})
	return found
}

// thresholds gives what a service may get, its own values before the policy's, and where a written one stands.
func (p *Pass) thresholds(n solver.NodeID) (warning, failure int64, at *diag.Origin) {
	own, policy := p.service(n).MaxAmplify(), p.Plan.Policy.MaxAmplify
	warning, failure = warnAmplification, errorAmplification
	for _, v := range []model.Val[model.Thresholds]{policy, own} {
		if !v.Set() {
			continue
		}
		at = v.From
		if v.V.Warning > 0 {
			warning = v.V.Warning
		}
		if v.V.Error > 0 {
			failure = v.V.Error
		}
	}
	return min(warning, failure), failure, at
}

// amplification is one finding in the making. Counter and layers are set where the layers are told.
type amplification struct {
	p              *Pass
	node           solver.NodeID
	at             *solver.NodeTimes
	warning, error int64
	limits, cause  *diag.Origin
	counter        *solver.Amplifier
	layers         []solver.LegID
}

func (a *amplification) finding() diag.Finding {
	p, name, got := a.p, a.p.nodeName(a.node), a.at.Attempts.Configured
	limit, severity := a.warning, diag.Warning
	if got > a.error {
		limit, severity = a.error, diag.Error
	}
	f := RetryAmplification.New(name, p.service(a.node).At, "`%s` may get %s for one request at `%s`%s: more than %s",
		name, attemptsText(got), p.rootName(a.at.AttemptsRoot), a.product(), countText(limit))
	f.Severity, f.Cause, f.Touched = severity, a.cause, a.at.Touched
	if a.cause != nil {
		f.At = a.cause.Place()
	}
	var origins []*diag.Origin
	for _, l := range a.layers {
		origins = append(origins, p.layerOrigin(l, a.at.AttemptsRoot))
	}
	capped(&f, append(origins, a.cause)...)
	if a.counter != nil {
		f.Notes = a.layerNotes()
		f.Help, f.Fixes = a.remedy()
		f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	}
	f.Notes = append(f.Notes, a.otherNumbers())
	if a.limits != nil {
		f.Notes = append(f.Notes, diag.Note{
			Text: fmt.Sprintf("`max_amplification` is %d for a warning and %d for an error", a.warning, a.error), At: a.limits,
		})
	}
	return f
}

// product writes the attempts as a product where they are one: every layer on one path, or on all of them.
func (a *amplification) product() string {
	total, words := int64(1), []string{}
	for _, l := range a.layers {
		total = solver.MulCount(total, a.factor(l))
		words = append(words, countText(a.factor(l)))
	}
	if visits := int64(a.at.Visits); visits > 1 {
		total = solver.MulCount(total, visits)
		words = append(words, thousands(visits)+" visits")
	}
	if len(words) < 2 || len(words) > maxParts || total != a.at.Attempts.Configured || endless(total) {
		return ""
	}
	return " (" + strings.Join(words, " × ") + ")"
}

func (a *amplification) factor(l solver.LegID) int64 {
	if l == solver.ByRoot {
		return a.p.Graph.Roots[a.at.AttemptsRoot].Attempts
	}
	return a.p.Graph.Legs[l].Multiplies()
}

// count gives the attempts if the layers sent as many attempts each.
func (a *amplification) count(attempts int64, layers ...solver.LegID) int64 {
	for _, l := range layers {
		a.counter.Set(l, attempts)
	}
	n := a.counter.Count()
	for _, l := range layers {
		a.counter.Set(l, 0)
	}
	return n
}

// costly lists the layers without which the fewest attempts remain, at most so many, outermost first.
func (a *amplification) costly(most int) []solver.LegID {
	if len(a.layers) <= most {
		return a.layers
	}
	if a.at.Attempts.Configured >= solver.MaxCount {
		return a.layers[:most] // no difference can be told
	}
	without := make(map[solver.LegID]int64, len(a.layers))
	for _, l := range a.layers {
		without[l] = a.counter.Without(l)
	}
	kept := slices.Clone(a.layers)
	slices.SortStableFunc(kept, func(x, y solver.LegID) int { return cmp.Compare(without[x], without[y]) })
	kept = kept[:most]
	return slices.DeleteFunc(slices.Clone(a.layers), func(l solver.LegID) bool { return !slices.Contains(kept, l) })
}

// layerNotes says what each layer costs, those that cost most where there are many.
func (a *amplification) layerNotes() []diag.Note {
	var notes []diag.Note
	for _, l := range a.costly(maxParts) {
		notes = append(notes, diag.Note{
			Text: fmt.Sprintf("%s makes %s of one: %s without its retries", a.name(l), countText(a.factor(l)), countText(a.counter.Without(l))),
			At:   a.p.layerOrigin(l, a.at.AttemptsRoot),
		})
	}
	if rest := len(a.layers) - len(notes); rest > 0 {
		notes = append(notes, diag.Note{Text: fmt.Sprintf("and %s on the way", counted(int64(rest), "more layer"))})
	}
	return notes
}

// otherNumbers has the two kinder counts, by their names.
func (a *amplification) otherNumbers() diag.Note {
	n := a.at.Attempts
	return diag.Note{Text: fmt.Sprintf("configured %s; time-limited, while `%s` hangs, %s; with retry budgets %s",
		countText(n.Configured), a.p.nodeName(a.node), countText(n.TimeLimited), solver.RatioText(n.Budgeted))}
}

// remedy gives each single change that ends the finding; without any it says which layers must go together, and what
// makes an error a warning.
func (a *amplification) remedy() (help string, fixes []diag.Fix) {
	others, all := a.otherRoots()
	if ways, fixes := a.singles(a.warning, others, all); len(ways) > 0 {
		return "allow " + sentence(ways, "or"), fixes
	}
	help = a.together()
	if a.at.Attempts.Configured > a.error {
		if ways, _ := a.singles(a.error, others, all); len(ways) > 0 {
			help += "; to make the error a warning, allow " + sentence(ways, "or")
		}
	}
	return help, nil
}

// singles lists the single layers that bring the attempts down to a limit with fewer attempts of their own, for every
// root above; all says whether others has them all.
func (a *amplification) singles(limit int64, others []*solver.Amplifier, all bool) (ways []string, fixes []diag.Fix) {
	for _, l := range a.costly(maxParts) {
		if !all || a.counter.Without(l) > limit {
			continue
		}
		k := a.mostAttempts(l, limit, others)
		if k < 1 {
			continue
		}
		fix, what := a.layerFix(l, k)
		fixes = append(fixes, fix)
		ways = append(ways, fmt.Sprintf("%s on %s (%s remain)", what, a.name(l), attemptsText(a.count(k, l))))
	}
	return ways, fixes
}

// layerFix gives a layer at most so many attempts; one is without hedging too.
func (a *amplification) layerFix(l solver.LegID, k int64) (fix diag.Fix, what string) {
	if l == solver.ByRoot || k > 1 || a.p.Graph.Legs[l].Copies <= 1 {
		return a.p.layerFix(l, a.at.AttemptsRoot, k), retriesText(k)
	}
	leg, _, _, w := a.p.call(l)
	hedge := a.p.setFix(l, "hedge.attempts", w.Hedge().Attempts.From, strconv.FormatInt(leg.Copies, 10), "1")
	if !w.Hedge().Attempts.Set() {
		hedge.From = ""
	}
	if leg.Attempts <= 1 || !leg.RetryOn.Reaches() {
		return hedge, "no hedging"
	}
	fix = a.p.layerFix(l, a.at.AttemptsRoot, 1)
	fix.With = []diag.Fix{hedge}
	return fix, "no retries and no hedging"
}

// mostOthers bounds for how many roots beside the worst one attempts are counted.
const mostOthers = 16

// otherRoots gives counters for the other roots above the service; all is false where they are too many.
func (a *amplification) otherRoots() (others []*solver.Amplifier, all bool) {
	todo := []solver.NodeID{a.node}
	seen := map[solver.NodeID]bool{a.node: true}
	for i := 0; i < len(todo); i++ {
		for _, r := range a.p.rootsAt(todo[i]) {
			if r == a.at.AttemptsRoot {
				continue
			}
			if len(others) == mostOthers {
				return nil, false
			}
			others = append(others, a.counter.From(r))
		}
		for _, in := range a.p.Graph.In(todo[i]) {
			if from := a.p.Graph.Legs[in].From; !seen[from] {
				seen[from] = true
				todo = append(todo, from)
			}
		}
	}
	return others, true
}

// together words which layers must go where no single one is enough.
func (a *amplification) together() string {
	name := "`" + a.p.nodeName(a.node) + "`"
	// The fewest of the outermost layers whose end is enough; all but the nearest where not even that is.
	n := sort.Search(max(0, len(a.layers)-1), func(n int) bool { return a.count(1, a.layers[:n]...) <= a.warning })
	dropped := a.layers[:n]
	left := a.count(1, dropped...)
	switch {
	case len(dropped) == 0 || left > a.warning && left == int64(a.at.Visits):
		return fmt.Sprintf("visit %s less often, or raise its `max_amplification`", name)
	case len(dropped) > maxParts:
		return fmt.Sprintf("retry at one layer only, the one nearest to %s: %s remain", name, attemptsText(left))
	}
	var names []string
	for _, l := range dropped {
		names = append(names, a.name(l))
	}
	return fmt.Sprintf("retry at one layer only, the one nearest to %s: without retries on %s %s remain",
		name, sentence(names, "and"), attemptsText(left))
}

// mostAttempts is how many a layer may make with all others as they are, 0 where not even one is few enough for every
// root.
func (a *amplification) mostAttempts(l solver.LegID, limit int64, others []*solver.Amplifier) int64 {
	fits := func(k int64) bool {
		for _, o := range others {
			if l != solver.ByRoot { // that of the worst root alone
				o.Set(l, k)
			}
			n := o.Count()
			o.Set(l, 0)
			if n > limit {
				return false
			}
		}
		return a.count(k, l) <= limit
	}
	if !fits(1) {
		return 0
	}
	hi := a.factor(l)
	if l != solver.ByRoot {
		hi = min(a.p.Graph.Legs[l].Attempts, hi)
	}
	lo := int64(1)
	for lo+1 < hi {
		if mid := lo + (hi-lo)/2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (a *amplification) name(l solver.LegID) string { return a.p.layerName(l, a.at.AttemptsRoot) }
