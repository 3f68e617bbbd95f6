package bench

import (
	"fmt"
	"net/http"
	"time"

	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// ShieldInMemory is the value of Spec.Shield for counters in the process.
const ShieldInMemory = "memory"

// newShield makes a shield that counts in memory or in the Redis at a URL, and refuses nobody. It returns nil for no
// place at all. The function that comes with it ends it.
func newShield(place string, budget time.Duration) (engine.Shield, func(), error) {
	if place == "" {
		return nil, func() {}, nil
	}
	store, closeStore, err := newLimitStore(place, budget)
	if err != nil {
		return nil, nil, fmt.Errorf("make shield: %w", err)
	}
	limiter, err := ratelimit.NewLimiter(ratelimit.Options{Name: "engine", Store: store, OnFailure: ratelimit.FailOpen})
	if err != nil {
		closeStore()
		return nil, nil, fmt.Errorf("make shield: %w", err)
	}
	guard, err := httplimit.New(httplimit.Options{
		Limiter:  limiter,
		Policies: []ratelimit.Policy{{Name: "engine", Limit: 1_000_000_000, Window: time.Hour}},
	})
	if err != nil {
		closeStore()
		return nil, nil, fmt.Errorf("make shield: %w", err)
	}
	return guarded{guard}, func() {
		_ = guard.Close()
		closeStore()
	}, nil
}

// guarded lets a guard be a shield, with nothing in between.
type guarded struct{ guard *httplimit.Guard }

var _ engine.Shield = guarded{}

// Admit implements engine.Shield.
func (g guarded) Admit(w http.ResponseWriter, r *http.Request) (engine.Admission, bool) {
	decision, ok := g.guard.Admit(w, r)
	return engine.Admission{Decision: decision}, ok
}

// Done implements engine.Shield.
func (guarded) Done(engine.Admission, int) {}

func newLimitStore(place string, budget time.Duration) (ratelimit.Store, func(), error) {
	if place == ShieldInMemory {
		store, err := memstore.New(memstore.Options{})
		return store, func() {}, err //nolint:wrapcheck // newShield does
	}
	store, err := redisstore.New(redisstore.Options{Config: redisstore.Config{Addrs: []string{place}, Budget: budget}})
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // newShield does
	}
	return store, func() { _ = store.Close() }, nil
}
