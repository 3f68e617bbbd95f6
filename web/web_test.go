package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/web"
)

func newPage(t *testing.T, o web.Options) *web.Page {
	t.Helper()
	p, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(t *testing.T, p *web.Page, method, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "http://mocks.test:8080"+target, http.NoBody))
	return w
}

func TestM249_page_says_what_runs_here_and_where_to_go(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options web.Options
		facts   web.Facts
		holds   []string
		lacks   []string
	}{
		{
			name:  "a fresh server names its first account and its demo",
			facts: web.Facts{NeedsAdmin: true, Projects: 1, Mocks: 22, Example: "/m/demo/hello"},
			holds: []string{
				"22 mocks in 1 project<", "curl -i http://mocks.test:8080/m/demo/hello", "Make the first account",
				"/api/v1/auth/login", `href="api/openapi.json"`, `href="docs/problems"`, `href="healthz"`, "<h1>MockBase</h1>",
			},
			lacks: []string{"come from files"},
		},
		{
			name:  "a server with accounts keeps quiet about the set-up code",
			facts: web.Facts{Projects: 2, Mocks: 1, Example: "/m/shop/a"},
			holds: []string{"1 mock in 2 projects<", "/m/shop/a"},
			lacks: []string{"setup-code", "Make the first account"},
		},
		{
			name:  "a server without mocks says that the call meets none",
			holds: []string{"There is no mock to call yet", "answered with 404"},
		},
		{
			name:  "file mode sends to the files",
			facts: web.Facts{FileMode: true},
			holds: []string{"come from files"},
		},
		{
			name:    "the name of the instance is text, whatever it holds",
			options: web.Options{InstanceName: "<script>alert(1)</script>", PublicURL: "https://mocks.example.com/", MocksURL: "https://m.example.com"},
			facts:   web.Facts{Example: "/m/demo/hello"},
			holds:   []string{"&lt;script&gt;", "https://mocks.example.com/api/v1/auth/login", "https://m.example.com/m/demo/hello"},
			lacks:   []string{"<script", "mocks.test"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.Facts = func() web.Facts { return test.facts }
			w := get(t, newPage(t, test.options), http.MethodGet, "/")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("status %d, type %q", w.Code, w.Header().Get("Content-Type"))
			}
			for _, text := range test.holds {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("the page lacks %q", text)
				}
			}
			for _, text := range test.lacks {
				if strings.Contains(w.Body.String(), text) {
					t.Errorf("the page holds %q", text)
				}
			}
		})
	}
}

func TestM18_the_policy_allows_the_pages_own_style_and_nothing_else(t *testing.T) {
	t.Parallel()
	w := get(t, newPage(t, web.Options{}), http.MethodGet, "/")
	_, rest, _ := strings.Cut(w.Body.String(), "<style>")
	style, _, found := strings.Cut(rest, "</style>")
	if !found {
		t.Fatal("the page has no style")
	}
	digest := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := w.Header().Get("Content-Security-Policy"); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	if strings.Contains(w.Body.String(), "<script") || regexp.MustCompile(`\son[a-z]+=|style=`).MatchString(w.Body.String()) {
		t.Error("the page holds a script or an inline style, which its policy forbids")
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestM249_page_answers_GET_and_HEAD_of_its_own_path_alone(t *testing.T) {
	t.Parallel()
	p := newPage(t, web.Options{})
	if w := get(t, p, http.MethodHead, "/"); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d with %d bytes", w.Code, w.Body.Len())
	}
	if w := get(t, p, http.MethodPost, "/"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	if w := get(t, p, http.MethodGet, "/other"); w.Code != http.StatusNotFound {
		t.Errorf("another path: %d", w.Code)
	}
}

// WCAG 2.2, 1.4.3: text has at least 4.5:1 against what lies behind it, in both schemes; 1.4.11: signs have 3:1.
func TestThePageIsReadableInBothSchemes(t *testing.T) {
	t.Parallel()
	style, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(style), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("the style has no dark scheme")
	}
	for name, scheme := range map[string]string{"light": light, "dark": dark} {
		for _, pair := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "paper", 4.5},
			{"ink", "card", 4.5},
			{"ink", "code", 4.5},
			{"quiet", "paper", 4.5},
			{"quiet", "card", 4.5},
			{"accent", "card", 4.5},
			{"accent", "paper", 4.5},
			{"well", "card", 3},
		} {
			if got := contrast(token(t, scheme, pair.front), token(t, scheme, pair.back)); got < pair.least {
				t.Errorf("%s: %s on %s is %.2f:1, want %.1f:1", name, pair.front, pair.back, got, pair.least)
			}
		}
	}
}

func token(t *testing.T, scheme, name string) string {
	t.Helper()
	m := regexp.MustCompile(`--` + name + `: #([0-9a-f]{6});`).FindStringSubmatch(scheme)
	if m == nil {
		t.Fatalf("no colour --%s", name)
	}
	return m[1]
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(colour[2*i:2*i+2], 16, 8)
		part := float64(n) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weight * part
	}
	return sum
}
