package storetest

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

// RunBans tests one register of bans against its contract (rules RL94, RL95, RL99, RL101). newBans returns an empty one
// and registers its end with t.Cleanup.
func RunBans(t *testing.T, newBans func(t *testing.T) ratelimit.Bans) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(s bans)
	}{
		{"RL95 the offence that reaches the number bans", bans.number},
		{"RL95 an offence counts for exactly its time", bans.exactLog},
		{"RL94 what is forgiven does not count", bans.forgiven},
		{"RL99 a ban ends by itself and offences do not lengthen it", bans.end},
		{"RL99 a ban that extends begins anew", bans.extended},
		{"RL99 repeats grow up to a day", bans.growth},
		{"RL97 callers at one time strike one ban", bans.concurrent},
		{"RL94 rules and keys share nothing", bans.independent},
		{"RL101 bans are put, listed in pages and lifted", bans.administration},
		{"RL101 a ban without end and one of a network", bans.kinds},
		{"RL11 misuse is an error of its own", bans.misuse},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.test(bans{T: t, store: newBans(t)})
		})
	}
}

// bans is the register under test, and the test.
type bans struct {
	*testing.T

	store ratelimit.Bans
}

// Instants have a place in time that no test leaves: a shared store drops what has long ended by its own clock.
var banOrigin = time.Now().Truncate(time.Second)

func banRule() *ratelimit.BanRule {
	return &ratelimit.BanRule{Name: "login", MaxRetry: 5, FindTime: 20 * time.Second, BanTime: 15 * time.Minute}
}

func (s bans) strike(r *ratelimit.BanRule, key string, after time.Duration) ratelimit.Standing {
	s.Helper()
	standing, err := s.store.Strike(s.Context(), r, key, banOrigin.Add(after))
	if err != nil {
		s.Fatalf("strike %q under %s: %v", key, r.Name, err)
	}
	return standing
}

func (s bans) standing(r *ratelimit.BanRule, key string, after time.Duration) ratelimit.Standing {
	s.Helper()
	standing, err := s.store.Standing(s.Context(), r, key, banOrigin.Add(after))
	if err != nil {
		s.Fatalf("look at %q under %s: %v", key, r.Name, err)
	}
	return standing
}

// wantBan compares a ban by instants and not by the zones that they are written in.
func (s bans) wantBan(got, want ratelimit.Ban) {
	s.Helper()
	if !got.From.Equal(want.From) || !got.Until.Equal(want.Until) || got.Until.IsZero() != want.Until.IsZero() {
		s.Errorf("ban from %s until %s, want from %s until %s", got.From, got.Until, want.From, want.Until)
	}
	got.From, got.Until = want.From, want.Until
	if got != want {
		s.Errorf("ban %+v, want %+v", got, want)
	}
}

func (s bans) number() {
	r := banRule()
	for failure := int64(1); failure < r.MaxRetry; failure++ {
		if got := s.strike(r, "a", time.Second); got.Banned || got.Failures != failure {
			s.Fatalf("offence %d: %+v", failure, got)
		}
	}
	if got := s.standing(r, "a", time.Second); got.Banned || got.Failures != r.MaxRetry-1 {
		s.Errorf("before the last: %+v", got)
	}
	got := s.strike(r, "a", 2*time.Second)
	if !got.Banned || !got.Struck {
		s.Fatalf("the last: %+v, want it to ban", got)
	}
	want := ratelimit.Ban{Rule: "login", Identifier: "a", From: banOrigin.Add(2 * time.Second), Until: banOrigin.Add(2*time.Second + r.BanTime)}
	s.wantBan(got.Ban, want)
	got = s.standing(r, "a", 3*time.Second)
	if !got.Banned || got.Struck || got.Failures != 0 {
		s.Errorf("after it: %+v", got)
	}
	s.wantBan(got.Ban, want)
}

func (s bans) exactLog() {
	r := banRule()
	for i := range 4 {
		s.strike(r, "a", time.Duration(i)*time.Second)
	}
	for _, look := range []struct {
		after time.Duration
		want  int64
	}{
		{3 * time.Second, 4},
		{20 * time.Second, 4}, // Exactly as old as the time in which offences are found: it still counts.
		{20*time.Second + time.Microsecond, 3},
		{23 * time.Second, 1},
		{24 * time.Second, 0},
	} {
		if got := s.standing(r, "a", look.after); got.Failures != look.want {
			s.Errorf("after %s: %d offences count, want %d", look.after, got.Failures, look.want)
		}
	}
	if got := s.strike(r, "a", 22*time.Second); got.Failures != 3 || got.Banned {
		s.Errorf("the fifth when two have lapsed: %+v, want 3 to count", got)
	}
}

