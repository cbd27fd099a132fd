package rules

import (
	"embed"
	"strings"
)

//go:embed bp*.txtar
var archives embed.FS

// Archive gives the whole archive of a rule, by the id of its code: the page, then plans that raise it with what is
// printed, and plans that do not. It is nil for a code that is no rule's.
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
