// Package diag has the words in which every stage of budgetplan speaks of places, causes and findings.
// It imports the standard library alone, so that each floor of the house can use it.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity ranks a finding. Off is the severity of a rule that a policy has switched off.
type Severity uint8

// The severities, in rising order. Info never fails a run.
const (
	Off Severity = iota
	Info
	Warning
	Error
)

var severityNames = [...]string{"off", "info", "warning", "error"}

// String gives the word that policies and reports use.
func (s Severity) String() string { return severityNames[s] }

// ParseSeverity reads the word of a policy; ok is false for any other word.
func ParseSeverity(word string) (s Severity, ok bool) {
	i := slices.Index(severityNames[:], word)
	return Severity(max(i, 0)), i >= 0
}

// Span is a place in a file. Lines and columns are 1-based, columns count runes; Line 0 is nowhere.
// EndCol is the column after the last rune, or 0 where only the start is known.
type Span struct {
	File              string
	Line, Col, EndCol int32
}

// Nowhere reports whether the span points at no line.
func (s Span) Nowhere() bool { return s.Line == 0 }

// String gives file:line:column, as editors follow it.
func (s Span) String() string {
	switch {
	case s.Nowhere():
		return s.File
	case s.Col == 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Col)
}

// Compare orders spans by file, line and column.
func (s Span) Compare(t Span) int {
	return cmp.Or(cmp.Compare(s.File, t.File), cmp.Compare(s.Line, t.Line), cmp.Compare(s.Col, t.Col))
}

// Default is a value that nobody wrote: Platform's Field has Value since version Since, as Source
// (module@version and file) states.
type Default struct {
	Platform, Field, Value, Since, Source string
}

// String names the default the way a reader would look it up: "envoy's route.timeout 15s".
func (d *Default) String() string {
	return fmt.Sprintf("%s's default %s %s", d.Platform, d.Field, d.Value)
}

// Origin says where a value comes from: written at Span, or supplied by Default. A default keeps the place of the thing
// that it was supplied for, if there is one. Every value has one, so it is kept small: the key that the value stands
// behind is in the same file.
type Origin struct {
	File                       string
	Line, Col, EndCol          int32
	KeyLine, KeyCol, KeyEndCol int32
	Default                    *Default
}

// At makes the origin of what stands at a place.
func At(at Span) *Origin {
	return &Origin{File: at.File, Line: at.Line, Col: at.Col, EndCol: at.EndCol}
}

// For makes the origin of a value that the default supplies for what stands at a place.
func (d *Default) For(at Span) *Origin {
	o := At(at)
	o.Default = d
	return o
}

// Behind makes the origin of a value that stands behind a key.
func Behind(key, value Span) *Origin {
	o := At(value)
	if key.File == value.File {
		o.KeyLine, o.KeyCol, o.KeyEndCol = key.Line, key.Col, key.EndCol
	}
	return o
}

// Span gives the place of the value.
func (o *Origin) Span() Span { return Span{o.File, o.Line, o.Col, o.EndCol} }

// Nowhere reports whether the value stands at no line.
func (o *Origin) Nowhere() bool { return o.Line == 0 }

// Place is where to point a reader: the key of the value, else the value itself.
func (o *Origin) Place() Span {
	if o.KeyLine > 0 {
		return Span{o.File, o.KeyLine, o.KeyCol, o.KeyEndCol}
	}
	return o.Span()
}

// Same reports whether two values stand at one place; at no line, whether they have one origin. Nil is nobody's.
func (o *Origin) Same(p *Origin) bool {
	return o != nil && p != nil && (o == p || !o.Nowhere() && o.Span() == p.Span())
}

// Written reports whether a person wrote the value.
func (o *Origin) Written() bool { return o != nil && o.Default == nil }

// Code is one kind of finding. Each is declared once, where it is raised. Name reads after "allow";
// Summary is one line, lower case, without a period.
type Code struct {
	ID, Name, Summary string
	Severity          Severity
}

// Edit replaces the text at a place. An empty span (EndCol equal to Col) inserts.
type Edit struct {
	At  Span
	New string
}

// Note is a further place, or a line of arithmetic, that belongs to a finding.
type Note struct {
	Text string
	At   *Origin
}

// Fix is a single change that ends a finding: set Key, written at At as From, to at most or at least To
// (Bound says which; empty means exactly To). With has the settings that belong to it: only together they end it.
type Fix struct {
	Subject, Key string
	At           Span
	From         string
	Bound        string
	To           string
	With         []Fix
}

// Suppression says why a finding is not counted.
type Suppression struct {
	Reason string
	At     Span
}

// Finding is what a stage or a rule has to say about one subject. Message states the fact with its
// numbers, Help the change, Notes everything else that contributed; all are lower case, without a
// final period, with names in backticks.
type Finding struct {
	Code            *Code
	Severity        Severity
	Subject, Detail string
	// Cause is the value that makes it so; findings of one code with one cause are told once.
	Cause *Origin
	// At is where to point; the zero Span means the place of Cause.
	At            Span
	Message, Help string
	Notes         []Note
	Edits         []Edit
	Fixes         []Fix
	// Touched weighs the finding: requests a second where rates are known, else per request.
	Touched float64
	// Count and Subjects are set by grouping: how many subjects share the cause, and which, worst first.
	Count    int
	Subjects []string
	// Ignored is set when an ignore suppresses the finding.
	Ignored *Suppression
}

// Place is the span to point at.
func (f *Finding) Place() Span {
	if f.At.Line == 0 && f.Cause != nil && f.At.File == "" {
		return f.Cause.Place()
	}
	return f.At
}

// Sort orders findings by severity, then by the requests they touch, then by place, code and subject,
// so that the order of files on the command line never shows.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			-cmp.Compare(a.Severity, b.Severity),
			-cmp.Compare(a.Touched, b.Touched),
			a.Place().Compare(b.Place()),
			cmp.Compare(a.Code.ID, b.Code.ID),
			cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// New starts a finding of a code with the code's own severity.
func (c *Code) New(subject string, at Span, format string, args ...any) Finding {
	return Finding{Code: c, Severity: c.Severity, Subject: subject, At: at, Message: fmt.Sprintf(format, args...)}
}
