package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

func TestRL91_a_request_costs_what_the_first_matching_rule_says(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{
		Tiers: []guard.Tier{{Policy: perMinute("client", 2*ratelimit.MaxCost)}},
		Costs: []guard.Cost{
			{Match: guard.Matcher{Paths: []string{"/export"}}, Fixed: 10},
			{Match: guard.Matcher{Methods: []string{"PUT"}}, Classes: []guard.SizeClass{{UpTo: 1024, Cost: 1}, {UpTo: 1 << 20, Cost: 5}, {UpTo: 1 << 30, Cost: 50}}},
			{Match: guard.Matcher{Paths: []string{"/computed"}}, From: func(a *ratelimit.Attempt) int64 { return a.Size * 2 }},
		},
	}
	for _, c := range []struct {
		name   string
		method string
		path   string
		size   int64
		cost   int64
		want   int64
	}{
		{"no rule and nothing said", "GET", "/", -1, 0, 1},
		{"no rule and something said", "GET", "/", -1, 7, 7},
		{"no rule and too much said", "GET", "/", -1, 1 << 60, ratelimit.MaxCost},
		{"no rule and nonsense said", "GET", "/", -1, -5, 1},
		{"a fixed cost", "GET", "/export", -1, 7, 10},
		{"a small body", "PUT", "/", 1024, 0, 1},
		{"a larger body", "PUT", "/", 1025, 0, 5},
		{"a body beyond all classes", "PUT", "/", 1 << 40, 0, 50},
		{"a body of unknown size", "PUT", "/", -1, 0, 50},
		{"a computed cost", "GET", "/computed", 21, 0, 42},
		{"a computed cost without bounds", "GET", "/computed", 1 << 50, 0, ratelimit.MaxCost},
		{"a computed cost below any", "GET", "/computed", -9, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, rules, nil)
			a := attempt("203.0.113.9")
			a.Method, a.Path, a.Pattern, a.Size, a.Cost = c.method, c.path, "", c.size, c.cost
			v := s.Judge(t.Context(), a)
			if got := v.Decision.Limit - v.Decision.Remaining; got != c.want || a.Cost != c.want {
				t.Errorf("cost %d, attempt %d, want %d", got, a.Cost, c.want)
			}
		})
	}
}

func TestRL91_what_a_request_cost_beyond_its_announcement_is_charged_afterwards(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []ratelimit.Algorithm{ratelimit.FixedWindow, ratelimit.SlidingWindow, ratelimit.TokenBucket, ratelimit.SlidingLog} {
		for _, c := range []struct {
			cost, left int64
		}{{0, 9}, {1, 9}, {4, 6}, {10, 0}, {11, 0}, {1 << 62, 0}, {-3, 9}} {
			t.Run(fmt.Sprintf("%s %d", algorithm, c.cost), func(t *testing.T) {
				t.Parallel()
				p := perMinute("client", 10)
				p.Algorithm = algorithm
				s := newSubject(t, guard.Rules{Tiers: []guard.Tier{{Policy: p}, {Policy: ratelimit.Policy{Name: "off"}}}}, nil)
				v := s.call(attempt("203.0.113.9"), ratelimit.Outcome{Status: 200, Cost: c.cost})
				s.want(v, "allowed") // That charge never denies.
				v = s.judge(attempt("203.0.113.9"))
				if left := v.Decision.Remaining; left != max(0, c.left-1) || v.Allowed != (c.left > 0) {
					t.Errorf("the next check: %+v, want it to find %d left", v.Decision, c.left)
				}
			})
		}
	}
}

func TestRL91_other_tiers_and_keys_are_charged_as_they_were_asked(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: []guard.Tier{
		{Policy: perMinute("writes", 10), Match: guard.Matcher{Methods: []string{"POST"}}},
		{Policy: perMinute("tenant", 10), Key: guard.Key{Parts: []string{"tenant"}, OnMissing: guard.MissingSkip}},
		{Policy: perMinute("client", 10)},
	}}, nil)
	s.call(attempt("203.0.113.9"), ratelimit.Outcome{Cost: 10})
	s.want(s.judge(attempt("203.0.113.9")), "refused by tiers/client")
	post := attempt("203.0.113.10")
	post.Method = "POST"
	post.Parts = parts{"tenant": "blue"}
	v := s.judge(post)
	s.want(v, "allowed")
	if v.Decision.Remaining != 9 || v.Decision.Reset != time.Minute {
		t.Errorf("%+v, want nothing charged to the others", v.Decision)
	}
}
