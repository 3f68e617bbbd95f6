package engine_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/internal/testkit"
)

// receiver is what webhooks call: it answers by a list of statuses, the last of which repeats.
type receiver struct {
	mu       sync.Mutex
	statuses []int
	requests []*http.Request
	bodies   []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
	w.WriteHeader(r.statuses[min(len(r.requests), len(r.statuses))-1])
	_, _ = io.WriteString(w, "thanks")
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// hooked is an engine whose mocks call a receiver.
type hooked struct {
	*receiver

	engine   *engine.Engine
	recorded recorder
	// address is the engine's, target the receiver's URL.
	address, target string
	client          *http.Client
}

// newHooked publishes mocks; {to} in them is the receiver's URL.
func newHooked(t *testing.T, definition string, statuses ...int) *hooked {
	t.Helper()
	h := &hooked{receiver: &receiver{statuses: append(statuses, http.StatusOK)[:max(1, len(statuses))]}, client: &http.Client{Timeout: time.Minute}}
	target := httptest.NewServer(h.receiver)
	t.Cleanup(target.Close)
	h.target = target.URL
	h.engine = newEngine(t, engine.Options{Journal: &h.recorded, Upstreams: outbound.Options{Loopback: true}})
	h.address = serveEngine(t, h.engine)
	definition = strings.NewReplacer("{to}", target.URL, "{self}", "http://"+h.address+"/m/shop").Replace(definition)
	publishDefinition(t, h.engine, definition)
	return h
}

// call asks for something and returns the body of the answer.
func (h *hooked) call(t *testing.T, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+h.address+"/m/shop"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	before := len(h.recorded.all())
	answer, err := h.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	h.recorded.last(t, before+1) // The client may have its answer a moment before, and the next exchange would be the first.
	return string(text)
}

// await waits until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	testkit.Eventually(t, what, is)
}

// ended waits until no webhook of the exchange number n, from 0, waits, and returns them.
func (h *hooked) ended(t *testing.T, n int) []mockbase.RecordedWebhook {
	t.Helper()
	var hooks []mockbase.RecordedWebhook
	await(t, "the webhooks end", func() bool {
		all := h.recorded.all()
		if len(all) <= n {
			return false
		}
		hooks = all[n].Webhooks
		return !slices.ContainsFunc(hooks, func(w mockbase.RecordedWebhook) bool { return w.State == mockbase.WebhookWaiting })
	})
	return hooks
}

// states are those of webhooks, with the statuses of their attempts.
func states(hooks []mockbase.RecordedWebhook) string {
	var text []string
	for i := range hooks {
		one := []string{string(hooks[i].State)}
		for _, a := range hooks[i].Attempts {
			one = append(one, strconv.Itoa(a.Status))
		}
		text = append(text, strings.Join(one, " "))
	}
	return strings.Join(text, ", ")
}

func TestS2_a_webhook_sees_the_request_and_the_answer(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: POST /orders/{id}
    response:
      template: true
      status: 201
      headers: { X-Kind: order }
      json: { total: 9 }
      webhooks:
        - url: "{to}/paid/{{ path.id }}"
          name: paid
          headers: { X-Attempt: "{{ attempt }}", X-Answer: '{{ response.status }} {{ index response.headers "X-Kind" }}' }
          json: { order: "{{ path.id }}", item: "{{ body.item }}", total: "{{ response.body.total }}", token: "{{ uuid }}", attempt: "{{ attempt }}" }
          retries: { max: 3, backoff: 1ms }
`, 503, 503, 200)
	if got := h.call(t, http.MethodPost, "/orders/o1", `{"item":"tea"}`); got != `{"total":9}` {
		t.Errorf("answered %s", got)
	}
	hooks := h.ended(t, 0)
	if got := states(hooks); got != "delivered 503 503 200" {
		t.Errorf("the exchange says %s", got)
	}
	if w := hooks[0]; w.Name != "paid" || !strings.HasSuffix(w.URL, "/paid/o1") || string(w.Attempts[2].Body) != "thanks" || w.Method != http.MethodPost {
		t.Errorf("the exchange says %+v", w)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range h.requests {
		sent := r.Header
		if sent.Get("X-Attempt") != strconv.Itoa(i+1) || sent.Get("X-Answer") != "201 order" || sent.Get("Content-Type") != "application/json" {
			t.Errorf("attempt %d has the header %v", i+1, sent)
		}
		if id := sent.Get("Webhook-Id"); id != hooks[0].ID || !strings.HasPrefix(id, "msg_") {
			t.Errorf("S3: attempt %d has the id %q", i+1, id)
		}
		if sent.Get("Mockbase-Hops") != "1" || sent.Get("User-Agent") != "MockBase" {
			t.Errorf("attempt %d has the header %v", i+1, sent)
		}
	}
	first := strings.TrimSuffix(h.bodies[0], `1}`)
	if !strings.HasPrefix(first, `{"order":"o1","item":"tea","total":9,"token":"`) {
		t.Errorf("sent %s", h.bodies[0])
	}
	if diff := cmp.Diff([]string{first + "1}", first + "2}", first + "3}"}, h.bodies); diff != "" {
		t.Errorf("only the attempt may differ (-want +got):\n%s", diff)
	}
}

