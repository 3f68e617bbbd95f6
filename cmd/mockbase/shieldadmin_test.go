package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase"
)

// shieldOf reads the settings of the shield, with their ETag.
func (c *visitor) shieldOf(t *testing.T) (settings mockbase.ShieldSettings, etag string) {
	t.Helper()
	answer := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/shield", "")
	if err := json.Unmarshal([]byte(answer.body), &settings); err != nil {
		t.Fatal(err)
	}
	return settings, answer.Header.Get("ETag")
}

// changeShield puts changed settings and returns the answer.
func (c *visitor) changeShield(t *testing.T, change func(*mockbase.ShieldSettings)) *reply {
	t.Helper()
	return c.changeShieldBy(t, "", change)
}

// changeShieldBy is changeShield with a query.
func (c *visitor) changeShieldBy(t *testing.T, query string, change func(*mockbase.ShieldSettings)) *reply {
	t.Helper()
	settings, etag := c.shieldOf(t)
	change(&settings)
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.base+"/api/v1/admin/shield"+query, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("If-Match", etag)
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &reply{answer, string(body)}
}

func policy(s *mockbase.ShieldSettings, name string) *mockbase.ShieldPolicy {
	for i := range s.Policies {
		if s.Policies[i].Name == name {
			return &s.Policies[i]
		}
	}
	return nil
}

// administered starts a server with an administrator, who is signed in.
func administered(t *testing.T, dir string, args ...string) (*instance, *visitor) {
	t.Helper()
	server := start(t, append([]string{"--data-dir=" + dir, "--management-limit=disabled"}, args...)...)
	c := newClient(t, server.URL)
	if answer := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/auth/status", ""); strings.Contains(answer.body, `"setupRequired":true`) {
		c.setUp(t, setupCodeIn(t, dir))
	}
	c.logIn(t)
	return server, c
}

