package rules

import (
	"embed"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

//go:embed bp*.txtar
var archives embed.FS

// pages has the comment of each archive by the code of its name.
var pages = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	entries, err := archives.ReadDir(".")
	if err != nil {
		return all
	}
	for _, e := range entries {
		data, err := archives.ReadFile(e.Name())
		if id, _, ok := strings.Cut(e.Name(), "_"); ok && err == nil {
			all[strings.ToUpper(id)] = string(txtar.Parse(data).Comment)
		}
	}
	return all
})

// Page gives the Markdown page of a code or of its name: what it means, why it hurts, how to fix it. ok is false
// for a code that is no rule's.
func Page(code string) (text string, ok bool) {
	for _, r := range All {
		if strings.EqualFold(r.Code.ID, code) || strings.EqualFold(r.Code.Name, code) {
			code = r.Code.ID
		}
	}
	text, ok = pages()[strings.ToUpper(code)]
	return text, ok
}

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
