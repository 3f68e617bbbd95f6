package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/catalog"
)

// withMocks gives a world a plane that serves mocks, and records what it serves.
func withMocks(t *testing.T) *world {
	t.Helper()
	late := &lateRecorder{}
	mocks, err := engine.New(engine.Options{Journal: late})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mocks.Close() })
	w := newWorld(t, func(o *management.Options) {
		o.Mocks = mocks
		o.Catalog = catalog.New(catalog.Options{Store: o.Accounts.(*people).DB, Plane: mocks, Clock: o.Clock})
	})
	late.to = w.journal
	return w
}

// lateRecorder records where there is a journal already.
type lateRecorder struct{ to engine.Recorder }

func (r *lateRecorder) Record(x *mockbase.Exchange) { r.to.Record(x) }

const shopPath = "/api/v1/projects/shop"

func (w *world) post(path, as, body string) *reply {
	w.t.Helper()
	return w.send(call{method: http.MethodPost, path: shopPath + path, as: as, body: body})
}

func TestM151_a_sample_request_is_explained(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	w.post("/mocks", editor, `{"name":"hello","request":"GET /hello/{id}","response":{"json":{"a":1}}}`).want(http.StatusCreated)
	got := w.post("/try", viewer, `{"request":{"method":"GET","target":"/hello/7?x=1","headers":[["Accept","*/*"]]}}`).want(http.StatusOK).json()
	response := got["response"].(map[string]any)
	if got["outcome"] != "mock" || got["mock"].(map[string]any)["name"] != "hello" || response["body"] != `{"a":1}` || response["rendered"] != true {
		t.Errorf("explanation %v", got)
	}
	got = w.post("/try", viewer, `{"request":{"method":"PUT","target":"/m/shop/hello/7","bodyBase64":"/w=="},"session":"new"}`).want(http.StatusOK).json()
	if got["outcome"] != "unmatched" || got["response"].(map[string]any)["status"] != 405.0 {
		t.Errorf("explanation %v", got)
	}
	if n := len(w.send(call{method: http.MethodGet, path: trafficPath, as: viewer}).names("id")); n != 0 {
		t.Errorf("%d exchanges were recorded", n)
	}
}

func TestM82_requests_of_try_and_send_are_read_strictly(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	for body, pointer := range map[string]string{
		`{}`:                                     "#/request",
		`{"request":{"method":"GET"}}`:           "#/request/target",
		`{"request":{"method":"","target":"/"}}`: "#/request/method",
		`{"request":{"method":"GET","target":"/","headers":{"a":"b"}}}`:            "#/request/headers",
		`{"request":{"method":"GET","target":"/","headers":[["a"]]}}`:              "#/request/headers",
		`{"request":{"method":"GET","target":"/","bodyBase64":"%"}}`:               "#/request/bodyBase64",
		`{"request":{"method":"GET","target":"/","body":"a","bodyBase64":"YQ=="}}`: "#/request/bodyBase64",
		`{"request":{"method":"GET","target":"/%zz"}}`:                             "#/request/target",
		`{"request":{"method":"GET","target":"/"},"session":""}`:                   "#/session",
		`{"request":{"method":"GET","target":"/"},"mock":"x"}`:                     "#/mock",
	} {
		for _, path := range []string{"/try", "/send"} {
			got := w.post(path, editor, body).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem()
			if len(got.Errors) == 0 || got.Errors[0].Pointer != pointer {
				t.Errorf("%s %s: %+v", path, body, got.Errors)
			}
		}
	}
	for body, pointer := range map[string]string{
		`{"request":{"method":"GET","target":"/"},"count":201}`:                   "#/count",
		`{"request":{"method":"GET","target":"/"},"count":200,"ratePerSecond":1}`: "#/ratePerSecond",
		`{"request":{"method":"GET","target":"/"},"key":""}`:                      "#/key",
	} {
		got := w.post("/send", editor, body).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed).problem()
		if got.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, got.Errors)
		}
	}
}

func TestM150_an_unsaved_document_is_tried(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	w.post("/mocks", editor, `{"name":"hello","request":"GET /hello","response":{"text":"saved"}}`).want(http.StatusCreated)
	const request = `"request":{"method":"GET","target":"/hello"}`
	got := w.post("/mocks/hello/try", viewer, `{`+request+`,"document":{"request":"GET /hello","response":{"text":"draft"}}}`).want(http.StatusOK).json()
	if body := got["response"].(map[string]any)["body"]; body != "draft" {
		t.Errorf("the document answers %v", body)
	}
	got = w.post("/mocks/hello/try", viewer, `{`+request+`}`).want(http.StatusOK).json()
	if body := got["response"].(map[string]any)["body"]; body != "saved" {
		t.Errorf("the mock answers %v", body)
	}
	bad := w.post("/mocks/hello/try", viewer, `{`+request+`,"document":{"request":"GET /hello","response":{"status":1}}}`)
	if p := bad.want(http.StatusUnprocessableEntity).problem(); p.Errors[0].Pointer != "#/document/response/status" {
		t.Errorf("faults %+v", p.Errors)
	}
	w.post("/mocks/none/try", viewer, `{`+request+`}`).want(http.StatusNotFound)
}

