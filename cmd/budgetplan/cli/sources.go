package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/config"
	"github.com/budgetplan/budgetplan/render/report"
)

// writeSources says what each file gave, which of its names were joined to a service of another name, which to none, and
// lists every value of the plan with where it comes from.
func writeSources(r *pipeline.Result) func(io.Writer, bool, int) error {
	return func(out io.Writer, _ bool, _ int) error {
		for i, in := range r.Plans {
			if i > 0 {
				fmt.Fprintln(out)
			}
			s := &sourceLister{Columns: report.NewColumns(out), in: in, used: map[string]int{}, template: pipeline.Templates(in.Source)}
			values := s.values()
			s.files()
			s.names("joined", in.Plan.Joined)
			s.names("left over", in.Plan.Left)
			s.section("values", values)
			if err := s.Flush(); err != nil {
				return err
			}
		}
		return nil
	}
}

// sourceLister writes what is known of where one plan comes from.
type sourceLister struct {
	*report.Columns
	in *render.Input
	// used counts the values of each file.
	used     map[string]int
	template func(diag.Span) string
}

// section writes a heading and its lines, nothing where there are none. Columns line up within a section.
func (s *sourceLister) section(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	if heading != "read" {
		fmt.Fprintln(s)
	}
	fmt.Fprintln(s, heading)
	for _, l := range lines {
		fmt.Fprintln(s, "  "+l)
	}
}

func (s *sourceLister) files() {
	var lines []string
	for i := range s.in.Plan.Read {
		read := &s.in.Plan.Read[i]
		if read.As == "" {
			lines = append(lines, fmt.Sprintf("%s\tnot read: %s", read.File, read.Skipped))
			continue
		}
		gave := count(read.Calls, "call") + ", " + count(s.used[read.File], "value") + " in use"
		if len(read.Alone) > 0 {
			gave += ", known to it alone: " + s.calls(read.Alone)
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s", read.File, read.As, gave))
	}
	s.section("read", lines)
}

// calls names the first calls of a list.
func (s *sourceLister) calls(ids []model.CallID) string {
	var names []string
	for _, id := range ids[:min(len(ids), shown)] {
		names = append(names, s.in.Plan.Calls[id].ID)
	}
	more := ""
	if len(ids) > shown {
		more = fmt.Sprintf(" and %d more", len(ids)-shown)
	}
	return strings.Join(names, ", ") + more
}

func (s *sourceLister) names(heading string, list []model.Joined) {
	var lines []string
	for _, j := range list {
		means := j.Why
		if j.Service != "" {
			means = "is " + j.Service + ": " + j.Why
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s", j.Name, s.place(j.At), means))
	}
	s.section(heading, lines)
}

// place shows a place with the template that it was rendered from, if any.
func (s *sourceLister) place(at diag.Span) string {
	if file := s.template(at); file != "" {
		return at.String() + " (" + file + ")"
	}
	return at.String()
}

// values gives a line for each value of the plan.
func (s *sourceLister) values() []string {
	var lines []string
	p := s.in.Plan
	for i := range p.Entrypoints {
		lines = s.add(lines, p.Entrypoints[i].Name, "", config.Entrypoint(&p.Entrypoints[i]))
	}
	for i := range p.Services {
		lines = s.add(lines, p.Services[i].Name, "", config.Service(&p.Services[i]))
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		lines = s.add(lines, c.ID, "", config.Call(c))
		for k := 1; k < len(c.Waiters); k++ {
			lines = s.add(lines, c.ID+"@"+c.Waiters[k].Name, "", config.Waiter(&c.Waiters[k]))
		}
	}
	return lines
}

func (s *sourceLister) add(lines []string, subject, prefix string, values []config.Value) []string {
	for _, v := range values {
		if len(v.Sub) > 0 {
			lines = s.add(lines, subject, prefix+v.Key+".", v.Sub)
			continue
		}
		whence := config.Whence(v.From)
		if v.From != nil {
			s.used[v.From.File]++
			if file := s.template(v.From.Span()); file != "" {
				whence += " (" + file + ")"
			}
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s", subject, prefix+v.Key, v.Text, whence))
	}
	return lines
}
