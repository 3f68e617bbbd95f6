package httplimit_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

func TestRL117_RL119_custom_fields_on_the_wire(t *testing.T) {
	t.Parallel()
	custom := []httplimit.CustomField{
		{Name: "x-my-QUOTA", Value: "{used}/{limit}, {remaining} left"},
		{Name: "X-Reset", Value: "{resetSeconds} {resetUnix}"},
		{Name: "X-Policy", Value: "{policy};w={windowSeconds}"},
		{Name: "X-Wait", Value: "{retryAfter}s"},
		{Name: "X-Fixed", Value: "yes"},
	}
	g := newGuard(t, "1/60s", func(o *httplimit.Options) {
		o.Headers, o.CustomFields, o.HeadersOn, o.Body = []httplimit.Dialect{httplimit.DialectCustom}, custom, httplimit.OnAlways, httplimit.BodyText
	})
	l := newLayers(t, guard.Rules{Tiers: []guard.Tier{engineTier(1)}}, func(o *httplimit.LayerOptions) {
		o.Headers, o.CustomFields, o.HeadersOn, o.Body = []httplimit.Dialect{httplimit.DialectCustom}, custom, httplimit.OnAlways, httplimit.BodyText
	})
	for name, address := range map[string]string{"guard": serve(t, g.Middleware(hello)), "layers": serve(t, l.Middleware(hello))} {
		allowed, denied := exchange(t, address, "GET"), exchange(t, address, "HEAD")
		want := "HTTP/1.1 200 OK\r\nX-Fixed: yes\r\nX-Policy: engine;w=60\r\nX-Reset: 43 1767225660\r\nx-my-QUOTA: 1/1, 0 left\r\n" +
			"Content-Length: 6\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nhello\n"
		if diff := cmp.Diff(want, allowed); diff != "" { // RL116: nothing to wait for, so no X-Wait.
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		want = "HTTP/1.1 429 Too Many Requests\r\nCache-Control: no-store\r\nContent-Length: 13\r\nContent-Type: text/plain; charset=utf-8\r\n" +
			"Mockbase-Limited-By: shield; policy=\"engine\"\r\nRetry-After: 43\r\nX-Fixed: yes\r\nX-Policy: engine;w=60\r\nX-Reset: 43 1767225660\r\n" +
			"X-Wait: 43s\r\nx-my-QUOTA: 1/1, 0 left\r\nConnection: close\r\n\r\n"
		if diff := cmp.Diff(want, denied); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestRL120_custom_fields_of_the_handler_are_kept(t *testing.T) {
	t.Parallel()
	g := newGuard(t, "9/60s", func(o *httplimit.Options) {
		o.Headers, o.HeadersOn = []httplimit.Dialect{httplimit.DialectCustom, httplimit.DialectDraft}, httplimit.OnAlways
		o.CustomFields = []httplimit.CustomField{{Name: "X-LEFT", Value: "{remaining}"}}
	})
	w := httptest.NewRecorder()
	g.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Left", "mine") })).ServeHTTP(w, requestFrom("192.0.2.1:9"))
	if diff := cmp.Diff("X-Left: mine\nRateLimit: \"engine\";r=8;t=43", headerLines(w.Result().Header, "X-LEFT", "X-Left", "RateLimit")); diff != "" {
		t.Error(diff)
	}
}

func TestRL117_custom_fields_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	many := make([]httplimit.CustomField, 33)
	for i := range many {
		many[i] = httplimit.CustomField{Name: "X-" + strings.Repeat("a", i+1), Value: "1"}
	}
	field := func(name, value string) []httplimit.CustomField {
		return []httplimit.CustomField{{Name: name, Value: value}}
	}
	for name, fields := range map[string][]httplimit.CustomField{
		"no fields":                           nil,
		"too many":                            many,
		"no name":                             field("", "1"),
		"a name that is none":                 field("X Left", "1"),
		"a name that splits the answer":       field("X-Left: 1\r\nX-Evil", "1"),
		"a value that splits the answer":      field("X-Left", "1\r\nX-Evil: 1"),
		"RL116 a field that is the server's":  field("retry-AFTER", "{retryAfter}"),
		"a length of its own":                 field("Content-Length", "{limit}"),
		"a placeholder that is none":          field("X-Left", "{left}"),
		"a placeholder that does not end":     field("X-Left", "{remaining"),
		"a brace alone":                       field("X-Left", "{"),
		"two names that differ by case alone": append(field("X-Left", "1"), field("x-left", "2")...),
	} {
		_, err := httplimit.New(httplimit.Options{
			Limiter: newLimiter(t, nil), Policies: policies(t, "1/60s", "engine"), Headers: []httplimit.Dialect{httplimit.DialectCustom}, CustomFields: fields,
		})
		_, layersErr := httplimit.NewLayers(httplimit.LayerOptions{
			Judge: newJudge(t, guard.Rules{}), Headers: []httplimit.Dialect{httplimit.DialectCustom}, CustomFields: fields,
		})
		if !errors.Is(err, ratelimit.ErrConfig) || !errors.Is(layersErr, ratelimit.ErrConfig) {
			t.Errorf("%s: %v and %v, want ErrConfig", name, err, layersErr)
		}
	}
}
