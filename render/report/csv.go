package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// CSV writes a row a call, for spreadsheets. Times are numbers in ms; where there is none its word stands, `unknown` or
// `unbounded`. The columns are the keys of the json format, and always the same.
var CSV = &render.Renderer{
	Name: "csv", Kind: render.Plan, Title: "a row a call, for spreadsheets",
	Render: func(w io.Writer, in *render.Input) error { return writeCSV(w, []*render.Input{in}) }, Together: writeCSV,
}

// csvRow is what the columns of one row are made from.
type csvRow struct {
	in   *render.Input
	id   solver.LegID
	leg  *solver.Leg
	t    *solver.LegTimes
	call *model.Call
}

// csvColumns are the columns, each with what it has.
var csvColumns = []struct {
	name  string
	value func(csvRow) string
}{
	{"plan", func(r csvRow) string { return r.in.PlanName() }},
	{"id", func(r csvRow) string { return r.in.Graph.LegName(r.id) }},
	{"from", func(r csvRow) string { return r.in.Plan.Services[r.call.From].Name }},
	{"to", func(r csvRow) string { return r.in.Plan.Services[r.call.To].Name }},
	{"attempts", func(r csvRow) string { return csvCount(r.leg.Attempts) }},
	{"timeout_ms", func(r csvRow) string { return csvTime(r.leg.Timeout) }},
	{"per_try_timeout_ms", func(r csvRow) string { return csvTime(r.leg.PerTry) }},
	{"attempt_limit_ms", func(r csvRow) string { return csvTime(r.t.Limit) }},
	{"patience_ms", func(r csvRow) string { return csvTime(r.t.Patience) }},
	{"wait_ms", func(r csvRow) string { return csvTime(r.t.Wait) }},
	{"busy_ms", func(r csvRow) string { return csvTime(r.t.Busy) }},
	{"orphan_ms", func(r csvRow) string { return csvTime(r.t.Orphan) }},
	{"received_ms", func(r csvRow) string { return csvTime(r.t.Given) }},
	{"budget_ms", func(r csvRow) string { return csvTime(r.t.Budget) }},
	{"need_ms", func(r csvRow) string { return csvPartial(r.t.Need.V, r.t.Need.Known) }},
	{"need", func(r csvRow) string { return csvWord(r.t.Need.V, r.t.Need.Known, "at least") }},
	{"slack_ms", func(r csvRow) string { return csvPartial(r.t.Slack, r.t.SlackKnown) }},
	{"slack", func(r csvRow) string { return csvWord(r.t.Slack, r.t.SlackKnown, "at most") }},
	{"amplification_configured", func(r csvRow) string { return csvCount(r.t.Amplification.Configured) }},
	{"amplification_time_limited", func(r csvRow) string { return csvCount(r.t.Amplification.TimeLimited) }},
	{"recommended_timeout_ms", func(r csvRow) string { return csvRecommended(r.t.Recommended.Timeout) }},
	{"recommended_per_try_timeout_ms", func(r csvRow) string { return csvRecommended(r.t.Recommended.PerTry) }},
	{"file", func(r csvRow) string { return r.call.At.File }},
	{"line", func(r csvRow) string { return csvCount(int64(r.call.At.Line)) }},
}

func writeCSV(w io.Writer, ins []*render.Input) error {
	out := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		row[i] = c.name
	}
	_ = out.Write(row) // its error is kept until it is flushed
	for _, in := range ins {
		if !solved(in) {
			continue
		}
		for i := range in.Graph.Legs {
			call, _ := in.Graph.CallOf(solver.LegID(i))
			r := csvRow{in, solver.LegID(i), &in.Graph.Legs[i], &in.Solution.Legs[i], call}
			for k, c := range csvColumns {
				row[k] = c.value(r)
			}
			_ = out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

func csvTime(d model.Duration) string {
	switch {
	case d == model.NoLimit:
		return "unbounded"
	case !d.Finite():
		return "unknown"
	}
	return string(appendMS(nil, d))
}

func csvPartial(d model.Duration, known solver.Knowledge) string {
	if known == solver.Nothing {
		return "unknown"
	}
	return csvTime(d)
}

// csvWord is the word beside a sum: what the sum of its known parts is, or why there is none.
func csvWord(d model.Duration, known solver.Knowledge, word string) string {
	if known == solver.Partial && d.Finite() {
		return word
	}
	if text := csvPartial(d, known); text == "unknown" || text == "unbounded" {
		return text
	}
	return ""
}

func csvRecommended(d model.Duration) string {
	if d <= 0 {
		return ""
	}
	return csvTime(d)
}

// csvCount writes a number of attempts; one without a limit has its word.
func csvCount(n int64) string {
	if n > solver.MaxCount {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}
