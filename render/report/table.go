package report

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/solver"
)

// Table shows the budgets of a plan call by call. It is made for 80 columns, whatever the terminal has, so that a
// log shows the same: long cells are broken first, then `received` is left out, and the text below says so.
var Table = &render.Renderer{
	Name: "table", Kind: render.Plan, Title: "budgets call by call, for people",
	Render: func(w io.Writer, in *render.Input) error { return writeTables(w, []*render.Input{in}) }, Together: writeTables,
}

func writeTables(w io.Writer, ins []*render.Input) error {
	out := bufio.NewWriter(w)
	for i, in := range ins {
		if len(ins) > 1 {
			heading(out, in, i)
		}
		if err := writeTable(out, in); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeTable(out *bufio.Writer, in *render.Input) error {
	t := text{out: out, style: style(in.Color)}
	if solved(in) {
		t.roots(in)
		if len(in.Graph.Legs) > 0 {
			t.part()
			left, err := writeRows(out, in)
			if err != nil {
				return err
			}
			t.below(in, left)
		}
	}
	t.findingLines(in)
	return nil
}

// width is the number of columns that a text takes in a terminal, the same in every locale.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// tableWidth is what a log or a small terminal shows.
const tableWidth = 80

// The columns of the table.
const (
	colCall = iota
	colReceived
	colBudget
	colNeed
	colSlack
	colConfigured
	colRecommended
	colAttempts
	colFindings
	columns
)

var columnNames = [columns]string{"call", "received", "budget", "need", "slack", "configured", "recommended", "attempts", "findings"}

type grid struct {
	rows [][columns]string
	hide [columns]bool
	// codesWidth is the width of the widest line of codes.
	codesWidth int
}

// writeRows writes the table; left names the column that was left out, if any.
func writeRows(w io.Writer, in *render.Input) (left string, err error) {
	g := newGrid(in, style(in.Color))
	g.fit(tableWidth)
	if g.hide[colReceived] {
		left = columnNames[colReceived]
	}
	out := new(bytes.Buffer)
	table := tablewriter.NewTable(out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Symbols: tw.NewSymbols(tw.StyleASCII),
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off, ShowFooter: tw.Off},
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithTrimSpace(tw.Off), tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithAlignment(g.alignment()), tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: g.alignment()}),
	)
	table.Header(g.visible(columnNames))
	for _, row := range g.rows {
		if err := table.Append(g.visible(row)); err != nil {
			return "", err
		}
	}
	if err := table.Render(); err != nil {
		return "", err
	}
	for line := range strings.Lines(out.String()) {
		if _, err := io.WriteString(w, trimEnd(line)+"\n"); err != nil {
			return "", err
		}
	}
	return left, nil
}

// trimEnd takes the spaces from the end of a line, also from before and between the resets that the table puts there.
func trimEnd(line string) string {
	for trimmed := strings.TrimRight(line, " \n"); ; trimmed = strings.TrimRight(line, " \n") {
		line = strings.TrimSuffix(trimmed, reset)
		if line == trimmed {
			break
		}
	}
	if last := strings.LastIndex(line, "\x1b["); last >= 0 && !strings.HasPrefix(line[last:], reset) {
		line += reset
	}
	return line
}

func newGrid(in *render.Input, paint style) *grid {
	codes := codesBySubject(in)
	g := &grid{rows: make([][columns]string, len(in.Graph.Legs))}
	for i := range g.rows {
		id := solver.LegID(i)
		leg, times := &in.Graph.Legs[i], &in.Solution.Legs[i]
		call, _ := in.Graph.CallOf(id)
		name := in.Graph.LegName(id)
		marks := codes[name]
		if leg.Waiter > 0 {
			marks = slices.Concat(marks, codes[call.ID])
		}
		g.rows[i] = [columns]string{
			colCall:        clean(name),
			colReceived:    cell(times.Given, down),
			colBudget:      cell(times.Budget, down),
			colNeed:        knownCell(times.Need.V, times.Need.Known, "≥", up),
			colSlack:       slackCell(times, paint),
			colConfigured:  limitsCell(leg.Timeout, leg.PerTry, leg.Attempts),
			colRecommended: recommendedCell(leg, times),
			colAttempts:    amplificationCell(times.Amplification),
			colFindings:    marksCell(marks, paint),
		}
		for line := range strings.SplitSeq(g.rows[i][colFindings], "\n") {
			g.codesWidth = max(g.codesWidth, width(line))
		}
	}
	g.hide[colFindings] = g.codesWidth == 0
	return g
}

