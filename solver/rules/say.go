package rules

import (
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// say puts words into the %s of a text, in their order. It is for what is said of every other call of a plan, where
// fmt.Sprintf takes most of the time.
func say(text string, words ...string) string {
	n := len(text)
	for _, w := range words {
		n += len(w)
	}
	var b strings.Builder
	b.Grow(n)
	for _, w := range words {
		before, after, _ := strings.Cut(text, "%s")
		b.WriteString(before)
		b.WriteString(w)
		text = after
	}
	b.WriteString(text)
	return b.String()
}

// found starts a finding of a code with its message.
func found(c *diag.Code, subject, message string) diag.Finding {
	return diag.Finding{Code: c, Severity: c.Severity, Subject: subject, Message: message}
}

// spelt has durations as they are written; the same few are written again and again.
type spelt [1024]struct {
	model.Duration
	text string
}

// spell writes a duration.
func (p *Pass) spell(d model.Duration) string {
	if p.spelt == nil {
		p.spelt = new(spelt)
	}
	at := &p.spelt[uint64(d)*0x9e3779b97f4a7c15>>54]
	if at.text == "" || at.Duration != d {
		at.Duration, at.text = d, d.String()
	}
	return at.text
}
