package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/all"
)

// output is one format and where it goes; an empty file is standard output.
type output struct {
	renderer *render.Renderer
	file     string
}

// outputs reads `--format name[=file]`, repeated, and `-o file` for the format that names none.
func outputs(kind render.Kind, formats []string, o string) ([]output, error) {
	var outs []output
	plain := 0
	for _, f := range formats {
		name, file, named := strings.Cut(f, "=")
		r := all.Find(name, kind)
		switch {
		case r == nil:
			return nil, usage("", "--format is `%s`, and takes %s", name, oneOf(all.Names(kind)))
		case named && file == "":
			return nil, usage("", "--format %s names no file", f)
		case !named:
			plain++
			file = o
		}
		outs = append(outs, output{r, file})
	}
	switch {
	case plain > 1:
		return nil, usage("give all but one a file: `--format text --format json=report.json`", "%d formats go to one place", plain)
	case plain == 0 && o != "":
		return nil, usage("", "-o is `%s`, and every --format has a file of its own", o)
	}
	return outs, nil
}

// showAllowed reports whether some format shows what calls may need: a search a service on large graphs, made for those
// alone.
func showAllowed(outs []output) bool {
	return slices.ContainsFunc(outs, func(o output) bool { return o.renderer.Allowed })
}

// write renders a result in every format. Files are written whole or not at all.
func (c *common) write(r *pipeline.Result, outs []output) error {
	relative := load.Relative()
	for _, in := range r.Plans {
		in.Relative, in.FailOn, in.Tool = relative, c.failOn, self()
	}
	for _, out := range outs {
		err := c.place(out.file, func(w io.Writer, color bool, width int) error {
			for _, in := range r.Plans {
				in.Color, in.Width, in.Quiet, in.Verbose = color, width, c.quiet, c.verbose
			}
			return out.renderer.Write(w, r.Plans)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// self is what a report says about the program.
func self() *render.Tool {
	return &render.Tool{
		Version: versionNumber(), Codes: pipeline.Codes(), Page: func(c *diag.Code) string { return pageOf(c).Text() },
	}
}

// place gives a writer for a file, or for standard output where the name is empty or `-`.
func (c *common) place(file string, write func(w io.Writer, color bool, width int) error) error {
	if file != "" && file != "-" {
		var b bytes.Buffer
		if err := write(&b, c.color == "always", 0); err != nil {
			return err
		}
		return replace(file, b.Bytes())
	}
	width, _ := isTerminal(c.streams.out)
	w := bufio.NewWriter(c.streams.out)
	if err := write(w, c.colored(c.streams.out), width); err != nil {
		return err
	}
	return w.Flush()
}

// replace writes a file under a temporary name beside it and renames that, so that a failed run leaves the old file
// whole. A link is followed, and what is no regular file (`/dev/stdout`) is written to.
func replace(file string, content []byte) error {
	fail := func(err error) error {
		return usage("", "cannot write `%s`: %s", file, trim(err))
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		switch {
		case info.IsDir():
			return usage("name a file in it", "`%s` is a directory, and -o names a file", file)
		case !info.Mode().IsRegular():
			if err := os.WriteFile(file, content, mode); err != nil {
				return fail(err)
			}
			return nil
		}
		mode = info.Mode().Perm()
		if target, err := filepath.EvalSymlinks(file); err == nil {
			file = target
		}
	}
	if err := rename(file, content, mode); err != nil {
		return fail(err)
	}
	return nil
}

// rename writes beside the file and puts that in its place; nothing is left of it where a step fails.
func rename(file string, content []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// trim leaves the path out of a system's error, which a message has named already.
func trim(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return err.Error()
}

// tell writes the findings in short form: for commands whose product is something else and that could not make it.
func (c *common) tell(r *pipeline.Result) {
	if short := all.Find("short", render.Check); short != nil {
		_ = short.Write(c.streams.err, r.Plans) // the error that follows says more than a broken pipe
	}
}

// count writes a number with its noun.
func count(n int, noun string) string { return render.Counted(n, noun) }
