package pipeline

import (
	"bytes"
	"fmt"
	"slices"
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

// templateOf gives the mark that holds at a place.
func templateOf(marks []template, at diag.Span) string {
	k := sort.Search(len(marks), func(k int) bool { return marks[k].line > at.Line })
	if k == 0 || at.Nowhere() {
		return ""
	}
	return marks[k-1].file
}

// Templates gives for a place in a rendered file the template that it comes from, empty for any other place.
func Templates(source func(string) []byte) func(diag.Span) string {
	marks := map[string][]template{}
	var file string // looked at last
	var found []template
	return func(at diag.Span) string {
		if at.File != file {
			known := false
			if found, known = marks[at.File]; !known {
				found = templatesOf(source(at.File))
				marks[at.File] = found
			}
			file = at.File
		}
		return templateOf(found, at)
	}
}

// noteTemplates adds to every finding in a rendered file which template its place comes from, and to every note which
// other template that one does: nobody edits what helm prints.
func noteTemplates(findings []diag.Finding, source func(string) []byte) []diag.Finding {
	at := Templates(source)
	for i := range findings {
		f := &findings[i]
		file, own := at(f.Place()), false
		for k := range f.Notes {
			n := f.Notes[k]
			if n.At == nil {
				continue
			}
			if other := at(n.At.Span()); other != "" && other != file {
				if !own {
					f.Notes, own = slices.Clone(f.Notes), true
				}
				f.Notes[k].Text += fmt.Sprintf(", rendered from `%s`", other)
			}
		}
		if file != "" {
			f.Notes = append(slices.Clip(f.Notes), diag.Note{Text: fmt.Sprintf("rendered from `%s`", file)})
		}
	}
	return findings
}
