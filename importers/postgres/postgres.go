// Package postgres reads how long PostgreSQL lets statements take: `ALTER ROLE … SET`, `ALTER DATABASE … SET`,
// `ALTER SYSTEM SET`, `SET` and `SET LOCAL` of SQL scripts, and the lines of a postgresql.conf.
//
// It reads statement_timeout, transaction_timeout, lock_timeout and idle_session_timeout. The service is the one that
// the plan names for the source, else that of a line `-- budgetplan:service database`, else the role or the database of
// the statement, else what the file is called.
package postgres

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/model/dialect"
)

// Importer reads SQL scripts and postgresql.conf.
var Importer = &importers.Importer{
	Name:      "postgres",
	Title:     "PostgreSQL settings: roles, databases, postgresql.conf",
	Recognise: func(src *importers.Source) bool { return marked(src.Bytes) && len(settings(src)) > 0 },
	Import:    read,
	Codes:     []*diag.Code{importers.BadValue, importers.NotUnderstood},
}

// parameters are the settings that are read.
var parameters = []string{"statement_timeout", "transaction_timeout", "lock_timeout", "idle_session_timeout"}

func isParameter(name string) bool {
	for _, p := range parameters {
		if strings.EqualFold(p, name) {
			return true
		}
	}
	return false
}

// marked reports whether a text may have a setting in it, without parsing it.
func marked(text []byte) bool {
	text = bytes.ToLower(text)
	for _, p := range parameters {
		if bytes.Contains(text, []byte(p)) {
			return true
		}
	}
	return false
}

// level says what a setting holds for. A narrower one hides a wider one.
type level uint8

const (
	system level = iota
	database
	allRoles
	role
	session
)

// setting is one parameter that a script or a file sets. Value is empty for one that is taken back.
type setting struct {
	level      level
	of         string // the role or database, and the database that a role's setting is limited to
	name       string
	key, value string
	at         diag.Span
	unreadable bool // an expression, a variable
	takenBack  bool
}

// settings gives what a source sets, in its order: as SQL, else as the lines of a configuration file.
func settings(src *importers.Source) []setting {
	if found := script(src.File, src.Bytes); len(found) > 0 {
		return found
	}
	return lines(src.File, src.Bytes)
}

func read(src *importers.Source) (*model.Fragment, []diag.Finding) {
	r := &reader{src: src, frag: &model.Fragment{File: src.File, As: "postgres", Without: "PostgreSQL settings, which limit calls and make none"}}
	r.of = src.Service
	if !r.of.Set() {
		r.of = named(src)
	}
	for _, s := range settings(src) {
		r.take(s)
	}
	for i := range r.frag.Services {
		r.settle(model.ServiceID(i))
	}
	return r.frag, r.found
}

// reader is the state of one import.
type reader struct {
	src   *importers.Source
	frag  *model.Fragment
	found []diag.Finding
	held  []held
	told  map[string]bool
	of    model.Val[string] // the service that all settings are of, where something says so
}

// serviceMark opens the comment that names the service of a script; generated ones have it.
const serviceMark = "-- budgetplan:service "

// named gives the service that a comment of the source names.
func named(src *importers.Source) (v model.Val[string]) {
	line := int32(0)
	for l := range strings.Lines(string(src.Bytes)) {
		line++
		if name, found := strings.CutPrefix(strings.TrimSpace(l), serviceMark); found && strings.TrimSpace(name) != "" {
			return model.At(strings.TrimSpace(name), diag.Span{File: src.File, Line: line, Col: 1})
		}
	}
	return v
}

// held is a value that a service may run under.
type held struct {
	setting
	service model.ServiceID
	v       model.Val[model.Duration]
}

// take keeps a setting; a later one of the same kind for the same role or database replaces it.
func (r *reader) take(s setting) {
	id := r.service(s)
	i := -1
	for k := range r.held {
		if h := &r.held[k]; h.service == id && h.level == s.level && h.of == s.of && strings.EqualFold(h.key, s.key) && s.level != session {
			i = k
		}
	}
	if s.takenBack {
		if i >= 0 {
			r.held = append(r.held[:i], r.held[i+1:]...)
		}
		return
	}
	if s.unreadable {
		r.unread(s)
		return
	}
	d, err := dialect.Postgres.Parse(s.value)
	if err != nil {
		fact, help, _ := strings.Cut(err.Error(), ", write ")
		f := importers.BadValue.New(r.frag.Services[id].Name, s.at, "`%s`: %s", s.key, fact)
		if help != "" {
			f.Help = "write " + help
		}
		r.found = append(r.found, f)
		return
	}
	h := held{s, id, model.At(d, s.at)}
	if i >= 0 {
		r.held[i] = h
		return
	}
	r.held = append(r.held, h)
}

// unread tells once a parameter of a value that only a run of the script knows.
func (r *reader) unread(s setting) {
	if r.told == nil {
		r.told = map[string]bool{}
	}
	if key := strings.ToLower(s.key); !r.told[key] {
		r.told[key] = true
		f := importers.NotUnderstood.New(key, s.at, "the value of `%s` is an expression or a variable, and is not read", key)
		f.Help = "write `server_timeout` at the service in the plan"
		r.found = append(r.found, f)
	}
}

func (r *reader) service(s setting) model.ServiceID {
	name, at := s.name, s.at
	if v := r.of; v.Set() {
		name, at = v.V, v.Span()
	}
	if name == "" {
		name, _, _ = strings.Cut(path.Base(strings.ReplaceAll(r.src.File, "\\", "/")), ".")
	}
	id := r.frag.Service(cmp.Or(name, "postgres"), at)
	v := &r.frag.Services[id]
	v.Declared = true
	if !v.Kind.Set() {
		v.Kind = model.At("postgres", s.at)
	}
	return id
}

// settle gives a service its limits.
func (r *reader) settle(id model.ServiceID) {
	s := &r.frag.Services[id]
	s.ServerTimeout = r.longest(id, "statement_timeout")
	// A transaction has at least one statement, so its limit is one of the statement's, too.
	if t := r.longest(id, "transaction_timeout"); t.Set() && (!s.ServerTimeout.Set() || t.V < s.ServerTimeout.V) {
		s.ServerTimeout = t
	}
	s.Edit().QueueTimeout = r.longest(id, "lock_timeout")
	s.Edit().IdleTimeout = r.longest(id, "idle_session_timeout")
	if !s.QueueTimeout().V.Finite() {
		s.Edit().QueueTimeout = model.Val[model.Duration]{} // the statement's own limit is what ends the wait for a lock
	}
}

// longest is the bound that holds for every statement: of several roles or sessions the longest, since nobody says which
// one a call runs under. What all roles, the database or the system have holds only where no role has its own.
func (r *reader) longest(id model.ServiceID, key string) (v model.Val[model.Duration]) {
	narrowest := system
	for _, h := range r.held {
		if h.service == id && strings.EqualFold(h.key, key) {
			narrowest = max(narrowest, min(h.level, role))
		}
	}
	for _, h := range r.held {
		if h.service == id && strings.EqualFold(h.key, key) && min(h.level, role) == narrowest && (!v.Set() || h.v.V > v.V) {
			v = h.v
		}
	}
	return v
}
