package report

import _ "embed"

// Schema is the JSON Schema (2020-12) of the json format. It is strict: a key that it does not name is an error.
//
//go:embed report.schema.json
var Schema []byte

// WhatIfSchema is the JSON Schema of the json format of what-if, as strict.
//
//go:embed whatif.schema.json
var WhatIfSchema []byte
