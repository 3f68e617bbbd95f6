package redisstore_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// newGuard makes a guard over a store, with registers of the process for the time that it fails.
func newGuard(t *testing.T, s *redisstore.Store, rules guard.Rules) *guard.Guard {
	t.Helper()
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Name: "shield", Store: s})
	if err != nil {
		t.Fatal(err)
	}
	local, err := memstore.NewBans(memstore.BanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(guard.Options{
		Rules: rules, Limiter: limiter, Bans: s.Bans(), LocalBans: local, Circuits: s.Circuits(), LocalCircuits: memstore.NewCircuits(),
		Refresh: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// visit judges a request from an address and tells the guard how it was answered.
func visit(t *testing.T, g *guard.Guard, address string, status int) ratelimit.Verdict {
	t.Helper()
	a := ratelimit.Attempt{Address: netip.MustParseAddr(address), Identifier: address, Method: "POST", Path: "/login"}
	v := g.Judge(t.Context(), &a)
	if v.Allowed {
		g.Done(t.Context(), &a, &v, ratelimit.Outcome{Status: status})
	}
	return v
}

// ladder are three tiers, the narrowest first.
func ladder() []guard.Tier {
	tier := func(name string, limit int64, key guard.Key) guard.Tier {
		return guard.Tier{Policy: ratelimit.Policy{Name: name, Limit: limit, Window: time.Hour}, Key: key}
	}
	return []guard.Tier{
		tier("user", 5, guard.Key{}), tier("endpoint", 100, guard.Key{Parts: []string{"path"}}), tier("global", 1000, guard.Key{Parts: []string{"global"}}),
	}
}

func TestRL62_tiers_are_one_round_trip_on_one_server_and_one_each_in_a_cluster(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	g := newGuard(t, d.Store, guard.Rules{Tiers: ladder()})
	_ = g.Close() // What it does by itself is not counted here.
	trips := d.roundTrips(t, func() {
		for i := range 8 {
			if v := visit(t, g, "203.0.113.9", 200); v.Allowed != (i < 5) {
				t.Fatalf("request %d: %+v", i+1, v)
			}
		}
	})
	if calls := d.calls(t); trips != 8 || calls["evalsha"] != 8 {
		t.Errorf("8 requests through three tiers took %d round trips: %v", trips, calls)
	}
	// RL89: what the first tier denied took nothing from the others.
	if v := visit(t, g, "203.0.113.10", 200); !v.Allowed {
		t.Errorf("somebody else: %+v", v)
	}
	for _, key := range []string{"endpoint", "global"} {
		keys := d.server.Do("KEYS", "ratelimit:"+key+":*")
		if got := d.server.Do("GET", keys); got != "6" {
			t.Errorf("%s counted %s requests, want 6", keys, got)
		}
	}

	nodes := testkit.StartRedisCluster(t, 2)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: addresses(nodes), Budget: redisstore.Patient}})
	c := newGuard(t, s, guard.Rules{Tiers: ladder()})
	for i := range 8 {
		if v := visit(t, c, "203.0.113.9", 200); v.Allowed != (i < 5) {
			t.Fatalf("in a cluster, request %d: %+v", i+1, v)
		}
	}
}

func TestRL63_RL96_RL100_guesses_are_counted_here_while_Redis_is_away(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	g := newGuard(t, s, guard.Rules{Bans: []guard.BanRule{{
		BanRule: ratelimit.BanRule{Name: "login", MaxRetry: 3, FindTime: time.Minute, BanTime: 15 * time.Minute},
	}}})
	for range 3 {
		visit(t, g, "203.0.113.9", 401)
	}
	if v := visit(t, g, "203.0.113.9", 401); v.Allowed || v.Layer != ratelimit.LayerBans {
		t.Fatalf("after three wrong passwords: %+v", v)
	}
	server.Kill()
	if v := visit(t, g, "203.0.113.9", 401); v.Allowed {
		t.Errorf("a known ban without Redis: %+v", v)
	}
	for range 3 {
		if v := visit(t, g, "203.0.113.10", 401); !v.Allowed {
			t.Fatalf("another guesser without Redis: %+v", v)
		}
	}
	if v := visit(t, g, "203.0.113.10", 401); v.Allowed {
		t.Errorf("after three wrong passwords without Redis: %+v, want a ban: sign-in never fails open", v)
	}
	if status := g.BanStatus(); status.StoreFailures == 0 || status.Begun["login"] != 2 {
		t.Errorf("status %+v", status)
	}
	server.Restart()
	testkit.Eventually(t, "Redis to be asked again", func() bool { return s.Available() == nil })
	if v := visit(t, g, "203.0.113.10", 401); v.Allowed {
		t.Errorf("the ban that began here, with Redis back: %+v", v)
	}
}