// The ways to make a grid narrower, as bits of a set; narrowingCosts has what each costs the reader.
const (
	breakConfigured = 1 << iota
	breakRecommended
	breakCalls
	codesBelow // codes of findings below the call's name
	hideReceived
	everyNarrowing = 1<<iota - 1
)

var narrowingCosts = [...]int{2, 2, 3, 4, 8}

// columnGap is the space between two columns.
const columnGap = 2

// fit makes the grid as narrow as is asked for, by the set of narrowings that costs least, or by all of them.
func (g *grid) fit(most int) {
	var plain [columns]int
	total := -columnGap
	for c := range columns {
		if plain[c] = g.columnWidth(c, ""); !g.hide[c] {
			total += plain[c] + columnGap
		}
	}
	configured := plain[colConfigured] - g.columnWidth(colConfigured, " ")
	recommended := plain[colRecommended] - g.columnWidth(colRecommended, " ")
	calls := g.columnWidth(colCall, "/")
	best, bestCost := everyNarrowing, math.MaxInt
	for set := range everyNarrowing + 1 {
		size, call := total-plain[colCall], plain[colCall]
		if set&breakConfigured != 0 {
			size -= configured
		}
		if set&breakRecommended != 0 {
			size -= recommended
		}
		if set&breakCalls != 0 {
			call = calls
		}
		if set&codesBelow != 0 && !g.hide[colFindings] {
			size -= plain[colFindings] + columnGap
			call = max(call, g.codesWidth+1)
		}
		if set&hideReceived != 0 {
			size -= plain[colReceived] + columnGap
		}
		cost := 0
		for k, c := range narrowingCosts {
			cost += c * (set >> k & 1)
		}
		if size+call <= most && cost < bestCost {
			best, bestCost = set, cost
		}
	}
	g.narrow(best)
}

// narrow applies a set of narrowings.
func (g *grid) narrow(set int) {
	for i := range g.rows {
		row := &g.rows[i]
		if set&breakConfigured != 0 {
			row[colConfigured] = broken(row[colConfigured], " ")
		}
		if set&breakRecommended != 0 {
			row[colRecommended] = broken(row[colRecommended], " ")
		}
		if set&breakCalls != 0 {
			row[colCall] = broken(row[colCall], "/")
		}
		if set&codesBelow != 0 && row[colFindings] != "" {
			row[colCall] += "\n " + strings.ReplaceAll(row[colFindings], "\n", "\n ")
		}
	}
	g.hide[colFindings] = g.hide[colFindings] || set&codesBelow != 0
	g.hide[colReceived] = set&hideReceived != 0
}

// columnWidth is what a column takes with its cells broken behind a separator.
func (g *grid) columnWidth(column int, separator string) int {
	most := width(columnNames[column])
	for i := range g.rows {
		for line := range strings.SplitSeq(broken(g.rows[i][column], separator), "\n") {
			most = max(most, width(line))
		}
	}
	return most
}

// broken breaks a cell behind each separator.
func broken(cell, separator string) string {
	switch separator {
	case "":
		return cell
	case " ":
		return strings.ReplaceAll(cell, " ", "\n")
	}
	return strings.ReplaceAll(cell, separator, separator+"\n ")
}

func (g *grid) visible(row [columns]string) []string {
	shown := make([]string, 0, columns)
	for c, cell := range row {
		if !g.hide[c] {
			shown = append(shown, cell)
		}
	}
	return shown
}

