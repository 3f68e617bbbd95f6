package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/internal/testkit"
)

// A setting that is accepted must do something: each of these is seen on the wire.
func TestC20_settings_have_their_effect(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "redis-url")
	if err := os.WriteFile(secret, []byte("redis://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const hello, limited = "GET /m/demo/hello", "--engine-limit=1/1d"
	tests := []struct {
		name string
		args []string
		// requests are sent one after the other; the last answer is looked at.
		requests []string
		header   string
		status   int
		lines    []string
		lacks    []string
		matches  string
		body     string
	}{
		{name: "the limit refuses", args: []string{limited}, requests: []string{hello, hello}, status: 429, lines: []string{"RateLimit-Policy: \"engine\";q=1;w=86400", "Content-Type: application/problem+json"}},
		{name: "shield-enabled", args: []string{limited, "--no-shield-enabled"}, requests: []string{hello, hello}, status: 200},
		{name: "shield-status", args: []string{limited, "--shield-status=420"}, requests: []string{hello, hello}, status: 420, lines: []string{"Retry-After: "}},
		{name: "shield-body", args: []string{limited, "--shield-body=text"}, requests: []string{hello, hello}, status: 429, lines: []string{"Content-Type: text/plain"}, body: "Rate limited\n"},
		{name: "shield-headers", args: []string{limited, "--shield-headers=x"}, requests: []string{hello, hello}, status: 429, lines: []string{"X-RateLimit-Limit: 1", "X-RateLimit-Remaining: 0"}, lacks: []string{"RateLimit-Policy"}},
		{name: "shield-headers-on always", args: []string{"--shield-headers-on=always"}, requests: []string{hello}, status: 200, lines: []string{"RateLimit: \"engine\";r=119;t="}},
		{name: "shield-headers-on by default", requests: []string{hello}, status: 200, lacks: []string{"RateLimit"}},
		{name: "shield-headers-on never", args: []string{limited, "--shield-headers-on=never"}, requests: []string{hello, hello}, status: 429, lines: []string{"Retry-After: "}, lacks: []string{"RateLimit"}},
		{name: "shield-exclude", args: []string{limited, "--shield-exclude=/m/demo/hel*"}, requests: []string{hello, hello}, status: 200},
		{name: "two limits at once", args: []string{"--engine-limit=100/1s,1/1d"}, requests: []string{hello, hello}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="engine-2"`}},
		{name: "each client has a count", args: []string{limited, "--trusted-proxies=127.0.0.0/8"}, header: "X-Forwarded-For: 192.0.2.%d", requests: []string{hello, hello}, status: 200},
		{name: "nobody is believed by default", args: []string{limited}, header: "X-Forwarded-For: 192.0.2.%d", requests: []string{hello, hello}, status: 429},
		{name: "client-address-header", args: []string{limited, "--trusted-proxies=127.0.0.1", "--client-address-header=x-real-ip"}, header: "X-Real-IP: 192.0.2.%d", requests: []string{hello, hello}, status: 200},
		{name: "ipv6-prefix by default", args: []string{limited, "--trusted-proxies=127.0.0.1"}, header: "X-Forwarded-For: 2001:db8:0:%d::1", requests: []string{hello, hello}, status: 200},
		{name: "ipv6-prefix", args: []string{limited, "--trusted-proxies=127.0.0.1", "--ipv6-prefix=48"}, header: "X-Forwarded-For: 2001:db8:0:%d::1", requests: []string{hello, hello}, status: 429},
		{name: "shield-key", args: []string{limited, "--trusted-proxies=127.0.0.1", "--shield-key=global"}, header: "X-Forwarded-For: 192.0.2.%d", requests: []string{hello, hello}, status: 429},
		{name: "shield-algorithm fixed_window by default", args: []string{"--engine-limit=2/1d"}, requests: []string{hello, hello, hello}, status: 429, lines: []string{"RateLimit-Policy: \"engine\";q=2;w=86400"}},
		{name: "shield-algorithm sliding_log", args: []string{"--engine-limit=2/1d", "--shield-algorithm=sliding_log"}, requests: []string{hello, hello, hello}, status: 429, matches: `Retry-After: 86(400|[34]\d\d)\n`},
		{name: "shield-algorithm token_bucket", args: []string{"--engine-limit=2/1d", "--shield-algorithm=token_bucket"}, requests: []string{hello, hello, hello}, status: 429, matches: `Retry-After: 43(200|1\d\d)\n`},
		{name: "shield-algorithm leaky_bucket", args: []string{"--engine-limit=2/1d", "--shield-algorithm=leaky_bucket"}, requests: []string{hello, hello, hello}, status: 429, matches: `Retry-After: 43(200|1\d\d)\n`},
		{name: "shield-algorithm sliding_window", args: []string{"--engine-limit=2/1d", "--shield-algorithm=sliding_window"}, requests: []string{hello, hello, hello}, status: 429},
		{name: "shield-algorithm of other planes", args: []string{"--management-limit=2/1d", "--shield-algorithm=gcra"}, requests: []string{"GET /api/v1/auth/status", "GET /api/v1/auth/status", "GET /api/v1/auth/status"}, status: 429, matches: `Retry-After: 43(200|1\d\d)\n`},
		{name: "an algorithm and a burst in the limit", args: []string{"--engine-limit=1/1d algorithm=gcra burst=3"}, requests: []string{hello, hello, hello}, status: 200},
		{name: "the burst in the limit ends", args: []string{"--engine-limit=1/1d algorithm=gcra burst=3"}, requests: []string{hello, hello, hello, hello}, status: 429},
		{name: "shield-safelist", args: []string{limited, "--shield-safelist=127.0.0.0/8"}, requests: []string{hello, hello}, status: 200, lacks: []string{"RateLimit"}},
		{name: "shield-safelist of others", args: []string{limited, "--shield-safelist=192.0.2.1"}, requests: []string{hello, hello}, status: 429},
		{name: "shield-safelist with a path", args: []string{limited, "--shield-safelist=/m/demo/hel*"}, requests: []string{hello, hello}, status: 200},
		{name: "shield-safelist and the management API", args: []string{"--management-limit=1/1d", "--shield-safelist=127.0.0.1"}, requests: []string{"GET /api/v1/auth/status", "GET /api/v1/auth/status"}, status: 200, lacks: []string{"RateLimit"}},
		{name: "shield-blocklist", args: []string{"--shield-blocklist=127.0.0.0/8"}, requests: []string{hello}, status: 403, lines: []string{`Mockbase-Limited-By: shield; layer="blocklist"`}, lacks: []string{"Retry-After", "RateLimit"}, body: "abnormal-usage-detected"},
		{name: "shield-blocklist of others", args: []string{"--shield-blocklist=192.0.2.1"}, requests: []string{hello}, status: 200},
		{name: "shield-blocklist with a limit", args: []string{limited, "--shield-blocklist=192.0.2.1"}, requests: []string{hello, hello}, status: 429},
		{name: "shield-blocklist without a limit", args: []string{"--engine-limit=disabled", "--shield-blocklist=/m/demo/*"}, requests: []string{hello}, status: 403},
		{name: "shield-blocklist and the management API", args: []string{"--management-limit=disabled", "--shield-blocklist=127.0.0.1"}, requests: []string{"GET /api/v1/auth/status"}, status: 403, body: `"code":"address-blocked"`},
		{name: "shield-blocklist spares probes", args: []string{"--shield-blocklist=0.0.0.0/0"}, requests: []string{"GET /healthz"}, status: 200},
		{name: "RL88 dot segments do not join a safelist", args: []string{limited, "--shield-safelist=/m/demo/users*"}, requests: []string{hello, "GET /m/demo/users/../hello"}, status: 429},
		{name: "RL87 dot segments do not join an exclusion", args: []string{limited, "--shield-exclude=/m/demo/users*"}, requests: []string{hello, "GET /m/demo/users/%2e%2E/hello"}, status: 429},
		{name: "RL88 a dot does not evade a blocklist", args: []string{"--shield-blocklist=/m/demo/hello"}, requests: []string{"GET /m/demo/./hello"}, status: 403},
		{name: "RL88 two dots do not evade a blocklist", args: []string{"--shield-blocklist=/m/demo/hello"}, requests: []string{"GET /m/demo/x/../hello"}, status: 403},
		{name: "RL88 an encoded dot does not evade a blocklist", args: []string{"--shield-blocklist=/m/demo/hello"}, requests: []string{"GET /m/demo/%2e/hello"}, status: 403},
		{name: "RL88 an encoded letter does not evade a blocklist", args: []string{"--shield-blocklist=/m/demo/hello"}, requests: []string{"GET /m/demo/%68ello"}, status: 403},
		{name: "RL88 an entry may be written encoded", args: []string{"--shield-blocklist=/m/demo/%68ello"}, requests: []string{hello}, status: 403},
		{name: "RL88 two slashes do not evade a blocklist", args: []string{"--shield-blocklist=/m/demo/hello"}, requests: []string{"GET /m/demo//hello"}, status: 403},
		{name: "RL88 nothing evades a blocklist of the management API", args: []string{"--shield-blocklist=/api/v1/auth/*"}, requests: []string{"GET /api/v1/x/../auth/status"}, status: 403},
		{name: "RL89 an unknown path has one count however it is written", args: []string{"--shield-tier-endpoint=1/1d"}, requests: []string{"GET /m/demo/nowhere", "GET /m/demo/./%6eowhere"}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="endpoint"`}},
		{name: "RL74 a blocklist with mapped addresses", args: []string{"--shield-blocklist=::ffff:127.0.0.0/104"}, requests: []string{hello}, status: 403},
		{name: "RL74 a blocklist with translated addresses", args: []string{"--shield-blocklist=64:ff9b::127.0.0.1"}, requests: []string{hello}, status: 403},
		{name: "RL74 a safelist with mapped addresses", args: []string{limited, "--shield-safelist=::ffff:127.0.0.1"}, requests: []string{hello, hello}, status: 200},
		{name: "RL122 planes share no count under one name", args: []string{"--engine-limit=1/1d name=partner", "--management-limit=1/1d name=partner"}, requests: []string{hello, "GET /api/v1/auth/status"}, status: 200},
		{name: "RL122 nor under the name of the other plane", args: []string{"--engine-limit=1/1d name=management", "--management-limit=1/1d"}, requests: []string{hello, "GET /api/v1/auth/status"}, status: 200},
		{name: "RL19 a limit with a name", args: []string{"--engine-limit=1/1d name=partner"}, requests: []string{hello, hello}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="engine-partner"`}},
		{name: "the safelist wins", args: []string{"--shield-blocklist=127.0.0.0/8", "--shield-safelist=127.0.0.1"}, requests: []string{hello}, status: 200},
		{name: "shield-tier-endpoint", args: []string{"--shield-tier-endpoint=1/1d", "--trusted-proxies=127.0.0.1"}, header: "X-Forwarded-For: 192.0.2.%d", requests: []string{hello, hello}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="endpoint"`}},
		{name: "shield-tier-endpoint of the management API", args: []string{"--shield-tier-endpoint=1/1d"}, requests: []string{"GET /api/v1/projects/a", "GET /api/v1/projects/b"}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="endpoint"`}},
		{name: "shield-tier-global", args: []string{"--shield-tier-global=1/1d"}, requests: []string{"GET /api/v1/auth/status", hello}, status: 429, lacks: []string{"RateLimit"}},
		{name: "shield-tier-user", args: []string{"--shield-tier-user=1/1d"}, requests: []string{hello, "GET /m/demo/users/1", hello}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="user"`}},
		{name: "shield-key by a header", args: []string{limited, "--shield-key=header:X-Tenant"}, header: "X-Tenant: t%d", requests: []string{hello, hello}, status: 200},
		{name: "a strict fingerprint has a limit by the address beside it", args: []string{limited, "--shield-key=fingerprint", "--fingerprint-level=strict"}, header: "User-Agent: a%d", requests: []string{hello, hello}, status: 429, lines: []string{`policy="engine-ip"`}},
		{name: "shield-dry-run", args: []string{limited, "--shield-dry-run"}, requests: []string{hello, hello}, status: 200},
		{name: "places in flight", args: []string{"--engine-limit=1/60s algorithm=concurrency"}, requests: []string{hello, hello, hello}, status: 200},
		{name: "circuit-global-limit", args: []string{"--circuit-mode=adaptive", "--circuit-threshold=10000/1h", "--circuit-global-limit=1/1h"}, requests: []string{hello, hello}, status: 503, lines: []string{`Mockbase-Limited-By: shield; layer="circuit"`}, body: "temporary-reduced-capacity"},
		{name: "login is unavailable when it is closed", args: []string{"--redis-addrs=127.0.0.1:1", "--limit-store-failure=closed", "--management-limit=disabled"}, requests: []string{"POST /api/v1/auth/login"}, status: 503, body: `"code":"login-unavailable"`},
		{name: "login is unavailable when the management API is closed with it", args: []string{"--redis-addrs=127.0.0.1:1", "--limit-store-failure=closed"}, requests: []string{"POST /api/v1/auth/login"}, status: 503, lacks: []string{"RateLimit"}, body: `"code":"login-unavailable"`},
		{name: "readiness names the mode of each policy, that of the mocks first", args: []string{"--redis-addrs=127.0.0.1:1"}, requests: []string{hello, "GET /readyz"}, status: 200, body: "failing open (engine, management), failing memory (login): "},
		{name: "limit-store-failure open", args: []string{limited, "--redis-addrs=127.0.0.1:1"}, requests: []string{hello, hello, hello}, status: 200},
		{name: "limit-store-failure memory", args: []string{limited, "--redis-addrs=127.0.0.1:1", "--limit-store-failure=memory"}, requests: []string{hello, hello}, status: 429},
		{name: "limit-store-failure closed", args: []string{limited, "--redis-addrs=127.0.0.1:1", "--limit-store-failure=closed"}, requests: []string{hello}, status: 503, lines: []string{"Retry-After: 1"}, lacks: []string{"RateLimit"}, body: "temporary-reduced-capacity"},
		{name: "redis-url-file", args: []string{"--redis-url-file=" + secret}, requests: []string{hello, "GET /readyz"}, status: 200, body: `"status":"degraded"`},
		{name: "shield-ready-requires-store", args: []string{"--redis-addrs=127.0.0.1:1", "--shield-ready-requires-store"}, requests: []string{hello, "GET /readyz"}, status: 503, body: "the limiter's store does not answer"},
		{name: "browser-sandbox", header: "Sec-Fetch-Dest: document", requests: []string{hello}, status: 200, lines: []string{"Content-Security-Policy: sandbox allow-scripts"}},
		{name: "browser-sandbox off", args: []string{"--browser-sandbox=off"}, header: "Sec-Fetch-Dest: document", requests: []string{hello}, status: 200, lacks: []string{"Content-Security-Policy"}},
		{name: "an address of its own needs no sandbox", args: []string{"--admin-addr=127.0.0.1:0"}, header: "Sec-Fetch-Dest: document", requests: []string{hello}, status: 200, lacks: []string{"Content-Security-Policy"}},
		{name: "instance-name", args: []string{"--instance-name=Checkout <1>"}, requests: []string{"GET /"}, status: 200, body: "<h1>Checkout &lt;1&gt;</h1>"},
		{name: "no-ui", args: []string{"--no-ui"}, requests: []string{"GET /"}, status: 404, lines: []string{"Content-Type: application/problem+json"}},
		{name: "public-url", args: []string{"--public-url=https://mocks.example.com"}, requests: []string{"GET /"}, status: 200, body: "curl -i https://mocks.example.com/m/demo/hello"},
		{name: "management-limit", args: []string{"--management-limit=1/1d"}, requests: []string{"GET /api/v1/auth/status", "GET /api/v1/auth/status"}, status: 429, lines: []string{`Mockbase-Limited-By: shield; policy="management"`}},
		{name: "management-limit disabled", args: []string{"--management-limit=disabled"}, requests: []string{"GET /api/v1/auth/status"}, status: 200, lacks: []string{"RateLimit"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := start(t, append([]string{"--ephemeral"}, test.args...)...)
			var answer *testkit.Answer
			for i, line := range test.requests {
				request := line + " HTTP/1.1\r\nHost: localhost\r\n"
				if strings.Contains(test.header, "%d") {
					request += fmt.Sprintf(test.header, i+1) + "\r\n"
				} else if test.header != "" {
					request += test.header + "\r\n"
				}
				answer = testkit.RawHTTP(t, server.Addr, request+"\r\n")
			}
			if answer.Status != test.status {
				t.Errorf("%s: %s", answer.StatusLine, answer.Body)
			}
			var head strings.Builder
			for _, line := range answer.Lines {
				head.WriteString(line.Name + ": " + line.Value + "\n")
			}
			for _, line := range test.lines {
				if !strings.Contains(head.String(), line) {
					t.Errorf("the head lacks %q:\n%s", line, head.String())
				}
			}
			if !regexp.MustCompile(test.matches).MatchString(head.String()) {
				t.Errorf("the head does not match %q:\n%s", test.matches, head.String())
			}
			for _, name := range test.lacks {
				if strings.Contains(head.String(), "\n"+name) {
					t.Errorf("the head holds %s:\n%s", name, head.String())
				}
			}
			if !strings.Contains(string(answer.Body), test.body) {
				t.Errorf("the body lacks %q: %s", test.body, answer.Body)
			}
		})
	}
}

