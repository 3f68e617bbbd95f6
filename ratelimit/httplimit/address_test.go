package httplimit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/storetest"
)

func networks(tb testing.TB, texts ...string) []netip.Prefix {
	tb.Helper()
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			tb.Fatal(err)
		}
		prefixes = append(prefixes, p)
	}
	return prefixes
}

func requestFrom(peer string, headers ...[2]string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.RemoteAddr = peer
	for _, h := range headers {
		r.Header.Add(h[0], h[1])
	}
	return r
}

func TestRL70_RL75_client_addresses_are_those_published(t *testing.T) {
	t.Parallel()
	for _, row := range storetest.Published(t).Addresses {
		a := httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: networks(t, row.Trusted...), Header: row.Source})
		client := a.Client(requestFrom(row.Peer, row.Headers...))
		if client.String() != row.Client || a.Identifier(client) != row.Identifier {
			t.Errorf("%s: client %s, identifier %s, want %s and %s", row.Note, client, a.Identifier(client), row.Client, row.Identifier)
		}
	}
}

func TestRL70_RL74_client_addresses(t *testing.T) {
	t.Parallel()
	const forwardedFor, forwarded, proxy = "X-Forwarded-For", "Forwarded", "10.0.0.1:80"
	for _, c := range []struct {
		name    string
		peer    string
		source  string
		trusted []string
		headers [][2]string
		want    string
	}{
		{"RL71 the default source is x-forwarded-for", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.1"}}, "192.0.2.1"},
		{"RL71 another source is not looked at", proxy, "", nil, [][2]string{{forwarded, "for=192.0.2.1"}, {"X-Real-Ip", "192.0.2.2"}}, "10.0.0.1"},
		{"RL71 none", proxy, "none", nil, [][2]string{{forwardedFor, "192.0.2.1"}}, "10.0.0.1"},
		{"RL71 x-real-ip", proxy, "X-Real-IP", nil, [][2]string{{"X-Real-Ip", "192.0.2.1"}}, "192.0.2.1"},
		{"RL71 a header of one's own, with a port", proxy, "cf-connecting-ip", nil, [][2]string{{"CF-Connecting-IP", "[2001:db8::1]:9"}}, "2001:db8::1"},
		{"RL71 a list is no single value", proxy, "x-real-ip", nil, [][2]string{{"X-Real-Ip", "192.0.2.1, 192.0.2.2"}}, "10.0.0.1"},
		{"RL71 two lines are no single value", proxy, "x-real-ip", nil, [][2]string{{"X-Real-Ip", "192.0.2.1"}, {"X-Real-Ip", "192.0.2.2"}}, "10.0.0.1"},
		{"RL71 an unreadable single value", proxy, "x-real-ip", nil, [][2]string{{"X-Real-Ip", "me"}}, "10.0.0.1"},
		{"RL70 an untrusted peer is the client, whatever it claims", "198.51.100.7:80", "", nil, [][2]string{{forwardedFor, "10.0.0.2"}}, "198.51.100.7"},
		{"RL70 a peer with a zone", "[fe80::1%eth0]:80", "", nil, nil, "fe80::1"},
		{"RL70 a peer without a port", "198.51.100.7", "", nil, nil, "198.51.100.7"},
		{"RL72 blanks and tabs", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.1 ,\t192.0.2.9\t"}}, "192.0.2.9"},
		{"RL72 empty members and lines", proxy, "", nil, [][2]string{{forwardedFor, ",192.0.2.9, ,"}, {forwardedFor, ""}, {forwardedFor, ", ,"}}, "192.0.2.9"},
		{"RL72 leading zeros end the walk", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9, 010.0.0.2, 10.0.0.3"}}, "10.0.0.3"},
		{"RL72 an untrusted hop in the middle is the client", proxy, "", nil, [][2]string{{forwardedFor, "203.0.113.1, 192.0.2.9, 10.0.0.3"}}, "192.0.2.9"},
		{"RL72 thirty-two hops are walked", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9" + strings.Repeat(",10.0.0.2", 31)}}, "192.0.2.9"},
		{"RL72 thirty-three are not", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9" + strings.Repeat(",10.0.0.2", 32)}}, "10.0.0.2"},
		{"RL72 4 KiB are read", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9," + strings.Repeat(" ", 4000) + "10.0.0.2"}}, "192.0.2.9"},
		{"RL72 more are not", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9," + strings.Repeat(" ", 4096) + "10.0.0.2"}}, "10.0.0.1"},
		{"RL72 nor over several lines", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9"}, {forwardedFor, "10.0.0.2"}, {forwardedFor, strings.Repeat(" ", 4090) + ","}}, "10.0.0.1"},
		{"RL74 a port out of range of digits", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9:123456"}}, "10.0.0.1"},
		{"RL74 a port of letters", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9:http"}}, "10.0.0.1"},
		{"RL74 an open bracket", proxy, "", nil, [][2]string{{forwardedFor, "[2001:db8::1"}}, "10.0.0.1"},
		{"RL74 IPv4 in brackets", proxy, "", nil, [][2]string{{forwardedFor, "[192.0.2.9]"}}, "10.0.0.1"},
		{"RL74 an empty zone", proxy, "", nil, [][2]string{{forwardedFor, "fe80::1%"}}, "10.0.0.1"},
		{"RL74 a zone on IPv4", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9%eth0"}}, "10.0.0.1"},
		{"RL74 brackets, zone and port", proxy, "", nil, [][2]string{{forwardedFor, "[fe80::1%eth0]:443"}}, "fe80::1"},
		{"RL74 a mapped trusted hop", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9, ::ffff:10.1.2.3"}}, "192.0.2.9"},
		{"RL74 a translated trusted hop", proxy, "", nil, [][2]string{{forwardedFor, "192.0.2.9, 64:ff9b::a01:203"}}, "192.0.2.9"},
		{"RL74 a mapped trusted network", proxy, "", []string{"::ffff:10.0.0.0/104"}, [][2]string{{forwardedFor, "192.0.2.9"}}, "192.0.2.9"},
		{"RL74 an IPv6 trusted network", "[2001:db8::1]:80", "", []string{"2001:db8::/32"}, [][2]string{{forwardedFor, "192.0.2.9"}}, "192.0.2.9"},
		{"RL74 everything is trusted", proxy, "", []string{"0.0.0.0/0"}, [][2]string{{forwardedFor, "192.0.2.9, 192.0.2.10"}}, "192.0.2.9"},
		{"RL73 names without case, blanks, other parameters", proxy, "forwarded", nil, [][2]string{{forwarded, `proto=http ; FOR = "192.0.2.9:80" ; by=10.0.0.1`}}, "192.0.2.9"},
		{"RL73 several lines", proxy, "forwarded", nil, [][2]string{{forwarded, "for=192.0.2.8"}, {forwarded, "for=192.0.2.9, for=10.0.0.4"}}, "192.0.2.9"},
		{"RL73 unknown ends the walk", proxy, "forwarded", nil, [][2]string{{forwarded, "for=192.0.2.9, for=unknown"}}, "10.0.0.1"},
		{"RL73 an element without for ends the walk", proxy, "forwarded", nil, [][2]string{{forwarded, "for=192.0.2.9, proto=https"}}, "10.0.0.1"},
		{"RL73 an element with two ends the walk", proxy, "forwarded", nil, [][2]string{{forwarded, "for=192.0.2.9;for=192.0.2.8"}}, "10.0.0.1"},
		{"RL73 separators within quotes", proxy, "forwarded", nil, [][2]string{{forwarded, `for=192.0.2.9;host="a,b;for=192.0.2.8"`}}, "192.0.2.9"},
		{"RL73 an escape within quotes", proxy, "forwarded", nil, [][2]string{{forwarded, `for="192.0.2\.9";host="\"a,b\\"`}}, "192.0.2.9"},
		{"RL73 a quotation left open by the client", proxy, "forwarded", nil, [][2]string{{forwarded, `for="192.0.2.8, for=192.0.2.9`}}, "192.0.2.9"},
		{"RL73 an open quotation is unreadable", proxy, "forwarded", nil, [][2]string{{forwarded, `for=192.0.2.9, for="10.0.0.5`}}, "10.0.0.1"},
		{"RL73 a lone quote", proxy, "forwarded", nil, [][2]string{{forwarded, `for="`}}, "10.0.0.1"},
		{"RL73 a hidden port", proxy, "forwarded", nil, [][2]string{{forwarded, `for="[2001:db8::1]:_web"`}}, "2001:db8::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			trusted := c.trusted
			if trusted == nil {
				trusted = []string{"10.0.0.0/8"}
			}
			o := httplimit.AddressOptions{TrustedProxies: networks(t, trusted...), Header: c.source}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			r := requestFrom(c.peer, c.headers...)
			before := r.Header.Clone()
			if got := httplimit.NewAddresses(o).Client(r); got.String() != c.want {
				t.Errorf("client %s, want %s", got, c.want)
			}
			for name := range before {
				if strings.Join(r.Header[name], "|") != strings.Join(before[name], "|") {
					t.Errorf("the header %s was changed to %q", name, r.Header[name])
				}
			}
		})
	}
}

func TestRL75_identifiers(t *testing.T) {
	for _, c := range []struct {
		address string
		prefix  int
		want    string
	}{
		{"192.0.2.9", 0, "192.0.2.9"},
		{"192.0.2.9", 32, "192.0.2.9"},
		{"::ffff:192.0.2.9", 0, "192.0.2.9"},
		{"64:ff9b::c000:209", 0, "192.0.2.9"},
		{"64:ff9b:1::c000:209", 0, "64:ff9b:1::/64"},
		{"2001:db8:1:2:3:4:5:6", 0, "2001:db8:1:2::/64"},
		{"2001:db8:1:2:3:4:5:6", 48, "2001:db8:1::/48"},
		{"2001:db8:1:2:3:4:5:6", 128, "2001:db8:1:2:3:4:5:6/128"},
		{"2001:db8:1:2:3:4:5:6", 7, "2001:db8:1:2::/64"},
		{"fe80::1%eth0", 0, "fe80::/64"},
		{"", 0, "unix"},
	} {
		a := httplimit.NewAddresses(httplimit.AddressOptions{IPv6Prefix: c.prefix})
		address, _ := netip.ParseAddr(c.address)
		for range 2 { // The second one comes from memory.
			if got := a.Identifier(address); got != c.want {
				t.Errorf("%q with /%d: %q, want %q", c.address, c.prefix, got, c.want)
			}
		}
		if allocations := testing.AllocsPerRun(10, func() { a.Identifier(address) }); allocations != 0 {
			t.Errorf("%q: %v allocations for a known address", c.address, allocations)
		}
	}
}

func TestRL75_identifiers_stay_right_when_addresses_share_a_place_in_memory(t *testing.T) {
	t.Parallel()
	a := httplimit.NewAddresses(httplimit.AddressOptions{})
	for range 2 {
		for i := range 20_000 {
			address := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
			if got := a.Identifier(address); got != address.String() {
				t.Fatalf("%s is called %s", address, got)
			}
		}
	}
}

func TestRL75_a_unix_socket_is_one_client(t *testing.T) {
	t.Parallel()
	a := httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: networks(t, "0.0.0.0/0", "::/0")})
	for _, peer := range []string{"", "@", "/run/mockbase.sock"} {
		r := requestFrom(peer, [2]string{"X-Forwarded-For", "192.0.2.1"})
		if got := a.Identifier(a.Client(r)); got != httplimit.UnixClient {
			t.Errorf("peer %q is called %q", peer, got)
		}
		if got := a.IPExtractor()(r); got != httplimit.UnixClient {
			t.Errorf("peer %q is extracted as %q", peer, got)
		}
	}
}

func TestRL77_the_address_is_found_once_and_kept(t *testing.T) {
	t.Parallel()
	a := httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: networks(t, "10.0.0.0/8")})
	r := requestFrom("10.0.0.1:80", [2]string{"X-Forwarded-For", "192.0.2.9"})
	if got := httplimit.ClientAddress(r).String(); got != "10.0.0.1" {
		t.Errorf("without the middleware: %s, want the peer", got)
	}
	var seen []string
	a.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Forwarded-For", "203.0.113.66")
		r.RemoteAddr = "203.0.113.67:1"
		seen = append(seen, httplimit.ClientAddress(r).String(), a.Client(r).String(), a.IPExtractor()(r))
	})).ServeHTTP(httptest.NewRecorder(), r)
	if got := strings.Join(seen, " "); got != "192.0.2.9 192.0.2.9 192.0.2.9" {
		t.Errorf("within the middleware: %s", got)
	}
}

func TestRL131_a_forwarding_header_without_a_trusted_proxy_warns_once(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	a := httplimit.NewAddresses(httplimit.AddressOptions{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	a.Client(requestFrom("198.51.100.7:80"))
	if logged.Len() > 0 {
		t.Errorf("a request without the header is worth no line: %s", &logged)
	}
	for range 3 {
		a.Client(requestFrom("198.51.100.7:80", [2]string{"X-Forwarded-For", "192.0.2.1"}))
	}
	if text := logged.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "peer_to_trust=198.51.100.7") {
		t.Errorf("logged %q, want one line that names the peer", text)
	}
}

func TestRL71_options_that_cannot_be_are_refused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]httplimit.AddressOptions{
		"a header with a blank":       {Header: "x real ip"},
		"a header with a colon":       {Header: "x:y"},
		"a prefix too short":          {IPv6Prefix: 31},
		"a prefix too long":           {IPv6Prefix: 129},
		"a network without addresses": {TrustedProxies: make([]netip.Prefix, 1)},
	} {
		if err := o.Validate(); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
		if got := httplimit.NewAddresses(o).Client(requestFrom("198.51.100.7:80", [2]string{"X-Real-Ip", "192.0.2.1"})); got.String() != "198.51.100.7" {
			t.Errorf("%s: %s is believed", name, got)
		}
	}
}

// RL142: whatever the header says, the client is an address, and nothing panics.
func FuzzRL142_forwarding_headers(f *testing.F) {
	for _, row := range storetest.Published(f).Addresses {
		for _, h := range row.Headers {
			f.Add(h[1], "")
		}
	}
	f.Add(`for="[2001:db8::1]:_web";proto=http, for=_x`, `for="a\"b`)
	f.Add(strings.Repeat("10.0.0.2,", 40), strings.Repeat(",", 5000))
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, source := range []string{"x-forwarded-for", "forwarded", "x-real-ip"} {
			a := httplimit.NewAddresses(httplimit.AddressOptions{TrustedProxies: proxies, Header: source})
			r := requestFrom("10.0.0.1:80")
			name := http.CanonicalHeaderKey(source)
			r.Header[name] = []string{first, second}
			client := a.Client(r)
			if !client.IsValid() || client.Zone() != "" || client.Is4In6() {
				t.Fatalf("%s %q %q: client %v", source, first, second, client)
			}
			// What a proxy appends at the right decides, whatever the client wrote.
			appended := map[string]string{"x-forwarded-for": "192.0.2.9", "forwarded": `for="192.0.2.9:80";proto=https`}[source]
			if appended == "" {
				continue
			}
			r.Header[name] = []string{first, second + "," + appended}
			if got := a.Client(r); got.String() != "192.0.2.9" {
				t.Fatalf("%s %q, %q: client %s beside the entry of the proxy", source, first, second, got)
			}
		}
	})
}
