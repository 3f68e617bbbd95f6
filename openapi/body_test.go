package openapi_test

import (
	"strings"
	"testing"
)

func TestW13_W14_W16_bodies_by_their_media_types(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /json: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { a: { type: integer } } } }, "text/*": {} } }, responses: { "204": { description: d } } } }
  /one: { post: { requestBody: { required: true, content: { application/json: { schema: { type: object } } } }, responses: { "204": { description: d } } } }
  /none: { post: { responses: { "204": { description: d } } } }
  /form:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, required: [n], properties: { n: { type: integer }, tags: { type: array, items: { type: string } }, o: { type: object, properties: { x: { type: integer } } } } }
            encoding: { tags: { style: form, explode: false } }
          multipart/form-data:
            schema: { type: object, required: [file], properties: { n: { type: integer }, file: { type: string, format: binary }, meta: { type: object, required: [a] } } }
            encoding: { file: { contentType: "image/png, image/jpeg" } }
      responses: { "204": { description: d } }
`)
	const part = "POST /form\nContent-Type: multipart/form-data; boundary=B\n\n--B\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Type: "
	run(t, d, []exchange{
		{"W13 a range", "POST /json\nContent-Type: text/csv\n\na", "204"},
		{"W13 a suffix matches itself or ranges only", "POST /json\nContent-Type: application/vnd.x+json\n\n{}", "415 unsupported-media-type header.Content-Type mediaType"},
		{"W13 none matches", "POST /json\nContent-Type: image/png\n\n{}", "415 unsupported-media-type header.Content-Type mediaType"},
		{"W13 no type, and several are declared", "POST /json\n\n{}", "415 unsupported-media-type header.Content-Type mediaType"},
		{"W13 no type, and one is declared", "POST /one\n\n{}", "204"},
		{"W13 an empty body has no type", "POST /json\nContent-Type: image/png", "204"},
		{"W14 a body where none is declared", "POST /none\nContent-Type: text/plain\n\nx", "204"},
		{"W14 a required body", "POST /one", "422 validation-failed body missing"},
		{"W15 a body that cannot be parsed", "POST /one\nContent-Type: application/json\n\n{", "400 bad-request body parse"},
		{"W9 bodies are never converted", "POST /json\nContent-Type: application/json\n\n{\"a\":\"1\"}", "422 validation-failed body.a type"},
		{"W16 a form", "POST /form\nContent-Type: application/x-www-form-urlencoded\n\nn=1&tags=a,b&o[x]=1", "204"},
		{"W16 a form is read by its schema", "POST /form\nContent-Type: application/x-www-form-urlencoded\n\nn=x", "422 validation-failed body.n coercion"},
		{"W16 a form lacks a field", "POST /form\nContent-Type: application/x-www-form-urlencoded\n\ntags=a", "422 validation-failed body.n required"},
		{"W16 a file", part + "image/png\r\n\r\n\x89PNG\r\n--B--\r\n", "204"},
		{"W16 a file of another type", part + "text/html\r\n\r\nx\r\n--B--\r\n", "422 validation-failed body.file mediaType"},
		{"W16 no boundary", "POST /form\nContent-Type: multipart/form-data\n\nx", "400 bad-request body parse"},
	})
}

func TestW19_a_body_with_too_many_ways_through_its_schema_is_refused(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`components:
  schemas:
    Tree: { anyOf: [{ type: array, items: { $ref: "#/components/schemas/Tree" } }, { type: array, items: { $ref: "#/components/schemas/Tree" } }, { type: string }] }
paths:
  /tree: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Tree" } } } }, responses: { "204": { description: d } } } }
