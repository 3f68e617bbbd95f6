package management_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

const shieldPath, bansPath = "/api/v1/admin/shield", "/api/v1/admin/bans"

func putShield(body, ifMatch, query string) call {
	return call{method: http.MethodPut, path: shieldPath + query, as: admin, body: body, header: map[string]string{"If-Match": ifMatch}}
}

func TestM220_M221_the_shield_is_changed_by_who_has_read_it(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: http.MethodGet, path: shieldPath, as: admin}).want(http.StatusOK)
	if got.header.Get("ETag") != `"v1"` {
		t.Errorf("ETag %q", got.header.Get("ETag"))
	}
	w.send(call{method: http.MethodGet, path: shieldPath, as: admin, header: map[string]string{"If-None-Match": `"v1"`}}).want(http.StatusNotModified)
	w.send(putShield(shieldBody, " ", "")).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	stale := w.send(putShield(shieldBody, `"v7"`, "")).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
	if stale.header.Get("ETag") != `"v1"` || stale.problem().CurrentVersion != 1 {
		t.Errorf("ETag %q, body %s", stale.header.Get("ETag"), stale.body)
	}
	changed := w.send(putShield(shieldBody, `"v1"`, "")).want(http.StatusOK)
	if changed.header.Get("ETag") != `"v2"` || changed.json()["exposeHeaders"] != true {
		t.Errorf("ETag %q, body %s", changed.header.Get("ETag"), changed.body)
	}
	// What GET gives can be sent back.
	again := w.send(call{method: http.MethodGet, path: shieldPath, as: admin}).want(http.StatusOK)
	w.send(putShield(string(again.body), `"v2"`, "")).want(http.StatusOK)
	w.send(putShield(strings.Replace(shieldBody, `"ipv6Prefix":64`, `"ipv6Prefix":56`, 1), `"v3"`, "")).want(http.StatusConflict, mockbase.CodePinnedByConfig)
	blocked := strings.Replace(shieldBody, "192.0.2.0/24", "127.0.0.1", 1)
	w.send(putShield(blocked, `"v3"`, "")).want(http.StatusConflict, mockbase.CodeWouldLockOut)
	w.send(putShield(blocked, `"v3"`, "?force=true")).want(http.StatusOK)
}

func TestM221_without_If_Match_nothing_is_changed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.request(t, call{method: http.MethodPut, path: shieldPath, as: admin, body: shieldBody})
	r.Header.Del("If-Match")
	got, err := w.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != http.StatusPreconditionRequired {
		t.Errorf("status %d", got.StatusCode)
	}
}

func TestM74_every_fault_of_the_settings_is_told(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(putShield(`{"policies":[{"name":"engine","limit":-1,"window":"60s","algorithm":"x","key":"ip","mode":"on","onStoreFailure":"ajar","lmit":1}],
		"safelist":"all","ipv6Prefix":12,"circuit":{"mode":"disabled"}}`, `"v1"`, "")).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	var pointers []string
	for _, f := range got.problem().Errors {
		pointers = append(pointers, f.Pointer)
		if f.Line == 0 {
			t.Errorf("%s has no line", f.Pointer)
		}
	}
	// What can be read is judged when all of it can.
	for _, want := range []string{"#/policies/0/mode", "#/policies/0/onStoreFailure", "#/policies/0/lmit", "#/safelist"} {
		if !slices.Contains(pointers, want) {
			t.Errorf("%s is not among %q", want, pointers)
		}
	}
}

