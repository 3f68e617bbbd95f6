package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

func TestRL88_a_path_is_resolved_as_its_handler_finds_it(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, resolved, alias string }{
		{"/m/demo/hello", "/m/demo/hello", ""},
		{"/m/demo/./hello", "/m/demo/hello", ""},
		{"/m/demo/x/../hello", "/m/demo/hello", ""},
		{"/m/demo/%2e/hello", "/m/demo/hello", ""},
		{"/m/demo/x/%2E%2e/hello", "/m/demo/hello", ""},
		{"/m/demo/%68ello", "/m/demo/hello", ""},
		{"/m/d%65mo/%68ello", "/m/demo/hello", ""},
		{"/m/demo/%252e/hello", "/m/demo/%2e/hello", ""},
		{"/m/demo/users/..%2fhello", "/m/demo/users/..%2Fhello", ""},
		{"/m/demo//hello", "/m/demo//hello", "/m/demo/hello"},
		{"/m/demo/users//../hello", "/m/demo/users/hello", "/m/demo/hello"},
		{"/m/demo/../other/hello", "/m/demo/other/hello", ""},
		{"/m/demo/../../../api", "/m/demo/api", ""},
		{"/m/demo/hello/..", "/m/demo/", ""},
		{"/m/demo/hello/.", "/m/demo/hello/", ""},
		{"/m/demo", "/m/demo", "/m/demo/"},
		{"/m/demo/", "/m/demo/", ""},
		{"/api/../m/x", "/m/x", ""},
		{"/m/", "/m/", ""},
		{"/", "/", ""},
		{"/m/demo/100%25/./x", "/m/demo/100%/x", ""},
		{"/m/demo/.hidden", "/m/demo/.hidden", ""},
		{"/m/demo/a%22%2f../b%22", "/m/demo/a\"%2F../b\"", ""},
	} {
		t.Run(c.target, func(t *testing.T) {
			t.Parallel()
			resolved, alias := httplimit.ResolvePath(httptest.NewRequest(http.MethodGet, c.target, http.NoBody), "/m/")
			if diff := cmp.Diff([]string{c.resolved, c.alias}, []string{resolved, alias}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRL88_no_spelling_of_a_path_evades_a_list_or_joins_one(t *testing.T) {
	t.Parallel()
	blocked := guard.Rules{Blocklist: []guard.Entry{{Path: "/m/demo/hello"}, {Path: "/m/demo/admin/*"}, {Path: "/m/closed/*"}}}
	safe := guard.Rules{Safelist: []guard.Entry{{Path: "/m/demo/users*"}}, Blocklist: []guard.Entry{{Path: "/*"}}}
	excluded := guard.Rules{Exclude: []string{"/m/demo/users*"}, Blocklist: []guard.Entry{{Path: "/*"}}}
	for _, c := range []struct {
		rules  guard.Rules
		target string
		status int
	}{
		{blocked, "/m/demo/./hello", 403},
		{blocked, "/m/demo/x/../hello", 403},
		{blocked, "/m/demo/%2e/hello", 403},
		{blocked, "/m/demo/%68ello", 403},
		{blocked, "/m/demo//hello", 403},
		{blocked, "/m/demo//admin/x", 403},
		{blocked, "/m/demo/../hello", 403},
		{blocked, "/m/closed", 403},
		{blocked, "/m/demo/hello/../other", 200},
		{blocked, "/m/demo/hello%2f..", 200},
		{safe, "/m/demo/users/1", 200},
		{safe, "/m/demo/x/../users", 200},
		{safe, "/m/demo/users/../hello", 403},
		{safe, "/m/demo/users/%2e%2E/hello", 403},
		{safe, "/m/demo/users//../hello", 403},
		{excluded, "/m/demo/users", 200},
		{excluded, "/m/demo/users/../hello", 403},
		{excluded, "/m/demo/users//../hello", 403},
	} {
		l := newLayers(t, c.rules, func(o *httplimit.LayerOptions) { o.Base = "/m/" })
		w := httptest.NewRecorder()
		l.Middleware(hello).ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.target, http.NoBody))
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.target, w.Code, c.status)
		}
	}
}

func TestRL78_letters_of_a_key_change_and_bytes_that_are_none_stay_apart(t *testing.T) {
	t.Parallel()
	identity, err := httplimit.NewIdentity(httplimit.IdentityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	part := func(function, tenant string) string {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header["X-Tenant"] = []string{tenant}
		value, _ := identity.Part(r, `{{`+function+` (header "X-Tenant")}}`)
		return value
	}
	for _, c := range []struct{ function, tenant, want string }{
		{"lower", "ÄbC", "äbc"},
		{"upper", "äbC", "ÄBC"},
		{"lower", "A\xff\xfe", "a\xff\xfe"},
		{"lower", "A\xff\xfd", "a\xff\xfd"},
		{"upper", "a\xff\xfe", "A\xff\xfe"},
		{"lower", "\ufffd", "\ufffd"},
	} {
		if got := part(c.function, c.tenant); got != c.want {
			t.Errorf("%s of %q is %q, want %q", c.function, c.tenant, got, c.want)
		}
	}
}
