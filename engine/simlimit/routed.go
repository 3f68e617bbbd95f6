package simlimit

import (
	"context"
	"fmt"

	"github.com/mockbase/mockbase/ratelimit"
)

// generation is where the buckets of a session are from one reset to the next. What a request holds it gives back to the
// generation that it got it from.
type generation struct {
	memory ratelimit.AtomicStore
	// shared is nil where there is none.
	shared Shared
	//nolint:containedctx // it carries the generation to the stores behind the one limiter of all sessions
	ctx context.Context
}

type generationKey struct{}

// routed sends each check to the store of its session, so that all sessions have one limiter: one health, one count.
type routed struct {
	of func(g *generation) ratelimit.AtomicStore
}

var _ ratelimit.AtomicStore = routed{}

func inMemory(g *generation) ratelimit.AtomicStore { return g.memory }

func inShared(g *generation) ratelimit.AtomicStore { return g.shared }

func (r routed) store(ctx context.Context) (ratelimit.AtomicStore, error) {
	g, ok := ctx.Value(generationKey{}).(*generation)
	if !ok {
		return nil, fmt.Errorf("find store of session: the context names none: %w", ratelimit.ErrConfig)
	}
	return r.of(g), nil
}

// Take implements [ratelimit.Store].
func (r routed) Take(ctx context.Context, q ratelimit.Request) (ratelimit.Decision, error) {
	s, err := r.store(ctx)
	if err != nil {
		return ratelimit.Decision{}, err
	}
	return s.Take(ctx, q)
}

// TakeAll implements [ratelimit.AtomicStore].
func (r routed) TakeAll(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	s, err := r.store(ctx)
	if err != nil {
		return err
	}
	return s.TakeAll(ctx, requests, decisions)
}

// Release implements [ratelimit.Store].
func (r routed) Release(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) error {
	s, err := r.store(ctx)
	if err != nil {
		return err
	}
	return s.Release(ctx, k, p, lease)
}

// Renew implements [ratelimit.Store].
func (r routed) Renew(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) (bool, error) {
	s, err := r.store(ctx)
	if err != nil {
		return false, err
	}
	return s.Renew(ctx, k, p, lease)
}

// Reset implements [ratelimit.Store].
func (r routed) Reset(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy) error {
	s, err := r.store(ctx)
	if err != nil {
		return err
	}
	return s.Reset(ctx, k, p)
}

// fallback is the memory that stands in for a shared store.
type fallback struct {
	routed

	keeper *Keeper
}

// ResetPrefix empties it when the shared store works again, whatever the prefix.
func (f fallback) ResetPrefix(string) int { return f.keeper.emptyMemory() }

// watched is a shared store that knows by itself whether it can decide.
type watched struct {
	routed

	available func() error
}

// Available implements [ratelimit.Availability].
func (w watched) Available() error { return w.available() }
