package guard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// login is the rule of the specification's example: 5 failures in 20 s ban for 15 min.
func login() guard.BanRule {
	return guard.BanRule{
		BanRule: ratelimit.BanRule{Name: "login", MaxRetry: 5, FindTime: 20 * time.Second, BanTime: 15 * time.Minute},
		Match:   guard.Matcher{Methods: []string{"POST"}, Paths: []string{"/login"}},
	}
}

func signIn(address string) *ratelimit.Attempt {
	a := attempt(address)
	a.Method, a.Path, a.Pattern = "POST", "/login", ""
	return a
}

var (
	wrong = ratelimit.Outcome{Status: 401}
	right = ratelimit.Outcome{Status: 200}
)

func banning(t *testing.T, r guard.BanRule, change func(*guard.Options)) *subject {
	t.Helper()
	return newSubject(t, guard.Rules{Bans: []guard.BanRule{r}}, change)
}

func TestRL94_five_wrong_passwords_ban_and_the_fifth_gets_its_own_answer(t *testing.T) {
	t.Parallel()
	s := banning(t, login(), nil)
	for range 5 { // RL95: the failure that reaches the number gets its own answer.
		s.want(s.call(signIn("203.0.113.9"), wrong), "allowed")
		s.clock.advance(4 * time.Second)
	}
	v := s.call(signIn("203.0.113.9"), right)
	s.want(v, "refused by bans/login")
	if want := 15*time.Minute - 4*time.Second; v.RetryAfter != want || v.Status != 403 {
		t.Errorf("RL99: status %d, retry after %s, want 403 and %s", v.Status, v.RetryAfter, want)
	}
	s.want(s.call(signIn("203.0.113.10"), right), "allowed")
	s.want(s.call(attempt("203.0.113.9"), right), "allowed") // Other requests are not what the rule is about.
	s.clock.advance(15*time.Minute - 4*time.Second - time.Microsecond)
	s.want(s.call(signIn("203.0.113.9"), right), "refused by bans/login")
	s.clock.advance(time.Microsecond)
	s.want(s.call(signIn("203.0.113.9"), right), "allowed")
}

func TestRL94_what_counts_as_a_failure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		outcome ratelimit.Outcome
		change  func(*guard.BanRule)
		bans    bool
	}{
		{"401", ratelimit.Outcome{Status: 401}, nil, true},
		{"403", ratelimit.Outcome{Status: 403}, nil, true},
		{"200", ratelimit.Outcome{Status: 200}, nil, false},
		{"404", ratelimit.Outcome{Status: 404}, nil, false},
		{"422 where the rule says so", ratelimit.Outcome{Status: 422}, func(r *guard.BanRule) { r.Failures = []int{422} }, true},
		{"401 where the rule says otherwise", ratelimit.Outcome{Status: 401}, func(r *guard.BanRule) { r.Failures = []int{422} }, false},
		{"a reported failure wins over 200", ratelimit.Outcome{Status: 200, Report: ratelimit.ReportFailure}, nil, true},
		{"a reported success wins over 401", ratelimit.Outcome{Status: 401, Report: ratelimit.ReportSuccess}, nil, false},
		{"an answer that never began", ratelimit.Outcome{}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := login()
			if c.change != nil {
				c.change(&r)
			}
			s := banning(t, r, nil)
			for range 5 {
				s.call(signIn("203.0.113.9"), c.outcome)
			}
			if v := s.judge(signIn("203.0.113.9")); v.Allowed == c.bans {
				t.Errorf("after five: %s, want a ban %t", where(&v), c.bans)
			}
		})
	}
}

func TestRL94_four_typos_and_a_success_ban_nobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		outcome ratelimit.Outcome
		keep    bool
		want    string
	}{
		{"a success forgives", right, false, "allowed"},
		{"a redirect is one", ratelimit.Outcome{Status: 303}, false, "allowed"},
		{"a reported one too", ratelimit.Outcome{Status: 500, Report: ratelimit.ReportSuccess}, false, "allowed"},
		{"a fault of the server is none", ratelimit.Outcome{Status: 500}, false, "refused by bans/login"},
		{"unless the rule keeps failures", right, true, "refused by bans/login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := login()
			r.KeepOnSuccess = c.keep
			s := banning(t, r, nil)
			for range 4 {
				s.call(signIn("203.0.113.9"), wrong)
			}
			s.call(signIn("203.0.113.9"), c.outcome)
			s.call(signIn("203.0.113.9"), wrong)
			s.want(s.judge(signIn("203.0.113.9")), c.want)
		})
	}
}

func TestRL95_failures_are_counted_over_an_exact_time(t *testing.T) {
	t.Parallel()
	s := banning(t, login(), nil)
	for range 4 {
		s.call(signIn("203.0.113.9"), wrong)
	}
	s.clock.advance(20*time.Second + time.Microsecond)
	s.call(signIn("203.0.113.9"), wrong)
	s.want(s.judge(signIn("203.0.113.9")), "allowed")
}

