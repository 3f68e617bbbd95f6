package guard_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

// newYear lies at the beginning of a minute.
var newYear = time.Unix(1_767_225_600, 0)

var errDown = fmt.Errorf("dial: %w", ratelimit.ErrUnavailable)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// subject is a guard, the time it lives in, and what it told of.
type subject struct {
	*testing.T

	*guard.Guard

	clock    *clock
	circuits ratelimit.Circuits
	mu       sync.Mutex
	matches  []string
	recorded []guard.Change
}

// newSubject makes a guard with a memory store behind every layer.
func newSubject(t *testing.T, rules guard.Rules, change func(*guard.Options)) *subject {
	t.Helper()
	s := &subject{T: t, clock: &clock{now: newYear}}
	store, err := memstore.New(memstore.Options{Clock: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Name: "guard", Store: store, Clock: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	o := guard.Options{
		Rules: rules, Limiter: limiter, Bans: newBans(t), Circuits: memstore.NewCircuits(), Clock: s.clock.read,
		OnMatch: s.match, OnChange: s.change,
	}
	if change != nil {
		change(&o)
	}
	s.circuits = o.Circuits
	if s.Guard, err = guard.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func newBans(tb testing.TB) *memstore.Bans {
	tb.Helper()
	b, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func (s *subject) match(m guard.Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches = append(s.matches, fmt.Sprintf("%s %s/%s %s", m.Mode, m.Layer, m.Rule, m.Key))
}

func (s *subject) change(c guard.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorded = append(s.recorded, c)
}

// parts are the parts of a request by name; header fields are those with a name that begins with "header ".
type parts map[string]string

func (p parts) Part(name string) (string, bool) {
	value, ok := p[name]
	return value, ok
}

func (p parts) Header(name string) string { return p["header "+name] }

// attempt is a request of a client.
func attempt(address string) *ratelimit.Attempt {
	a, err := netip.ParseAddr(address)
	if err != nil {
		panic(err)
	}
	return &ratelimit.Attempt{Address: a, Identifier: address, Method: "GET", Path: "/users/7", Pattern: "/users/{id}", Size: -1}
}

func (s *subject) judge(a *ratelimit.Attempt) ratelimit.Verdict {
	s.Helper()
	again := *a
	v := s.Judge(s.Context(), &again)
	if v.Allowed != (v.Status == 0) {
		s.Errorf("verdict %+v: want a status if and only if it is refused", v)
	}
	return v
}

// call judges a request and tells its outcome if it was allowed.
func (s *subject) call(a *ratelimit.Attempt, o ratelimit.Outcome) ratelimit.Verdict {
	s.Helper()
	again := *a
	v := s.Judge(s.Context(), &again)
	if v.Allowed {
		s.Done(s.Context(), &again, &v, o)
	}
	return v
}

// where names the layer and rule that ended a walk.
func where(v *ratelimit.Verdict) string {
	outcome := "refused"
	if v.Allowed {
		outcome = "allowed"
	}
	if v.Layer == "" {
		return outcome
	}
	return outcome + " by " + string(v.Layer) + "/" + v.Rule
}

func (s *subject) want(v ratelimit.Verdict, want string) {
	s.Helper()
	if got := where(&v); got != want {
		s.Errorf("%s, want %s: %+v", got, want, v)
	}
}

func (s *subject) wantMatches(want ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.matches); diff != "" {
		s.Errorf("matches (-want +got):\n%s", diff)
	}
	s.matches = nil
}

func (s *subject) wantCounts(want ...string) {
	s.Helper()
	var got []string
	for _, c := range s.Counts() {
		got = append(got, fmt.Sprintf("%s/%s %s %d", c.Layer, c.Rule, c.Mode, c.Count))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("counts (-want +got):\n%s", diff)
	}
}

func perMinute(name string, limit int64) ratelimit.Policy {
	return ratelimit.Policy{Name: name, Limit: limit, Window: time.Minute}
}

// everything is a guard in which each layer refuses a part of the requests.
func everything() guard.Rules {
	return guard.Rules{
		Exclude:   []string{"/healthz", "/static/*"},
		Safelist:  []guard.Entry{{Name: "office", Network: netip.MustParsePrefix("10.0.0.0/8"), Reason: "ours"}},
		Blocklist: []guard.Entry{{Name: "abuser", Network: netip.MustParsePrefix("192.0.2.0/24"), Reason: "scraping"}},
		Bans: []guard.BanRule{{
			BanRule: ratelimit.BanRule{Name: "greedy", MaxRetry: 1, FindTime: time.Minute, BanTime: time.Hour},
			Kind:    guard.Allow2Ban, Match: guard.Matcher{Paths: []string{"/trap"}}, Scope: &guard.Matcher{},
		}},
		Tiers: []guard.Tier{{Policy: perMinute("client", 2)}},
	}
}

func TestRL86_the_layers_are_asked_in_their_order_and_the_first_refusal_ends(t *testing.T) {
	t.Parallel()
	s := newSubject(t, everything(), nil)
	excluded, inside, trap := attempt("192.0.2.1"), attempt("10.1.2.3"), attempt("203.0.113.9")
	excluded.Path, trap.Path = "/healthz", "/trap"
	for _, step := range []struct {
		name string
		a    *ratelimit.Attempt
		want string
	}{
		{"RL87 an excluded path skips even the blocklist", excluded, "allowed by excluded/"},
		{"RL88 the safelist passes", inside, "allowed by safelist/office"},
		{"RL88 the blocklist refuses", attempt("192.0.2.1"), "refused by blocklist/abuser"},
		{"the offence that bans still passes", trap, "allowed"},
		{"a ban refuses before the tiers are asked", attempt("203.0.113.9"), "refused by bans/greedy"},
		{"another client has its own counter", attempt("203.0.113.10"), "allowed"},
		{"with two", attempt("203.0.113.10"), "allowed"},
		{"and no third", attempt("203.0.113.10"), "refused by tiers/client"},
	} {
		if v := s.judge(step.a); where(&v) != step.want {
			t.Errorf("%s: %s, want %s", step.name, where(&v), step.want)
		}
	}
	s.wantMatches("live blocklist/abuser 192.0.2.1", "live bans/greedy 203.0.113.9", "live tiers/client 203.0.113.10")
	s.wantCounts("bans/greedy live 1", "blocklist/abuser live 1", "excluded/ live 1", "safelist/office live 1", "tiers/client live 1")
}

func TestRL88_a_refusal_by_the_blocklist_says_why_and_tells_no_wait(t *testing.T) {
	t.Parallel()
	s := newSubject(t, everything(), nil)
	v := s.judge(attempt("192.0.2.77"))
	want := ratelimit.Verdict{Layer: ratelimit.LayerBlocklist, Rule: "abuser", Reason: "scraping", Status: 403}
	if v != want {
		t.Errorf("%+v, want %+v", v, want)
	}
}

func TestRL87_excluded_paths_are_exact_or_prefixes(t *testing.T) {
	t.Parallel()
	s := newSubject(t, everything(), nil)
	for path, excluded := range map[string]bool{
		"/healthz": true, "/healthz/": false, "/healthzz": false, "/static/": true, "/static/app.js": true, "/static": false, "/": false,
	} {
		a := attempt("192.0.2.1")
		a.Path = path
		if v := s.judge(a); v.Allowed != excluded {
			t.Errorf("%s: %s, want excluded %t", path, where(&v), excluded)
		}
	}
}

func TestRL85_a_guard_without_layers_costs_no_allocation(t *testing.T) {
	s := newSubject(t, guard.Rules{Exclude: guard.DefaultExclude()}, nil)
	a, ctx := attempt("203.0.113.9"), t.Context()
	allocations := testing.AllocsPerRun(1000, func() {
		v := s.Judge(ctx, a)
		s.Done(ctx, a, &v, ratelimit.Outcome{Status: 200})
	})
	if allocations != 0 {
		t.Errorf("%v allocations a request, want none", allocations)
	}
}

func TestRL85_lists_tiers_and_circuit_cost_no_allocation_on_the_allowed_path(t *testing.T) {
	s := newSubject(t, guard.Rules{
		Safelist: everything().Safelist, Blocklist: everything().Blocklist,
		Tiers:   []guard.Tier{{Policy: perMinute("client", 1_000_000)}, {Policy: perMinute("all", 1_000_000), Key: guard.Key{Parts: []string{"global"}}}},
		Circuit: &guard.Circuit{GlobalLimit: 1 << 30},
	}, nil)
	a, ctx := attempt("203.0.113.9"), t.Context()
	allocations := testing.AllocsPerRun(1000, func() {
		a.Now = time.Time{}
		v := s.Judge(ctx, a)
		s.Done(ctx, a, &v, ratelimit.Outcome{Status: 200})
	})
	if allocations != 0 {
		t.Errorf("%v allocations a request, want none", allocations)
	}
}

// tiers are the default tiers with the limits of the specification's example.
func tiers() []guard.Tier {
	return guard.DefaultTiers(perMinute("", 50), perMinute("", 100), perMinute("", 1000))
}

func user(name string) *ratelimit.Attempt {
	a := attempt("203.0.113.9")
	a.Parts = parts{"user": name}
	return a
}

func TestRL89_a_user_over_the_limit_takes_nothing_from_the_wider_tiers(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: tiers(), ExposeGlobal: true}, nil)
	for i := range 80 {
		want := "allowed"
		if i >= 50 {
			want = "refused by tiers/user"
		}
		s.want(s.judge(user("alice")), want)
	}
	for i := range 60 { // 50 of 100 are left at the endpoint: all of bob's, who has 50 himself.
		want := "allowed"
		if i >= 50 {
			want = "refused by tiers/user"
		}
		s.want(s.judge(user("bob")), want)
	}
	s.want(s.judge(user("carol")), "refused by tiers/endpoint")
	elsewhere := user("carol")
	elsewhere.Pattern = "/orders"
	v := s.judge(elsewhere)
	s.want(v, "allowed")
	for range 48 {
		s.judge(elsewhere)
	}
	if v = s.judge(elsewhere); v.Decision.Policy.Name != "user" || v.Decision.Remaining != 0 {
		t.Errorf("reported %+v, want the user's tier with nothing left", v.Decision)
	}
}

func TestRL89_a_tier_with_limit_0_is_passed_over(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: guard.DefaultTiers(perMinute("", 0), ratelimit.Policy{}, perMinute("", 1))}, nil)
	s.want(s.judge(user("alice")), "allowed")
	s.want(s.judge(user("bob")), "refused by tiers/global")
}

