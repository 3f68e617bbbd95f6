package outbound_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/engine/outbound"
)

// S5 and S6: what is fetched is held to the policy, at the address and at each redirect, and bounded.
func TestS5_a_fetch_is_held_to_the_policy_at_every_redirect(t *testing.T) {
	t.Parallel()
	far := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) }))
	far.Start()
	t.Cleanup(far.Close)
	far2 := strings.Replace(far.URL, "127.0.0.1", "localhost", 1)
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			_, _ = w.Write([]byte("text by " + r.Header.Get(outbound.HopsHeader)))
		case "/moved":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/far":
			http.Redirect(w, r, far2, http.StatusFound)
		case "/file":
			http.Redirect(w, r, "ftp://127.0.0.1/", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(near.Close)
	allowed := outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	policy := outbound.New(allowed)
	for path, want := range map[string]string{"/text": "text by 1", "/moved": "text by 1"} {
		if got, err := policy.Fetch(t.Context(), near.URL+path, 9); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	own := allowed
	own.Own = func(at netip.AddrPort) bool { return strings.HasSuffix(far.URL, at.String()) }
	for name, c := range map[string]struct {
		policy  *outbound.Policy
		address string
		blocked bool
	}{
		"not allowed":       {outbound.New(outbound.Options{}), near.URL + "/text", true},
		"link-local":        {policy, near.URL + "/away", true},
		"no HTTP":           {policy, near.URL + "/file", true},
		"itself":            {outbound.New(own), near.URL + "/far", true},
		"too often":         {policy, near.URL + "/round", false},
		"no such file":      {policy, near.URL + "/none", false},
		"with a password":   {policy, "http://a:b@127.0.0.1/", true},
		"no address":        {policy, "::", true},
		"one byte too long": {policy, near.URL + "/text", false},
	} {
		most := int64(100)
		if name == "one byte too long" {
			most = 8
		}
		got, err := c.policy.Fetch(t.Context(), c.address, most)
		if _, blocked := errors.AsType[*outbound.BlockedError](err); err == nil || blocked != c.blocked || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if name == "one byte too long" && !errors.Is(err, outbound.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
