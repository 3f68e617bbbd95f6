package guard_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// blocking makes a guard with this blocklist.
func blocking(t *testing.T, entries ...guard.Entry) *subject {
	t.Helper()
	return newSubject(t, guard.Rules{Blocklist: entries}, nil)
}

func TestRL88_a_list_matches_networks_identifiers_paths_headers_and_predicates(t *testing.T) {
	t.Parallel()
	request := func(change func(*ratelimit.Attempt)) *ratelimit.Attempt {
		a := attempt("203.0.113.9")
		change(a)
		return a
	}
	entries := []guard.Entry{
		{Name: "network", Network: netip.MustParsePrefix("192.0.2.0/24")},
		{Name: "six", Network: netip.MustParsePrefix("2001:db8::/32")},
		{Name: "identifier", Identifier: "2001:dead:1:2::/64"},
		{Name: "user", Part: "user", Identifier: "mallory"},
		{Name: "exact", Path: "/wp-login.php"},
		{Name: "prefix", Path: "/cgi-bin/*"},
		{Name: "present", Header: "X-Scanner"},
		{Name: "value", Header: "User-Agent", Value: func(sent string) bool { return strings.HasPrefix(sent, "sqlmap/") }},
		{Name: "predicate", Predicate: func(a *ratelimit.Attempt) bool { return a.Method == http.MethodTrace && !a.Authenticated }},
	}
	for _, c := range []struct {
		name string
		a    *ratelimit.Attempt
		want string
	}{
		{"an address in a network", attempt("192.0.2.200"), "network"},
		{"the same address mapped to IPv6", attempt("::ffff:192.0.2.200"), "network"},
		{"an IPv6 address in a network", attempt("2001:db8:ffff::1"), "six"},
		{"an identifier", request(func(a *ratelimit.Attempt) { a.Identifier = "2001:dead:1:2::/64" }), "identifier"},
		{"a user", request(func(a *ratelimit.Attempt) { a.Parts = parts{"user": "mallory"} }), "user"},
		{"another user", request(func(a *ratelimit.Attempt) { a.Parts = parts{"user": "alice"} }), ""},
		{"a path", request(func(a *ratelimit.Attempt) { a.Path = "/wp-login.php" }), "exact"},
		{"a longer path", request(func(a *ratelimit.Attempt) { a.Path = "/wp-login.php/x" }), ""},
		{"a path below a prefix", request(func(a *ratelimit.Attempt) { a.Path = "/cgi-bin/x" }), "prefix"},
		{"a header field that is there", request(func(a *ratelimit.Attempt) { a.Parts = parts{"header X-Scanner": "1"} }), "present"},
		{"a header field with a value", request(func(a *ratelimit.Attempt) { a.Parts = parts{"header User-Agent": "sqlmap/1.8"} }), "value"},
		{"a header field with another value", request(func(a *ratelimit.Attempt) { a.Parts = parts{"header User-Agent": "curl/8"} }), ""},
		{"a predicate", request(func(a *ratelimit.Attempt) { a.Method = http.MethodTrace }), "predicate"},
		{"nothing of it", attempt("203.0.113.9"), ""},
		{"a client without an address", &ratelimit.Attempt{Method: "GET", Path: "/"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := blocking(t, entries...).judge(c.a)
			if v.Rule != c.want || v.Allowed != (c.want == "") {
				t.Errorf("%s, want %q", where(&v), c.want)
			}
		})
	}
}

func TestRL88_the_narrowest_network_that_still_holds_is_named(t *testing.T) {
	t.Parallel()
	s := blocking(t,
		guard.Entry{Name: "host", Network: netip.MustParsePrefix("192.0.2.7/32"), Until: newYear.Add(time.Hour)},
		guard.Entry{Name: "all", Network: netip.MustParsePrefix("0.0.0.0/0")},
		guard.Entry{Name: "net", Network: netip.MustParsePrefix("192.0.2.0/24"), Until: newYear.Add(2 * time.Hour)},
		guard.Entry{Name: "net ended", Network: netip.MustParsePrefix("192.0.2.0/24"), Until: newYear},
	)
	for _, want := range []string{"host", "net", "all"} {
		s.want(s.judge(attempt("192.0.2.7")), "refused by blocklist/"+want)
		s.clock.advance(time.Hour)
	}
}