func TestM152_a_series_is_sent_and_recorded(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	w.post("/mocks", editor, `{"name":"turn","request":"GET /turn","select":"sequence","responses":[{"text":"one"},{"text":"two"},{"text":"three"}]}`).want(http.StatusCreated)
	for _, rate := range []string{"", `,"ratePerSecond":200`} {
		session := "s" + strings.Trim(rate, `,":`)
		session = strings.NewReplacer(`"`, "", ":", "").Replace(session)
		got := w.post("/send", editor, `{"request":{"method":"GET","target":"/turn"},"count":3,"session":"`+session+`"`+rate+`}`).want(http.StatusOK).json()
		bodies := map[any]bool{}
		for _, item := range got["items"].([]any) {
			one := item.(map[string]any)
			bodies[one["body"]] = one["status"] == 200.0 && strings.HasPrefix(one["exchange"].(string), "xch_")
		}
		if diff := cmp.Diff(map[any]bool{"one": true, "two": true, "three": true}, bodies); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rate, diff)
		}
	}
	latest := w.send(call{method: http.MethodGet, path: trafficPath + "/latest", as: viewer}).want(http.StatusOK).json()
	if latest["via"] != "management" {
		t.Errorf("recorded %v", latest)
	}
	w.post("/send", viewer, `{"request":{"method":"GET","target":"/turn"}}`).want(http.StatusForbidden)
}

func TestM177_a_recorded_exchange_is_explained_then_and_now(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	made := w.post("/mocks", editor, `{"name":"hello","request":"GET /hello","response":{"text":"then"}}`).want(http.StatusCreated)
	w.post("/send", editor, `{"request":{"method":"GET","target":"/hello"}}`).want(http.StatusOK)
	w.send(call{
		method: http.MethodPut, path: shopPath + "/mocks/hello", as: editor, body: `{"request":"POST /hello","response":{"text":"now"}}`,
		header: map[string]string{"If-Match": made.header.Get("ETag")},
	}).want(http.StatusOK)
	got := w.send(call{method: http.MethodGet, path: trafficPath + "/latest/explain", as: viewer}).want(http.StatusOK).json()
	if got["outcome"] != "mock" || got["current"].(map[string]any)["outcome"] != "unmatched" || len(got["changed"].([]any)) == 0 {
		t.Errorf("explanation %v", got)
	}
	w.send(call{method: http.MethodGet, path: trafficPath + "/xch_none/explain", as: viewer}).want(http.StatusNotFound)
}

func TestM178_an_exchange_becomes_the_draft_of_a_mock(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	x := exchange(w.shop.ID, w.clock.Now(), mockbase.AnsweredByUnmatched)
	x.Request.Method, x.Request.Path = http.MethodPost, "/users/42/orders/0b5e3a6e-6f0a-4c1b-9d0f-3d9f4f6f7a10/{x}"
	x.Response = mockbase.RecordedResponse{
		Status: http.StatusCreated, Body: []byte(`{"a":2.50}`),
		Header: http.Header{"Content-Type": {"application/json"}, "Date": {"x"}, "Set-Cookie": {"***"}, "X-A": {"1"}},
	}
	w.journal.Record(x)
	path := "/traffic/" + x.ID + "/draft"
	for body, want := range map[string]string{
		"":                    `{"name":"post-users-id-orders-id2-id3","request":{"method":"POST","path":"/users/{id}/orders/{id2}/{id3}"},"response":{"status":200}}`,
		`{"from":"response"}`: `{"name":"post-users-id-orders-id2-id3","request":{"method":"POST","path":"/users/{id}/orders/{id2}/{id3}"},"response":{"status":201,"headers":{"Content-Type":["application/json"],"X-A":["1"]},"json":{"a":2.50}}}`,
	} {
		got := w.post(path, editor, body).want(http.StatusOK)
		if diff := cmp.Diff(want, strings.TrimSpace(string(got.body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	w.post(path, editor, `{"from":"x"}`).want(http.StatusUnprocessableEntity)
	w.post(path, viewer, "").want(http.StatusForbidden)
	if got := w.send(call{method: http.MethodGet, path: shopPath + "/mocks", as: viewer}).names("name"); len(got) != 0 {
		t.Errorf("mocks %v were saved", got)
	}
}

func TestM150_secrets_are_masked_for_who_may_change_no_mocks(t *testing.T) {
	t.Parallel()
	w := withMocks(t)
	w.send(call{method: http.MethodPut, path: shopPath + "/variables/k", as: editor, body: `{"value":"S3CRET","secret":true}`}).want(http.StatusCreated)
	w.post("/mocks", editor, `{"name":"tell","request":"GET /tell","response":{"template":true,"text":"{{ var.k }}"}}`).want(http.StatusCreated)
	made := w.do("POST", "/tokens", owner, `{"name":"ci","scopes":["mocks:read"],"projects":["shop"]}`).want(http.StatusCreated).json()
	reader := made["token"].(string)
	const sample = `"request":{"method":"GET","target":"/tell"}`
	const document = `"document":{"name":"tell","request":"GET /tell","response":{"template":true,"text":"{{ upper var.k }}.{{ base64 var.k }}"}}`
	for _, path := range []string{"/try", "/mocks/tell/try"} {
		for _, body := range []string{"{" + sample + "}", "{" + sample + "," + document + "}"} {
			if path == "/try" && strings.Contains(body, "document") {
				continue
			}
			sample := call{method: http.MethodPost, path: shopPath + path, body: body}
			asViewer, asReader := sample, sample
			asViewer.as, asReader.bearer = viewer, reader
			for _, c := range []call{asViewer, asReader} {
				got := string(w.send(c).want(http.StatusOK).body)
				if strings.Contains(got, "S3CRET") || strings.Contains(got, "UzNDUkVU") || !strings.Contains(got, "secret variables are ********") {
					t.Errorf("%s %s: %s", path, body, got)
				}
			}
			// An editor's try is rendered with the values, and shown as recorded answers are.
			if got := string(w.post(path, editor, body).want(http.StatusOK).body); strings.Contains(got, "S3CRET") || !strings.Contains(got, `"***`) || strings.Contains(got, "********") {
				t.Errorf("an editor sees %s", got)
			}
		}
	}
}
