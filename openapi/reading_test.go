package openapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// W25: what comes before an answer, or is an upgrade, never answers.
func TestW25_informational_responses_never_answer(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /only: { get: { responses: { "101": { description: d } } } }
  /first: { get: { responses: { "100": { description: d }, "404": { description: d } } } }
  /range: { get: { responses: { 1XX: { description: d } } } }
`)
	run(t, d, []exchange{
		{"W25 alone", "GET /only", "200"},
		{"W25 before others", "GET /first", "404"},
		{"W25 a range", "GET /range", "200"},
		{"W26 asked for", "GET /only?__code=101", "404 code-not-defined"},
	})
	for _, at := range []string{"~1only/get/responses/101", "~1first/get/responses/100", "~1range/get/responses/1XX"} {
		if got := warnings(d); !strings.Contains(got, at+": the response") {
			t.Errorf("the warnings are %s", got)
		}
	}
	mocks, _ := expanded(t, head+`paths: { /only: { get: { responses: { "101": { description: d } } } } }`, openapi.ExpandOptions{})
	if !strings.Contains(mocks, `"status":200`) || strings.Contains(mocks, "101") {
		t.Errorf("the mock is %s", mocks)
	}
}

// W32: content of any type is written as the type that is asked for.
func TestW32_content_of_any_type_is_written_as_asked_for(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /any: { get: { responses: { "200": { description: d, content: { "*/*": { schema: { type: object, xml: { name: pet }, properties: { id: { type: integer } } } } } } } } }
  /app: { get: { responses: { "200": { description: d, content: { "application/*": { example: { a: x y } } } } } } }
`)
	run(t, d, []exchange{
		{"W32 JSON", "GET /any\nAccept: application/json", `200 application/json {"id":0}`},
		{"W32 XML", "GET /any\nAccept: application/xml", "200 application/xml " + `<?xml version="1.0" encoding="UTF-8"?>` + "\n<pet><id>0</id></pet>"},
		{"W32 CSV", "GET /any\nAccept: text/csv", "200 text/csv; charset=utf-8 id\n0"},
		{"W32 a form", "GET /app\nAccept: application/x-www-form-urlencoded", "200 application/x-www-form-urlencoded a=x+y"},
	})
	if a := ask(t, d, "GET /any\nAccept: image/png"); a.MediaType != "image/png" || !strings.HasPrefix(string(a.Body), "\x89PNG") {
		t.Errorf("got %s", told(a))
	}
}

// W24 and W30: what is wrong is told with the value, and with what is right.
func TestW24_W30_violations_show_values(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths: { /p: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { a: { type: integer }, l: { type: array, items: { type: string } } } } } } }, responses: { "200": { description: d } } } } }`)
	a := ask(t, d, "POST /p\nContent-Type: application/json\n\n"+`{"a":"seven","l":[1.50,true,{}]}`)
	var told []string
	for _, v := range a.Violations {
		told = append(told, v.Location+" "+v.Message)
	}
	if diff := cmp.Diff([]string{
		`body.a the value "seven" is string, wanted is integer`, `body.l.0 the value "1.50" is number, wanted is string`,
		`body.l.1 the value "true" is boolean, wanted is string`, `body.l.2 the value is object, wanted is string`,
	}, told); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]string{"__code=1000": "a status from 100 to 999", "__dynamic=yes": "true or false"} {
		if a := ask(t, d, sent("POST /p?"+query)); !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: got %s", query, a.Body)
		}
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