// RL25: the keys begin with the prefix that is set, and end with their window.
func TestRL25_shield_key_prefix_begins_the_keys(t *testing.T) {
	t.Parallel()
	redis := testkit.StartRedis(t)
	server := start(t, "--ephemeral", "--redis-url="+redis.URL(), "--redis-budget=2s", "--shield-key-prefix=team-a")
	newClient(t, server.URL).call(t, http.StatusOK, http.MethodGet, "/m/demo/hello", "")
	await(t, "the counter", func() bool {
		return strings.Contains(redis.Do("KEYS", "team-a:engine:127.0.0.1:*"), "team-a:engine:127.0.0.1:")
	})
}

// M-61: a project that keeps its traffic finds it after a restart; one that does not begins anew.
func TestM61_kept_traffic_outlives_a_restart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--data-dir=" + dir, "--management-limit=disabled"}
	server := start(t, args...)
	api := newClient(t, server.URL)
	api.setUp(t, setupCodeIn(t, dir))
	api.logIn(t)
	for _, slug := range []string{"kept", "lost"} {
		api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", fmt.Sprintf(`{"slug":%q,"name":%q}`, slug, slug))
	}
	api.call(t, http.StatusOK, http.MethodPatch, "/api/v1/projects/kept", `{"settings":{"persistTraffic":true}}`)
	for _, slug := range []string{"kept", "lost"} {
		api.call(t, http.StatusNotFound, http.MethodGet, "/m/"+slug+"/who-was-here", "")
		await(t, "the traffic of "+slug, func() bool {
			return strings.Contains(api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/"+slug+"/traffic", "").body, "who-was-here")
		})
	}
	server.stop(t)

	server = start(t, args...)
	api = newClient(t, server.URL)
	api.logIn(t)
	for slug, want := range map[string]bool{"kept": true, "lost": false} {
		traffic := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/"+slug+"/traffic", "").body
		if got := strings.Contains(traffic, "who-was-here"); got != want {
			t.Errorf("after the restart %s has %s", slug, traffic)
		}
	}
}

