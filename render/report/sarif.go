package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// SARIF writes the findings as a SARIF 2.1.0 log, for code scanning: one run, whatever the number of plans, with paths
// relative to the repository's root. All findings are in it, as in json; ignored ones are suppressed.
var SARIF = &render.Renderer{
	Name: "sarif", Kind: render.Check, Title: "SARIF 2.1.0, for code scanning",
	Render: func(w io.Writer, in *render.Input) error { return writeSARIF(w, []*render.Input{in}) }, Together: writeSARIF,
}

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home        = "https://github.com/budgetplan/budgetplan"
	// sourceRoot stands for the repository's root, by the name that viewers know.
	sourceRoot = "%SRCROOT%"
	// fingerprint names what identifies a finding over time; another way to make it would be /v2.
	fingerprint = "budgetplanFinding/v1"
)

func writeSARIF(w io.Writer, ins []*render.Input) error {
	s := sarif{rules: make(map[string]int), seen: make(map[string]int)}
	run := sarifRun{
		Tool:        sarifTool{Driver: sarifDriver{Name: "budgetplan", InformationURI: home, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
		ColumnKind:  "unicodeCodePoints", Results: []sarifResult{},
	}
	s.describe(&run.Tool.Driver, ins)
	for _, in := range ins {
		s.in, s.sources = in, newSources(in.Source)
		for i := range in.Findings {
			run.Results = append(run.Results, s.result(&in.Findings[i]))
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarif makes the results of one log.
type sarif struct {
	in      *render.Input
	sources *sources
	rules   map[string]int // index of each code in the driver's rules
	seen    map[string]int // how often a fingerprint was given already
}

// describe lists the rules that were broken, by id, each with its page.
func (s *sarif) describe(driver *sarifDriver, ins []*render.Input) {
	var codes []*diag.Code
	var tool *render.Tool
	for _, in := range ins {
		for i := range in.Findings {
			codes = append(codes, in.Findings[i].Code)
		}
		if tool == nil {
			tool = in.Tool
		}
	}
	slices.SortStableFunc(codes, func(a, b *diag.Code) int { return strings.Compare(a.ID, b.ID) })
	codes = slices.CompactFunc(codes, func(a, b *diag.Code) bool { return a.ID == b.ID })
	if tool != nil {
		driver.Version = tool.Version
	}
	for i, c := range codes {
		s.rules[c.ID] = i
		driver.Rules = append(driver.Rules, describeRule(c, tool))
	}
}

func describeRule(c *diag.Code, tool *render.Tool) sarifRule {
	summary := c.Summary
	if summary == "" {
		summary = c.Name
	}
	rule := sarifRule{
		ID: c.ID, Name: pascal(c.Name), Short: sarifText{Text: summary},
		HelpURI: home + "/blob/main/docs/rules.md#" + strings.ToLower(c.ID) + "-" + c.Name,
		Help:    sarifText{Text: summary + "; `budgetplan explain " + c.ID + "` says more"},
		Default: sarifConfiguration{Level: level(c.Severity)},
	}
	if tool != nil && tool.Page != nil {
		rule.Help.Markdown = tool.Page(c)
	}
	return rule
}

// pascal turns inverted-timeout into InvertedTimeout, the form that the standard asks of a rule's name.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func level(s diag.Severity) string {
	switch s {
	case diag.Error:
		return "error"
	case diag.Warning:
		return "warning"
	case diag.Info:
		return "note"
	}
	return "none"
}

func (s *sarif) result(f *diag.Finding) sarifResult {
	text := f.Message
	if n := grouped(f); n != "" {
		text += "; " + n
	}
	if f.Help != "" {
		text += "\nhelp: " + f.Help
	}
	result := sarifResult{
		RuleID: f.Code.ID, RuleIndex: s.rules[f.Code.ID], Level: level(f.Severity), Message: sarifText{Text: text},
		Locations: []sarifLocation{s.location(f)}, Fingerprints: map[string]string{fingerprint: s.identity(f)},
		Fixes: s.fixes(f),
	}
	for i, n := range f.Notes {
		related := sarifLocation{ID: i + 1, Message: &sarifText{Text: n.Text}}
		if n.At != nil {
			related.Physical = s.physical(n.At.Span())
			if n.At.Default != nil {
				related.Message.Text += " (" + n.At.Default.String() + ")"
			}
		}
		result.Related = append(result.Related, related)
	}
	if f.Ignored != nil {
		suppression := sarifSuppression{Kind: "inSource", Justification: f.Ignored.Reason}
		if at := s.physical(f.Ignored.At); at != nil {
			suppression.Location = &sarifLocation{Physical: at}
		}
		result.Suppressions = []sarifSuppression{suppression}
	}
	return result
}

// identity is what a finding has in common with itself after lines have moved and numbers have changed: its code, its
// subject, its detail and its file. A second finding that has all of them in common is told by its number.
func (s *sarif) identity(f *diag.Finding) string {
	at, _ := s.path(f.Place().File)
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Code.ID, f.Subject, f.Detail, at}, "\x00")))
	id := hex.EncodeToString(sum[:8])
	s.seen[id]++
	return id + ":" + strconv.Itoa(s.seen[id])
}

