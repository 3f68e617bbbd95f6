package openapi_test

import (
	"strings"
	"testing"
)

// Issues of links: each is a warning at its place, and the operation answers all the same.
func TestW25_links_are_checked_and_change_no_answer(t *testing.T) {
	t.Parallel()
	document := func(link string) string {
		return head + `paths:
  /pets:
    post:
      parameters: [ { name: q, in: query, schema: { type: string } }, { name: X-A, in: header, schema: { type: string } } ]
      requestBody: { content: { application/json: { schema: {} } } }
      responses:
        '201':
          description: d
          headers: { Location: { schema: { type: string }, example: /pets/1 } }
          content: { application/json: { example: { id: 1 } } }
          links: { next: ` + link + ` }
        '204': { description: d, links: { empty: { operationId: getPet, parameters: { id: $request.body } } } }
  /pets/{id}:
    get: { operationId: getPet, parameters: [ { name: id, in: path, required: true, schema: { type: integer } }, { name: v, in: query, schema: { type: string } } ], responses: { '200': { description: d } } }
components: { links: { shared: { operationId: getPet, parameters: { id: '$response.body#/id' } } } }
`
	}
	for name, c := range map[string]struct{ link, want string }{
		"by id":                   {`{ operationId: getPet, parameters: { id: '$response.body#/id', v: constant } }`, ""},
		"by place":                {`{ operationRef: '#/paths/~1pets~1{id}/get', parameters: { path.id: $response.body#/id, query.v: $request.query.q } }`, ""},
		"by reference":            {`{ $ref: '#/components/links/shared' }`, ""},
		"within a text":           {`{ operationId: getPet, parameters: { v: 'a{$request.header.x-a}b', id: $response.header.location }, requestBody: { a: 1 } }`, ""},
		"an unknown id":           {`{ operationId: gone }`, `/links/next/operationId: the link "next" leads to the operation "gone", which the document does not have`},
		"an unknown place":        {`{ operationRef: '#/paths/~1gone/get' }`, `/links/next/operationRef: the link "next" leads to "#/paths/~1gone/get", where`},
		"another document":        {`{ operationRef: 'https://example.test/api.yaml#/paths/~1a/get' }`, `outside the document: it was not looked at`},
		"no operation":            {`{ parameters: {} }`, `/links/next: the link "next" names no operation`},
		"two operations":          {`{ operationId: getPet, operationRef: '#/paths/~1pets/post' }`, `the first counts`},
		"an unknown parameter":    {`{ operationId: getPet, parameters: { nr: 1 } }`, `/links/next/parameters/nr: the link "next" gives the parameter "nr", which its operation does not declare`},
		"no expression":           {`{ operationId: getPet, parameters: { id: $response.bodi#/id } }`, `/links/next/parameters/id: the link "next" has an expression that is none: "$response.bodi#/id"`},
		"no request parameter":    {`{ operationId: getPet, parameters: { id: $request.path.id } }`, `reads $request.path.id: the operation has no such parameter`},
		"no header of the answer": {`{ operationId: getPet, parameters: { id: $response.header.X-B } }`, `reads $response.header.X-B: the response declares no such header`},
		"a broken body":           {`{ operationId: getPet, requestBody: '{$response.nobody}' }`, `/links/next/requestBody: the link "next" has an expression that is none`},
		"no object":               {`7`, `/links/next: the link is a number and no object`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compile(t, document(c.link))
			got := warnings(d)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			run(t, d, []exchange{{"the answer", "POST /pets", `201 application/json {"id":1}`}})
		})
	}
}