func TestRL90_the_answer_reports_the_tier_with_the_least_share(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		expose bool
		want   string
	}{
		{"the global tier stays out of sight", false, "endpoint"},
		{"unless it is exposed", true, "global"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, guard.Rules{
				Tiers: guard.DefaultTiers(perMinute("", 50), perMinute("", 20), perMinute("", 3)), ExposeGlobal: c.expose,
			}, nil)
			v := s.judge(user("alice"))
			if v.Decision.Policy == nil || v.Decision.Policy.Name != c.want {
				t.Errorf("reported %+v, want %s", v.Decision, c.want)
			}
			s.judge(user("alice"))
			s.judge(user("alice"))
			v = s.judge(user("alice"))
			s.want(v, "refused by tiers/global")
			if v.Hidden == c.expose || v.Decision.Policy.Name != "global" || v.RetryAfter != time.Minute || v.Status != 429 {
				t.Errorf("refusal %+v: want that of global, hidden %t", v, !c.expose)
			}
		})
	}
}

func TestRL63_a_tier_has_its_own_failure_mode(t *testing.T) {
	t.Parallel()
	closed, err := ratelimit.NewLimiter(ratelimit.Options{Store: failing{}, OnFailure: ratelimit.FailClosed})
	if err != nil {
		t.Fatal(err)
	}
	s := newSubject(t, guard.Rules{Tiers: []guard.Tier{{Policy: perMinute("open", 1)}, {Policy: perMinute("login", 1), Limiter: closed}}}, nil)
	v := s.judge(attempt("203.0.113.9"))
	s.want(v, "refused by tiers/login")
	if v.Status != 503 || v.RetryAfter <= 0 {
		t.Errorf("%+v, want 503 with a wait", v)
	}
}

