package mockbase_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

func TestWarningsNeverBlockAndNameTheirPlace(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, src, want string }{
		{"O2 a body beside 204", "mocks:\n  - request: GET /a\n    response: { status: 204, text: x }\n", "" +
			"3:36: #/mocks/0/response/text: is not sent, as status 204 has no body [body_dropped]\n"},
		{"O2 a body beside 304 in a list", "mocks:\n  - request: GET /a\n    responses: [{ status: 304, json: {} }]\n", "" +
			"3:38: #/mocks/0/responses/0/json: is not sent, as status 304 has no body [body_dropped]\n"},
		{"M7 a header that the server writes itself", "mocks:\n  - request: GET /a\n    response: { text: abc, headers: { mockbase-mock: x } }\n", "" +
			"3:54: #/mocks/0/response/headers/mockbase-mock: is replaced: the server names the mock there, or leaves it out with decisionHeader: false [unused]\n"},
		{"O3 a length that an answer to HEAD does not have", "mocks:\n  - request: HEAD /a\n    response: { headers: { Content-Length: 99 } }\n", "" +
			"3:44: #/mocks/0/response/headers/Content-Length: \"99\" is not sent, as status 204 has no length [unused]\n"},
		{"O3 a length that is replaced", "mocks:\n  - request: GET /a\n    response: { text: abc, headers: { Content-Length: 99 } }\n", "" +
			"3:55: #/mocks/0/response/headers/Content-Length: \"99\" is replaced: the body has 3 bytes [unused]\n"},
		{"RL7 a cost that the limit never holds", "mocks:\n  - request: GET /a\n    response: { text: x }\n    rateLimit: { limit: 5, window: 1m, cost: 6 }\n", "" +
			"4:46: #/mocks/0/rateLimit/cost: a request costs 6 and the limit never holds more than 5: every one is refused [range]\n"},
		{"RL7 of a named limit, by its burst", "rateLimits: { p: { limit: 50, window: 1m, algorithm: gcra, burst: 2, cost: 3 } }\nmocks:\n  - request: GET /a\n    response: { text: x }\n    rateLimit: [{ use: p }, { use: p, cost: 1 }]\n", "" +
			"5:17: #/mocks/0/rateLimit/0: a request costs 3 and the limit never holds more than 2: every one is refused [range]\n"},
		{"RL7 a limit of 0 is meant, and a template is not known", "mocks:\n  - request: GET /a\n    response: { text: x }\n    rateLimit: [0/1m, { limit: 5, window: 1m, cost: '{{ 9 }}' }, { limit: 5, window: 1m, cost: 5 }]\n", ""},
		{"an empty text drops nothing", "mocks: [{ request: GET /a, response: { status: 205, text: '' } }]\n", ""},
		{"P1 a template that is not rendered", "mocks:\n  - request: GET /a\n    response: { text: '{{x}}', headers: { X-A: ['{{y}}'] } }\n", "" +
			"3:23: #/mocks/0/response/text: holds {{ and is sent as it stands: set template: true to render it [template_off]\n" +
			"3:48: #/mocks/0/response/headers/X-A: holds {{ and is sent as it stands: set template: true to render it [template_off]\n"},
		{"also in json, in webhooks and in a status", `mocks:
  - request: GET /a
    response:
      status: "{{ s }}"
      json: { a: "{{ b }}" }
      webhooks: [{ url: "http://a.test", text: "{{ c }}" }, { url: "http://a.test", headers: { X: "{{ d }}" } }, { url: "http://a.test" }]
`, "4:15: #/mocks/0/response/status: holds {{ and is sent as it stands: set template: true to render it [template_off]\n" +
			"5:13: #/mocks/0/response/json: holds {{ and is sent as it stands: set template: true to render it [template_off]\n" +
			"6:18: #/mocks/0/response/webhooks/0: holds {{ and is sent as it stands: set template: true to render it [template_off]\n" +
			"6:61: #/mocks/0/response/webhooks/1: holds {{ and is sent as it stands: set template: true to render it [template_off]\n"},
		{"the default of the project counts", "defaults: { template: true }\nmocks: [{ request: GET /a, response: { text: '{{x}}' } }]\n", ""},
		{"the response has the last word", "defaults: { template: true }\nmocks: [{ request: GET /a, response: { text: '{{x}}', template: false } }]\n", "" +
			"2:46: #/mocks/0/response/text: holds {{ and is sent as it stands: set template: true to render it [template_off]\n"},
		{"S8 an expression of OpenAPI in a webhook, closed or not", "mocks:\n  - request: GET /a\n    response:\n      webhooks: [{ url: 'http://a.test/{$request.body#/b' }, { url: 'http://a.test/{$url}' }, { url: 'http://a.test/{a}' }]\n", "" +
			"4:25: #/mocks/0/response/webhooks/0/url: holds {$, as the expressions of OpenAPI do, and is sent as it stands: write a template, such as {{ body.url }} [template_off]\n" +
			"4:69: #/mocks/0/response/webhooks/1/url: holds {$, as the expressions of OpenAPI do, and is sent as it stands: write a template, such as {{ body.url }} [template_off]\n"},
		{"bytes are no template", "mocks: [{ request: GET /a, response: { base64: e3t4fX0= } }]\n", ""},
		{"R10 no default", "mocks:\n  - request: GET /a\n    responses: [{ when: { call: 1 } }]\n", "" +
			"3:16: #/mocks/0/responses: every response has a when: if none holds, the next mock is tried [no_default]\n"},
		{"R10 no default of a single response", "mocks:\n  - request: GET /a\n    response: { when: { call: 1 } }\n", "" +
			"3:15: #/mocks/0/response: every response has a when: if none holds, the next mock is tried [no_default]\n"},
		{"a default wherever it stands", "mocks: [{ request: GET /a, responses: [{}, { when: { call: 1 } }] }]\n", ""},
		{"a sequence needs no default", "mocks: [{ request: GET /a, select: sequence, responses: [{}, {}] }]\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := decodeDefinition(t, c.src)
			if diff := cmp.Diff(c.want, string(orderedLines(d.Warnings))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// orderedLines writes faults in the order of the text.
func orderedLines(fields []mockbase.FieldError) []byte {
	faults := &mockbase.Faults{}
	for _, f := range fields {
		faults.Append(f)
	}
	return faultLines(faults.Fields())
}

func TestO3_a_length_that_is_replaced_is_a_warning(t *testing.T) {
	t.Parallel()
	const at = "0:0: #/response/headers/Content-Length: "
	replaced := func(own, actual string) string {
		return at + own + " is replaced: " + actual + " [unused]\n"
	}
	const noNumber = "it is no number of bytes, and the length comes from the body"
	cases := []struct{ name, response, want string }{
		{"another length", `headers: {Content-Length: 99}, text: abc`, replaced(`"99"`, "the body has 3 bytes")},
		{"the length of bytes and not of characters", `headers: {Content-Length: 1}, text: é`, replaced(`"1"`, "the body has 2 bytes")},
		{"of compact JSON", `headers: {Content-Length: 9}, json: {a: [1]}`, ""},
		{"of decoded bytes", `headers: {Content-Length: 4}, base64: YWJj`, replaced(`"4"`, "the body has 3 bytes")},
		{"in a list", `headers: {Content-Length: ["99"]}, text: abc`, replaced(`"99"`, "the body has 3 bytes")},
		{"in another spelling", `headers: {content-length: 99}, text: abc`, "" +
			"0:0: #/response/headers/content-length: \"99\" is replaced: the body has 3 bytes [unused]\n"},
		{"the same length", `headers: {Content-Length: 3}, text: abc`, ""},
		{"no body", `status: 200, headers: {Content-Length: 3}`, replaced(`"3"`, "the body has 0 bytes")},
		{"a status without a length", `headers: {Content-Length: 3}`, at + `"3" is not sent, as status 204 has no length [unused]` + "\n"},
		{"205 has the length 0", `status: 205, headers: {Content-Length: 3}`, replaced(`"3"`, "the body has 0 bytes")},
		{"no number", `headers: {Content-Length: abc}, text: abc`, replaced(`"abc"`, noNumber)},
		{"a negative number", `headers: {Content-Length: -1}, text: abc`, replaced(`"-1"`, noNumber)},
		{"a fraction", `headers: {Content-Length: 3.0}, text: abc`, replaced(`"3.0"`, noNumber)},
		{"no number in a stream", `stream: {chunked: true}, headers: {Content-Length: abc}, text: abc`, replaced(`"abc"`, noNumber)},
		{"a rendered length", `template: true, headers: {Content-Length: "{{ n }}"}, text: abc`, ""},
		{"a rendered body", `template: true, headers: {Content-Length: 99}, text: "{{ x }}"`, ""},
		{"a body with nothing to render", `template: true, headers: {Content-Length: 99}, text: abc`, replaced(`"99"`, "the body has 3 bytes")},
		{"a rendered status", `template: true, status: "{{ 200 }}", headers: {Content-Length: 99}, text: abc`, ""},
		{"304 keeps it", `status: 304, headers: {Content-Length: 99}`, ""},
		{"a raw answer keeps it", `fault: {kind: raw, raw: YQ==}, headers: {Content-Length: abc}`, ""},
		{"a file of unknown length", `headers: {Content-Length: 99}, file: a.txt`, ""},
		{"an encoded body", `encode: gzip, headers: {Content-Length: 99}, text: abc`, ""},
		{"a body in chunks", `stream: {chunked: true}, headers: {Content-Length: 99}, text: abc`, ""},
		{"pieces of a body", `stream: {chunks: 2, over: 1s}, headers: {Content-Length: 99}, text: abc`, replaced(`"99"`, "the body has 3 bytes")},
		{"trailers", `trailers: {X-A: 1}, headers: {Content-Length: 99}, text: abc`, ""},
		{"a script of events", `sse: {events: [{data: a}]}, headers: {Content-Length: 99}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := decodeMock(t, `{request: GET /a, response: {`+c.response+`}}`)
			if diff := cmp.Diff(c.want, string(faultLines(m.Warnings(nil)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestO3_a_mock_for_HEAD_keeps_its_length(t *testing.T) {
	t.Parallel()
	m := decodeMock(t, `{request: HEAD /a, response: {headers: {Content-Length: 99}, text: abc}}`)
	if got := m.Warnings(nil); len(got) != 0 {
		t.Errorf("warnings are %s", faultLines(got))
	}
	m = decodeMock(t, `{request: {method: [HEAD, GET], path: /a}, response: {headers: {Content-Length: 99}, text: abc}}`)
	if got := m.Warnings(nil); len(got) != 1 {
		t.Errorf("warnings are %s", faultLines(got))
	}
}

func TestWarningsOfAMockAloneArePointedAtInTheMock(t *testing.T) {
	t.Parallel()
	m := decodeMock(t, `{request: GET /a, response: {status: 204, text: "{{x}}", delay: "{{ y }}"}}`)
	want := "0:0: #/response/text: is not sent, as status 204 has no body [body_dropped]\n" +
		"0:0: #/response/text: holds {{ and is sent as it stands: set template: true to render it [template_off]\n" +
		"0:0: #/response/delay: holds {{ and is sent as it stands: set template: true to render it [template_off]\n"
	if diff := cmp.Diff(want, string(faultLines(m.Warnings(nil)))); diff != "" {
		t.Error(diff)
	}
	rendering := &mockbase.Config{Defaults: mockbase.Defaults{Template: true}}
	if got := m.Warnings(rendering); len(got) != 1 {
		t.Errorf("warnings with templates on: %s", faultLines(got))
	}
}

func TestCheckReferencesLooksForNamedPolicies(t *testing.T) {
	t.Parallel()
	c := &mockbase.Config{RateLimits: []mockbase.NamedLimit{{Name: "partner"}, {Name: "other"}}}
	cases := map[string]string{
		`{use: partner}`:                      "",
		`none`:                                "",
		`5/s`:                                 "",
		`{use: partnr}`:                       "0:0: #/rateLimit/use: rateLimits has no \"partnr\", did you mean \"partner\"? [reference]\n",
		`[{use: zzz}]`:                        "0:0: #/rateLimit/0/use: rateLimits has no \"zzz\": it has partner or other [reference]\n",
		`[{use: other}, 5/s, {use: strange}]`: "0:0: #/rateLimit/2/use: rateLimits has no \"strange\": it has partner or other [reference]\n",
	}
	for limit, want := range cases {
		m := decodeMock(t, "{request: GET /a, response: {}, rateLimit: "+limit+"}")
		if diff := cmp.Diff(want, string(faultLines(m.CheckReferences(c)))); diff != "" {
			t.Errorf("%s: %s", limit, diff)
		}
	}
	if got := decodeMock(t, `{request: GET /a, response: {}}`).CheckReferences(c); len(got) != 0 {
		t.Errorf("a mock without a limit: %v", got)
	}
}

func TestO9_a_header_beyond_latin_1_is_a_warning(t *testing.T) {
	t.Parallel()
	m, err := mockbase.DecodeMock([]byte(`{"request":"GET /a","response":{"text":"x","headers":{"X":["a","\u20ac"],"Y":"\u00e9"}}}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	found := m.Warnings(nil)
	if len(found) != 1 || found[0].Code != mockbase.WarningEncoding || found[0].Pointer != "#/response/headers/X" {
		t.Errorf("warnings %v", found)
	}
}