// Guesses in parallel: never more than five reach the handler before the ban, however many come at one time.
func TestRL97_parallel_guesses_get_no_more_tries_than_guesses_one_by_one(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		s := banning(t, login(), nil)
		var reached, held atomic.Int64
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				a := signIn("203.0.113.9")
				v := s.Judge(t.Context(), a)
				switch {
				case v.Allowed:
					reached.Add(1)
					s.Done(t.Context(), a, &v, wrong)
				case v.Status == 429 && v.RetryAfter == time.Second:
					held.Add(1)
				}
			})
		}
		group.Wait()
		if got := reached.Load(); got > 5 || got < 1 {
			t.Fatalf("round %d: %d guesses reached the handler, %d were held back; want at most 5", round, got, held.Load())
		}
	}
}

func TestRL97_places_are_given_back_however_a_request_ends(t *testing.T) {
	t.Parallel()
	r := login()
	r.MaxRetry = 2
	s := newSubject(t, guard.Rules{Bans: []guard.BanRule{r}, Tiers: []guard.Tier{{Policy: perMinute("client", 4)}}}, nil)
	first, second := signIn("203.0.113.9"), signIn("203.0.113.9")
	v1, v2 := s.Judge(t.Context(), first), s.Judge(t.Context(), second)
	s.want(v1, "allowed")
	s.want(v2, "allowed")
	v := s.judge(signIn("203.0.113.9"))
	s.want(v, "refused by bans/login")
	if v.Status != 429 || v.RetryAfter != time.Second {
		t.Errorf("%+v, want 429 for a second", v)
	}
	s.Done(t.Context(), first, &v1, ratelimit.Outcome{})
	s.Done(t.Context(), first, &v1, ratelimit.Outcome{}) // Told twice, it counts once.
	for range 2 {                                        // The second one of these is refused by the tier, and gives its place back.
		a := signIn("203.0.113.9")
		v := s.Judge(t.Context(), a)
		s.Done(t.Context(), a, &v, right)
	}
	s.want(s.judge(signIn("203.0.113.9")), "refused by tiers/client")
	s.want(s.judge(signIn("203.0.113.9")), "refused by tiers/client")
	s.Done(t.Context(), second, &v2, right)
}

func TestRL98_allow2ban_counts_every_request_and_bans_after_the_number(t *testing.T) {
	t.Parallel()
	r := login()
	r.Kind = guard.Allow2Ban
	s := banning(t, r, nil)
	for range 5 {
		s.want(s.call(signIn("203.0.113.9"), right), "allowed")
	}
	s.want(s.call(signIn("203.0.113.9"), right), "refused by bans/login")
}

func TestRL98_parallel_requests_pass_exactly_the_number(t *testing.T) {
	t.Parallel()
	r := login()
	r.Kind, r.MaxRetry = guard.Allow2Ban, 20
	s := banning(t, r, nil)
	var passed atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			if v := s.Judge(t.Context(), signIn("203.0.113.9")); v.Allowed {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if passed.Load() != 20 {
		t.Errorf("%d passed, want 20", passed.Load())
	}
}

func TestRL99_a_ban_answers_what_its_rule_says_and_lengthens_only_if_it_extends(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		extend bool
		want   time.Duration
	}{
		{"banned requests do not lengthen a ban", false, 5 * time.Minute},
		{"unless it extends", true, 15 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := login()
			r.Status, r.Code, r.Extend, r.Scope = 429, "login-banned", c.extend, &guard.Matcher{}
			s := banning(t, r, nil)
			for range 5 {
				s.call(signIn("203.0.113.9"), wrong)
			}
			s.clock.advance(10 * time.Minute)
			v := s.call(signIn("203.0.113.9"), wrong)
			if v.Status != 429 || v.Code != "login-banned" || v.RetryAfter != c.want {
				t.Errorf("%+v, want 429 login-banned for %s", v, c.want)
			}
			s.want(s.judge(attempt("203.0.113.9")), "refused by bans/login") // The scope is everything.
		})
	}
}

func TestRL99_repeated_bans_grow(t *testing.T) {
	t.Parallel()
	r := login()
	r.Growth = 2
	s := banning(t, r, nil)
	for _, want := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour} {
		for range 5 {
			s.call(signIn("203.0.113.9"), wrong)
		}
		if v := s.judge(signIn("203.0.113.9")); v.RetryAfter != want {
			t.Errorf("retry after %s, want %s", v.RetryAfter, want)
		}
		s.clock.advance(want)
	}
}

func TestRL96_an_account_and_an_address_have_rules_of_their_own(t *testing.T) {
	t.Parallel()
	pair, address := login(), login()
	pair.Name, pair.Key = "pair", guard.Key{Parts: []string{"ip", "form:account"}}
	address.Name, address.MaxRetry = "address", 8
	s := newSubject(t, guard.Rules{Bans: []guard.BanRule{pair, address}}, nil)
	account := func(name string) *ratelimit.Attempt {
		a := signIn("203.0.113.9")
		a.Parts = parts{"form:account": name}
		return a
	}
	for range 5 {
		s.call(account("alice"), wrong)
	}
	s.want(s.call(account("alice"), right), "refused by bans/pair")
	for range 3 {
		s.want(s.call(account("bob"), wrong), "allowed")
	}
	s.want(s.call(account("carol"), right), "refused by bans/address")
}

