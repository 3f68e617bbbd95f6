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