`)
	const post = "POST /tree\nContent-Type: application/json\n\n"
	run(t, d, []exchange{
		{"W19 deep", sent(post + strings.Repeat("[", 25) + "1" + strings.Repeat("]", 25)), "422 validation-failed body tooLarge"},
		{"W19 flat", post + `["a",["b"]]`, "204"},
	})
}

func TestW17_W18_W19_W20_W21_schemas_of_bodies(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`components:
  schemas:
    Base: { type: object, required: [id, name], properties: { id: { type: integer, readOnly: true }, name: { type: string } } }
    Cat: { type: object, required: [type, claws], properties: { type: { type: string }, claws: { type: integer } } }
    Dog: { type: object, required: [type, bark], properties: { type: { type: string }, bark: { type: string } } }
    Pet: { oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }], discriminator: { propertyName: type, mapping: { katze: "#/components/schemas/Cat" } } }
    Node: { type: object, properties: { children: { type: array, items: { $ref: "#/components/schemas/Node" } }, v: { type: integer } } }
paths:
  /base: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Base" } } } }, responses: { "204": { description: d } } } }
  /deep: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { all: { type: array, items: { $ref: "#/components/schemas/Base" } } } } } } }, responses: { "204": { description: d } } } }
  /pet: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }, responses: { "204": { description: d } } } }
  /node: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Node" } } } }, responses: { "204": { description: d } } } }
  /null:
    post:
      requestBody: { content: { application/json: { schema: { type: object, properties: {
        s: { type: string, nullable: true }, e: { type: string, nullable: true, enum: [a] }, a: { nullable: true, allOf: [{ $ref: "#/components/schemas/Cat" }] }, m: { type: number, minimum: 1, exclusiveMinimum: true } } } } } }
      responses: { "204": { description: d } }
  /all: { post: { requestBody: { content: { application/json: { schema: { allOf: [{ type: object, required: [a] }, { type: object, required: [b] }] } } } }, responses: { "204": { description: d } } } }
  /any: { post: { requestBody: { content: { application/json: { schema: { anyOf: [{ type: string }, { type: integer, minimum: 5 }] } } } }, responses: { "204": { description: d } } } }
`)
	post := func(path, body string) sent {
		return sent("POST " + path + "\nContent-Type: application/json\n\n" + body)
	}
	run(t, d, []exchange{
		{"W17 readOnly is not required", post("/base", `{"name":"a"}`), "204"},
		{"W17 readOnly is not refused", post("/base", `{"name":"a","id":1}`), "204"},
		{"W17 at any depth", post("/deep", `{"all":[{"name":"a"},{}]}`), "422 validation-failed body.all.1.name required"},
		{"W19 nullable", post("/null", `{"s":null,"a":null}`), "204"},
		{"W19 with enum only if listed", post("/null", `{"e":null}`), "422 validation-failed body.e enum"},
		{"W19 exclusive bounds of 3.0", post("/null", `{"m":1}`), "422 validation-failed body.m exclusiveMinimum"},
		{"W20 allOf validates every branch", post("/all", `{"a":1}`), "422 validation-failed body.b required"},
		{"W21 anyOf", post("/any", `3`), "422 validation-failed body anyOf"},
		{"W21 a discriminator names the branch", post("/pet", `{"type":"Dog"}`), "422 validation-failed body.bark required"},
		{"W21 by its mapping", post("/pet", `{"type":"katze"}`), "422 validation-failed body.claws required"},
		{"W21 an unknown kind is one violation", post("/pet", `{"type":"fish"}`), "422 validation-failed body.type unknown"},
		{"W21 a right one", post("/pet", `{"type":"Cat","claws":4}`), "204"},
		{"W22 recursion validates", post("/node", `{"children":[{"children":[{"v":"x"}]}]}`), "422 validation-failed body.children.0.children.0.v type"},
		{"W30 two violations", post("/base", `{"name":1,"id":"x"}`), "422 validation-failed body.id type, body.name type"},
	})
}

func TestW17_strict_documents_refuse_readOnly(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /p: { post: { requestBody: { content: { application/json: { schema: { type: object, properties: { id: { type: integer, readOnly: true } } } } } }, responses: { "204": { description: d } } } }
`, strict)
	run(t, d, []exchange{{"W17 strict", "POST /p\nContent-Type: application/json\n\n{\"id\":1}", "422 validation-failed body.id not"}})
}

