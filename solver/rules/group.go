package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// worst is how many subjects of one cause, and how many findings of one code that follow from another, are told
// one by one.
const worst = 3

// told turns what was raised into what is told: without what is off, one finding a cause, and what follows from
// another finding as a note on it.
func (p *Pass) told() []diag.Finding {
	at := make(map[ref]int, len(p.findings)) // the finding of a code about a subject, the first of several
	for i, f := range p.findings {
		r := ref{code: f.Code, subject: f.Subject}
		if _, ok := at[r]; f.Severity != diag.Off && !ok {
			at[r] = i
		}
	}
	parent, restates := make([]int, len(p.findings)), make([]bool, len(p.findings))
	for i := range p.findings {
		parent[i], restates[i] = p.follows(i, at)
	}
	groups, of := p.groups(parent)
	followers := make([][]diag.Finding, len(groups))
	for i, f := range p.findings {
		if parent[i] >= 0 && !restates[i] {
			top := i
			for parent[top] >= 0 {
				top = parent[top]
			}
			followers[of[top]] = append(followers[of[top]], f)
		}
	}
	found := make([]diag.Finding, len(groups))
	for i, members := range groups {
		found[i] = p.together(members)
		found[i].Notes = append(found[i].Notes, followNotes(followers[i])...)
	}
	return found
}

// before has, for each code, those that speak for it on the same subject.
var before = map[string][]*diag.Code{
	"BP101": {ImpossibleCall}, "BP204": {AttemptsDoNotFit},
}

// follows gives the finding that speaks for the i-th, -1 when it stands by itself. One that is ignored stands by
// itself too: its ignore was meant for it. And nothing speaks for a finding that is graver than itself, or that it
// would hide by being ignored, unless both say the same.
func (p *Pass) follows(i int, at map[ref]int) (parent int, restates bool) {
	f := &p.findings[i]
	if f.Ignored != nil || f.Severity == diag.Off {
		return -1, false
	}
	for _, r := range p.after[i] {
		k, ok := at[ref{code: r.code, subject: r.subject}]
		if ok && k != i && r.code != f.Code && (r.restates || p.speaksFor(k, f)) {
			return k, r.restates
		}
	}
	for _, c := range before[f.Code.ID] {
		if k, ok := at[ref{code: c, subject: f.Subject}]; ok && p.speaksFor(k, f) {
			return k, false
		}
	}
	return -1, false
}

func (p *Pass) speaksFor(k int, f *diag.Finding) bool {
	return p.findings[k].Ignored == nil && p.findings[k].Severity >= f.Severity
}

// groups collects the findings that stand by themselves by code and cause, worst first; of says which group each
// is in.
func (p *Pass) groups(parent []int) (groups [][]diag.Finding, of []int) {
	type key struct {
		code    *diag.Code
		cause   diag.Origin
		ignored bool
	}
	index := make(map[key]int)
	of = make([]int, len(p.findings))
	for i, f := range p.findings {
		if parent[i] >= 0 || f.Severity == diag.Off {
			continue
		}
		cause, ok := causeOf(f.Cause)
		k := key{f.Code, cause, f.Ignored != nil}
		g, seen := index[k]
		if !ok || !seen {
			g = len(groups)
			groups = append(groups, nil)
		}
		if ok {
			index[k] = g
		}
		groups[g], of[i] = append(groups[g], f), g
	}
	return groups, of
}

// causeOf identifies the value that a finding blames: its place, or the platform's default whatever the place.
// ok is false where nobody wrote anything that could be the same.
func causeOf(c *diag.Origin) (o diag.Origin, ok bool) {
	switch {
	case c == nil:
		return diag.Origin{}, false
	case c.Default != nil:
		d := *c.Default
		return diag.Origin{File: d.Platform + "\x00" + d.Field + "\x00" + d.Value}, true
	case c.Nowhere():
		return diag.Origin{}, false
	default:
		return diag.Origin{File: c.File, Line: c.Line, Col: c.Col}, true
	}
}

// together makes one finding of those that share a cause: the worst, with the next ones as notes and all subjects.
func (p *Pass) together(members []diag.Finding) diag.Finding {
	diag.Sort(members)
	f := members[0]
	f.Count = len(members)
	byDefault := f.Cause != nil && f.Cause.Default != nil
	if f.Count == 1 && !byDefault {
		return f
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if !seen[m.Subject] {
			seen[m.Subject] = true
			f.Subjects = append(f.Subjects, m.Subject)
		}
	}
	f.Notes = slices.Clone(f.Notes)
	for _, m := range members[1:min(worst, len(members))] {
		f.Notes = append(f.Notes, diag.Note{Text: m.Message, At: elsewhere(&m, &f)})
	}
	if byDefault {
		p.byDefault(&f)
	}
	f.Fixes = mergeFixes(members)
	return f
}

// byDefault words a finding that a platform's default causes by the default's name.
func (p *Pass) byDefault(f *diag.Finding) {
	d := f.Cause.Default
	for _, r := range All {
		if r.Code == f.Code && r.Default != nil {
			f.Notes = slices.Insert(f.Notes, 0, diag.Note{Text: f.Message})
			f.Message = r.Default(d, f.Count)
			return
		}
	}
	f.Notes = append(f.Notes, diag.Note{Text: "nobody wrote the value, it is " + d.String()})
}

// elsewhere is the place of a member where it is another than the group's.
func elsewhere(m, group *diag.Finding) *diag.Origin {
	if at := m.Place(); !at.Nowhere() && at != group.Place() {
		return diag.At(at)
	}
	return nil
}

// mergeFixes joins the changes of findings with one cause. Where several change the same value, the tightest is
// the one that ends them all.
func mergeFixes(members []diag.Finding) []diag.Fix {
	type key struct {
		at         diag.Span
		key, bound string
		subject    string
	}
	index := make(map[key]int)
	var all []diag.Fix
	for _, m := range members {
		for _, x := range m.Fixes {
			k := key{x.At, x.Key, x.Bound, x.Subject}
			if !x.At.Nowhere() {
				k.subject = ""
			}
			i, seen := index[k]
			if !seen {
				index[k] = len(all)
				all = append(all, x)
				continue
			}
			if tighter(x, all[i]) {
				all[i].To = x.To
			}
		}
	}
	return all
}

// tighter reports whether the change x asks for more than y does.
func tighter(x, y diag.Fix) bool {
	a, errA := model.ParseDuration(x.To)
	b, errB := model.ParseDuration(y.To)
	if errA != nil || errB != nil {
		return false
	}
	return x.Bound == "most" && a < b || x.Bound == "least" && a > b
}

// followNotes tells what follows from a finding: of each code the worst ones, and how many more.
func followNotes(of []diag.Finding) []diag.Note {
	diag.Sort(of)
	slices.SortStableFunc(of, func(a, b diag.Finding) int { return cmp.Compare(a.Code.ID, b.Code.ID) })
	var notes []diag.Note
	for i := 0; i < len(of); {
		n := i
		for n < len(of) && of[n].Code == of[i].Code {
			n++
		}
		for _, f := range of[i:min(n, i+worst)] {
			notes = append(notes, diag.Note{Text: fmt.Sprintf("from this follows %s: %s", f.Code.ID, f.Message), At: f.Cause})
		}
		if more := n - i - worst; more > 0 {
			notes = append(notes, diag.Note{Text: fmt.Sprintf("from this follow %d more of %s", more, of[i].Code.ID)})
		}
		i = n
	}
	return notes
}
