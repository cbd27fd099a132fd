package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Near gives the files that a plan names: a path, a directory, or a glob with `*`, `?`, `[…]` and `**` for any folders,
// relative to the plan. Files of a directory or a glob count as found, not as named. It is empty where nothing
// matches, and an *Error where a path cannot be read.
func Near(plan, pattern string) ([]Input, error) {
	path := Beside(plan, pattern)
	if !strings.ContainsAny(pattern, "*?[") {
		return named(path)
	}
	if _, err := filepath.Match(path, ""); err != nil {
		return nil, &Error{Message: "`" + pattern + "` is not a glob: a `[` is not closed"}
	}
	root := ""
	if filepath.IsAbs(path) {
		root = string(filepath.Separator)
	}
	found := map[string]bool{}
	expand(root, strings.Split(strings.TrimPrefix(path, root), string(filepath.Separator)), found)
	var inputs []Input
	for f := range found {
		inputs = append(inputs, Input{File: f})
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.File, b.File) })
	return inputs, nil
}

// Beside gives a path that a plan names, which is relative to the plan's folder.
func Beside(plan, path string) string {
	if filepath.IsAbs(path) || plan == Stdin {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(plan), path)
}

// named gives one file, or all files of a directory; those nobody named one by one.
func named(path string) ([]Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return []Input{{path, true}}, Plain(path)
	}
	files, err := Files(path)
	inputs := make([]Input, len(files))
	for i, f := range files {
		inputs[i].File = f
	}
	return inputs, err
}

// Plain says that a path is neither a file nor a directory: who reads a pipe that a plan names may wait for ever, and a
// device has no end.
func Plain(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &Error{Message: "`" + path + "` is no file: a pipe, a socket or a device", Cause: "no file", Help: "name a file"}
	}
	return nil
}

// expand walks the parts of a glob. Folders that cannot be read match nothing, as in a shell.
func expand(dir string, parts []string, found map[string]bool) {
	if len(parts) == 0 {
		if isFile(dir) {
			found[dir] = true
		}
		return
	}
	part, rest := parts[0], parts[1:]
	switch {
	case part == "**":
		expand(dir, rest, found)
		for _, e := range entries(dir) {
			if e.IsDir() && !skipped(e.Name()) {
				expand(filepath.Join(dir, e.Name()), parts, found)
			}
		}
	case !strings.ContainsAny(part, "*?["):
		next := filepath.Join(dir, part)
		if _, err := os.Stat(next); err == nil {
			expand(next, rest, found)
		}
	default:
		for _, e := range entries(dir) {
			if ok, _ := filepath.Match(part, e.Name()); ok && !strings.HasPrefix(e.Name(), ".") {
				expand(filepath.Join(dir, e.Name()), rest, found)
			}
		}
	}
}

func entries(dir string) []os.DirEntry {
	if dir == "" {
		dir = "."
	}
	list, _ := os.ReadDir(dir)
	return list
}
