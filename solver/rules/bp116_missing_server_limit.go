package rules

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// MissingServerLimit is raised for a service that works on when its caller has left, with no limit of its own.
var MissingServerLimit = &diag.Code{
	ID: "BP116", Name: "missing-server-limit", Severity: diag.Warning,
	Summary: "nothing stops the service when its caller leaves: it has no limit of its own",
}

var missingServerLimit = &Rule{
	Code: MissingServerLimit,
	Node: (*Pass).serverLimit,
	Default: func(d *diag.Default, n int) string {
		return fmt.Sprintf("`%s` sets no limit on a server's work by itself: %s may work without end", d.Platform, counted(int64(n), "service"))
	},
}

// databases names, for each kind that is a database, the setting that ends a statement by itself, where there is one.
var databases = map[string]string{
	"postgres": "statement_timeout", "postgresql": "statement_timeout", "cockroachdb": "statement_timeout",
	"mysql": "max_execution_time", "mariadb": "max_statement_time", "clickhouse": "max_execution_time",
	"mongodb": "defaultMaxTimeMS", "cassandra": "read_request_timeout",
	"sqlserver": "", "oracle": "", "db2": "", "database": "", "sql": "",
}

// serverLimit reports a database without a limit, and any service whose limit is `none`. A service that only waits
// for bounded calls ends with them.
func (p *Pass) serverLimit(n solver.NodeID) {
	node, t, s := &p.Graph.Nodes[n], &p.Sol.Nodes[n], p.service(n)
	if s == nil {
		return
	}
	setting, database := databases[strings.ToLower(s.Kind.Or(""))]
	open := s.ServerTimeout.Set() && s.ServerTimeout.V == model.NoLimit
	if !open && (!database || s.ServerTimeout.Set()) || !node.Leaf && t.Busy.Finite() {
		return
	}
	left := p.leftAlone(n)
	if left < 0 {
		return
	}
	f := MissingServerLimit.New(s.Name, diag.Span{}, "nothing stops `%s` when its caller leaves: its `server_timeout` is `none`", s.Name)
	f.Cause, f.Touched = s.ServerTimeout.From, t.Touched
	if !open {
		f.Severity = diag.Info
		f.Message = fmt.Sprintf("nothing is known to stop `%s` when its caller leaves: it is a database without a `server_timeout`", s.Name)
		f.Cause = diag.At(s.At)
		if s.Kind.Set() {
			f.Cause = s.Kind.From
		}
	}
	_, lt, _, w := p.call(left)
	if least := patience(w); least.Set() {
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("`%s` leaves after %s", p.Graph.LegName(left), lt.Patience), At: least.From})
	}
	f.Notes = append(f.Notes, p.enforcementNote(left))
	p.serverHelp(&f, n, setting)
	p.Report(f, p.unboundedBy(t.Busy, n)...)
}

// leftAlone is the call that leaves a service first without stopping it, -1 where every caller stops it.
func (p *Pass) leftAlone(n solver.NodeID) solver.LegID {
	first := solver.LegID(-1)
	for _, l := range p.Graph.In(n) {
		if _, t, _, _ := p.call(l); !t.Enforced && (first < 0 || t.Patience < p.Sol.Legs[first].Patience) {
			first = l
		}
	}
	return first
}

// serverHelp says which limit would end the work before the most patient caller leaves.
func (p *Pass) serverHelp(f *diag.Finding, n solver.NodeID, setting string) {
	s := &p.Plan.Services[n]
	what := fmt.Sprintf("give `%s` a `server_timeout`", s.Name)
	if setting != "" {
		what = fmt.Sprintf("set `%s` on `%s` and say so as its `server_timeout`", setting, s.Name)
	}
	f.Help = what
	least := model.NoLimit
	for _, l := range p.Graph.In(n) {
		least = min(least, p.Sol.Legs[l].Patience)
	}
	if !least.Finite() {
		return
	}
	keep := p.Graph.Nodes[n].Margin.Keep(least)
	why := fmt.Sprintf("%s, less %s margin", least, p.Graph.Nodes[n].Margin)
	if keep >= least {
		keep, why = least-step, fmt.Sprintf("%s, less %s", least, step)
	}
	if fix, ok := p.stop(n, floor(keep)); ok {
		f.Fixes = append(f.Fixes, fix)
		f.Help = fmt.Sprintf("%s: %s or less (%s)", what, fix.To, why)
	}
}
