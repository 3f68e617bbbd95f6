package management_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// visit sends a request to the mocks of the shop.
func (w *world) visit(target string) {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.engine.ServeHTTP(answer, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://mocks.test/m/shop"+target, http.NoBody))
	if answer.Code >= http.StatusInternalServerError {
		w.t.Fatalf("%s: status %d", target, answer.Code)
	}
}

// part is a member of an event's data, or of an object in it.
func (e event) part(path ...string) any {
	var value any = e.data
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func TestM70_sessions_are_told(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	s := w.open(t, "?batch=5ms&types=session", viewer, nil)
	s.next()
	w.send(call{method: http.MethodPost, path: sessionsPath, as: editor, body: `{"name":"ci"}`}).want(http.StatusCreated)
	if e := s.next(); e.kind != "session" || e.data["name"] != "ci" || e.data["change"] != "started" || e.part("clock", "offsetMs") != 0.0 {
		t.Errorf("event %+v", e)
	}
	w.send(call{method: http.MethodPost, path: sessionsPath + "/ci/clock", as: editor, body: `{"advance":"1h"}`}).want(http.StatusOK)
	if e := s.next(); e.data["change"] != "updated" || e.part("clock", "offsetMs") != 3_600_000.0 {
		t.Errorf("event %+v", e)
	}
	w.send(call{method: http.MethodDelete, path: sessionsPath + "/ci", as: editor}).want(http.StatusNoContent)
	if e := s.next(); e.data["change"] != "ended" || e.data["clock"] != nil {
		t.Errorf("event %+v", e)
	}
}

func TestM70_moves_of_scenarios_are_told(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	w.visit("/~other/cart")
	all, one := w.open(t, "?batch=5ms&types=scenario", viewer, nil), w.open(t, "?batch=5ms&types=scenario&session=other", viewer, nil)
	all.next()
	one.next()
	// A call that moves nothing is no news.
	w.visit("/cart")
	w.visit("/pay")
	e := all.next()
	if e.kind != "scenario" || e.data["name"] != "checkout" || e.data["state"] != "paid" || e.part("session", "name") != "default" || e.data["changedBy"] != "pay" || e.data["key"] != nil {
		t.Errorf("event %+v", e)
	}
	w.visit("/~other/pay")
	for _, s := range []*stream{all, one} {
		if e := s.next(); e.data["state"] != "paid" || e.part("session", "name") != "other" {
			t.Errorf("event %+v", e)
		}
	}
	// What people change is told as well, soon.
	w.send(call{method: http.MethodPost, path: projectPath + "/scenarios/reset", as: editor, body: `{"session":"other"}`}).want(http.StatusOK)
	if e := one.next(); e.data["state"] != "Started" || e.data["changedAt"] != nil {
		t.Errorf("event %+v", e)
	}
}

func TestM70_keys_of_scenarios_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"scenarios":{"order":{"key":"path:id"}},"mocks":[
		{"name":"pay","request":"GET /pay/{id}","scenario":"order","response":{"setState":"paid"}}]}`)
	s := w.open(t, "?batch=5ms&types=scenario", viewer, nil)
	s.next()
	w.visit("/pay/7")
	if e := s.next(); e.data["key"] != "7" || e.data["state"] != "paid" {
		t.Errorf("event %+v", e)
	}
	w.send(call{method: http.MethodPost, path: projectPath + "/scenarios/reset", as: editor, body: `{}`}).want(http.StatusOK)
	if e := s.next(); e.data["key"] != "7" || e.data["state"] != "Started" {
		t.Errorf("event %+v", e)
	}
}

func TestM70_limits_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"mocks":[{"name":"a","request":"GET /a","rateLimit":"1/1h","response":{}}]}`)
	s := w.open(t, "?batch=5ms&types=limit", viewer, nil)
	s.next()
	w.visit("/a")
	if e := s.next(); e.kind != "limit" || e.data["name"] != "mock:a" || e.data["scope"] != "mock" || e.data["mock"] != "a" || e.data["change"] != "used" ||
		e.part("session", "name") != "default" || e.part("usage", "allowed24h") != 1.0 || e.part("usage", "peakPercent") != 100.0 {
		t.Errorf("event %+v", e)
	}
	w.visit("/a")
	if e := s.next(); e.part("usage", "limited24h") != 1.0 {
		t.Errorf("event %+v", e)
	}
	w.apply(`{"rateLimits":{"free":{"limit":5,"window":"1m"}},"mocks":[{"name":"a","request":"GET /a","rateLimit":"2/1h","response":{}}]}`)
	got := map[string]any{}
	for range 2 {
		e := s.next()
		got[e.data["name"].(string)] = e.data["change"]
	}
	definition := `{"mocks":[{"name":"a","request":"GET /a","rateLimit":"2/1h","response":{}}]}`
	w.send(call{method: http.MethodPut, path: definitionPath + "?prune=true", as: owner, body: definition}).want(http.StatusOK)
	e := s.next()
	got[e.data["name"].(string)+" "] = e.data["change"]
	if diff := cmp.Diff(map[string]any{"free": "created", "mock:a": "updated", "free ": "deleted"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestM70_documents_are_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open(t, "?batch=5ms&types=document", viewer, nil)
	s.next()
	w.send(call{method: http.MethodPost, path: documentsPath, as: editor, kind: "application/yaml", body: petstore}).want(http.StatusCreated)
	if e := s.next(); e.kind != "document" || e.data["name"] != "pet-store" || e.data["change"] != "created" || e.data["version"] != 1.0 {
		t.Errorf("event %+v", e)
	}
	w.send(call{method: http.MethodDelete, path: documentsPath + "/pet-store", as: editor}).want(http.StatusNoContent)
	if e := s.next(); e.data["change"] != "deleted" {
		t.Errorf("event %+v", e)
	}
}

func TestM70_a_client_that_comes_back_misses_nothing_of_any_kind(t *testing.T) {
	t.Parallel()
	w := stateful(t)
	s := w.open(t, "?batch=5ms", viewer, nil)
	hello := s.next()
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	created := s.next()
	if created.kind != "mock" || created.place == hello.place {
		t.Fatalf("event %+v after %+v", created, hello)
	}
	w.visit("/pay")
	w.send(call{method: http.MethodDelete, path: mocksPath + "/hello", as: editor}).want(http.StatusNoContent)
	again := w.open(t, "?batch=5ms", viewer, map[string]string{"Last-Event-ID": created.place})
	seen := map[string]bool{}
	for range 4 {
		e := again.next()
		seen[strings.TrimSpace(e.kind+" "+textOf(e.data["change"]))] = true
	}
	if diff := cmp.Diff(map[string]bool{"hello": true, "exchange": true, "scenario": true, "mock deleted": true}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A place that nobody remembers is said to be none.
	for _, place := range []string{"-.5", "-." + strconv.FormatInt(1<<62, 10)} {
		lost := w.open(t, "?batch=5ms", viewer, map[string]string{"Last-Event-ID": place})
		lost.next()
		if e := lost.next(); e.kind != "resync" || e.data["after"] != place {
			t.Errorf("%s: event %+v", place, e)
		}
	}
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

func TestM70_what_does_not_fit_is_counted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`{"scenarios":{"order":{"key":"path:id"}},"mocks":[
		{"name":"pay","request":"GET /pay/{id}","scenario":"order","response":{"setState":"paid"}}]}`)
	s := w.open(t, "?batch=10s&types=scenario", viewer, nil)
	first := s.next()
	fast := w.open(t, "?batch=5ms&types=scenario", viewer, nil)
	fast.next()
	for i := range 10_000 {
		w.visit("/pay/" + strconv.Itoa(i))
	}
	for told := range 10_000 {
		if e := fast.next(); e.kind != "scenario" {
			t.Fatalf("event %+v after %d", e, told)
		}
	}
	w.visit("/~other/pay/1")
	w.visit("/~other/pay/2")
	fast.next()
	fast.next()
	back := w.open(t, "?batch=5ms&types=scenario", viewer, map[string]string{"Last-Event-ID": first.place})
	back.next()
	if e := back.next(); e.kind != "resync" {
		t.Errorf("event %+v", e)
	}
}
