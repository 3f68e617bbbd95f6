package guard_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
