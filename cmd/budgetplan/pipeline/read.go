package pipeline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/load"
	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/importers/all"
	"github.com/budgetplan/budgetplan/importers/planfile"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// reader turns a set of inputs into fragments. Plans are imported as they are met, since their sources and platforms
// say how the rest is read; configs and metrics follow, in the order of their names, so that the order of the arguments
// never shows.
type reader struct {
	loader    *load.Loader
	plans     map[string]bool // plan and policy files that were read
	jobs      []job
	platforms map[string]model.Val[string]
	fragments []*model.Fragment
	findings  []diag.Finding
	skipped   []model.Read
}

// job is a config that is imported once all plans are known. A file that several sources name, for the calls of
// different services or for different metrics, is as many jobs.
type job struct {
	request
	importer *importers.Importer
	source   *importers.Source
}

// request is one input with what is known of it before it is read.
type request struct {
	load.Input
	as   string          // the importer's name, empty to recognise the content
	ref  model.SourceRef // what a plan says of it, zero for the command line
	from diag.Span       // where a plan names it, nowhere for the command line
}

func read(set load.Set, opts Options) (*reader, error) {
	r := &reader{loader: opts.Loader, plans: map[string]bool{}, platforms: map[string]model.Val[string]{}}
	inputs := slices.SortedStableFunc(slices.Values(set.Inputs), func(a, b load.Input) int { return cmp.Compare(a.File, b.File) })
	for _, in := range inputs {
		as := ""
		if in.Named {
			as = opts.As
		}
		if _, err := r.input(request{Input: in, as: as}); err != nil {
			return nil, err
		}
	}
	r.importJobs()
	slices.SortStableFunc(r.skipped, func(a, b model.Read) int { return cmp.Compare(a.File, b.File) })
	r.skipped = slices.CompactFunc(r.skipped, func(a, b model.Read) bool { return a.File == b.File })
	return r, nil
}

// importJobs imports what waits, each kind that completes itself from several sources at once.
func (r *reader) importJobs() {
	byKind := map[*importers.Importer][]*job{}
	var kinds []*importers.Importer
	jobs := r.settled()
	for i := range jobs {
		kind := jobs[i].importer
		if byKind[kind] == nil {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], &jobs[i])
	}
	for _, kind := range kinds {
		sources := make([]*importers.Source, len(byKind[kind]))
		for i, j := range byKind[kind] {
			sources[i] = j.source
			sources[i].Platforms = r.platforms
		}
		for i, f := range r.takeAll(kind, sources) {
			r.checkKind(byKind[kind][i], f)
		}
	}
}

// takeAll imports the sources of one kind and gives a fragment for each.
func (r *reader) takeAll(kind *importers.Importer, sources []*importers.Source) []*model.Fragment {
	if kind.Together != nil {
		fragments, findings := kind.Together(sources)
		r.fragments = append(r.fragments, fragments...)
		r.findings = append(r.findings, findings...)
		return fragments
	}
	fragments := make([]*model.Fragment, len(sources))
	for i, source := range sources {
		fragments[i] = r.take(kind, source)
	}
	return fragments
}

// settled gives the jobs in the order of their files, once each. Where a source says more of a file than its
// name, the command line or a source that says less of it adds nothing.
func (r *reader) settled() []job {
	slices.SortStableFunc(r.jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.importer.Name, b.importer.Name), slices.Compare(a.words(), b.words()))
	})
	var out []job
	for i, j := range r.jobs {
		if i > 0 && len(out) > 0 {
			last := &out[len(out)-1]
			switch same := last.File == j.File && last.importer == j.importer; {
			case same && slices.Equal(last.words(), j.words()):
				continue
			case same && strings.Join(last.words(), "") == "":
				*last = j
				continue
			}
		}
		out = append(out, j)
	}
	return out
}

// words are what a source says of a file besides its name.
func (q *request) words() []string {
	return []string{q.ref.Service.V, q.ref.Metric.V, q.ref.Caller.V, q.ref.Callee.V, q.ref.Unit.V}
}

// checkKind says that a file which a source names has nothing of the kind that the source says.
func (r *reader) checkKind(j *job, f *model.Fragment) {
	if j.from.Nowhere() || len(f.Calls) > 0 || len(f.Services) > 0 || j.importer.Recognise(j.source) {
		return
	}
	found := all.Unrecognised.New(j.File, j.from, "`%s` is not what `%s` reads: %s", j.File, j.importer.Name, j.importer.Title)
	if other := all.Recognise(j.source); other != nil {
		found.Help = fmt.Sprintf("its content is what `%s` reads", other.Name)
	}
	r.findings = append(r.findings, found)
}

