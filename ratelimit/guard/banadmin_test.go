package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

func TestRL101_an_administrator_bans_lists_and_lifts(t *testing.T) {
	t.Parallel()
	s := banning(t, login(), nil)
	for _, key := range []string{"203.0.113.9", "198.51.100.0/24", "2001:db8::/32", "user:mallory"} {
		ban, err := s.Ban(t.Context(), guard.BanRequest{Key: key, Until: newYear.Add(time.Hour), Actor: root.Name, Reason: root.Reason})
		if err != nil || ban.Rule != "manual" || ban.Identifier != key {
			t.Fatalf("ban %s: %+v, %v", key, ban, err)
		}
	}
	mallory := attempt("192.0.2.1")
	mallory.Parts = parts{"user": "mallory"}
	banned := map[string]*ratelimit.Attempt{
		"203.0.113.9": attempt("203.0.113.9"), "198.51.100.0/24": attempt("198.51.100.77"), "2001:db8::/32": attempt("2001:db8:1::1"),
		"user:mallory": mallory,
	}
	for key, a := range banned {
		v := s.judge(a)
		s.want(v, "refused by bans/manual")
		if v.Reason != root.Reason || v.RetryAfter != time.Hour || v.Status != 403 {
			t.Errorf("%s: %+v, want 403 for an hour with the reason", key, v)
		}
	}
	s.want(s.judge(attempt("192.0.2.1")), "allowed")
	if ban, ok, err := s.FindBan(t.Context(), "", "203.0.113.9"); err != nil || !ok || ban.Actor != "root" {
		t.Errorf("find: %+v, %t, %v", ban, ok, err)
	}
	page, err := s.Bans(t.Context(), ratelimit.BanQuery{Limit: 3})
	if err != nil || len(page.Bans) != 3 || page.Next == "" {
		t.Errorf("first page: %+v, %v", page, err)
	}
	if lifted, err := s.Lift(t.Context(), "", "203.0.113.9", root); err != nil || lifted != 1 {
		t.Errorf("lift: %d, %v", lifted, err)
	}
	s.want(s.judge(banned["203.0.113.9"]), "allowed")
	if lifted, err := s.Lift(t.Context(), "manual", "", root); err != nil || lifted != 3 {
		t.Errorf("lift all: %d, %v", lifted, err)
	}
	for _, a := range banned {
		s.want(s.judge(a), "allowed")
	}
	s.wantAudit("ban manual 203.0.113.9 1", "ban manual 198.51.100.0/24 1", "ban manual 2001:db8::/32 1", "ban manual user:mallory 1",
		"lift manual 203.0.113.9 1", "lift manual  3")
}

// wantAudit compares the changes that were told, which all have the same actor, time and reason.
func (s *subject) wantAudit(want ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, c := range s.recorded {
		got = append(got, fmt.Sprintf("%s %s %s %d", c.Action, c.Rule, c.Key, c.Count))
		if c.Actor != root.Name || c.Reason != root.Reason || !c.At.Equal(newYear) {
			s.Errorf("%+v: want the actor, the reason and the time", c)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("audit trail (-want +got):\n%s", diff)
	}
}

func TestRL101_a_ban_under_a_rule_keeps_to_its_scope_and_can_be_lifted(t *testing.T) {
	t.Parallel()
	s := banning(t, login(), nil)
	if _, err := s.Ban(t.Context(), guard.BanRequest{Rule: "login", Key: "203.0.113.0/24"}); err != nil {
		t.Fatal(err)
	}
	v := s.judge(signIn("203.0.113.9"))
	s.want(v, "refused by bans/login")
	if v.RetryAfter != ratelimit.Never {
		t.Errorf("retry after %s, want none for a ban without end", v.RetryAfter)
	}
	s.want(s.judge(attempt("203.0.113.9")), "allowed")
	for range 5 {
		s.call(signIn("192.0.2.1"), wrong)
	}
	if lifted, err := s.Lift(t.Context(), "login", "192.0.2.1", root); err != nil || lifted != 1 {
		t.Errorf("lift what the rule banned: %d, %v", lifted, err)
	}
	s.want(s.judge(signIn("192.0.2.1")), "allowed")
}

// wait lets time pass in a bubble.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRL101_a_change_reaches_every_replica_within_five_seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := newBans(t)
		share := func(o *guard.Options) { o.Bans, o.Clock = shared, time.Now }
		one, other := banning(t, login(), share), banning(t, login(), share)
		if _, err := one.Ban(t.Context(), guard.BanRequest{Key: "203.0.113.0/24"}); err != nil {
			t.Fatal(err)
		}
		one.want(one.judge(attempt("203.0.113.9")), "refused by bans/manual")
		wait(5 * time.Second)
		other.want(other.judge(attempt("203.0.113.9")), "refused by bans/manual")
		if _, err := one.Lift(t.Context(), "", "203.0.113.0/24", root); err != nil {
			t.Fatal(err)
		}
		wait(5 * time.Second)
		other.want(other.judge(attempt("203.0.113.9")), "allowed")
	})
}

func TestRL101_wishes_that_make_no_sense_are_refused(t *testing.T) {
	t.Parallel()
	s := banning(t, login(), nil)
	for name, wish := range map[string]guard.BanRequest{
		"no key": {}, "no rule's name": {Rule: "a b", Key: "x"}, "an end that is past": {Key: "x", Until: newYear},
		"a reason without end": {Key: "x", Reason: strings.Repeat("a", 1001)},
	} {
		if _, err := s.Ban(t.Context(), wish); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	bare := newSubject(t, guard.Rules{}, func(o *guard.Options) { o.Bans = nil })
	_, ban := bare.Ban(t.Context(), guard.BanRequest{Key: "x"})
	_, lift := bare.Lift(t.Context(), "", "x", root)
	if !errors.Is(ban, ratelimit.ErrConfig) || !errors.Is(lift, ratelimit.ErrConfig) {
		t.Errorf("without a register: %v, %v, want ErrConfig", ban, lift)
	}
	if page, err := bare.Bans(t.Context(), ratelimit.BanQuery{}); err != nil || len(page.Bans) != 0 {
		t.Errorf("without a register: %+v, %v", page, err)
	}
}
