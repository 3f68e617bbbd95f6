package httplimit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// Lists of strings with integer parameters, as RFC 9651 writes them. Names of policies need no escapes.
var (
	policyField = regexp.MustCompile(`^RateLimit-Policy: "[a-z0-9_-]+";q=[0-9]{1,15}(;w=[0-9]{1,15})?$`)
	limitField  = regexp.MustCompile(`^RateLimit: "[a-z0-9_-]+";r=([0-9]{1,15})(;t=([0-9]{1,15}))?$`)
	unixField   = regexp.MustCompile(`^X-RateLimit-Reset: -?[0-9]+$`)
)

func FuzzRL142_structured_fields_parse(f *testing.F) {
	f.Add("engine", int64(120), int64(60), int64(17_250_000), 1)
	f.Add("a", ratelimit.MaxLimit, int64(ratelimit.MaxWindow/time.Second), int64(-1), 3)
	f.Add("0_-", int64(1), int64(1), int64(1)<<62, 3)
	f.Fuzz(func(t *testing.T, name string, limit, seconds, micros int64, calls int) {
		p := ratelimit.Policy{Name: name, Limit: limit, Window: time.Duration(seconds) * time.Second}
		if seconds > int64(ratelimit.MaxWindow/time.Second) || p.ValidateShield() != nil || limit == 0 {
			return
		}
		instant := func() time.Time { return time.UnixMicro(micros) }
		g, err := httplimit.New(httplimit.Options{
			Limiter:  newLimiter(t, func(o *ratelimit.Options) { o.Clock = instant }),
			Policies: []ratelimit.Policy{p}, HeadersOn: httplimit.OnAlways,
			Headers: []httplimit.Dialect{httplimit.DialectDraft, httplimit.DialectX},
		})
		if err != nil {
			t.Fatal(err)
		}
		for range calls % 5 {
			w := httptest.NewRecorder()
			d, _ := g.Admit(w, requestFrom("192.0.2.1:9"))
			checkFields(t, w.Header(), &d)
		}
	})
}

func checkFields(t *testing.T, h http.Header, d *ratelimit.Decision) {
	t.Helper()
	if got := headerLines(h, "RateLimit-Policy"); !policyField.MatchString(got) {
		t.Fatalf("%q", got)
	}
	limit := limitField.FindStringSubmatch(headerLines(h, "RateLimit"))
	if limit == nil {
		t.Fatalf("%v", h)
	}
	if after := h.Get("Retry-After"); (after == "") != d.Allowed || !d.Allowed && after != limit[3] {
		t.Fatalf("Retry-After %q beside %q (%+v)", after, limit[0], d)
	}
	if got := headerLines(h, "X-RateLimit-Reset"); !unixField.MatchString(got) {
		t.Fatalf("%q", got)
	}
}

