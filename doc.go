// Package mockbase is the vocabulary of the mock API server: projects, mocks, matchers, responses, exchanges, users
// and errors. It says what is valid; how a thing is stored, served or edited is the business of the packages below it.
//
// # Definitions
//
// A project is written as one document, YAML or JSON. [DecodeDefinition] and [DecodeMock] read it strictly: an unknown
// key, a key given twice or a value of the wrong kind is a [FieldError] with a JSON pointer and a place in the text. All
// faults of a document are reported together. What was written comes back exactly as it was: a [Mock] keeps its
// document, with number text, member order and letter case.
//
// # Errors
//
// Every error that a person may see is an [*Error]: a stable code, a public message, a hint where one helps, the field
// errors, and the private cause. The management API maps the code to an HTTP status in one place.
package mockbase
