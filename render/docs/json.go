package docs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// jsonIntro is what no table of keys can say of the contract.
//
//go:embed json.md
var jsonIntro string

// whatIfIntro is the same for what-if, which has a schema of its own.
//
//go:embed whatif.md
var whatIfIntro string

// cardIntro is the same for a deadline card.
//
//go:embed card.md
var cardIntro string

// JSON writes the description of the json format of check and plan: what holds for all of it, then the keys of each record
// with what the schema says of them. The error is the writer's, or the schema's that does not parse.
func JSON(w io.Writer, schema []byte) error { return writeFormat(w, jsonIntro, schema) }

// WhatIfJSON writes that of the json format of what-if, to follow the other.
func WhatIfJSON(w io.Writer, schema []byte) error { return writeFormat(w, whatIfIntro, schema) }

// CardJSON writes that of a deadline card, to follow both.
func CardJSON(w io.Writer, schema []byte) error { return writeFormat(w, cardIntro, schema) }

func writeFormat(w io.Writer, intro string, schema []byte) error {
	var document struct {
		Defs members `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &document); err != nil {
		return err
	}
	descriptions := make(map[string]string)
	records := make([]record, len(document.Defs))
	for i, def := range document.Defs {
		if err := json.Unmarshal(def.value, &records[i]); err != nil {
			return err
		}
		descriptions["#/$defs/"+def.name] = records[i].Description
	}
	var b bytes.Buffer
	b.WriteString(intro)
	for _, i := range recordOrder(document.Defs, records) {
		if err := writeRecord(&b, document.Defs[i].name, &records[i], descriptions); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// record is what the page needs of a definition, or of a key.
type record struct {
	Description string
	Ref         string `json:"$ref"`
	Items       struct {
		Ref string `json:"$ref"`
	}
	Properties members
	// OneOf has the record beside null.
	OneOf []struct{ Properties members }
}

// keys are those of the record, also of one that may be null.
func (r *record) keys() members {
	for _, choice := range r.OneOf {
		if len(r.Properties) == 0 && len(choice.Properties) > 0 {
			return choice.Properties
		}
	}
	return r.Properties
}

// recordOrder gives the records, those of the lists of a plan first, in the order of the lists.
func recordOrder(defs members, records []record) []int {
	var order []int
	for i, def := range defs {
		if def.name != "plan" {
			continue
		}
		for _, list := range records[i].Properties {
			var key record
			if json.Unmarshal(list.value, &key) != nil {
				continue // written as it stands, further down
			}
			name := strings.TrimPrefix(key.Items.Ref, "#/$defs/")
			if k := slices.IndexFunc(defs, func(m member) bool { return m.name == name }); k >= 0 {
				order = append(order, k)
			}
		}
	}
	for i := range defs {
		if len(records[i].keys()) > 0 && !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}

// writeRecord writes the table of a record. The word beside a time or a count is explained once, in the introduction.
func writeRecord(b *bytes.Buffer, name string, r *record, descriptions map[string]string) error {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | |\n| --- | --- |\n", name, r.Description)
	numbers := make(map[string]bool)
	for _, p := range r.keys() {
		numbers[p.name] = true
	}
	for _, p := range r.keys() {
		var key record
		if err := json.Unmarshal(p.value, &key); err != nil {
			return err
		}
		if count, is := strings.CutSuffix(p.name, "_is"); numbers[p.name+"_ms"] || is && numbers[count] {
			continue
		}
		says := key.Description
		if link := recordName(key.Ref, key.Items.Ref, descriptions); link != "" {
			says = strings.TrimSpace(says + " " + link)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", p.name, cell(says))
	}
	return nil
}

// recordName links to the record that a key has, or has a list of; empty for a time, a word or a number.
func recordName(ref, items string, descriptions map[string]string) string {
	list := ""
	if ref == "" {
		ref, list = items, "A list of "
	}
	name := strings.TrimPrefix(ref, "#/$defs/")
	switch name {
	case "", "ms", "word", "needWord", "slackWord", "count":
		return ""
	}
	if _, known := descriptions[ref]; !known {
		return ""
	}
	if list == "" {
		return fmt.Sprintf("See [%s](#%s).", name, strings.ToLower(name))
	}
	return fmt.Sprintf("%s[%s](#%s).", list, name, strings.ToLower(name))
}

// members are the members of a JSON object in their order.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (m *members) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, member{fmt.Sprint(name), value})
	}
	return nil
}