func (s bans) forgiven() {
	r := banRule()
	for range 4 {
		s.strike(r, "a", 0)
	}
	if err := s.store.Forgive(s.Context(), r, "a"); err != nil {
		s.Fatal(err)
	}
	if got := s.strike(r, "a", time.Second); got.Failures != 1 {
		s.Errorf("four typos, a success and a typo: %+v, want one to count", got)
	}
	if err := s.store.Forgive(s.Context(), r, "nobody"); err != nil {
		s.Errorf("forgive a key without offences: %v", err)
	}
	for range 4 {
		s.strike(r, "a", time.Second)
	}
	if err := s.store.Forgive(s.Context(), r, "a"); err != nil {
		s.Fatal(err)
	}
	if got := s.standing(r, "a", 2*time.Second); !got.Banned {
		s.Errorf("a success of a banned key: %+v, want the ban to hold", got)
	}
}

// struck bans a key and returns the end of the ban.
func (s bans) struck(r *ratelimit.BanRule, key string, after time.Duration) time.Time {
	s.Helper()
	for range r.MaxRetry {
		s.strike(r, key, after)
	}
	got := s.standing(r, key, after)
	if !got.Banned {
		s.Fatalf("%d offences after %s: %+v", r.MaxRetry, after, got)
	}
	return got.Ban.Until
}

func (s bans) end() {
	r := banRule()
	until := s.struck(r, "a", 0)
	for range 20 {
		s.strike(r, "a", time.Minute)
	}
	if got := s.standing(r, "a", r.BanTime-time.Microsecond); !got.Banned || !got.Ban.Until.Equal(until) {
		s.Errorf("a tick before the end: %+v, want banned until %s", got, until)
	}
	if got := s.standing(r, "a", r.BanTime); got.Banned || got.Failures != 0 {
		s.Errorf("at the end: %+v, want a clean start", got)
	}
}

func (s bans) extended() {
	r := banRule()
	r.Extend = true
	s.struck(r, "a", 0)
	if got := s.strike(r, "a", 10*time.Minute); !got.Banned || got.Struck || !got.Ban.Until.Equal(banOrigin.Add(25*time.Minute)) {
		s.Errorf("an offence after 10 minutes: %+v, want 15 more", got)
	}
	if got := s.standing(r, "a", 20*time.Minute); !got.Banned {
		s.Errorf("after 20 minutes: %+v", got)
	}
}

func (s bans) growth() {
	r := banRule()
	r.BanTime, r.Growth, r.MaxRetry = 4*time.Hour, 3, 2
	at := time.Duration(0)
	for repeat, want := range []time.Duration{4 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
		until := s.struck(r, "a", at)
		if got := until.Sub(banOrigin.Add(at)); got != want {
			s.Errorf("ban %d lasts %s, want %s", repeat, got, want)
		}
		at += want
	}
	at += ratelimit.MaxBanGrowth + time.Second
	if got := s.struck(r, "a", at).Sub(banOrigin.Add(at)); got != r.BanTime {
		s.Errorf("a ban long after the others lasts %s, want %s again", got, r.BanTime)
	}
}

func (s bans) concurrent() {
	r := banRule()
	r.MaxRetry = 40
	var struck, counted atomic.Int64
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 5 {
				got, err := s.store.Strike(s.Context(), r, "a", banOrigin)
				switch {
				case err != nil:
					s.Errorf("strike: %v", err)
				case got.Struck:
					struck.Add(1)
				case !got.Banned:
					counted.Add(1)
				}
			}
		})
	}
	group.Wait()
	if struck.Load() != 1 || counted.Load() != 39 {
		s.Errorf("80 offences at one time: %d bans after %d that counted, want 1 after 39", struck.Load(), counted.Load())
	}
}

func (s bans) independent() {
	r, other := banRule(), banRule()
	other.Name = "other"
	s.struck(r, "a", 0)
	for _, key := range []string{"A", "a ", "b", "login/a", "", strings.Repeat("long", 100), "x{y}"} {
		if got := s.standing(r, key, 0); got.Banned || got.Failures != 0 {
			s.Errorf("%q: %+v, want nothing of it", key, got)
		}
		s.struck(r, key, 0)
	}
	if got := s.standing(other, "a", 0); got.Banned || got.Failures != 0 {
		s.Errorf("another rule: %+v", got)
	}
}

func (s bans) page(q ratelimit.BanQuery) (keys []string, next string) {
	s.Helper()
	page, err := s.store.Page(s.Context(), q)
	if err != nil {
		s.Fatalf("list %+v: %v", q, err)
	}
	for i := range page.Bans {
		keys = append(keys, page.Bans[i].Rule+" "+page.Bans[i].Identifier)
	}
	return keys, page.Next
}

