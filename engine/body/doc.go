// Package body compiles matches on a request's body and tests bodies with them.
//
// A [Message] is a body as it was received. It is decoded, parsed as JSON and the like when a condition asks first, and
// once: the mocks that are candidates share the views. A view that cannot be made is an error, and its text is the reason
// that an explanation gives.
//
// A [Matcher] is a compiled [mockbase.BodyMatch]. Every expression in it compiles when the mock is saved; none reaches a
// file or another host.
package body
