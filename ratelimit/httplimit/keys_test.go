package httplimit_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// status sends a request with these header lines and returns the status of the answer, and its bytes without the date.
func status(t *testing.T, address, target string, lines ...string) (code int, answer string) {
	t.Helper()
	var dialer net.Dialer
	connection, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	head := append([]string{"GET " + target + " HTTP/1.1", "Host: test", "Connection: close"}, lines...)
	if _, err := io.WriteString(connection, strings.Join(head, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	response.Header.Del("Date")
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := response.Header.Write(&text); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text.String() + "\r\n" + string(body)
}

func TestRL78_callers_with_keys_of_their_own_have_quotas_of_their_own(t *testing.T) {
	t.Parallel()
	for key, lines := range map[string][2]string{
		"ip":                                   {"X-Client: 203.0.113.1", "X-Client: 203.0.113.2"},
		"token":                                {"Authorization: Bearer a", "Authorization: Bearer b"},
		"header:X-Tenant":                      {"X-Tenant: a", "X-Tenant: b"},
		"cookie:theme":                         {"Cookie: theme=a", "Cookie: theme=b"},
		"session":                              {"Cookie: sid=a", "Cookie: sid=b"},
		"ip+header:X-Tenant":                   {"X-Tenant: a", "X-Tenant: b"},
		"fingerprint":                          {"User-Agent: a", "User-Agent: b"},
		"fingerprint:relaxed":                  {"X-Api-Key: a", "X-Api-Key: b"},
		`{{ip}}:{{lower (header "X-Tenant")}}`: {"X-Tenant: A", "X-Tenant: B"},
	} {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) { o.Identity, o.Key = newIdentity(t, nil), key })
		address := serve(t, g.Middleware(hello))
		for call, want := range []int{200, 429, 200, 429} {
			if got, answer := status(t, address, "/", lines[call/2]); got != want {
				t.Errorf("%s, call %d: %d\n%s", key, call+1, got, answer)
			}
		}
	}
}

const keyless403 = "Cache-Control: no-store\r\nContent-Length: 246\r\nContent-Type: application/problem+json\r\n" +
	"Mockbase-Limited-By: shield; policy=\"engine\"\r\n\r\n" +
	`{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Abnormal usage detected","status":403,` +
	`"detail":"The request does not say who is asking, which policy \"engine\" counts by.","violated-policies":["engine"]}`

func TestRL79_what_becomes_of_callers_without_a_key(t *testing.T) {
	t.Parallel()
	for missing, want := range map[httplimit.Missing][]int{
		"":                    {200, 429, 429},
		httplimit.MissingIP:   {200, 429, 429},
		httplimit.MissingSkip: {200, 200, 429}, // The limit by the address is not skipped.
		httplimit.MissingDeny: {403, 403, 403},
	} {
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.Key, o.OnMissingKey = "header:X-Tenant", missing
			o.PerAddress = []ratelimit.Policy{{Name: "address", Limit: 2, Window: time.Minute}}
		})
		address := serve(t, g.Middleware(hello))
		for call, code := range want {
			got, answer := status(t, address, "/")
			if got != code {
				t.Errorf("%q, call %d: %d, want %d", missing, call+1, got, code)
			}
			if got == http.StatusForbidden {
				if diff := cmp.Diff(keyless403, answer); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		}
	}
}

func TestRL81_secrets_are_neither_logged_nor_answered(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"token", "session", "cookie:theme", "header:Authorization", "query:api_key", "ip+token", "fingerprint:normal",
		`{{token}}{{query "api_key"}}`, "jwt:sub+token",
	} {
		var logged bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&logged, nil))
		i := newIdentity(t, nil)
		g := newGuard(t, "1/60s", func(o *httplimit.Options) {
			o.Identity, o.Key, o.Logger, o.LogMatches, o.HeadersOn = i, key, logger, httplimit.LogAll, httplimit.OnAlways
		})
		judge := newJudge(t, guard.Rules{Tiers: []guard.Tier{{
			Policy: ratelimit.Policy{Name: "tier", Limit: 1, Window: time.Minute}, Key: guard.Key{Parts: strings.Split(key, "+")},
		}}})
		l, err := httplimit.NewLayers(httplimit.LayerOptions{Judge: judge, Part: i.Part, Logger: logger, LogMatches: httplimit.LogAll, Clock: stopped})
		if err != nil {
			t.Fatal(err)
		}
		var answers strings.Builder
		for _, h := range []http.Handler{g.Middleware(hello), l.Middleware(hello)} {
			address := serve(t, h)
			for range 3 {
				_, answer := status(t, address, "/?api_key=query-5ecret", "Authorization: Bearer tok-5ecret", "Cookie: sid=sid-5ecret; theme=theme-5ecret")
				answers.WriteString(answer)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		metrics := fmt.Sprint(judge.Counts())
		if all := logged.String() + answers.String() + metrics; strings.Contains(all, "5ecret") || !strings.Contains(all, "refused") {
			t.Errorf("%s:\n%s", key, all)
		}
	}
}

