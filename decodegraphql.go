package mockbase

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// decodeGraphQL reads a match on a GraphQL request.
func decodeGraphQL(at place) *GraphQLMatch {
	f := at.fields()
	g := &GraphQLMatch{}
	g.Query = optional(f, (*Fields).filled, "query")
	if name, ok := f.at("operationName"); ok {
		g.OperationName = decodeMatch(name)
	}
	oneOf(f, "operation", &g.Operation, "query", "mutation", "subscription")
	if names, ok := f.at("fields"); ok {
		g.Fields = decodeMatch(names)
	}
	g.Variables = decodeExpectedVariables(f, "variables")
	g.VariablesExact = decodeExpectedVariables(f, "variablesExact")
	f.atMostOne("variables", "variablesExact")
	decodeJSONOptions(f, &g.JSONOptions, "variables", "variablesExact")
	f.Done()
	f.needsAny("condition")
	return g
}

// decodeExpectedVariables reads the variables that are expected: an object, or operators in its place.
func decodeExpectedVariables(f *Fields, name string) json.RawMessage {
	at, ok := f.at(name)
	if !ok {
		return nil
	}
	if at.Kind != NodeObject {
		at.fault(FieldType, "must be an object, found %s", at.describe())
		return nil
	}
	checkMatchers(at)
	return at.JSON()
}

// hash reads a SHA-256 in hexadecimal digits, nil if there is none.
func (f *Fields) hash(name string) []byte {
	var text string
	if !f.Text(name, &text) {
		return nil
	}
	hash, err := hex.DecodeString(text)
	if err != nil || len(hash) != sha256.Size {
		f.Fault(name, FieldPattern, "is no SHA-256: write its %d hexadecimal digits, as sha256sum prints them", 2*sha256.Size)
		return nil
	}
	return hash
}
