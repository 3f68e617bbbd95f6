package openapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

const calling = `
openapi: 3.1.0
info: { title: x, version: "1" }
paths:
  /shops/{shop}/orders:
    post:
      parameters:
        - { name: shop, in: path, required: true, schema: { type: string } }
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses:
        "201":
          description: made
          headers: { X-Token: { schema: { type: string }, example: t1 } }
          content: { application/json: { example: { id: 7, links: { "a/b": "http://hook.test/link" } } } }
        "422": { description: bad }
      callbacks: CALLBACKS
components:
  callbacks:
    shared:
      "{$request.body#/url}":
        post: { requestBody: { content: { application/json: { example: { done: true } } } }, responses: { "200": { description: ok } } }
`

// callbacksOf answers one request of a document with these callbacks, and returns the calls that follow.
func callbacksOf(t *testing.T, callbacks, body string, o mockbase.Document) []mockbase.DocumentCallback {
	t.Helper()
	o.Name, o.Callbacks = "x", true
	o.Inline = []byte(strings.Replace(calling, "CALLBACKS", callbacks, 1))
	d, err := openapi.Compile(&o)
	if err != nil {
		t.Fatal(err)
	}
	q := &mockbase.DocumentRequest{
		Method: http.MethodPost, Path: "/shops/a%20b/orders", RawQuery: "to=http%3A%2F%2Fhook.test%2Fq&n=1&n=2", URL: "http://m.test/m/shop/shops/a%20b/orders",
		Header: http.Header{"Content-Type": {"application/json"}, "X-Hook": {"http://hook.test/h"}}, Body: []byte(body),
	}
	op, _ := d.Find(q.Method, q.Path, q.RawQuery)
	return d.Callbacks(op, q, d.Answer(op, q))
}

func TestS8_runtime_expressions_say_where_callbacks_go(t *testing.T) {
	t.Parallel()
	const body = `{"url":"http://hook.test/b","n":12.50,"list":[{"u":"http://hook.test/l"}],"o":{"a":1},"null":null,"e":"a&b c","s":"ü/x"}`
	for address, want := range map[string]string{
		"$request.body#/url":                           "http://hook.test/b",
		"{$request.body#/url}":                         "http://hook.test/b",
		"{$request.body#/list/0/u}/more":               "http://hook.test/l/more",
		"{$request.query.to}":                          "http://hook.test/q",
		"{$request.header.x-hook}":                     "http://hook.test/h",
		"{$response.body#/links/a~1b}":                 "http://hook.test/link",
		"http://hook.test/{$request.path.shop}":        "http://hook.test/a%20b",
		"http://hook.test/{$request.body#/s}":          "http://hook.test/%C3%BC%2Fx",
		"http://hook.test?e={$request.body#/e}&x=1":    "http://hook.test?e=a%26b+c&x=1",
		"http://hook.test/{$method}/{$statusCode}":     "http://hook.test/POST/201",
		"http://hook.test/{$request.body#/n}":          "http://hook.test/12.50",
		"http://hook.test?o={$request.body#/o}":        "http://hook.test?o=%7B%22a%22%3A1%7D",
		"http://hook.test?u={$url}":                    "http://hook.test?u=http%3A%2F%2Fm.test%2Fm%2Fshop%2Fshops%2Fa%2520b%2Forders",
		"http://hook.test/{$response.header.X-TOKEN}":  "http://hook.test/t1",
		"http://hook.test/plain":                       "http://hook.test/plain",
		"{$request.body#/none}":                        "",
		"{$request.body#/null}":                        "",
		"{$request.body#/list/00/u}":                   "",
		"{$request.body#/url/deeper}":                  "",
		"{$request.query.none}":                        "",
		"{$request.header.none}":                       "",
		"{$response.header.none}":                      "",
		"{$request.cookie.c}":                          "",
		"{$nothing}":                                   "",
		"/relative":                                    "",
		"http://hook.test/{$response.body#/none}/more": "",
		"http://hook.test/{unclosed":                   "http://hook.test/{unclosed",
	} {
		got := callbacksOf(t, `{ done: { "`+address+`": { post: {} } } }`, body, mockbase.Document{})
		if len(got) != 1 || got[0].URL != want || (got[0].Missed == "") != (want != "") {
			t.Errorf("%s: %+v, want %q", address, got, want)
		}
	}
}