// outage is a register that fails while it is switched off.
type outage struct {
	ratelimit.Bans

	down atomic.Bool
}

func (o *outage) Strike(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if o.down.Load() {
		return ratelimit.Standing{}, errDown
	}
	return o.Bans.Strike(ctx, r, key, now) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Standing(ctx context.Context, r *ratelimit.BanRule, key string, now time.Time) (ratelimit.Standing, error) {
	if o.down.Load() {
		return ratelimit.Standing{}, errDown
	}
	return o.Bans.Standing(ctx, r, key, now) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	if o.down.Load() {
		return ratelimit.BanPage{}, errDown
	}
	return o.Bans.Page(ctx, q) //nolint:wrapcheck // It stands in for the register.
}

func (o *outage) Lift(ctx context.Context, rule, identifier string, now time.Time) (int, error) {
	if o.down.Load() {
		return 0, errDown
	}
	return o.Bans.Lift(ctx, rule, identifier, now) //nolint:wrapcheck // It stands in for the register.
}

func TestRL100_known_bans_hold_while_the_store_fails_and_new_ones_are_local(t *testing.T) {
	t.Parallel()
	store := &outage{Bans: newBans(t)}
	s := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans = store, newBans(t) })
	for range 5 {
		s.call(signIn("203.0.113.9"), wrong)
	}
	store.down.Store(true)
	s.want(s.judge(signIn("203.0.113.9")), "refused by bans/login")
	for range 5 {
		s.want(s.call(signIn("203.0.113.10"), wrong), "allowed")
	}
	s.want(s.judge(signIn("203.0.113.10")), "refused by bans/login")
	store.down.Store(false)
	s.want(s.judge(signIn("203.0.113.10")), "refused by bans/login")
	if got := s.BanStatus(); got.InForce["login"] != 2 || got.Begun["login"] != 2 || got.StoreFailures == 0 {
		t.Errorf("RL129: %+v, want two bans and some failures of the store", got)
	}
	s.clock.advance(15 * time.Minute)
	s.want(s.judge(signIn("203.0.113.10")), "allowed")
}

func TestRL63_a_ban_rule_says_what_holds_while_nobody_knows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   ratelimit.Mode
		status int
	}{
		{ratelimit.FailOpen, 0},
		{ratelimit.FailClosed, 503},
		{ratelimit.FailMemory, 503}, // There is no local register.
		{"", 503},
	} {
		for _, kind := range []guard.BanKind{guard.Fail2Ban, guard.Allow2Ban} {
			t.Run(fmt.Sprintf("%s %s", kind, c.mode), func(t *testing.T) {
				t.Parallel()
				store := &outage{Bans: newBans(t)}
				store.down.Store(true)
				r := login()
				r.Kind, r.OnStoreFailure = kind, c.mode
				s := banning(t, r, func(o *guard.Options) { o.Bans = store })
				if v := s.call(signIn("203.0.113.9"), wrong); v.Status != c.status {
					t.Errorf("status %d, want %d", v.Status, c.status)
				}
			})
		}
	}
}

var root = guard.Actor{Name: "root", Reason: "abuse"}

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

func TestRL100_a_local_ban_outlives_the_return_of_the_store(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &outage{Bans: newBans(t)}
		store.down.Store(true)
		s := banning(t, login(), func(o *guard.Options) { o.Bans, o.LocalBans, o.Clock = store, newBans(t), time.Now })
		for range 5 {
			s.call(signIn("203.0.113.9"), wrong)
		}
		store.down.Store(false)
		wait(5 * time.Second)
		s.want(s.judge(signIn("203.0.113.9")), "refused by bans/login")
	})
}

// overtaken is a register in which something happens between the reading of a page and its arrival.
type overtaken struct {
	ratelimit.Bans

	meanwhile atomic.Pointer[func()]
}

func (o *overtaken) Page(ctx context.Context, q ratelimit.BanQuery) (ratelimit.BanPage, error) {
	page, err := o.Bans.Page(ctx, q)
	if meanwhile := o.meanwhile.Load(); meanwhile != nil {
		(*meanwhile)()
	}
	return page, err //nolint:wrapcheck // It stands in for the register.
}

func TestRL100_a_ban_that_begins_during_a_refresh_is_known_after_it(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &overtaken{Bans: newBans(t)}
		r := login()
		r.Scope = &guard.Matcher{}
		s := banning(t, r, func(o *guard.Options) { o.Bans, o.Clock = store, time.Now })
		guesses := func() {
			for range 5 {
				s.call(signIn("203.0.113.9"), wrong)
			}
		}
		store.meanwhile.Store(&guesses)
		wait(guard.DefaultRefresh + time.Millisecond)
		s.want(s.judge(attempt("203.0.113.9")), "refused by bans/login")
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
