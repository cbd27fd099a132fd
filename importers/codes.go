package importers

import (
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
)

// BadValue is raised for a value that its reader, and the platform that it is written for, cannot use.
var BadValue = &diag.Code{ID: "BP003", Name: "bad-value", Severity: diag.Error, Summary: "a value cannot be read"}

// NotUnderstood is raised once a field and file for what an importer leaves out although it would change a number.
var NotUnderstood = &diag.Code{
	ID: "BP012", Name: "field-not-understood", Severity: diag.Warning,
	Summary: "a field that would change a number is not read",
}

var limitWords = []string{"timeout", "timout", "retry", "retries", "retriable", "deadline", "hedge", "backoff", "back_off", "duration"}

// SoundsLikeLimit reports whether a key that an importer does not know may change a number.
func SoundsLikeLimit(key string) bool {
	key = strings.ToLower(key)
	for _, w := range limitWords {
		if strings.Contains(key, w) {
			return true
		}
	}
	return false
}
