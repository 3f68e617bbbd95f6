package body_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/engine/body"
	"github.com/mockbase/mockbase/internal/testkit"
)

// asked is the line of a request.
type asked struct {
	method string
	query  map[string]string
}

func (a asked) Method() string { return a.method }

func (a asked) Parameter(name string) (string, bool) {
	text, ok := a.query[name]
	return text, ok
}

// sends is the JSON body of a GraphQL request.
func sends(query, name, variables string) string {
	sent := map[string]any{"query": query}
	if name != "" {
		sent["operationName"] = name
	}
	if variables != "" {
		sent["variables"] = json.RawMessage(variables)
	}
	text, err := json.Marshal(sent)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// expects is a match on the document.
func expects(query string) string { return `{"graphql":` + sends(query, "", "") + `}` }

func TestGraphQL_documents_compare_by_meaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, expected, sent string
		want                 bool
	}{
		{"blanks and commas", `{ a, b }`, "query\n{\ta b\n}", true},
		{"comments", "{ a }", "# first\n{ # second\n a # third\n}", true},
		{"a byte order mark", "{ a }", "\ufeff{a}", true},
		{"the order of arguments", `{ a(x: 1, y: {p: 1, q: [2 3]}) }`, `{a(y:{q:[2,3],p:1},x:1)}`, true},
		{"the order of variables", `query($a: Int, $b: [T!]! = []) { x }`, `query($b:[T!]!=[]$a:Int){x}`, true},
		{"the order of fields is the answer's", `{ a b }`, `{ b a }`, false},
		{"the order of items", `{ a(x: [1, 2]) }`, `{ a(x: [2, 1]) }`, false},
		{"an alias is part of the answer", `{ a }`, `{ b: a }`, false},
		{"an alias that is the name", `{ a }`, `{ a: a }`, true},
		{"texts and blocks", `{ a(x: "one\ntwo") }`, "{ a(x: \"\"\"\n  one\n  two\n\"\"\") }", true},
		{"escapes", `{ a(x: "é") }`, `{ a(x: "\u00e9") }`, true},
		{"a text is no name", `{ a(x: "B") }`, `{ a(x: B) }`, false},
		{"a variable is no name", `query($b: T) { a(x: $b) }`, `query($b: T) { a(x: b) }`, false},
		{"kinds of numbers", `{ a(x: 1) }`, `{ a(x: 1.0) }`, false},
		{"null, true and false", `{ a(x: null, y: true, z: false) }`, `{ a(z: false y: true x: null) }`, true},
		{"the kind of operation", `query { a }`, `mutation { a }`, false},
		{"names of operations", `query A { a }`, `query B { a }`, false},
		{"directives", `{ a @skip(if: $x) @b }`, `{ a @b @skip(if: $x) }`, false},
		{"fragments by name", `{ ...x ...y } fragment x on T { a } fragment y on T { b }`, `fragment y on T { b } { ...x ...y } fragment x on T { a }`, true},
		{"other fragments", `{ ...x } fragment x on T { a }`, `{ ...x } fragment x on T { b }`, false},
		{"a fragment that nobody uses", `{ a }`, `{ a } fragment x on T { b }`, true},
		{"a fragment that is not there", `{ ...x } fragment x on T { a }`, `{ ...x }`, false},
		{"fragments in a circle", `{ ...x } fragment x on T { ...y } fragment y on T { ...x }`, `{ ...x } fragment y on T { ...x } fragment x on T { ...y }`, true},
		{"inline fragments", `{ ... on T { a } ... @b { c } }`, `{...on T{a}...@b{c}}`, true},
		{"descriptions", `query A { a }`, `"what it is for" query A { a }`, true},
	} {
		m := message(sends(c.sent, "", ""))
		if err := m.IsGraphQL(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := compile(t, expects(c.expected)).Holds(m); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
		if !compile(t, expects(c.expected)).Holds(message(sends(c.expected, "", ""))) {
			t.Errorf("%s: the document does not equal itself", c.name)
		}
	}
}

