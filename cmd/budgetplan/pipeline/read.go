package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// reader turns a set of inputs into fragments. Plans are imported as they are met, since their sources and platforms
// say how the rest is read; configs and metrics follow.
type reader struct {
	loader    *load.Loader
	seen      map[string]bool
	waiting   []waiting
	platforms map[string]model.Val[string]
	fragments []*model.Fragment
	findings  []diag.Finding
	skipped   []model.Read
}

// waiting is a config that is imported once all plans are known.
type waiting struct {
	importer *importers.Importer
	source   *importers.Source
}

// request is one input with what is known of it before it is read.
type request struct {
	load.Input
	as      string // the importer's name, empty to recognise the content
	ref     model.SourceRef
	from    diag.Span // where a plan names it, nowhere for the command line
}

func read(set load.Set, opts Options) (*reader, error) {
	r := &reader{loader: opts.Loader, seen: map[string]bool{}, platforms: map[string]model.Val[string]{}}
	for _, in := range set.Inputs {
		as := ""
		if in.Named {
			as = opts.As
		}
		if err := r.input(request{Input: in, as: as}); err != nil {
			return nil, err
		}
	}
	r.importWaiting()
	return r, nil
}

// importWaiting imports what waits, each kind that completes itself from several sources at once.
func (r *reader) importWaiting() {
	together := map[*importers.Importer][]*importers.Source{}
	var kinds []*importers.Importer
	for _, w := range r.waiting {
		w.source.Platforms = r.platforms
		if w.importer.Together == nil {
			r.take(w.importer, w.source)
			continue
		}
		if together[w.importer] == nil {
			kinds = append(kinds, w.importer)
		}
		together[w.importer] = append(together[w.importer], w.source)
	}
	for _, kind := range kinds {
		fragments, findings := kind.Together(together[kind])
		r.fragments = append(r.fragments, fragments...)
		r.findings = append(r.findings, findings...)
	}
}

// input reads one file. Its error is one that ends the run: a file that a person named cannot be read.
func (r *reader) input(q request) error {
	if r.seen[q.File] {
		return nil
	}
	r.seen[q.File] = true
	src, err := r.loader.Read(q.File)
	if err != nil {
		if q.Named && q.from.Nowhere() {
			return err
		}
		r.unread(q, err)
		return nil
	}
	source := &importers.Source{File: q.File, Bytes: src, Service: q.ref.Service, Ref: q.ref}
	importer := r.recognise(q, source)
	if importer == nil {
		return nil
	}
	r.loader.Keep(q.File, src)
	if importer.Name != planName {
		r.waiting = append(r.waiting, waiting{importer, source})
		return nil
	}
	f := r.take(importer, source)
	maps.Copy(r.platforms, f.Platforms)
	return r.follow(f)
}

// planName is the importer of plan files.
const planName = "plan"

func (r *reader) take(importer *importers.Importer, source *importers.Source) *model.Fragment {
	f, findings := importer.Import(source)
	f.File, f.As = source.File, importer.Name
	r.fragments = append(r.fragments, f)
	r.findings = append(r.findings, findings...)
	return f
}

// recognise finds the importer of a content. Where there is none it says so, and gives nil.
func (r *reader) recognise(q request, source *importers.Source) *importers.Importer {
	if q.as != "" {
		if im := all.Named(q.as); im != nil {
			return im
		}
	}
	binary := bytes.IndexByte(source.Bytes[:min(len(source.Bytes), 8000)], 0) >= 0
	if !binary {
		if im := all.Recognise(source); im != nil {
			return im
		}
	}
	skip := func(reason string) {
		r.skipped = append(r.skipped, model.Read{File: q.File, Skipped: reason})
	}
	switch {
	case len(bytes.TrimSpace(source.Bytes)) == 0:
		skip("empty")
	case binary:
		skip("binary")
	default:
		skip("not recognised")
	}
	if !q.Named {
		return nil
	}
	if !binary {
		// What does not parse is of no kind because of that: the syntax error is the finding.
		if _, findings := source.YAML(); len(findings) > 0 {
			r.loader.Keep(q.File, source.Bytes)
			r.findings = append(r.findings, findings...)
			return nil
		}
	}
	f := all.Unrecognised.New(q.File, diag.Span{File: q.File}, "`%s` is of no kind that budgetplan reads", q.File)
	f.Help = fmt.Sprintf("the kinds are %s; a plan has `version: 1`, `entrypoints` or `services` at its top", list(all.Names()))
	if !q.from.Nowhere() {
		f.At = q.from
	}
	r.findings = append(r.findings, f)
	return nil
}

// unread notes a file that a search or a source came across and that cannot be read.
func (r *reader) unread(q request, err error) {
	reason := err.Error()
	if e := (*load.Error)(nil); errors.As(err, &e) && e.Cause != "" {
		reason = e.Cause
	}
	r.skipped = append(r.skipped, model.Read{File: q.File, Skipped: reason})
	if !q.from.Nowhere() {
		r.badPath(q.from, err)
	}
}

// follow reads what a plan names: its sources and its policy.
func (r *reader) follow(f *model.Fragment) error {
	for _, s := range f.Sources {
		if !s.Files.Set() {
			continue
		}
		inputs, err := load.Near(f.File, s.Files.V)
		if err == nil && len(inputs) == 0 {
			err = fmt.Errorf("no file matches `%s`", s.Files.V)
		}
		if err != nil {
			r.badPath(s.Files.Span(), err)
			continue
		}
		for _, in := range inputs {
			as := s.Dialect
			if !in.Named {
				as = "" // a directory has files of every kind
			}
			if err := r.input(request{Input: in, as: as, ref: s, from: s.Files.Span()}); err != nil {
				return err
			}
		}
	}
	if f.PolicyFile.Set() {
		r.policy(f)
	}
	return nil
}

// badPath says that a path in a plan leads nowhere. The rest of the plan is still read.
func (r *reader) badPath(at diag.Span, err error) {
	f := importers.BadValue.New("", at, "%s", err.Error())
	var e *load.Error
	if errors.As(err, &e) {
		f.Help = e.Help
	}
	if f.Help == "" {
		f.Help = "paths in a plan are relative to the plan file"
	}
	r.findings = append(r.findings, f)
}

func list(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// policy reads the file that a plan names under `policy`.
func (r *reader) policy(f *model.Fragment) {
	file := load.Beside(f.File, f.PolicyFile.V)
	if r.seen[file] {
		return
	}
	r.seen[file] = true
	src, err := r.loader.Read(file)
	if err != nil {
		r.skipped = append(r.skipped, model.Read{File: file, Skipped: "cannot be read"})
		r.badPath(f.PolicyFile.Span(), err)
		return
	}
	r.loader.Keep(file, src)
	policy, findings := planfile.ReadPolicy(&importers.Source{File: file, Bytes: src})
	r.findings = append(r.findings, findings...)
	r.fragments = append(r.fragments, &model.Fragment{File: file, As: planName, Structure: true, Policy: policy})
}
