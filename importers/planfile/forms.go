package planfile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
)

// formInfo is what the schema says of a form of value.
type formInfo struct {
	// name is that of the schema's definition.
	name string
	// takes says in messages what is wanted.
	takes    string
	schema   object
	examples []any
	// parts are the forms that the schema refers to.
	parts []*formInfo
}

func (f *formInfo) described(doc string) object {
	return object{"$ref": "#/$defs/" + f.name, "description": doc}
}

func (f *formInfo) ref() object { return object{"$ref": "#/$defs/" + f.name} }

// form is a form of value: how it is read, and how the schema describes it.
type form[V any] struct {
	*formInfo
	read func(r *reader, n *yamlsrc.Node) (V, bool)
}

// scalar makes a form of single values. Parse is given scalars only.
func scalar[V any](info *formInfo, parse func(*yamlsrc.Node) (V, *problem)) form[V] {
	return form[V]{info, func(r *reader, n *yamlsrc.Node) (v V, ok bool) {
		if n.Kind() != yamlsrc.Scalar {
			r.wrongShape(n, info.takes)
			return v, false
		}
		v, p := parse(n)
		if p != nil {
			r.bad(n, *p)
			return v, false
		}
		return v, true
	}}
}

// Patterns of the schema. The parsers of package model accept the same texts.
const (
	decimalPattern  = `([0-9]+(\.[0-9]*)?|\.[0-9]+)`
	durationPattern = `^(` + decimalPattern + `d)?(` + decimalPattern + `(ns|us|µs|μs|ms|s|m|h))*$`
	zeroPattern     = `^[^1-9]*$` // of a duration: no digit but 0
	percentPattern  = `^[0-9]{1,9}(\.[0-9]{1,4})?%$`
	belowPattern    = `^0{0,7}[0-9]{1,2}(\.[0-9]{1,4})?%$`
	upToPattern     = `^0{0,6}([0-9]{1,2}(\.[0-9]{1,4})?|100(\.0{1,4})?)%$`
	namePattern     = `^[^\s\x00-\x1f](.*[^\s\x00-\x1f])?$`
)

// A duration that is 0 has no other digit.
var (
	durationSchema = object{"type": "string", "minLength": 1, "pattern": durationPattern}
	positiveSchema = object{"type": "string", "minLength": 1, "pattern": durationPattern, "not": object{"pattern": zeroPattern}}
)

func isNumber(n *yamlsrc.Node) bool { return !n.Quoted() && isNumeral(n.Text()) }

func isBool(n *yamlsrc.Node) bool {
	return !n.Quoted() && (n.Text() == "true" || n.Text() == "false")
}

// isNumeral recognises the numbers that YAML and JSON agree on: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func isNumeral(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if rest, found := strings.CutPrefix(s, "."); found {
		n := digits(rest)
		if n == 0 {
			return false
		}
		s = rest[n:]
	}
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return s == ""
	}
	if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits counts the digits that a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

func parseDuration(n *yamlsrc.Node) (model.Duration, *problem) {
	d, err := model.ParseDuration(n.Text())
	if joined := strings.ReplaceAll(n.Text(), " ", ""); err != nil && joined != n.Text() {
		if _, err := model.ParseDuration(joined); err == nil {
			return 0, &problem{fmt.Sprintf("`%s` has a space in it", n.Text()), fmt.Sprintf("write `%s`", joined)}
		}
	}
	if err != nil {
		fact, help, _ := strings.Cut(err.Error(), ", write ")
		if help != "" {
			help = "write " + help
		}
		return 0, &problem{fact, help}
	}
	return d, nil
}

var duration = scalar(&formInfo{
	name: "duration", takes: "a duration such as `250ms`",
	schema: durationSchema, examples: []any{"250ms", "1.5s", "0ms", "1m30s", "7d"},
}, parseDuration)

var positive = scalar(&formInfo{
	name: "positive", takes: "a duration such as `250ms`",
	schema: positiveSchema, examples: []any{"250ms", "1.5s", "7d"},
}, func(n *yamlsrc.Node) (model.Duration, *problem) {
	d, p := parseDuration(n)
	if p == nil && d == 0 {
		p = &problem{fmt.Sprintf("`%s` is no time", n.Text()), "write a duration above 0, or leave the key out"}
	}
	return d, p
})

