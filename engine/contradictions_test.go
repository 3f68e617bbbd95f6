package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// contradictionsOf are the warnings of the only mock of a definition: code, pointer and detail, a line each.
func contradictionsOf(t *testing.T, mock string) string {
	t.Helper()
	d, err := mockbase.DecodeDefinition([]byte("scenarios: { s: { initial: a } }\nmocks:\n- "+mock), mockbase.FormatYAML)
	if err != nil {
		t.Errorf("%s: %v", mock, err)
		return ""
	}
	e := newEngine(t, engine.Options{})
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}, Mocks: d.Mocks}
	for _, m := range s.Mocks {
		if faults := e.CheckMock(&s.Project.Config, m); len(faults) > 0 {
			t.Errorf("%s: %v", mock, faults)
		}
	}
	var lines []string
	for _, w := range e.Warnings(s, s.Mocks[0]) {
		lines = append(lines, string(w.Code)+" "+w.Pointer+" "+w.Detail)
	}
	return strings.Join(lines, "\n")
}

const (
	neverAnswers  = " the mock never answers, as "
	neverChosen   = " the response is never chosen, as "
	ofTheTwo      = ": change or remove one of the two"
	changeOrLeave = ": change or remove it"
)

func TestConditionsThatNeverHoldAreWarnedOf(t *testing.T) {
	t.Parallel()
	for mock, want := range map[string]string{
		`{ request: { path: /a, query: { n: { gt: 5, lt: 3 } } }, response: {} }`:                                                                             "unreachable #/request/query/n/lt" + neverAnswers + "lt 3 excludes gt 5" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5, m: 6 } }, response: {} }`:                                                                                      "",
		`{ request: { path: /a, query: { n: 5 }, allOf: [{ query: { n: { not: 5 } } }] }, response: {} }`:                                                     "unreachable #/request/allOf/0/query/n/not" + neverAnswers + "not equals 5 excludes equals 5" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5 }, allOf: [{ query: { n: 6 } }] }, response: {} }`:                                                              "",
		`{ request: { path: /a, query: { n: 5 }, not: { query: { n: 5 } } }, response: {} }`:                                                                  "unreachable #/request/not/query/n" + neverAnswers + "not equals 5 excludes equals 5" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5 }, not: { query: { n: 6 } } }, response: {} }`:                                                                  "",
		`{ request: { path: /a, query: { n: { exists: true } }, not: { query: { n: { exists: true } } } }, response: {} }`:                                    "unreachable #/request/query/n/exists" + neverAnswers + "exists true excludes exists false" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5, m: 6 }, not: { query: { n: 5, m: 6 } } }, response: {} }`:                                                      "unreachable #/request/not" + neverAnswers + "not excludes what stands beside it, which is the same" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5 }, anyOf: [{ query: { n: { not: 5 } } }, { headers: { X: 1 } }] }, response: {} }`:                              "unused #/request/anyOf/0/query/n/not not equals 5 excludes equals 5, so that this alternative never counts" + ofTheTwo,
		`{ request: { path: /a, query: { n: 5 }, anyOf: [{ query: { n: { not: 5 } } }] }, response: {} }`:                                                     "unreachable #/request/anyOf" + neverAnswers + "no alternative can hold: not equals 5 excludes equals 5" + ofTheTwo,
		`{ request: { path: /a, not: { query: { n: { gt: 5, lt: 3 } } } }, response: {} }`:                                                                    "unused #/request/not/query/n/lt lt 3 excludes gt 5, so that the negation always holds" + ofTheTwo,
		`{ request: { path: /a, headers: { X: " a" } }, response: {} }`:                                                                                       "unreachable #/request/headers/X" + neverAnswers + "equals  a never holds: blanks at the ends of a header do not belong to its value" + changeOrLeave,
		`{ request: { path: /a, headers: { X: "a, b" }, allOf: [{ headers: { x: { not: "a, b" } } }] }, response: {} }`:                                       "unreachable #/request/allOf/0/headers/x/not" + neverAnswers + "not equals a, b excludes equals a, b" + ofTheTwo,
		`{ request: { path: /a, cookies: { s: "a;b" } }, response: {} }`:                                                                                      "unreachable #/request/cookies/s" + neverAnswers + "equals a;b never holds: a semicolon ends the value of a cookie" + changeOrLeave,
		`{ request: { path: /a, auth: { basic: { username: "a:b" } } }, response: {} }`:                                                                       "unreachable #/request/auth/basic/username" + neverAnswers + "equals a:b never holds: the first colon ends the user name" + changeOrLeave,
		`{ request: { path: /a, auth: { bearer: [a, b] } }, response: {} }`:                                                                                   "unreachable #/request/auth/bearer/1" + neverAnswers + "equals b excludes equals a" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { size: { gt: 5, lt: 3 } } }, response: {} }`:                                                             "unreachable #/request/body/size/lt" + neverAnswers + "lt 3 excludes gt 5" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { empty: false, size: 0 } }, response: {} }`:                                                              "unreachable #/request/body/size" + neverAnswers + "equals 0 never holds: it is a whole number of at least 1" + changeOrLeave,
		`{ request: { method: POST, path: /a, body: { empty: true, json: { a: 1 } } }, response: {} }`:                                                        "unreachable #/request/body/json" + neverAnswers + "json excludes empty: true" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { empty: true, size: 0, text: "" } }, response: {} }`:                                                     "",
		`{ request: { method: POST, path: /a, body: { empty: true, form: { a: { exists: false } } } }, response: {} }`:                                        "",
		`{ request: { method: POST, path: /a, body: { text: { exists: false } } }, response: {} }`:                                                            "unreachable #/request/body/text/exists" + neverAnswers + "there always is a value here, be it an empty one" + changeOrLeave,
		`{ request: { method: POST, path: /a, body: { text: [a, b] } }, response: {} }`:                                                                       "unreachable #/request/body/text/1" + neverAnswers + "equals b excludes equals a" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { text: "{}", xpath: { /a: x } } }, response: {} }`:                                                       "unreachable #/request/body/xpath/~1a" + neverAnswers + "xpath /a excludes text {}" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { base64: AP8=, size: 3 } }, response: {} }`:                                                              "unreachable #/request/body/size" + neverAnswers + "size excludes base64" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { json: { a: 1 }, xml: "<a/>" } }, response: {} }`:                                                        "unreachable #/request/body/xml" + neverAnswers + "xml excludes json, as no body is both JSON and XML" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { json: { a: 1 }, jsonPath: { $.a: 2 } } }, response: {} }`:                                               "unreachable #/request/body/jsonPath/$.a" + neverAnswers + "jsonPath $.a excludes json, which has another value there" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { json: { a: 1 }, jsonPath: { $.a: { gt: 0 }, $.b: 2 } } }, response: {} }`:                               "",
		`{ request: { method: POST, path: /a, body: { jsonExact: { a: 1 }, jsonPath: { $.b: 2 } } }, response: {} }`:                                          "unreachable #/request/body/jsonPath/$.b" + neverAnswers + "jsonPath $.b excludes jsonExact" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { jsonExact: { a: 1 }, schema: { required: [b] } } }, response: {} }`:                                     "unreachable #/request/body/schema" + neverAnswers + "schema excludes jsonExact" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { jsonPath: { $.a: [1, 2] } } }, response: {} }`:                                                          "unreachable #/request/body/jsonPath/$.a/1" + neverAnswers + "equals 2 excludes equals 1" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { jsonPath: { "$.a[*]": [1, 2] } } }, response: {} }`:                                                     "",
		`{ request: { method: POST, path: /a, body: { json: { a: { $match: { gt: 5, type: string } } } } }, response: {} }`:                                   "unreachable #/request/body/json/a/$match/type" + neverAnswers + "type string excludes gt 5" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { xpath: { "count(/a/b)": [{ exists: false }, 0] } } }, response: {} }`:                                   "",
		`{ request: { method: POST, path: /a, body: { multipart: [{ filename: a/b.txt }] } }, response: {} }`:                                                 "unreachable #/request/body/multipart/0/filename" + neverAnswers + "equals a/b.txt never holds: of a path, the last component alone is the name" + changeOrLeave,
		`{ request: { method: POST, path: /a, body: { multipart: [{ name: a, body: { size: { lt: 0 } } }] } }, response: {} }`:                                "unreachable #/request/body/multipart/0/body/size/lt" + neverAnswers + "lt 0 never holds: it is a whole number of at least 0" + changeOrLeave,
		`{ request: { method: POST, path: /a, headers: { Content-Type: { mediaType: application/json } }, body: { form: { a: 1 } } }, response: {} }`:         "unreachable #/request/body/form" + neverAnswers + "form excludes the Content-Type application/json, by which no form is read" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { graphql: { query: "mutation { a }", operation: query } } }, response: {} }`:                             "unreachable #/request/body/graphql/operation" + neverAnswers + "operation query excludes query, which is a mutation" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { graphql: { query: "query A { a }", operationName: B } } }, response: {} }`:                              "unreachable #/request/body/graphql/operationName" + neverAnswers + "operationName equals B excludes query, whose operation is called A" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { graphql: { query: "{ a }", operationName: B } } }, response: {} }`:                                      "unreachable #/request/body/graphql/operationName" + neverAnswers + "operationName equals B excludes query, whose operation has no name" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { graphql: { query: "{ a b }", fields: c } } }, response: {} }`:                                           "unreachable #/request/body/graphql/fields" + neverAnswers + "fields equals c excludes query, whose fields are a, b" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { graphql: { query: "query A { a }", operationName: A, operation: query, fields: a } } }, response: {} }`: "",
		`{ request: { path: /a, body: { graphql: { operation: mutation } } }, response: {} }`:                                                                 "unreachable #/request/body/graphql" + neverAnswers + "a mutation excludes the method GET, which cannot carry it; write method: POST" + ofTheTwo,
		`{ request: { rawTarget: "/a?x=1", query: { x: 2 } }, response: {} }`:                                                                                 "unreachable #/request/query/x" + neverAnswers + "it excludes rawTarget, whose query is known" + ofTheTwo,
		`{ request: { rawTarget: "/a?x=1", query: { x: 1 } }, response: {} }`:                                                                                 "",
		`{ request: { rawTarget: "/a?x=1", strictQuery: true }, response: {} }`:                                                                               `unreachable #/request/strictQuery` + neverAnswers + `strictQuery excludes "x" of rawTarget, which query does not mention` + ofTheTwo,
		`{ request: 'GET /a/{id}', responses: [{ when: { path: { id: [a, b] } } }, {}] }`:                                                                     "unreachable #/responses/0/when/path/id/1" + neverChosen + "equals b excludes equals a" + ofTheTwo,
		`{ request: 'GET /a/{id}', responses: [{ when: { path: { di: a } } }, {}] }`:                                                                          `unreachable #/responses/0/when/path/di` + neverChosen + `the path has no parameter "di", did you mean "id"?` + changeOrLeave,
		`{ request: 'GET /a/{x}.{y:[0-9]+}/{rest...}', responses: [{ when: { path: { x: a, y: 1, rest: b } } }, {}] }`:                                        "",
		`{ request: { pathMatches: '/a/(?P<id>.*)' }, responses: [{ when: { path: { id: a } } }, {}] }`:                                                       "",
		`{ request: { path: /a }, responses: [{ when: { call: { lt: 1 } } }, {}] }`:                                                                           "unreachable #/responses/0/when/call/lt" + neverChosen + "lt 1 never holds: it is a whole number of at least 1" + changeOrLeave,
		`{ scenario: s, state: a, request: { path: /a }, responses: [{ when: { state: b } }, {}] }`:                                                           "unreachable #/responses/0/when/state" + neverChosen + "state b excludes state a" + ofTheTwo,
		`{ scenario: s, state: [a, b], request: { path: /a }, responses: [{ when: { state: b } }, {}] }`:                                                      "",
		`{ request: { method: POST, path: /a, body: { text: a } }, responses: [{ when: { body: { text: b } } }, {}] }`:                                        "unreachable #/responses/0/when/body/text" + neverChosen + "equals b excludes equals a" + ofTheTwo,
		`{ request: { method: POST, path: /a, body: { json: { a: 1 } } }, responses: [{ when: { body: { json: { a: 2 } } } }, {}] }`:                          "unreachable #/responses/0/when/body" + neverChosen + "this excludes what stands at #/request/body, as no body is as both want it" + ofTheTwo,
		`{ request: GET /a, response: { webSocket: { onMessage: [{ when: { text: [a, b] }, reply: [{ text: c }] }] } } }`:                                     "unreachable #/response/webSocket/onMessage/0/when/text/1 the entry never answers, as equals b excludes equals a" + ofTheTwo,
	} {
		if got := contradictionsOf(t, mock); got != want {
			t.Errorf("%s\n got %q\nwant %q", mock, got, want)
		}
	}
}

