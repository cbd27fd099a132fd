package report

import (
	"cmp"
	"encoding/xml"
	"io"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// JUnit writes a test suite a plan, for CI systems that show tests: each finding is a test case, and so is each rule
// that found nothing. What fails the run fails; lesser findings pass with their text as output.
var JUnit = &render.Renderer{
	Name: "junit", Kind: render.Check, Title: "JUnit XML, for CI systems that show tests",
	Render: func(w io.Writer, in *render.Input) error { return writeJUnit(w, []*render.Input{in}) }, Together: writeJUnit,
}

// The parts of the format as far as we write it, in the order of Jenkins's junit-10.xsd. No times and no hosts: the
// same input gives the same bytes.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Skipped *junitSkipped `xml:"skipped"`
		Failure *junitFailure `xml:"failure"`
		Output  *junitText    `xml:"system-out"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitText struct {
		Text string `xml:",chardata"`
	}
)

func writeJUnit(w io.Writer, ins []*render.Input) error {
	all := junitSuites{Name: "budgetplan"}
	for _, in := range ins {
		suite := suiteOf(in)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func suiteOf(in *render.Input) junitSuite {
	suite := junitSuite{Name: clean(cmp.Or(in.PlanName(), "budgetplan"))}
	found, read := make(map[string]bool), newSources(in.Source)
	for i := range in.Findings {
		f := &in.Findings[i]
		found[f.Code.ID] = true
		c := caseOf(in, f, read)
		switch {
		case c.Skipped != nil:
			suite.Skipped++
		case c.Failure != nil:
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if in.Tool != nil {
		for _, code := range in.Tool.Codes {
			if found[code.ID] {
				continue
			}
			c := junitCase{Name: code.Name, Class: code.ID}
			if switchedOff(in.Plan, code) {
				c.Skipped = &junitSkipped{"switched off by the policy"}
				suite.Skipped++
			}
			suite.Cases = append(suite.Cases, c)
		}
	}
	suite.Tests = len(suite.Cases)
	return suite
}

func caseOf(in *render.Input, f *diag.Finding, read *sources) junitCase {
	// Without its line, so that a test is the same one after lines have moved.
	about := strings.Join(slices.DeleteFunc([]string{f.Place().File, f.Subject, f.Detail}, func(s string) bool { return s == "" }), " ")
	c := junitCase{Name: clean(f.Code.Name + ": " + about), Class: f.Code.ID}
	switch {
	case f.Ignored != nil:
		c.Skipped = &junitSkipped{clean(cmp.Or(f.Ignored.Reason, "ignored"))}
	case f.Severity >= cmp.Or(in.FailOn, diag.Error):
		c.Failure = &junitFailure{Type: f.Severity.String(), Message: clean(f.Message), Text: whole(f, read)}
	default:
		c.Output = &junitText{whole(f, read)}
	}
	return c
}

// whole is a finding as the text format shows it.
func whole(f *diag.Finding, read *sources) string {
	var b strings.Builder
	_ = writeFinding(&b, f, read) // a strings.Builder takes everything
	return b.String()
}

func switchedOff(plan *model.Plan, code *diag.Code) bool {
	if plan == nil {
		return false
	}
	for _, key := range [...]string{code.ID, code.Name} {
		if s := plan.Policy.Rules[key]; s.Set() && s.V == diag.Off {
			return true
		}
	}
	return false
}
