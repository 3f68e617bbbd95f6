package mockbase_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestS6_an_entry_of_what_may_be_called(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]mockbase.Upstream{
		"10.0.0.1":                  {Prefix: netip.MustParsePrefix("10.0.0.1/32")},
		"::ffff:10.0.0.1":           {Prefix: netip.MustParsePrefix("10.0.0.1/32")},
		"10.0.0.0/8":                {Prefix: netip.MustParsePrefix("10.0.0.0/8")},
		"fd00::/8":                  {Prefix: netip.MustParsePrefix("fd00::/8")},
		" private ":                 {Word: mockbase.UpstreamPrivate},
		"loopback":                  {Word: mockbase.UpstreamLoopback},
		"link-local":                {Word: mockbase.UpstreamLinkLocal},
		"API.Example.com.":          {Host: "api.example.com"},
		"*.example.com":             {Host: "*.example.com"},
		"localhost":                 {Host: "localhost"},
		"payments_1.svc":            {Host: "payments_1.svc"},
		strings.Repeat("a", 63):     {Host: strings.Repeat("a", 63)},
		"xn--bcher-kva.example.com": {Host: "xn--bcher-kva.example.com"},
	} {
		if got, err := mockbase.ParseUpstream(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "*", "*.", "10.0.0.0/33", "10.0.0", "1.2.3.4.5", "http://a.test", "a.test:80", "a..b", "-a.test", "a-.test", "a.*.test", "a b", "bücher.test",
		strings.Repeat("a", 64), strings.Repeat("a.", 130) + "a",
	} {
		if got, err := mockbase.ParseUpstream(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
