// Package importers has the type of an importer: a value in a list (package all) that recognises bytes by
// their content and turns them into a fragment of a plan. It reports what it read and judges nothing.
package importers

import (
	"bytes"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Importer reads one kind of file.
type Importer struct {
	// Name is the word of `sources:` and of `import --as`.
	Name string
	// Title says in a few words what the importer reads, for messages and docs.
	Title string
	// Binary is set where the content may have NUL bytes; other importers are never asked about such.
	Binary bool
	// Recognise reports whether the content is of this kind. It looks at the content alone, never at the name.
	Recognise func(*Source) bool
	// Resembles says of a content that is not recognised what it is, where it looks like this kind; empty where it does
	// not. It may be nil.
	Resembles func(*Source) string
	// Import gives everything that the source says, each value with its place. It always gives a fragment,
	// and findings for what it could not read or understand.
	Import func(*Source) (*model.Fragment, []diag.Finding)
	// Together, where set, imports all sources of the kind at once, since they complete each other: two scrapes of
	// one target are a window. It gives a fragment for each source, in their order, whatever that order is.
	Together func([]*Source) ([]*model.Fragment, []diag.Finding)
	// Codes are the findings that Import raises.
	Codes []*diag.Code
}

// Source is one named input.
type Source struct {
	// File is the name to show, relative to the working directory; `-` for standard input.
	File  string
	Bytes []byte
	// Service says whose calls these are where the file does not; from `sources:`.
	Service model.Val[string]
	// Ref is the element of `sources` that names the file, zero for a file of the command line.
	Ref model.SourceRef
	// Platforms are the versions whose defaults hold.
	Platforms map[string]model.Val[string]

	yaml         *yamlsrc.File
	yamlFindings []diag.Finding
}

// Binary reports whether the content is no text: a NUL byte at its start.
func (s *Source) Binary() bool {
	return bytes.IndexByte(s.Bytes[:min(len(s.Bytes), 8000)], 0) >= 0
}

// YAML parses the source once, as YAML or JSON. The file is never nil; the findings are syntax errors.
func (s *Source) YAML() (*yamlsrc.File, []diag.Finding) {
	if s.yaml == nil {
		s.yaml, s.yamlFindings = yamlsrc.Parse(s.File, s.Bytes)
	}
	return s.yaml, s.yamlFindings
}
