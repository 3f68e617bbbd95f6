package ratelimit_test

import (
	"net/netip"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
)

func TestRL74_networks_are_unwrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ written, want string }{
		{"10.1.2.3/8", "10.0.0.0/8"},
		{"::ffff:127.0.0.1/128", "127.0.0.1/32"},
		{"::ffff:198.51.100.9/120", "198.51.100.0/24"},
		{"::ffff:0:0/96", "0.0.0.0/0"},
		{"64:ff9b::198.51.100.9/120", "198.51.100.0/24"},
		{"64:ff9b::/95", "64:ff9b::/95"},
		{"64:ff9b:1::c000:209/128", "64:ff9b:1::c000:209/128"},
		{"2001:db8::1/32", "2001:db8::/32"},
	} {
		if got := ratelimit.UnwrapNetwork(netip.MustParsePrefix(c.written)).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.written, got, c.want)
		}
	}
	if got := ratelimit.UnwrapAddress(netip.MustParseAddr("fe80::1%lo")).String(); got != "fe80::1" {
		t.Errorf("a zone: %s", got)
	}
}
