package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

func TestWarningsNameTheMockThatHidesAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mocks string
		// want is "code name" for the mock called m, or "".
		want string
	}{
		"same and newer":                  {"- { name: m, request: GET /a, response: {} }\n- { name: o, request: GET /a, response: {} }", "unreachable o"},
		"same and older":                  {"- { name: o, request: GET /a, response: {} }\n- { name: m, request: GET /a, response: {} }", ""},
		"the other is disabled":           {"- { name: m, request: GET /a, response: {} }\n- { name: o, enabled: false, request: GET /a, response: {} }", ""},
		"itself disabled":                 {"- { name: m, enabled: false, request: GET /a, response: {} }\n- { name: o, request: GET /a, response: {} }", ""},
		"higher priority everywhere":      {"- { name: m, request: GET /a/b, response: {} }\n- { name: o, priority: 1, request: 'ANY /**', response: {} }", "unreachable o"},
		"lower priority everywhere":       {"- { name: m, request: GET /a/b, response: {} }\n- { name: o, request: 'ANY /**', response: {} }", ""},
		"parameter over a literal":        {"- { name: m, request: 'GET /a/b', response: {} }\n- { name: o, priority: 1, request: 'GET /{x}/{y}', response: {} }", "unreachable o"},
		"literal over a parameter":        {"- { name: m, request: 'GET /a/{x}', response: {} }\n- { name: o, priority: 1, request: 'GET /a/b', response: {} }", ""},
		"other names of parameters":       {"- { name: m, request: 'GET /a/{x}', response: {} }\n- { name: o, request: 'GET /a/{y}', response: {} }", "unreachable o"},
		"same constraint":                 {"- { name: m, request: 'GET /a/{x:[0-9]+}.b', response: {} }\n- { name: o, request: 'GET /a/{y:[0-9]+}.b', response: {} }", "unreachable o"},
		"another constraint":              {"- { name: m, request: 'GET /a/{x:[0-9]+}', response: {} }\n- { name: o, request: 'GET /a/{y:[0-9]}', response: {} }", ""},
		"rest in the middle":              {"- { name: m, request: 'GET /a/**/z', response: {} }\n- { name: o, request: 'GET /a/{r...}/z', response: {} }", "unreachable o"},
		"rest over rest":                  {"- { name: m, request: 'GET /a/**/z', response: {} }\n- { name: o, priority: 1, request: 'GET /a/**', response: {} }", "unreachable o"},
		"rest needs more":                 {"- { name: m, request: 'GET /a/**', response: {} }\n- { name: o, priority: 1, request: 'GET /a/b/**', response: {} }", ""},
		"guarded other":                   {"- { name: m, request: GET /a, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 } }, response: {} }", ""},
		"fewer methods":                   {"- { name: m, request: { method: [GET, PUT], path: /a }, response: {} }\n- { name: o, request: GET /a, response: {} }", ""},
		"more methods":                    {"- { name: m, request: GET /a, response: {} }\n- { name: o, request: { method: [GET, PUT], path: /a }, response: {} }", "unreachable o"},
		"another host":                    {"- { name: m, request: GET /a, response: {} }\n- { name: o, request: { path: /a, host: h.test }, response: {} }", ""},
		"one host of all":                 {"- { name: m, request: { path: /a, host: h.test }, response: {} }\n- { name: o, request: GET /a, response: {} }", "unreachable o"},
		"slash or not":                    {"- { name: m, request: { path: /a, trailingSlash: ignore }, response: {} }\n- { name: o, request: GET /a, response: {} }", ""},
		"slash or not under a rest":       {"- { name: m, request: { path: /a, trailingSlash: ignore }, response: {} }\n- { name: o, priority: 1, request: 'GET /**', response: {} }", "unreachable o"},
		"tie of guards":                   {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, request: { path: /a, query: { y: 1 } }, response: {} }", "tie o"},
		"no tie with another method":      {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, request: { method: PUT, path: /a, query: { y: 1 } }, response: {} }", ""},
		"no tie with another priority":    {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { y: 1 } }, response: {} }", ""},
		"same guards and more priority":   {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 } }, response: {} }", "unreachable o"},
		"same guards and less priority":   {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: -1, request: { path: /a, query: { x: 1 } }, response: {} }", ""},
		"same guards and newer":           {"- { name: m, request: { path: /a, headers: { X-A: 1 } }, response: {} }\n- { name: o, request: { path: /a, headers: { x-a: 1 } }, response: {} }", "unreachable o"},
		"fewer guards and more priority":  {"- { name: m, request: { path: /a, query: { x: 1, y: [2, 3] }, body: { json: { a: 1 }, jsonPath: { $.b: 2 } } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { y: 3 }, body: { jsonPath: { $.b: 2 } } }, response: {} }", "unreachable o"},
		"more guards and more priority":   {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1, y: 2 } }, response: {} }", ""},
		"other values":                    {"- { name: m, request: { path: /a, query: { x: null } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: { exists: true } } }, response: {} }", ""},
		"parts of all of them":            {"- { name: m, request: { path: /a, allOf: [{ query: { x: 1 } }], cookies: { c: d } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 } }, response: {} }", "unreachable o"},
		"same alternatives":               {"- { name: m, request: { path: /a, anyOf: [{ query: { x: 1 } }, { query: { y: 1 } }], query: { z: 1 } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, anyOf: [{ query: { x: 1 } }, { query: { y: 1 } }] }, response: {} }", "unreachable o"},
		"other alternatives":              {"- { name: m, request: { path: /a, anyOf: [{ query: { x: 1 } }, { query: { y: 1 } }] }, response: {} }\n- { name: o, priority: 1, request: { path: /a, anyOf: [{ query: { x: 1 } }] }, response: {} }", ""},
		"same negation":                   {"- { name: m, request: { path: /a, not: { query: { x: 1 } } }, response: {} }\n- { name: o, request: { path: /a, not: { query: { x: 1 } } }, response: {} }", "unreachable o"},
		"same guards and few times":       {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, times: 1, request: { path: /a, query: { x: 1 } }, response: {} }", ""},
		"same guards and disabled":        {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, enabled: false, request: { path: /a, query: { x: 1 } }, response: {} }", ""},
		"same guards in one state":        {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, scenario: s, state: a, request: { path: /a, query: { x: 1 } }, response: {} }", ""},
		"same guards in the same state":   {"- { name: m, scenario: s, state: a, request: { path: /a }, response: {} }\n- { name: o, scenario: s, state: [b, a], request: { path: /a }, response: {} }", "unreachable o"},
		"same guards in another scenario": {"- { name: m, scenario: s, state: a, request: { path: /a }, response: {} }\n- { name: o, priority: 1, scenario: r, state: a, request: { path: /a }, response: {} }", ""},
		"same guards strictly":            {"- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 }, strictQuery: true }, response: {} }", ""},
		"same guards both strictly":       {"- { name: m, request: { path: /a, query: { x: 1 }, strictQuery: true }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 }, strictQuery: true }, response: {} }", "unreachable o"},
		"fewer guards both strictly":      {"- { name: m, request: { path: /a, query: { x: 1, y: 2 }, strictQuery: true }, response: {} }\n- { name: o, priority: 1, request: { path: /a, query: { x: 1 }, strictQuery: true }, response: {} }", ""},
		"matching constraint":             {"- { name: m, request: GET /a/5, response: {} }\n- { name: o, priority: 1, request: 'GET /a/{x:[0-9]+}', response: {} }", "unreachable o"},
		"mixed segment":                   {"- { name: m, request: GET /a/5.json, response: {} }\n- { name: o, priority: 1, request: 'GET /a/{x}.json', response: {} }", "unreachable o"},
		"constraint that does not match":  {"- { name: m, request: GET /a/b, response: {} }\n- { name: o, priority: 1, request: 'GET /a/{x:[0-9]+}', response: {} }", ""},
		"constraint of less priority":     {"- { name: m, request: GET /a/5, response: {} }\n- { name: o, request: 'GET /a/{x:[0-9]+}', response: {} }", ""},
		"matching expression":             {"- { name: m, request: GET /a/5, response: {} }\n- { name: o, priority: 1, request: { pathMatches: '/a/.*' }, response: {} }", "unreachable o"},
		"expression that does not match":  {"- { name: m, request: GET /a/5, response: {} }\n- { name: o, priority: 1, request: { pathMatches: '/a/[a-z]' }, response: {} }", ""},
		"expression without the slash":    {"- { name: m, request: { path: /a/5, trailingSlash: ignore }, response: {} }\n- { name: o, priority: 1, request: { pathMatches: '/a/[0-9]' }, response: {} }", ""},
		"expression and a parameter":      {"- { name: m, request: 'GET /a/{x}', response: {} }\n- { name: o, priority: 1, request: { pathMatches: '/a/[0-9]' }, response: {} }", ""},
		"same expression":                 {"- { name: m, request: { pathMatches: '/a/.*' }, response: {} }\n- { name: o, request: { pathMatches: '/a/.*' }, response: {} }", "unreachable o"},
		"another expression":              {"- { name: m, request: { pathMatches: '/a/.*' }, response: {} }\n- { name: o, request: { pathMatches: '/a/b.*' }, response: {} }", ""},
		"host of a domain":                {"- { name: m, request: { path: /a, host: a.test }, response: {} }\n- { name: o, request: { path: /a, host: '*.test' }, response: {} }", "unreachable o"},
		"host of a domain and older":      {"- { name: o, request: { path: /a, host: '*.test' }, response: {} }\n- { name: m, request: { path: /a, host: a.test }, response: {} }", ""},
		"domain of a host":                {"- { name: m, request: { path: /a, host: '*.test' }, response: {} }\n- { name: o, request: { path: /a, host: a.test }, response: {} }", ""},
		"the domain itself":               {"- { name: m, request: { path: /a, host: test }, response: {} }\n- { name: o, request: { path: /a, host: '*.test' }, response: {} }", ""},
		"domain below a domain":           {"- { name: m, request: { path: /a, host: '*.b.test:80' }, response: {} }\n- { name: o, request: { path: /a, host: '*.test' }, response: {} }", "unreachable o"},
		"port of a host":                  {"- { name: m, request: { path: /a, host: a.test }, response: {} }\n- { name: o, request: { path: /a, host: 'a.test:80' }, response: {} }", ""},
		"HEAD under GET":                  {"- { name: m, request: HEAD /a, response: {} }\n- { name: o, priority: 3, request: GET /a, response: {} }", "unreachable o"},
		"HEAD beside GET":                 {"- { name: m, request: HEAD /a, response: {} }\n- { name: o, request: GET /a, response: {} }", ""},
		"GET and HEAD beside GET":         {"- { name: m, request: { method: [GET, HEAD], path: /a }, response: {} }\n- { name: o, request: GET /a, response: {} }", ""},
		"TRACE under ANY":                 {"- { name: m, request: TRACE /a, response: {} }\n- { name: o, priority: 3, request: ANY /a, response: {} }", ""},
		"empty segments":                  {"- { name: m, request: GET /a/, response: {} }\n- { name: o, priority: 1, request: 'GET /a/{x}', response: {} }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, engine.Options{})
			d, err := mockbase.DecodeDefinition([]byte("scenarios: { s: {}, r: {} }\nmocks:\n"+c.mocks), mockbase.FormatYAML)
			if err != nil {
				t.Fatal(err)
			}
			s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1}, Mocks: d.Mocks}
			for round := range 2 {
				if got := warningsOf(e, s); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if round == 0 {
					// The published program gives the same.
					if err := e.Publish(s); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// warningsOf are those of the mock m.
func warningsOf(e *engine.Engine, s *mockbase.Snapshot) string {
	for _, m := range s.Mocks {
		if m.Name != "m" {
			continue
		}
		for _, w := range e.Warnings(s, m) {
			if w.Pointer != "#/request" {
				return "pointer " + w.Pointer
			}
			_, rest, _ := strings.Cut(w.Detail, `mock "`)
			other, _, _ := strings.Cut(rest, `"`)
			return string(w.Code) + " " + other
		}
	}
	return ""
}

// Rule C7: what one mock wants is what the other denies, or another value of what has one alone.
func TestC7_mocks_whose_conditions_exclude_one_another_do_not_tie(t *testing.T) {
	t.Parallel()
	for conditions, want := range map[[2]string]string{
		{"query: { x: { exists: true } }", "query: { x: { exists: false } }"}:                                          "",
		{"query: { x: 1 }", "query: { x: { not: 1 } }"}:                                                                "",
		{"headers: { X: 1 }", "headers: { x: { not: 1 } }"}:                                                            "",
		{"query: { x: 1 }", "not: { query: { x: 1 } }"}:                                                                "",
		{"query: { x: 1 }", "query: { x: 2 }"}:                                                                         "tie o",
		{"query: { x: { lt: 10 } }", "query: { x: { gte: 10 } }"}:                                                      "tie o",
		{"query: { x: 1 }", "query: { x: { not: 2 } }"}:                                                                "tie o",
		{"cookies: { x: 1 }", "headers: { x: { not: 1 } }"}:                                                            "tie o",
		{"body: { jsonPath: { $.a: 1 } }", "body: { jsonPath: { $.a: 2 } }"}:                                           "",
		{"body: { jsonPath: { '$.a[*]': 1 } }", "body: { jsonPath: { '$.a[*]': 2 } }"}:                                 "tie o",
		{"body: { jsonPath: { $.a: { in: [1, 2] } } }", "body: { jsonPath: { $.a: { in: [3] } } }"}:                    "",
		{"body: { jsonPath: { $.a: { in: [1, 2] } } }", "body: { jsonPath: { $.a: { in: [2, 3] } } }"}:                 "tie o",
		{"body: { jsonPath: { $.a: { lt: 10 } } }", "body: { jsonPath: { $.a: { gte: 10 } } }"}:                        "",
		{"body: { jsonPath: { $.a: { lte: 10 } } }", "body: { jsonPath: { $.a: { gte: 10 } } }"}:                       "tie o",
		{"body: { empty: true }", "body: { json: 1 }"}:                                                                 "",
		{"body: { jsonPath: { $.type: a } }", "body: { json: { type: b } }"}:                                           "",
		{"body: { jsonPath: { $.type: a } }", "body: { json: { type: a } }"}:                                           "tie o",
		{"anyOf: [{ query: { x: 1 } }, { query: { y: 1 } }]", "query: { x: { exists: false }, y: { exists: false } }"}: "",
		{"anyOf: [{ query: { x: 1 } }, { query: { y: 1 } }]", "query: { x: { exists: false } }"}:                       "tie o",
	} {
		text := "mocks:\n- { name: m, request: { method: POST, path: /a, " + conditions[0] + " }, response: {} }\n" +
			"- { name: o, request: { method: POST, path: /a, " + conditions[1] + " }, response: {} }"
		d, err := mockbase.DecodeDefinition([]byte(text), mockbase.FormatYAML)
		if err != nil {
			t.Fatal(err)
		}
		s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: 1}, Mocks: d.Mocks}
		if got := warningsOf(newEngine(t, engine.Options{}), s); got != want {
			t.Errorf("%v: %q, want %q", conditions, got, want)
		}
	}
}