func TestRL130_the_shield_is_changed_while_it_works_and_the_change_outlives_a_restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, c := administered(t, dir, "--shield-algorithm=fixed_window")
	for range 3 {
		c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	}
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) {
		p := policy(s, "engine")
		p.Limit, p.Window, s.ExposeHeaders = 4, "1d", false
		policy(s, "login").OnStoreFailure = "closed"
	}); got.StatusCode != http.StatusOK || got.Header.Get("ETag") != `"v2"` {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	for range 4 { // Another window begins anew (RL12).
		c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	}
	// More requests in the same window: the count stays.
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { policy(s, "engine").Limit, s.ExposeHeaders = 5, true }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", ""); !strings.HasPrefix(got.Header.Get("RateLimit"), `"engine";r=0`) {
		t.Errorf("RateLimit %q", got.Header.Get("RateLimit"))
	}
	c.call(t, http.StatusTooManyRequests, http.MethodGet, "/m/demo/hello", "")
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"cidr","value":"203.0.113.0/24"},"duration":"forever","reason":"scraping"}`)
	server.until(t, "the settings of the shield were changed")
	server.stop(t)

	_, c = administered(t, dir, "--trusted-proxies=127.0.0.1", "--engine-limit=9/1d")
	settings, etag := c.shieldOf(t)
	if p := policy(&settings, "engine"); p.Limit != 9 || policy(&settings, "login").OnStoreFailure != "closed" || !settings.ExposeHeaders || etag != `"v3"` {
		t.Errorf("after the restart: %+v, ETag %s", settings, etag)
	}
	// What the configuration states wins, and is not to be changed (rule C-3 and M-74).
	got := c.changeShield(t, func(s *mockbase.ShieldSettings) { policy(s, "engine").Limit = 10 })
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, `"code":"pinned-by-config"`) || !strings.Contains(got.body, "--engine-limit") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	// The ban is in force from the first request on.
	banned, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/m/demo/hello", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	banned.Header.Set("X-Forwarded-For", "203.0.113.9")
	answer, err := c.http.Do(banned)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || answer.Header.Get("Mockbase-Limited-By") != `shield; layer="bans"; policy="manual"` {
		t.Errorf("banned: %d %v", answer.StatusCode, answer.Header)
	}
	if list := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans", ""); !strings.Contains(list.body, `"hits":1`) || !strings.Contains(list.body, "203.0.113.0/24") {
		t.Errorf("bans %s", list.body)
	}
	_, rest, _ := strings.Cut(c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans", "").body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	c.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/admin/bans/"+id, "")
	c.call(t, http.StatusNotFound, http.MethodGet, "/api/v1/admin/bans/"+id, "")
}

func TestM221_M226_nobody_locks_themselves_out_by_a_slip(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir())
	block := func(s *mockbase.ShieldSettings) { s.Blocklist = []string{"127.0.0.0/8"} }
	if got := c.changeShield(t, block); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, `"code":"would-lock-out"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, subject := range []string{`{"type":"ip","value":"127.0.0.1"}`, `{"type":"cidr","value":"127.0.0.0/8"}`, `{"type":"account","value":"ADA@example.com"}`} {
		got := c.call(t, http.StatusConflict, http.MethodPost, "/api/v1/admin/bans", `{"subject":`+subject+`,"duration":"1h","reason":"a slip"}`)
		if !strings.Contains(got.body, `"code":"would-lock-out"`) || !strings.Contains(got.body, `send \"force\": true`) {
			t.Errorf("%s: %s", subject, got.body)
		}
	}
	made := c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"account","value":"ADA@example.com"},"duration":"1h","reason":"meant","force":true}`)
	id, _, _ := strings.Cut(strings.TrimPrefix(made.body, `{"id":"`), `"`)
	log := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/audit?action=createBan&limit=1", "").body
	if !strings.Contains(log, `"target":{"type":"ban","id":"`+id+`","name":"ada@example.com"}`) {
		t.Errorf("the log tells of %s:\n%s", id, log)
	}
	c.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/admin/bans/"+id, "")
	// On the safelist nothing is refused (rule RL88).
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.Safelist = []string{"127.0.0.1"}; block(s) }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	c.call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	for name, change := range map[string]func(*mockbase.ShieldSettings){
		"an unknown policy":        func(s *mockbase.ShieldSettings) { s.Policies[0].Name = "engin" },
		"a policy twice":           func(s *mockbase.ShieldSettings) { s.Policies = append(s.Policies, s.Policies[0]) },
		"an open login":            func(s *mockbase.ShieldSettings) { policy(s, "login").OnStoreFailure = "open" },
		"a login by a header":      func(s *mockbase.ShieldSettings) { policy(s, "login").Key = "header:X-Id" },
		"an unknown key":           func(s *mockbase.ShieldSettings) { policy(s, "engine").Key = "nose" },
		"an unknown algorithm":     func(s *mockbase.ShieldSettings) { policy(s, "engine").Algorithm = "dice" },
		"half a second":            func(s *mockbase.ShieldSettings) { policy(s, "engine").Window = "500ms" },
		"no network":               func(s *mockbase.ShieldSettings) { s.Blocklist = []string{"everybody"} },
		"no proxy":                 func(s *mockbase.ShieldSettings) { s.TrustedProxies = []string{"10.0.0.0/99"} },
		"a circuit of other times": func(s *mockbase.ShieldSettings) { s.Circuit.Threshold = "5/1s" },
	} {
		if got := c.changeShield(t, change); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
}

func TestM37_M226_an_account_that_is_banned_does_not_sign_in(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir(), "--login-limit=disabled")
	try := func(email string) *reply {
		got, err := c.try(t.Context(), http.MethodPost, "/api/v1/auth/login", `{"email":"`+email+`","password":"wrong"}`)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/admin/bans", `{"subject":{"type":"account","value":"eve@example.com"},"duration":"1h","reason":"guessing"}`)
	if got := try("Eve@example.com"); got.StatusCode != http.StatusTooManyRequests || strings.Count(got.body, `"code"`) != 1 || !strings.Contains(got.body, `"code":"login-banned"`) || !strings.HasPrefix(got.Header.Get("Retry-After"), "3") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	// M-82: without a limit of attempts, failures ban all the same.
	for range 5 {
		if got := try("bob@example.com"); got.StatusCode != http.StatusUnauthorized {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
	}
	if got := try("bob@example.com"); got.StatusCode != http.StatusTooManyRequests || !strings.Contains(got.body, `"code":"login-banned"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	list := c.call(t, http.StatusOK, http.MethodGet, "/api/v1/admin/bans?source=rule", "")
	for _, part := range []string{
		`"rule":"login-ban-1","subject":{"type":"ip","value":"127.0.0.1","account":"d_`, `"reason":"5 failed attempts to sign in within 10m, from one address to one account"`,
	} {
		if !strings.Contains(list.body, part) {
			t.Errorf("bans without %s: %s", part, list.body)
		}
	}
	if got := c.call(t, http.StatusOK, http.MethodDelete, "/api/v1/admin/bans?rule=login-ban-1", ""); !strings.Contains(got.body, `"lifted":1`) {
		t.Errorf("lifted %s", got.body)
	}
	if got := try("bob@example.com"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the ban was lifted: %d %s", got.StatusCode, got.body)
	}
}