// Property: the tree finds exactly what comparing with each network finds.
func TestRL88_the_tree_of_networks_agrees_with_a_walk_over_all(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 88))
		var entries []guard.Entry
		for i := range 60 {
			p := randomPrefix(random)
			entries = append(entries, guard.Entry{Name: fmt.Sprintf("%d %s", i, p), Network: p})
		}
		s := blocking(t, entries...)
		for range 300 {
			a := attempt(randomPrefix(random).Addr().String())
			best := -1
			for i := range entries {
				n := entries[i].Network
				if n.Contains(a.Address) && (best < 0 || n.Bits() >= entries[best].Network.Bits()) {
					best = i
				}
			}
			want := "allowed"
			if best >= 0 {
				want = "refused by blocklist/" + entries[best].Name
			}
			s.want(s.judge(a), want)
		}
	}
}

// randomPrefix returns a network of few different bits, so that networks and addresses meet.
func randomPrefix(random *rand.Rand) netip.Prefix {
	if random.IntN(2) == 0 {
		bytes := [4]byte{10, byte(random.IntN(2) * 128), byte(random.IntN(4)), byte(random.IntN(8) * 32)}
		return netip.PrefixFrom(netip.AddrFrom4(bytes), random.IntN(33)).Masked()
	}
	bytes := [16]byte{0x20, 0x01, byte(random.IntN(2) * 128), byte(random.IntN(4)), 15: byte(random.IntN(4))}
	return netip.PrefixFrom(netip.AddrFrom16(bytes), random.IntN(129)).Masked()
}

func TestRL88_lists_are_read_from_text(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
		at   int
	}{
		{text: ""},
		{text: " , \n,"},
		{text: "10.0.0.0/8", want: []string{"10.0.0.0/8"}},
		{text: "10.1.2.3/8, 203.0.113.9\n2001:db8::/32", want: []string{"10.0.0.0/8", "203.0.113.9/32", "2001:db8::/32"}},
		{text: "::ffff:192.0.2.0/120,fe80::1%eth0", want: []string{"192.0.2.0/24", "fe80::1/128"}},
		{text: "/wp-login.php, /cgi-bin/*", want: []string{"/wp-login.php", "/cgi-bin/*"}},
		{text: "id:unix,user:alice,header:X-Probe=yes,header:X-Scanner", want: []string{"id:unix", "user:alice", "header:X-Probe", "header:X-Scanner"}},
		{text: "10.0.0.0/33", at: 0},
		{text: "10.0.0.0/8,  example.org", at: 13},
		{text: "10.0.0.0/8,10.0.0.0/8,\n:x", at: 23},
		{text: "header:=x", at: 0},
		{text: "user:", at: 0},
		{text: "us er:x", at: 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			entries, err := guard.ParseList(c.text)
			var got []string
			for i := range entries {
				got = append(got, entries[i].Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			wrong, ok := errors.AsType[*ratelimit.RuleError](err)
			switch {
			case c.want != nil && err != nil:
				t.Errorf("%v", err)
			case ok && (wrong.Offset != c.at || wrong.Input != c.text || !errors.Is(err, ratelimit.ErrConfig)):
				t.Errorf("%+v, want offset %d", wrong, c.at)
			case !ok && strings.Trim(c.text, " ,\n") != "" && c.want == nil:
				t.Error("it was read")
			}
		})
	}
}

func TestRL88_a_list_from_text_does_what_it_says(t *testing.T) {
	t.Parallel()
	entries, err := guard.ParseList("10.0.0.0/8, header:X-Probe=yes, user:mallory")
	if err != nil {
		t.Fatal(err)
	}
	s := blocking(t, entries...)
	s.want(s.judge(attempt("10.9.9.9")), "refused by blocklist/10.0.0.0/8")
	a := attempt("203.0.113.9")
	a.Parts = parts{"header X-Probe": "no"}
	s.want(s.judge(a), "allowed")
	a.Parts = parts{"header X-Probe": "yes"}
	s.want(s.judge(a), "refused by blocklist/header:X-Probe")
	a.Parts = parts{"user": "mallory"}
	s.want(s.judge(a), "refused by blocklist/user:mallory")
}