// failing is a store that never decides.
type failing struct{ ratelimit.Store }

func (failing) Take(context.Context, ratelimit.Request) (ratelimit.Decision, error) {
	return ratelimit.Decision{}, errDown
}

func TestRL92_a_dry_run_counts_and_refuses_nothing(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]guard.Rules{"the whole guard": dryGuard(), "each rule": dryRules()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, rules, nil)
			a := attempt("203.0.113.9")
			a.Path = "/trap"
			s.want(s.judge(a), "allowed")
			s.want(s.judge(a), "allowed")
			v := s.judge(a)
			s.want(v, "allowed")
			if want := "bans/greedy, tiers/client, tiers/all"; v.WouldLimit != want {
				t.Errorf("would limit %q, want %q", v.WouldLimit, want)
			}
			s.wantMatches("dry bans/greedy 203.0.113.9", "dry bans/greedy 203.0.113.9", "dry tiers/client 203.0.113.9", "dry tiers/all global")
			s.wantCounts("bans/greedy dry 2", "tiers/all dry 1", "tiers/client dry 1")
		})
	}
}

func dryGuard() guard.Rules {
	r := everything()
	r.DryRun = true
	r.Tiers = append(r.Tiers, guard.Tier{Policy: perMinute("all", 2), Key: guard.Key{Parts: []string{"global"}}})
	return r
}