func (g *grid) alignment() tw.Alignment {
	var a tw.Alignment
	for c := range columns {
		switch {
		case g.hide[c]:
		case leftAligned(c):
			a = append(a, tw.AlignLeft)
		default:
			a = append(a, tw.AlignRight)
		}
	}
	return a
}

// leftAligned reports whether a column has words; the others have numbers.
func leftAligned(column int) bool {
	return column == colCall || column == colConfigured || column == colRecommended || column == colFindings
}

// cell prints a time of the table: `?` where it is unknown.
func cell(d model.Duration, roundUp bool) string {
	if d == model.Unknown {
		return "?"
	}
	return brief(d, roundUp)
}

func knownCell(d model.Duration, known solver.Knowledge, mark string, roundUp bool) string {
	switch {
	case known == solver.Nothing || d == model.Unknown:
		return "?"
	case known == solver.Partial && d.Finite():
		return mark + cell(d, roundUp)
	}
	return cell(d, roundUp)
}

func slackCell(times *solver.LegTimes, paint style) string {
	text := knownCell(times.Slack, times.SlackKnown, "≤", down)
	if times.SlackKnown != solver.Nothing && times.Slack < 0 {
		return paint.paint(red, text)
	}
	return text
}

// limitsCell prints `420ms, 2×190ms`: the timeout, then attempts of a per-try timeout where there are any.
func limitsCell(timeout, perTry model.Duration, attempts int64) string {
	tries := ""
	switch {
	case attempts > 1:
		tries = solver.CountText(attempts) + "×"
	case perTry != model.Unknown && perTry != timeout:
		tries = "1×"
	default:
		return limit(timeout)
	}
	switch {
	case perTry == model.Unknown:
		return limit(timeout) + ", " + tries
	case timeout == model.Unknown:
		return tries + limit(perTry)
	}
	return limit(timeout) + ", " + tries + limit(perTry)
}

// limit prints a configured limit, which is `none` rather than unbounded.
func limit(d model.Duration) string {
	if d == model.NoLimit {
		return "none"
	}
	return cell(d, down)
}

func recommendedCell(leg *solver.Leg, times *solver.LegTimes) string {
	r := times.Recommended
	if r.Timeout == 0 {
		return "-"
	}
	perTry := r.PerTry
	if perTry == 0 {
		perTry = model.Unknown
	}
	attempts := r.Attempts
	if attempts == 0 {
		attempts = leg.Attempts
	}
	return limitsCell(r.Timeout, perTry, attempts)
}

// amplificationCell prints the attempts a request can cause, and in brackets those that fit while the callee hangs.
func amplificationCell(c solver.Counts) string {
	text := solver.CountSign(c.Configured)
	if c.TimeLimited < c.Configured {
		text += " (" + solver.CountSign(c.TimeLimited) + ")"
	}
	return text
}

type mark struct {
	code     string
	severity diag.Severity
}

// codesBySubject gives the errors and warnings about each subject, worst first, each code once.
func codesBySubject(in *render.Input) map[string][]mark {
	codes := make(map[string][]mark)
	for i := range in.Findings {
		f := &in.Findings[i]
		if f.Ignored != nil || f.Severity < diag.Warning {
			continue
		}
		subjects := f.Subjects
		if len(subjects) == 0 {
			subjects = []string{f.Subject}
		}
		for _, s := range subjects {
			m := mark{f.Code.ID, f.Severity}
			known := false
			for _, have := range codes[s] {
				known = known || have.code == m.code
			}
			if !known {
				codes[s] = append(codes[s], m)
			}
		}
	}
	return codes
}

// marksCell prints codes, two a line.
func marksCell(marks []mark, paint style) string {
	var b strings.Builder
	for i, m := range marks {
		switch {
		case i > 0 && i%2 == 0:
			b.WriteString("\n")
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(paint.severity(m.severity, m.code))
	}
	return b.String()
}
