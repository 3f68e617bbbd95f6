package body

import (
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// maxGraphQLTokens bounds a GraphQL document; one that asks for a whole schema has some 500.
const maxGraphQLTokens = 20_000

// Line is what a request says beside its header and its body.
type Line interface {
	// Method is the request's method.
	Method() string
	// Parameter returns the first value of a name in the query.
	Parameter(name string) (string, bool)
}

// Of sets the request that the body came with, where there is one. It returns the message.
func (m *Message) Of(line Line) *Message {
	m.line = line
	return m
}

// graphQL is a GraphQL request.
type graphQL struct {
	// name is that of the executed operation; it may have none.
	name  string
	named bool
	// operation is what is executed; nil where the request does not send its document (persisted documents).
	operation *operation
	variables *jsonvalue.Value
}

// IsGraphQL returns why the request is no GraphQL request; nil if it is one.
func (m *Message) IsGraphQL() error {
	_, err := m.graphQL()
	return err
}

// graphQL returns the request as a GraphQL request. The error says why it is none.
func (m *Message) graphQL() (*graphQL, error) {
	return m.graph.get(func() (*graphQL, error) {
		decoded, err := m.Decoded()
		if err != nil {
			return nil, err
		}
		sent, err := m.graphQLText(decoded)
		if err != nil {
			return nil, fmt.Errorf("no GraphQL request: %w", err)
		}
		g, err := sent.read()
		if err == nil && g.operation != nil {
			err = m.mayExecute(g.operation)
		}
		if err != nil {
			return nil, fmt.Errorf("no GraphQL request: %w", err)
		}
		return g, nil
	})
}

// mayExecute refuses what GraphQL over HTTP does not let a GET do.
func (m *Message) mayExecute(o *operation) error {
	if m.line == nil || o.definition.Operation == ast.Query {
		return nil
	}
	if method := m.line.Method(); method == "GET" || method == "HEAD" {
		return fmt.Errorf("a %s cannot be sent by %s", o.definition.Operation, method)
	}
	return nil
}

// graphQLText are the members of a GraphQL request as they were sent.
type graphQLText struct {
	query, name string
	// asks tells that there is a query.
	asks bool
	// persisted tells that the request names a document which the server knows.
	persisted bool
	variables *jsonvalue.Value
}

// graphQLText finds the members: a body of the type application/graphql is the document, another is JSON whatever its
// type says (rule F9); where there is no body, they are in the query of the target, as they are beside a document.
func (m *Message) graphQLText(decoded []byte) (*graphQLText, error) {
	if len(decoded) == 0 {
		return m.parameters()
	}
	if kind, _, _ := mime.ParseMediaType(m.ContentType()); kind != "application/graphql" {
		return m.members()
	}
	sent, err := m.parameters()
	if err != nil {
		return nil, err
	}
	sent.query, err = m.Text()
	sent.asks = true
	return sent, err
}

// parameter returns a parameter of the target's query; an empty one says nothing.
func (m *Message) parameter(name string) string {
	if m.line == nil {
		return ""
	}
	text, _ := m.line.Parameter(name)
	return text
}

func (m *Message) parameters() (*graphQLText, error) {
	sent := &graphQLText{query: m.parameter("query"), name: m.parameter("operationName")}
	sent.asks = sent.query != ""
	sent.persisted = m.parameter("extensions") != "" || m.parameter("documentId") != ""
	text := m.parameter("variables")
	if text == "" {
		return sent, nil
	}
	variables, err := jsonvalue.Parse([]byte(text), jsonvalue.Limits{})
	if err != nil {
		return nil, fmt.Errorf("variables: %w", err)
	}
	sent.variables = variables
	return sent, nil
}

func (m *Message) members() (*graphQLText, error) {
	value, err := m.JSON()
	if err != nil {
		return nil, err
	}
	if value.Kind() != jsonvalue.Object {
		return nil, fmt.Errorf("the body must be an object with query, found %s", value.Kind())
	}
	sent := &graphQLText{}
	for _, member := range []struct {
		name string
		to   *string
	}{{"query", &sent.query}, {"operationName", &sent.name}} {
		v, found := value.Member(member.name)
		switch {
		case !found || v.Kind() == jsonvalue.Null:
		case v.Kind() != jsonvalue.String:
			return nil, fmt.Errorf("%s must be a text, found %s", member.name, v.Kind())
		default:
			*member.to = v.Text()
			sent.asks = sent.asks || member.name == "query"
		}
	}
	_, extended := value.Member("extensions")
	_, named := value.Member("documentId")
	sent.persisted = extended || named
	sent.variables, _ = value.Member("variables")
	return sent, nil
}

// read reads the members.
func (s *graphQLText) read() (*graphQL, error) {
	g := &graphQL{name: s.name, named: s.name != "", variables: s.variables}
	switch {
	case g.variables == nil || g.variables.Kind() == jsonvalue.Null:
		g.variables = jsonvalue.NewObject()
	case g.variables.Kind() != jsonvalue.Object:
		return nil, fmt.Errorf("variables must be an object, found %s", g.variables.Kind())
	}
	if !s.asks {
		if !s.persisted {
			return nil, errors.New("there is no query")
		}
		return g, nil
	}
	document, err := parseGraphQL(s.query)
	if err != nil {
		return nil, fmt.Errorf("query: %w", withoutQuotes(err))
	}
	g.operation, err = document.operation(s.name)
	if err != nil {
		return nil, err
	}
	g.name, g.named = g.operation.definition.Name, g.operation.definition.Name != ""
	return g, nil
}

// graphQLDocument is a parsed document.
type graphQLDocument struct {
	operations ast.OperationList
	fragments  map[string]*ast.FragmentDefinition
}

// parseGraphQL reads an executable document. The error tells the place.
func parseGraphQL(text string) (*graphQLDocument, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	parsed, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxGraphQLTokens)
	if err != nil {
		return nil, graphQLFault(err)
	}
	d := &graphQLDocument{operations: parsed.Operations, fragments: make(map[string]*ast.FragmentDefinition, len(parsed.Fragments))}
	for _, f := range parsed.Fragments {
		d.fragments[f.Name] = f
	}
	return d, nil
}