func TestRL88_a_list_has_a_bound(t *testing.T) {
	t.Parallel()
	if _, err := guard.ParseList(strings.Repeat("/a,", guard.MaxRules)); err != nil {
		t.Errorf("as many as there may be: %v", err)
	}
	if _, err := guard.ParseList(strings.Repeat("/a,", guard.MaxRules+1)); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("one more: %v, want ErrConfig", err)
	}
	rules := guard.Rules{Safelist: make([]guard.Entry, guard.MaxRules+1)}
	if err := rules.Validate(); err == nil || !strings.Contains(err.Error(), "10001 entries") {
		t.Errorf("too many entries: %v", err)
	}
}

// Fuzz: whatever the text is, it is read to entries that a guard takes, or refused at a place inside it.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{
		"10.0.0.0/8", "::ffff:10.0.0.0/104, 2001:db8::/32\n/a/*", "header:X-A=b,id:x,user:\x00", ",,\n", "1.2.3.4/", "::/0,0.0.0.0/0", "é:1", ":",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := guard.ParseList(text)
		if err != nil {
			wrong, ok := errors.AsType[*ratelimit.RuleError](err)
			if !ok || wrong.Offset < 0 || wrong.Offset > len(text) || wrong.Reason == "" || len(entries) != 0 {
				t.Fatalf("%q: %v with %d entries", text, err, len(entries))
			}
			return
		}
		g, err := guard.New(guard.Options{Rules: guard.Rules{Safelist: entries, Blocklist: entries}})
		if err != nil {
			t.Fatalf("%q was read to what a guard refuses: %v", text, err)
		}
		defer g.Close()
		for i := range entries {
			a := &ratelimit.Attempt{Path: "/", Address: entries[i].Network.Addr()}
			if v := g.Judge(t.Context(), a); entries[i].Network.IsValid() && v.Layer != ratelimit.LayerSafelist {
				t.Fatalf("%q: entry %s does not match its own network: %+v", text, entries[i].Name, v)
			}
		}
	})
}

// RL87 and RL88: where letter case makes no other path, it makes none for lists, matchers and keys either.
func TestRL88_paths_are_compared_as_the_handler_compares_them(t *testing.T) {
	t.Parallel()
	refusing := guard.Rules{Blocklist: []guard.Entry{{Path: "/Admin/ÄRGER"}, {Path: "/private/*"}}}
	sparing := guard.Rules{Exclude: []string{"/Health"}, Safelist: []guard.Entry{{Path: "/free"}}, Blocklist: []guard.Entry{{Path: "/*"}}}
	matching := guard.Rules{Bans: []guard.BanRule{{
		BanRule: ratelimit.BanRule{Name: "shy", MaxRetry: 1, FindTime: time.Minute, BanTime: time.Minute}, Kind: guard.Allow2Ban, Match: guard.Matcher{Paths: []string{"/Login"}},
	}}}
	for _, c := range []struct {
		name  string
		rules guard.Rules
		path  string
		alias string
		exact bool
		fold  bool
	}{
		{"an entry", refusing, "/admin/ärger", "", true, false},
		{"an entry, by its alias", refusing, "/admin//ärger", "/admin/ärger", true, false},
		{"a prefix", refusing, "/PRIVATE/x", "", true, false},
		{"another path", refusing, "/admin/arger", "", true, true},
		{"an excluded path", sparing, "/HEALTH", "", false, true},
		{"a path on the safelist", sparing, "/Free", "", false, true},
		{"a path on the safelist whose alias is not", sparing, "/Free", "/other", false, false},
		{"a rule", matching, "/LOGIN", "", true, false},
	} {
		for _, ignore := range []bool{false, true} {
			bans, err := memstore.NewBans(memstore.BanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			g, err := guard.New(guard.Options{Rules: c.rules, Bans: bans})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close() })
			a := ratelimit.Attempt{Identifier: "203.0.113.9", Method: "GET", Path: c.path, Alias: c.alias, IgnoreCase: ignore}
			want := c.exact
			if ignore {
				want = c.fold
			}
			first := a
			g.Judge(t.Context(), &first) // A rule that bans lets it pass.
			if got := g.Judge(t.Context(), &a); got.Allowed != want {
				t.Errorf("%s, ignoring case %t: %+v, want allowed %t", c.name, ignore, got, want)
			}
		}
	}
}
