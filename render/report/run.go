package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// RunTable writes what becomes of a request for a terminal: in words, then number by number, as the plan has it and
// with every deadline enforced.
func RunTable(w io.Writer, r *render.Run) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n%s\n\n", wrapped(clean(r.Sentence())), wrapped(clean(r.Remedy())))
	t := NewColumns(out)
	cells := func(name, a, b string) {
		if r.Same() {
			fmt.Fprintf(t, "%s\t%s\n", name, a)
			return
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", name, a, b)
	}
	cells("request", "as configured", "every deadline enforced")
	for _, row := range []struct {
		name string
		cell func(*solver.Run) string
	}{
		{"answer", func(run *solver.Run) string { return answerCell(run) }},
		{"last work ends", func(run *solver.Run) string { return brief(run.Ends, up) }},
		{"orphaned work", func(run *solver.Run) string { return render.SumText(run, render.Orphaned(run)) }},
		{"waited for `" + clean(r.ServiceName(r.Scenario.Service)) + "`", func(run *solver.Run) string {
			return render.SumText(run, r.Spent(run, r.Scenario.Service).Waited)
		}},
	} {
		cells(row.name, row.cell(r.AsIs), row.cell(r.Enforced))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	out.WriteByte('\n')
	t = NewColumns(out)
	fmt.Fprint(t, "service\tstarts\twork\torphaned\tat once\n")
	for _, n := range runServices(r) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", clean(r.ServiceName(n)),
			change(r, n, func(_ *solver.Run, s solver.Spent) string { return solver.CountSign(s.Starts) }),
			change(r, n, func(run *solver.Run, s solver.Spent) string { return render.SumText(run, s.Work) }),
			change(r, n, func(run *solver.Run, s solver.Spent) string { return render.SumText(run, s.Orphan) }),
			change(r, n, overlapText))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !r.Same() {
		out.WriteString("a → b: as configured, and with every deadline enforced\n")
	}
	out.WriteString("waiting is summed over attempts: it is no latency\n")
	out.WriteString("services that do not lead there answer after their local work, not their latency\n")
	return out.Flush()
}

// wrapped breaks a line at its spaces to fit the width of tables, where it can.
func wrapped(line string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(line) {
		n := width(word)
		switch {
		case i == 0:
		case at+1+n > tableWidth:
			b.WriteString("\n  ")
			at = 2
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// runServices are the services that either run reaches, in plan order.
func runServices(r *render.Run) []solver.NodeID {
	var services []solver.NodeID
	for _, s := range slices.Concat(r.AsIs.Services, r.Enforced.Services) {
		services = append(services, s.Service)
	}
	slices.Sort(services)
	return slices.Compact(services)
}

func answerCell(run *solver.Run) string {
	switch {
	case !run.Answer.Finite():
		return "none, " + brief(run.Answer, up)
	case run.Answered:
		return brief(run.Answer, up)
	}
	return "error, " + brief(run.Answer, up)
}

func overlapText(_ *solver.Run, s solver.Spent) string {
	if s.Overlap == 0 && s.Starts > 0 {
		return "?"
	}
	return solver.CountSign(s.Overlap)
}

// change writes a number of both runs, once where it is the same.
func change(r *render.Run, n solver.NodeID, cell func(*solver.Run, solver.Spent) string) string {
	a, b := cell(r.AsIs, r.Spent(r.AsIs, n)), cell(r.Enforced, r.Spent(r.Enforced, n))
	if a == b {
		return a
	}
	return a + " → " + b
}

// RunJSON writes one of a request's two runs as an object of the JSON contract.
func RunJSON(r *render.Run, enforced bool) []byte {
	run := r.AsIs
	if enforced {
		run = r.Enforced
	}
	o := object{b: []byte{'{'}}
	o.text("entrypoint", r.Entrypoint())
	o.text("service", r.ServiceName(r.Scenario.Service))
	o.text("fate", r.Fate())
	o.ms("answer", run.Answer)
	o.boolean("answered", run.Answered)
	o.ms("work_ends", run.Ends)
	o.ms("orphan", render.Orphaned(run))
	o.boolean("enforced", enforced)
	o.objects("services", len(run.Services), func(o *object, i int) {
		s := &run.Services[i]
		o.text("name", r.ServiceName(s.Service))
		o.product("starts", s.Starts)
		o.ms("work", s.Work)
		o.ms("orphan", s.Orphan)
		o.ms("waited", s.Waited)
		if s.Overlap == 0 {
			o.null("overlap")
			return
		}
		o.count("overlap", s.Overlap)
	})
	return append(o.b, '}')
}