func graphQLFault(err error) error {
	fault, ok := errors.AsType[*gqlerror.Error](err)
	switch {
	case !ok:
		return err
	case len(fault.Locations) == 0:
		return fmt.Errorf("the document is too large: more than %d names, values and marks", maxGraphQLTokens)
	default:
		at := fault.Locations[0]
		return fmt.Errorf("line %d, column %d: %s", at.Line, at.Column, lowerFirst(fault.Message))
	}
}

// withoutQuotes is a fault of a document that was sent, without the words of it that the fault quotes: a literal may be a
// secret.
func withoutQuotes(err error) error {
	text := err.Error()
	for _, said := range []struct{ of, told string }{
		{"invalid character escape sequence", "an escape sequence is wrong"},
		{"cannot parse the unexpected character", "a character is not expected"},
		{"invalid number", "a number is wrong"},
	} {
		if before, _, found := strings.Cut(text, said.of); found {
			return errors.New(before + said.told)
		}
	}
	// expected "on", found Name "secret": the word that is expected is one of the language.
	for _, found := range []string{"unexpected ", "found "} {
		at := strings.LastIndex(text, found)
		if at < 0 {
			continue
		}
		kind, _, quotes := strings.Cut(text[at:], ` "`)
		if quotes {
			return errors.New(text[:at] + kind)
		}
	}
	return err
}

// lowerFirst begins a text with a small letter.
func lowerFirst(text string) string {
	if text == "" || text[0] < 'A' || 'Z' < text[0] {
		return text
	}
	return string(text[0]-'A'+'a') + text[1:]
}

// operation returns the operation of a name, or where that is empty the only one.
func (d *graphQLDocument) operation(name string) (*operation, error) {
	switch {
	case name != "":
		if definition := d.operations.ForName(name); definition != nil {
			return &operation{definition: definition, fragments: d.fragments}, nil
		}
		return nil, fmt.Errorf("the query has no operation %q", cut(name))
	case len(d.operations) == 0:
		return nil, errors.New("the query has no operation")
	case len(d.operations) > 1:
		return nil, fmt.Errorf("the query has %d operations, and operationName names none", len(d.operations))
	default:
		return &operation{definition: d.operations[0], fragments: d.fragments}, nil
	}
}
