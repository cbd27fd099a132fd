package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/budgetplan/budgetplan/render"
)

// YAML writes the document of the json format in YAML, for people who read it and for tools that want it.
var YAML = &render.Renderer{
	Name: "yaml", Kind: render.Plan, Title: "the json format in YAML",
	Render: func(w io.Writer, in *render.Input) error { return writeYAML(w, []*render.Input{in}) }, Together: writeYAML,
}

func writeYAML(w io.Writer, ins []*render.Input) error {
	var document bytes.Buffer
	if err := JSON.Write(&document, ins); err != nil {
		return err
	}
	d := json.NewDecoder(&document)
	d.UseNumber()
	out := bufio.NewWriter(w)
	y := yamlWriter{d, out}
	token, err := d.Token()
	if err == nil {
		err = y.value(token, 0)
	}
	if err != nil {
		return fmt.Errorf("the json format does not read back: %w", err)
	}
	return out.Flush()
}

// yamlWriter turns the tokens of a JSON document into block YAML.
type yamlWriter struct {
	in  *json.Decoder
	out *bufio.Writer
}

// value writes one value behind the key or the dash that it belongs to; the document itself is at depth 0.
func (y yamlWriter) value(token json.Token, depth int) error {
	switch t := token.(type) {
	case json.Delim:
		if !y.in.More() {
			y.out.WriteString(map[json.Delim]string{'{': " {}\n", '[': " []\n"}[t])
			_, err := y.in.Token()
			return err
		}
		if t == '{' {
			return y.mapping(depth, false)
		}
		return y.sequence(depth)
	case string:
		y.out.WriteString(" " + yamlString(t) + "\n")
	case nil:
		y.out.WriteString(" null\n")
	default:
		fmt.Fprintf(y.out, " %v\n", t)
	}
	return nil
}

// mapping writes the keys of a mapping, the first of them behind the dash of a list where it is inline.
func (y yamlWriter) mapping(depth int, inline bool) error {
	if depth > 0 && !inline {
		y.out.WriteString("\n")
	}
	for y.in.More() {
		key, err := y.in.Token()
		if err != nil {
			return err
		}
		if !inline {
			y.out.WriteString(strings.Repeat("  ", depth))
		}
		inline = false
		fmt.Fprintf(y.out, "%s:", yamlString(fmt.Sprint(key)))
		if err := y.next(depth + 1); err != nil {
			return err
		}
	}
	_, err := y.in.Token()
	return err
}

func (y yamlWriter) sequence(depth int) error {
	y.out.WriteString("\n")
	for y.in.More() {
		y.out.WriteString(strings.Repeat("  ", depth) + "-")
		token, err := y.in.Token()
		switch {
		case err != nil:
			return err
		case token == json.Delim('{') && y.in.More():
			y.out.WriteString(" ")
			err = y.mapping(depth+1, true)
		default:
			err = y.value(token, depth+1)
		}
		if err != nil {
			return err
		}
	}
	_, err := y.in.Token()
	return err
}

func (y yamlWriter) next(depth int) error {
	token, err := y.in.Token()
	if err != nil {
		return err
	}
	return y.value(token, depth)
}

// plainYAML is what needs no quotes in any version of YAML, but for the words below.
var plainYAML = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./@-]*$`)

// yamlString writes a string plain where no reader takes it for something else. JSON's quotes are YAML's too.
func yamlString(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainYAML.MatchString(s) {
			return s
		}
	}
	return string(appendString(nil, s))
}