// What is about to be added, and what was added since, has the warnings that it has once it is published.
func TestWarningsOfTheNewestMockAreThoseThatItGetsWhenItIsPublished(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"hidden":             "- { name: o, priority: 1, request: GET /a, response: {} }\n- { name: m, request: GET /a, response: {} }",
		"not hidden":         "- { name: o, request: GET /a, response: {} }\n- { name: m, request: GET /a, response: {} }",
		"beside it":          "- { name: o, request: GET /b, response: {} }\n- { name: m, request: GET /a, response: {} }",
		"tie":                "- { name: o, priority: 0, request: { path: /a, query: { y: 1 } }, response: {} }\n- { name: m, request: { path: /a, query: { x: 1 } }, response: {} }",
		"a scenario's":       "- { name: o, request: GET /a, response: {} }\n- { name: m, scenario: s, request: GET /a, response: {} }",
		"disabled":           "- { name: o, priority: 1, request: GET /a, response: {} }\n- { name: m, enabled: false, request: GET /a, response: {} }",
		"its only neighbour": "- { name: m, request: GET /a, response: {} }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := mockbase.DecodeDefinition([]byte("mocks:\n"+text), mockbase.FormatYAML)
			if err != nil {
				t.Fatal(err)
			}
			at := func(revision int64, mocks int) *mockbase.Snapshot {
				return &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: revision}, Mocks: d.Mocks[:mocks]}
			}
			e := newEngine(t, engine.Options{})
			if err := e.Publish(at(1, len(d.Mocks)-1)); err != nil {
				t.Fatal(err)
			}
			next := at(2, len(d.Mocks))
			before := warningsOf(e, next)
			e.Prepare(next)
			if err := e.Publish(next); err != nil {
				t.Fatal(err)
			}
			if got := warningsOf(e, next); got != before {
				t.Errorf("%q, and %q before it was published", got, before)
			}
			// A snapshot that was read before the next one was published is looked at with what is served.
			if err := e.Publish(at(3, len(d.Mocks))); err != nil {
				t.Fatal(err)
			}
			if got := warningsOf(e, next); got != before {
				t.Errorf("%q, and %q when another one was published", got, before)
			}
		})
	}
}