// What looks for contradictions stops when a mock has more conditions than anybody writes.
func TestContradictionsAreLookedForWithinBounds(t *testing.T) {
	t.Parallel()
	alternatives := strings.Repeat("{ anyOf: [{ query: { a: 1 } }, { query: { b: 2 } }, { query: { c: { in: [1, 2, 3] } } }] },", 300)
	mock := "{ request: { path: /a, allOf: [" + alternatives + "] }, response: {} }"
	if got := contradictionsOf(t, mock); got != "" {
		t.Error(got)
	}
}

// No mock of the corpus is said never to answer: a warning about what does answer would be worse than none.
func TestNoMockThatAnswersIsSaidNeverTo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchange/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	e := newEngine(t, engine.Options{})
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			d, err := mockbase.DecodeDefinition(f.Data, mockbase.FormatYAML)
			if err != nil {
				continue // It is no definition, or one that is refused on purpose.
			}
			s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1, Config: d.Config}, Mocks: d.Mocks}
			for _, m := range s.Mocks {
				for _, w := range e.Warnings(s, m) {
					if strings.Contains(w.Detail, strings.TrimSpace(neverAnswers)) || strings.Contains(w.Detail, strings.TrimSpace(neverChosen)) {
						t.Errorf("%s: %s: %+v", file, m.Name, w)
					}
				}
			}
		}
	}
}
