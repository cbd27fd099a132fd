package dialect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

const postgresManual = "PostgreSQL 18 manual, runtime-config-client"

// Postgres is a PostgreSQL server's settings. Its limits run from the arrival of a statement at the server, lock
// waits in it, pool wait and network out of it.
var Postgres = &Dialect{
	Name: "postgres", Title: "PostgreSQL", Version: "18",
	Granule: model.Millisecond, Zero: ZeroIsNone,
	Fields: []Field{
		{"server_timeout", "statement_timeout"},
		{"queue_timeout", "lock_timeout"},
		{"idle_timeout", "idle_session_timeout"},
	},
	Defaults: []*diag.Default{
		&PostgresStatementTimeout.Default, &PostgresLockTimeout.Default, &PostgresTransactionTimeout.Default,
		&PostgresIdleInTransaction.Default,
	},
	Parse: parsePostgres,
	Format: func(d model.Duration) string {
		if !d.Finite() {
			return "0"
		}
		d = cut(d, model.Millisecond)
		if d%model.Second == 0 {
			return fmt.Sprintf("%ds", int64(d/model.Second))
		}
		return fmt.Sprintf("%dms", int64(d/model.Millisecond))
	},
}

func postgresDefault(field, since string) Default[model.Duration] {
	return Default[model.Duration]{
		diag.Default{Platform: "postgres", Field: field, Value: "0 (no limit)", Since: since, Source: postgresManual},
		model.NoLimit,
	}
}

// What PostgreSQL does when nobody says: none of its limits is on.
var (
	PostgresStatementTimeout   = postgresDefault("statement_timeout", "7.3")
	PostgresLockTimeout        = postgresDefault("lock_timeout", "9.3")
	PostgresTransactionTimeout = postgresDefault("transaction_timeout", "17")
	PostgresIdleInTransaction  = postgresDefault("idle_in_transaction_session_timeout", "9.6")
)

var postgresUnits = map[string]float64{"us": 1e-3, "": 1, "ms": 1, "s": 1e3, "min": 60e3, "h": 3600e3, "d": 86400e3}

// parsePostgres reads a setting in milliseconds: a bare number is milliseconds, the units are us, ms, s, min,
// h and d, case matters, and the value is rounded to a whole millisecond as the server does. 0 is model.NoLimit.
func parsePostgres(text string) (model.Duration, error) {
	s := strings.TrimSpace(text)
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(".+-", r) })
	if end < 0 {
		end = len(s)
	}
	number, err := strconv.ParseFloat(s[:end], 64)
	unit, ok := postgresUnits[strings.TrimSpace(s[end:])]
	switch {
	case err != nil:
		return 0, fmt.Errorf("`%s` is not a time, write `250ms`", text)
	case !ok:
		return 0, fmt.Errorf("`%s` has a unit that PostgreSQL does not know, the units are us, ms, s, min, h, d", text)
	}
	ms := math.RoundToEven(number * unit)
	switch {
	case ms < 0:
		return 0, fmt.Errorf("`%s` is negative", text)
	case ms > math.MaxInt32:
		return 0, fmt.Errorf("`%s` is more than the %d ms that PostgreSQL can hold", text, math.MaxInt32)
	case ms == 0:
		return model.NoLimit, nil
	}
	return model.Millisecond.Mul(int64(ms)), nil
}