func dryRules() guard.Rules {
	r := dryGuard()
	r.DryRun = false
	r.Bans[0].DryRun, r.Tiers[0].DryRun, r.Tiers[1].DryRun = true, true, true
	return r
}

func TestRL92_track_rules_only_count(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Track: []guard.Track{
		{Name: "writes", Match: guard.Matcher{Methods: []string{"POST", "PUT"}}},
		{Name: "users", Match: guard.Matcher{Paths: []string{"/users/{id}"}}},
	}}, nil)
	post := attempt("203.0.113.9")
	post.Method = "POST"
	for range 3 {
		s.want(s.judge(post), "allowed")
		s.want(s.judge(attempt("203.0.113.9")), "allowed")
	}
	s.wantMatches()
	s.wantCounts("track/users dry 6", "track/writes dry 3")
}

func TestRL130_rules_change_without_lost_counts(t *testing.T) {
	t.Parallel()
	s := newSubject(t, everything(), nil)
	s.judge(attempt("192.0.2.1"))
	s.judge(attempt("203.0.113.9"))
	s.judge(attempt("203.0.113.9"))
	rules := everything()
	rules.Blocklist[0].Until = newYear.Add(time.Minute)
	rules.Exclude = nil
	if err := s.Update(rules); err != nil {
		t.Fatal(err)
	}
	s.want(s.judge(attempt("203.0.113.9")), "refused by tiers/client")
	s.want(s.judge(attempt("192.0.2.1")), "refused by blocklist/abuser")
	s.wantCounts("blocklist/abuser live 2", "tiers/client live 1")
	s.clock.advance(time.Minute)
	s.want(s.judge(attempt("192.0.2.1")), "allowed")

	wrong := everything()
	wrong.Tiers[0].Policy.Limit = -1
	if err := s.Update(wrong); !errors.Is(err, ratelimit.ErrConfig) {
		t.Errorf("wrong rules: %v, want ErrConfig", err)
	}
	if err := s.Update(guard.Rules{}); err != nil {
		t.Fatal(err)
	}
	s.want(s.judge(attempt("203.0.113.9")), "allowed")
	s.wantCounts()
}

