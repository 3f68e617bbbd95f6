package openapi_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// body makes a document whose only answer has this schema.
func body(schema string) string {
	return head31 + "paths: { /p: { get: { responses: { '200': { description: d, content: { application/json: { schema: " + schema + " } } } } } } }\n"
}

// values are schemas with their static value.
func values() []struct{ name, schema, want string } {
	return []struct{ name, schema, want string }{
		{"W40 example first", "{ type: integer, examples: [3], example: 2, default: 4, enum: [5] }", "2"},
		{"W40 examples", "{ type: object, properties: { a: { type: integer, examples: [3], default: 4 } } }", `{"a":3}`},
		{"W40 const", "{ const: { a: 1.50 }, default: 4 }", `{"a":1.50}`},
		{"W40 default", "{ type: string, default: d }", `"d"`},
		{"W40 the first of enum", "{ enum: [b, a] }", `"b"`},
		{"W40 at every depth", "{ type: array, items: { type: object, properties: { x: { type: string, example: e } } } }", `[{"x":"e"}]`},
		{"W41 the smallest number", "{ type: integer, minimum: 3, multipleOf: 5 }", "5"},
		{"W41 without bounds", "{ type: number }", "0"},
		{"W41 below zero", "{ type: number, maximum: -2.5 }", "-2.5"},
		{"W41 below zero in steps", "{ type: integer, exclusiveMaximum: -2, multipleOf: 2 }", "-4"},
		{"W41 between open bounds", "{ type: number, exclusiveMinimum: 0, exclusiveMaximum: 1 }", "0.5"},
		{"W41 an open integer", "{ type: integer, exclusiveMinimum: 0 }", "1"},
		{"W41 a step of decimals", "{ type: number, minimum: 0.15, multipleOf: 0.1 }", "0.2"},
		{"W41 true", "{ type: boolean }", "true"},
		{"W41 a date", "{ type: string, format: date-time }", `"2020-01-01T00:00:00Z"`},
		{"W41 an address", "{ type: string, format: email }", `"user@example.com"`},
		{"W41 a pattern", `{ type: string, pattern: '^v\d{2}$' }`, `"v00"`},
		{"W41 a pattern with alternatives", `{ type: string, pattern: '^(ab|cd)+x?$', minLength: 4 }`, `"cdcdx"`},
		{"W41 a pattern with a length", `{ type: string, pattern: '^[a-z]*$', minLength: 5, maxLength: 6 }`, `"aaaaa"`},
		{"W41 a pattern that is open", `{ type: string, pattern: '^x', minLength: 3 }`, `"xaa"`},
		{"W41 a length", "{ type: string, maxLength: 3 }", `"str"`},
		{"W41 a larger length", "{ type: string, minLength: 8 }", `"stringst"`},
		{"W41 one item if allowed", "{ type: array, items: { type: integer } }", "[0]"},
		{"W41 none if not", "{ type: array, maxItems: 0, items: { type: integer } }", "[]"},
		{"W41 different items", "{ type: array, minItems: 3, uniqueItems: true, items: { type: integer, minimum: 2 } }", "[2,3,4]"},
		{"W41 different texts", "{ type: array, minItems: 2, uniqueItems: true, items: { type: string } }", `["string","string1"]`},
		{"W41 a tuple", "{ type: array, prefixItems: [{ const: a }, { type: boolean }], items: false }", `["a",true]`},
		{"W41 all properties", "{ type: object, properties: { b: { type: boolean }, a: { type: string } } }", `{"b":true,"a":"string"}`},
		{"W41 a number of properties", "{ type: object, minProperties: 2, additionalProperties: { type: integer } }", `{"property1":0,"property2":0}`},
		{"W41 required and not declared", "{ type: object, required: [x] }", `{"x":"string"}`},
		{"W18 writeOnly never appears", "{ type: object, required: [pw], properties: { pw: { type: string, writeOnly: true }, a: { type: integer } } }", `{"a":0}`},
		{"W43 nullable is a value", `{ type: [string, "null"] }`, `"string"`},
		{"W44 allOf merges", "{ allOf: [{ type: integer, minimum: 1 }, { minimum: 5 }] }", "5"},
		{"W44 the first branch that can be met", "{ type: integer, oneOf: [{ minimum: 5, maximum: 4 }, { minimum: 7 }] }", "7"},
		{"W44 a branch that is valid alone", "{ oneOf: [{ type: integer }, { type: number }, { type: string }] }", `"string"`},
		{"W44 a number that one branch alone allows", "{ oneOf: [{ type: integer, minimum: 0 }, { type: integer, maximum: 10 }] }", "-1"},
		{"W44 both of two lists of branches", "{ allOf: [{ oneOf: [{ type: integer, minimum: 0 }, { type: integer, maximum: 10 }] }, { oneOf: [{ minimum: 0 }, { maximum: 20 }] }] }", "-1"},
		{"W44 a member of enum that is not forbidden", `{ enum: [null, { a: [1] }, x], not: { type: "null" } }`, `{"a":[1]}`},
		{"W44 another order of the items", "{ type: array, minItems: 2, uniqueItems: true, items: { type: integer, minimum: 1, maximum: 2 }, not: { const: [1, 2] } }", "[2,1]"},
		{"W44 deep within", "{ type: object, required: [n], properties: { n: { oneOf: [{ type: integer, minimum: 0 }, { type: integer, maximum: 10 }] } } }", `{"n":-1}`},
		{"W44 anyOf", "{ anyOf: [{ type: string, maxLength: 2 }, { type: integer }] }", `"st"`},
		{"W42 examples that do not fit are left", "{ type: object, properties: { a: { type: integer, example: x } } }", `{"a":0}`},
	}
}