func TestY6_what_was_prepared_is_served_when_it_is_published_and_not_before(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	at := func(revision int64, text string) *mockbase.Snapshot {
		d, err := mockbase.DecodeDefinition([]byte("mocks: [{ name: m, request: GET /a, response: { text: "+text+" } }]"), mockbase.FormatYAML)
		if err != nil {
			t.Fatal(err)
		}
		return &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Revision: revision}, Mocks: d.Mocks}
	}
	served := func(want string) {
		t.Helper()
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/m/shop/a", http.NoBody))
		if w.Body.String() != want {
			t.Errorf("%q is served, want %q", w.Body, want)
		}
	}
	publish := func(s *mockbase.Snapshot) {
		t.Helper()
		if err := e.Publish(s); err != nil {
			t.Fatal(err)
		}
	}
	publish(at(1, "one"))
	second := at(2, "two")
	e.Prepare(second)
	served("one")
	publish(second)
	served("two")
	// What was prepared to follow another one, or is not what is published, is not used.
	e.Prepare(at(3, "three"))
	publish(at(4, "four"))
	served("four")
	publish(second)
	served("four")
}

func TestWarningsOfAStrangeMockAreNone(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{})
	s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop"}, Mocks: []*mockbase.Mock{textMock("a", "/a", "x")}}
	if w := e.Warnings(s, textMock("a", "/a", "x")); w != nil {
		t.Error(w)
	}
	broken := &mockbase.Snapshot{Project: s.Project, Mocks: []*mockbase.Mock{textMock("a", "/{", "x")}}
	if w := e.Warnings(broken, broken.Mocks[0]); w != nil {
		t.Error(w)
	}
}

