package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/web"
)

// C-26, M-42: a link that the server made leads to a page that tells how to use its secret, and that knows nothing of it.
func TestC26_links_to_accounts_lead_to_what_uses_them(t *testing.T) {
	t.Parallel()
	page := newPage(t, web.Options{InstanceName: "<b>Team</b>", PublicURL: "https://mocks.example.com", BasePath: "/base"})
	for path, holds := range map[string][]string{
		"/setup":  {"Make the first account", "#code=", "https://mocks.example.com/base/api/v1/auth/setup", `&#34;code&#34;`},
		"/invite": {"Accept an invitation", "#token=", "https://mocks.example.com/base/api/v1/auth/invitations/accept", "your name", "72 hours"},
		"/reset":  {"Choose a new password", "#token=", "https://mocks.example.com/base/api/v1/auth/password-reset", "newPassword"},
	} {
		w := get(t, page, http.MethodGet, path+"?token=hush&code=hush")
		text := w.Body.String()
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: status %d, %v", path, w.Code, w.Header())
		}
		for _, want := range append(holds, "&lt;b&gt;Team", "mockbase login --server https://mocks.example.com/base") {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not hold %s:\n%s", path, want, text)
			}
		}
		for _, never := range []string{"hush", "<script", "<form", "<b>Team", "http://", "src="} {
			if strings.Contains(text, never) {
				t.Errorf("%s holds %s", path, never)
			}
		}
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if head := get(t, page, http.MethodHead, path); head.Code != http.StatusOK || head.Body.Len() != 0 {
			t.Errorf("HEAD %s: %d, %d bytes", path, head.Code, head.Body.Len())
		}
		if post := get(t, page, http.MethodPost, path); post.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, post.Code)
		}
		if below := get(t, page, http.MethodGet, path+"/x"); below.Code != http.StatusNotFound {
			t.Errorf("GET %s/x: %d", path, below.Code)
		}
	}
}

func TestC26_links_to_accounts_work_without_the_page(t *testing.T) {
	t.Parallel()
	links := newPage(t, web.Options{}).Links()
	for path, want := range map[string]int{"/setup": http.StatusOK, "/invite": http.StatusOK, "/reset": http.StatusOK, "/": http.StatusNotFound, "/x": http.StatusNotFound} {
		w := httptest.NewRecorder()
		links.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if w.Code != want {
			t.Errorf("%s: status %d, not %d", path, w.Code, want)
		}
	}
}
