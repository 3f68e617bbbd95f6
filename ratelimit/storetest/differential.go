package storetest

import (
	"math/rand/v2"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func (s subject) differential() {
	policies := s.counting(7, 10*time.Second)
	for _, p := range policies {
		for seed := range uint64(4) {
			s.compareWithStep(p, rand.New(rand.NewPCG(seed, 7))) //nolint:gosec // A seeded sequence is the point.
		}
	}
}

// compareWithStep sends one random sequence through the store and through Step. Instants go back by less than a window,
// since a shared store remembers older windows than a State does.
func (s subject) compareWithStep(p *ratelimit.Policy, random *rand.Rand) {
	s.Helper()
	namespace := "step-" + p.Name
	identifiers := []string{"a", "b", "c"}
	states := make([]ratelimit.State, len(identifiers))
	newest := origin.Truncate(p.Window).Add(time.Duration(random.Int64N(int64(time.Hour))).Truncate(time.Microsecond))
	for i := range identifiers {
		identifiers[i] += "-" + time.Duration(random.Int64()).String()
	}
	policy := *p
	remembered := int64(p.Window)
	if p.Name != "clock" { // All others forget by the state alone, in every store.
		remembered *= 3
	}
	for range 300 {
		who := random.IntN(len(identifiers))
		newest = newest.Add(time.Duration(random.Int64N(int64(p.Window) / 8)).Truncate(time.Microsecond))
		r := ratelimit.Request{
			Key:    ratelimit.Key{Namespace: namespace, Identifier: identifiers[who]},
			Policy: &policy,
			Cost:   random.Int64N(p.Limit + 2),
			Now:    newest,
		}
		if random.IntN(4) == 0 {
			r.Now = newest.Truncate(p.Window).Add(-time.Duration(random.Int64N(remembered)).Truncate(time.Microsecond))
		}
		if random.IntN(20) == 0 {
			policy.Limit = 1 + random.Int64N(2*p.Limit)
			if p.Name == string(ratelimit.GCRA) {
				policy.Burst = random.Int64N(2 * p.Limit)
			}
		}
		judged := policy
		r.Policy = &judged
		var want ratelimit.Decision
		states[who], want = ratelimit.Step(&judged, states[who], r.Now, r.Cost)
		got, err := s.store.Take(s.Context(), r)
		if err != nil || got != want {
			s.Fatalf("%s: %d at %v:\n got %+v, %v\nwant %+v", p.Name, r.Cost, r.Now, got, err, want)
		}
	}
}

// differentialLeases sends one random sequence through the store and through Judge.
func (s subject) differentialLeases() {
	p := s.concurrency(4, 10*time.Second)
	session, ok := s.store.(ratelimit.SessionStore)
	if p == nil || !ok {
		return
	}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 8)) //nolint:gosec // A seeded sequence is the point.
		var state ratelimit.State
		newest := origin
		policy := *p
		for range 400 {
			newest = newest.Add(time.Duration(random.Int64N(int64(p.Window) / 16)).Truncate(time.Microsecond))
			r := request("judge", time.Duration(seed).String(), &policy, random.Int64N(3))
			r.Now, r.Lease = newest, time.Duration(random.IntN(8)).String()
			if random.IntN(8) == 0 {
				r.Now = newest.Add(-time.Duration(random.Int64N(int64(2 * p.Window))).Truncate(time.Microsecond))
			}
			if random.IntN(20) == 0 {
				policy.Limit = 1 + random.Int64N(8)
			}
			s.compareLease(session, &state, r, random.IntN(4))
		}
	}
}

// compareLease does one thing with a lease in the store and in the state.
func (s subject) compareLease(session ratelimit.SessionStore, state *ratelimit.State, r ratelimit.Request, what int) {
	s.Helper()
	switch what {
	case 0:
		state.Release(r.Lease)
		if err := session.Release(s.Context(), r.Key, r.Policy, r.Lease); err != nil {
			s.Fatalf("release %s: %v", r.Lease, err)
		}
	case 1:
		want := state.Renew(&r)
		if got, err := session.RenewAt(s.Context(), r.Key, r.Policy, r.Lease, r.Now); err != nil || got != want {
			s.Fatalf("renew %s at %v: %t, %v, want %t", r.Lease, r.Now, got, err, want)
		}
	default:
		want, settled, err := ratelimit.Settle(r.Policy, r.Cost)
		if err != nil {
			s.Fatal(err)
		}
		if !settled {
			ratelimit.Judge(&r, state, &want)
		}
		if got, err := session.Take(s.Context(), r); err != nil || got != want {
			s.Fatalf("%d for %s at %v:\n got %+v, %v\nwant %+v", r.Cost, r.Lease, r.Now, got, err, want)
		}
	}
}