func TestRL106_RL107_replicas_share_one_circuit_and_go_on_alone(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	config := redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}}
	rules := guard.Rules{Circuit: &guard.Circuit{Threshold: 100, Window: time.Minute}}
	replicas := []*guard.Guard{newGuard(t, open(t, config), rules), newGuard(t, open(t, config), rules)}
	testkit.Eventually(t, "both to feed the circuit", func() bool {
		return replicas[0].Circuit().Replicas == 2 && replicas[1].Circuit().Replicas == 2
	})
	for range 60 { // Neither of them has seen a hundred.
		for _, g := range replicas {
			visit(t, g, "203.0.113.9", 200)
		}
	}
	testkit.Eventually(t, "the circuit to open everywhere", func() bool {
		return replicas[0].Circuit().Record.State == ratelimit.CircuitOpen && replicas[1].Circuit().Record.State == ratelimit.CircuitOpen
	})
	if trips := replicas[0].Circuit().Trips + replicas[1].Circuit().Trips; trips != 1 {
		t.Errorf("%d replicas tripped it, want one", trips)
	}
	server.Kill()
	testkit.Eventually(t, "both to go on alone", func() bool {
		return replicas[0].Circuit().Degraded && replicas[1].Circuit().Degraded
	})
	if v := visit(t, replicas[0], "203.0.113.9", 200); v.Allowed || v.Layer != ratelimit.LayerCircuit {
		t.Errorf("a request at the open circuit without Redis: %+v", v)
	}
	server.Restart()
	testkit.Eventually(t, "both to share again", func() bool {
		return !replicas[0].Circuit().Degraded && !replicas[1].Circuit().Degraded
	})
}

func TestRL11_errors_of_registers_say_what_they_are(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	server.Kill()
	bans, circuits, now := s.Bans(), s.Circuits(), time.Now()
	_, strike := bans.Strike(t.Context(), login(), "a", now)
	_, page := bans.Page(t.Context(), ratelimit.BanQuery{Now: now})
	_, lift := bans.Lift(t.Context(), "login", "", now)
	_, liftOne := bans.Lift(t.Context(), "login", "a", now)
	_, offer := circuits.Offer(t.Context(), "server", time.Minute, ratelimit.CircuitCounts{}, now)
	_, swap := circuits.Swap(t.Context(), "server", 0, ratelimit.CircuitRecord{})
	for name, err := range map[string]error{
		"strike": strike, "page": page, "lift all": lift, "lift one": liftOne, "offer": offer, "swap": swap,
		"forgive": bans.Forgive(t.Context(), login(), "a"), "put": bans.Put(t.Context(), ratelimit.Ban{Rule: "login", Identifier: "a"}),
	} {
		if !errors.Is(err, ratelimit.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
	}
}

func TestRL108_the_stores_breaker_is_not_the_servers_circuit(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	s := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{server.Addr}, Budget: redisstore.Patient}})
	g := newGuard(t, s, guard.Rules{Circuit: &guard.Circuit{Threshold: 100_000}, Tiers: ladder()})
	server.Kill()
	testkit.Eventually(t, "the store's breaker to open", func() bool {
		visit(t, g, "203.0.113.9", 200)
		return s.Health().Open
	})
	if v := visit(t, g, "203.0.113.9", 200); !v.Allowed || v.Decision.Degraded != ratelimit.Open {
		t.Errorf("a request without Redis: %+v, want it to pass", v)
	}
	if got := g.Circuit().Record.State; got != ratelimit.CircuitClosed {
		t.Errorf("the circuit is %s because Redis is away", got)
	}
}
