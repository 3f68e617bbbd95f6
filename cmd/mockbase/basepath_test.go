package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// C-20, M-1: behind a proxy that passes on a part of its own paths, everything lives below the base path, and what
// answers lead to does too.
func TestC20_everything_lives_below_the_base_path(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, api := maintained(t, dir, "--base-path=/tools/mockbase/")
	if !strings.HasSuffix(server.URL, "/tools/mockbase") {
		t.Errorf("ready at %s", server.URL)
	}
	made := api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"shop","name":"Shop"}`)
	if got := made.Header.Get("Location"); got != "/tools/mockbase/api/v1/projects/shop" {
		t.Errorf("Location %q", got)
	}
	var project struct {
		URLs struct {
			Path string `json:"path"`
		} `json:"urls"`
	}
	if err := json.Unmarshal([]byte(made.body), &project); err != nil || project.URLs.Path != server.URL+"/m/shop" {
		t.Errorf("urls %+v, %v", project, err)
	}
	for _, name := range []string{"a", "b"} {
		api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"name":"`+name+`","request":"GET /`+name+`","response":{"text":"`+name+`"}}`)
	}
	list := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks?limit=1", "")
	if got := list.Header.Get("Link"); !strings.HasPrefix(got, "</tools/mockbase/api/v1/projects/shop/mocks?") {
		t.Errorf("Link %q", got)
	}
	missing := api.call(t, http.StatusNotFound, http.MethodGet, "/api/v1/projects/none", "")
	if !strings.Contains(missing.body, `"type":"/tools/mockbase/docs/problems/not-found"`) {
		t.Errorf("problem %s", missing.body)
	}
	if got := api.call(t, http.StatusOK, http.MethodGet, "/m/shop/a", "").body; got != "a" {
		t.Errorf("the mock answers %q", got)
	}
	api.call(t, http.StatusOK, http.MethodGet, "/docs/problems/not-found", "")
	for path, status := range map[string]int{"/m/shop/none": http.StatusNotFound, "/m/none/": http.StatusNotFound} {
		if got := api.call(t, status, http.MethodGet, path, "").body; !strings.Contains(got, `"type":"/tools/mockbase/docs/problems/`) {
			t.Errorf("the problem of %s is %s", path, got)
		}
	}
	if got := api.call(t, http.StatusOK, http.MethodGet, "/api/openapi.json", "").body; !strings.Contains(got, `"servers":[{"url":"/tools/mockbase"}]`) {
		t.Error("the API document names another server")
	}
	if got := api.call(t, http.StatusOK, http.MethodGet, "/api/openapi.yaml", "").body; !strings.Contains(got, `- url: "/tools/mockbase"`) {
		t.Error("the API document in YAML names another server")
	}
	if page := api.call(t, http.StatusOK, http.MethodGet, "/", "").body; strings.Contains(page, `href="/`) || !strings.Contains(page, server.URL+"/m/") {
		t.Errorf("page %s", page)
	}

	bare := newClient(t, strings.TrimSuffix(server.URL, "/tools/mockbase"))
	bare.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/": 404, "/m/shop/a": 404, "/api/v1/auth/status": 404, "/tools/mockbasement": 404, "/tools": 404,
		"/tools//mockbase/": 404, "/tools/mockbase": 308, "/tools/mockbase/healthz": 200, "/tools/mockbase/../mockbase/": 404,
	} {
		bare.call(t, want, http.MethodGet, path, "")
	}
}

func TestC20_the_base_path_holds_on_both_listeners(t *testing.T) {
	t.Parallel()
	server, api := maintained(t, t.TempDir(), "--base-path=/mockbase", "--admin-addr=127.0.0.1:0")
	mocks := newClient(t, server.URL)
	if got := mocks.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "").body; got == "" {
		t.Error("the mock answers nothing")
	}
	mocks.call(t, http.StatusNotFound, http.MethodGet, "/api/v1/auth/status", "")
	api.call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/me", "")
	api.call(t, http.StatusNotFound, http.MethodGet, "/m/demo/hello", "")
}