func (s bans) wantPage(q ratelimit.BanQuery, want ...string) {
	s.Helper()
	got, _ := s.page(q)
	if !slices.Equal(got, want) {
		s.Errorf("list %+v: %q, want %q", q, got, want)
	}
}

func (s bans) administration() {
	now := banOrigin
	for i := range 7 {
		s.put(ratelimit.Ban{Rule: "manual", Identifier: fmt.Sprintf("key-%d", i), From: now, Until: now.Add(time.Hour), Actor: "root", Reason: "abuse"})
	}
	s.struck(banRule(), "a", 0)
	s.put(ratelimit.Ban{Rule: "manual", Identifier: "short", From: now, Until: now.Add(time.Minute)})

	s.wantPage(ratelimit.BanQuery{Rule: "login", Now: now}, "login a")
	s.wantPage(ratelimit.BanQuery{Identifier: "short", Now: now}, "manual short")
	s.wantPage(ratelimit.BanQuery{Identifier: "short", Now: now.Add(time.Minute)})
	var all []string
	cursor, pages := "", 0
	for done := false; !done; pages++ {
		keys, next := s.page(ratelimit.BanQuery{Cursor: cursor, Limit: 3, Now: now.Add(2 * time.Minute)})
		all, cursor, done = append(all, keys...), next, next == ""
	}
	want := []string{
		"login a", "manual key-0", "manual key-1", "manual key-2", "manual key-3", "manual key-4", "manual key-5", "manual key-6",
	}
	if !slices.Equal(all, want) || pages != 3 {
		s.Errorf("%d pages: %q, want %q", pages, all, want)
	}

	s.lift("manual", "key-3", 1)
	s.lift("manual", "key-3", 0)
	s.lift("manual", "", 6) // The short one has ended by then.
	s.wantPage(ratelimit.BanQuery{Now: now}, "login a")
	s.lift("login", "", 1)
	if got := s.standing(banRule(), "a", 0); got.Banned || got.Failures != 0 {
		s.Errorf("after the ban was lifted: %+v", got)
	}
}

func (s bans) put(b ratelimit.Ban) {
	s.Helper()
	if err := s.store.Put(s.Context(), b); err != nil {
		s.Fatalf("put %+v: %v", b, err)
	}
}

func (s bans) lift(rule, identifier string, want int) {
	s.Helper()
	if got, err := s.store.Lift(s.Context(), rule, identifier, banOrigin.Add(2*time.Minute)); err != nil || got != want {
		s.Errorf("lift %q of %s: %d, %v, want %d", identifier, rule, got, err, want)
	}
}

func (s bans) kinds() {
	r := banRule()
	network := netip.MustParsePrefix("203.0.113.0/24")
	for _, b := range []ratelimit.Ban{
		{Rule: r.Name, Identifier: "for-ever", From: banOrigin, Actor: "root", Reason: "no end"},
		{Rule: r.Name, Identifier: network.String(), Network: network, From: banOrigin, Until: banOrigin.Add(time.Hour), Repeat: 2},
	} {
		s.put(b)
		page, err := s.store.Page(s.Context(), ratelimit.BanQuery{Identifier: b.Identifier, Now: banOrigin})
		if err != nil || len(page.Bans) != 1 {
			s.Fatalf("list %q: %+v, %v", b.Identifier, page, err)
		}
		s.wantBan(page.Bans[0], b)
	}
	r.Extend = true
	if got := s.strike(r, "for-ever", 24*365*time.Hour); !got.Banned || !got.Ban.Until.IsZero() {
		s.Errorf("a ban without end after a year: %+v", got)
	}
	s.put(ratelimit.Ban{Rule: r.Name, Identifier: "for-ever", From: banOrigin, Until: banOrigin.Add(time.Second)})
	if got := s.standing(r, "for-ever", time.Second); got.Banned {
		s.Errorf("a ban that another one replaced: %+v", got)
	}
}

func (s bans) misuse() {
	wrong := &ratelimit.BanRule{Name: "login", MaxRetry: 0, FindTime: time.Second, BanTime: time.Second}
	_, standing := s.store.Standing(s.Context(), wrong, "a", banOrigin)
	_, strike := s.store.Strike(s.Context(), wrong, "a", banOrigin)
	_, lift := s.store.Lift(s.Context(), "", "a", banOrigin)
	for name, err := range map[string]error{
		"standing of a wrong rule": standing, "strike under a wrong rule": strike, "lift without a rule": lift,
		"put without a rule": s.store.Put(s.Context(), ratelimit.Ban{Identifier: "a"}),
		"put without a key":  s.store.Put(s.Context(), ratelimit.Ban{Rule: "manual"}),
	} {
		if !errors.Is(err, ratelimit.ErrConfig) {
			s.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
}
