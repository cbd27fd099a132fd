package cli

import (
	"path/filepath"
	"strings"
)

// spare refuses outputs that would replace each other, or a file that was just read: who mistypes `-o` keeps the plan.
func (c *common) spare() error {
	flags := c.cmd.Flags()
	var files []string
	if o, err := flags.GetString("output"); err == nil {
		files = append(files, o)
	}
	if formats, err := flags.GetStringArray("format"); err == nil {
		for _, f := range formats {
			_, file, _ := strings.Cut(f, "=")
			files = append(files, file)
		}
	}
	seen := map[string]bool{}
	for _, file := range files {
		if file == "" || file == "-" {
			continue
		}
		file = filepath.Clean(file)
		switch {
		case seen[file]:
			return usage("give each a file of its own", "2 formats go to `%s`", file)
		case c.loader.Has(file):
			return usage("name another file", "`%s` is an input, and would be overwritten", file)
		}
		seen[file] = true
	}
	return nil
}
