package management_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

const verifyPath = shopPath + "/verify"

// shopping is a world whose shop was called a few times.
func shopping(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.apply(`{"mocks":[
		{"name":"list","request":"GET /orders","response":{"text":"ok"},"expect":{"calls":2}},
		{"name":"make","request":{"method":"POST","path":"/orders","body":{"json":{"id":1}}},"response":{"status":201}},
		{"name":"limited","request":"GET /limited","rateLimit":{"limit":1,"window":"1h"},"response":{"text":"ok"}},
		{"name":"spare","request":"GET /spare","response":{"text":"ok"}}]}`)
	w.mocked(http.MethodGet, "/orders", "")
	w.mocked(http.MethodPost, "/orders", `{"id":1}`)
	w.mocked(http.MethodGet, "/orders?token=s3cret", "")
	w.mocked(http.MethodPost, "/orders", `{"id":2}`)
	w.mocked(http.MethodGet, "/limited", "")
	latest, _ := w.journal.Exchange(w.shop.ID, "latest")
	refused := *latest
	refused.ID, refused.AnsweredBy, refused.Response.Status = mockbase.NewID(mockbase.PrefixExchange, w.clock.Now()), mockbase.AnsweredBySimulatedLimit, http.StatusTooManyRequests
	w.journal.Record(&refused)
	return w
}

func (w *world) verify(body string) map[string]any {
	w.t.Helper()
	return w.send(call{method: http.MethodPost, path: verifyPath, as: viewer, body: body}).want(http.StatusOK).json()
}

