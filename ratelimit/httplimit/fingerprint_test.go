package httplimit_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

func TestRL82_what_a_fingerprint_is_made_of(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, func(o *httplimit.IdentityOptions) {
		o.FingerprintParts = []string{"header:X-Network", "accept-language", "headers"}
	})
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		levels string
	}{
		{"nothing", func(*http.Request) {}, ""},
		{"the address", set("X-Client", "203.0.113.10"), "strict normal"},
		{"the user agent", set("User-Agent", "curl/9"), "strict normal"},
		{"the language", set("Accept-Language", "de"), "strict custom"},
		{"the encoding", set("Accept-Encoding", "br"), "strict"},
		{"a name of a field, which is in the header hash", set("X-More", "1"), "strict custom"},
		{"a value that is in the header hash", set("Accept", "text/html"), "strict custom"},
		{"a value that is not", set("X-Tenant", "other"), ""},
		{"JA3 of a trusted peer", set("X-JA3-Fingerprint", "beef"), "strict"},
		{"a header of the custom level", set("X-Network", "AS64500"), "custom"},
		{"who is verified", func(r *http.Request) {
			*r = *r.WithContext(httplimit.WithClaims(r.Context(), map[string]any{"sub": "eve"}))
		}, "strict normal relaxed"},
	} {
		for _, level := range []string{"strict", "normal", "relaxed", "custom"} {
			base, changed := full(), full()
			c.change(changed)
			differs := keyOf(t, i, "fingerprint:"+level, base) != keyOf(t, i, "fingerprint:"+level, changed)
			if want := strings.Contains(c.levels, level); differs != want {
				t.Errorf("%s, %s: differs %t, want %t", c.name, level, differs, want)
			}
		}
	}
	if keyOf(t, i, "fingerprint", full()) != keyOf(t, i, "fingerprint:normal", full()) {
		t.Error("a fingerprint without a level is normal")
	}
}

// full is a request with all that fingerprints look at.
func full() *http.Request {
	r := known("/")
	for _, name := range []string{"Accept-Language", "Accept-Encoding", "Accept", "X-Network", "X-JA3-Fingerprint"} {
		r.Header.Set(name, "usual")
	}
	return r
}

func TestRL82_relaxed_is_the_address_without_authentication(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	fingerprint := func(headers ...[2]string) string {
		return keyOf(t, i, "fingerprint:relaxed", requestFrom("192.0.2.1:9", headers...))
	}
	here, there := [2]string{"X-Client", "203.0.113.1"}, [2]string{"X-Client", "203.0.113.2"}
	shown := [2]string{"Authorization", "Bearer tok-5ecret"}
	switch {
	case fingerprint(here) == fingerprint(there):
		t.Error("two addresses share a fingerprint")
	case fingerprint(here, shown) != fingerprint(there, shown):
		t.Error("one token has two fingerprints")
	case fingerprint(here, shown) == fingerprint(here):
		t.Error("a token changes nothing")
	}
}

func TestRL83_the_header_hash_says_which_form_it_is(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, nil)
	r := requestFrom("192.0.2.1:9", [2]string{"Accept", "*/*"}, [2]string{"User-Agent", "curl"})
	sorted := httplimit.HeaderHash(i, r)
	ordered := httplimit.HeaderHash(i, r.WithContext(httplimit.WithHeaderOrder(r.Context(), []string{"user-agent", "Accept"})))
	other := httplimit.HeaderHash(i, r.WithContext(httplimit.WithHeaderOrder(r.Context(), []string{"Accept", "User-Agent"})))
	again := httplimit.HeaderHash(i, r.WithContext(httplimit.WithHeaderOrder(r.Context(), []string{"User-Agent", "accept"})))
	if !regexp.MustCompile(`^s:[0-9a-f]{16}$`).MatchString(sorted) || !regexp.MustCompile(`^o:[0-9a-f]{16}$`).MatchString(ordered) {
		t.Errorf("%q and %q", sorted, ordered)
	}
	if ordered == other || ordered != again || ordered[2:] == sorted[2:] {
		t.Errorf("the order counts and the case does not: %q %q %q %q", sorted, ordered, other, again)
	}
	known := newIdentity(t, func(o *httplimit.IdentityOptions) {
		o.HeaderOrder = func(*http.Request) []string { return []string{"User-Agent", "Accept"} }
	})
	if got := httplimit.HeaderHash(known, r); got != ordered {
		t.Errorf("a server that knows: %q, want %q", got, ordered)
	}
}

func TestRL84_JA3_is_believed_from_trusted_peers_only(t *testing.T) {
	t.Parallel()
	i := newIdentity(t, func(o *httplimit.IdentityOptions) { o.JA3Header, o.FingerprintParts = "X-TLS", []string{"ja3"} })
	fingerprint := func(peer, ja3 string) string {
		return keyOf(t, i, "fingerprint:custom", requestFrom(peer, [2]string{"X-TLS", ja3}))
	}
	if fingerprint("192.0.2.1:9", "a") == fingerprint("192.0.2.1:9", "b") {
		t.Error("the proxy is not believed")
	}
	if fingerprint("198.51.100.1:9", "a") != fingerprint("198.51.100.1:9", "b") {
		t.Error("a client chooses its fingerprint")
	}
}

func TestRL84_a_fingerprint_is_computed_once_per_request(t *testing.T) {
	t.Parallel()
	var computed atomic.Int64
	i := newIdentity(t, func(o *httplimit.IdentityOptions) {
		o.HeaderOrder = func(*http.Request) []string { computed.Add(1); return nil }
	})
	tier := func(name string) guard.Tier {
		return guard.Tier{
			Policy: ratelimit.Policy{Name: name, Limit: 9, Window: 60e9}, Key: guard.Key{Parts: []string{"fingerprint:strict", "endpoint"}},
		}
	}
	l := newLayers(t, guard.Rules{Tiers: []guard.Tier{tier("one"), tier("two"), tier("three")}}, func(o *httplimit.LayerOptions) { o.Part = i.Part })
	exchange(t, serve(t, l.Middleware(hello)), "GET")
	if got := computed.Swap(0); got != 1 {
		t.Errorf("three tiers: %d times", got)
	}
	g := newGuard(t, "9/60s, 20/1h", func(o *httplimit.Options) {
		o.Identity, o.Key, o.PerAddress = i, "fingerprint:strict", []ratelimit.Policy{{Name: "address", Limit: 9, Window: 60e9}}
	})
	exchange(t, serve(t, g.Middleware(hello)), "GET")
	if got := computed.Swap(0); got != 1 {
		t.Errorf("two policies: %d times", got)
	}
	exchange(t, serve(t, i.Middleware(i.Middleware(l.Middleware(g.Middleware(hello))))), "GET")
	if got := computed.Swap(0); got != 1 {
		t.Errorf("layers and a guard behind the identity: %d times", got)
	}
}
