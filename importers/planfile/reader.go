package planfile

import (
	"fmt"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// The findings of this reader, besides those of yamlsrc.
var (
	unknownKey = &diag.Code{ID: "BP002", Name: "unknown-key", Severity: diag.Error, Summary: "a key is not one of the plan language"}
	badValue   = importers.BadValue
)

// reader carries what is being read, and where. A bad value is one finding; everything else is still read.
type reader struct {
	frag     *model.Fragment
	findings []diag.Finding
	// subject is the entrypoint, service or call that is being read, key the key whose value is.
	subject subject
	key     string
	keyAt   diag.Span
	// homes says for every key of the language whose key it is, for a key in the wrong place.
	homes map[string][]string
	// entrypoints is where each name was first defined, services the same by id, nowhere for one that was not.
	entrypoints map[string]diag.Span
	services    []diag.Span
	// calls is where each id of a named call was first given.
	calls map[string]diag.Span
	// service is what is being read, to be stored at id; none stands within another. It is here, since the tables would
	// have each in the heap.
	service model.Service
	id      model.ServiceID
	// origins and waiters are slabs: one allocation for many.
	origins slab[diag.Origin]
	waiters slab[model.Waiter]
	// things counts what the file has; tooMuch is the first of them that is too much.
	things  *importers.Things
	tooMuch diag.Span
}

// room reports whether one more thing may be read.
func (r *reader) room(n *yamlsrc.Node) bool {
	full := r.things.Full()
	if full || r.things.Add(1) {
		return !full
	}
	r.tooMuch = n.Span()
	return false
}

// slab gives zero values out of blocks that grow.
type slab[T any] struct {
	free []T
	size int
}

const largestSlab = 32

// take gives a list of one, which appending copies.
func (s *slab[T]) take() []T {
	if len(s.free) == 0 {
		s.size = min(largestSlab, 2*s.size+1)
		s.free = make([]T, s.size)
	}
	one := s.free[:1:1]
	s.free = s.free[1:]
	return one
}

// subject is what findings are about. The name of a call is put together only for one.
type subject struct{ name, callee string }

func (s subject) String() string {
	if s.callee == "" {
		return s.name
	}
	return strings.TrimSuffix(s.name+"/"+s.callee, "/")
}

// problem is what is wrong with a value, and what to write instead.
type problem struct{ fact, help string }

func (r *reader) report(code *diag.Code, at diag.Span, p problem) *diag.Finding {
	f := code.New(r.subject.String(), at, "%s", clip(p.fact))
	f.Detail, f.Help = r.key, clip(p.help)
	if !r.things.Full() && !r.things.Add(3+(len(f.Message)+len(f.Help))/512) {
		r.tooMuch = at
	}
	if r.things.Full() {
		return &f // nothing of the file is read, or told
	}
	r.findings = append(r.findings, f)
	return &r.findings[len(r.findings)-1]
}

// maxMessage keeps a message readable when what it quotes is a whole document.
const maxMessage = 2000

func clip(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage/2], "") + " … " + strings.ToValidUTF8(s[len(s)-maxMessage/2:], "")
}

// bad reports a value of the current key.
func (r *reader) bad(n *yamlsrc.Node, p problem) {
	if n.Broken() {
		return
	}
	if strings.Contains(n.Text(), "{{") {
		p = problem{fmt.Sprintf("`%s` is a template", n.Text()), "render it first"}
	}
	p.fact = fmt.Sprintf("`%s`: %s", r.key, p.fact)
	r.report(badValue, n.Span(), p)
}

// wrongShape reports a list where a mapping is wanted, and the like. Takes says what the key takes.
func (r *reader) wrongShape(n *yamlsrc.Node, takes string) {
	if n.Broken() {
		return
	}
	p := problem{fmt.Sprintf("`%s` takes %s, not %s", r.key, takes, n.Kind()), ""}
	if n.Kind() == yamlsrc.Null {
		p = problem{fmt.Sprintf("`%s` has no value", r.key), "write " + takes + ", or leave the key out"}
	}
	r.report(badValue, n.Span(), p)
}

// missing reports a key that is required and not there.
func (r *reader) missing(n *yamlsrc.Node, of, key string, help string) {
	r.report(badValue, n.Span(), problem{fmt.Sprintf("%s has no `%s`", of, key), help})
}

// isUser reports whether a key is the user's own.
func isUser(key string) bool { return strings.HasPrefix(key, "x-") }

// entries visits the pairs of a mapping whose keys are names that the user chooses.
func (r *reader) entries(n *yamlsrc.Node, takes string, visit func(name string, key, value *yamlsrc.Node)) {
	if n.Kind() != yamlsrc.Map {
		r.wrongShape(n, takes)
		return
	}
	for _, p := range n.Pairs() {
		switch name := p.Key.Text(); {
		case r.things.Full():
			return
		case p.Key.Kind() != yamlsrc.Scalar:
			if !p.Key.Broken() {
				r.report(badValue, p.Key.Span(), problem{fmt.Sprintf("a key in `%s` is %s", r.key, p.Key.Kind()), "write a name"})
			}
		case isUser(name):
		case !isName(name):
			r.report(badValue, p.Key.Span(), problem{fmt.Sprintf("`%s` in `%s` is no name", name, r.key), nameHelp})
		default:
			visit(name, p.Key, p.Value)
		}
	}
}

// within reads something of another subject, and comes back to this one.
func (r *reader) within(s subject, read func()) {
	was, key := r.subject, r.key
	r.subject = s
	read()
	r.subject, r.key = was, key
}
