package config

import (
	"embed"
	"strings"

	"github.com/budgetplan/budgetplan/model/diag"
)

// What a generated configuration does not say, one code a thing.
var (
	NotCarried = &diag.Code{
		ID: "BP401", Name: "call-not-carried", Severity: diag.Warning,
		Summary: "the target does not carry calls of this kind, so the generated configuration leaves one out",
	}
	NothingToSay = &diag.Code{
		ID: "BP402", Name: "nothing-to-recommend", Severity: diag.Warning,
		Summary: "a call has neither a budget nor a timeout, so the generated configuration leaves it out",
	}
	AttemptsClamped = &diag.Code{
		ID: "BP403", Name: "attempts-not-said", Severity: diag.Warning,
		Summary: "the target makes fewer attempts than the plan",
	}
	PerTryNotSaid = &diag.Code{
		ID: "BP404", Name: "per-try-not-said", Severity: diag.Warning,
		Summary: "the target gets no limit of one attempt, so an attempt that hangs uses the whole timeout",
	}
	ConditionsChanged = &diag.Code{
		ID: "BP405", Name: "conditions-not-said", Severity: diag.Warning,
		Summary: "the target has no word for a failure that the plan retries",
	}
	BackoffChanged = &diag.Code{
		ID: "BP406", Name: "backoff-not-said", Severity: diag.Warning,
		Summary: "the target waits in another way before a retry, never longer than the plan where it can",
	}
	KeyNotSaid = &diag.Code{
		ID: "BP407", Name: "key-not-said", Severity: diag.Warning,
		Summary: "the target has no word for a key of the plan",
	}
	NotToldApart = &diag.Code{
		ID: "BP408", Name: "calls-not-told-apart", Severity: diag.Warning,
		Summary: "the target cannot tell the calls of one caller to one callee apart",
	}
	NoHeader = &diag.Code{
		ID: "BP409", Name: "no-deadline-header", Severity: diag.Warning,
		Summary: "no call says which header carries the deadline to a service, so a card names none",
	}
)

// Codes are the findings of this package, by id.
var Codes = []*diag.Code{
	NotCarried, NothingToSay, AttemptsClamped, PerTryNotSaid, ConditionsChanged, BackoffChanged, KeyNotSaid, NotToldApart, NoHeader,
}

//go:embed bp4*.txtar
var archives embed.FS

// Archive gives the archive of a code of this package: its page, then a plan that raises it with what is printed, and
// one that does not. It is nil for every other code.
func Archive(id string) []byte {
	entries, err := archives.ReadDir(".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name, _, _ := strings.Cut(e.Name(), "_"); strings.EqualFold(name, id) {
			data, err := archives.ReadFile(e.Name())
			if err != nil {
				return nil
			}
			return data
		}
	}
	return nil
}