func TestW40_W41_W43_W44_static_values(t *testing.T) {
	t.Parallel()
	for _, c := range values() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(ask(t, compile(t, body(c.schema)), "GET /p").Body); got != c.want {
				t.Errorf("%s: got %s, want %s", c.schema, got, c.want)
			}
		})
	}
}

func TestW42_W45_dynamic_values_are_valid_and_repeat(t *testing.T) {
	t.Parallel()
	for _, c := range values() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, body(c.schema))
			op, _ := d.Find("GET", "/p", "")
			for seed := range uint64(20) {
				answer := func() *mockbase.DocumentAnswer {
					return d.Answer(op, &mockbase.DocumentRequest{
						Method: "GET", Path: "/p", Header: http.Header{}, Preferred: mockbase.Preferred{Dynamic: "true"},
						Rand: func(string, string) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) },
					})
				}
				first, again := answer(), answer()
				if first.Status != http.StatusOK || string(first.Body) != string(again.Body) {
					t.Fatalf("W45 seed %d: %d %s, again %s", seed, first.Status, first.Body, again.Body)
				}
				if list := d.CheckAnswer(op, 200, http.Header{"Content-Type": {first.MediaType}}, first.Body); len(list) > 0 {
					t.Fatalf("W42 seed %d: %s: %v", seed, first.Body, list)
				}
			}
		})
	}
}

func TestW42_what_cannot_be_met_is_500_and_warned_of(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		"{ type: integer, minimum: 5, maximum: 4 }",
		"{ type: string, minLength: 2000000000 }",
		"{ type: object, required: [a], properties: { a: false } }",
		"{ allOf: [{ type: string }, { type: integer }] }",
	} {
		d := compile(t, body(schema))
		if got := told(ask(t, d, "GET /p")); got != "500 answer-failed" {
			t.Errorf("W42 %s: %s", schema, got)
		}
		if got := warnings(d); !strings.Contains(got, "no value was found") {
			t.Errorf("W42 %s: the warnings are %s", schema, got)
		}
	}
}