func TestS1_the_answer_never_waits_for_the_webhook(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"with a length":    "text: hello",
		"without a length": "text: hello\n      stream: { chunks: 2, over: 2ms, chunked: true }",
		"an event stream":  "sse: { events: [{ data: hello }] }",
		"no body":          "status: 204",
		"a fault":          "text: hello\n      fault: { kind: truncate, afterBytes: 3 }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHooked(t, "mocks:\n  - request: GET /a\n    response:\n      "+response+"\n      webhooks: [{ url: '{to}', after: 1ms }]\n", 204)
			h.mu.Lock()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+h.address+"/m/shop/a", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Close = true
			answer, err := h.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			h.mu.Unlock()
			if got := states(h.ended(t, 0)); got != "delivered 204" {
				t.Errorf("the exchange says %s", got)
			}
		})
	}
}

func TestS1_a_client_that_leaves_leaves_only_what_is_always_called(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: GET /slow
    response: { text: x, delay: 1m, webhooks: [{ url: "{to}/never" }, { url: "{to}/always", always: true }] }
`)
	conn := testkit.DialHTTP(t, h.address)
	conn.Send("GET /m/shop/slow HTTP/1.1\r\nHost: h\r\n\r\n")
	conn.Close()
	if got := states(h.ended(t, 0)); got != "delivered 200" {
		t.Errorf("the exchange says %s", got)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.requests) != 1 || h.requests[0].URL.Path != "/always" {
		t.Errorf("%d calls were made", len(h.requests))
	}
}

func TestS6_addresses_that_may_not_be_called_are_blocked(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]:8080/x", "http://192.168.1.1/",
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			h := newHooked(t, `
mocks:
  - request: GET /a
    response: { text: x, webhooks: [{ url: "`+to+`", retries: 3 }] }
`)
			h.call(t, http.MethodGet, "/a", "")
			hooks := h.ended(t, 0)
			if got := states(hooks); got != "blocked 0" || !strings.Contains(hooks[0].Attempts[0].Error, "blocked") {
				t.Errorf("the exchange says %s: %+v", got, hooks)
			}
		})
	}
}

// A server that others can reach calls nothing on its own machine, by whatever name or spelling, and follows nobody there.
func TestS5_no_name_or_spelling_leads_a_webhook_to_loopback(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "mocks: []\n")
	_, port, _ := strings.Cut(strings.TrimPrefix(h.target, "http://"), ":")
	var recorded recorder
	guarded := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, guarded, "mocks: [ { request: POST /a, response: { template: true, text: x, webhooks: [ { url: 'http://{{ bodyText }}/' } ] } } ]\n")
	for i, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.255.255.254", "0.0.0.0", "[::1]", "[::]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[64:ff9b::7f00:1]",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://mocks.test/m/shop/a", strings.NewReader(host+":"+port))
		guarded.ServeHTTP(httptest.NewRecorder(), r)
		await(t, host+" ends", func() bool {
			all := recorded.all()
			return len(all) > i && len(all[i].Webhooks) == 1 && all[i].Webhooks[0].State != mockbase.WebhookWaiting
		})
		w := recorded.all()[i].Webhooks[0]
		if w.State != mockbase.WebhookBlocked && w.State != mockbase.WebhookFailed || len(w.Attempts) > 0 && w.Attempts[0].Status != 0 {
			t.Errorf("for %s the exchange says %+v", host, w)
		}
	}
	if n := h.count(); n != 0 {
		t.Errorf("%d calls came", n)
	}
}

// Rule S4: a target that sends its caller elsewhere is not followed.
func TestS4_a_redirect_leads_a_webhook_nowhere(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"http://169.254.169.254/latest/meta-data", "http://[::ffff:10.0.0.1]/", "/elsewhere"} {
			redirecting := &redirector{status: status, to: to}
			target := httptest.NewServer(redirecting)
			t.Cleanup(target.Close)
			h := newHooked(t, "mocks: [ { request: GET /a, response: { text: x, webhooks: [ { url: '"+target.URL+"', retries: 3 } ] } } ]\n")
			h.call(t, http.MethodGet, "/a", "")
			want := strconv.Itoa(status)
			if got := states(h.ended(t, 0)); !strings.HasSuffix(got, " "+want) || redirecting.calls.Load() != 1 {
				t.Errorf("a %s to %s: the exchange says %s after %d calls", want, to, got, redirecting.calls.Load())
			}
		}
	}
}

// redirector sends its callers elsewhere.
type redirector struct {
	status int
	to     string
	calls  atomic.Int64
}

func (r *redirector) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.calls.Add(1)
	w.Header().Set("Location", r.to)
	w.WriteHeader(r.status)
}

func TestS5_a_rendered_target_is_checked(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: POST /a
    response: { template: true, text: x, webhooks: [{ url: "{{ bodyText }}" }] }
`)
	for i, to := range []string{"ftp://example.com/", "http://u:p@127.0.0.1/", "", "http://169.254.169.254/", "::"} {
		h.call(t, http.MethodPost, "/a", to)
		if got := states(h.ended(t, i)); got != "blocked 0" {
			t.Errorf("for %q the exchange says %s", to, got)
		}
	}
}

