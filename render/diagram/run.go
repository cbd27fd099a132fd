package diagram

import (
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// How much of a run a picture shows: services, and lanes of each.
const (
	mostServices = 40
	mostLanes    = 12
)

// timeline is one run of a request: a row a service, in the order in which they are first asked; invocations that overlap
// lie in lanes below each other.
type timeline struct {
	*render.Run
	run  *solver.Run
	end  model.Duration // of the axis
	rows []timelineRow
	more int // services without a row
}

type timelineRow struct {
	service solver.NodeID
	name    string
	lanes   [][]solver.Invocation
	hidden  int // invocations beyond the last lane
}

// newTimeline lays out a run; both runs of a request have the axis of the longer one.
func newTimeline(r *render.Run, run *solver.Run) *timeline {
	t := &timeline{Run: r, run: run, end: max(1, lastMoment(r, r.AsIs), lastMoment(r, r.Enforced))}
	row := map[solver.NodeID]int{}
	for _, inv := range run.Invocations {
		i, ok := row[inv.Service]
		if !ok {
			i = len(t.rows)
			row[inv.Service] = i
			t.rows = append(t.rows, timelineRow{service: inv.Service, name: clean(r.ServiceName(inv.Service))})
		}
		t.rows[i].add(inv)
	}
	if t.more = len(t.rows) - mostServices; t.more > 0 {
		t.rows = t.rows[:mostServices]
	}
	return t
}

// add puts an invocation into the first lane that is free.
func (row *timelineRow) add(inv solver.Invocation) {
	for i, lane := range row.lanes {
		if last := lane[len(lane)-1]; last.End.Finite() && last.End <= inv.Start {
			row.lanes[i] = append(lane, inv)
			return
		}
	}
	if len(row.lanes) == mostLanes {
		row.hidden++
		return
	}
	row.lanes = append(row.lanes, []solver.Invocation{inv})
}

// lastMoment is the end of the axis: the last of what is known to happen, and some more where something never ends.
func lastMoment(r *render.Run, run *solver.Run) model.Duration {
	var last model.Duration
	endless := false
	note := func(d model.Duration) {
		if d.Finite() {
			last = max(last, d)
		}
	}
	note(run.Answer)
	note(r.Graph.Roots[r.Root].SLO)
	for i := range run.Invocations {
		inv := &run.Invocations[i]
		endless = endless || !inv.End.Finite()
		note(inv.Start)
		note(inv.End)
		note(inv.Left)
	}
	if endless {
		last = last.Add(last.Div(8)).Add(1)
	}
	return last
}

// caption says which of the two runs it is, and how it ends for the client.
func (t *timeline) caption() string {
	which := "as configured"
	switch {
	case t.Same():
		which = "as configured or enforced"
	case t.run != t.AsIs:
		which = "with every deadline enforced"
	}
	return which + ": `" + t.Entrypoint() + "` " + t.Outcome(t.run)
}

// timelines are both runs of a request, one where they are the same.
func timelines(r *render.Run) []*timeline {
	if r.Same() {
		return []*timeline{newTimeline(r, r.AsIs)}
	}
	return []*timeline{newTimeline(r, r.AsIs), newTimeline(r, r.Enforced)}
}