func TestRL104_M220_an_order_that_has_ended_is_gone(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir())
	var before mockbase.ShieldSettings
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) {
		s.Circuit.Force, s.Circuit.ForceUntil = "closed", time.Now().Add(5*time.Second).UTC()
		before = *s
	}); got.StatusCode != http.StatusOK || !strings.Contains(got.body, `"force":"closed"`) {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	before, _ = c.shieldOf(t)
	c.inForce(t, "the end of the order", func(s *mockbase.ShieldSettings) bool { return s.Circuit.Force == "" })
	// Who read it before and changes something else may do so; the order is not kept.
	for _, circuit := range []mockbase.ShieldCircuit{before.Circuit, {}} {
		got := c.changeShield(t, func(s *mockbase.ShieldSettings) {
			if s.ExposeHeaders = !s.ExposeHeaders; circuit.Force != "" {
				s.Circuit = circuit
			}
		})
		if got.StatusCode != http.StatusOK || strings.Contains(got.body, `"force`) {
			t.Errorf("%d %s", got.StatusCode, got.body)
		}
	}
	// It cannot be given anew.
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.Circuit = before.Circuit }); got.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an end that has passed: %d %s", got.StatusCode, got.body)
	}
}

func TestM223_a_check_of_signing_in_tells_of_the_policy_login(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir())
	for path, want := range map[string]string{
		"/api/v1/auth/login":  `"decidedBy":"tiers","policy":"login","remaining":10`,
		"/api/v1/auth/status": `"decidedBy":"none"`,
		"/m/demo/hello":       `"policy":"engine"`,
	} {
		if got := c.call(t, http.StatusOK, http.MethodPost, "/api/v1/admin/shield/check", `{"ip":"203.0.113.9","path":"`+path+`"}`); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	if got := c.changeShield(t, func(s *mockbase.ShieldSettings) { s.Safelist = []string{"203.0.113.0/24"} }); got.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := c.call(t, http.StatusOK, http.MethodPost, "/api/v1/admin/shield/check", `{"ip":"203.0.113.9","path":"/api/v1/auth/login"}`); !strings.Contains(got.body, `"decidedBy":"safelist"`) {
		t.Errorf("on the safelist: %s", got.body)
	}
}

