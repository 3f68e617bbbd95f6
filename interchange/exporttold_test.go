package interchange_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/openapi"
)

// M-163: the answer that comes without conditions is the first example, so that it is the usual one after an import.
func TestM163_the_usual_answer_is_the_first_example(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`mocks: [{ name: price, request: GET /price, responses: [
		{ name: pro, when: { query: { plan: pro } }, json: { eur: 20 } }, { name: free, json: { eur: 0 } }] }]`))
	made := exported(t, s, interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
	source, err := openapi.Parse(made.Text)
	if err != nil {
		t.Fatal(err)
	}
	document := string(source.Expand(openapi.ExpandOptions{}).Mocks[0].Document.JSON())
	if first, _, _ := strings.Cut(document, `"eur":20`); !strings.Contains(first, `"eur":0`) {
		t.Error(document)
	}
}

// M-163: bytes that are a text by their type are written as one.
func TestM163_bytes_that_are_a_text_are_no_base64(t *testing.T) {
	t.Parallel()
	// <svg/>, {"a":1} and bytes of a picture.
	s := snapshotOf(t, decoded(`mocks:
  - { name: a, request: GET /a, response: { headers: { Content-Type: image/svg+xml }, base64: PHN2Zy8+ } }
  - { name: b, request: GET /b, response: { headers: { Content-Type: application/json }, base64: eyJhIjoxfQ== } }
  - { name: c, request: GET /c, response: { headers: { Content-Type: image/png }, base64: iVBORw== } }
`))
	for format, wants := range map[interchange.Format][]string{
		interchange.FormatOpenAPI: {`"example":"<svg/>"`, `"example":{"a":1}`, `"example":"iVBORw=="`},
		interchange.FormatPostman: {`"body":"<svg/>"`, `"body":"{\"a\":1}"`, `"body":"iVBORw=="`},
	} {
		made := exported(t, s, interchange.ExportOptions{Format: format, As: mockbase.FormatJSON})
		compact := strings.ReplaceAll(strings.ReplaceAll(string(made.Text), "\n", ""), " ", "")
		for _, want := range wants {
			if !strings.Contains(compact, want) {
				t.Errorf("%s: no %s in %s", format, want, compact)
			}
		}
		if len(made.Losses) != 1 || made.Losses[0].Mock != "c" {
			t.Errorf("%s: %+v", format, made.Losses)
		}
	}
}

// M-163: a request of a collection holds one path, and is told to be an example of many.
func TestM163_paths_that_a_collection_cannot_say_are_told(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`mocks:
  - { name: mixed, request: "GET /{name}.{kind}", response: {} }
  - { name: rest, request: "GET /files/{rest...}", response: {} }
  - { name: any, request: "GET /x/*/y", response: {} }
  - { name: expression, request: { pathMatches: "/e/[a-z]+" }, response: {} }
  - { name: stream, request: GET /s, response: { sse: { events: [{ data: a }] } } }
  - { name: twice, request: { path: /t, query: { tag: { all: [go, http] } } }, response: {} }
`))
	made := exported(t, s, interchange.ExportOptions{Format: interchange.FormatPostman})
	said := map[string]string{}
	for _, l := range made.Losses {
		said[l.Mock] += l.Detail + "\n"
	}
	for mock, want := range map[string]string{
		"mixed": "several parts", "rest": "any number of them", "any": "any segment", "expression": "one path", "stream": "saved as one text", "twice": "it is an example",
	} {
		if !strings.Contains(said[mock], want) {
			t.Errorf("%s: %q", mock, said[mock])
		}
	}
	if !strings.Contains(string(made.Text), "tag=go&tag=http") {
		t.Errorf("%s", made.Text)
	}
}

