package engine_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
)

// hushedForms are forms in which the secret of the tests could be told.
func hushedForms() []string {
	return []string{"S3CRET", "s3cret", "UzNDUkVU", "TERC3S", "533343524554"}
}

func wantHushed(t *testing.T, what, told string) {
	t.Helper()
	for _, form := range hushedForms() {
		if strings.Contains(told, form) {
			t.Errorf("%s tells a secret: %s", what, told)
		}
	}
}

// publishSecret publishes a definition whose variable k is a secret.
func publishSecret(t *testing.T, e *engine.Engine, definition string) {
	t.Helper()
	publishAs(t, e, definition, &mockbase.Project{
		ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic, Revision: 2,
		VariableNotes: map[string]mockbase.VariableNote{"k": {Secret: true}},
	})
}

const failingSecrets = `
variables: { k: 'S3CRET"<9>', open: plain }
mocks:
  - { request: GET /int, response: { template: true, text: "{{ int var.k }}" } }
  - { request: GET /json, response: { template: true, json: { a: "{{ int (upper var.k) }}" } } }
  - { request: GET /base, response: { template: true, text: "{{ int (base64 var.k) }}" } }
  - { request: GET /with, response: { template: true, text: "{{ with $x := var.k }}{{ int (printf \"%s!\" $x) }}{{ end }}" } }
  - { request: GET /if, response: { template: true, text: "{{ if eq var.k \"S3CRET\\\"<9>\" }}{{ int \"x\" }}{{ end }}" } }
  - { request: GET /open, response: { template: true, text: "{{ int var.open }}" } }
  - { request: GET /status, response: { template: true, status: "{{ var.k }}", text: x } }
  - { request: GET /header, response: { template: true, text: x, headers: { X: "{{ int var.k }}" } } }
  - { request: GET /delay, response: { template: true, text: x, delay: "{{ var.k }}" } }
  - { request: GET /file, response: { template: true, file: "{{ var.k }}.txt" } }
  - { request: GET /proxy, response: { template: true, proxy: { to: "{{ var.k }}" } } }
  - { request: GET /cost, rateLimit: { limit: 9, window: 60s, cost: "{{ var.k }}" }, response: { text: x } }
  - { request: GET /key, rateLimit: { limit: 9, window: 60s, key: "template:{{ var.k }}" }, response: { text: x, status: 500 } }
  - { request: GET /events, response: { template: true, sse: { events: [{ data: "{{ int var.k }}" }] } } }
`

func TestP7_M81_failures_of_templates_tell_no_secret(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded})
	publishSecret(t, x.engine, failingSecrets)
	for _, path := range []string{"/int", "/json", "/base", "/with", "/if", "/status", "/header", "/delay", "/file", "/proxy", "/cost", "/key", "/events"} {
		answer, exchange := x.call(http.MethodGet, path)
		if answer.Code < http.StatusInternalServerError && path != "/events" {
			t.Errorf("%s: status %d", path, answer.Code)
		}
		wantHushed(t, path, answer.Body.String())
		recorded, err := json.Marshal(exchange)
		if err != nil {
			t.Fatal(err)
		}
		wantHushed(t, "the exchange of "+path, string(recorded)+string(exchange.Response.Body))
		for _, sight := range []mockbase.Sight{mockbase.SeesAll, mockbase.SeesNoSecrets} {
			told, err := json.Marshal(x.ask(mockbase.Question{Request: mockbase.SampleRequest{Target: path}, Sight: sight}))
			if err != nil {
				t.Fatal(err)
			}
			wantHushed(t, "the explanation of "+path, string(told))
		}
	}
	if answer, _ := x.call(http.MethodGet, "/int"); !strings.Contains(answer.Body.String(), "********") || !strings.Contains(answer.Body.String(), `"int"`) {
		t.Errorf("the failure says too little: %s", answer.Body)
	}
	if answer, _ := x.call(http.MethodGet, "/open"); !strings.Contains(answer.Body.String(), "plain") {
		t.Errorf("what is no secret is not told: %s", answer.Body)
	}
}

