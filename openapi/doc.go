// Package openapi answers requests from OpenAPI documents: it loads versions 2.0, 3.0 and 3.1, checks requests, and
// makes answers of examples and schemas (group W).
//
// # Loading
//
// [Parse] reads a document and repairs what real documents get wrong. A fault belongs to the operation that holds it:
// it becomes a warning with a pointer, and everything else is served. Nothing outside the text is ever read.
//
// # Serving
//
// [Compile] makes a [Document] of a parsed text and the options of its project. [Document.Find] finds the operation of a
// request and [Document.Answer] answers it. Paths are indexed once; the schemas of an operation are compiled when they
// are first needed, and a static answer is made once.
//
// # Schemas
//
// The dialects of the versions are translated to JSON Schema 2020-12, in one form for requests and one for responses,
// because readOnly and writeOnly differ there. The document itself stays an ordered tree: the order of media types,
// examples and properties decides answers (rules W31, W37 and W45).
package openapi
