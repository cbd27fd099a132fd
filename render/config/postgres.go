package config

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
	"github.com/budgetplan/budgetplan/render"
)

// Postgres writes, for each database of kind postgres, how long the statements of each caller's role may take.
var Postgres = &Target{
	Name: "postgres", Title: "PostgreSQL script a database: statement_timeout for the role of each caller", Separator: "\n",
	Generate: func(in *render.Input, opt Options) ([]File, []diag.Finding) {
		o := newOutput(in, opt, dialect.Postgres)
		for i := range in.Plan.Services {
			if s := &in.Plan.Services[i]; s.Kind.V == "postgres" && o.wants(s.Name) {
				o.postgres(model.ServiceID(i))
			}
		}
		return o.done()
	},
}

// statement is how long the statements of one call may take.
type statement struct {
	limits
	time model.Duration
}

func (o *output) postgres(id model.ServiceID) {
	s := &o.Plan.Services[id]
	b := banner{
		what:  fmt.Sprintf("PostgreSQL `%s`: a statement ends before its caller gives up.", s.Name),
		where: "Run once with psql as a superuser or the roles' owner; each caller is the role of the same name.",
		undo:  "Undo: the RESET statements at the end.",
	}
	var roles []string
	byRole := map[string][]statement{}
	for _, leg := range o.Graph.In(solverNode(id)) {
		call := o.Graph.Legs[leg].Call
		l, ok := o.limitsOf(call)
		if !ok || !o.Graph.Legs[leg].Last {
			continue
		}
		st := statement{l, o.statement(&l)}
		if !st.time.Finite() {
			b.caveats = append(b.caveats, o.without(&l))
			continue
		}
		role := l.caller.Name
		if byRole[role] == nil {
			roles = append(roles, role)
		}
		byRole[role] = append(byRole[role], st)
	}
	if len(roles) == 0 {
		return
	}
	var sql, undo strings.Builder
	values := 0
	for _, role := range roles {
		set := func(key string, d model.Duration) {
			fmt.Fprintf(&sql, "ALTER ROLE %s SET %s = '%s';\n", identifier(role), key, dialect.Postgres.Format(d))
			fmt.Fprintf(&undo, "-- ALTER ROLE %s RESET %s;\n", identifier(role), key)
			values++
		}
		sql.WriteByte('\n')
		of := byRole[role]
		longest := of[0].time
		for _, st := range of {
			longest = max(longest, st.time)
			b.changes = append(b.changes, fmt.Sprintf("%s statement_timeout: %s", st.id, change(s.ServerTimeout, st.time)))
		}
		set("statement_timeout", longest)
		if s.QueueTimeout().Set() && s.QueueTimeout().V.Finite() && s.QueueTimeout().V < longest {
			set("lock_timeout", s.QueueTimeout().V)
		}
		if s.IdleTimeout().Set() && s.IdleTimeout().V.Finite() {
			set("idle_session_timeout", s.IdleTimeout().V)
		}
		o.transactions(&sql, of, longest)
	}
	// The mark tells the importer whose limits these are: a role is called after the caller.
	text := b.text(o.Input, "--") + "-- budgetplan:service " + oneLine(s.Name) + "\n" + sql.String() + "\n" + undo.String()
	o.file(s.Name, ".postgres.sql", text, values)
}

// transactions gives each of several calls of a role its own limit, for the transaction that it is made in.
func (o *output) transactions(sql *strings.Builder, of []statement, longest model.Duration) {
	for _, st := range of {
		if len(of) > 1 && st.time < longest {
			o.say(NotToldApart, &st.limits, nil, "send `SET LOCAL` in its transaction, as the file says",
				"a role has one statement_timeout: `%s` needs `SET LOCAL statement_timeout = '%s'`", st.id, dialect.Postgres.Format(st.time))
		}
		fmt.Fprintf(sql, "-- %s, in its transaction: SET LOCAL statement_timeout = '%s';\n", oneLine(st.id), dialect.Postgres.Format(st.time))
	}
}

// statement is the longest that a statement of a call may take: what one attempt is waited for, network and the caller's
// margin taken off, but not less than a statement needs; a longer one than the server has is not given, and one that
// ties with its caller never.
func (o *output) statement(l *limits) model.Duration {
	leg, t := &o.Graph.Legs[l.leg], &o.Solution.Legs[l.leg]
	patience := l.Timeout
	if l.PerTry > 0 {
		patience = min(patience, l.PerTry)
	}
	server := l.callee.ServerTimeout
	if !patience.Finite() {
		if server.Set() {
			return server.V
		}
		return model.Unknown
	}
	patience = patience.Sub(leg.Network)
	keep := o.Graph.Nodes[leg.From].Margin.Keep(patience)
	if t.One.Known == complete {
		keep = max(keep, t.One.V.Sub(leg.Network))
	}
	keep = min(keep, patience-1)
	if server.Set() && server.V.Finite() {
		keep = min(keep, server.V)
	}
	return max(model.Millisecond, keep-keep%model.Millisecond)
}

// identifier writes a name as SQL does: in quotes, which are doubled inside.
func identifier(s string) string {
	s = strings.ReplaceAll(oneLine(s), "\x00", "")
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
