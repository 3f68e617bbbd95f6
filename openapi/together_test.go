package openapi_test

import (
	"net/http"
	"testing"

	"github.com/mockbase/mockbase"
)

// W22: what is tolerated is told, wherever it stands.
func TestW22_faults_that_are_tolerated_are_told(t *testing.T) {
	t.Parallel()
	response := func(inside string) string {
		return "paths: { /a: { get: { responses: { '200': { description: d, " + inside + " } } } } }\n"
	}
	for name, c := range map[string]struct {
		text, pointer string
		code          mockbase.Code
	}{
		"an example that leads nowhere": {
			response("content: { application/json: { examples: { e: { $ref: '#/components/examples/X' } } } }"),
			"#/paths/~1a/get/responses/200/content/application~1json/examples/e", mockbase.FieldReference,
		},
		"a header's name": {
			response("headers: { Bad Name: { schema: { type: string } } }"), "#/paths/~1a/get/responses/200/headers/Bad%20Name", mockbase.FieldPattern,
		},
		"a header's example": {
			response(`headers: { X-I: { schema: { type: string }, example: "a\r\nB: c" } }`), "#/paths/~1a/get/responses/200/headers/X-I", mockbase.FieldPattern,
		},
		"example and examples": {
			response("content: { application/json: { example: 1, examples: { e: { value: 2 } } } }"),
			"#/paths/~1a/get/responses/200/content/application~1json/example", mockbase.FieldConflict,
		},
		"a list of types": {
			response("content: { application/json: { schema: { type: [ string, integer ] } } }"),
			"#/paths/~1a/get/responses/200/content/application~1json/schema/type", mockbase.FieldType,
		},
		"a parameter twice": {
			"paths: { /a: { get: { parameters: [ { name: q, in: query }, { name: q, in: query } ], responses: { '204': { description: d } } } } }\n",
			"#/paths/~1a/get/parameters/1", mockbase.FieldUnique,
		},
		"a variable of a server": {"servers: [ { url: '/v{n}' } ]\npaths: {}\n", "#/servers/0", mockbase.FieldReference},
		"a dead reference": {
			"paths: {}\ncomponents: { schemas: { Dead: { $ref: '#/components/schemas/None' } } }\n", "#/components/schemas/Dead", mockbase.FieldReference,
		},
		"a reference to itself": {
			"paths: {}\ncomponents: { schemas: { Loop: { $ref: '#/components/schemas/Loop' } } }\n", "#/components/schemas/Loop", mockbase.FieldReference,
		},
		"a type of a wrong kind": {"paths: {}\ncomponents: { schemas: { A: { type: 5 } } }\n", "#/components/schemas/A/type", mockbase.FieldType},
		"a callback that leads nowhere": {
			"paths: {}\ncomponents: { callbacks: { C: { $ref: '#/components/callbacks/X' } } }\n", "#/components/callbacks/C", mockbase.FieldReference,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := compile(t, head+c.text).Warnings()
			if len(list) != 1 || list[0].Pointer != c.pointer || list[0].Code != c.code {
				t.Errorf("warnings: %+v", list)
			}
		})
	}
}

// W22: nothing of this is a fault.
func TestW22_what_is_allowed_is_not_told(t *testing.T) {
	t.Parallel()
	d := compile(t, head31+`servers: [ { url: '/{v}', variables: { v: { default: one } } } ]
paths:
  /a:
    parameters: [ { name: q, in: query, schema: { type: string } } ]
    get:
      parameters: [ { name: q, in: query, schema: { type: [ string, 'null' ] } }, { name: q, in: header, schema: { type: string } } ]
      callbacks: { c: { $ref: '#/components/callbacks/C' } }
      responses: { '200': { description: d, headers: { X-A_b.c: { schema: { type: string }, example: é } } } }
components: { callbacks: { C: { '{$request.query.q}': { post: { responses: { '204': { description: d } } } } } } }
`)
	if list := d.Warnings(); len(list) > 0 {
		t.Errorf("warnings: %+v", list)
	}
}

// W36: a header that is none is neither sent nor shown to pages.
func TestW36_a_header_whose_name_is_none_is_left_out(t *testing.T) {
	t.Parallel()
	a := ask(t, compile(t, head+`paths: { /a: { get: { responses: { '200': { description: d, headers: { Bad Name: { example: x }, X-Good: { example: y } } } } } } }
`), "GET /a")
	if a.Status != http.StatusOK || len(a.Header) != 1 || a.Header[0].Name != "X-Good" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
}