func headerLines(h http.Header, names ...string) string {
	var lines []string
	for _, name := range names {
		for _, value := range h[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

func TestRL117_RL118_dialects(t *testing.T) {
	t.Parallel()
	names := []string{
		"RateLimit-Policy", "RateLimit", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
		"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Used", "X-RateLimit-Reset", "X-RateLimit-Resource", "Retry-After",
	}
	for _, c := range []struct {
		dialects        []httplimit.Dialect
		allowed, denied string
	}{
		{
			nil,
			"RateLimit-Policy: \"engine\";q=2;w=60\nRateLimit: \"engine\";r=1;t=43",
			"RateLimit-Policy: \"engine\";q=2;w=60\nRateLimit: \"engine\";r=0;t=43\nRetry-After: 43",
		},
		{
			[]httplimit.Dialect{httplimit.DialectSplit},
			"RateLimit-Limit: 2\nRateLimit-Remaining: 1\nRateLimit-Reset: 43",
			"RateLimit-Limit: 2\nRateLimit-Remaining: 0\nRateLimit-Reset: 43\nRetry-After: 43",
		},
		{
			[]httplimit.Dialect{httplimit.DialectX},
			"X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 1\nX-RateLimit-Reset: 1767225660",
			"X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1767225660\nRetry-After: 43",
		},
		{
			[]httplimit.Dialect{httplimit.DialectXGitHub},
			"X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 1\nX-RateLimit-Used: 1\nX-RateLimit-Reset: 1767225660\nX-RateLimit-Resource: engine",
			"X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\nX-RateLimit-Used: 2\nX-RateLimit-Reset: 1767225660\nX-RateLimit-Resource: engine\nRetry-After: 43",
		},
		{
			[]httplimit.Dialect{httplimit.DialectDraft, httplimit.DialectXDelta},
			"RateLimit-Policy: \"engine\";q=2;w=60\nRateLimit: \"engine\";r=1;t=43\nX-RateLimit-Limit: 2\nX-RateLimit-Remaining: 1\nX-RateLimit-Reset: 43",
			"RateLimit-Policy: \"engine\";q=2;w=60\nRateLimit: \"engine\";r=0;t=43\nX-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 43\nRetry-After: 43",
		},
		{[]httplimit.Dialect{httplimit.DialectNone}, "", "Retry-After: 43"},
	} {
		always := newGuard(t, "2/60s", func(o *httplimit.Options) { o.Headers, o.HeadersOn = c.dialects, httplimit.OnAlways })
		never := newGuard(t, "2/60s", func(o *httplimit.Options) { o.Headers, o.HeadersOn = c.dialects, httplimit.OnNever })
		for i, want := range []string{c.allowed, "", c.denied} {
			w := httptest.NewRecorder()
			always.Middleware(hello).ServeHTTP(w, requestFrom("192.0.2.1:9"))
			if got := headerLines(w.Result().Header, names...); i != 1 && got != want {
				t.Errorf("%v, call %d:\n%s\nwant\n%s", c.dialects, i+1, got, want)
			}
			w = httptest.NewRecorder()
			d, ok := never.Admit(w, requestFrom("192.0.2.1:9"))
			bare := headerLines(w.Result().Header, names...)
			if ok != d.Allowed || ok != (i < 2) || bare != map[bool]string{true: "", false: "Retry-After: 43"}[ok] {
				t.Errorf("RL120 %v, call %d, never: %t %+v with\n%s", c.dialects, i+1, ok, d, bare)
			}
		}
	}
}

func TestRL119_RL120_fields_of_the_handler_are_kept(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "9/60s", func(o *httplimit.Options) {
		o.HeadersOn, o.ZeroWhenAllowed = httplimit.OnAlways, true
		o.Headers = []httplimit.Dialect{httplimit.DialectSplit, httplimit.DialectX}
	})
	address := serve(t, g.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("RateLimit-Limit", "7")
		w.Header()["X-RateLimit-Remaining"] = []string{"6"}
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusNoContent)
	})))
	want := "HTTP/1.1 204 No Content\r\n" +
		"RateLimit-Remaining: 8\r\n" +
		"RateLimit-Reset: 43\r\n" +
		"Ratelimit-Limit: 7\r\n" +
		"Retry-After: 5\r\n" +
		"X-RateLimit-Limit: 9\r\n" +
		"X-RateLimit-Remaining: 6\r\n" +
		"X-RateLimit-Reset: 1767225660\r\n" +
		"Connection: close\r\n\r\n"
	if diff := cmp.Diff(want, exchange(t, address, "GET")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRL120_fields_are_there_however_the_answer_begins(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"nothing written": func(http.ResponseWriter, *http.Request) {},
		"flushed": func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Errorf("flush: %v", err)
			}
		},
		"flushed by assertion": func(w http.ResponseWriter, _ *http.Request) {
			if flusher, ok := w.(http.Flusher); ok {
				flusher.Flush()
			}
		},
		"after an informational answer": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
		},
		"deadlines reach the connection": func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Errorf("deadline: %v", err)
			}
		},
	} {
		g := newGuard(t, "9/60s", func(o *httplimit.Options) { o.HeadersOn = httplimit.OnAlways })
		answer := exchange(t, serve(t, g.Middleware(handler)), "GET")
		if strings.Count(answer, "RateLimit: \"engine\";r=8;t=43\r\n") != 1 {
			t.Errorf("%s:\n%s", name, answer)
		}
	}
}

func TestRL141_http2_carries_the_same_fields(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(newGuard(t, "1/60s", nil).Middleware(hello))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for _, status := range []int{200, 429} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.ProtoMajor != 2 || response.StatusCode != status {
			t.Fatalf("%s %d %s: %v", response.Proto, response.StatusCode, body, err)
		}
		if status == 429 && (string(body) != problem429 || response.Header.Get(textproto.CanonicalMIMEHeaderKey("RateLimit")) != `"engine";r=0;t=43`) {
			t.Errorf("%v\n%s", response.Header, body)
		}
	}
}

func TestRL117_partition_keys_are_truncated_digests(t *testing.T) {
	t.Parallel()
	identity, err := httplimit.NewIdentity(httplimit.IdentityOptions{Secret: []byte("a secret of sufficient length!!!")})
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.PartitionKeys, o.Identity, o.HeadersOn = true, identity, httplimit.OnAlways
	})
	fields := make(map[string]bool)
	for _, peer := range []string{"192.0.2.1:9", "192.0.2.1:9", "192.0.2.2:9"} {
		w := httptest.NewRecorder()
		g.Middleware(hello).ServeHTTP(w, requestFrom(peer))
		quota, limit := headerLines(w.Result().Header, "RateLimit-Policy"), headerLines(w.Result().Header, "RateLimit")
		_, one, _ := strings.Cut(quota, ";pk=")
		_, two, _ := strings.Cut(limit, ";pk=")
		if !regexp.MustCompile(`^:[A-Za-z0-9+/]{12}:$`).MatchString(one) || one != two || strings.Contains(quota+limit, "192.0.2") {
			t.Errorf("%s\n%s", quota, limit)
		}
		fields[one] = true
	}
	if len(fields) != 2 {
		t.Errorf("two clients have the partition keys %v", fields)
	}
}
