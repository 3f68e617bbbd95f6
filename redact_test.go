package mockbase_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

func TestM81_query_values_that_are_named_like_secrets_are_masked(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/a":                        "/a",
		"/a?":                       "/a?",
		"/token/x":                  "/token/x",
		"/a?b=1&c":                  "/a?b=1&c",
		"/a?token=abc":              "/a?token=***",
		"/a?token=":                 "/a?token=***",
		"/a?token":                  "/a?token",
		"/a?x=1&api_key=k&y=2":      "/a?x=1&api_key=***&y=2",
		"/a?access-token=a=b&&z=1":  "/a?access-token=***&&z=1",
		"/a?%74oken=abc&PASSWORD=p": "/a?%74oken=***&PASSWORD=***",
		"/a?%zz=1&sig=s":            "/a?%zz=1&sig=***",
		"/a?token=***&key=***":      "/a?token=***&key=***",
		"/a?monkey=1&design=2":      "/a?monkey=1&design=2",
		"/a?" + strings.Repeat("n", 80) + "Secret=1": "/a?" + strings.Repeat("n", 80) + "Secret=***",
	} {
		if got := mockbase.MaskTarget(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

func FuzzMaskQuery(f *testing.F) {
	for _, seed := range []string{"", "a=1&token=2", "%74oken=x&&=", "token=&token", "=token"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		masked := mockbase.MaskQuery(raw)
		if again := mockbase.MaskQuery(masked); again != masked {
			t.Errorf("%q: %q, then %q", raw, masked, again)
		}
		if strings.Count(masked, "&") != strings.Count(raw, "&") {
			t.Errorf("%q: %q has other parameters", raw, masked)
		}
	})
}

func TestM81_an_exchange_without_its_secrets_is_a_copy(t *testing.T) {
	t.Parallel()
	x := &mockbase.Exchange{
		Request: mockbase.RecordedRequest{
			Target: "/m/shop/a?token=abc", RawQuery: "token=abc",
			Header: http.Header{"Authorization": {"Bearer abc"}, "X-Own": {"abc"}, "Accept": {"*/*"}},
		},
		Response: mockbase.RecordedResponse{Header: http.Header{"set-cookie": {"a=abc"}, "x-OWN": {"abc"}, "Etag": {"1"}}},
	}
	got := mockbase.NewRedaction([]string{"x-own"}).Exchange(x)
	want := &mockbase.Exchange{
		Redacted: true,
		Request: mockbase.RecordedRequest{
			Target: "/m/shop/a?token=***", RawQuery: "token=***",
			Header: http.Header{"Authorization": {"Bearer ***"}, "X-Own": {"***"}, "Accept": {"*/*"}},
		},
		Response: mockbase.RecordedResponse{Header: http.Header{"set-cookie": {"***"}, "x-OWN": {"***"}, "Etag": {"1"}}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("exchange (-want +got):\n%s", diff)
	}
	if x.Request.RawQuery != "token=abc" || x.Request.Header.Get("X-Own") != "abc" || x.Redacted {
		t.Errorf("the exchange itself changed: %+v", x)
	}
	plain := &mockbase.Exchange{Request: mockbase.RecordedRequest{Target: "/a?b=1", Header: http.Header{"X-Own": {"abc"}}}}
	var usual *mockbase.Redaction
	if usual.Exchange(plain) != plain || usual.Extended() || usual.Extends("x-own") {
		t.Error("what is no secret was masked")
	}
}

func TestRetentionIsWithinThatOfTheServer(t *testing.T) {
	t.Parallel()
	all := mockbase.Retention{MaxCount: 10, MaxBytes: 100, MaxAge: 1000}
	for _, c := range []struct{ own, want mockbase.Retention }{
		{mockbase.Retention{}, all},
		{mockbase.Retention{MaxCount: 5, MaxBytes: 50, MaxAge: 500}, mockbase.Retention{MaxCount: 5, MaxBytes: 50, MaxAge: 500}},
		{mockbase.Retention{MaxCount: 50, MaxBytes: 500, MaxAge: 5000}, all},
		{mockbase.Retention{MaxAge: 1}, mockbase.Retention{MaxCount: 10, MaxBytes: 100, MaxAge: 1}},
	} {
		if got := c.own.Within(all); got != c.want {
			t.Errorf("%+v is %+v, want %+v", c.own, got, c.want)
		}
	}
}
