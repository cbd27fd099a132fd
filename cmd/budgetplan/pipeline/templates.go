package pipeline

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/budgetplan/budgetplan/model/diag"
)

// template says that what follows Line was rendered from File, as `helm template` writes it: `# Source: chart/x.yaml`.
type template struct {
	line int32
	file string
}

var marker = []byte("# Source: ")

// templatesOf finds the marks of a rendered file. A mark holds until the next one.
func templatesOf(src []byte) []template {
	if !bytes.Contains(src, marker) {
		return nil
	}
	var found []template
	for line := int32(1); len(src) > 0; line++ {
		text, rest, _ := bytes.Cut(src, []byte{'\n'})
		if file, ok := bytes.CutPrefix(text, marker); ok {
			found = append(found, template{line, string(bytes.TrimSpace(file))})
		}
		src = rest
	}
	return found
}

// noteTemplates adds to every finding in a rendered file which template its place comes from: nobody edits what
// helm prints.
func noteTemplates(findings []diag.Finding, source func(string) []byte) []diag.Finding {
	marks := map[string][]template{}
	for i := range findings {
		at := findings[i].Place()
		if at.Nowhere() {
			continue
		}
		found, known := marks[at.File]
		if !known {
			found = templatesOf(source(at.File))
			marks[at.File] = found
		}
		k := sort.Search(len(found), func(k int) bool { return found[k].line > at.Line })
		if k > 0 {
			findings[i].Notes = append(findings[i].Notes, diag.Note{Text: fmt.Sprintf("rendered from `%s`", found[k-1].file)})
		}
	}
	return findings
}