func TestGraphQL_conditions(t *testing.T) {
	t.Parallel()
	get := sends(`query Get($id: ID!) { user: person(id: $id) { name } ...more } fragment more on Query { shop ... on Query { cart } }`, "", `{"id":"7","extra":{"deep":[1,2]}}`)
	two := sends(`query A { a } mutation B { b }`, "B", "")
	matches{
		{"name", `{"graphql":{"operationName":"Get"}}`, get, true},
		{"name by operators", `{"graphql":{"operationName":[{"startsWith":"G"},{"not":"Set"}]}}`, get, true},
		{"another name", `{"graphql":{"operationName":"get"}}`, get, false},
		{"the named operation", `{"graphql":{"operationName":"B","operation":"mutation","fields":"b"}}`, two, true},
		{"not the other", `{"graphql":{"fields":"a"}}`, two, false},
		{"the executed one is compared", expects(`mutation B { b }`), two, true},
		{"an anonymous one", `{"graphql":{"operationName":{"exists":false}}}`, sends("{ a }", "", ""), true},
		{"it has no name", `{"graphql":{"operationName":{"exists":true}}}`, sends("{ a }", "", ""), false},
		{"K7 negation of what is missing", `{"graphql":{"operationName":{"not":"A"}}}`, sends("{ a }", "", ""), true},
		{"kind", `{"graphql":{"operation":"query"}}`, get, true},
		{"another kind", `{"graphql":{"operation":"subscription"}}`, get, false},
		{"a subscription", `{"graphql":{"operation":"subscription"}}`, sends("subscription { a }", "", ""), true},
		{"C7 one field suffices", `{"graphql":{"fields":"shop"}}`, get, true},
		{"fields, not their aliases", `{"graphql":{"fields":"user"}}`, get, false},
		{"nor those below", `{"graphql":{"fields":"name"}}`, get, false},
		{"C8 fields of fragments, in order", `{"graphql":{"fields":{"ordered":["person","shop","cart"]}}}`, get, true},
		{"how many", `{"graphql":{"fields":{"count":3,"every":{"not":"admin"}}}}`, get, true},
		{"variables, others may be there", `{"graphql":{"variables":{"id":"7"}}}`, get, true},
		{"G5 of their type", `{"graphql":{"variables":{"id":7}}}`, get, false},
		{"G5 loosened", `{"graphql":{"variables":{"id":7},"jsonOptions":{"numbersAsStrings":true}}}`, get, true},
		{"G16 operators", `{"graphql":{"variables":{"id":{"$match":{"matches":"[0-9]"}}}}}`, get, true},
		{"G8 any order", `{"graphql":{"variables":{"extra":{"deep":[2,1]}},"jsonOptions":{"ignoreOrder":true}}}`, get, true},
		{"exactly", `{"graphql":{"variablesExact":{"id":"7"}}}`, get, false},
		{"exactly these", `{"graphql":{"variablesExact":{"extra":{"deep":[1,2]},"id":"7"}}}`, get, true},
		{"none", `{"graphql":{"variablesExact":{}}}`, sends("{ a }", "", ""), true},
		{"null is none", `{"graphql":{"variablesExact":{}}}`, sends("{ a }", "", "null"), true},
		{"a persisted query", `{"graphql":{"operationName":"A","variables":{"x":1}}}`, `{"operationName":"A","variables":{"x":1},"extensions":{"persistedQuery":{}}}`, true},
		{"a persisted document", `{"graphql":{"variables":{"x":1}}}`, `{"documentId":"sha256:00","variables":{"x":1}}`, true},
		{"has no fields", `{"graphql":{"fields":{"exists":true}}}`, `{"documentId":"sha256:00"}`, false},
		{"nor a kind", `{"graphql":{"operation":"query"}}`, `{"documentId":"sha256:00"}`, false},
		{"G11 the last counts", `{"graphql":{"operation":"mutation"}}`, `{"query":"{a}","query":"mutation{a}"}`, true},
	}.run(t)
}

