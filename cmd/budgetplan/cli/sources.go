package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/render/config"
)

// writeSources lists every value of a plan with where it comes from.
func writeSources(r *pipeline.Result) func(io.Writer, bool, int) error {
	return func(out io.Writer, _ bool, _ int) error {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, in := range r.Plans {
			for i := range in.Plan.Entrypoints {
				e := &in.Plan.Entrypoints[i]
				sourceLines(w, e.Name, "", config.Entrypoint(e))
			}
			for i := range in.Plan.Services {
				s := &in.Plan.Services[i]
				sourceLines(w, s.Name, "", config.Service(s))
			}
			for i := range in.Plan.Calls {
				c := &in.Plan.Calls[i]
				sourceLines(w, c.ID, "", config.Call(c))
				for k := 1; k < len(c.Waiters); k++ {
					sourceLines(w, c.ID+"@"+c.Waiters[k].Name, "", config.Waiter(&c.Waiters[k]))
				}
			}
		}
		return w.Flush()
	}
}

func sourceLines(w io.Writer, subject, prefix string, values []config.Value) {
	for _, v := range values {
		if len(v.Sub) > 0 {
			sourceLines(w, subject, prefix+v.Key+".", v.Sub)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", subject, prefix+v.Key, v.Text, config.Whence(v.From))
	}
}
