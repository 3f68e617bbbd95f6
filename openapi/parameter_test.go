package openapi_test

import (
	"fmt"
	"testing"
)

// echo makes a document with one parameter whose schema refuses everything but one value, so that a 204 proves how the
// parameter was read.
func echo(in, style, explode, schema, value string) string {
	target := "/p"
	if in == "path" {
		target = "/p/{c}"
	}
	return head + fmt.Sprintf("paths: { %q: { get: { parameters: [{ name: c, in: %s, required: true, style: %s, explode: %s, schema: { %s, enum: [%s] } }], "+
		"responses: { '204': { description: d } } } } }\n", target, in, style, explode, schema, value)
}

const (
	listOf    = "type: array, items: { type: string }"
	objectOf  = "type: object, properties: { R: { type: integer }, G: { type: integer } }"
	wantList  = "[a, b, c]"
	wantColor = "{ R: 1, G: 2 }"
)

func TestW7_parameters_in_every_style(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, style, explode string
		schema, value      string
		request            sent
	}{
		{"path", "simple", "false", listOf, wantList, "GET /p/a,b,c"},
		{"path", "simple", "false", objectOf, wantColor, "GET /p/R,1,G,2"},
		{"path", "simple", "true", objectOf, wantColor, "GET /p/R=1,G=2"},
		{"path", "label", "false", listOf, wantList, "GET /p/.a,b,c"},
		{"path", "label", "true", listOf, wantList, "GET /p/.a.b.c"},
		{"path", "label", "false", objectOf, wantColor, "GET /p/.R,1,G,2"},
		{"path", "label", "true", objectOf, wantColor, "GET /p/.R=1.G=2"},
		{"path", "matrix", "false", listOf, wantList, "GET /p/;c=a,b,c"},
		{"path", "matrix", "true", listOf, wantList, "GET /p/;c=a;c=b;c=c"},
		{"path", "matrix", "false", objectOf, wantColor, "GET /p/;c=R,1,G,2"},
		{"path", "matrix", "true", objectOf, wantColor, "GET /p/;R=1;G=2"},
		{"header", "simple", "false", listOf, wantList, "GET /p\nC: a,b, c"},
		{"header", "simple", "true", objectOf, wantColor, "GET /p\nC: R=1,G=2"},
		{"query", "form", "true", listOf, wantList, "GET /p?c=a&c=b&c=c"},
		{"query", "form", "false", listOf, wantList, "GET /p?c=a,b,c"},
		{"query", "form", "false", listOf, "['a,b', d]", "GET /p?c=a%2Cb,d"},
		{"query", "form", "true", objectOf, wantColor, "GET /p?R=1&other=x&G=2"},
		{"query", "form", "false", objectOf, wantColor, "GET /p?c=R,1,G,2"},
		{"query", "spaceDelimited", "false", listOf, wantList, "GET /p?c=a%20b%20c"},
		{"query", "spaceDelimited", "false", listOf, wantList, "GET /p?c=a+b+c"},
		{"query", "pipeDelimited", "false", listOf, wantList, "GET /p?c=a|b%7Cc"},
		{"query", "deepObject", "true", objectOf, wantColor, "GET /p?c[R]=1&c%5BG%5D=2"},
		{
			"query", "deepObject", "true", "type: object, properties: { a: { type: array, items: { type: integer } }, b: { type: object, properties: { x: { type: boolean } } } }",
			"{ a: [1, 2], b: { x: true } }", "GET /p?c[a][]=1&c[a][]=2&c[b][x]=true",
		},
		{"cookie", "form", "false", listOf, wantList, "GET /p\nCookie: c=a,b,c"},
		{"cookie", "form", "false", objectOf, wantColor, "GET /p\nCookie: c=R,1,G,2"},
		{"cookie", "form", "true", listOf, wantList, "GET /p\nCookie: x=y; c=a&c=b&c=c"},
		{"cookie", "form", "true", listOf, wantList, "GET /p\nCookie: c=a; c=b; c=c"},
		{"cookie", "form", "true", listOf, "['a&b']", "GET /p\nCookie: c=a%26b"},
		{"cookie", "form", "true", objectOf, wantColor, "GET /p\nCookie: R=1&G=2"},
		{"cookie", "form", "true", objectOf, wantColor, "GET /p\nCookie: G=2; R=1"},
	} {
		t.Run(c.in+" "+c.style+" "+string(c.request), func(t *testing.T) {
			t.Parallel()
			if got := told(ask(t, compile(t, echo(c.in, c.style, c.explode, c.schema, c.value)), c.request)); got != "204" {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestW8_W9_W10_parameters_are_read_strictly(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`paths:
  /p:
    get:
      parameters:
        - { name: n, in: query, schema: { type: integer } }
        - { name: x, in: query, schema: { type: number, maximum: 10 } }
        - { name: b, in: query, schema: { type: boolean } }
        - { name: l, in: query, schema: { type: array, items: { type: integer }, maxItems: 1 } }
        - { name: u, in: query, schema: { type: string, nullable: true, minLength: 1 } }
        - { name: e, in: query, allowEmptyValue: true, schema: { type: integer } }
        - { name: f, in: query, content: { application/json: { schema: { type: object, required: [a] } } } }
        - { name: r, in: query, allowReserved: false, schema: { type: string } }
        - { name: X-Id, in: header, schema: { type: integer } }
        - { name: Accept, in: header, required: true, schema: { type: integer } }
        - { name: big, in: query, schema: { type: integer, format: int32 } }
      responses: { "204": { description: d } }
  /q:
    get: { parameters: [{ name: Page, in: query, required: true, schema: { type: string } }], responses: { "204": { description: d } } }
`)
	run(t, d, []exchange{
		{"W9 an integer may have a fraction of zero", "GET /p?n=1.0", "204"},
		{"W9 hexadecimal is no number", "GET /p?n=0x1", "422 validation-failed query.n coercion"},
		{"W9 a fraction is no integer", "GET /p?n=1.5", "422 validation-failed query.n type"},
		{"W9 one is no boolean", "GET /p?b=1", "422 validation-failed query.b coercion"},
		{"W9 a huge exponent is no trouble", "GET /p?x=1e999999999", "422 validation-failed query.x maximum"},
		{"W9 empty is null where null is allowed", "GET /p?u=", "204"},
		{"W8 a repeated scalar", "GET /p?n=1&n=2", "422 validation-failed query.n type"},
		{"W8 one value is a list of one", "GET /p?l=1", "204"},
		{"W8 two values are a list of two", "GET /p?l=1&l=2", "422 validation-failed query.l maxItems"},
		{"W10 names of headers in any case", "GET /p\nx-id: x", "422 validation-failed header.X-Id coercion"},
		{"W10 names of parameters exactly", "GET /q?page=1", "422 validation-failed query.Page missing"},
		{"W10 an empty value where it is allowed", "GET /p?e", "204"},
		{"W10 reserved characters where they are forbidden", "GET /p?r=a/b", "422 validation-failed query.r coercion"},
		{"W12 a parameter that is a document", "GET /p?f=%7B%22a%22:1%7D", "204"},
		{"W12 a parameter that is a wrong document", "GET /p?f=%7B%7D", "422 validation-failed query.f.a required"},
		{"W12 a parameter that is no document", "GET /p?f=x", "422 validation-failed query.f parse"},
		{"W11 undeclared parameters are ignored", "GET /p?zzz=1", "204"},
		{"W9 formats of numbers hold", "GET /p?big=3000000000", "422 validation-failed query.big format"},
	})
}

func TestW11_strict_documents_refuse_what_they_do_not_declare(t *testing.T) {
	t.Parallel()
	d := compile(t, head+`components: { securitySchemes: { k: { type: apiKey, in: query, name: key } } }
paths:
  /p:
    get: { security: [{ k: [] }], parameters: [{ name: o, in: query, style: deepObject, schema: { type: object } }], responses: { "204": { description: d } } }
    post: { responses: { "204": { description: d } } }
`, strict)
	run(t, d, []exchange{
		{"W11 unknown", "GET /p?key=1&zzz=1&o[a]=1\nCookie: c=1", "422 validation-failed query.zzz unknown, cookie.c unknown"},
		{"W11 controls are known", "GET /p?key=1&__seed=a", "204"},
		{"W14 a body that is not declared", "POST /p\nContent-Type: text/plain\n\nx", "415 unsupported-media-type header.Content-Type mediaType"},
	})
}