func TestRL85_tiers_count_by_parts_of_an_identity(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	l := newLayers(t, guard.Rules{Tiers: []guard.Tier{{
		Policy: ratelimit.Policy{Name: "tenant", Limit: 1, Window: time.Minute}, Key: guard.Key{Parts: []string{"header:X-Tenant", "token"}, OnMissing: guard.MissingDeny},
	}}}, func(o *httplimit.LayerOptions) { o.Part = i.Part })
	address := serve(t, l.Middleware(hello))
	for _, c := range []struct {
		tenant, token string
		want          int
	}{{"a", "1", 200}, {"a", "1", 429}, {"a", "2", 200}, {"b", "1", 200}, {"b", "", 403}} {
		if got, answer := status(t, address, "/", "X-Tenant: "+c.tenant, "X-Api-Key: "+c.token); got != c.want {
			t.Errorf("%+v: %d\n%s", c, got, answer)
		}
	}
}

func TestRL113_a_handler_asks_a_policy_by_its_name(t *testing.T) {
	t.Parallel()
	export := ratelimit.Policy{Name: "export", Limit: 1, Window: time.Minute}
	outer := newGuard(t, "99/60s", func(o *httplimit.Options) { o.OnDemand = []ratelimit.Policy{export} })
	inner := newGuard(t, "99/60s", func(o *httplimit.Options) {
		o.Policies = nil
		o.OnDemand = []ratelimit.Policy{{Name: "render", Limit: 2, Window: time.Minute}}
		o.Key, o.OnMissingKey = "header:X-Tenant", httplimit.MissingSkip
	})
	address := serve(t, outer.Middleware(inner.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := httplimit.Check(r.Context(), r, r.URL.Query().Get("policy"))
		switch {
		case errors.Is(err, ratelimit.ErrConfig):
			w.WriteHeader(http.StatusNotFound)
		case err != nil:
			t.Error(err)
		default:
			fmt.Fprintf(w, "allowed=%t skipped=%t left=%d", d.Allowed, d.Skipped, d.Remaining)
		}
	}))))
	for _, c := range []struct{ policy, tenant, want string }{
		{"export", "", "allowed=true skipped=false left=0"},
		{"export", "", "allowed=false skipped=false left=0"},
		{"render", "a", "allowed=true skipped=false left=1"},
		{"render", "a", "allowed=true skipped=false left=0"},
		{"render", "a", "allowed=false skipped=false left=0"},
		{"render", "b", "allowed=true skipped=false left=1"},
		{"render", "", "allowed=true skipped=true left=0"},
		{"engine", "", ""}, // It was judged before the handler and cannot be charged twice.
	} {
		_, answer := status(t, address, "/?policy="+c.policy, "X-Tenant: "+c.tenant)
		if _, body, _ := strings.Cut(answer, "\r\n\r\n"); body != c.want {
			t.Errorf("%+v: %q", c, body)
		}
	}
	if _, err := httplimit.Check(t.Context(), requestFrom("192.0.2.1:9"), "export"); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("without a guard: %v", err)
	}
}

func TestRL79_a_policy_on_demand_denies_callers_without_a_key(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.Policies, o.OnDemand = nil, o.Policies
		o.Key, o.OnMissingKey = "token", httplimit.MissingDeny
	})
	asked := false
	g.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = true
		d, err := httplimit.Check(r.Context(), r, "engine")
		if err != nil || d.Allowed || d.RetryAfter != ratelimit.Never || d.Limit != 1 {
			t.Errorf("%+v %v", d, err)
		}
	})).ServeHTTP(httptest.NewRecorder(), requestFrom("192.0.2.1:9"))
	if !asked {
		t.Error("only the handler asks, so the guard lets it through")
	}
}

func TestRL113_whoever_holds_the_guard_asks_it_without_a_middleware(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.OnDemand = []ratelimit.Policy{{Name: "export", Limit: 1, Window: time.Minute}}
	})
	for _, want := range []bool{true, false} {
		if d, err := g.Check(t.Context(), requestFrom("192.0.2.1:9"), "export"); err != nil || d.Allowed != want {
			t.Errorf("%+v: %v, want %t", d, err, want)
		}
	}
	if _, err := g.Check(t.Context(), requestFrom("192.0.2.1:9"), "engine"); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("a policy that is not on demand: %v", err)
	}
}