func TestS8_a_callback_has_the_body_that_the_document_says(t *testing.T) {
	t.Parallel()
	const where = `"http://hook.test/"`
	for name, test := range map[string]struct {
		callbacks string
		want      []mockbase.DocumentCallback
	}{
		"an example": {
			`{ a: { ` + where + `: { put: { requestBody: { content: { application/json: { example: { b: 1.0, a: x } } } } } } } }`,
			[]mockbase.DocumentCallback{{Name: "a", Method: "PUT", URL: "http://hook.test/", MediaType: "application/json", Body: []byte(`{"b":1.0,"a":"x"}`)}},
		},
		"a schema": {
			`{ a: { ` + where + `: { post: { requestBody: { content: { text/plain: {}, application/json: { schema: { type: object, required: [n], properties: { n: { const: 3 } } } } } } } } } }`,
			[]mockbase.DocumentCallback{{Name: "a", Method: "POST", URL: "http://hook.test/", MediaType: "application/json", Body: []byte(`{"n":3}`)}},
		},
		"no body, two methods and two addresses": {
			`{ a: { ` + where + `: { get: {}, delete: {} }, "http://other.test/": { post: {} } } }`,
			[]mockbase.DocumentCallback{
				{Name: "a", Method: "GET", URL: "http://hook.test/"},
				{Name: "a", Method: "DELETE", URL: "http://hook.test/"},
				{Name: "a", Method: "POST", URL: "http://other.test/"},
			},
		},
		"a reference": {
			`{ a: { $ref: "#/components/callbacks/shared" } }`,
			[]mockbase.DocumentCallback{{Name: "a", Method: "POST", URL: "http://hook.test/b", MediaType: "application/json", Body: []byte(`{"done":true}`)}},
		},
		"what is none": {`{ a: { $ref: "#/nowhere" }, b: 7, x-c: { ` + where + `: { post: {} } } }`, []mockbase.DocumentCallback{}},
	} {
		got := callbacksOf(t, test.callbacks, `{"url":"http://hook.test/b"}`, mockbase.Document{})
		if len(got)+len(test.want) > 0 {
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestS8_no_callback_follows_a_refusal_or_an_answer_without_leave(t *testing.T) {
	t.Parallel()
	const callbacks = `{ a: { "http://hook.test/": { post: {} } } }`
	if got := callbacksOf(t, callbacks, `[`, mockbase.Document{Requests: "enforce"}); got != nil {
		t.Errorf("after a refusal: %+v", got)
	}
	d, err := openapi.Compile(&mockbase.Document{Inline: []byte(strings.Replace(calling, "CALLBACKS", callbacks, 1))})
	if err != nil {
		t.Fatal(err)
	}
	q := &mockbase.DocumentRequest{Method: http.MethodPost, Path: "/shops/a/orders"}
	if got := d.Callbacks(0, q, d.Answer(0, q)); got != nil {
		t.Errorf("without leave: %+v", got)
	}
}

func TestS8_an_expression_that_is_none_is_told_of(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"{$request.boddy}":                "an expression that is none: \"$request.boddy\"",
		"{$request.body#/url":             "an expression that is not closed, and is sent as it stands: a } is missing behind \"{$request.body#/url\"",
		"http://h.test/{$request.query.a": "an expression that is not closed, and is sent as it stands: a } is missing behind \"{$request.query.a\"",
		"http://h.test/$request.query.a}": "a } that closes nothing, and is sent as it stands: a { is missing before \"http://h.test/$request.query.a}\"",
		"$request.body#/url}":             "an expression with a brace in it: \"$request.body#/url}\"; a JSON Pointer that means one is rare",
		"{$request.body#/{url}":           "an expression with a brace in it: \"$request.body#/{url\"; a JSON Pointer that means one is rare",
		"http://h.test/{$url}/{$method}":  "",
	} {
		d, err := openapi.Compile(&mockbase.Document{Inline: []byte(strings.Replace(calling, "CALLBACKS", `{ a: { "`+address+`": { post: {} } } }`, 1))})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range d.Warnings() {
			if told, ok := strings.CutPrefix(w.Detail, `the callback "a" has `); ok && w.Code == mockbase.FieldSyntax {
				got = told
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