func TestGraphQL_what_is_no_request_says_why(t *testing.T) {
	t.Parallel()
	anything := compile(t, `{"graphql":{"operationName":{"not":"zzz"}}}`)
	for name, c := range map[string][2]string{
		"no JSON":             {`{ a }`, "no GraphQL request: invalid JSON at 1:3"},
		"a list":              {`[{"query":"{a}"}]`, "no GraphQL request: the body must be an object with query, found array"},
		"no query":            {`{"operationName":"A"}`, "no GraphQL request: there is no query"},
		"null":                {`{"query":null}`, "no GraphQL request: there is no query"},
		"nothing":             {``, "no GraphQL request: there is no query"},
		"of another type":     {`{"query":1}`, "no GraphQL request: query must be a text, found number"},
		"name":                {`{"query":"{a}","operationName":[]}`, "no GraphQL request: operationName must be a text, found array"},
		"variables":           {`{"query":"{a}","variables":"{}"}`, "no GraphQL request: variables must be an object, found string"},
		"a broken document":   {sends("{\n  a(", "", ""), "no GraphQL request: query: line 2, column 5: "},
		"an empty one":        {sends("", "", ""), "no GraphQL request: the query has no operation"},
		"no operation":        {sends("fragment a on T { b }", "", ""), "no GraphQL request: the query has no operation"},
		"a schema":            {sends("type T { a: Int }", "", ""), "no GraphQL request: query: line 1, column 1: "},
		"several":             {sends("query A { a } query B { b }", "", ""), "no GraphQL request: the query has 2 operations, and operationName names none"},
		"an unknown name":     {sends("query A { a }", "C", ""), `no GraphQL request: the query has no operation "C"`},
		"deep":                {sends(strings.Repeat("{a", 5_000), "", ""), "no GraphQL request: query: line 1, column "},
		"long":                {sends("{"+strings.Repeat("a ", 100_000)+"}", "", ""), "no GraphQL request: query: the document is too large"},
		"deep in a value":     {sends("{a(x:"+strings.Repeat("[", 9_000)+")}", "", ""), "no GraphQL request: query: line 1, column "},
		"an endless text":     {sends(`{a(x:"`+strings.Repeat("x", 1<<20), "", ""), "no GraphQL request: query: line 1, column "},
		"a hundred comments":  {sends(strings.Repeat("# x\n", 100_000), "", ""), "no GraphQL request: query: the document is too large"},
		"a character of none": {sends("{ a \x00 }", "", ""), "no GraphQL request: query: line 1, column "},
	} {
		m := message(c[0])
		testkit.Bounded(t, 10*time.Second, func() {
			if anything.Holds(m) {
				t.Errorf("%s holds", name)
			}
		})
		if got := anything.Findings(m)[0].Actual; !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestGraphQL_comes_by_the_query_or_as_a_document(t *testing.T) {
	t.Parallel()
	match := compile(t, `{"graphql":{"query":"query A($x: Int) { a(x: $x) }","operationName":"A","variablesExact":{"x":1}}}`)
	parameters := map[string]string{"query": "query A($x:Int){a(x:$x)}", "operationName": "A", "variables": `{"x":1}`}
	document := http.Header{"Content-Type": {"application/graphql; charset=utf-8"}}
	for _, c := range []struct {
		name string
		m    *body.Message
		want bool
	}{
		{"GET", body.New(nil, nil).Of(asked{"GET", parameters}), true},
		{"HEAD", body.New(nil, nil).Of(asked{"HEAD", parameters}), true},
		{"POST without a body", body.New(nil, nil).Of(asked{"POST", parameters}), true},
		{"a document", body.New([]byte(parameters["query"]), document).Of(asked{"POST", map[string]string{"variables": `{"x":1.0}`}}), true},
		{"a body wins", body.New([]byte(`{"query":"{b}"}`), nil).Of(asked{"POST", parameters}), false},
		{"other variables", body.New(nil, nil).Of(asked{"GET", map[string]string{"query": parameters["query"], "variables": `{"x":2}`}}), false},
		{"broken variables", body.New(nil, nil).Of(asked{"GET", map[string]string{"query": parameters["query"], "variables": `{x:1}`}}), false},
		{"nobody's query", body.New(nil, nil), false},
	} {
		if got := match.Holds(c.m); got != c.want {
			t.Errorf("%s: %t, %v", c.name, got, match.Findings(c.m))
		}
	}
	for method, want := range map[string]string{
		"GET": "no GraphQL request: a mutation cannot be sent by GET", "HEAD": "no GraphQL request: a mutation cannot be sent by HEAD", "POST": "",
	} {
		err := body.New(nil, nil).Of(asked{method, map[string]string{"query": "mutation{a}"}}).IsGraphQL()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a mutation by %s: %q", method, got)
		}
	}
}

func TestGraphQL_a_difference_is_shown_where_it_is(t *testing.T) {
	t.Parallel()
	common := "query Get { " + strings.Repeat("aVeryLongNameOfAField ", 50)
	f := compile(t, expects(common+"wanted }")).Findings(message(sends(common+"sent }", "", "")))[0]
	if f.Name != "graphql query" || f.Operator != "equals" || !strings.HasSuffix(f.Expected, "wanted }") || !strings.HasSuffix(f.Actual, "sent }") {
		t.Errorf("%+v", f)
	}
	missing := compile(t, `{"graphql":{"variables":{"a":{"b":1}}}}`).Findings(message(sends("{a}", "", `{"a":{"b":2}}`)))[0]
	if missing.Name != "graphql variables /a/b" || missing.Expected != "1" || missing.Actual != "2" {
		t.Errorf("%+v", missing)
	}
}

func TestGraphQL_a_broken_match_is_refused_with_its_place(t *testing.T) {
	t.Parallel()
	for match, want := range map[string]string{
		`{"graphql":{"query":"{ a "}}`:                  "#/request/body/graphql/query syntax: line 1, column 5: expected Name, found <EOF>",
		`{"graphql":{"query":"\n {a}\n b"}}`:            `#/request/body/graphql/query syntax: line 3, column 2: unexpected Name "b"`,
		`{"graphql":{"query":"query A{a} query B{b}"}}`: "#/request/body/graphql/query syntax: must have one operation, found several",
		`{"graphql":{"query":"fragment a on B{c}"}}`:    "#/request/body/graphql/query syntax: must have one operation, found none",
		`{"graphql":{"query":"{...a}"}}`:                "#/request/body/graphql/query syntax: uses the fragment a, which it does not define: add it to the text",
	} {
		if diff := cmp.Diff([]string{want}, refused(t, match)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", match, diff)
		}
	}
}

func TestF2_hash_and_size_are_of_the_bytes_that_were_sent(t *testing.T) {
	t.Parallel()
	sent := "\x00\xff\r\n"
	sum := sha256.Sum256([]byte(sent))
	text := hex.EncodeToString(sum[:])
	matches{
		{"hash", `{"sha256":"` + text + `"}`, sent, true},
		{"in capital letters", `{"sha256":"` + strings.ToUpper(text) + `"}`, sent, true},
		{"F10 newlines differ", `{"sha256":"` + text + `"}`, "\x00\xff\n", false},
		{"of nothing", `{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`, "", true},
		{"size", `{"size":4}`, sent, true},
		{"another size", `{"size":3}`, sent, false},
		{"operators", `{"size":{"gt":3,"lte":4,"not":5}}`, sent, true},
		{"too few", `{"size":{"gte":5}}`, sent, false},
		{"F8 no body", `{"size":0}`, "", true},
		{"one of several", `{"size":{"in":[1,4]}}`, sent, true},
	}.run(t)
	coded := http.Header{"Content-Encoding": {"gzip"}}
	if !compile(t, `{"sha256":"`+text+`","size":4}`).Holds(body.New([]byte(sent), coded)) {
		t.Error("the coded bytes are not what is compared")
	}
	f := compile(t, `{"sha256":"`+strings.Repeat("0", 64)+`","size":{"lt":4}}`).Findings(message(sent))
	if f[0].Name != "size" || f[0].Operator != "lt" || f[0].Expected != "4" || f[0].Actual != "4 bytes" || f[1].Name != "sha256" || f[1].Actual != text {
		t.Errorf("%+v", f)
	}
}

// Whatever parses has a canonical form that parses, means the same and is its own canonical form.
func FuzzGraphQL(f *testing.F) {
	for _, seed := range []string{
		`{ a }`, `query A($x: [Int!]! = [1, 2] @d) @e { b: a(x: $x, y: {p: "\n", q: E}) { ...f ... on T { c } } } fragment f on T { d }`,
		`mutation { a(x: """block "quoted" \""" """) }`, `subscription { a @include(if: true) }`, `{...f} fragment f on A {...f}`,
		"# c\n,{\ufeffa(x: -0.5e+10)}", `"d" query A { a }`, `{ a(x: "\u{1F600}\ud83d\ude00") }`, `{a(x:"` + "\x7f\u0080" + `")}`,
	} {
		f.Add(seed, "")
	}
	f.Add(`query A{a} mutation B{b}`, "B")
	f.Fuzz(func(t *testing.T, text, name string) {
		canonical, ok := body.CanonicalGraphQL(text, name)
		if !ok {
			return
		}
		again, ok := body.CanonicalGraphQL(canonical, "")
		if !ok || again != canonical {
			t.Fatalf("%q becomes %q and then %q", text, canonical, again)
		}
	})
}

// No body makes conditions on GraphQL panic, and their findings agree with them.
func FuzzGraphQLRequest(f *testing.F) {
	f.Add([]byte(`{"query":"query A($x:Int){a(x:$x)}","operationName":"A","variables":{"x":1}}`), "")
	f.Add([]byte(`query A{a}`), "application/graphql")
	f.Add([]byte(`[{"query":"{a}"}]`), "application/json")
	f.Add([]byte(`{"documentId":"x","variables":null}`), "")
	matcher := compile(f, `{"graphql":{"query":"query A{a}","operationName":"A","operation":"query","fields":{"count":1},"variables":{"x":1}},"size":{"gt":1}}`)
	f.Fuzz(func(t *testing.T, src []byte, contentType string) {
		m := body.New(src, http.Header{"Content-Type": {contentType}}).Of(asked{"POST", map[string]string{"variables": string(src)}})
		all := true
		for _, finding := range matcher.Findings(m) {
			all = all && finding.Holds
			if len(finding.Actual)+len(finding.Expected) > 2_000 {
				t.Fatalf("a finding of %d bytes", len(finding.Actual)+len(finding.Expected))
			}
		}
		if all != matcher.Holds(m) {
			t.Fatal("the findings contradict the match")
		}
	})
}
