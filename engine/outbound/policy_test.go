package outbound_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase/engine/outbound"
)

func reasonOf(err error) outbound.Reason {
	if blocked, ok := errors.AsType[*outbound.BlockedError](err); ok {
		return blocked.Reason
	}
	return ""
}

func TestS6_only_public_addresses_are_called_unless_allowed(t *testing.T) {
	t.Parallel()
	tests := map[string]outbound.Reason{
		"93.184.215.14": "", "8.8.8.8": "", "2606:4700::1111": "", "172.32.0.1": "", "100.128.0.1": "", "::ffff:8.8.8.8": "",
		"64:ff9b::8.8.8.8": "", "2002:808:808::1": "",
		"127.0.0.1": outbound.ReasonLoopback, "127.9.9.9": outbound.ReasonLoopback, "::1": outbound.ReasonLoopback,
		"::ffff:127.0.0.1": outbound.ReasonLoopback, "::127.0.0.1": outbound.ReasonLoopback, "2002:7f00:1::": outbound.ReasonLoopback,
		"10.0.0.1": outbound.ReasonPrivate, "172.16.0.1": outbound.ReasonPrivate, "172.31.255.255": outbound.ReasonPrivate,
		"192.168.1.1": outbound.ReasonPrivate, "100.64.0.1": outbound.ReasonPrivate, "fd12::1": outbound.ReasonPrivate,
		"::ffff:10.0.0.1": outbound.ReasonPrivate, "64:ff9b::10.0.0.1": outbound.ReasonPrivate, "64:ff9b:1::1": outbound.ReasonPrivate,
		"::ffff:0:10.0.0.1": outbound.ReasonPrivate, "fec0::1": outbound.ReasonPrivate,
		"169.254.1.1": outbound.ReasonLinkLocal, "fe80::1": outbound.ReasonLinkLocal, "fe80::1%eth0": outbound.ReasonLinkLocal,
		"169.254.169.254": outbound.ReasonMetadata, "::ffff:169.254.169.254": outbound.ReasonMetadata, "fd00:ec2::254": outbound.ReasonMetadata,
		"64:ff9b::a9fe:a9fe": outbound.ReasonMetadata, "100.100.100.200": outbound.ReasonMetadata, "168.63.129.16": outbound.ReasonMetadata,
		"224.0.0.1": outbound.ReasonMulticast, "ff02::1": outbound.ReasonMulticast,
		"0.0.0.0": outbound.ReasonUnspecified, "0.1.2.3": outbound.ReasonUnspecified, "::": outbound.ReasonUnspecified,
		"255.255.255.255": outbound.ReasonReserved, "240.0.0.1": outbound.ReasonReserved, "192.0.2.1": outbound.ReasonReserved,
		"2001::1": outbound.ReasonReserved, "2001:db8::1": outbound.ReasonReserved, "4000::1": outbound.ReasonReserved, "100::1": outbound.ReasonReserved,
	}
	policy := outbound.New(outbound.Options{})
	for address, want := range tests {
		if got := reasonOf(policy.Check(netip.MustParseAddr(address))); got != want {
			t.Errorf("%s is refused as %q, want %q", address, got, want)
		}
	}
}

func TestS6_a_server_on_loopback_may_call_loopback_alone(t *testing.T) {
	t.Parallel()
	policy := outbound.New(outbound.Options{Loopback: true})
	for address, want := range map[string]outbound.Reason{
		"127.0.0.1": "", "::1": "", "10.0.0.1": outbound.ReasonPrivate, "169.254.169.254": outbound.ReasonMetadata, "fe80::1": outbound.ReasonLinkLocal,
	} {
		if got := reasonOf(policy.Check(netip.MustParseAddr(address))); got != want {
			t.Errorf("%s is refused as %q, want %q", address, got, want)
		}
	}
}

