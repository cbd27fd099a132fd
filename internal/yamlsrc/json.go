package yamlsrc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// isJSON reports whether the text is one JSON value, a mapping or a list. The reader for it is many times faster than
// the one for YAML, and knows no longest key.
func (p *parser) isJSON() bool {
	text := bytes.TrimLeft(p.file.src, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' && text[0] != '/' {
		return false
	}
	if json.Valid(text) {
		return true
	}
	plain := withoutComments(p.file.src)
	if plain == nil || !json.Valid(plain) {
		return false
	}
	p.file.src = plain
	return true
}

// withoutComments blanks out the comments of JSON, which people write although it has none: what is left stands at its
// place. It gives nil where there are none.
func withoutComments(src []byte) []byte {
	var out []byte
	for i := 0; i < len(src); i++ {
		end := 0
		switch rest := src[i:]; {
		case rest[0] == '"':
			i += quotedLength(rest) - 1
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			if end = bytes.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			if end = bytes.Index(rest[2:], []byte("*/")) + 4; end < 4 {
				return nil
			}
		default:
			continue
		}
		if out == nil {
			out = bytes.Clone(src)
		}
		for k := i; k < i+end; k++ {
			if out[k] != '\n' && out[k] != '\r' {
				out[k] = ' '
			}
		}
		i += end - 1
	}
	return out
}

// countJSON bounds the number of values of a JSON text from above.
func countJSON(src []byte) int {
	n := 1
	for _, mark := range [...]string{",", ":", "[", "{"} {
		n += bytes.Count(src, []byte(mark))
	}
	return n
}

// jsonReader makes nodes of a text that is known to be JSON.
type jsonReader struct {
	*parser
	text string
	at   int
	// cursor of the place of the last node
	line, col, seen int
}

func (p *parser) json() {
	j := &jsonReader{parser: p, text: string(p.file.src)}
	p.file.Docs = append(p.file.Docs, j.value(0))
}

func (j *jsonReader) space() {
	for j.at < len(j.text) && (j.text[j.at] == ' ' || j.text[j.at] == '\t' || j.text[j.at] == '\n' || j.text[j.at] == '\r') {
		j.at++
	}
}

// node starts a node here. Places are counted on from the last one, which is never behind.
func (j *jsonReader) node(kind Kind, s style) *Node {
	starts := j.file.lines()
	for j.line+1 < len(starts) && int(starts[j.line+1]) <= j.at {
		j.line++
		j.col, j.seen = 0, int(starts[j.line])
	}
	for ; j.seen < j.at; j.seen++ {
		if j.text[j.seen]&0xC0 != 0x80 { // the first byte of a rune
			j.col++
		}
	}
	n := j.take()
	n.kind, n.style = kind, s
	n.line, n.col, n.offset = int32(j.line)+1, int32(j.col)+1, int32(j.at)
	return n
}

// value reads the next value. One that is nested too deep is read as well, to find its end, and dropped.
func (j *jsonReader) value(depth int) *Node {
	j.space()
	if depth <= MaxDepth {
		return j.read(depth)
	}
	if !j.toldDeep {
		j.tooDeep(j.file.place(j.at))
	}
	n := j.read(depth)
	n.kind, n.style, n.pairs, n.items = Null, broken, nil, nil
	return n
}

func (j *jsonReader) read(depth int) *Node {
	switch j.text[j.at] {
	case '{':
		return j.object(depth)
	case '[':
		return j.array(depth)
	case '"':
		return j.quoted()
	}
	n := j.node(Scalar, 0)
	start := j.at
	for j.at < len(j.text) && strings.IndexByte(",]} \t\r\n", j.text[j.at]) < 0 {
		j.at++
	}
	if n.text = j.text[start:j.at]; n.text == "null" {
		n.kind = Null
	}
	return n
}

func (j *jsonReader) quoted() *Node {
	n := j.node(Scalar, quoted|quotes)
	start := j.at
	escaped := false
	for j.at++; j.text[j.at] != '"'; j.at++ {
		if j.text[j.at] == '\\' {
			escaped = true
			j.at++
		}
	}
	j.at++
	n.text = j.text[start+1 : j.at-1]
	if escaped {
		// A valid string always decodes.
		_ = json.Unmarshal([]byte(j.text[start:j.at]), &n.text)
	}
	return n
}

func (j *jsonReader) object(depth int) *Node {
	n := j.node(Map, flow)
	keys := keySet{pairs: &n.pairs}
	for j.at++; ; j.at++ {
		if j.space(); j.text[j.at] == '}' {
			break
		}
		key := j.quoted()
		j.space()
		j.at++ // the colon
		pair := Pair{key, j.value(depth + 1)}
		if first := keys.find(key); first != nil {
			j.duplicate(first, key)
		} else {
			keys.add(pair)
		}
		if j.space(); j.text[j.at] == '}' {
			break
		}
	}
	j.at++
	return n
}

func (j *jsonReader) array(depth int) *Node {
	n := j.node(Seq, flow)
	n.items = []*Node{}
	for j.at++; ; j.at++ {
		if j.space(); j.text[j.at] == ']' {
			break
		}
		n.items = append(n.items, j.value(depth+1))
		if j.space(); j.text[j.at] == ']' {
			break
		}
	}
	j.at++
	return n
}
