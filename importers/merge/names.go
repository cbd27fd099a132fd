package merge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// checkNames finds services that only calls of plans mention and that are one slip away from one that is listed, or
// that a config calls: the plan would be checked against nothing that runs.
func (m *merger) checkNames() {
	var listed, doubtful []model.ServiceID
	for i := range m.plan.Services {
		switch f := &m.facts[i]; {
		case m.plan.Services[i].Declared || f.confirmed:
			listed = append(listed, model.ServiceID(i))
		case !f.confirmed && f.base < 0:
			doubtful = append(doubtful, model.ServiceID(i))
		}
	}
	m.near = m.neighbours(listed, doubtful)
	for _, id := range doubtful {
		if meant, ok := m.near[id]; ok {
			m.reportMisspelt(id, meant)
		}
	}
}

func (m *merger) reportMisspelt(id, meant model.ServiceID) {
	name, listed := m.plan.Services[id].Name, &m.plan.Services[meant]
	f := misspelt.New(name, m.facts[id].mention, "`%s` is not listed under `services`, and is one slip away from `%s`", name, listed.Name)
	f.Notes = []diag.Note{{Text: fmt.Sprintf("`%s` is listed here", listed.Name), At: originOf(listed.At)}}
	if !listed.Declared {
		f.Message = fmt.Sprintf("only the plan calls `%s`, which is one slip away from `%s`, which a config calls", name, listed.Name)
		f.Notes[0] = diag.Note{Text: fmt.Sprintf("`%s` is called here", listed.Name), At: originOf(listed.At)}
	}
	f.Help = fmt.Sprintf("write `%s`, or list `%s: {}` under `services` if it is another service", listed.Name, name)
	m.findings = append(m.findings, f)
}

// neighbours gives for each doubtful name the first listed one that is one edit away. Names one edit apart share a
// word that is left when each loses at most one letter, so the doubtful names, which are few, are indexed by those.
// Where the listed name has a digit in the place of the edit, or the doubtful one a digit more, it is no slip.
func (m *merger) neighbours(listed, doubtful []model.ServiceID) map[model.ServiceID]model.ServiceID {
	if len(listed) == 0 || len(doubtful) == 0 {
		return nil
	}
	shorter, withoutDigit := map[string][]model.ServiceID{}, map[string][]model.ServiceID{}
	for _, id := range doubtful {
		shortened(m.plan.Services[id].Name, func(short []byte, lost rune) {
			if unicode.IsDigit(lost) {
				withoutDigit[string(short)] = append(withoutDigit[string(short)], id)
			} else {
				shorter[string(short)] = append(shorter[string(short)], id)
			}
		})
	}
	near := map[model.ServiceID]model.ServiceID{}
	for _, id := range listed {
		name := m.plan.Services[id].Name
		try := func(doubtful []model.ServiceID) {
			for _, d := range doubtful {
				if _, found := near[d]; !found && slip(m.plan.Services[d].Name, name) {
					near[d] = id
				}
			}
		}
		shortened(name, func(short []byte, lost rune) {
			if unicode.IsDigit(lost) {
				return
			}
			try(shorter[string(short)])
			if lost != 0 {
				try(withoutDigit[string(short)])
			}
		})
	}
	return near
}

// longest is the length beyond which a name is not looked at for slips: nobody types it.
const longest = 64

// shortened calls visit with the name, where no letter is lost, and with what is left of it without any one of its
// letters.
func shortened(name string, visit func(short []byte, lost rune)) {
	if utf8.RuneCountInString(name) > longest {
		return
	}
	short, last := []byte(name), rune(-1)
	visit(short, 0)
	for i, r := range name {
		if r == last {
			continue
		}
		last = r
		_, size := utf8.DecodeRuneInString(name[i:])
		short = append(append(short[:0], name[:i]...), name[i+size:]...)
		visit(short, r)
	}
}

// slip reports whether one insertion, deletion, replacement or swap of neighbours makes a name of the other, in a
// word of at least three letters. `a` and `b`, or `cache1` and `cache2`, differ on purpose.
func slip(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	k := 0
	for k < len(x)-i && x[len(x)-1-k] == y[len(y)-1-k] {
		k++
	}
	left, right := x[i:len(x)-k], y[i:len(y)-k]
	oneLetter := len(left) <= 1 && len(right) == 1
	swapped := len(left) == 2 && len(right) == 2 && left[0] == right[1] && left[1] == right[0]
	if !oneLetter && !swapped || slices.ContainsFunc(right, unicode.IsDigit) {
		return false
	}
	return word(x, i) >= 3 && word(y, i) >= 3
}

// word gives the length of the word around a place.
func word(r []rune, at int) int {
	between := func(r rune) bool { return strings.ContainsRune("-_./:|", r) }
	from, to := at, at
	for from > 0 && !between(r[from-1]) {
		from--
	}
	for to < len(r) && !between(r[to]) {
		to++
	}
	return to - from
}