// limit is a duration after which something is given up, or `none`.
var limit = scalar(&formInfo{
	name: "limit", takes: "a duration such as `250ms`, or `none`",
	schema:   object{"anyOf": []any{positiveSchema, object{"const": "none"}}},
	examples: []any{"250ms", "1.5s", "none"},
}, func(n *yamlsrc.Node) (model.Duration, *problem) {
	if n.Text() == "none" {
		return model.NoLimit, nil
	}
	d, p := parseDuration(n)
	if t := n.Text(); p == nil && d == 0 || !n.Quoted() && t == "0" {
		p = &problem{
			fmt.Sprintf("`%s` as a limit has two meanings: half of the platforms read 0 as no limit, the others give up at once", t),
			"write `none` for no limit, or a duration above 0",
		}
	}
	return d, p
})

// fraction makes a form of percentages with a most, which is itself allowed or not.
func fraction(name, takes, pattern string, ok func(model.Fraction) bool, fact string, examples ...any) form[model.Fraction] {
	return scalar(&formInfo{
		name: name, takes: takes, examples: examples,
		schema: object{"type": "string", "pattern": pattern},
	}, func(n *yamlsrc.Node) (model.Fraction, *problem) {
		f, parsed := model.ParsePercent(n.Text())
		switch {
		case !parsed && isNumber(n):
			return 0, &problem{fmt.Sprintf("`%s` has no `%%`", n.Text()), fmt.Sprintf("write `%s%%` if that is meant", n.Text())}
		case !parsed:
			return 0, &problem{fmt.Sprintf("`%s` is no share", n.Text()), "write a percentage such as `5%`, with at most four decimal places"}
		case !ok(f):
			return 0, &problem{fmt.Sprintf("`%s` is %s", n.Text(), fact), ""}
		}
		return f, nil
	})
}

var (
	percent = fraction("percent", "a percentage such as `10%`", percentPattern,
		func(model.Fraction) bool { return true }, "", "10%", "0%", "150%")
	belowWhole = fraction("percentBelow100", "a percentage below 100%", belowPattern,
		func(f model.Fraction) bool { return f < model.Whole }, "not below 100%: nothing would be left", "5%", "0%", "33.3333%")
	upToWhole = fraction("percentUpTo100", "a percentage up to 100%", upToPattern,
		func(f model.Fraction) bool { return f <= model.Whole }, "above 100%", "20%", "99.65%", "100%")
)

var percentile = scalar(&formInfo{
	name: "percentile", takes: "a percentile such as `p99`", examples: []any{"p50", "p99", "p99.9"},
	schema: percentileSchema,
}, parsePercentile)

var percentileSchema = object{"type": "string", "pattern": percentilePattern, "not": object{"pattern": `^p[0.]*$`}}

const percentilePattern = `^p0{0,7}[0-9]{1,2}(\.[0-9]{1,4})?$`

func parsePercentile(n *yamlsrc.Node) (model.Fraction, *problem) {
	if p, ok := model.ParsePercentile(n.Text()); ok {
		return p, nil
	}
	t := strings.TrimSuffix(strings.TrimPrefix(n.Text(), "p"), "%")
	if f, ok := model.ParsePercent(t + "%"); ok && f > 0 && f < model.Whole {
		return 0, &problem{fmt.Sprintf("`%s` is no percentile", n.Text()), fmt.Sprintf("write `%s`", f.Percentile())}
	}
	return 0, &problem{fmt.Sprintf("`%s` is no percentile between 0 and 100", n.Text()), "write `p99` or `p99.9`"}
}

var boolean = scalar(&formInfo{
	name: "boolean", takes: "`true` or `false`", schema: object{"type": "boolean"}, examples: []any{true, false},
}, func(n *yamlsrc.Node) (bool, *problem) {
	if !isBool(n) {
		return false, &problem{fmt.Sprintf("`%s` is neither `true` nor `false`", n.Text()), "write `true` or `false`, without quotes"}
	}
	return n.Text() == "true", nil
})

