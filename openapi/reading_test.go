package openapi_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase/openapi"
)

// W38: a number that JSON has no spelling for keeps its value, and its text where the schema wants one.
func TestW38_numbers_with_leading_zeros_keep_their_value(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"{ type: string, example: 007 }":                                     `"007"`,
		"{ type: string, enum: [00501] }":                                    `"00501"`,
		"{ type: string, default: -01.50 }":                                  `"-01.50"`,
		"{ type: integer, example: 0123 }":                                   `123`,
		"{ type: number, example: 01.50 }":                                   `1.50`,
		"{ type: integer, minimum: 012 }":                                    `12`,
		"{ type: integer, example: 000 }":                                    `0`,
		"{ type: string, example: .inf }":                                    `".inf"`,
		"{ type: object, properties: { a: { type: string, example: 08 } } }": `{"a":"08"}`,
	} {
		d := compile(t, body(schema))
		if got := string(ask(t, d, "GET /p").Body); got != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
		if !strings.Contains(warnings(d), "put it in quotes") {
			t.Errorf("%s: the warnings are %s", schema, warnings(d))
		}
	}
	const stated = "paths: { /p: { get: { responses: { '200': { description: d, content: { application/json: { schema: { type: string }, example: 007 } } } } } } }\n"
	if got := string(ask(t, compile(t, head+stated), "GET /p").Body); got != `"007"` {
		t.Errorf("beside a schema: got %s", got)
	}
	d := compile(t, head+"paths: { /p: { get: { responses: { '200': { description: d, content: { application/json: { example: { a: 007, b: .nan } } } } } } } }\n")
	if got := string(ask(t, d, "GET /p").Body); got != `{"a":7,"b":".nan"}` {
		t.Errorf("without a schema: got %s", got)
	}
}

// W1: literals match however their characters are encoded, also beside parameters.
func TestW1_encoded_literals_beside_parameters_match(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /report({from},{to}): { get: { responses: { "200": { description: d, content: { application/json: { example: 1 } } } } } }
  "/a%20b{x}": { get: { responses: { "200": { description: d, content: { application/json: { example: 2 } } } } } }
  "/é{x}": { get: { responses: { "200": { description: d, content: { application/json: { example: 3 } } } } } }
  "/{f}.{e}": { get: { parameters: [{ name: f, in: path, required: true, schema: { enum: [a.b] } }], responses: { "200": { description: d, content: { application/json: { example: 4 } } } } } }
`)
	for target, want := range map[string]string{
		"/report(1,2)": "1", "/report%281%2C2%29": "1", "/report%281,2%29": "1", "/report(1%2C2)": "1", "/report(1%2c2%29": "1",
		"/a%20b1": "2", "/%61%20b%31": "2", "/%C3%A9x": "3", "/%c3%a9x": "3", "/a%2Eb.c": "4",
	} {
		if a := ask(t, d, sent("GET "+target)); a.Status != 200 || string(a.Body) != want {
			t.Errorf("%s: got %s, want %s", target, told(a), want)
		}
	}
}

// W44: a schema around one with a discriminator does not change what tells the schemas apart.
func TestW44_a_discriminator_looks_through_wrappers(t *testing.T) {
	t.Parallel()
	const schemas = `components:
  schemas:
    Animal: { type: object, required: [kind], properties: { kind: { type: string } }, discriminator: { propertyName: kind, mapping: { kitty: '#/components/schemas/Cat' } } }
    Cat: { allOf: [{ $ref: '#/components/schemas/Animal' }, { type: object, properties: { claws: { type: integer } } }] }
    Lynx: { allOf: [{ $ref: '#/components/schemas/Cat' }, { type: object, properties: { ears: { type: integer } } }] }
    NRef: { nullable: true, allOf: [{ $ref: '#/components/schemas/Cat' }] }
    Named: { description: d, allOf: [{ $ref: '#/components/schemas/NRef' }] }
`
	for name, want := range map[string]string{
		"NRef": `{"kind":"kitty","claws":0}`, "Named": `{"kind":"kitty","claws":0}`, "Cat": `{"kind":"kitty","claws":0}`,
		"Animal": `{"kind":"kitty","claws":0}`, "Lynx": `{"kind":"Lynx","claws":0,"ears":0}`,
	} {
		a := ask(t, compile(t, strings.Replace(body("{ $ref: '#/components/schemas/"+name+"' }"), "3.1.0", "3.0.3", 1)+schemas), "GET /p")
		if string(a.Body) != want {
			t.Errorf("W44 %s: got %s, want %s", name, a.Body, want)
		}
	}
}

// A root that no file has is told, also of an upload of one file.
func TestW22_a_root_that_is_missing_is_refused(t *testing.T) {
	t.Parallel()
	files := openapi.Files{"a.yaml": []byte(head + "paths: {}\n")}
	if _, err := files.Bundle("b.yaml"); err == nil || !strings.Contains(err.Error(), `no file "b.yaml"`) {
		t.Errorf("got %v", err)
	}
}

// Later versions than those that are known are read, and told.
func TestW1_later_versions_are_told(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"3.2.0": "3.2.0", "3.10.1": "3.10.1"} {
		d := compile(t, strings.Replace(head, "3.0.3", version, 1)+"paths: {}\n")
		if got := warnings(d); !strings.Contains(got, "#/openapi") || !strings.Contains(got, want) {
			t.Errorf("%s: the warnings are %s", version, got)
		}
	}
	for version, silent := range map[string]string{"3.1.1": "", "3.0.4": ""} {
		if got := warnings(compile(t, strings.Replace(head, "3.0.3", version, 1)+"paths: {}\n")); got != silent {
			t.Errorf("%s: the warnings are %s", version, got)
		}
	}
}
