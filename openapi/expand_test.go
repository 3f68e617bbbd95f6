package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/openapi"
)

func parse(t *testing.T, text string) *openapi.Source {
	t.Helper()
	source, err := openapi.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// expanded are the mocks of a document, one in a line, each of which the format accepts.
func expanded(t *testing.T, text string, o openapi.ExpandOptions) (mocks string, warnings []mockbase.FieldError) {
	t.Helper()
	made := parse(t, text).Expand(o)
	var b strings.Builder
	for _, m := range made.Mocks {
		n := m.Document
		if _, err := mockbase.DecodeMock(n.JSON(), mockbase.FormatJSON); err != nil {
			t.Errorf("%s: %v", n.JSON(), err)
		}
		b.Write(withoutAccept(n).JSON())
		b.WriteByte('\n')
	}
	return b.String(), made.Warnings
}

// withoutAccept is a mock without the response to what accepts nothing, and with a word for the other conditions on Accept.
func withoutAccept(n *mockbase.Node) *mockbase.Node {
	for _, m := range n.Members {
		if m.Key != "responses" {
			continue
		}
		m.Value.Items = slices.DeleteFunc(m.Value.Items, func(r *mockbase.Node) bool { return r.Find("name").Text == "not-acceptable" })
		for _, r := range m.Value.Items {
			for i := range r.Members {
				if r.Members[i].Key == "when" && r.Members[i].Value.Find("anyOf") != nil {
					r.Members[i].Value = &mockbase.Node{Kind: mockbase.NodeText, Text: "accepted"}
				}
			}
		}
	}
	return n
}

func TestM78_each_operation_becomes_a_mock_with_responses_named_after_examples(t *testing.T) {
	t.Parallel()
	const text = head + `servers: [ { url: 'https://api.example.com/v1/' } ]
paths:
  /pets/{petId}:
    get:
      operationId: getPetById
      summary: One pet
      tags: [Pet Store]
      responses:
        '404': { description: none, content: { application/json: { examples: { Not Found: { value: { code: 1 } } } } } }
        '200':
          description: d
          headers: { X-Rate: { schema: { type: integer, example: 5 } } }
          content:
            application/json: { examples: { rex: { value: { name: Rex } }, tom: { value: { name: "{{ x }}" } } } }
            text/plain: { example: Rex }
        default: { description: any }
  /a*b/{x-y}.{ext}:
    post: { responses: { '201': { description: d, content: { application/vnd.a+json: { schema: { type: integer, minimum: 3 } } } } } }
    delete: { responses: { '204': { description: d } } }
`
	const want = `{"name":"get-pet-by-id","description":"One pet","tags":["pet-store"],"request":{"method":"GET","path":"/v1/pets/{petId}"},"responses":[` +
		`{"name":"rex","status":200,"json":{"name":"Rex"},"headers":{"X-Rate":"5"}},` +
		`{"name":"not-found","when":"accepted","status":404,"json":{"code":1}},` +
		`{"name":"500","when":{"query":{"__code":"500"}},"status":500},` +
		`{"name":"tom","when":{"query":{"__example":"tom"}},"status":200,"json":{"name":"{{ x }}"},"template":false,"headers":{"X-Rate":"5"}},` +
		`{"name":"200-plain","when":"accepted","status":200,"text":"Rex","headers":{"X-Rate":"5","Content-Type":"text/plain; charset=utf-8"}}]}
{"name":"post-a-b-x-y-ext","request":{"method":"POST","path":"/v1/a%2Ab/{x-y}.{ext}"},"responses":[{"name":"201","status":201,"json":3,"headers":{"Content-Type":"application/vnd.a+json"}}]}
{"name":"delete-a-b-x-y-ext","request":{"method":"DELETE","path":"/v1/a%2Ab/{x-y}.{ext}"},"responses":[{"name":"204","status":204}]}
`
	got, _ := expanded(t, text, openapi.ExpandOptions{})
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Error(diff)
	}
	if again, _ := expanded(t, text, openapi.ExpandOptions{Prefix: "/x"}); !strings.Contains(again, `"path":"/x/v1/pets/{petId}"`) {
		t.Errorf("with a prefix: %s", again)
	}
}

func TestM78_what_a_mock_cannot_say_is_a_warning_and_no_catch_all(t *testing.T) {
	t.Parallel()
	mocks, warnings := expanded(t, head+`paths:
  /a/{x}{y}: { get: { responses: { '200': { description: d } } } }
  /b: { get: { responses: { '200': { description: d, content: { application/json: { schema: { type: integer, minimum: 5, maximum: 4 } } } } } } }
  /c?kind=x&any: { get: { responses: { '200': { description: d } } } }
`, openapi.ExpandOptions{})
	const want = `{"name":"get-b","request":{"method":"GET","path":"/b"},"responses":[{"name":"200","status":200}]}
{"name":"get-c-kind-x-any","request":{"method":"GET","path":"/c","query":{"kind":"x","any":{"exists":true}}},"responses":[{"name":"200","status":200}]}
`
	if diff := cmp.Diff(want, mocks); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, w := range warnings {
		if w.Code != mockbase.FieldReference {
			told = append(told, string(w.Code)+" "+w.Pointer)
		}
	}
	if diff := cmp.Diff([]string{
		"not_translated #/paths/~1a~1%7Bx%7D%7By%7D/get", "conflict #/paths/~1b/get/responses/200/content/application~1json/schema",
	}, told); diff != "" {
		t.Errorf("%s\n%v", diff, warnings)
	}
}