// M-163: every kind of condition is expressed or told of, in each format.
func TestM163_conditions_that_a_format_cannot_say_are_told(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`mocks: [{ name: a, request: { method: POST, path: "/u/{id}", query: { n: { exists: false }, s: { startsWith: x } },
		headers: { X-A: { contains: z }, Authorization: { matches: "K .*" } }, cookies: { c: { search: q } }, body: { json: { k: { $match: { gt: 1 } } } },
		not: { body: { text: { contains: bad } } } },
		responses: [{ name: no, when: { path: { id: { equals: "9" } } }, status: 404, json: { e: 1 } }, { name: ok, json: { a: 1 }, headers: { X-R: [a, b] } }] }]`))
	for format, places := range map[interchange.Format][]string{
		interchange.FormatOpenAPI: {
			"query/n", "query/s", "headers/X-A", "headers/Authorization", "cookies/c", "body/json", "not/body/text", "responses/0/when", "responses/1/headers/X-R",
		},
		interchange.FormatPostman: {"query/n", "query/s", "headers/X-A", "headers/Authorization", "cookies/c", "body/json", "not/body/text"},
	} {
		told := map[string]bool{}
		for _, l := range exported(t, s, interchange.ExportOptions{Format: format}).Losses {
			told[strings.TrimPrefix(strings.TrimPrefix(l.Pointer, "#/"), "request/")] = true
		}
		for _, place := range places {
			if !told[place] {
				t.Errorf("%s: nothing is told of %s, but of %v", format, place, told)
			}
		}
	}
}

// M-163: what a parameter or a field has to equal in every answer is all that it may be in a document, which refuses the rest.
func TestM163_a_document_takes_the_values_that_conditions_take(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`version: 1
mocks:
  - { name: one, request: { path: /one, query: { lang: { in: [de, en] } }, headers: { X-Mode: fast } }, response: { text: one } }
  - { name: open, request: { path: /open, query: { lang: { startsWith: d } } }, response: { text: open } }
  - { name: two, request: { path: /two }, responses: [{ when: { query: { lang: de } }, text: german }, { text: other }] }
  - { name: form, request: { method: POST, path: /form, body: { form: { kind: a } } }, response: { text: form } }
  - { name: part, request: { method: POST, path: /part, body: { json: { a: { b: 1 }, c: [1, 2] } } }, response: { text: part } }
  - { name: exact, request: { method: POST, path: /exact, body: { jsonExact: { a: 1 } } }, response: { text: exact } }
  - { name: plain, request: { method: POST, path: /plain, body: { text: hello } }, response: { text: plain } }
  - { name: filled, request: { method: POST, path: /filled, body: { empty: false } }, response: { text: filled } }
  - { name: loose, request: { method: POST, path: /loose, body: { json: [1], jsonOptions: { ignoreOrder: true } } }, response: { text: loose } }
`))
	file := exported(t, s, interchange.ExportOptions{Format: interchange.FormatOpenAPI, As: mockbase.FormatJSON})
	validDocument(t, file.Text)
	document := mockbase.Document{Name: "a", Inline: file.Text, BasePath: "accept", Requests: "enforce", Responses: "disabled"}
	h := plane(t, &mockbase.Snapshot{Project: &mockbase.Project{
		ID: "prj_a", Slug: "a", Access: mockbase.AccessPublic, Revision: 1, Config: mockbase.Config{Documents: []mockbase.Document{document}},
	}})
	const fast, typed, form = "X-Mode: fast\r\n", "Content-Type: application/json\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"
	for raw, want := range map[string]string{
		rawOf("GET", "/one?lang=de", fast, ""): "200", rawOf("GET", "/one?lang=en", fast, ""): "200", rawOf("GET", "/one?lang=fr", fast, ""): noMatch, rawOf("GET", "/one?lang=de", "X-Mode: slow\r\n", ""): noMatch,
		rawOf("GET", "/open?lang=fr", "", ""): "200", rawOf("GET", "/two?lang=fr", "", ""): "200", rawOf("GET", "/two", "", ""): "200",
		rawOf("POST", "/part", typed, `{"a":{"b":1,"x":2},"c":[1,2],"d":3}`): "200", rawOf("POST", "/part", typed, `{"a":{"b":2},"c":[1,2]}`): noMatch, rawOf("POST", "/part", typed, `{"a":{"b":1}}`): noMatch,
		rawOf("POST", "/exact", typed, `{"a":1}`): "200", rawOf("POST", "/exact", typed, `{"a":1,"b":2}`): noMatch, rawOf("POST", "/loose", typed, `[2,1]`): "200",
		rawOf("POST", "/plain", "Content-Type: text/plain\r\n", "hello"): "200", rawOf("POST", "/plain", "Content-Type: text/plain\r\n", "bye"): noMatch,
		rawOf("POST", "/form", form, "kind=a"): "200", rawOf("POST", "/form", form, "kind=b"): noMatch, rawOf("POST", "/form", form, "x=a"): noMatch,
	} {
		if got := answerOf(h, raw); !strings.HasPrefix(got, want) {
			t.Errorf("%q answers %s, wanted %s\n%s", raw, got, want, file.Text)
		}
	}
}

