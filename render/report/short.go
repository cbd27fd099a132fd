package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
)

// Short writes each finding on one line, in the form that editors and grep follow.
var Short = &render.Renderer{
	Name: "short", Kind: render.Check, Title: "one line a finding, for editors and grep",
	Render: func(w io.Writer, in *render.Input) error {
		out := bufio.NewWriter(w)
		for i := range in.Findings {
			f := &in.Findings[i]
			if f.Ignored != nil && !in.Verbose || f.Severity == diag.Info && in.Quiet {
				continue
			}
			out.WriteString(shortLine(f, style(in.Color)) + "\n")
		}
		return out.Flush()
	},
}

// shortLine gives `file:line:col: error BP101: message`; the default or the subject stands for a missing place.
func shortLine(f *diag.Finding, s style) string {
	where := f.Place().String()
	if where == "" && f.Cause != nil && f.Cause.Default != nil {
		where = f.Cause.Default.String()
	}
	if where == "" {
		where = f.Subject
	}
	if where != "" {
		where = clean(where) + ": "
	}
	line := where + s.severity(f.Severity, f.Severity.String()+" "+f.Code.ID) + ": " + clean(f.Message)
	if f.Count > 1 {
		line += fmt.Sprintf(" (%d share this cause)", f.Count)
	}
	if f.Ignored != nil {
		line += " (ignored: " + clean(f.Ignored.Reason) + ")"
	}
	return line
}
