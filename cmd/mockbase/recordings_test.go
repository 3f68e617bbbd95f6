package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// T15, T17 and S2: what passes through becomes a mock that the API shows, and exchanges show the webhooks that follow.
func TestT15_what_passes_through_becomes_a_mock(t *testing.T) {
	t.Parallel()
	var asked, hooked atomic.Int64
	var gone atomic.Bool
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			hooked.Add(1)
			return
		}
		asked.Add(1)
		if gone.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, "from upstream")
	}))
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	server := start(t, "--data-dir="+dir)
	api := newClient(t, server.URL)
	api.setUp(t, setupCodeIn(t, dir))
	api.logIn(t)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects",
		`{"slug":"shop","name":"Shop","settings":{"fallback":{"proxy":{"to":"`+upstream.URL+`","record":"new"}}}}`)
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks",
		`{"request":"GET /hook","response":{"text":"a","webhooks":[{"url":"`+upstream.URL+`","name":"paid"}]}}`)
	api.call(t, http.StatusOK, http.MethodGet, "/m/shop/users?page=1", "")
	await(t, "the mock is recorded", func() bool {
		return strings.Contains(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks", "").body, "rec-get-users-")
	})
	gone.Store(true)
	if again := api.call(t, http.StatusOK, http.MethodGet, "/m/shop/users?page=1", ""); again.body != "from upstream" || asked.Load() != 1 {
		t.Errorf("replayed %q after %d calls", again.body, asked.Load())
	}
	api.call(t, http.StatusOK, http.MethodGet, "/m/shop/hook", "")
	await(t, "the webhook is shown", func() bool {
		shown := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/traffic/latest", "").body
		return strings.Contains(shown, `"name":"paid"`) && strings.Contains(shown, `"number":1`)
	})
}

// T15 and M-77: a project from files is not written to, and the exchange says so.
func TestT15_a_project_from_files_records_nothing(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(upstream.Close)
	dir := t.TempDir()
	definition := "project: shop\nsettings: { fallback: { proxy: { to: '" + upstream.URL + "', record: new } } }\nmocks: []\n"
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(testPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir, "--admin-email="+testEmail, "--admin-password-file="+password)
	api := newClient(t, server.URL)
	api.logIn(t)
	api.call(t, http.StatusNotFound, http.MethodGet, "/m/shop/users", "")
	await(t, "the exchange says why", func() bool {
		shown, err := api.try(t.Context(), http.MethodGet, "/api/v1/projects/shop/traffic/latest", "")
		return err == nil && strings.Contains(shown.body, "not recorded as a mock")
	})
}
