package guard_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

func attemptAt(address, path string) *ratelimit.Attempt {
	return &ratelimit.Attempt{Address: netip.MustParseAddr(address), Identifier: address, Method: "GET", Path: path}
}

func TestRL101_peeking_tells_what_would_be_decided_and_counts_nothing(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{
		Exclude:   []string{"/healthz"},
		Safelist:  []guard.Entry{{Name: "office", Network: netip.MustParsePrefix("10.0.0.0/8")}},
		Blocklist: []guard.Entry{{Name: "abuser", Network: netip.MustParsePrefix("192.0.2.0/24")}},
		Bans: []guard.BanRule{{
			BanRule: ratelimit.BanRule{Name: "trap", MaxRetry: 1, FindTime: time.Minute, BanTime: time.Hour},
			Kind:    guard.Allow2Ban, Match: guard.Matcher{Paths: []string{"/trap"}},
		}},
		Tiers:   []guard.Tier{{Policy: perMinute("engine", 2)}},
		Circuit: &guard.Circuit{Threshold: 1000},
	}, nil)
	if _, err := s.Ban(t.Context(), guard.BanRequest{Key: "198.51.100.0/24", Until: newYear.Add(time.Hour), Actor: "ada"}); err != nil {
		t.Fatal(err)
	}
	s.Judge(t.Context(), attemptAt("203.0.113.7", "/trap")) // Bans, from the next one on.
	for range 2 {
		s.Judge(t.Context(), attemptAt("203.0.113.8", "/"))
	}
	before := s.Counts()
	matches := len(s.matches)
	for range 3 {
		for _, c := range []struct {
			address, path string
			allowed       bool
			layer         ratelimit.Layer
			rule          string
			remaining     int64
		}{
			{"203.0.113.9", "/healthz", true, ratelimit.LayerExcluded, "", 0},
			{"10.1.2.3", "/", true, ratelimit.LayerSafelist, "office", 0},
			{"192.0.2.9", "/", false, ratelimit.LayerBlocklist, "abuser", 0},
			{"198.51.100.9", "/", false, ratelimit.LayerBans, ratelimit.ManualBans, 0},
			{"203.0.113.7", "/trap", false, ratelimit.LayerBans, "trap", 0},
			{"203.0.113.9", "/trap", true, "", "", 2},
			{"203.0.113.8", "/", false, ratelimit.LayerTiers, "engine", 0},
			{"203.0.113.9", "/", true, "", "", 2},
		} {
			v := s.Peek(t.Context(), attemptAt(c.address, c.path))
			if v.Allowed != c.allowed || v.Layer != c.layer || v.Rule != c.rule || v.Decision.Remaining != c.remaining {
				t.Errorf("%s %s: %+v", c.address, c.path, v)
			}
		}
	}
	if got := s.Counts(); len(got) != len(before) || len(s.matches) != matches {
		t.Errorf("peeking counted: %v, before %v", got, before)
	}
}

func TestRL41_a_tier_holds_what_is_in_flight(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: []guard.Tier{
		{Policy: ratelimit.Policy{Name: "flying", Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Minute}, Key: guard.Key{Parts: []string{guard.PartGlobal}}},
		{Policy: perMinute("engine", 2)},
	}}, nil)
	for round := range 2 {
		first := attemptAt("203.0.113.9", "/")
		v := s.Judge(t.Context(), first)
		if !v.Allowed {
			t.Fatalf("round %d: %+v", round, v)
		}
		if second := s.Judge(t.Context(), attemptAt("203.0.113.9", "/")); second.Allowed || second.Rule != "flying" {
			t.Errorf("round %d: a second one at the same time: %+v", round, second)
		}
		s.Done(t.Context(), first, &v, ratelimit.Outcome{Status: 200})
	}
	// A later tier that refuses gives the place back.
	for range 2 {
		if v := s.Judge(t.Context(), attemptAt("203.0.113.9", "/")); v.Allowed || v.Rule != "engine" {
			t.Errorf("%+v, want the refusal of the engine's tier", v)
		}
	}
}

func TestRL101_a_match_names_the_ban(t *testing.T) {
	t.Parallel()
	var bans []string
	s := newSubject(t, guard.Rules{}, func(o *guard.Options) { o.OnMatch = func(m guard.Match) { bans = append(bans, m.Ban) } })
	if _, err := s.Ban(t.Context(), guard.BanRequest{Key: "198.51.100.0/24"}); err != nil {
		t.Fatal(err)
	}
	s.Judge(t.Context(), attemptAt("198.51.100.9", "/"))
	if len(bans) != 1 || bans[0] != "198.51.100.0/24" {
		t.Errorf("bans %q", bans)
	}
}