// Rule A2: age decides nothing between mocks of which no request satisfies both.
func TestA2_mocks_that_exclude_one_another_do_not_tie(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`
scenarios: { s: {} }
mocks:
  - { request: POST /a, scenario: s, state: one, response: { setState: two } }
  - { request: POST /a, scenario: s, state: two, response: { setState: one } }
  - { request: POST /a, scenario: s, state: [one, three], response: { setState: two } }`: 1,
		`
mocks:
  - { request: { method: POST, path: /g, body: { graphql: { operationName: A } } }, response: {} }
  - { request: { method: POST, path: /g, body: { graphql: { operationName: B } } }, response: {} }
  - { request: { method: POST, path: /g, body: { json: { query: x } } }, response: {} }`: 2,
	} {
		d, err := mockbase.DecodeDefinition([]byte(text), mockbase.FormatYAML)
		if err != nil {
			t.Fatal(err)
		}
		s := &mockbase.Snapshot{Project: &mockbase.Project{ID: "prj_1", Slug: "shop", Config: d.Config}, Mocks: d.Mocks}
		e := newEngine(t, engine.Options{})
		ties := 0
		for _, m := range s.Mocks {
			ties += len(e.Warnings(s, m))
		}
		if ties != want {
			t.Errorf("%s has %d ties, want %d", text, ties, want)
		}
	}
}

