package management_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/management"
)

// M-246: the page names every operation, needs nothing from elsewhere, and runs nothing.
func TestM246_the_reference_page_shows_every_operation_and_loads_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(call{method: http.MethodGet, path: "/docs"}).want(http.StatusOK)
	page := string(got.body)
	for _, r := range management.Routes() {
		if !strings.Contains(page, `<h3 id="`+r.Operation+`">`) || !strings.Contains(page, `href="#`+r.Operation+`"`) {
			t.Errorf("%s is missing", r.Operation)
		}
	}
	policy := got.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "style-src 'sha256-", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %s", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	// What examples show is text.
	page = regexp.MustCompile(`(?s)<pre tabindex="0">.*?</pre>`).ReplaceAllString(page, "")
	for _, forbidden := range []string{"<script", "http://", "https://", "@import", "url(", " style=", " onclick", `src="`, `href="/`} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page holds %s", forbidden)
		}
	}
}

// Every link inside leads to a place, and no two places have one name.
func TestM246_the_links_of_the_reference_page_lead_somewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := string(w.send(call{method: http.MethodGet, path: "/docs"}).want(http.StatusOK).body)
	places := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if places[m[1]] {
			t.Errorf("two places are called %s", m[1])
		}
		places[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !places[m[1]] {
			t.Errorf("no place is called %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(` href="([^#"][^"]*)"`).FindAllStringSubmatch(page, -1) {
		w.send(call{method: http.MethodGet, path: "/" + m[1]}).want(http.StatusOK)
	}
}
