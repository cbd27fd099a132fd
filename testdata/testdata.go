// Package testdata has the scripts of the whole command. Those of the input findings, BP001 to BP012, open with the
// page that `budgetplan explain` prints, so that what a page claims is what a test has run.
package testdata

import (
	"embed"
	"strings"
)

//go:embed script/bp0*.txtar
var scripts embed.FS

// Page gives the page of an input finding: the comment that its script opens with. It is empty where there is none.
func Page(code string) string {
	entries, err := scripts.ReadDir("script")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if id, _, _ := strings.Cut(e.Name(), "_"); !strings.EqualFold(id, code) {
			continue
		}
		src, err := scripts.ReadFile("script/" + e.Name())
		if err != nil {
			return ""
		}
		return comment(string(src))
	}
	return ""
}

// comment is the text of the comment lines at the start.
func comment(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		text, found := strings.CutPrefix(line, "#")
		if !found {
			break
		}
		b.WriteString(strings.TrimPrefix(text, " "))
	}
	return b.String()
}
