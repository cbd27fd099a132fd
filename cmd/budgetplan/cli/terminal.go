package cli

import (
	"os"

	"golang.org/x/term"
)

// terminal gives the width of a terminal, and whether the file is one.
func terminal(f *os.File) (width int, ok bool) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return 0, false
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	return width, true
}
