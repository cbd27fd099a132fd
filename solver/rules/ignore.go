package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// BadIgnore is raised for an ignore that says no reason, is past its date, or suppresses nothing.
var BadIgnore = &diag.Code{
	ID: "BP010", Name: "bad-ignore", Severity: diag.Warning,
	Summary: "an ignore without a reason, past its date, or that matches nothing",
}

// Codes are the findings of this package that are no rule's.
var Codes = []*diag.Code{BadIgnore}

// ignores has everything in a plan that suppresses findings, by what it holds for.
type ignores struct {
	now time.Time
	all []*standing
	// on has those of calls, services and entrypoints by name, lines those of comments by file and line.
	on    map[string][]*standing
	lines map[diag.Span][]*standing
}

// standing is one ignore, and whether it met a finding.
type standing struct {
	model.Ignore
	where string
	used  bool
}

func newIgnores(plan *model.Plan, now time.Time) *ignores {
	ig := &ignores{now: now, on: make(map[string][]*standing), lines: make(map[diag.Span][]*standing)}
	// A call of a plan that a config has as several routes gives each of them its ignores: one is used with any of them.
	written := make(map[model.Ignore]*standing)
	add := func(subject string, of []model.Ignore) {
		for _, i := range of {
			s := written[i]
			if s == nil || i.At.Nowhere() {
				s = &standing{Ignore: i, where: "on `" + subject + "`"}
				written[i], ig.all = s, append(ig.all, s)
			}
			ig.on[subject] = append(ig.on[subject], s)
		}
	}
	for i := range plan.Entrypoints {
		add(plan.Entrypoints[i].Name, plan.Entrypoints[i].Ignores)
	}
	for i := range plan.Services {
		add(plan.Services[i].Name, plan.Services[i].Ignores())
	}
	for i := range plan.Calls {
		add(plan.Calls[i].ID, plan.Calls[i].Ignores())
	}
	for _, i := range plan.LineIgnores {
		s, line := &standing{Ignore: i, where: "on this line"}, lineOf(i.At)
		ig.all, ig.lines[line] = append(ig.all, s), append(ig.lines[line], s)
	}
	return ig
}

func lineOf(s diag.Span) diag.Span { return diag.Span{File: s.File, Line: s.Line} }

// apply suppresses a finding by the first ignore that holds for it, and remembers every one that does.
func (ig *ignores) apply(f *diag.Finding) {
	call, _, _ := strings.Cut(f.Subject, "@")
	ig.match(f, ig.on[f.Subject])
	if call != f.Subject {
		ig.match(f, ig.on[call])
	}
	place := f.Place()
	ig.match(f, ig.lines[lineOf(place)])
	if f.Cause != nil && lineOf(f.Cause.Span()) != lineOf(place) {
		ig.match(f, ig.lines[lineOf(f.Cause.Span())])
	}
}

func (ig *ignores) match(f *diag.Finding, of []*standing) {
	for _, s := range of {
		if s.Code != f.Code.ID && s.Code != f.Code.Name {
			continue
		}
		s.used = true
		if !ig.expired(s) && f.Ignored == nil {
			f.Ignored = &diag.Suppression{Reason: s.Reason, At: s.At}
		}
	}
}

// expired reports whether the day of an ignore is over.
func (ig *ignores) expired(s *standing) bool {
	return !s.Until.IsZero() && !ig.now.IsZero() && !ig.now.Before(s.Until.AddDate(0, 0, 1))
}

// ofTarget reports whether a code, by id or name, is one of a generated configuration.
func ofTarget(code string, known []*diag.Code) bool {
	return strings.HasPrefix(code, "BP4") || slices.ContainsFunc(known, func(c *diag.Code) bool {
		return c.Name == code && strings.HasPrefix(c.ID, "BP4")
	})
}

// bad reports what is wrong with the ignores themselves, once all findings have met them.
func (ig *ignores) bad(known []*diag.Code) []diag.Finding {
	var found []diag.Finding
	for _, s := range ig.all {
		var f diag.Finding
		switch {
		case ig.expired(s):
			f = BadIgnore.New(s.Code, s.At, "the ignore of `%s` %s ended on %s", s.Code, s.where, s.Until.Format(time.DateOnly))
			f.Help = "end what it stood for, or give it a later `until`"
		case !s.used && ofTarget(s.Code, known):
			continue // only `generate` raises it
		case !s.used:
			f = BadIgnore.New(s.Code, s.At, "the ignore of `%s` %s matches no finding", s.Code, s.where)
			f.Help = "remove it"
		case strings.TrimSpace(s.Reason) == "":
			f = BadIgnore.New(s.Code, s.At, "the ignore of `%s` %s gives no reason", s.Code, s.where)
			f.Help = "say why this is accepted, for whoever reads it next"
		default:
			continue
		}
		f.Cause = diag.At(s.At)
		found = append(found, f)
	}
	return found
}
