package mockbase_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM3_a_slug_is_lower_case_and_never_looks_like_an_id(t *testing.T) {
	t.Parallel()
	cases := map[string]bool{
		"a": true, "0": true, "get-users-id": true, "a--b": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, "a-": false, "A": false, "a_b": false, "a.b": false, "a b": false, "é": false, "a\x11": false,
		strings.Repeat("a", 65): false,
	}
	for slug, want := range cases {
		if got := mockbase.ValidSlug(slug); got != want {
			t.Errorf("ValidSlug(%q) is %t, want %t", slug, got, want)
		}
	}
	prefixes := []string{
		mockbase.PrefixProject, mockbase.PrefixMock, mockbase.PrefixExchange, mockbase.PrefixUser, mockbase.PrefixToken,
		mockbase.PrefixSignIn, mockbase.PrefixKey, mockbase.PrefixSession, mockbase.PrefixBan, mockbase.PrefixInvite, mockbase.PrefixAudit,
		mockbase.PrefixDocument,
	}
	for _, prefix := range prefixes {
		if mockbase.ValidSlug(prefix + "01") {
			t.Errorf("a name may begin with the prefix %q of an id", prefix)
		}
	}
}

func TestDefaultMockName(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, method, path, want string }{
		{"a parameter counts with its name", "GET", "/users/{id}", "get-users-id"},
		{"a constraint does not count", "GET", `/users/{id:\d{3}}/x`, "get-users-id-x"},
		{"a mixed segment is taken apart", "GET", "/f/{n}.{ext}", "get-f-n-ext"},
		{"the root has the method alone", "GET", "/", "get"},
		{"stars leave nothing", "GET", "/files/**", "get-files"},
		{"the rest counts with its name", "ANY", "/legacy/{rest...}", "any-legacy-rest"},
		{"letters become lower case", "GET", "/Users", "get-users"},
		{"other letters leave a hyphen", "GET", "/café menu", "get-caf-menu"},
		{"a path that does not parse is taken as text", "GET", "/a/{x", "get-a-x"},
		{"several methods are joined", "POST-PUT", "/a", "post-put-a"},
		{"nothing at all is called mock", "", "", "mock"},
		{"a long one is cut", "GET", "/" + strings.Repeat("a", 100), "get-" + strings.Repeat("a", 60)},
		{"no hyphen is left at the cut", "GET", "/" + strings.Repeat("a", 59) + "/b", "get-" + strings.Repeat("a", 59)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := mockbase.DefaultMockName(c.method, c.path)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !mockbase.ValidSlug(got) {
				t.Errorf("%q is no slug", got)
			}
		})
	}
}

func TestUniqueNameCountsFromTwoAndStaysASlug(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{"a": true, "a-2": true, strings.Repeat("b", 64): true, strings.Repeat("c", 61) + "-cc": true}
	cases := map[string]string{
		"free":                          "free",
		"a":                             "a-3",
		strings.Repeat("b", 64):         strings.Repeat("b", 62) + "-2",
		strings.Repeat("c", 61) + "-cc": strings.Repeat("c", 61) + "-2",
	}
	for base, want := range cases {
		if got := mockbase.UniqueName(base, func(name string) bool { return taken[name] }); got != want {
			t.Errorf("UniqueName(%q) is %q, want %q", base, got, want)
		}
	}
}

func TestNames_of_one_base_get_suffixes_that_go_on(t *testing.T) {
	t.Parallel()
	var names mockbase.Names
	for i, want := range []string{"a", "a-3", "a-2", "a-4", "a-3-2"} {
		if got := names.Unique([]string{"a", "a-3", "a", "a", "a-3"}[i]); got != want {
			t.Errorf("%d: got %q, want %q", i, got, want)
		}
	}
	for range 50_000 {
		names.Unique("b")
	}
	if !names.Taken("b-50000") || names.Taken("b-50001") {
		t.Error("50,000 of one name do not end with b-50000")
	}
}

func TestM163_the_base_of_mocks_is_known_from_other_paths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/m/shop": true, "/m/shop/": true, "/tools/m/shop": true, "": false, "/m": false, "/m/": false, "/m/Shop": false, "/m/shop/v1": false, "/v1": false,
	} {
		if got := mockbase.IsMockBase(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