func TestM150_who_may_change_no_mocks_tries_them_without_secrets(t *testing.T) {
	t.Parallel()
	x := &explained{T: t}
	x.engine = newEngine(t, engine.Options{Journal: &x.recorded})
	publishSecret(t, x.engine, `
variables: { k: 'S3CRET"<9>', open: plain }
mocks:
  - name: tell
    request: GET /tell
    response: { template: true, text: "{{ var.k }} {{ upper var.k }} {{ lower var.k }} {{ base64 var.k }} {{ printf \"%q %x\" var.k var.k }} {{ len var.k }} {{ var.open }}", headers: { X: "{{ var.k }}" } }
  - { name: blank, request: GET /blank, response: { text: x } }
`)
	q := mockbase.Question{Request: mockbase.SampleRequest{Target: "/tell"}, Sight: mockbase.SeesNoSecrets}
	told := x.ask(q)
	wantHushed(t, "try", string(told.Response.Body)+told.Response.Header.Get("X"))
	if !strings.Contains(string(told.Response.Body), "********") || !strings.Contains(string(told.Response.Body), " plain") ||
		!strings.Contains(strings.Join(told.Hints, " "), "secret variables are ********") {
		t.Errorf("told %s, hints %q", told.Response.Body, told.Hints)
	}
	draft, err := mockbase.DecodeMock([]byte(`{"name":"blank","request":"GET /blank","response":{"template":true,"json":{"a":"{{ var.k }}","b":"{{ range $i, $c := split \"\" var.k }}{{ $c }}.{{ end }}"}}}`), mockbase.FormatJSON)
	if err != nil {
		t.Fatal(err)
	}
	q = mockbase.Question{Request: mockbase.SampleRequest{Target: "/blank"}, Mock: "mck_1", Document: draft, Sight: mockbase.SeesNoSecrets}
	told = x.ask(q)
	if got := string(told.Response.Body); !strings.Contains(got, `"a":"********"`) || strings.Contains(got, "S.3") {
		t.Errorf("a document of one's own tells %s", got)
	}
	q.Sight = mockbase.SeesAll
	if got := string(x.ask(q).Response.Body); !strings.Contains(got, "S3CRET") {
		t.Errorf("an editor sees %s", got)
	}
	_, exchange := x.call(http.MethodGet, "/tell")
	again, err := x.engine.ExplainExchange(t.Context(), exchange, mockbase.SeesNoSecrets)
	if err != nil {
		t.Fatal(err)
	}
	wantHushed(t, "the explanation of now", string(again.Current.Response.Body))
	if got := x.get("/blank").Hints; len(got) > 0 {
		t.Errorf("hints %q", got)
	}
}

func TestS_M81_urls_of_webhooks_show_no_secret(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"delivered": "{to}/{{ var.k }}/{{ var.open }}", "unreachable": "http://{{ var.k }}.invalid/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHooked(t, `mocks: []`)
			publishSecret(t, h.engine, strings.ReplaceAll(`
variables: { k: S3CRET, open: plain }
mocks:
  - { request: GET /a, response: { template: true, text: ok, webhooks: [{ url: "`+url+`", retries: { max: 0 } }] } }
`, "{to}", h.target))
			h.call(t, http.MethodGet, "/a", "")
			hooks := h.ended(t, 0)
			recorded, err := json.Marshal(hooks)
			if err != nil {
				t.Fatal(err)
			}
			wantHushed(t, "the webhook", string(recorded))
			if name == "delivered" && (h.requests[0].URL.Path != "/S3CRET/plain" || hooks[0].URL != h.target+"/********/plain") {
				t.Errorf("called %s, shown %s", h.requests[0].URL, hooks[0].URL)
			}
		})
	}
}
