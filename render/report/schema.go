package report

import _ "embed"

// Schema is the JSON Schema (2020-12) of the json format. It is strict: a key that it does not name is an error.
//
//go:embed report.schema.json
var Schema []byte
