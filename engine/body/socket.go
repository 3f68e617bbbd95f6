package body

import "github.com/mockbase/mockbase"

// CompileMessage compiles the match on a message that a WebSocket receives, which stands at a JSON pointer: what a body's
// conditions of the same names say of a body. Such a message is [New] without a header.
func CompileMessage(when *mockbase.WebSocketWhen, at string, faults *mockbase.Faults) *Matcher {
	return Compile(OfMessage(when), at, faults)
}

// OfMessage is the match on a message as one on a body.
func OfMessage(when *mockbase.WebSocketWhen) *mockbase.BodyMatch {
	return &mockbase.BodyMatch{
		Text: when.Text, JSON: when.JSON, JSONPath: when.JSONPath, Base64: when.Base64, HasBase64: when.HasBase64,
	}
}