func TestM75_M222_M223_M224_the_shield_is_seen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status := w.send(call{method: http.MethodGet, path: shieldPath + "/status", as: admin}).want(http.StatusOK)
	if !strings.Contains(string(status.body), `"latencyMs":{"p50":1,"p99":50}`) || !strings.Contains(string(status.body), `"state":"breaker-open"`) {
		t.Errorf("status %s", status.body)
	}
	w.send(call{method: http.MethodPost, path: shieldPath + "/check", as: admin, body: `{"ip":"203.0.113.9","forwardedFor":"198.51.100.1","path":"/m/shop/a"}`}).want(http.StatusOK)
	w.send(call{method: http.MethodPost, path: shieldPath + "/check", as: admin, body: `{"ip":"nobody","path":"m"}`}).want(http.StatusUnprocessableEntity)
	for query, want := range map[string][]string{
		"":                         {"203.0.113.9", "203.0.113.8"},
		"?sort=-requests":          {"203.0.113.8", "203.0.113.9"},
		"?sort=key&policy=engine":  {"203.0.113.8", "203.0.113.9"},
		"?range=5m":                {},
		"?policy=none":             {},
		"?q=113.9&sort=lastSeenAt": {"203.0.113.9"},
	} {
		if got := w.send(call{method: http.MethodGet, path: shieldPath + "/callers" + query, as: admin}).want(http.StatusOK).names("key"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	w.send(call{method: http.MethodGet, path: shieldPath + "/callers?range=2h", as: admin}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
}

func TestM218_M219_M225_M226_M227_M228_bans_are_made_changed_and_lifted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ban := func(kind, value, rest string) *reply {
		return w.send(call{
			method: http.MethodPost, path: bansPath, as: admin, body: `{"subject":{"type":"` + kind + `","value":"` + value + `"},"reason":"scraping"` + rest + `}`,
		})
	}
	made := ban("cidr", "203.0.113.0/24", `,"duration":"1h"`).want(http.StatusCreated)
	if made.header.Get("Location") != bansPath+"/"+made.json()["id"].(string) || made.json()["createdBy"] != admin {
		t.Errorf("location %q, body %s", made.header.Get("Location"), made.body)
	}
	ban("ip", "127.0.0.1", `,"duration":"1h"`).want(http.StatusConflict, mockbase.CodeWouldLockOut)
	ban("ip", "127.0.0.1", `,"duration":"forever","force":true`).want(http.StatusCreated)
	for _, rest := range []string{``, `,"duration":"soon"`, `,"duration":"0s"`, `,"duration":"1h","reasn":"x"`} {
		ban("account", "ada@example.com", rest).want(http.StatusUnprocessableEntity, mockbase.CodeValidationFailed)
	}
	for query, want := range map[string]int{"": 3, "?type=cidr": 1, "?source=rule": 1, "?rule=login-ban-1": 1, "?active=false": 0, "?q=scrap&sort=expiresAt": 2, "?active=true&limit=1": 1} {
		if got := w.send(call{method: http.MethodGet, path: bansPath + query, as: admin}).want(http.StatusOK).names("id"); len(got) != want {
			t.Errorf("%s: %d bans, want %d", query, len(got), want)
		}
	}
	at := made.header.Get("Location")
	changed := w.send(call{method: http.MethodPatch, path: at, as: admin, kind: "application/merge-patch+json", body: `{"duration":"forever","reason":"still scraping"}`}).want(http.StatusOK)
	if changed.json()["expiresAt"] != nil || changed.json()["reason"] != "still scraping" {
		t.Errorf("changed %s", changed.body)
	}
	w.send(call{method: http.MethodDelete, path: at, as: admin}).want(http.StatusNoContent)
	w.send(call{method: http.MethodDelete, path: at, as: admin}).want(http.StatusNotFound, mockbase.CodeNotFound)
	w.send(call{method: http.MethodDelete, path: bansPath, as: admin}).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
	if got := w.send(call{method: http.MethodDelete, path: bansPath + "?rule=login-ban-1", as: admin}).want(http.StatusOK).json()["lifted"]; got != 1.0 {
		t.Errorf("lifted %v", got)
	}
	rest := w.send(call{method: http.MethodGet, path: bansPath, as: admin}).names("id")
	if got := w.send(call{method: http.MethodDelete, path: bansPath + "?id=" + strings.Join(rest, ",") + ",ban_none", as: admin}).want(http.StatusOK).json()["lifted"]; got != 1.0 {
		t.Errorf("lifted %v of %q", got, rest)
	}
}