func TestM180_recorded_requests_are_verified(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	// M-8: without a body the mocks' own expectations are checked.
	if with, without := w.verify("{}"), w.verify(""); !reflect.DeepEqual(with, without) {
		t.Errorf("without a body: %v, with one: %v", without, with)
	}
	w.send(call{method: http.MethodPost, path: "/api/v1/projects/shop/sessions", as: editor, body: `{"name":"other"}`}).want(http.StatusCreated)
	for name, c := range map[string]struct{ body, want string }{
		"the mocks' own":           {`{}`, "pass"},
		"a mock":                   {`{"expectations":[{"mock":"make","times":1}]}`, "pass"},
		"a mock, more":             {`{"expectations":[{"mock":"make","times":{"min":2}}]}`, "fail"},
		"a request":                {`{"expectations":[{"request":"POST /orders","times":2}]}`, "pass"},
		"a request's body":         {`{"expectations":[{"request":{"method":"POST","path":"/orders","body":{"json":{"id":2}}},"times":1}]}`, "pass"},
		"who answered":             {`{"expectations":[{"request":"POST /orders","answeredBy":"unmatched","times":1}]}`, "pass"},
		"a limit's refusal aside":  {`{"expectations":[{"mock":"limited","times":1}]}`, "pass"},
		"a limit's refusal":        {`{"expectations":[{"mock":"limited","answeredBy":"simulated-limit","times":1}]}`, "pass"},
		"in order":                 {`{"expectations":[{"mock":"make","times":1,"inOrder":true},{"mock":"limited","times":1,"inOrder":true}]}`, "pass"},
		"out of order":             {`{"expectations":[{"mock":"limited","times":1,"inOrder":true},{"mock":"make","times":1,"inOrder":true}]}`, "fail"},
		"nothing unmatched":        {`{"unmatched":"fail"}`, "fail"},
		"nothing unused":           {`{"unused":"fail"}`, "fail"},
		"later":                    {`{"since":"2027-01-01T00:00:00Z","expectations":[{"mock":"make","times":0}]}`, "pass"},
		"another session":          {`{"session":"other","expectations":[{"mock":"make","times":0}]}`, "pass"},
		"the default session":      {`{"session":"default","expectations":[{"mock":"make","times":1}]}`, "pass"},
		"a value that was masked":  {`{"expectations":[{"request":{"method":"GET","path":"/orders","query":{"token":"s3cret"}},"times":1}]}`, "inconclusive"},
		"a name that tells enough": {`{"expectations":[{"request":{"method":"GET","path":"/orders","query":{"token":{"exists":true}}},"times":1}]}`, "pass"},
	} {
		if got := w.verify(c.body); got["verdict"] != c.want || got["complete"] != true {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestM72_a_failing_count_lists_near_misses(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	got := w.verify(`{"expectations":[{"name":"one order","mock":"make","times":2}]}`)
	check := got["checks"].([]any)[0].(map[string]any)
	near := check["nearMisses"].([]any)
	first := near[0].(map[string]any)
	if check["name"] != "one order" || check["expected"] != "2 calls" || check["actual"] != "1 call" || check["pass"] != false || len(near) != 3 {
		t.Errorf("check %v", check)
	}
	if failed := first["failed"].(map[string]any); first["path"] != "/orders" || failed["part"] != "body" {
		t.Errorf("nearest %v", first)
	}
	if unmatched := got["unmatched"].(map[string]any); unmatched["count"] != 1.0 || len(unmatched["samples"].([]any)) != 1 {
		t.Errorf("unmatched %v", unmatched)
	}
}

func TestM72_wrong_verifications_are_refused(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	for body, pointer := range map[string]string{
		`{"wait":"61s"}`:                                                "#/wait",
		`{"since":"now"}`:                                               "#/since",
		`{"unmatched":"no"}`:                                            "#/unmatched",
		`{"backoff":{"maxHerd":2}}`:                                     "#/backoff/maxHerd",
		`{"backoff":{"early":0}}`:                                       "#/backoff/early",
		`{"backoff":{"key":"template:{{ nope }}"}}`:                     "#/backoff/key",
		`{"expectations":[{"mock":"make"}]}`:                            "#/expectations/0/times",
		`{"expectations":[{"times":1}]}`:                                "#/expectations/0/mock",
		`{"expectations":[{"mock":"none","times":1}]}`:                  "#/expectations/0/mock",
		`{"expectations":[{"mock":"make","times":1,"answeredBy":"x"}]}`: "#/expectations/0/answeredBy",
		`{"expectations":[{"mock":"make","times":1},{"request":{"method":"GET"},"times":1}]}`: "#/expectations/1/request/path",
		`{"expectations":[{"request":{"method":"GET","pathMatches":"("},"times":1}]}`:         "#/expectations/0/request/pathMatches",
		`{"expectations":[{"mock":"make","times":{"min":2,"max":1}}]}`:                        "#/expectations/0/times/max",
	} {
		got := w.send(call{method: http.MethodPost, path: verifyPath, as: viewer, body: body}).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
		if e := got.problem().Errors; len(e) == 0 || e[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

func TestM72_a_verification_waits_for_a_pass(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	asked := make(chan struct{})
	go func() {
		<-asked
		<-time.After(150 * time.Millisecond)
		w.engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://mocks.test/m/shop/spare", http.NoBody))
	}()
	close(asked)
	began := time.Now()
	got := w.verify(`{"wait":"20s","expectations":[{"mock":"spare","times":1}]}`)
	if got["verdict"] != "pass" || time.Since(began) > 15*time.Second {
		t.Errorf("after %s: %v", time.Since(began), got)
	}
	if got := w.verify(`{"wait":"80ms","expectations":[{"mock":"spare","times":2}]}`); got["verdict"] != "fail" {
		t.Errorf("at the end: %v", got)
	}
}

// A misspelt session must not pass, one that has ended is judged by what it left (rules AA7 and AA11), and one may begin
// while a verification waits.
func TestAA11_sessions_that_never_were_are_told_from_those_that_ended(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	ask := func(session string) *reply {
		return w.send(call{method: http.MethodPost, path: verifyPath, as: viewer, body: `{"session":"` + session + `","expectations":[{"mock":"spare","times":{"min":0}}]}`})
	}
	backoff := func(session string) *reply {
		return w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop/backoff?session=" + session, as: viewer})
	}
	if got := ask("nobody").want(http.StatusNotFound).problem(); got.Code != mockbase.CodeNotFound || !strings.Contains(got.Detail, "nobody") {
		t.Errorf("verify: %+v", got)
	}
	backoff("nobody").want(http.StatusNotFound)
	w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop/sessions/nobody/clock", as: viewer}).want(http.StatusNotFound)
	if got := w.send(call{method: http.MethodGet, path: "/api/v1/projects/shop/traffic?session=nobody", as: viewer}).want(http.StatusOK); len(got.names("id")) != 0 {
		t.Errorf("traffic: %s", got.body)
	}

	visit := func() {
		w.engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://mocks.test/m/shop/~brief/spare", http.NoBody))
	}
	visit()
	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop/sessions/brief", as: editor}).want(http.StatusNoContent)
	ask("brief").want(http.StatusOK)
	backoff("brief").want(http.StatusOK)

	w.send(call{method: http.MethodDelete, path: "/api/v1/projects/shop/traffic", as: editor}).want(http.StatusOK)
	go func() {
		<-time.After(100 * time.Millisecond)
		visit()
	}()
	if got := w.verify(`{"session":"brief","wait":"20s","expectations":[{"mock":"spare","times":1}]}`); got["verdict"] != "pass" {
		t.Errorf("a session that began meanwhile: %v", got)
	}
}

func TestM66_missing_exchanges_make_a_verification_inconclusive(t *testing.T) {
	t.Parallel()
	w := shopping(t)
	w.journal.Bound(w.shop.ID, mockbase.Retention{MaxCount: 5})
	if got := w.verify(`{"expectations":[{"mock":"make","times":1}]}`); got["verdict"] != "inconclusive" || got["complete"] != false {
		t.Errorf("of all: %v", got)
	}
	since := w.clock.Now().Add(time.Millisecond).UTC().Format(time.RFC3339Nano)
	if got := w.verify(`{"since":"` + since + `","expectations":[{"mock":"make","times":0}]}`); got["verdict"] != "pass" {
		t.Errorf("of what came later: %v", got)
	}
	none := newWorld(t, func(o *management.Options) { o.Traffic = nil })
	if got := none.verify(`{}`); got["verdict"] != "inconclusive" || got["complete"] != false {
		t.Errorf("without a journal: %v", got)
	}
}
