// Package load turns arguments into named bytes: files, directories, globs, standard input, and the plan that is
// found when nothing is named. It is the only place that reads files. It judges no content.
package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxBytes is the largest input that is read.
const MaxBytes = 256 << 20

// Stdin is the argument, and the shown name, of standard input.
const Stdin = "-"

// Error is an input that cannot be read, or an argument that names none. Help says what to do about it, Cause is what
// the system said, without the file's name.
type Error struct{ Message, Help, Cause string }

func (e *Error) Error() string { return e.Message }

// Input is one file to read. Named is true where a person named it, on the command line or in `sources`, and false
// where a directory or a glob has it.
type Input struct {
	File  string
	Named bool
}

// Set is what makes one plan: the files named together, or one plan found in a directory.
type Set struct {
	// Name is the plan file or the directory that was searched, empty for files named together.
	Name   string
	Inputs []Input

	has map[string]bool
}

// Loader reads files and remembers their bytes for those who show excerpts.
type Loader struct {
	// Stdin is read at most once, for the argument `-`.
	Stdin io.Reader

	kept map[string][]byte
}

// Args gives the plans that the arguments mean, in an order that is not that of the arguments. Files together are one
// plan, the first. A directory is searched for plans, each one of its own, also beside files; a directory without any
// adds its files to the files that are named, or is a plan of its own. Without arguments the plan is looked for here
// and in the parents, up to the repository's root.
func (l *Loader) Args(args []string) ([]Set, error) {
	if len(args) == 0 {
		file, err := discover()
		if err != nil {
			return nil, err
		}
		return []Set{{Name: file, Inputs: []Input{{File: file, Named: true}}}}, nil
	}
	var together Set
	var sets, loose []Set
	for _, arg := range args {
		switch arg {
		case Stdin:
			together.add(Input{Stdin, true})
			continue
		case "":
			return nil, &Error{Message: "an argument is empty: it names no file", Help: "a variable may not be set; `.` is the directory here"}
		}
		arg = filepath.Clean(arg)
		info, err := os.Stat(arg)
		if err != nil {
			return nil, unreadable(arg, err)
		}
		if !info.IsDir() {
			together.add(Input{arg, true})
			continue
		}
		found, plans, err := search(arg)
		if err != nil {
			return nil, err
		}
		sets = append(sets, plans...)
		if len(plans) == 0 {
			loose = append(loose, found)
		}
	}
	if len(together.Inputs) == 0 {
		return byName(append(sets, loose...)), nil
	}
	for _, s := range loose {
		for _, in := range s.Inputs {
			together.add(in)
		}
	}
	sets = slices.DeleteFunc(sets, func(s Set) bool { return together.has[s.Name] })
	return append([]Set{together}, byName(sets)...), nil
}

// byName sorts plans, and keeps one of those that two directories share.
func byName(sets []Set) []Set {
	slices.SortStableFunc(sets, func(a, b Set) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(sets, func(a, b Set) bool { return a.Name == b.Name })
}

func (s *Set) add(in Input) {
	if s.has[in.File] {
		return
	}
	if s.has == nil {
		s.has = map[string]bool{}
	}
	s.has[in.File] = true
	s.Inputs = append(s.Inputs, in)
}

// IsPlan reports whether a file in a searched directory is a plan of its own, by its name.
func IsPlan(name string) bool {
	return name == "budgetplan.yaml" || strings.HasSuffix(name, ".budgetplan.yaml")
}

// search gives all files of a directory, and the plans among them.
func search(dir string) (all Set, plans []Set, err error) {
	files, err := Files(dir)
	if err != nil {
		return Set{}, nil, err
	}
	all.Name = dir
	for _, f := range files {
		all.Inputs = append(all.Inputs, Input{File: f})
		if IsPlan(filepath.Base(f)) {
			plans = append(plans, Set{Name: f, Inputs: []Input{{File: f, Named: true}}})
		}
	}
	return all, plans, nil
}

// Files lists the files of a directory and its subdirectories by name. Hidden folders and files, `vendor` and
// `node_modules` are skipped; links to files are followed, links to directories are not, so no loop has an end to find.
func Files(dir string) ([]string, error) {
	var files []string
	// The slash makes WalkDir enter a directory that is itself a link.
	err := filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && filepath.Clean(path) == dir:
			return unreadable(dir, err)
		case err != nil:
			files = append(files, filepath.Clean(path)) // whoever reads it is told why it cannot be
			return nil
		case d.IsDir():
			if filepath.Clean(path) != dir && skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return nil
		}
		if d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0 && isFile(path) {
			files = append(files, filepath.Clean(path))
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "vendor" || name == "node_modules"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// discover finds budgetplan.yaml here or in a parent, up to the folder that has .git.
func discover() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", &Error{Message: "cannot tell the working directory: " + cause(err)}
	}
	dir, up := here, ""
	for {
		file := filepath.Join(up, "budgetplan.yaml")
		if isFile(filepath.Join(dir, "budgetplan.yaml")) {
			return file, nil
		}
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return "", &Error{
				Message: fmt.Sprintf("no `budgetplan.yaml` here or in a parent up to `%s`", dir),
				Help:    "name the files to read, or a directory to search: `budgetplan check deploy/`",
			}
		}
		dir, up = parent, filepath.Join(up, "..")
	}
}

// Read gives the bytes of a file, or of standard input for `-`. The error is an *Error.
func (l *Loader) Read(file string) ([]byte, error) {
	if src, ok := l.kept[file]; ok {
		return src, nil
	}
	if file == Stdin {
		if l.Stdin == nil {
			return nil, &Error{Message: "standard input is not connected"}
		}
		src, err := limited("standard input", l.Stdin, 0)
		if err == nil {
			l.Keep(Stdin, src) // there is no second time
		}
		return src, err
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, unreadable(file, err)
	case info.IsDir():
		if _, err := os.ReadDir(file); err != nil {
			return nil, unreadable(file, err)
		}
		return nil, &Error{Message: fmt.Sprintf("`%s` is a directory, and a file is meant", file), Help: "name the file in it"}
	case info.Size() > MaxBytes:
		return nil, tooLarge(file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close()
	return limited(file, f, info.Size())
}

func limited(name string, r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(r, MaxBytes+1)); err != nil {
		return nil, unreadable(name, err)
	}
	if b.Len() > MaxBytes {
		return nil, tooLarge(name)
	}
	return b.Bytes(), nil
}

// Keep remembers the bytes of a file for Source, and standard input for a second Read.
func (l *Loader) Keep(file string, src []byte) {
	if l.kept == nil {
		l.kept = map[string][]byte{}
	}
	l.kept[file] = src
}

// Source gives the bytes of a file that was kept, nil for any other.
func (l *Loader) Source(file string) []byte { return l.kept[file] }

// Has reports whether a path leads to a file that was kept, by whatever name that was read.
func (l *Loader) Has(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for name := range l.kept {
		if other, err := os.Stat(name); err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

func tooLarge(file string) error {
	return &Error{
		Message: fmt.Sprintf("`%s` is larger than %d MB", file, MaxBytes>>20),
		Cause:   fmt.Sprintf("larger than %d MB", MaxBytes>>20),
		Help:    "split it, or leave out what has no timeouts",
	}
}

func unreadable(file string, err error) error {
	return &Error{Message: fmt.Sprintf("cannot read `%s`: %s", file, cause(err)), Cause: cause(err)}
}

// cause is what the system said, without the path that a message has already named.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
