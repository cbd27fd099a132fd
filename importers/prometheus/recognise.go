package prometheus

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/importers"
)

// kind is what bytes look like.
type kind uint8

const (
	isText kind = iota
	isProtobuf
	isAnswer
	isPage
	isBinary
)

// head is how much of a source tells its kind.
const head = 64 << 10

func kindOf(src []byte) kind {
	start := bytes.TrimLeft(bytes.TrimPrefix(src[:min(len(src), head)], []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case protobufStart(src):
		return isProtobuf
	case len(start) > 0 && start[0] == '<':
		return isPage
	case len(start) > 0 && answerKeys.Match(start):
		return isAnswer
	case bytes.IndexByte(start, 0) >= 0 && !textLine(start):
		return isBinary
	}
	return isText
}

// answerKeys are what every answer of the HTTP API begins with, in any order.
var answerKeys = regexp.MustCompile(`^\{\s*"(status|data|result|resultType|isPartial|errorType|error|stats)"\s*:`)

// protobufStart reports whether a message of delimited protobuf begins here: its length, then its first field, the
// family's name.
func protobufStart(src []byte) bool {
	size, n := binary.Uvarint(src)
	if n <= 0 || size < 3 || size > uint64(len(src)-n) || src[n] != 0x0a {
		return false
	}
	length, k := binary.Uvarint(src[n+1:])
	name := n + 1 + k
	if k <= 0 || length == 0 || length > 1000 || uint64(name)+length > uint64(n)+size {
		return false
	}
	return nameText.Match(src[name : name+int(length)])
}

var (
	nameText = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:./-]*$`)
	comment  = regexp.MustCompile(`^#\s*(TYPE\s+\S+\s+(counter|gauge|histogram|gaugehistogram|summary|untyped|unknown|info|stateset)$|EOF$)`)
	plainRow = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]+(\S+)([ \t]+-?[0-9.]+)?$`)
	labelRow = regexp.MustCompile(`^(?:[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]*)?\{[^{]*\}[ \t]*(\S+)`)
)

// recognise looks for samples at the top of the content: a comment with a type, or a name, labels and a number.
func recognise(src *importers.Source) bool {
	switch kindOf(src.Bytes) {
	case isProtobuf:
		return true
	case isAnswer:
		top := src.Bytes[:min(len(src.Bytes), head)]
		return bytes.Contains(top, []byte(`"resultType"`)) || bytes.Contains(top, []byte(`"errorType"`))
	case isText:
		return textLine(src.Bytes[:min(len(src.Bytes), head)])
	}
	return false
}

func textLine(src []byte) bool {
	samples := 0
	for raw := range bytes.Lines(src) {
		line := strings.Trim(string(raw), " \t\r\n")
		if line == "" {
			continue
		}
		if line[0] == '#' {
			if comment.MatchString(line) {
				return true
			}
			continue
		}
		m := labelRow.FindStringSubmatch(line)
		labelled := m != nil
		if m == nil {
			m = plainRow.FindStringSubmatch(line)
		}
		if m == nil {
			return false
		}
		name, _, _ := strings.Cut(line, " ")
		if _, err := strconv.ParseFloat(m[1], 64); err != nil || !labelled && strings.HasSuffix(name, ":") {
			return false // `version: 1` is a plan
		}
		if samples++; labelled || samples == 3 {
			return true
		}
	}
	return samples > 0
}