func TestW19_W20_schemas_of_version_31(t *testing.T) {
	t.Parallel()
	d := compile(t, head31+`paths:
  /p: { post: { requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/S", required: [s] } } } }, responses: { "204": { description: d } } } }
components:
  schemas:
    S: { type: object, allOf: [{ properties: { s: { type: [string, "null"] } } }], properties: { n: { exclusiveMinimum: 1 }, l: { prefixItems: [{ const: 1 }], items: false } }, unevaluatedProperties: false }
`)
	post := func(body string) sent { return sent("POST /p\nContent-Type: application/json\n\n" + body) }
	run(t, d, []exchange{
		{"W19 a type of null", post(`{"s":null}`), "204"},
		{"W20 keywords beside a reference", post(`{}`), "422 validation-failed body.s required"},
		{"W20 unevaluatedProperties sees all branches", post(`{"s":"a","x":1}`), "422 validation-failed body.x unevaluatedProperties"},
		{"W20 bounds and tuples", post(`{"s":"a","n":1,"l":[2]}`), "422 validation-failed body.n exclusiveMinimum, body.l.0 const"},
	})
}

func TestW46_security(t *testing.T) {
	t.Parallel()
	text := head + `components:
  securitySchemes:
    bearer: { type: http, scheme: bearer }
    basic: { type: http, scheme: basic }
    key: { type: apiKey, in: header, name: X-Key }
    oauth: { type: oauth2, flows: {} }
security: [{ bearer: [] }]
paths:
  /p: { get: { responses: { "204": { description: d } } } }
  /public: { get: { security: [], responses: { "204": { description: d } } } }
  /optional: { get: { security: [{ bearer: [] }, {}], responses: { "204": { description: d } } } }
  /or: { get: { security: [{ basic: [] }, { key: [] }], responses: { "204": { description: d } } } }
  /and: { get: { security: [{ basic: [], key: [] }], responses: { "204": { description: d } } } }
  /scoped: { get: { security: [{ oauth: [write] }], responses: { "204": { description: d } } } }
`
	run(t, compile(t, text), []exchange{
		{"W46 without credentials", "GET /p", "401 unauthenticated security"},
		{"W46 of another scheme", "GET /p\nAuthorization: Basic YTpi", "401 unauthenticated security"},
		{"W46 any value counts", "GET /p\nAuthorization: bearer x", "204"},
		{"W46 public", "GET /public", "204"},
		{"W46 optional", "GET /optional", "204"},
		{"W46 a list is or", "GET /or\nX-Key: 1", "204"},
		{"W46 an object is and", "GET /and\nX-Key: 1", "401 unauthenticated security"},
		{"W46 both", "GET /and\nX-Key: 1\nAuthorization: Basic YTpi", "204"},
		{"W46 not well-formed", "GET /or\nAuthorization: Basic !", "401 unauthenticated security"},
	})
	d := compile(t, text, withCredentials)
	run(t, d, []exchange{
		{"W46 a wrong value", "GET /scoped\nAuthorization: Bearer no", "401 unauthenticated security"},
		{"W46 a missing scope", "GET /scoped\nAuthorization: Bearer reader", "403 forbidden security"},
		{"W46 a right one", "GET /scoped\nAuthorization: Bearer writer", "204"},
		{"W46 user and password in clear", "GET /or\nAuthorization: Basic YTpi", "204"},
	})
	challenges := map[string]string{"/p": "Bearer", "/or": `Basic realm="mocks"|ApiKey name="X-Key", in="header"`}
	for path, want := range challenges {
		a := ask(t, compile(t, text), sent("GET "+path))
		if got := headerOf(a, "WWW-Authenticate"); got != want {
			t.Errorf("W46 challenges of %s: %s", path, got)
		}
	}
}
