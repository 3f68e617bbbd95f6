package mockbase

import "encoding/json"

// NamedMatch is a match on one name of a query, header, cookie or the like.
type NamedMatch struct {
	Name  string
	Match Match
}

// Match is what a value must satisfy: every entry (rule K9). A scalar in a document is one entry with Equals.
type Match []Operators

// Operators must all hold for a value (mock format, section 6, Operators). A nil member is not stated.
type Operators struct {
	// Equals is the operand's JSON text.
	Equals     json.RawMessage
	Not        *Operators
	In         []json.RawMessage
	Contains   *string
	StartsWith *string
	EndsWith   *string
	Matches    *string
	Search     *string
	Exists     *bool
	// GT, GTE, LT and LTE are number texts, compared exactly.
	GT, GTE, LT, LTE *json.Number
	Before, After    *string
	Type             *string
	MediaType        *string
	HasItem          *string
	Every            *Operators
	All              []json.RawMessage
	Exactly          []json.RawMessage
	Ordered          []json.RawMessage
	Count            *Operators
	AnyOf            []Operators
	AllOf            []Operators
	IgnoreCase       *bool
}

// Condition is a set of matches that must all hold.
type Condition struct {
	Path    []NamedMatch
	Query   []NamedMatch
	Headers []NamedMatch
	Cookies []NamedMatch
	Auth    *AuthMatch
	Body    *BodyMatch
	States  []string
	// Call matches the number of the call; only in a response's when.
	Call  *Operators
	AnyOf []Condition
	AllOf []Condition
	Not   *Condition
}

// Empty tells whether the condition states nothing.
func (c *Condition) Empty() bool {
	return len(c.Path)+len(c.Query)+len(c.Headers)+len(c.Cookies)+len(c.States)+len(c.AnyOf)+len(c.AllOf) == 0 &&
		c.Auth == nil && c.Body == nil && c.Call == nil && c.Not == nil
}

// AuthMatch is a match on credentials (rule D7). Exactly one of Basic and Bearer is set.
type AuthMatch struct {
	Basic  *BasicMatch
	Bearer Match
}

// BasicMatch is a match on a user name and a password; a nil part is not stated.
type BasicMatch struct {
	Username, Password Match
}

// BodyMatch is a match on a request body; every stated part must hold.
type BodyMatch struct {
	JSON        json.RawMessage
	JSONExact   json.RawMessage
	JSONOptions JSONOptions
	JSONPath    []NamedMatch
	XPath       []NamedMatch
	// Namespaces are prefix and URI pairs for XPath.
	Namespaces []NamedText
	// Schema is a JSON Schema, or a JSON string with a file name.
	Schema     json.RawMessage
	Form       []NamedMatch
	Multipart  []PartMatch
	XML        *string
	XMLOptions XMLOptions
	Text       Match
	Base64     []byte
	// HasBase64 tells a stated empty Base64 from none.
	HasBase64 bool
	// SHA256 is the hash of the body as it was sent, nil if it is not stated.
	SHA256 []byte
	// Size matches the number of bytes of the body as it was sent.
	Size    *Operators
	Empty   *bool
	GraphQL *GraphQLMatch
}

// GraphQLMatch is a match on a GraphQL request; every stated part must hold. What is executed is the operation that the
// request names, or its only one.
type GraphQLMatch struct {
	// Query is a document of one operation and its fragments, which the executed operation must equal.
	Query         *string
	OperationName Match
	// Operation is query, mutation or subscription; "" is any.
	Operation string
	// Fields matches the names of the operation's root fields.
	Fields         Match
	Variables      json.RawMessage
	VariablesExact json.RawMessage
	JSONOptions    JSONOptions
}

// NamedText is a name and a text.
type NamedText struct {
	Name, Text string
}

// JSONOptions change how JSON compares (rules G5 to G11).
type JSONOptions struct {
	IgnoreOrder, IgnoreExtraItems, NumbersAsStrings, Strict bool
}

// XMLOptions change how XML compares (rules J3 and J4).
type XMLOptions struct {
	IgnoreOrder, TrimText bool
}

// PartMatch is a match on one part of a multipart body (rule I6).
type PartMatch struct {
	Name, Filename, ContentType Match
	Headers                     []NamedMatch
	Body                        *BodyMatch
}
