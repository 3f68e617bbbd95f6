package openapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/openapi"
)

func TestW3_paths_that_differ_in_names_alone_are_told(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  "/a/{x}": { get: { responses: { "204": { description: d } } } }
  "/a/{y}": { post: { responses: { "205": { description: d } } } }
  "/a/{y}.json": { get: { responses: { "204": { description: d } } } }
`)
	got := warnings(d)
	if !strings.Contains(got, `"/a/{x}" and "/a/{y}" differ only`) || strings.Count(got, "differ only") != 1 {
		t.Errorf("W3: %s", got)
	}
	if got := told(ask(t, d, "POST /a/1")); got != "205" {
		t.Errorf("W3: the other method answers %s", got)
	}
}

func TestW22_faults_belong_to_the_operation_that_holds_them(t *testing.T) {
	t.Parallel()
	d := compile(t, `
openapi: 3.0.0
info: { title: t, version: 1.0 }
components: null
paths:
  /ok: { get: { responses: { "200": { description: d, content: { application/json: { schema: { type: integer } } } } } } }
  /ref: { get: { parameters: [{ $ref: "#/nowhere" }, null], responses: { "200": { description: d, content: { application/json: { schema: { $ref: "other.yaml#/A" } } } } } } }
  /pattern: { get: { parameters: [{ name: q, in: query, schema: { type: string, pattern: "(?<=x)y" } }, { name: u, in: query, schema: { type: string, pattern: '^\u0061$' } }], responses: { 200: { description: d } } } }
  /odd: { get: { responses: { "200": { description: d, content: { application/json: { schema: { type: [thing], required: true, minLength: -1, enum: x, multipleOf: 0, maximum: a } }, nonsense: {} } }, abc: {} } } }
  /null: null
  /self: { $ref: "#/paths/~1self" }
  /text: { get: text, post: { responses: null } }
  no-slash: { get: { responses: { default: null } } }
  "/undeclared/{id}": { get: { parameters: [{ in: query }, { name: a, in: nowhere }], responses: { "200": { $ref: "#/components/responses/none" } } } }
`)
	for request, want := range map[sent]string{
		"GET /ok": "200 application/json 0", "GET /ref": `200 application/json "string"`, "GET /pattern?q=z&u=a": "200",
		"GET /pattern?u=b": "422 validation-failed query.u pattern", "GET /odd": `200 application/json "string"`, "POST /text": "200",
		"GET /no-slash": "200", "GET /undeclared/7": "200",
	} {
		if got := told(ask(t, d, request)); got != want {
			t.Errorf("W22 %s: got %s, want %s", request, got, want)
		}
	}
	got := warnings(d)
	for _, want := range []string{
		"type #/info/version: the number is read as text",
		`reference #/paths/~1ref/get/parameters/0: the reference "#/nowhere" leads nowhere`,
		`reference #/paths/~1ref/get/responses/200/content/application~1json/schema: the reference "other.yaml#/A" leads nowhere`,
		`syntax #/paths/~1pattern/get/parameters/0/schema/pattern: the pattern "(?<=x)y" is left out`,
		"enum #/paths/~1odd/get/responses/200/content/application~1json/schema/type",
		"range #/paths/~1odd/get/responses/200/content/application~1json/schema/multipleOf",
		`pattern #/paths/~1odd/get/responses/abc: the response "abc" is left out`,
		"reference #/paths/~1self: the references lead round in a circle",
		"type #/paths/~1text/get: the operation is a text and no object",
		"pattern #/paths/no-slash",
		`reference #/paths/~1undeclared~1%7Bid%7D/get: the path parameter "id" is not declared`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("W22: no warning %q in\n%s", want, got)
		}
	}
}

func TestW22_version_20_is_read_in_its_own_words(t *testing.T) {
	t.Parallel()
	d := compile(t, `
swagger: "2.0"
info: { title: t, version: "1" }
basePath: /v2
consumes: [application/json]
produces: [application/json]
securityDefinitions: { b: { type: basic } }
definitions:
  Pet: { type: object, required: [id], properties: { id: { type: integer }, x: { type: string, x-nullable: true } } }
paths:
  "/pets/{id}":
    get:
      parameters: [{ name: id, in: path, required: true, type: integer }, { name: l, in: query, type: array, items: { type: integer }, collectionFormat: pipes }]
      responses: { 200: { description: d, schema: { $ref: "#/definitions/Pet" }, headers: { X-A: { type: integer } }, examples: { text/plain: hello } } }
    post:
      security: [{ b: [] }]
      parameters: [{ name: id, in: path, required: true, type: integer }, { name: b, in: body, required: true, schema: { $ref: "#/definitions/Pet" } }]
      responses: { 204: { description: d } }
    put:
      consumes: [multipart/form-data, application/x-www-form-urlencoded]
      parameters: [{ name: n, in: formData, type: integer, required: true }, { name: f, in: formData, type: file }]
      responses: { 204: { description: d } }
`)
	run(t, d, []exchange{
		{"W1 base path", "GET /v2/pets/1?l=1%7C2", `200 application/json {"id":0,"x":"string"}`},
		{"W37 examples by type", "GET /pets/1\nAccept: text/plain", "200 text/plain; charset=utf-8 hello"},
		{"W7 a list in one parameter", "GET /pets/1?l=1|x", "422 validation-failed query.l.1 coercion"},
		{"W46 basic", "POST /pets/1", "401 unauthenticated security"},
		{"W14 a body", "POST /pets/1\nAuthorization: Basic YTpi\nContent-Type: application/json\n\n{\"x\":null}", "422 validation-failed body.id required"},
		{"W16 a form", "PUT /pets/1\nContent-Type: application/x-www-form-urlencoded\n\nn=x", "422 validation-failed body.n coercion"},
		{"W16 a form lacks a field", "PUT /pets/1\nContent-Type: application/x-www-form-urlencoded\n\nf=x", "422 validation-failed body.n missing"},
		{"W16 parts", "PUT /pets/1\nContent-Type: multipart/form-data; boundary=B\n\n--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1\r\n--B--\r\n", "204"},
	})
}