// number reads what YAML and JSON both take for a number.
func number(n *yamlsrc.Node) (float64, *problem) {
	if !isNumber(n) {
		help := "write digits, without quotes"
		if n.Quoted() && isNumeral(n.Text()) {
			help = fmt.Sprintf("write `%s` without quotes", n.Text())
		}
		return 0, &problem{fmt.Sprintf("`%s` is no number", n.Text()), help}
	}
	v, err := strconv.ParseFloat(n.Text(), 64)
	if err != nil {
		return 0, &problem{fmt.Sprintf("`%s` is too large", n.Text()), ""}
	}
	return v, nil
}

// maxCount is the largest count that a plan may write.
const maxCount = 1_000_000_000

// count makes a form of whole numbers from a least one on.
func count[V int32 | int64](name string, least float64, why string, examples ...any) form[V] {
	return scalar(&formInfo{
		name: name, takes: "a whole number", examples: examples,
		schema: object{"type": "integer", "minimum": least, "maximum": maxCount},
	}, func(n *yamlsrc.Node) (V, *problem) { return parseCount[V](n, least, why) })
}

func parseCount[V int32 | int64](n *yamlsrc.Node, least float64, why string) (V, *problem) {
	v, p := number(n)
	switch {
	case p != nil:
		return 0, p
	case v != math.Trunc(v):
		return 0, &problem{fmt.Sprintf("`%s` is no whole number", n.Text()), ""}
	case v < least:
		return 0, &problem{fmt.Sprintf("`%s` is less than %v%s", n.Text(), least, why), ""}
	case v > maxCount:
		return 0, &problem{fmt.Sprintf("`%s` is more than %d", n.Text(), maxCount), ""}
	}
	return V(v), nil
}

var (
	counting = count[int32]("count", 1, "", 1, 3)
	capacity = count[int32]("capacity", 0, "", 0, 64)
	samples  = count[int64]("samples", 1, "", 1000)
)

// probability is a number from 0 to 1, or a percentage.
var probability = scalar(&formInfo{
	name: "probability", takes: "a percentage or a number from 0 to 1", examples: []any{"0.1%", "30%", 0.25, 0, 1},
	schema: object{"anyOf": []any{object{"type": "number", "minimum": 0, "maximum": 1}, object{"type": "string", "pattern": upToPattern}}},
}, func(n *yamlsrc.Node) (float64, *problem) {
	if f, ok := model.ParsePercent(n.Text()); ok {
		if f > model.Whole {
			return 0, &problem{fmt.Sprintf("`%s` is above 100%%", n.Text()), ""}
		}
		return f.Float(), nil
	}
	v, p := number(n)
	switch {
	case p != nil:
		return 0, &problem{fmt.Sprintf("`%s` is no probability", n.Text()), "write a percentage such as `0.1%`, or a number from 0 to 1"}
	case v < 0 || v > 1:
		return 0, &problem{fmt.Sprintf("`%s` is not between 0 and 1", n.Text()), "write a percentage such as `0.1%`, or a number from 0 to 1"}
	}
	return v, nil
})

// rate is a number of requests, a second unless it says otherwise.
var rate = scalar(&formInfo{
	name: "rate", takes: "requests a second, such as `500`, or `30/m`", examples: []any{500, 0.5, "500/s", "30/m", "2/h"},
	schema: object{"anyOf": []any{
		object{"type": "number", "minimum": 0, "maximum": maxCount},
		object{"type": "string", "pattern": `^[0-9]{1,9}(\.[0-9]{1,9})?/[smh]$`},
	}},
}, parseRate)

var rateText = regexp.MustCompile(`^([0-9]{1,9}(?:\.[0-9]{1,9})?)/([smh])$`)

func parseRate(n *yamlsrc.Node) (float64, *problem) {
	if m := rateText.FindStringSubmatch(n.Text()); m != nil {
		v, _ := strconv.ParseFloat(m[1], 64)
		return v / map[string]float64{"s": 1, "m": 60, "h": 3600}[m[2]], nil
	}
	v, p := number(n)
	if p != nil {
		return 0, &problem{fmt.Sprintf("`%s` is no rate", n.Text()), "write requests a second as a number, or `30/m`"}
	}
	if v < 0 || v > maxCount {
		return 0, &problem{fmt.Sprintf("`%s` is not between 0 and %d requests a second", n.Text(), maxCount), ""}
	}
	return v, nil
}

