package ratelimit_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func TestRL57_RL58_written_keys_are_those_published(t *testing.T) {
	t.Parallel()
	for _, row := range storetest.Published(t).RedisKeys {
		k := ratelimit.Key{Namespace: row.Namespace, Identifier: row.Identifier}
		if got := ratelimit.KeyText("ratelimit", k, row.Tail); got != row.Key {
			t.Errorf("%s: %s, want %s", row.Note, got, row.Key)
		}
	}
}

func TestRL25_RL57_the_tail_of_a_key(t *testing.T) {
	t.Parallel()
	instant := time.Unix(1_767_225_617, 250_000_000)
	for want, p := range map[string]*ratelimit.Policy{
		"1767225600":      {Limit: 120, Window: time.Minute},
		"1767225617":      {Limit: 1, Window: time.Second, Align: ratelimit.AlignClock},
		"1767225617000ms": {Limit: 1, Window: 500 * time.Millisecond},
		"1767225616500ms": {Limit: 1, Window: 1500 * time.Millisecond},
		"ff":              {Limit: 1, Window: time.Minute, Align: ratelimit.AlignFirstRequest},
		"sw":              {Limit: 1, Window: time.Minute, Algorithm: ratelimit.SlidingWindow},
		"sl":              {Limit: 1, Window: time.Minute, Algorithm: ratelimit.SlidingLog},
		"me":              {Limit: 1, Window: time.Minute, Algorithm: ratelimit.LeakyBucket},
		"cc":              {Limit: 1, Window: time.Minute, Algorithm: ratelimit.Concurrency},
		"0":               {},
	} {
		if got := ratelimit.KeyTail(p, instant); got != want {
			t.Errorf("%+v: %s, want %s", *p, got, want)
		}
	}
	if got := ratelimit.KeyTail(&ratelimit.Policy{Limit: 1, Window: time.Minute}, time.UnixMilli(-1)); got != "-60" {
		t.Errorf("RL17 a millisecond before the epoch: %s, want -60", got)
	}
}

func TestRL57_namespaces(t *testing.T) {
	t.Parallel()
	for namespace, want := range map[string]bool{
		"engine": true, "a": true, "0-_z": true, "-": true, strings.Repeat("a", 64): true,
		"": false, "Engine": false, "a:b": false, "a b": false, "a{": false, "é": false, strings.Repeat("a", 65): false,
	} {
		if got := ratelimit.ValidNamespace(namespace); got != want || (ratelimit.Key{Namespace: namespace}.Validate() == nil) != want {
			t.Errorf("%q: %t, want %t", namespace, got, want)
		}
	}
}

var written = regexp.MustCompile(`^[A-Za-z0-9._~:/-]{1,128}$`)

func FuzzRL58_identifiers_are_injective(f *testing.F) {
	for _, row := range storetest.Published(f).RedisKeys {
		f.Add(row.Identifier, ratelimit.KeyIdentifier(row.Identifier))
	}
	f.Add("203.0.113.9", "2001:db8::/64")
	f.Add(strings.Repeat("a", 128), strings.Repeat("a", 129))
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, identifier := range []string{a, b} {
			got := ratelimit.KeyIdentifier(identifier)
			if !written.MatchString(got) {
				t.Fatalf("%q is written as %q", identifier, got)
			}
			if readable := written.MatchString(identifier) && !strings.HasPrefix(identifier, "h_"); readable != (got == identifier) {
				t.Fatalf("%q is written as %q, though it is readable: %t", identifier, got, readable)
			}
		}
		if a != b && ratelimit.KeyIdentifier(a) == ratelimit.KeyIdentifier(b) {
			t.Fatalf("%q and %q share the key %q", a, b, ratelimit.KeyIdentifier(a))
		}
	})
}