func TestS5_what_a_template_puts_into_a_url_stays_within_the_target(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: POST /a
    response: { template: true, text: x, webhooks: [{ url: "{to}/hook%2F?x={{ bodyText }}" }] }
`)
	for i, test := range []struct{ value, sent string }{
		{"a HTTP/1.1 ", "/hook%2F?x=a%20HTTP/1.1%20"}, {"é\r\nX: y", "/hook%2F?x=%C3%A9%0D%0AX:%20y"},
	} {
		h.call(t, http.MethodPost, "/a", test.value)
		hooks := h.ended(t, i)
		if states(hooks) != "delivered 200" || !strings.HasSuffix(hooks[0].URL, test.sent) {
			t.Fatalf("for %q the exchange says %s, %s", test.value, states(hooks), hooks[0].URL)
		}
		if got := h.requests[i]; got.RequestURI != test.sent || got.URL.Query().Get("x") != test.value {
			t.Errorf("for %q the receiver got %s", test.value, got.RequestURI)
		}
	}
}

func TestS7_a_mock_that_calls_itself_ends(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: GET /again
    response: { text: x, webhooks: [{ url: "{self}/again", method: GET }] }
`)
	h.call(t, http.MethodGet, "/again", "")
	for i := range 10 {
		if got := states(h.ended(t, i)); got != "delivered 200" {
			t.Errorf("exchange %d says %s", i, got)
		}
	}
	if got := states(h.ended(t, 10)); got != "loop" {
		t.Errorf("the last exchange says %s", got)
	}
	if n := len(h.recorded.all()); n != 11 {
		t.Errorf("%d requests came, want 11", n)
	}
}

