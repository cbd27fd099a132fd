package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// worst is how many subjects of one cause, and how many findings of one code that follow from another, are told
// one by one.
const worst = 3

// told turns what was raised into what is told: without what is off, one finding a cause, and what follows from
// another finding as a note on it, sorted.
func (p *Pass) told(all []*raised) []diag.Finding {
	at := firsts(all)
	parent, restates := make([]int32, len(all)), make([]bool, len(all))
	for i := range all {
		parent[i], restates[i] = follows(all, int32(i), at)
	}
	of, groups := p.groups(all, parent)
	below := make([]int32, len(all))
	for i := range all {
		below[i] = nowhere
		if parent[i] >= 0 && !restates[i] {
			top := int32(i)
			for parent[top] >= 0 {
				top = parent[top]
			}
			below[i] = of[top]
		}
	}
	members, followers := bucket(of, groups), bucket(below, groups)
	found := make([]*diag.Finding, groups)
	for g := range found {
		found[g] = together(pick(all, members.of(int32(g))))
		if notes := followNotes(pick(all, followers.of(int32(g)))); len(notes) > 0 {
			found[g].Notes = append(found[g].Notes, notes...)
		}
	}
	order(found)
	out := make([]diag.Finding, groups)
	for i, f := range found {
		out[i] = *f
	}
	return out
}

// pick gives some of the findings, by their numbers.
func pick(all []*raised, numbers []int32) []*diag.Finding {
	if len(numbers) == 0 {
		return nil
	}
	some := make([]*diag.Finding, len(numbers))
	for k, i := range numbers {
		some[k] = &all[i].Finding
	}
	return some
}

// firsts has, for every code that another finding may follow from, the findings by their subject, the first of several.
func firsts(all []*raised) map[*diag.Code]map[string]int32 {
	many := make(map[*diag.Code]int)
	for _, f := range all {
		many[f.Code]++
	}
	at := make(map[*diag.Code]map[string]int32)
	want := func(c *diag.Code) {
		if at[c] == nil {
			at[c] = make(map[string]int32, many[c])
		}
	}
	for _, codes := range before {
		for _, c := range codes {
			want(c)
		}
	}
	for _, f := range all {
		for _, r := range f.after {
			want(r.code)
		}
	}
	for i, f := range all {
		if of := at[f.Code]; of != nil && f.Severity != diag.Off {
			if _, known := of[f.Subject]; !known {
				of[f.Subject] = int32(i)
			}
		}
	}
	return at
}

// before has, for each code, those that speak for it on the same subject.
var before = map[string][]*diag.Code{
	"BP101": {ImpossibleCall}, "BP204": {AttemptsDoNotFit},
}

// follows gives the finding that speaks for the i-th, -1 when it stands by itself. One that is ignored stands by
// itself too: its ignore was meant for it. And nothing speaks for a finding that is graver than itself, or that it
// would hide by being ignored, unless both say the same.
func follows(all []*raised, i int32, at map[*diag.Code]map[string]int32) (parent int32, restates bool) {
	f := all[i]
	if f.Ignored != nil || f.Severity == diag.Off {
		return -1, false
	}
	for _, r := range f.after {
		k, ok := at[r.code][r.subject]
		if ok && k != i && r.code != f.Code && (r.restates || speaksFor(all[k], f)) {
			return k, r.restates
		}
	}
	for _, c := range before[f.Code.ID] {
		if k, ok := at[c][f.Subject]; ok && speaksFor(all[k], f) {
			return k, false
		}
	}
	return -1, false
}

func speaksFor(by, f *raised) bool { return by.Ignored == nil && by.Severity >= f.Severity }

// groups numbers the findings that stand by themselves by code and cause; of says which group each is in.
func (p *Pass) groups(all []*raised, parent []int32) (of []int32, groups int) {
	type key struct {
		code *diag.Code
		cause
		ignored bool
	}
	index := make(map[key]int32, len(all))
	of = make([]int32, len(all))
	for i, f := range all {
		of[i] = nowhere
		if parent[i] >= 0 || f.Severity == diag.Off {
			continue
		}
		cause, ok := p.causeOf(f.Cause)
		k := key{f.Code, cause, f.Ignored != nil}
		g, seen := index[k]
		if !ok || !seen {
			g = int32(groups)
			groups++
		}
		if ok && !seen {
			index[k] = g
		}
		of[i] = g
	}
	return of, groups
}

// together makes one finding of those that share a cause: the worst, with the next ones as notes and all subjects.
func together(members []*diag.Finding) *diag.Finding {
	order(members)
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
		f.Notes = append(f.Notes, diag.Note{Text: m.Message, At: elsewhere(m, f)})
	}
	if byDefault {
		nameDefault(f)
	}
	f.Fixes = mergeFixes(members)
	return f
}

// nameDefault words a finding that a platform's default causes by the default's name.
func nameDefault(f *diag.Finding) {
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
func mergeFixes(members []*diag.Finding) []diag.Fix {
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
	a, okA := amount(x.To)
	b, okB := amount(y.To)
	if !okA || !okB {
		return false
	}
	return x.Bound == "most" && a < b || x.Bound == "least" && a > b
}

// amount reads a duration or a count.
func amount(text string) (n int64, ok bool) {
	if d, err := model.ParseDuration(text); err == nil {
		return int64(d), true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// followNotes tells what follows from a finding: of each code the worst ones, and how many more.
func followNotes(of []*diag.Finding) []diag.Note {
	order(of)
	slices.SortStableFunc(of, func(a, b *diag.Finding) int { return cmp.Compare(a.Code.ID, b.Code.ID) })
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
