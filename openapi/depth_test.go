package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

// deepDocument has a schema of so many levels, an example of as many, and an operation beside them.
func deepDocument(levels int) string {
	nested := strings.Repeat(`{ type: object, properties: { a: `, levels/2) + "{ type: integer }" + strings.Repeat(" } }", levels/2)
	example := strings.Repeat("{ a: ", levels) + "1" + strings.Repeat(" }", levels)
	return head + `paths:
  /deep: { get: { responses: { '200': { description: d, content: { application/json: { schema: ` + nested + ` } } } } } }
  /example: { get: { responses: { '200': { description: d, content: { application/json: { example: ` + example + ` } } } } } }
  /fine: { get: { responses: { '200': { description: d, content: { text/plain: { example: fine } } } } } }
`
}

// M-9: what is nested deeper than a definition may be is cut with a warning, and everything else is served.
func TestM9_what_is_nested_too_deep_is_cut(t *testing.T) {
	t.Parallel()
	parsed, err := openapi.Parse([]byte(deepDocument(300)))
	if err != nil {
		t.Fatal(err)
	}
	var cut int
	for _, w := range parsed.Warnings() {
		if w.Code == mockbase.FieldLimit && strings.Contains(w.Detail, "96 levels") && w.Line > 0 {
			cut++
		}
	}
	if cut != 2 {
		t.Errorf("%d cuts are told, want 2: %v", cut, parsed.Warnings())
	}
	definition := append(append([]byte(`{"documents":[{"name":"d","inline":`), parsed.JSON()...), []byte(`}]}`)...)
	if _, err := mockbase.DecodeDefinition(definition, mockbase.FormatJSON); err != nil {
		t.Errorf("a definition does not hold it: %v", err)
	}
	run(t, compile(t, deepDocument(300)), []exchange{{"an operation beside", "GET /fine", "200 text/plain; charset=utf-8 fine"}})
}

// nestedSchemas are schemas of which each holds the next one.
func nestedSchemas(length int) string {
	var b strings.Builder
	for i := range length {
		fmt.Fprintf(&b, "    S%d: { type: object, required: [ a ], properties: { a: { type: array, minItems: 1, items: { $ref: '#/components/schemas/S%d' } } } }\n", i, i+1)
	}
	fmt.Fprintf(&b, "    S%d: { type: integer }\n", length)
	return b.String()
}

// M-78: an answer that is nested deeper than the JSON of a mock may be is its text.
func TestM78_deep_answers_become_texts_of_mocks(t *testing.T) {
	t.Parallel()
	parsed, err := openapi.Parse([]byte(head + `paths:
  /a: { get: { responses: { '200': { description: d, content: { application/json: { schema: { $ref: '#/components/schemas/S0' } } } } } } }
components:
  schemas:
` + nestedSchemas(48) + ``))
	if err != nil {
		t.Fatal(err)
	}
	made := parsed.Expand(openapi.ExpandOptions{})
	if len(made.Mocks) != 1 {
		t.Fatalf("%d mocks: %v", len(made.Mocks), made.Warnings)
	}
	if !strings.Contains(string(made.Mocks[0].Document.JSON()), `"text":"{\"a\":[{`) {
		t.Errorf("the mock is %s", made.Mocks[0].Document.JSON())
	}
	definition := append(append([]byte(`{"mocks":[`), made.Mocks[0].Document.JSON()...), []byte(`]}`)...)
	if _, err := mockbase.DecodeDefinition(definition, mockbase.FormatJSON); err != nil {
		t.Errorf("a definition does not hold it: %v", err)
	}
}
