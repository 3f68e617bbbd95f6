package openapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func withCredentials(o *mockbase.Document) {
	o.Credentials = []mockbase.Credential{
		{Scheme: "oauth", Value: "reader", Scopes: []string{"read"}},
		{Scheme: "oauth", Value: "writer", Scopes: []string{"write"}},
		{Scheme: "basic", Value: "a:b"},
	}
}

func headerOf(a *mockbase.DocumentAnswer, name string) string {
	for _, h := range a.Header {
		if h.Name == name {
			return strings.Join(h.Values, "|")
		}
	}
	return ""
}

// responses makes a document of one operation with these responses.
func responses(list string) string {
	return head + "paths: { /p: { get: { parameters: [{ name: n, in: query, schema: { type: integer } }], responses: {" + list + "} } } }\n"
}

func TestW25_W28_choosing_a_response(t *testing.T) {
	t.Parallel()
	const text = ": { description: d }"
	example := func(code string) string {
		return code + `: { description: d, content: { text/plain: { example: "` + strings.Trim(code, "'") + `" } } }`
	}
	for _, c := range []struct {
		name, responses string
		request         sent
		want            string
	}{
		{"W25 the lowest of success", "'404'" + text + ", '204'" + text + ", '201'" + text, "GET /p", "201"},
		{"W25 a range", "'404'" + text + ", 2XX" + text, "GET /p", "200"},
		{"W25 the default", "'404'" + text + ", default" + text, "GET /p", "200"},
		{"W25 the first", "4XX" + text + ", '302'" + text, "GET /p", "400"},
		{"W26 of a range", example("'503'") + ", " + example("5XX") + ", " + example("default"), "GET /p?__code=502", "502 text/plain; charset=utf-8 5XX"},
		{"W26 of the default", example("default"), "GET /p?__code=418", "418 text/plain; charset=utf-8 default"},
		{"W28 what is declared of the two", "'200'" + text + ", " + example("'400'"), "GET /p?n=x", "400 text/plain; charset=utf-8 400"},
		{"W28 the first of the list comes first", "'200'" + text + ", " + example("'400'") + ", " + example("'422'"), "GET /p?n=x", "422 text/plain; charset=utf-8 422"},
		{"W28 the default", "'200'" + text + ", " + example("default"), "GET /p?n=x", "422 text/plain; charset=utf-8 default"},
		{"W27 a code does not skip the checks", "'200'" + text, "GET /p?n=x&__code=200", "422 validation-failed query.n coercion"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := told(ask(t, compile(t, responses(c.responses)), c.request)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestW29_W31_W32_W33_W34_negotiation(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /two: { get: { responses: { "200": { description: d, content: { application/xml: { example: <x/> }, application/json: { example: 1 }, text/plain: { example: t } } } } } }
  /vnd: { get: { responses: { "200": { description: d, content: { application/vnd.x+json: { example: 1 } } } } } }
  /any: { get: { responses: { "200": { description: d, content: { "*/*": { example: t } } } } } }
  /first: { get: { responses: { "200": { description: d, content: { text/csv: { example: c }, text/plain: { example: t } } } } } }
  /empty: { get: { responses: { "204": { description: d } } } }
  /error: { get: { parameters: [{ name: n, in: query, required: true, schema: {} }], responses: { "200": { description: d }, "422": { description: d, content: { application/json: { example: e } } } } } }
`)
	run(t, d, []exchange{
		{"W31 without Accept JSON", "GET /two", "200 application/json 1"},
		{"W31 without Accept the first", "GET /first", "200 text/csv; charset=utf-8 c"},
		{"W31 everything is the first", "GET /two\nAccept: */*", "200 application/xml <x/>"},
		{"W31 by quality", "GET /two\nAccept: application/xml;q=0.5, text/*;q=0.7", "200 text/plain; charset=utf-8 t"},
		{"W31 a quality of zero forbids", "GET /two\nAccept: */*, application/xml;q=0", "200 application/json 1"},
		{"W31 the more specific entry decides", "GET /two\nAccept: text/plain;q=0.1, text/*;q=1, application/json;q=0.5", "200 application/json 1"},
		{"W31 nothing acceptable", "GET /two\nAccept: image/png", "406 not-acceptable"},
		{"W33 suffixes do not match", "GET /vnd\nAccept: application/json", "406 not-acceptable"},
		{"W33 parameters are dropped", "GET /vnd\nAccept: application/vnd.x+json;v=2", "200 application/vnd.x+json 1"},
		{"W32 no content ignores Accept", "GET /empty\nAccept: application/json", "204"},
		{"W32 a range is served as asked", "GET /any\nAccept: application/pdf", "200 application/pdf t"},
		{"W32 a range without a wish", "GET /any", "200 text/plain; charset=utf-8 t"},
		{"W29 errors fall back to the first type", "GET /error\nAccept: image/png", "422 application/json \"e\""},
	})
}

func TestW35_W36_headers(t *testing.T) {
	t.Parallel()
	a := ask(t, compile(t, responses(`'200': { description: d, headers: {
		X-Rate: { schema: { type: integer, example: 5 } }, X-List: { schema: { type: array, items: { type: string, enum: [a] }, minItems: 2 } },
		X-Object: { example: { R: 1, G: 2 }, explode: true }, X-Null: {}, Content-Type: { schema: { type: string } }, Deprecation: { schema: { type: string } },
		X-Bad: { example: "a\nb" }, Access-Control-Allow-Origin: { schema: { type: string } } } }`)), "GET /p")
	got := map[string]string{}
	for _, h := range a.Header {
		got[h.Name] = strings.Join(h.Values, "|")
	}
	want := map[string]string{"X-Rate": "5", "X-List": "a,a", "X-Object": "R=1,G=2"}
	if len(got) != len(want) || got["X-Rate"] != "5" || got["X-List"] != "a,a" || got["X-Object"] != "R=1,G=2" {
		t.Errorf("W36: %q, want %q", got, want)
	}
}

func TestW37_W38_W39_examples(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`components: { examples: { shared: { value: { s: 1 } } } }
paths:
  /order: { get: { responses: { "200": { description: d, content: { application/json: { examples: { b: { value: 1 }, a: { value: 2 } }, example: 3, schema: { type: integer, example: 4 } } } } } } }
  /one: { get: { responses: { "200": { description: d, content: { application/json: { example: 3, schema: { type: integer, example: 4 } } } } } } }
  /schema: { get: { responses: { "200": { description: d, content: { application/json: { schema: { type: integer, example: 4 } } } } } } }
  /null: { get: { responses: { "200": { description: d, content: { application/json: { example: null } } } } } }
  /zero: { get: { responses: { "200": { description: d, content: { application/json: { example: 0, schema: { type: integer } } } } } } }
  /empty: { get: { responses: { "200": { description: d, content: { application/json: { example: "", schema: { type: string } } } } } } }
  /wrong: { get: { responses: { "200": { description: d, content: { application/json: { example: x, schema: { type: integer } } } } } } }
  /ref: { get: { responses: { "200": { description: d, content: { application/json: { examples: { r: { $ref: "#/components/examples/shared" } } } } } } } }
  /text: { get: { responses: { "200": { description: d, content: { application/json: { example: '{"a": 1.50}', schema: { type: object } } } } } } }
`)
	run(t, d, []exchange{
		{"W37 the first of the examples", "GET /order", "200 application/json 1"},
		{"W37 by name", "GET /order?__example=a", "200 application/json 2"},
		{"W37 the example", "GET /one", "200 application/json 3"},
		{"W37 the schema's", "GET /schema", "200 application/json 4"},
		{"W37 an unknown name", "GET /order?__example=c", "404 example-not-defined"},
		{"W38 null is an example", "GET /null", "200 application/json null"},
		{"W38 zero is one", "GET /zero", "200 application/json 0"},
		{"W38 empty text is one", "GET /empty", `200 application/json ""`},
		{"W39 a wrong one is sent as it is", "GET /wrong", `200 application/json "x"`},
		{"W37 a reference", "GET /ref", `200 application/json {"s":1}`},
		{"W37 JSON that is written as text", "GET /text", `200 application/json {"a": 1.50}`},
	})
	if got := warnings(d); !strings.Contains(got, "conflict #/paths/~1wrong/get/responses/200/content/application~1json/example: the example does not fit its schema") {
		t.Errorf("W39: the warnings are %s", got)
	}
}

func TestW30_generated_problems_are_whole(t *testing.T) {
	t.Parallel()
	a := ask(t, compile(t, responses("'200': { description: d }")), "GET /p?n=x")
	var problem struct {
		Type       string               `json:"type"`
		Title      string               `json:"title"`
		Detail     string               `json:"detail"`
		Instance   string               `json:"instance"`
		Status     int                  `json:"status"`
		Violations []mockbase.Violation `json:"violations"`
	}
	if err := json.Unmarshal(a.Body, &problem); err != nil {
		t.Fatal(err)
	}
	if problem.Type != "/docs/problems/validation-failed" || problem.Instance != "xch_1" || problem.Status != http.StatusUnprocessableEntity ||
		len(problem.Violations) != 1 || problem.Violations[0].Severity != "error" || problem.Title == "" || problem.Detail == "" {
		t.Errorf("W30: %s", a.Body)
	}
	if got := headerOf(a, "Mockbase-Violations"); got != "query.n coercion" {
		t.Errorf("W30: the short form is %q", got)
	}
}

func TestW30_answers_of_others_are_compared(t *testing.T) {
	t.Parallel()
	d := compile(t, responses(`'200': { description: d, headers: { X-A: { required: true, schema: { type: integer } } }, content: { application/json: { schema: { type: object, required: [pw, a], properties: { pw: { type: string, writeOnly: true }, a: { type: string } } } } } }`))
	op, _ := d.Find("GET", "/p", "")
	for _, c := range []struct {
		name, header, mediaType, body string
		status                        int
		want                          string
	}{
		{"W18 writeOnly is not required", "1", "application/json", `{"a":"x"}`, 200, ""},
		{"W18 writeOnly never appears", "1", "application/json", `{"a":"x","pw":"y"}`, 200, "response.body.pw not"},
		{"W30 a header is missing", "", "application/json", `{"a":"x"}`, 200, "response.header.X-A missing"},
		{"W30 a header is wrong", "x", "application/json", `{"a":"x"}`, 200, "response.header.X-A coercion"},
		{"W30 another type", "1", "text/html", `<p>`, 200, "response.header.Content-Type mediaType"},
		{"W30 another status", "1", "", "", 500, "response.status unknown"},
		{"W30 no JSON", "1", "application/json", `{`, 200, "response.body parse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{"Content-Type": {c.mediaType}}
			if c.header != "" {
				h.Set("X-A", c.header)
			}
			var list []string
			for _, v := range d.CheckAnswer(op, c.status, h, []byte(c.body)) {
				list = append(list, v.Location+" "+v.Code)
			}
			if got := strings.Join(list, ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