// location is where a finding is shown. Code scanning takes none without a file, so that one of nowhere, or of standard
// input, is shown at the file that the plan begins with.
func (s *sarif) location(f *diag.Finding) sarifLocation {
	at := sarifLocation{Physical: s.physical(f.Place())}
	if f.Subject != "" {
		at.Logical = []sarifLogical{{Name: f.Subject}}
	}
	if at.Physical == nil && s.in.Plan != nil {
		for _, r := range s.in.Plan.Read {
			if at.Physical == nil && r.Skipped == "" {
				at.Physical = s.physical(diag.Span{File: r.File})
			}
		}
	}
	return at
}

// physical gives a place in a file, nil for nowhere and for standard input.
func (s *sarif) physical(at diag.Span) *sarifPhysical {
	path, ok := s.path(at.File)
	if !ok {
		return nil
	}
	file := sarifArtifact{URI: (&url.URL{Path: path}).String(), Base: sourceRoot}
	if absolute(path) {
		file = sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()}
	}
	return &sarifPhysical{Artifact: file, Region: region(at)}
}

// path gives the path of a file in its repository; ok is false for nowhere and for standard input.
func (s *sarif) path(file string) (path string, ok bool) {
	if file == "" || file == "-" {
		return file, false
	}
	return relative(s.in, file), true
}

// region gives the line and columns of a place, nil where only the file is known.
func region(at diag.Span) *sarifRegion {
	if at.Line < 1 {
		return nil
	}
	r := &sarifRegion{Line: at.Line, Column: max(0, at.Col)}
	if r.Column > 0 && at.EndCol >= at.Col {
		r.EndColumn = at.EndCol
	}
	return r
}

// fixes gives the edits of a finding, and each single change that is one value for another in a plan file. Other files
// have a syntax of their own for it.
func (s *sarif) fixes(f *diag.Finding) []sarifFix {
	var fixes []sarifFix
	if len(f.Edits) > 0 {
		if fix, ok := s.fix(f.Help, f.Edits); ok {
			fixes = append(fixes, fix)
		}
	}
	for _, x := range f.Fixes {
		var edits []diag.Edit
		var words []string
		settings := append([]diag.Fix{x}, x.With...)
		for _, set := range settings {
			if set.To != "" && set.From != "" && s.isPlan(set.At.File) && s.sources.text(set.At) == set.From {
				edits, words = append(edits, diag.Edit{At: set.At, New: set.To}), append(words, setText(set))
			}
		}
		if len(edits) < len(settings) {
			continue
		}
		if fix, ok := s.fix("set "+strings.Join(words, ", and "), edits); ok {
			fixes = append(fixes, fix)
		}
	}
	return fixes
}

// setText words one setting.
func setText(x diag.Fix) string {
	words := "`" + x.Key + "` of `" + x.Subject + "` to " + x.To
	switch x.Bound {
	case "most":
		words += " or less"
	case "least":
		words += " or more"
	}
	return words
}

func (s *sarif) isPlan(file string) bool {
	return s.in.Plan != nil && slices.ContainsFunc(s.in.Plan.Read, func(r model.Read) bool { return r.File == file && r.As == "plan" })
}

// fix makes one fix of edits, by file; ok is false where one of them is in no file.
func (s *sarif) fix(words string, edits []diag.Edit) (fix sarifFix, ok bool) {
	fix.Description.Text = words
	for _, e := range edits {
		at := s.physical(e.At)
		if at == nil || at.Region == nil || at.Region.EndColumn == 0 {
			return fix, false
		}
		replacement := sarifReplacement{Deleted: *at.Region, Inserted: sarifContent{e.New}}
		i := slices.IndexFunc(fix.Changes, func(c sarifChange) bool { return c.Artifact == at.Artifact })
		if i < 0 {
			fix.Changes, i = append(fix.Changes, sarifChange{Artifact: at.Artifact}), len(fix.Changes)
		}
		fix.Changes[i].Replacements = append(fix.Changes[i].Replacements, replacement)
	}
	return fix, true
}
