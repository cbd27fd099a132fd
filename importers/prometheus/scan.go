package prometheus

import (
	"math"
	"strconv"
	"strings"
)

// sample is one line of a scrape, cut into its parts and not yet read.
type sample struct {
	name string
	// identity is the name with its labels, as written.
	identity string
	// labels is what stands between the braces.
	labels string
	// value is the rest of the line: the value and perhaps a time. An exemplar is cut off.
	value string
}

// cut finds the parts of a line that is no comment. What is not a sample still has the text of its name.
func cut(line string) sample {
	open := strings.IndexAny(line, "{ \t")
	if open < 0 {
		return sample{name: line, identity: line}
	}
	s := sample{name: line[:open], identity: line[:open], value: line[open:]}
	if line[open] != '{' {
		if rest := strings.TrimLeft(line[open:], " \t"); strings.HasPrefix(rest, "{") {
			open = len(line) - len(rest)
		}
	}
	if line[open] == '{' {
		end := closing(line, open)
		s.identity, s.labels, s.value = line[:end], strings.TrimSuffix(line[open+1:end], "}"), line[end:]
		if s.name == "" {
			s.name = quotedName(s.labels)
		}
	}
	if hash := strings.Index(s.value, " # {"); hash >= 0 {
		s.value = s.value[:hash]
	}
	s.value = strings.Trim(s.value, " \t\r")
	return s
}

// closing gives the place after the brace that closes the one at open, quotes respected.
func closing(line string, open int) int {
	quoted := false
	for i := open + 1; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return i + 1
		}
	}
	return len(line)
}

// quotedName gives the metric's name where it stands among the labels: `{"http.client.request.duration", le="1"}`.
func quotedName(labels string) string {
	rest, found := strings.CutPrefix(strings.TrimLeft(labels, " \t"), `"`)
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// without gives the labels as written, less the pair of one name. It tells the lines of one histogram from another's.
func without(labels, name string) string {
	from := pair(labels, name)
	if from < 0 {
		return strings.Trim(labels, ", \t")
	}
	end := from + strings.IndexByte(labels[from:], '"') + 1
	for end < len(labels) && labels[end] != '"' {
		if labels[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+1, len(labels))
	head, tail := strings.TrimRight(labels[:from], ", \t"), strings.Trim(labels[end:], ", \t")
	if head == "" || tail == "" {
		return head + tail
	}
	return head + "," + tail
}

// pair finds where the pair of a label begins, -1 where there is none.
func pair(labels, name string) int {
	quoted := false
	for i := 0; i < len(labels); i++ {
		switch c := labels[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(labels[i:], name) && (i == 0 || labels[i-1] == ',' || labels[i-1] == ' ' || labels[i-1] == '\t'):
			if rest := strings.TrimLeft(labels[i+len(name):], " \t"); strings.HasPrefix(rest, "=") && strings.Contains(rest, `"`) {
				return i
			}
		}
	}
	return -1
}

// noTime is the time of a sample that has none.
const noTime = math.MinInt64

// moment splits the rest of a line into its value and its time in ms. OpenMetrics counts seconds, with or without
// a point; the text format counts whole milliseconds.
func moment(rest string, seconds bool) (value string, at int64, ok bool) {
	value, text, found := strings.Cut(rest, " ")
	if i := strings.IndexByte(value, '\t'); i >= 0 {
		value, text, found = rest[:i], rest[i+1:], true
	}
	text = strings.Trim(text, " \t")
	if !found || text == "" {
		return value, noTime, true
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && !seconds {
		return value, ms, true
	}
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(s) || math.Abs(s) > 1e15 || !seconds {
		return value, noTime, false
	}
	if math.Abs(s) >= 1e11 && !strings.Contains(text, ".") { // nobody scrapes in the year 5138: these are ms
		return value, int64(s), true
	}
	return value, int64(math.Round(s * 1000)), true
}