func TestAA15_an_advance_starts_what_is_due(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: GET /a
    response: { text: x, webhooks: [{ url: "{to}/late", after: 2h }, { url: "{to}/soon", after: 1h, retries: { max: 1, backoff: 30m } }] }
`, 503, 200, 200)
	h.call(t, http.MethodGet, "/a", "")
	advance := func(d time.Duration) {
		t.Helper()
		if _, err := h.engine.ChangeClock("prj_shop", "", mockbase.ClockChange{Advance: &d}); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range []time.Duration{time.Hour, 30 * time.Minute, 30 * time.Minute} {
		advance(d)
		await(t, "the call is made and noted", func() bool {
			made := 0
			for _, w := range h.recorded.all()[0].Webhooks {
				made += len(w.Attempts)
			}
			return made == i+1
		})
	}
	if got := states(h.ended(t, 0)); got != "delivered 200, delivered 503 200" {
		t.Errorf("the exchange says %s", got)
	}
}

func TestS9_a_reset_or_the_end_of_its_session_cancels_what_waits(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: GET /a
    response: { text: x, webhooks: [{ url: "{to}", after: 1h }] }
`)
	h.call(t, http.MethodGet, "/a", "")
	h.call(t, http.MethodGet, "/~ci/a", "")
	h.call(t, http.MethodGet, "/~qa/a", "")
	await(t, "all three wait", func() bool { return h.engine.WaitingWebhooks("prj_shop") == 3 })
	if err := h.engine.Reset("prj_shop", "ci", []mockbase.ResetLevel{mockbase.ResetLimits}); err != nil {
		t.Fatal(err)
	}
	if n := h.engine.WaitingWebhooks("prj_shop"); n != 3 {
		t.Errorf("a reset of limits leaves %d", n)
	}
	if err := h.engine.Reset("prj_shop", "ci", []mockbase.ResetLevel{mockbase.ResetAll}); err != nil {
		t.Fatal(err)
	}
	if err := h.engine.EndSession("prj_shop", "qa"); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if got := states(h.ended(t, i+1)); got != "cancelled" {
			t.Errorf("exchange %d says %s", i+1, got)
		}
	}
	if n := h.engine.WaitingWebhooks("prj_shop"); n != 1 {
		t.Errorf("%d webhooks wait, want 1", n)
	}
	h.engine.Close()
	if w := h.ended(t, 0); states(w) != "dropped" || !strings.Contains(w[0].Error, "the server stops") {
		t.Errorf("the exchange says %+v", w)
	}
}

func TestS9_one_more_than_may_wait_is_dropped(t *testing.T) {
	t.Parallel()
	var recorded recorder
	e := newEngine(t, engine.Options{Journal: &recorded})
	publishDefinition(t, e, `
mocks:
  - request: GET /a
    response: { text: x, webhooks: [{ url: "http://hook.test", after: 1h }] }
`)
	for range 1001 {
		e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/m/shop/a", http.NoBody))
	}
	all := recorded.all()
	if got := states(all[999].Webhooks); got != "waiting" {
		t.Errorf("the 1000th is %s", got)
	}
	if w := all[1000].Webhooks; states(w) != "dropped" || w[0].Error == "" {
		t.Errorf("the 1001st is %+v", w)
	}
}

func TestS9_what_cannot_be_rendered_fails_and_leaves_the_answer_alone(t *testing.T) {
	t.Parallel()
	h := newHooked(t, `
mocks:
  - request: GET /a
    response:
      template: true
      text: fine
      webhooks:
        - { url: "{to}", text: "{{ range 100000000 }}x{{ end }}", retries: 3 }
        - { url: "{to}", text: "{{ bodyText | int }}" }
        - { url: "{to}", headers: { X-A: "{{ bodyText }}" } }
`)
	if got := h.call(t, http.MethodGet, "/a", "a\nb"); got != "fine" {
		t.Errorf("answered %q", got)
	}
	for i, w := range h.ended(t, 0) {
		if w.State != mockbase.WebhookFailed || len(w.Attempts) != 1 || w.Attempts[0].Error == "" {
			t.Errorf("webhook %d: %+v", i, w)
		}
	}
	if h.count() != 0 {
		t.Error("something was sent")
	}
}