func TestM221_limits_with_names_are_pinned_and_all_faults_are_told_at_once(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir(), "--engine-limit=5/60s name=partner")
	settings, _ := c.shieldOf(t)
	if policy(&settings, "engine-partner") == nil || !slices.Contains(settings.Pinned, "/policies/engine-partner/limit") {
		t.Errorf("settings %+v", settings)
	}
	got := c.changeShield(t, func(s *mockbase.ShieldSettings) { policy(s, "engine-partner").Limit = 6 })
	if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, `"code":"pinned-by-config"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	got = c.changeShield(t, func(s *mockbase.ShieldSettings) { // RL4
		slices.Reverse(s.Policies) // Faults point to where they were written.
		policy(s, "management").Limit, policy(s, "management").Window = -1, "0s"
		policy(s, "login").OnStoreFailure, s.IPv6Prefix, s.Blocklist = "open", 1, []string{"x"}
	})
	settings, _ = c.shieldOf(t)
	slices.Reverse(settings.Policies)
	at := func(name, field string) string {
		i := slices.IndexFunc(settings.Policies, func(p mockbase.ShieldPolicy) bool { return p.Name == name })
		return fmt.Sprintf("\"#/policies/%d/%s\"", i, field)
	}
	for _, pointer := range []string{at("management", "limit"), at("management", "window"), at("login", "onStoreFailure"), `"#/ipv6Prefix"`, `"#/blocklist/0"`} {
		if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, pointer) {
			t.Errorf("no %s in %d %s", pointer, got.StatusCode, got.body)
		}
	}
}

// RL4 and M-221: a policy that makes no sense is refused with the field and what may stand there, and nothing changes.
func TestRL4_policies_that_make_no_sense_are_refused_with_the_field_and_the_fix(t *testing.T) {
	t.Parallel()
	_, c := administered(t, t.TempDir())
	before, tag := c.shieldOf(t)
	at := slices.IndexFunc(before.Policies, func(p mockbase.ShieldPolicy) bool { return p.Name == "engine" })
	for _, test := range []struct {
		field, fix string
		change     func(*mockbase.ShieldPolicy)
	}{
		{"limit", "-1 is not in 0…9007199254740991", func(p *mockbase.ShieldPolicy) { p.Limit = -1 }},
		{"limit", "is not in 0…9007199254740991", func(p *mockbase.ShieldPolicy) { p.Limit = 1 << 53 }},
		{"limit", "is not in 0…1000000", func(p *mockbase.ShieldPolicy) { p.Algorithm, p.Limit = "sliding_log", 2_000_000 }},
		{"window", "is not in 1ms…3653d", func(p *mockbase.ShieldPolicy) { p.Window = "0s" }},
		{"window", "is not in 1ms…3653d", func(p *mockbase.ShieldPolicy) { p.Window = "4000d" }},
		{"window", "write a number with a unit", func(p *mockbase.ShieldPolicy) { p.Window = "fortnight" }},
		{"window", "longer than any clock can count", func(p *mockbase.ShieldPolicy) { p.Window = "99999999999d" }},
		{"window", "is not whole seconds", func(p *mockbase.ShieldPolicy) { p.Window = "1500ms" }},
		{"window", "pick a rounder or shorter window", func(p *mockbase.ShieldPolicy) {
			p.Algorithm, p.Limit, p.Window = "gcra", 1<<53-1, "3653d"
		}},
		{"burst", "-1 is not in 0…9007199254740991", func(p *mockbase.ShieldPolicy) { p.Algorithm, p.Burst = "gcra", -1 }},
		{"burst", "only token_bucket, leaky_bucket and gcra have a burst", func(p *mockbase.ShieldPolicy) { p.Burst = 5 }},
		{"align", "only fixed_window has an align", func(p *mockbase.ShieldPolicy) { p.Algorithm, p.Align = "gcra", "clock" }},
		{"align", "is neither clock nor first_request", func(p *mockbase.ShieldPolicy) { p.Align = "noon" }},
		{"algorithm", "", func(p *mockbase.ShieldPolicy) { p.Algorithm = "dice" }},
		{"key", "", func(p *mockbase.ShieldPolicy) { p.Key = "shoe size" }},
	} {
		got := c.changeShield(t, func(s *mockbase.ShieldSettings) { test.change(policy(s, "engine")) })
		pointer := fmt.Sprintf("\"#/policies/%d/%s\"", at, test.field)
		if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, pointer) || !strings.Contains(got.body, test.fix) {
			t.Errorf("%s, %s: %d %s", pointer, test.fix, got.StatusCode, got.body)
		}
	}
	if _, now := c.shieldOf(t); now != tag {
		t.Errorf("the version is %s, want %s", now, tag)
	}
}