func TestS6_the_operator_allows_and_a_project_narrows(t *testing.T) {
	t.Parallel()
	allow, err := outbound.ParseAllow([]string{"10.0.0.0/8", " loopback", "::ffff:192.168.7.0/120", "fd00::7", ""})
	if err != nil {
		t.Fatal(err)
	}
	operator := outbound.New(outbound.Options{Allow: allow})
	own, err := outbound.ParseList([]string{"10.1.0.0/16", "172.16.0.0/12", "link-local", "api.test"})
	if err != nil {
		t.Fatal(err)
	}
	project := operator.Narrow(own)
	tests := map[string]struct{ operator, project outbound.Reason }{
		"10.1.2.3":          {"", ""},
		"::ffff:10.1.2.3":   {"", ""},
		"64:ff9b::10.1.2.3": {"", ""},
		"10.2.2.3":          {"", outbound.ReasonProject},
		"127.0.0.1":         {"", outbound.ReasonProject},
		"192.168.7.9":       {"", outbound.ReasonProject},
		"fd00::7":           {"", outbound.ReasonProject},
		"8.8.8.8":           {"", outbound.ReasonProject},
		"192.168.8.9":       {outbound.ReasonPrivate, outbound.ReasonProject},
		"172.16.0.1":        {outbound.ReasonPrivate, outbound.ReasonPrivate},
		"169.254.169.254":   {outbound.ReasonMetadata, outbound.ReasonMetadata},
	}
	for address, want := range tests {
		a := netip.MustParseAddr(address)
		if got := reasonOf(operator.Check(a)); got != want.operator {
			t.Errorf("the operator refuses %s as %q, want %q", address, got, want.operator)
		}
		if got := reasonOf(project.Check(a)); got != want.project {
			t.Errorf("the project refuses %s as %q, want %q", address, got, want.project)
		}
	}
	if operator.Narrow(outbound.List{}) != operator {
		t.Error("an empty list narrows")
	}
}

func TestParseAllow_names_what_it_cannot_read(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"example.com", "10.0.0.0/33", "10.0.0", "public"} {
		if list, err := outbound.ParseAllow([]string{entry}); err == nil {
			t.Errorf("%q is read as %v", entry, list)
		}
	}
}

func TestS6_a_project_names_hosts_which_the_operator_still_judges(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	list, err := outbound.ParseList([]string{"API.test.", "*.below.test", "8.8.8.8"})
	if err != nil {
		t.Fatal(err)
	}
	reach := func(resolved string) http.RoundTripper {
		policy := outbound.New(outbound.Options{Loopback: true, Resolver: nameserver(t, always(resolved))}).Narrow(list)
		return policy.Transport(outbound.TransportOptions{Reuse: outbound.FreshConnections})
	}
	for host, want := range map[string]outbound.Reason{
		"api.test": "", "api.test.": "", "Api.Test": "", "a.below.test": "", "b.a.below.test": "",
		"below.test": outbound.ReasonProject, "xbelow.test": outbound.ReasonProject, "other.test": outbound.ReasonProject, "127.0.0.1": outbound.ReasonProject,
		"api.test.evil.test": outbound.ReasonProject,
	} {
		if _, err := get(t, reach("127.0.0.1"), "http://"+host+":"+port+"/"); reasonOf(err) != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v, want a refusal as %q", host, err, want)
		}
	}
	for resolved, want := range map[string]outbound.Reason{
		"169.254.169.254": outbound.ReasonMetadata, "10.0.0.1": outbound.ReasonPrivate, "::ffff:10.0.0.1": outbound.ReasonPrivate,
	} {
		if _, err := get(t, reach(resolved), "http://api.test:"+port+"/"); reasonOf(err) != want {
			t.Errorf("api.test at %s: %v, want a refusal as %q", resolved, err, want)
		}
	}
}

func TestS5_only_http_and_https_without_user(t *testing.T) {
	t.Parallel()
	for text, allowed := range map[string]bool{
		"http://a.test/x": true, "https://a.test": true, "http://[::1]:80/": true,
		"ftp://a.test": false, "file:///etc/passwd": false, "http://u:p@a.test": false, "http://u@a.test": false, "http:///x": false, "//a.test": false, "http://:80/": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := outbound.CheckURL(u); (got == nil) != allowed {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestS7_hops_are_counted_up_to_ten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		received []string
		want     string
		loop     bool
	}{
		{nil, "1", false},
		{[]string{"9"}, "10", false},
		{[]string{"10"}, "", true},
		{[]string{"3", "5"}, "6", false},
		{[]string{"-4"}, "1", false},
		{[]string{"many"}, "1", false},
		{[]string{"1000000"}, "", true},
	} {
		got, err := outbound.NextHops(http.Header{outbound.HopsHeader: test.received})
		if got != test.want || (reasonOf(err) == outbound.ReasonLoop) != test.loop {
			t.Errorf("after %v: %q, %v", test.received, got, err)
		}
	}
}

// nameserver answers every question with the current address, as a server of DNS over TCP.
func nameserver(t *testing.T, current func() netip.Addr) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerName(server, current())
		return client, nil
	}}
}

func always(text string) func() netip.Addr {
	return func() netip.Addr { return netip.MustParseAddr(text) }
}