// M-163: what a document or a collection cannot say of a mock is told, whatever member it is.
func TestM163_documents_and_collections_tell_of_what_they_cannot_say(t *testing.T) {
	t.Parallel()
	const plain = "response: { text: a }"
	for members, wants := range map[string]map[interchange.Format]string{
		`request: { path: /x, trailingSlash: ignore }, ` + plain:                                                                {interchange.FormatOpenAPI: "#/request/trailingSlash", interchange.FormatPostman: "#/request/trailingSlash"},
		`request: { path: /x, method: POST, body: { xml: "<a/>" } }, ` + plain:                                                  {interchange.FormatOpenAPI: "#/request/body/xml"},
		`request: { path: /x, method: POST, body: { jsonExact: { a: 1 }, jsonOptions: { numbersAsStrings: true } } }, ` + plain: {interchange.FormatOpenAPI: "#/request/body/jsonOptions/numbersAsStrings"},
		`request: { path: /x, method: POST, body: { multipart: [{ name: a, filename: b }] } }, ` + plain:                        {interchange.FormatOpenAPI: "#/request/body/multipart/0"},
		`request: { path: /x, method: POST, body: { multipart: [{ name: a }] } }, ` + plain:                                     {interchange.FormatOpenAPI: ""},
		`request: { path: /x, method: POST, body: { json: { a: 1 } } }, ` + plain:                                               {interchange.FormatOpenAPI: "", interchange.FormatPostman: ""},
		`request: { path: /x, method: POST, body: { empty: false } }, ` + plain:                                                 {interchange.FormatPostman: ""},
	} {
		for format, want := range wants {
			s := snapshotOf(t, decoded("version: 1\nmocks:\n  - { name: one, "+members+" }\n"))
			var said []string
			for _, l := range exported(t, s, interchange.ExportOptions{Format: format}).Losses {
				said = append(said, l.Pointer)
			}
			if text := strings.Join(said, " "); text != want {
				t.Errorf("%s, %s: told of %q, wanted %q", format, members, text, want)
			}
		}
	}
	s := snapshotOf(t, decoded("version: 1\ndefaults: { delay: 5ms }\nsettings: { pathCase: ignore, noMatch: { status: 418 } }\nmocks:\n  - { name: one, request: GET /x, response: { text: a } }\n"))
	for _, format := range []interchange.Format{interchange.FormatOpenAPI, interchange.FormatPostman} {
		var said []string
		for _, l := range exported(t, s, interchange.ExportOptions{Format: format}).Losses {
			said = append(said, l.Pointer)
		}
		text := strings.Join(said, " ")
		for _, want := range []string{"#/defaults/delay", "#/settings/pathCase", "#/settings/noMatch"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: nothing is told of %s, only of %s", format, want, text)
			}
		}
	}
}