func TestRL130_all_faults_of_rules_are_listed_at_once(t *testing.T) {
	t.Parallel()
	rules := guard.Rules{
		Blocklist: []guard.Entry{{}, {Path: "/a", Identifier: "b"}, {Name: "a, b", Path: "/"}, {Name: "a\r\nb", Path: "/"}},
		Track:     []guard.Track{{}},
		Bans: []guard.BanRule{
			{BanRule: ratelimit.BanRule{Name: "twice", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}},
			{BanRule: ratelimit.BanRule{Name: "twice", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}},
			{BanRule: ratelimit.BanRule{Name: "teapot", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}, Status: 418},
			{BanRule: ratelimit.BanRule{Name: "kind", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}, Kind: "maybe"},
			{BanRule: ratelimit.BanRule{Name: "mode", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}, OnStoreFailure: "ajar"},
			{BanRule: ratelimit.BanRule{Name: "key", MaxRetry: 1, FindTime: time.Second, BanTime: time.Second}, Key: guard.Key{OnMissing: "guess"}},
		},
		Tiers: []guard.Tier{
			{Policy: ratelimit.Policy{Name: "half", Limit: 1, Window: 1500 * time.Millisecond}},
			{Policy: ratelimit.Policy{Name: "lease", Algorithm: ratelimit.Concurrency, Limit: 1, Window: time.Second}},
			{Policy: perMinute("parts", 1), Key: guard.Key{Parts: []string{""}}},
			{Policy: perMinute("parts", 1)},
		},
		Costs:    []guard.Cost{{}, {Fixed: -1}, {Classes: []guard.SizeClass{{UpTo: 2, Cost: 1}, {UpTo: 1, Cost: 1}}}},
		Circuit:  &guard.Circuit{Mode: "melted"},
		Adaptive: &guard.Adaptive{Min: 2},
	}
	_, err := guard.New(guard.Options{Rules: rules})
	if !errors.Is(err, ratelimit.ErrConfig) {
		t.Fatalf("%v, want ErrConfig", err)
	}
	for _, want := range []string{
		"entry 0 (predicate) states 0 conditions", "entry 1 (id:b) states 2 conditions", `name "a, b"`, `name "a\r\nb"`, `track rule ""`, `two ban rules are named "twice"`,
		"status 418", `kind "maybe"`, `failure mode "ajar"`, `missing keys "guess"`, "1.5s is not whole seconds",
		"a part of the key is empty", `two tiers are named "parts"`, "cost 0: want one", "cost 1: -1", "class 1 is out of order",
		`mode "melted"`, "minimum 2", "no limiter", "no register of bans", "no register of circuits",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
}

func TestRL79_a_key_that_lacks_a_part_falls_back_skips_or_denies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		missing guard.Missing
		want    string
		key     string
	}{
		{"", "refused by tiers/keyed", "203.0.113.9"},
		{guard.MissingIP, "refused by tiers/keyed", "203.0.113.9"},
		{guard.MissingSkip, "allowed", ""},
		{guard.MissingDeny, "refused by tiers/keyed", "203.0.113.9"},
	} {
		t.Run(string(c.missing), func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, guard.Rules{Tiers: []guard.Tier{{
				Policy: perMinute("keyed", 1), Key: guard.Key{Parts: []string{"header:X-Tenant"}, OnMissing: c.missing},
			}}}, nil)
			s.judge(attempt("203.0.113.9"))
			v := s.judge(attempt("203.0.113.9"))
			s.want(v, c.want)
			if c.missing == guard.MissingDeny && v.Status != 403 {
				t.Errorf("status %d, want 403", v.Status)
			}
			tenant := attempt("203.0.113.9")
			tenant.Parts = parts{"header:X-Tenant": "blue"}
			s.want(s.judge(tenant), "allowed")
		})
	}
}

func TestRL78_parts_of_a_key_cannot_run_together(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: []guard.Tier{{
		Policy: perMinute("pair", 1), Key: guard.Key{Parts: []string{"a", "b"}, OnMissing: guard.MissingSkip},
	}}}, nil)
	for _, pair := range [][2]string{{"x", "yz"}, {"xy", "z"}, {"", "xyz"}, {"xyz", ""}, {"1~x", "yz"}, {"x2~yz", ""}} {
		a := attempt("203.0.113.9")
		a.Parts = parts{"a": pair[0], "b": pair[1]}
		s.want(s.judge(a), "allowed")
		s.want(s.judge(a), "refused by tiers/pair")
	}
}

func TestRL79_a_chosen_value_cannot_pose_as_an_address(t *testing.T) {
	t.Parallel()
	s := newSubject(t, guard.Rules{Tiers: []guard.Tier{{Policy: perMinute("keyed", 1), Key: guard.Key{Parts: []string{"header:X-Tenant"}}}}}, nil)
	victim, attacker := attempt("203.0.113.9"), attempt("198.51.100.1")
	attacker.Parts = parts{"header:X-Tenant": "203.0.113.9"}
	s.want(s.judge(attacker), "allowed")
	s.want(s.judge(victim), "allowed")
}