// text reads any text that is not a number.
func text(name, takes, pattern, help string, examples ...any) form[string] {
	is := regexp.MustCompile(pattern).MatchString
	if pattern == namePattern {
		is = isName
	}
	return scalar(&formInfo{
		name: name, takes: takes, examples: examples,
		schema: object{"type": "string", "pattern": pattern},
	}, func(n *yamlsrc.Node) (string, *problem) {
		switch t := n.Text(); {
		case isNumber(n) || isBool(n):
			return "", &problem{fmt.Sprintf("`%s` is no text", t), fmt.Sprintf("write it in quotes, `%q`, if that is meant", t)}
		case !is(t):
			return "", &problem{fmt.Sprintf("`%s` is not %s", t, takes), help}
		}
		return n.Text(), nil
	})
}

const nameHelp = "write a name that neither begins nor ends with a space"

var (
	nameText = regexp.MustCompile(namePattern)
	// name is that of a service, a call or a waiter.
	name       = text("name", "a name", namePattern, nameHelp, "gateway", "order.Place", "outbound|80||product.shop.svc.cluster.local")
	word       = text("word", "a word of small letters, digits and dashes", `^[a-z][a-z0-9_.-]*$`, "", "http", "grpc", "postgres")
	headerName = text("header", "the name of a header", "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "", "x-request-deadline", "grpc-timeout")
	path       = text("path", "a path", namePattern, "", "deploy/envoy/*.yaml", "../policy.yaml")
)

// isName agrees with the schema on what a name is.
func isName(s string) bool {
	if s != "" && isVisible(s) {
		return true // as names are
	}
	return nameText.MatchString(s) && strings.TrimFunc(s, unicode.IsSpace) == s
}

// isVisible reports whether a text is ASCII without spaces and controls.
func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// enum makes a form of a few words.
func enum[V any](info string, words []string, value func(string) V) form[V] {
	examples := make([]any, len(words))
	for i, w := range words {
		examples[i] = w
	}
	return scalar(&formInfo{
		name: info, takes: "one of " + list(words), examples: examples, schema: object{"enum": examples},
	}, func(n *yamlsrc.Node) (v V, p *problem) {
		for _, w := range words {
			if w == n.Text() {
				return value(w), nil
			}
		}
		p = &problem{fmt.Sprintf("`%s` is not one of %s", n.Text(), list(words)), ""}
		if near := nearest(n.Text(), words); near != "" {
			p.help = fmt.Sprintf("write `%s`", near)
		}
		return v, p
	})
}

func itself(s string) string { return s }

// version is the version of a platform; a plain number is one too.
var version = scalar(&formInfo{
	name: "version", takes: "a version such as `\"1.24\"`", examples: []any{"1.24", "v1.33.0", 1.24},
	schema: object{"anyOf": []any{object{"type": "number"}, object{"type": "string", "pattern": `^v?[0-9]+(\.[0-9A-Za-z+-]+)*$`}}},
}, func(n *yamlsrc.Node) (string, *problem) {
	if !versionText.MatchString(n.Text()) && !isNumber(n) {
		return "", &problem{fmt.Sprintf("`%s` is no version", n.Text()), "write a version such as `\"1.24\"`"}
	}
	return n.Text(), nil
})

var versionText = regexp.MustCompile(`^v?[0-9]+(\.[0-9A-Za-z+-]+)*$`)

// date is the last day of an ignore.
var date = scalar(&formInfo{
	name: "date", takes: "a date such as `2027-03-01`", examples: []any{"2027-03-01"},
	schema: object{"type": "string", "pattern": `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`},
}, func(n *yamlsrc.Node) (time.Time, *problem) {
	t, err := time.Parse(time.DateOnly, n.Text())
	if err != nil {
		return t, &problem{fmt.Sprintf("`%s` is no date", n.Text()), "write a day of the calendar as `2027-03-01`"}
	}
	return t, nil
})
