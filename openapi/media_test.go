package openapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// versions makes an operation that takes and gives types that parameters alone tell apart.
func versions() string {
	return head + `paths:
  /p:
    post:
      requestBody: { content: { application/json; version=1: { schema: { type: integer } }, application/json; version=2: { schema: { type: string } } } }
      responses: { '200': { description: d, content: { application/json; version=1: { example: one }, application/json; version=2: { example: two } } } }
  /plain:
    post:
      requestBody: { content: { application/json; charset=utf-8: { schema: { type: integer } } } }
      responses: { '200': { description: d, content: { application/json: { example: plain }, text/html; charset=utf-8: { example: page } } } }
`
}

func TestW13_parameters_tell_types_of_requests_apart(t *testing.T) {
	t.Parallel()
	run(t, compile(t, versions()), []exchange{
		{"the first", "POST /p\nContent-Type: application/json; version=1\n\n1", "200 application/json; version=1 \"one\""},
		{"the second", "POST /p\nContent-Type: application/json;version=2;charset=utf-8\n\n\"x\"", "200 application/json; version=1 \"one\""},
		{"a value of the other one", "POST /p\nContent-Type: application/json; version=2\n\n1", "422 validation-failed body type"},
		{"none of them", "POST /p\nContent-Type: application/json; version=3\n\n1", "415 unsupported-media-type header.Content-Type mediaType"},
		{"the first where nothing is said", "POST /p\nContent-Type: application/json\n\n1", "200 application/json; version=1 \"one\""},
		{"a charset tells nothing apart", "POST /plain\nContent-Type: application/json; charset=iso-8859-1\n\n1", "200 application/json \"plain\""},
	})
}

func TestW31_W33_parameters_tell_types_of_answers_apart(t *testing.T) {
	t.Parallel()
	run(t, compile(t, versions()), []exchange{
		{"the one that is asked for", "POST /p\nAccept: application/json; version=2", "200 application/json; version=2 \"two\""},
		{"the more wanted one", "POST /p\nAccept: application/json;version=1;q=0.1, application/json;version=2;q=0.9", "200 application/json; version=2 \"two\""},
		{"a parameter says more than none", "POST /p\nAccept: application/json;version=1;q=0, application/json", "200 application/json; version=2 \"two\""},
		{"the first on a tie", "POST /p\nAccept: application/json", "200 application/json; version=1 \"one\""},
		{"none of them", "POST /p\nAccept: application/json; version=3", "406 not-acceptable"},
		{"what no type has is dropped", "POST /plain\nAccept: application/json; version=3", "200 application/json \"plain\""},
		{"a charset is no condition", "POST /plain\nAccept: text/html; charset=iso-8859-1", "200 text/html; charset=utf-8 page"},
		{"commas in quotes divide nothing", "POST /plain\nAccept: application/json; profile=\"a,b\"; q=0.1, text/html; q=0.5", "200 text/html; charset=utf-8 page"},
	})
}

func TestW1_the_path_of_a_server_without_a_scheme(t *testing.T) {
	t.Parallel()
	run(t, compile(t, head+"servers: [{ url: //api.example.com/v1 }]\npaths: { /p: { get: { responses: { '204': { description: d } } } } }\n"), []exchange{
		{"with its prefix", "GET /v1/p", "204"},
		{"without", "GET /p", "204"},
	})
}

func TestW36_headers_of_answers_by_their_examples_and_content(t *testing.T) {
	t.Parallel()
	a := ask(t, compile(t, head+`paths: { /p: { get: { responses: { '204': { description: d, headers: {
  X-First: { example: other, examples: { a: { value: first }, b: { value: second } } }, X-JSON: { content: { application/json: { schema: { type: object, properties: { a: { type: integer } } } } } },
  X-Made: { schema: { type: array, items: { type: integer, example: 4 } } } } } } } } }
`), "GET /p")
	var got []string
	for _, h := range a.Header {
		got = append(got, h.Name+": "+h.Values[0])
	}
	if want := []string{"X-First: first", `X-JSON: {"a":0}`, "X-Made: 4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestW30_headers_with_content_are_compared_as_JSON(t *testing.T) {
	t.Parallel()
	d := compile(t, head+"paths: { /p: { get: { responses: { '204': { description: d, headers: { X-J: { content: { application/json: { schema: { type: object, required: [a] } } } } } } } } } }\n")
	for text, want := range map[string]string{`{"a":1}`: "", "{}": "response.header.X-J.a required", "x": "response.header.X-J parse"} {
		var list []string
		for _, v := range d.CheckAnswer(0, http.StatusNoContent, http.Header{"X-J": {text}}, nil) {
			list = append(list, v.Location+" "+v.Code)
		}
		if got := strings.Join(list, ", "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