// answerName answers one question: a length, twelve bytes of header, the name, its type and class.
func answerName(conn net.Conn, address netip.Addr) {
	defer conn.Close()
	message := make([]byte, 1<<10)
	if _, err := conn.Read(message); err != nil {
		return
	}
	message = message[2:]
	end := 12
	for message[end] != 0 {
		end += int(message[end]) + 1
	}
	kind := binary.BigEndian.Uint16(message[end+1:])
	answer := append([]byte{message[0], message[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, message[12:end+5]...)
	if raw := address.AsSlice(); kind == 1 && len(raw) == 4 || kind == 28 && len(raw) == 16 {
		answer[7] = 1
		answer = append(answer, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		answer = append(answer, raw...)
	}
	framed := binary.BigEndian.AppendUint16(nil, uint16(len(answer)))
	_, _ = conn.Write(append(framed, answer...))
}

func get(t *testing.T, transport http.RoundTripper, target string) (int, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return answer.StatusCode, nil
}

func TestS5_a_name_is_judged_by_what_it_resolves_to(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]outbound.Reason{
		"169.254.169.254": outbound.ReasonMetadata, "10.0.0.1": outbound.ReasonPrivate, "127.0.0.1": outbound.ReasonLoopback, "fd00::1": outbound.ReasonPrivate,
		"::ffff:10.0.0.1": outbound.ReasonPrivate, "0.0.0.0": outbound.ReasonUnspecified,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			policy := outbound.New(outbound.Options{Resolver: nameserver(t, always(address))})
			transport := policy.Transport(outbound.TransportOptions{})
			if _, err := get(t, transport, "http://innocent.test/"); reasonOf(err) != want {
				t.Errorf("got %v, want a refusal as %s", err, want)
			}
		})
	}
}

func TestS5_a_name_is_looked_up_and_judged_at_every_attempt(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	var current atomic.Pointer[netip.Addr]
	policy := outbound.New(outbound.Options{Loopback: true, Resolver: nameserver(t, func() netip.Addr { return *current.Load() })})
	transport := policy.Transport(outbound.TransportOptions{Reuse: outbound.FreshConnections})
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for address, want := range map[string]outbound.Reason{"127.0.0.1": "", "169.254.169.254": outbound.ReasonMetadata} {
		resolved := netip.MustParseAddr(address)
		current.Store(&resolved)
		if _, err := get(t, transport, "http://rebound.test:"+port+"/"); reasonOf(err) != want || (err == nil) != (want == "") {
			t.Errorf("resolved to %s: %v", address, err)
		}
	}
}

func TestS5_addresses_in_any_spelling_are_judged(t *testing.T) {
	t.Parallel()
	transport := outbound.New(outbound.Options{}).Transport(outbound.TransportOptions{})
	for _, target := range []string{
		"http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://127.0.0.1:1/", "http://[::1]:1/", "http://[::]:1/", "http://0.0.0.0:1/",
		"http://[64:ff9b::a9fe:a9fe]/", "http://[fe80::1%25lo]/", "http://localhost:1/",
	} {
		if _, err := get(t, transport, target); reasonOf(err) == "" {
			t.Errorf("%s is called: %v", target, err)
		}
	}
}

func TestT13_a_proxy_does_not_call_this_server_but_a_webhook_may(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	own := netip.MustParseAddrPort(server.Listener.Addr().String())
	policy := outbound.New(outbound.Options{Loopback: true, Own: func(a netip.AddrPort) bool { return a == own }})
	if _, err := get(t, policy.Transport(outbound.TransportOptions{Self: outbound.SelfRefused}), server.URL); reasonOf(err) != outbound.ReasonSelf {
		t.Errorf("a proxy calls its own server: %v", err)
	}
	status, err := get(t, policy.Transport(outbound.TransportOptions{Reuse: outbound.FreshConnections}), server.URL)
	if err != nil || status != http.StatusNotFound {
		t.Errorf("a webhook cannot call its own server: %d, %v", status, err)
	}
}

func TestBlockedSaysWhatAndWhy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		blocked outbound.BlockedError
		want    string
	}{
		{outbound.BlockedError{Reason: outbound.ReasonPrivate, Address: netip.MustParseAddr("10.0.0.1")}, "blocked: 10.0.0.1 is a private address, which the operator does not allow"},
		{outbound.BlockedError{Reason: outbound.ReasonProject, Address: netip.MustParseAddr("10.0.0.1")}, "blocked: 10.0.0.1 is not in the project's list of addresses that may be called"},
		{outbound.BlockedError{Reason: outbound.ReasonSelf, Address: netip.MustParseAddr("::1")}, "blocked: ::1 is this server"},
		{outbound.BlockedError{Reason: outbound.ReasonURL, Detail: "why"}, "blocked: why"},
	} {
		if got := test.blocked.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