func TestW22_W44_recursion_ends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schemas, want string }{
		{"W44 at depth three", "S: { type: object, properties: { n: { type: integer }, children: { type: array, items: { $ref: '#/components/schemas/S' } } } }", `{"n":0,"children":[{"n":0,"children":[{}]}]}`},
		{"W44 what is required for ever", "S: { type: object, required: [s], properties: { s: { $ref: '#/components/schemas/S' } } }", "500"},
		{"W22 by way of another", "S: { type: object, properties: { t: { $ref: '#/components/schemas/T' } } }, T: { type: object, properties: { s: { $ref: '#/components/schemas/S' } } }", ""},
		{"W22 a schema that means itself", "S: { allOf: [{ $ref: '#/components/schemas/S' }], type: integer }", "0"},
		{"W22 a circle of references", "S: { $ref: '#/components/schemas/T' }, T: { $ref: '#/components/schemas/S' }", `"string"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, body("{ $ref: '#/components/schemas/S' }")+"components: { schemas: { "+c.schemas+" } }\n")
			a := ask(t, d, "GET /p")
			switch {
			case c.want == "500":
				if a.Status != http.StatusInternalServerError {
					t.Errorf("%s", told(a))
				}
			case !json.Valid(a.Body) || c.want != "" && string(a.Body) != c.want:
				t.Errorf("got %s, want %s", a.Body, c.want)
			}
		})
	}
}

func TestW44_a_discriminator_gets_its_mapping_key(t *testing.T) {
	t.Parallel()
	const schemas = `components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, claws: { type: integer } } }
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }], discriminator: { propertyName: kind, mapping: { katze: '#/components/schemas/Cat' } } }
    Base: { type: object, required: [kind], properties: { kind: { type: string } }, discriminator: { propertyName: kind, mapping: { hund: Dog } } }
    Dog: { allOf: [{ $ref: '#/components/schemas/Base' }, { type: object, properties: { bark: { type: boolean } } }] }
`
	for name, want := range map[string]string{"Pet": `{"kind":"katze","claws":0}`, "Dog": `{"kind":"hund","bark":true}`} {
		a := ask(t, compile(t, body("{ $ref: '#/components/schemas/"+name+"' }")+schemas), "GET /p")
		if string(a.Body) != want {
			t.Errorf("W44 %s: got %s, want %s", name, a.Body, want)
		}
	}
}

func TestW37_values_in_other_notations(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`components:
  schemas:
    Pet: { type: object, xml: { name: pet, prefix: p, namespace: "urn:p" }, properties: { id: { type: integer, xml: { attribute: true } }, name: { type: string, example: "a<b" },
      tags: { type: array, xml: { wrapped: true }, items: { type: string, xml: { name: tag } } }, list: { type: array, items: { type: integer }, minItems: 2 } } }
paths:
  /xml: { get: { responses: { "200": { description: d, content: { application/xml: { schema: { $ref: "#/components/schemas/Pet" } } } } } } }
  /form: { get: { responses: { "200": { description: d, content: { application/x-www-form-urlencoded: { example: { a: "x y", b: [1, 2] } } } } } } }
`)
	run(t, d, []exchange{
		{"W37 XML", "GET /xml", "200 application/xml " + `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
			`<p:pet xmlns:p="urn:p" id="0"><name>a&lt;b</name><tags><tag>string</tag></tags><list>0</list><list>0</list></p:pet>`},
		{"W37 a form", "GET /form", "200 application/x-www-form-urlencoded a=x+y&b=1&b=2"},
	})
}

// Rules W42 and W45: drawn texts of a format are of that format, whatever is drawn.
func TestW42_drawn_texts_of_a_format_are_valid(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"date-time", "date", "time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference"} {
		d := compile(t, hostilePaths+"    S0: { type: array, minItems: 50, uniqueItems: false, items: { type: string, format: "+format+" } }\n")
		if a := ask(t, d, "GET /a?__dynamic=true"); a.Status != 200 {
			t.Errorf("%s: %s", format, told(a))
		}
	}
}
