package httplimit_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// enter sends a request through layers that a handler asks itself, and lets it be answered with a status.
func enter(l *httplimit.Layers, status int) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/m/shop/login", http.NoBody)
	a, ok := l.Admit(w, r)
	if ok {
		w.WriteHeader(status)
		l.Done(a, status)
	} else {
		l.Done(a, w.Code)
	}
	return w
}

func TestRL94_the_status_of_an_admitted_request_decides_what_failed(t *testing.T) {
	t.Parallel()
	l := newLayers(t, guard.Rules{Bans: []guard.BanRule{signInRule()}}, nil)
	for i, want := range []int{401, 200, 401, 403, 403} {
		// The success in between forgives: two failures in a row ban.
		if got := enter(l, want); got.Code != want || (i == 4) != (got.Header().Get("Retry-After") != "") {
			t.Errorf("request %d: %d %v", i, got.Code, got.Header())
		}
	}
}

func TestRL120_an_admitted_request_carries_the_fields_that_are_asked_for_by_now(t *testing.T) {
	t.Parallel()
	l := newLayers(t, guard.Rules{Tiers: []guard.Tier{engineTier(2)}}, nil)
	if got := enter(l, 200); field(got, "RateLimit") != "" {
		t.Errorf("header %v", got.Header())
	}
	if err := l.SetHeadersOn("sometimes"); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
	if err := l.SetHeadersOn(httplimit.OnAlways); err != nil || l.HeadersOn() != httplimit.OnAlways {
		t.Errorf("%v, on %s", err, l.HeadersOn())
	}
	if got := enter(l, 200); field(got, "RateLimit") != `"engine";r=0;t=43` {
		t.Errorf("header %v", got.Header())
	}
	got := enter(l, 200)
	if got.Code != http.StatusTooManyRequests || field(got, "Mockbase-Limited-By") != `shield; policy="engine"` {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}

func TestRL41_what_is_in_flight_ends_with_the_request(t *testing.T) {
	t.Parallel()
	tier := guard.Tier{Policy: ratelimit.Policy{Name: "engine", Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Minute}}
	l := newLayers(t, guard.Rules{Tiers: []guard.Tier{tier}}, nil)
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for range 3 {
		first, ok := l.Admit(httptest.NewRecorder(), r)
		if !ok {
			t.Fatal("the first request is refused")
		}
		refused := httptest.NewRecorder()
		second, ok := l.Admit(refused, r)
		if ok || refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") != "1" {
			t.Fatalf("a second request at the same time: %d %v", refused.Code, refused.Header())
		}
		l.Done(second, refused.Code)
		l.Done(first, 200)
	}
	l.Done(httplimit.Admission{}, 200) // None is none to end.
}

