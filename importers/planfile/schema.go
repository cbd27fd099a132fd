package planfile

import (
	"bytes"
	"encoding/json"
)

// SchemaID names the schema.
const SchemaID = "https://github.com/budgetplan/budgetplan/plan.schema.json"

// Schema gives the JSON Schema (2020-12) of plan files, made from the tables that the reader uses.
func Schema() []byte {
	defs := object{
		"call": callTable.schema(), "group": groupSchema(), "service": serviceTable.schema(),
		"entrypoint": entrypointTable.schema(), "policyKeys": policyTable.schema(), "policyFile": policyFileTable.schema(),
	}
	addForms(defs, planTable.forms())
	schema := planTable.schema()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = SchemaID
	schema["title"] = "budgetplan plan"
	schema["description"] = "Entrypoints, services and calls with their timeouts, retries and deadlines."
	schema["$defs"] = defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		return nil // maps of strings, numbers and lists always encode
	}
	return out.Bytes()
}

// addForms adds the definition of every form that is referred to.
func addForms(defs object, forms []*formInfo) {
	for _, f := range forms {
		if _, known := defs[f.name]; known {
			continue
		}
		def := object{"examples": f.examples}
		for k, v := range f.schema {
			def[k] = v
		}
		defs[f.name] = def
		addForms(defs, f.parts)
	}
}
