package mockbase

import (
	"bytes"
	_ "embed" // for the schema
)

//go:embed mock.schema.json
var mockSchema []byte

// Schema returns the JSON Schema of a definition, for editors (mock format, section 8). It catches wrong keys, types and
// ranges; the authority is [DecodeDefinition], which also compares values and compiles expressions.
func Schema() []byte { return bytes.Clone(mockSchema) }