// Group X: a declared 429 and its headers become a simulated limit in one step.
func TestX10_a_declared_429_becomes_a_limit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ response, more, want string }{
		"the three headers of old": {
			`{ description: d, headers: { X-RateLimit-Limit: { schema: { type: integer, example: 100 } }, X-RateLimit-Remaining: { schema: { type: integer } },
			X-RateLimit-Reset: { schema: { type: integer, example: 1700000000 } }, Retry-After: { schema: { type: integer, example: 30 } } } }`, "",
			`{"limit":100,"window":"30s","headers":"x","reset":"epoch","retryAfter":"seconds","onExceed":{"action":"reject","response":{"status":429}}}`,
		},
		"a policy": {
			`{ description: d, headers: { RateLimit-Policy: { example: '"default";q=50;w=10, "day";q=900;w=86400' }, RateLimit: { schema: { type: string } }, X-Trace: { example: a } } }`, "",
			`{"limit":50,"window":"10s","headers":"draft","retryAfter":"none","onExceed":{"action":"reject","response":{"status":429,"headers":{"X-Trace":"a"}}}}`,
		},
		"the split draft": {
			`{ description: d, headers: { RateLimit-Limit: { example: '10, 10;w=1, 1000;w=3600' }, RateLimit-Reset: { example: 1 } } }`, "",
			`{"limit":10,"window":"1s","headers":"split","retryAfter":"none","onExceed":{"action":"reject","response":{"status":429}}}`,
		},
		"words, a body and credentials": {
			`{ description: 'More than 1,000 requests per 15 minutes.', content: { application/json: { example: { error: slow } } } }`,
			"security: [ { k: [] } ]\ncomponents: { securitySchemes: { k: { type: apiKey, in: header, name: X-Key } } }\n",
			`{"limit":1000,"window":"15m","key":["header:X-Key"],"headers":"none","onExceed":{"action":"reject","response":{"status":429,"json":{"error":"slow"}}}}`,
		},
		"names of its own": {
			`{ description: '5 calls per second', headers: { X-Rate-Limit-Limit: { schema: { type: integer } } , X-Rate-Limit-Reset: { example: 'Mon, 02 Jan 2006 15:04:05 GMT' } } }`, "",
			`{"limit":5,"window":"1s","headers":{"limit":"X-Rate-Limit-Limit","reset":"X-Rate-Limit-Reset"},"reset":"http_date","retryAfter":"none","onExceed":{"action":"reject","response":{"status":429}}}`,
		},
		"nothing said": {
			`{ description: d }`, "", `{"limit":60,"window":"1m","headers":"none","onExceed":{"action":"reject","response":{"status":429}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := head + "paths: { /a: { get: { responses: { '200': { description: d }, '429': " + c.response + " } } }, /b: { get: { responses: { '200': { description: d } } } } }\n" + c.more
			limits, _ := parse(t, text).Limits()
			if len(limits) != 1 || limits[0].Key != "rateLimit" {
				t.Fatalf("there is no limit: %v", limits)
			}
			if diff := cmp.Diff(c.want, string(limits[0].Value.JSON())); diff != "" {
				t.Error(diff)
			}
			mocks, _ := expanded(t, text, openapi.ExpandOptions{Limits: true})
			if strings.Count(mocks, `"rateLimit"`) != 1 {
				t.Errorf("the limit is not that of one mock: %s", mocks)
			}
		})
	}
	if limits, told := parse(t, head+"paths: { /a: { get: { responses: { '200': { description: d } } } } }\n").Limits(); len(limits)+len(told) > 0 {
		t.Error(limits, told)
	}
}

// Group X: each operation has the limit that it declares.
func TestX10_operations_that_declare_different_limits_have_their_own(t *testing.T) {
	t.Parallel()
	limits, told := parse(t, head+`paths:
  /a: { get: { operationId: first, responses: { '200': { description: d }, '429': { description: 5 per minute, headers: { X-RateLimit-Limit: { schema: { type: integer } } } } } } }
  /b: { get: { responses: { '200': { description: d }, '429': { description: d, headers: { RateLimit-Policy: { example: '"p";q=2;w=60' } } } } } }
  /c: { get: { responses: { '200': { description: d } } } }
  /d: { get: { operationId: open, responses: { '200': { description: d }, '429': { description: d } } } }
`).Limits()
	const want = `{"first":{"rateLimit":{"limit":5,"window":"1m","headers":"x","retryAfter":"none","onExceed":{"action":"reject","response":{"status":429}}}},` +
		`"get-b":{"rateLimit":{"limit":2,"window":"60s","headers":"draft","retryAfter":"none","onExceed":{"action":"reject","response":{"status":429}}}},` +
		`"open":{"rateLimit":{"limit":60,"window":"1m","headers":"none","onExceed":{"action":"reject","response":{"status":429}}}}}`
	if len(limits) != 1 || limits[0].Key != "operations" {
		t.Fatalf("there are no limits of operations: %v", limits)
	}
	if diff := cmp.Diff(want, string(limits[0].Value.JSON())); diff != "" {
		t.Error(diff)
	}
	if len(told) != 1 || told[0].Pointer != "#/paths/~1d/get/responses/429" {
		t.Errorf("what is left open: %v", told)
	}
}
