package engine_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/openapi"
)

// driftDocument declares one operation.
const driftDocument = `
documents:
  - name: pets
    inline:
      openapi: 3.0.3
      info: { title: Pets, version: '1' }
      paths:
        /pets/{id}:
          get:
            operationId: getPet
            responses:
              '200':
                description: d
                headers: { X-Trace: { required: true, schema: { type: string } } }
                content: { application/json: { schema: { type: object, required: [name], properties: { name: { type: string } } } } }
`

// Rule W30: a mock is compared with the documents of its project when it is saved, and what differs is a warning.
func TestW30_answers_of_mocks_are_compared_when_they_are_saved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mock, want string }{
		"a body that lacks something": {`request: 'GET /pets/{id}', response: { headers: { X-Trace: 1 }, json: { nom: Rex } }`, "#/response response.body.name"},
		"a status of its own":         {`request: GET /pets/1, response: { status: 418 }`, "#/response response.status"},
		"another type":                {`request: GET /pets/2, responses: [{ headers: { X-Trace: 1 }, text: Rex }]`, "#/responses/0 response.header.Content-Type"},
		"a header that is left out":   {`request: GET /pets/3, response: { json: { name: Rex } }`, "#/response response.header.X-Trace"},
		"another method":              {`request: PUT /pets/4, response: {}`, `#/request answers PUT, which document "pets" does not declare at this path`},
		"what is declared":            {`request: GET /pets/5, response: { headers: { X-Trace: 1 }, json: { name: Rex } }`, ""},
		"a template":                  {`request: GET /pets/6, response: { template: true, headers: { X-Trace: "{{ uuid }}" }, json: { nom: "{{ path.id }}" } }`, ""},
		"a path of its own":           {`request: GET /other, response: { status: 418 }`, ""},
		"a fault":                     {`request: GET /pets/7, response: { fault: empty }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, engine.Options{Describe: func(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }})
			d, err := mockbase.DecodeDefinition([]byte("mocks:\n- { name: m, "+c.mock+" }"+driftDocument), mockbase.FormatYAML)
			if err != nil {
				t.Fatal(err)
			}
			s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}, Mocks: d.Mocks}
			var got []string
			for _, w := range e.Warnings(s, d.Mocks[0]) {
				got = append(got, w.Pointer+" "+strings.TrimPrefix(w.Detail, `differs from document "pets", getPet: `))
			}
			if all := strings.Join(got, "\n"); !strings.HasPrefix(all, c.want) || (c.want == "") != (len(got) == 0) {
				t.Errorf("%q, want %q", all, c.want)
			}
		})
	}
}

// Rules W1 and W5: a mock has one path, and overrides an operation at that alone; where the document answers at another one too, it is
// told, unless a mock has that path.
func TestW5_a_mock_that_overrides_below_one_prefix_alone_is_told(t *testing.T) {
	t.Parallel()
	document := func(more string) string {
		return `
documents:
  - name: pets
` + more + `    inline:
      openapi: 3.0.3
      info: { title: Pets, version: '1' }
      servers: [{ url: 'https://api.test/v2' }]
      paths: { '/pets/{id}': { get: { operationId: getPet, responses: { '200': { description: d } } } } }
`
	}
	const told = `overrides getPet of document "pets" at this path alone: the document goes on answering GET at `
	for name, c := range map[string]struct{ mocks, document, want string }{
		"without the prefix":      {`[{ request: 'GET /pets/{id}', response: { status: 200 } }]`, document(""), told + `"/v2/pets/{id}"`},
		"with it":                 {`[{ request: 'GET /v2/pets/7', response: { status: 200 } }]`, document(""), told + `"/pets/7"`},
		"any method":              {`[{ request: { method: ANY, path: '/pets/{id}' }, response: { status: 200 } }]`, document(""), told + `"/v2/pets/{id}"`},
		"answers are not checked": {`[{ request: 'GET /pets/{id}', response: { status: 200 } }]`, document("    responses: disabled\n"), told + `"/v2/pets/{id}"`},
		"both":                    {`[{ request: 'GET /pets/{id}', response: { status: 200 } }, { request: 'GET /v2/pets/{id}', response: { status: 200 } }]`, document(""), ""},
		"one path alone":          {`[{ request: 'GET /v2/pets/{id}', response: { status: 200 } }]`, document("    basePath: strict\n"), ""},
		"nothing is served":       {`[{ request: 'GET /pets/{id}', response: { status: 200 } }]`, document("    serve: false\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, engine.Options{Describe: func(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }})
			d, err := mockbase.DecodeDefinition([]byte("mocks: "+c.mocks+c.document), mockbase.FormatYAML)
			if err != nil {
				t.Fatal(err)
			}
			s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}, Mocks: d.Mocks}
			var got strings.Builder
			for _, w := range e.Warnings(s, d.Mocks[0]) {
				got.WriteString(w.Detail)
			}
			if !strings.HasPrefix(got.String(), c.want) || (c.want == "") != (got.Len() == 0) {
				t.Errorf("got %s, want %s", &got, c.want)
			}
		})
	}
}

// Rule W30: a document tells which mocks differ from it, which it does not know, and what nothing answers.
func TestW30_a_document_tells_how_the_mocks_differ(t *testing.T) {
	t.Parallel()
	const mocks = `mocks:
- { name: fine, request: 'GET /pets/{id}', response: { headers: { X-Trace: 1 }, json: { name: Rex } } }
- { name: poor, request: 'GET /pets/1', response: { headers: { X-Trace: 1 }, json: {} } }
- { name: far, request: GET /far, response: {} }
- { name: put, request: PUT /toys, response: {} }
- { name: off, enabled: false, request: GET /off, response: {} }
- { name: other, request: GET /others, response: {} }
- { name: all, request: { method: ANY, path: /all }, response: {} }
`
	const more = `
        /toys: { get: { responses: { '200': { description: d } } }, post: { responses: { '200': { description: d } } } }
        /all: { get: { responses: { '200': { description: d } } } }
    serve: false
  - name: others
    inline: { openapi: 3.0.3, info: { title: t, version: '1' }, paths: { /others: { get: { responses: { '200': { description: d } } } } } }
`
	e := newEngine(t, engine.Options{Describe: func(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }})
	d, err := mockbase.DecodeDefinition([]byte(mocks+strings.TrimSuffix(driftDocument, "\n")+more), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}, Mocks: d.Mocks}
	var got strings.Builder
	for _, w := range e.Drift(s, "pets") {
		got.WriteString(w.Detail + "\n")
	}
	for _, want := range []string{
		`mock "poor", #/response: differs from document "pets", getPet: response.body.name`, `mock "far" answers GET "/far", of which the document knows nothing`,
		`mock "put" answers PUT "/toys", and the document has GET, POST alone at this path`,
		`no mock answers GET "/toys", and the document serves nothing itself`, `no mock answers POST "/toys"`,
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("it does not tell %s:\n%s", want, got.String())
		}
	}
	for _, unwanted := range []string{`"fine"`, `"off"`, `"other"`, `GET "/all"`, `GET "/pets`} {
		if strings.Contains(got.String(), unwanted) {
			t.Errorf("it tells of %s:\n%s", unwanted, got.String())
		}
	}
	if list := e.Drift(s, "none"); list != nil {
		t.Errorf("a document that is none: %+v", list)
	}
}
