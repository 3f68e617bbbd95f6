package engine_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

const callingBack = `
documents:
  - name: orders
    callbacks: true
    inline:
      openapi: 3.1.0
      info: { title: x, version: "1" }
      paths:
        /orders:
          post:
            requestBody: { content: { application/json: { schema: { type: object } } } }
            responses: { "201": { description: made, content: { application/json: { example: { id: 7 } } } } }
            callbacks:
              paid:
                "{$request.body#/url}":
                  post: { requestBody: { content: { application/vnd.paid+json: { example: { event: paid } } } }, responses: {} }
`

func TestS8_a_document_makes_its_callbacks_after_the_answer(t *testing.T) {
	t.Parallel()
	h := newHooked(t, callingBack, 204)
	to := h.target
	if got := h.call(t, "POST", "/orders", `{"url":"`+to+`/paid"}`); got != `{"id":7}` {
		t.Errorf("answered %s", got)
	}
	hooks := h.ended(t, 0)
	if got := states(hooks); got != "delivered 204" || hooks[0].Name != "paid" || hooks[0].URL != to+"/paid" {
		t.Fatalf("the exchange shows %+v", hooks)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.requests[0]; r.Method != http.MethodPost || r.URL.Path != "/paid" || r.Header.Get("Content-Type") != "application/vnd.paid+json" || h.bodies[0] != `{"event":"paid"}` {
		t.Errorf("called with %s %s %v %s", r.Method, r.URL, r.Header, h.bodies[0])
	}
}

func TestS8_an_expression_that_yields_nothing_means_no_call_and_a_note(t *testing.T) {
	t.Parallel()
	h := newHooked(t, callingBack, 204)
	h.call(t, "POST", "/orders", `{"other":1}`)
	x := h.recorded.last(t, 1)
	if len(x.Webhooks) != 0 || len(x.Warnings) != 1 || !strings.Contains(x.Warnings[0], "$request.body#/url yields nothing") {
		t.Errorf("the exchange shows %+v and the notes %q", x.Webhooks, x.Warnings)
	}
}

func TestS8_S5_a_callback_goes_to_no_address_that_may_not_be_called(t *testing.T) {
	t.Parallel()
	h := newHooked(t, callingBack, 204)
	for i, to := range []string{"http://169.254.169.254/x", "http://[::ffff:10.0.0.1]/", "ftp://hook.test/", "http://u:p@127.0.0.1/"} {
		h.call(t, "POST", "/orders", `{"url":"`+to+`"}`)
		if hooks := h.ended(t, i); len(hooks) != 1 || hooks[0].State != mockbase.WebhookBlocked {
			t.Errorf("%s: %+v", to, hooks)
		}
	}
}