func TestRL92_an_admission_tells_what_a_dry_run_would_have_done(t *testing.T) {
	t.Parallel()
	l := newLayers(t, guard.Rules{DryRun: true, Tiers: []guard.Tier{engineTier(1)}}, nil)
	enter(l, 200)
	a, ok := l.Admit(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if !ok || a.Verdict().WouldLimit != "tiers/engine" {
		t.Errorf("allowed %v, verdict %+v", ok, a.Verdict())
	}
	l.Done(a, 200)
}

func TestRL85_rules_are_about_the_place_that_they_name(t *testing.T) {
	t.Parallel()
	tier := engineTier(1)
	tier.Match.Places = []string{"mocks"}
	rules := guard.Rules{Tiers: []guard.Tier{tier}}
	elsewhere := newLayers(t, rules, func(o *httplimit.LayerOptions) { o.Place = "management" })
	here := newLayers(t, rules, func(o *httplimit.LayerOptions) { o.Place = "mocks" })
	for range 3 {
		if got := enter(elsewhere, 200); got.Code != 200 {
			t.Errorf("elsewhere: %d", got.Code)
		}
	}
	if enter(here, 200).Code != 200 || enter(here, 200).Code != 429 {
		t.Error("the tier does not hold at its own place")
	}
}

func TestRL85_an_admission_costs_no_allocation(t *testing.T) {
	l := newLayers(t, guard.Rules{Exclude: guard.DefaultExclude(), Tiers: []guard.Tier{engineTier(1 << 40)}}, nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/m/shop/a", http.NoBody)
	w := httptest.NewRecorder()
	var kept any
	run := func() {
		a, ok := l.Admit(w, r)
		if !ok {
			t.Fatal("refused")
		}
		kept = a // As the engine hands it back.
		l.Done(kept.(httplimit.Admission), 200)
	}
	if allocations := testing.AllocsPerRun(1000, run); allocations >= 1 {
		t.Errorf("%v allocations a request, want none", allocations)
	}
}

func TestRL130_addresses_are_found_by_the_newest_options(t *testing.T) {
	t.Parallel()
	a := httplimit.NewAddresses(httplimit.AddressOptions{})
	r := requestFrom("10.0.0.1:80", [2]string{"X-Forwarded-For", "203.0.113.9"}, [2]string{"X-Real-Ip", "203.0.113.8"})
	for _, step := range []struct {
		options httplimit.AddressOptions
		want    string
	}{
		{httplimit.AddressOptions{}, "10.0.0.1"},
		{httplimit.AddressOptions{TrustedProxies: networks(t, "10.0.0.0/8")}, "203.0.113.9"},
		{httplimit.AddressOptions{TrustedProxies: networks(t, "10.0.0.0/8"), Header: "x-real-ip"}, "203.0.113.8"},
		{httplimit.AddressOptions{TrustedProxies: networks(t, "192.0.2.0/24")}, "10.0.0.1"},
	} {
		a.Update(step.options)
		if got := a.Client(r).String(); got != step.want {
			t.Errorf("%+v: %s, want %s", step.options, got, step.want)
		}
		trusted, _ := a.Trusts(networks(t, "10.0.0.1/32")[0].Addr())
		if trusted != (step.want != "10.0.0.1") {
			t.Errorf("%+v: trusted %v", step.options, trusted)
		}
	}
}

func TestRL133_addresses_may_be_digests(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	a := httplimit.NewAddresses(httplimit.AddressOptions{IPv6Prefix: 48, Digest: func(text string) string { return i.Digest("ip", text) }})
	one, other := networks(t, "2001:db8::1/128")[0].Addr(), networks(t, "2001:db8:0:7::2/128")[0].Addr()
	for range 2 {
		if name := a.Identifier(one); !strings.HasPrefix(name, "d_") || name != a.Identifier(other) {
			t.Errorf("identifiers %q and %q, want one digest", name, a.Identifier(other))
		}
	}
	if got := a.Identifier(networks(t, "192.0.2.1/32")[0].Addr()); got == a.Identifier(one) || !strings.HasPrefix(got, "d_") {
		t.Errorf("identifier %q", got)
	}
}

func TestRL82_the_level_of_a_plain_fingerprint_is_set(t *testing.T) {
	t.Parallel()
	strict := newIdentity(t, func(o *httplimit.IdentityOptions) { o.FingerprintLevel = httplimit.LevelStrict })
	r := known("/")
	if keyOf(t, strict, "fingerprint", r) != keyOf(t, strict, "fingerprint:strict", r) {
		t.Error("the plain fingerprint has not the level that is set")
	}
	for key, want := range map[string]bool{
		"fingerprint": true, "fingerprint:normal": false, "ip+fingerprint:strict": true, "ip": false, `{{fingerprint "normal"}}`: false, "nonsense": false,
	} {
		if got := strict.Strict(key); got != want {
			t.Errorf("%s: strict %v", key, got)
		}
	}
	if _, err := httplimit.NewIdentity(httplimit.IdentityOptions{FingerprintLevel: "lax"}); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
	custom := newIdentity(t, func(o *httplimit.IdentityOptions) { o.FingerprintLevel = httplimit.LevelCustom })
	if err := custom.Check("fingerprint"); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("a custom fingerprint without parts: %v", err)
	}
}
