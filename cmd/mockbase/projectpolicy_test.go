package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// hit asks for a mock in the name of an address and returns the status and the policy that refused.
func (c *visitor) hit(t *testing.T, address, path string) (status int, by string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", address)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode, answer.Header.Get("Mockbase-Limited-By")
}

// secondProject makes a project named other with a mock at /hello.
func (c *visitor) secondProject(t *testing.T, settings string) {
	t.Helper()
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"other","name":"Other","settings":`+settings+`}`)
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/other/mocks", `{"request":{"method":"GET","path":"/hello"},"response":{"status":200}}`)
}

// M-74: every project has a limit of its own, which its clients share unless the key tells them apart.
func TestM74_each_project_has_a_limit_of_its_own(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--trusted-proxies=127.0.0.1"}
	server, c := administered(t, dir, args...)
	c.secondProject(t, `{}`)
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) {
		s.ProjectPolicy = &mockbase.ShieldProjectPolicy{Limit: 3, Window: "1d", Algorithm: "fixed_window", Key: "global", Mode: mockbase.ShieldEnforce, OnStoreFailure: "open"}
	}); got.StatusCode != http.StatusOK || !strings.Contains(got.body, `"projectPolicy":{"limit":3,"window":"1d","algorithm":"fixed_window","key":"global","mode":"enforce","onStoreFailure":"open"}`) {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	addresses := []string{"203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"}
	expect := func(path string, want ...int) {
		t.Helper()
		for i, wanted := range want {
			got, by := c.hit(t, addresses[i%len(addresses)], path)
			if got != wanted || wanted == http.StatusTooManyRequests && by != `shield; policy="project"` {
				t.Errorf("%s, request %d: %d by %s, want %d", path, i, got, by, wanted)
			}
		}
	}
	expect("/m/demo/hello", 200, 200, 200, 429, 429)
	expect("/m/other/hello", 200, 200, 200, 429)
	expect("/m/d%65mo/hello", 429) // No spelling of a project is another one.
	if got := c.call(t, http.StatusOK, http.MethodPost, "/api/v1/admin/shield/check", `{"ip":"203.0.113.9","path":"/m/demo/hello"}`).body; !strings.Contains(got, `"allowed":false`) || !strings.Contains(got, `"policy":"project"`) {
		t.Errorf("the check says %s", got)
	}

	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.ProjectPolicy.Key = "ip" }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	for _, path := range []string{"/m/demo/hello", "/m/other/hello"} {
		expect(path, 200, 200, 200, 200, 200, 200) // Four clients, of whom none is over three.
	}
	server.stop(t)

	_, c = administered(t, dir, args...) // It outlives a restart.
	if settings, _ := c.shieldOf(t); settings.ProjectPolicy == nil || settings.ProjectPolicy.Limit != 3 || settings.ProjectPolicy.Key != "ip" {
		t.Errorf("after a restart: %+v", settings.ProjectPolicy)
	}
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.ProjectPolicy = nil }); got.StatusCode != http.StatusOK || strings.Contains(got.body, "projectPolicy") {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	expect("/m/demo/hello", 200, 200, 200, 200, 200, 200, 200, 200)
}

// M-74: faults of the limit of projects are told with their place.
func TestM74_faults_of_the_limit_of_projects_are_placed(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir())
	for pointer, policy := range map[string]mockbase.ShieldProjectPolicy{
		"#/projectPolicy/limit":     {Limit: -1, Window: "60s", Algorithm: "fixed_window", Key: "global", Mode: "enforce", OnStoreFailure: "open"},
		"#/projectPolicy/window":    {Limit: 1, Window: "fortnight", Algorithm: "fixed_window", Key: "global", Mode: "enforce", OnStoreFailure: "open"},
		"#/projectPolicy/algorithm": {Limit: 1, Window: "60s", Algorithm: "dice", Key: "global", Mode: "enforce", OnStoreFailure: "open"},
		"#/projectPolicy/key":       {Limit: 1, Window: "60s", Algorithm: "fixed_window", Key: "mood", Mode: "enforce", OnStoreFailure: "open"},
		"#/projectPolicy/mode":      {Limit: 1, Window: "60s", Algorithm: "fixed_window", Key: "global", Mode: "later", OnStoreFailure: "open"},
	} {
		if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.ProjectPolicy = &policy }); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, `"`+pointer+`"`) {
			t.Errorf("%s: %d %s", pointer, got.StatusCode, got.body)
		}
	}
}

// RL88 and B11: where a project ignores the letter case of paths, lists and limits do so too.
func TestRL88_lists_ignore_letter_case_where_the_project_does(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir(), "--trusted-proxies=127.0.0.1")
	c.secondProject(t, `{"pathCase":"ignore"}`)
	change := func(change func(*mockbase.ShieldSettings)) {
		t.Helper()
		if got := c.changeShield(t, change); got.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
	}
	expect := func(path string, want ...int) {
		t.Helper()
		for i, wanted := range want {
			if got, by := c.hit(t, "203.0.113.9", path); got != wanted {
				t.Errorf("%s, request %d: %d by %s, want %d", path, i, got, by, wanted)
			}
		}
	}
	for _, entry := range []string{"/m/other/hello", "/m/other/He*"} {
		change(func(s *mockbase.ShieldSettings) { s.Blocklist = []string{entry, "/m/demo/hello"} })
		expect("/m/other/hello", 403)
		expect("/m/other/HELLO", 403)
		expect("/m/other/x/../hEllo", 403)
		expect("/m/other/ahello", 404)
		expect("/m/demo/hello", 403)
		expect("/m/demo/HELLO", 404) // Another path, which has no mock.
	}
	change(func(s *mockbase.ShieldSettings) {
		s.Blocklist, s.Safelist = []string{}, []string{"/m/other/hello"}
		s.ProjectPolicy = &mockbase.ShieldProjectPolicy{Limit: 1, Window: "1d", Algorithm: "fixed_window", Key: "global", Mode: "enforce", OnStoreFailure: "open"}
	})
	expect("/m/other/HeLLo", 200, 200, 200)
	change(func(s *mockbase.ShieldSettings) {
		s.Safelist, s.ProjectPolicy = []string{}, nil
		policy(s, "endpoint").Limit, policy(s, "endpoint").Window = 2, "1d"
	})
	expect("/m/other/hello", 200)
	expect("/m/other/HELLO", 200)
	expect("/m/other/Hello", 429)
	expect("/m/other/none", 404)
	expect("/m/other/NONE", 404)
	expect("/m/other/None", 429)
}