func TestW22_what_is_no_document_is_refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]mockbase.Code{
		"":                           mockbase.CodeMalformedBody,
		"<html>":                     mockbase.CodeValidationFailed,
		"[]":                         mockbase.CodeValidationFailed,
		"{}":                         mockbase.CodeValidationFailed,
		"swagger: '1.2'":             mockbase.CodeValidationFailed,
		"openapi: '4.0'":             mockbase.CodeValidationFailed,
		"{":                          mockbase.CodeMalformedBody,
		strings.Repeat("[", 100_000): mockbase.CodeMalformedBody,
		"a: &a [x]\nb: &b [*a,*a]\nc: " + strings.Repeat("[*b,", 200): mockbase.CodeMalformedBody,
	} {
		_, err := openapi.Parse([]byte(text))
		if e, ok := errors.AsType[*mockbase.Error](err); !ok || e.Code != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestW22_tabs_are_repaired(t *testing.T) {
	t.Parallel()
	s, err := openapi.Parse([]byte("openapi: 3.1.0\ninfo:\n\ttitle: T\n\tversion: '1'\n\t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Title() != "T" || s.Version() != "3.1.0" || len(s.Warnings()) != 1 {
		t.Errorf("%q %q %v", s.Title(), s.Version(), s.Warnings())
	}
}

func TestW22_hostile_documents_are_bounded(t *testing.T) {
	t.Parallel()
	var chain strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&chain, "S%d: { type: object, required: [s], properties: { s: { $ref: '#/components/schemas/S%d' } } }, ", i, i+1)
	}
	wide := strings.Repeat("{ $ref: '#/components/schemas/S0' }, ", 50)
	for name, schemas := range map[string]string{
		"references that are deep": chain.String() + "S1000: { type: integer }",
		"branches of branches":     "S0: { type: object, properties: { a: { oneOf: [" + wide + "] }, b: { anyOf: [" + wide + "] } } }",
		"a wide recursion":         "S0: { type: object, properties: { a: { $ref: '#/components/schemas/S0' }, b: { $ref: '#/components/schemas/S0' }, c: { type: array, minItems: 9, items: { $ref: '#/components/schemas/S0' } } } }",
		"evil patterns":            "S0: { type: string, pattern: '^(a+)+$', minLength: 50000 }",
		"a huge enum":              "S0: { enum: [" + strings.Repeat("x, ", 50_000) + "y] }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.Bounded(t, 20*time.Second, func() {
				d := compile(t, body("{ $ref: '#/components/schemas/S0' }")+"components: { schemas: { "+schemas+" } }\n")
				if a := ask(t, d, "GET /p"); len(a.Body) > 1<<20 {
					t.Errorf("the body has %d bytes", len(a.Body))
				}
			})
		})
	}
}

// FuzzParse loads whatever comes and answers all of it: nothing may panic or run without an end.
func FuzzParse(f *testing.F) {
	f.Add([]byte(body("{ type: object, properties: { a: { type: string, pattern: '^a+$' } } }")))
	f.Add([]byte(`{"swagger":"2.0","paths":{"/{a}":{"get":{"responses":{"200":{"schema":{"type":"file"}}}}}}}`))
	f.Add([]byte("openapi: 3.0.0\npaths: { /a: { $ref: '#/paths/~1a' }, /b: { get: { responses: { 200: { content: { '*/*': { schema: { $ref: '#' } } } } } } } }"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if len(text) > 4_000 {
			return
		}
		d, err := openapi.Compile(&mockbase.Document{Name: "d", Inline: text, BasePath: "accept", Requests: "enforce"})
		if err != nil {
			return
		}
		d.Warnings()
		for op := range d.Operations() {
			method, path := d.Endpoint(op)
			d.Find(method, path, "")
			d.Answer(op, &mockbase.DocumentRequest{Method: method, Path: path, RawQuery: "a=1&b[c]=2", Body: []byte("{}")})
		}
	})
}

// A key that is given twice spoils nothing: the first one counts, and a warning names the place of the other.
func TestM9_keys_given_twice_are_warnings(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"YAML": "openapi: 3.0.0\ninfo: { title: t, version: '1' }\npaths:\n  /a: { get: { responses: { 200: { description: d } } } }\n  /a: { get: { responses: { 404: { description: d } } } }\n",
		"JSON": "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"paths\":{\n\"/a\":{\"get\":{\"responses\":{\"200\":{\"description\":\"d\"}}}},\n\n\"/a\":{}}}",
	} {
		source, err := openapi.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list := source.Warnings()
		if len(list) != 1 || list[0].Code != mockbase.FieldDuplicateKey || list[0].Pointer != "#/paths/~1a" || list[0].Line < 4 || !strings.Contains(list[0].Detail, "the first one counts") {
			t.Errorf("%s: %+v", name, list)
		}
		d, err := openapi.Compile(&mockbase.Document{Inline: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		if op, _ := d.Find("GET", "/a", ""); op < 0 || d.Answer(op, &mockbase.DocumentRequest{Method: "GET", Path: "/a"}).Status != 200 {
			t.Errorf("%s: the first one does not answer", name)
		}
	}
}