// The demo is a project like any other: who deletes it is rid of it.
func TestDemo_that_is_deleted_does_not_come_back(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, "--data-dir="+dir)
	api := newClient(t, server.URL)
	api.setUp(t, setupCodeIn(t, dir))
	api.logIn(t)
	changed := api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/demo/mocks", `{"request":"GET /mine","response":{"text":"mine"}}`)
	if !strings.Contains(changed.body, `"get-mine"`) {
		t.Errorf("a mock of the demo is %s", changed.body)
	}
	api.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/projects/demo?confirm=demo", "")
	api.call(t, http.StatusNotFound, http.MethodGet, "/m/demo/hello", "")
	server.stop(t)
	server = start(t, "--data-dir="+dir)
	newClient(t, server.URL).call(t, http.StatusNotFound, http.MethodGet, "/m/demo/hello", "")
}

// M-77 and C-22: what comes from files is read-only over the API, and the refusal names the file and the line.
func TestM77_mocks_from_files_are_read_only(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(path, []byte("project: shop\nmocks:\n  - request: GET /a\n    response: { text: a }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(testPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir, "--admin-email="+testEmail, "--admin-password-file="+password)
	api := newClient(t, server.URL)
	api.logIn(t)
	mock := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/shop/mocks/get-a", "").body
	if !strings.Contains(mock, `"readOnly":true`) {
		t.Errorf("the mock is %s", mock)
	}
	for method, body := range map[string]string{http.MethodPut: `{"request":"GET /a","response":{"text":"b"}}`, http.MethodDelete: ""} {
		refused := api.call(t, http.StatusConflict, method, "/api/v1/projects/shop/mocks/get-a", body)
		if !strings.Contains(refused.body, "managed-by-source") || !strings.Contains(refused.body, "shop.yaml:3") {
			t.Errorf("%s is refused with %s", method, refused.body)
		}
	}
	if answer := api.call(t, http.StatusOK, http.MethodGet, "/m/shop/a", ""); answer.body != "a" {
		t.Errorf("the mock answers %s", answer.body)
	}
}

// With an address of its own, the management API names the other one in the URLs of mocks.
func TestC21_the_URLs_of_mocks_lead_to_the_first_address(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(testPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(t.TempDir(), "ready.json")
	server := start(t, "--ephemeral", "--admin-addr=127.0.0.1:0", "--ready-file="+ready, "--admin-email="+testEmail, "--admin-password-file="+password)
	text, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `"adminUrl": "`)
	administration, _, _ := strings.Cut(rest, `"`)
	api := newClient(t, administration)
	api.logIn(t)
	if mock := api.call(t, http.StatusOK, http.MethodGet, "/api/v1/projects/demo/mocks/hello", "").body; !strings.Contains(mock, server.URL+"/m/demo/hello") {
		t.Errorf("the mock is %s", mock)
	}
}

// C-80: the holder of a port is named as far as the system tells.
func TestHolderOf_names_this_process(t *testing.T) {
	t.Parallel()
	b := newBinder(nil)
	open, err := b.bind(t.Context(), []namedAddress{{"addr", "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer open[0].Close()
	var port int
	if _, err := fmt.Sscanf(open[0].Addr().String(), "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	if got, want := holderOf(port), fmt.Sprintf(" by pid %d (", os.Getpid()); !strings.HasPrefix(got, want) {
		t.Errorf("the holder is %q, want %q", got, want)
	}
	if got := holderOf(0); got != "" {
		t.Errorf("the holder of no port is %q", got)
	}
}