// Rule V1: where two collections have one path, the younger answers, unless a priority says otherwise.
func TestV1_collections_at_one_path_are_told_of(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{ a: {}, b: { path: /a } }":                                  "#/collections/a collection \"b\" has the same path \"/a\" and comes first: it answers GET, POST there",
		"{ a: { priority: 1 }, b: { path: /a } }":                     "#/collections/b collection \"a\" has the same path \"/a\" and comes first: it answers GET, POST there",
		"{ a: { singular: true }, b: { path: /a } }":                  "#/collections/a collection \"b\" has the same path \"/a\" and comes first: it answers GET there",
		"{ a: { path: /caf%C3%A9 }, b: { path: /café } }":             "#/collections/a collection \"b\" has the same path \"/caf%C3%A9\" and comes first: it answers GET, POST there",
		"{ a: {}, b: { relations: { aId: { to: a } } }, c: {} }":      "",
		"{ a: {}, b: { path: /a/b }, c: { path: /A } }":               "",
		"{ a: { seedFile: none.json }, b: { path: /a, seed: [{}] } }": "#/collections/a collection \"b\" has the same path \"/a\" and comes first: it answers GET, POST there",
	} {
		d, err := mockbase.DecodeDefinition([]byte("collections: "+text), mockbase.FormatYAML)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range newEngine(t, engine.Options{}).ConfigWarnings(&d.Config) {
			if w.Code != mockbase.WarningUnreachable {
				t.Errorf("%s: code %s", text, w.Code)
			}
			got = append(got, w.Pointer+" "+w.Detail)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// Rule Y10: a project's word about the sandbox counts only where the operator lets it.
func TestY10_a_switch_without_effect_is_a_warning(t *testing.T) {
	t.Parallel()
	off := &mockbase.Config{Settings: mockbase.Settings{NoBrowserSandbox: true}}
	for name, c := range map[string]struct {
		options engine.Options
		config  *mockbase.Config
		want    int
	}{
		"operator decides": {engine.Options{SharedOrigin: true}, off, 1},
		"project decides":  {engine.Options{SharedOrigin: true, Sandbox: engine.SandboxProject}, off, 0},
		"off anyway":       {engine.Options{SharedOrigin: true, Sandbox: engine.SandboxOff}, off, 0},
		"own origin":       {engine.Options{}, off, 0},
		"not asked for":    {engine.Options{SharedOrigin: true}, &mockbase.Config{}, 0},
	} {
		if got := newEngine(t, c.options).ConfigWarnings(c.config); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