// input reads one file, and reports whether it is of the kind that is asked for. Its error is one that ends the run:
// a file that a person named cannot be read.
func (r *reader) input(q request) (ok bool, err error) {
	if r.plans[q.File] {
		return true, nil
	}
	src, err := r.loader.Read(q.File)
	if err != nil {
		if q.Named && q.from.Nowhere() {
			return false, err
		}
		r.unread(q, err)
		return false, nil
	}
	source := &importers.Source{File: q.File, Bytes: src, Service: q.ref.Service, Ref: q.ref}
	importer := r.recognise(q, source)
	if importer == nil {
		return false, nil
	}
	r.loader.Keep(q.File, src)
	if importer.Name != planName {
		r.jobs = append(r.jobs, job{q, importer, source})
		return true, nil
	}
	r.plans[q.File] = true
	f := r.take(importer, source)
	for platform, version := range f.Platforms {
		if _, known := r.platforms[platform]; !known {
			r.platforms[platform] = version
		}
	}
	return true, r.follow(f)
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

// recognise finds the importer of a content. Where there is none it says so, and gives nil. What a search comes
// across is of the kind that the search is for, or left out.
func (r *reader) recognise(q request, source *importers.Source) *importers.Importer {
	named := all.Named(q.as)
	switch {
	case named != nil && q.Named, named != nil && (named.Binary || !source.Binary()) && named.Recognise(source):
		return named
	case named == nil:
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
	case source.Binary():
		skip("binary")
	case named != nil:
		skip("not of the kind " + named.Name)
	default:
		skip(cmp.Or(all.Resembles(source), "not recognised"))
	}
	if q.Named {
		r.unrecognised(q, source)
	}
	return nil
}

// unrecognised says why a file that a person named is not read.
func (r *reader) unrecognised(q request, source *importers.Source) {
	if !source.Binary() {
		// What does not parse is of no kind because of that: the syntax error is the finding.
		if _, findings := source.YAML(); len(findings) > 0 {
			r.loader.Keep(q.File, source.Bytes)
			r.findings = append(r.findings, findings...)
			return
		}
	}
	f := all.Unrecognised.New(q.File, diag.Span{File: q.File}, "`%s` is of no kind that budgetplan reads", q.File)
	if what := all.Resembles(source); what != "" {
		f.Message += ": it is " + what
	}
	f.Help = fmt.Sprintf("the kinds are %s; a plan has `version: 1`, `entrypoints` or `services` at its top", list(all.Names()))
	switch {
	case wide(source.Bytes):
		f.Message += ": it is UTF-16 or UTF-32, and UTF-8 is read"
		f.Help = "save it as UTF-8"
	case source.Binary():
		f.Message += ": it has the byte 0, as binary files do"
	}
	if !q.from.Nowhere() {
		f.At = q.from
	}
	r.findings = append(r.findings, f)
}

// wide recognises text of two or four bytes a character, as PowerShell writes it: by its mark, or by every other byte of
// its beginning being 0.
func wide(text []byte) bool {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return true
	}
	var zeros [2]int
	start := text[:min(len(text), 64)]
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	return len(start) > 3 && max(zeros[0], zeros[1]) == len(start)/2
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
		if s.Files.Set() {
			if err := r.sourceOf(f, s); err != nil {
				return err
			}
		}
	}
	if f.PolicyFile.Set() {
		r.policy(f)
	}
	return nil
}

// sourceOf reads the files of one element of `sources`.
func (r *reader) sourceOf(f *model.Fragment, s model.SourceRef) error {
	at := s.Files.Span()
	if all.Named(s.Dialect) == nil {
		found := importers.BadValue.New("", at, "`%s` is no kind of file that budgetplan reads", s.Dialect)
		found.Help = "the kinds are " + list(all.Names())
		r.findings = append(r.findings, found)
	}
	inputs, err := load.Near(f.File, s.Files.V)
	if strings.Contains(s.Files.V, "://") && len(inputs) == 0 {
		err = fmt.Errorf("`%s` is a URL, and a source is a file", diag.Masked([]byte(s.Files.V)))
	}
	if err == nil && len(inputs) == 0 {
		err = fmt.Errorf("no file matches `%s`", s.Files.V)
	}
	if err != nil {
		r.badPath(at, err)
		return nil
	}
	any := false
	for _, in := range inputs {
		ok, err := r.input(request{Input: in, as: s.Dialect, ref: s, from: at})
		if err != nil {
			return err
		}
		any = any || ok || in.Named
	}
	if !any {
		found := all.Unrecognised.New("", at, "none of the %d files of `%s` is what `%s` reads", len(inputs), s.Files.V, s.Dialect)
		found.Help = "name the files that have the timeouts"
		r.findings = append(r.findings, found)
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
	if r.plans[file] {
		return
	}
	r.plans[file] = true
	var src []byte
	err := load.Plain(file)
	if err == nil {
		src, err = r.loader.Read(file)
	}
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
