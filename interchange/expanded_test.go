package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

const chosenDocument = `openapi: 3.1.0
info: { title: t, version: "1" }
servers: [ { url: https://a.test/v1 }, { url: https://a.test/v2 } ]
security: [ { k: [] } ]
components: { securitySchemes: { k: { type: http, scheme: bearer } } }
paths:
  /a:
    post:
      parameters: [ { name: q, in: query, required: true, schema: { type: integer } } ]
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses:
        "200": { description: d, content: { application/json: { examples: { one: { value: { ok: 1 } }, two: { value: { ok: 2 } } } }, text/csv: { example: "a,b" } } }
        "404": { description: d, content: { application/json: { examples: { one: { value: { no: 1 } }, two: { value: { no: 2 } } } } } }
  /b: { get: { responses: { "200": { description: d } } } }
`

// M-78: mocks of operations choose among their responses by status, example and media type.
func TestM78_expanded_mocks_choose_their_responses(t *testing.T) {
	t.Parallel()
	source, err := openapi.Parse([]byte(chosenDocument))
	if err != nil {
		t.Fatal(err)
	}
	made := source.Expand(openapi.ExpandOptions{})
	list := make([]string, len(made.Mocks))
	for i, m := range made.Mocks {
		list[i] = string(m.Document.JSON())
	}
	d := decoded(`{"mocks":[` + strings.Join(list, ",") + `]}`)
	h := plane(t, snapshotOf(t, d))
	for ask, want := range map[string]string{
		" ": `"ok":1`, "?__example=two ": `"ok":2`, "?__code=404 ": `"no":1`, "?__code=404&__example=two ": `"no":2`, "?__code=404&__example=one ": `"no":1`,
		" application/json, text/csv;q=0.1": `"ok":1`, " text/csv": "a,b", " text/csv, application/json;q=0.5": "a,b", " text/html, text/csv;q=0.9": "a,b",
		" text/csv;q=0.1, */*": `"ok":1`, " */*": `"ok":1`, " text/csv;q=0": `"not-acceptable"`, "?__code=404 text/csv": `"no":1`,
		" application/json;q=0.8, text/csv;q=0.9": "a,b", " text/csv;q=0.8 , application/json;q=0.9": `"ok":1`, " text/html": "406|", " text/*": "a,b",
		" application/json;q=0, */*": "a,b", " application/json;q=0, text/csv;q=0, */*": "406|", " text/html,*/*;q=0.8": `"ok":1`, " nothing": `"ok":1`,
	} {
		query, accept, _ := strings.Cut(ask, " ")
		raw := "POST /m/a/v1/a" + query + " HTTP/1.1\r\nHost: mocks.test\r\nContent-Length: 0\r\n"
		if accept != "" {
			raw += "Accept: " + accept + "\r\n"
		}
		if got := answerOf(h, raw+"\r\n"); !strings.Contains(got, want) {
			t.Errorf("%s answers %s, wanted %s", ask, got, want)
		}
	}
	var told []string
	for _, w := range made.Warnings {
		if w.Code == mockbase.WarningNotTranslated {
			told = append(told, w.Pointer+" "+w.Detail)
		}
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{"credentials are not asked for: the mocks answer with and without them (2 operations", "parameters are not checked", "bodies of requests", "the first server alone", "qualities of Accept"} {
		if strings.Count(all, want) != 1 || len(told) != 5 {
			t.Errorf("%q: %s", want, all)
		}
	}
}
