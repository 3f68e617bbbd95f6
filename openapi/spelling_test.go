package openapi_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/openapi"
)

// parameters makes a document of one path with parameters that are written as YAML.
func parameters(t *testing.T, path string, list ...string) *openapi.Document {
	t.Helper()
	return compile(t, head+"paths: { '"+path+"': { get: { parameters: ["+strings.Join(list, ", ")+"], responses: { '204': { description: d } } } } }\n")
}

func TestW10_reserved_characters_may_divide_values(t *testing.T) {
	t.Parallel()
	const denied = "in: query, allowReserved: false, schema: "
	run(t, parameters(t, "/p",
		"{ name: l, explode: false, "+denied+"{ type: array, items: { type: string } } }",
		"{ name: o, explode: false, "+denied+"{ type: object, properties: { R: { type: integer } } } }",
		"{ name: s, "+denied+"{ type: string } }",
		"{ name: X-H, in: header, allowReserved: false, schema: { type: string } }",
	), []exchange{
		{"a comma between the items of a list", "GET /p?l=a,b", "204"},
		{"a comma between the members of an object", "GET /p?o=R,1", "204"},
		{"a plus for a blank", "GET /p?s=a+b", "204"},
		{"an encoded one", "GET /p?s=a%3Ab", "204"},
		{"a colon", "GET /p?s=a:b", "422 validation-failed query.s coercion"},
		{"a colon in a list", "GET /p?l=a,b:c", "422 validation-failed query.l coercion"},
		{"a comma in a text", "GET /p?s=a,b", "422 validation-failed query.s coercion"},
		{"headers are not encoded", "GET /p\nX-H: a:b", "204"},
	})
}

func TestW7_values_that_are_no_objects_or_empty(t *testing.T) {
	t.Parallel()
	const object = "schema: { type: object, properties: { R: { type: integer } } } }"
	simple := parameters(t, "/p/{c}", "{ name: c, in: path, required: true, explode: true, "+object)
	label := parameters(t, "/p/{c}", "{ name: c, in: path, required: true, style: label, explode: true, "+object)
	matrix := parameters(t, "/p/{c}", "{ name: c, in: path, required: true, style: matrix, schema: { type: string, maxLength: 0 } }")
	run(t, simple, []exchange{
		{"a member of an exploded object has a value", "GET /p/R=1", "204"},
		{"a word is no member of an exploded object", "GET /p/R=1,x", "422 validation-failed path.c coercion"},
	})
	run(t, label, []exchange{{"nor in a label", "GET /p/.x", "422 validation-failed path.c coercion"}})
	run(t, matrix, []exchange{
		{"an empty value of matrix", "GET /p/;c", "204"},
		{"the same with a sign of equality", "GET /p/;c=", "204"},
		{"a value of matrix", "GET /p/;c=a", "422 validation-failed path.c maxLength"},
	})
}

func TestW9_texts_are_read_by_what_schemas_allow(t *testing.T) {
	t.Parallel()
	run(t, parameters(
		t, "/p",
		"{ name: both, in: query, schema: { anyOf: [{ type: string, pattern: '^[0-9]{3}$' }, { type: integer, minimum: 5000 }] } }",
		"{ name: numbers, in: query, schema: { enum: [1, 2] } }",
		"{ name: mixed, in: query, schema: { enum: [1, x, true] } }",
		"{ name: texts, in: query, schema: { enum: ['1'] } }",
		"{ name: any, in: query, schema: {} }",
		"{ name: list, in: query, schema: { type: array, items: { type: [string, integer], pattern: '^0' } } }",
	), []exchange{
		{"a number that is a text as well", "GET /p?both=123", "204"},
		{"a number", "GET /p?both=5001", "204"},
		{"neither", "GET /p?both=12", "422 validation-failed query.both anyOf"},
		{"a number of an enum without a type", "GET /p?numbers=2", "204"},
		{"another number", "GET /p?numbers=3", "422 validation-failed query.numbers enum"},
		{"values of several types", "GET /p?mixed=1", "204"},
		{"a boolean among them", "GET /p?mixed=true", "204"},
		{"a text of digits", "GET /p?texts=1", "204"},
		{"several values of what may be anything", "GET /p?any=1&any=2", "204"},
		{"items that are texts or numbers", "GET /p?list=01&list=0", "204"},
	})
}

func TestW12_a_document_in_a_parameter_is_given_once(t *testing.T) {
	t.Parallel()
	run(t, parameters(t, "/p", "{ name: f, in: query, content: { application/json: { schema: { type: object } } } }"), []exchange{
		{"once", "GET /p?f={}", "204"},
		{"twice", "GET /p?f={}&f={}", "422 validation-failed query.f type"},
	})
}

func TestW7_lists_within_lists_of_OpenAPI_2_are_divided_as_they_say(t *testing.T) {
	t.Parallel()
	d := compile(t, `{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/p":{"get":{"parameters":[
		{"name":"c","in":"query","type":"array","collectionFormat":"pipes","items":{"type":"array","maxItems":2,"items":{"type":"integer"}}},
		{"name":"s","in":"query","type":"array","items":{"type":"array","collectionFormat":"ssv","items":{"type":"integer"}}}
		],"responses":{"204":{"description":"d"}}}}}}`)
	run(t, d, []exchange{
		{"commas within pipes", "GET /p?c=1,2|3,4", "204"},
		{"an item that is no number", "GET /p?c=1,2|3,x", "422 validation-failed query.c.1.1 coercion"},
		{"a list that is too long", "GET /p?c=1,2,3", "422 validation-failed query.c.0 maxItems"},
		{"blanks within commas", "GET /p?s=1+2,3%204", "204"},
	})
}
