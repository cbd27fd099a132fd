// Package dialect has the facts of platforms and client libraries, one file each: how a duration is written,
// what 0 means, what holds when nobody says, what is retried on which word, how long the waits between
// attempts are. It has no syntax: the importer and the renderer of a platform both read it.
package dialect

import (
	"slices"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// Dialect is one platform's way to say limits and retries.
type Dialect struct {
	// Name is the word of `client:`, `platforms:` and model.Waiter.Dialect; Title is for people.
	Name, Title string
	// Version is the release that these facts were read from.
	Version string
	// Granule is the finest step that the platform keeps of a duration; what is finer is cut off.
	Granule model.Duration
	// Zero is what a written 0 means as a timeout.
	Zero Zero
	// Counts tells what RetriesKey counts; RetriesKey is empty where the platform does not retry.
	Counts     Count
	RetriesKey string
	// MaxAttempts is where the platform silently clamps attempts, the first included; 0 for nowhere.
	MaxAttempts int32
	// Fields are the plan keys that the platform can say, each with its own name for it.
	Fields []Field
	// Conditions are the words that say what is retried, the widest first.
	Conditions []Condition
	// Defaults are the values that hold when nobody says.
	Defaults []*diag.Default
	// Parse reads a duration of the platform. The error is fit for a message: it names the text and the change.
	Parse func(string) (model.Duration, error)
	// Format writes a duration, cut to Granule. For model.NoLimit it gives what means no limit, "" where
	// only leaving the key out does.
	Format func(model.Duration) string
}

// Zero is the meaning of a written 0.
type Zero uint8

// Most platforms read 0 as no limit, gRPC as a deadline that is already over.
const (
	ZeroIsNone Zero = iota
	ZeroIsImmediate
	ZeroIsInvalid
)

// Count is what a number of tries counts.
type Count uint8

// Retries leave the first attempt out, Attempts include it.
const (
	Retries Count = iota
	Attempts
)

// Field names a plan key in the platform's words.
type Field struct{ Key, Name string }

// Condition is a word that switches retries on, and what happened when it applies. Listed marks the one
// that applies to statuses listed elsewhere.
type Condition struct {
	Token  string
	Means  model.Failures
	Listed bool
}

// All lists the dialects by name.
var All = []*Dialect{Envoy, GRPC, Postgres}

// Named gives the dialect of that name, nil for none.
func Named(name string) *Dialect {
	i := slices.IndexFunc(All, func(d *Dialect) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Field gives the platform's name for a plan key; ok is false where the platform cannot say it.
func (d *Dialect) Field(key string) (name string, ok bool) {
	for _, f := range d.Fields {
		if f.Key == key {
			return f.Name, true
		}
	}
	return "", false
}

// Failures gives what a list of words retries, together with the statuses listed elsewhere. Words that the
// platform does not know are returned; it ignores them. listed tells whether a word asked for the statuses.
func (d *Dialect) Failures(tokens, statuses []string) (f model.Failures, unknown []string, listed bool) {
	for _, t := range tokens {
		i := slices.IndexFunc(d.Conditions, func(c Condition) bool { return c.Token == t })
		if i < 0 {
			unknown = append(unknown, t)
			continue
		}
		c := &d.Conditions[i]
		f = union(f, c.Means)
		if c.Listed {
			listed = true
			f = union(f, model.Failures{Statuses: statuses})
		}
	}
	return f, unknown, listed
}

// Tokens gives the fewest words, widest first, that retry nothing beyond f; statuses are those that the
// platform's listing word needs; left is what no word can say.
func (d *Dialect) Tokens(f model.Failures) (tokens, statuses []string, left model.Failures) {
	var said model.Failures
	var list string
	for _, c := range d.Conditions {
		if c.Listed {
			list = c.Token
			continue
		}
		if covers(f, c.Means) && !covers(said, c.Means) {
			tokens, said = append(tokens, c.Token), union(said, c.Means)
		}
	}
	left.Kinds = f.Kinds &^ said.Kinds
	for _, s := range f.Statuses {
		switch {
		case statusIn(said.Statuses, s):
		case list != "" && isCode(s):
			statuses = append(statuses, s)
		default:
			left.Statuses = append(left.Statuses, s)
		}
	}
	if len(statuses) > 0 {
		tokens = append(tokens, list)
	}
	return tokens, statuses, left
}

// union joins two sets, without the statuses whose class is already there.
func union(a, b model.Failures) model.Failures {
	out := model.Failures{Kinds: a.Kinds | b.Kinds, Statuses: a.Statuses}
	for _, s := range b.Statuses {
		if !statusIn(out.Statuses, s) {
			out.Statuses = append(slices.Clip(out.Statuses), s)
		}
	}
	return out
}

// covers reports whether everything in b is also in a.
func covers(a, b model.Failures) bool {
	if b.Kinds&^a.Kinds != 0 {
		return false
	}
	return a.Kinds&model.OnError != 0 ||
		!slices.ContainsFunc(b.Statuses, func(s string) bool { return !statusIn(a.Statuses, s) })
}

// statusIn reports whether a status is listed, by itself or by its class.
func statusIn(list []string, s string) bool {
	return slices.Contains(list, s) || isCode(s) && slices.Contains(list, s[:1]+"xx")
}

// isCode reports whether s is an HTTP status by number, 100 to 599.
func isCode(s string) bool {
	return len(s) == 3 && s[0] >= '1' && s[0] <= '5' && strings.Trim(s[1:], "0123456789") == ""
}

// Default is a value that a platform supplies when nobody says.
type Default[T any] struct {
	diag.Default
	V T
}

// At gives the value as supplied for the thing at a place.
func (d *Default[T]) At(at diag.Span) model.Val[T] {
	return model.Val[T]{V: d.V, From: d.Default.For(at)}
}
