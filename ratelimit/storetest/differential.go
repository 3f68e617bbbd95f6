package storetest

import (
	"math/rand/v2"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

func (s subject) differential() {
	for _, p := range s.aligns(7, 10*time.Second) {
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
			r.Now = newest.Truncate(p.Window).Add(-time.Duration(random.Int64N(int64(p.Window))).Truncate(time.Microsecond))
		}
		if random.IntN(20) == 0 {
			policy.Limit = 1 + random.Int64N(2*p.Limit)
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
