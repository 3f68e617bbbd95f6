package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mockbase/mockbase/engine/chance"
)

// clock is the time of a session.
type clock interface {
	Now() time.Time
	// Sleep returns nil when the time is over, and the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// wallClock is the clock of a session whose time was not changed.
type wallClock func() time.Time

var _ clock = wallClock(nil)

// Now implements clock.
func (w wallClock) Now() time.Time { return w() }

// Sleep implements clock.
func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clock is the clock of the call's session.
func (c *call) clock() clock { return wallClock(c.engine.options.Clock) }

// now is the time of the call's session.
func (c *call) now() time.Time { return c.clock().Now() }

// pause waits by the clock of the session. It ends early with the context and when the engine closes (rule N13).
func (c *call) pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.engine.ended, cancel)()
	// Whether time or context ended it is for the caller to see.
	_ = c.clock().Sleep(ctx, d)
}

// chance draws for one purpose of this call (rule AA19).
func (c *call) chance(purpose string) *rand.Rand {
	key := chance.Key{Seed: c.program.settings.seed, Response: c.outcome.response.name, Purpose: purpose, Call: c.number}
	if c.outcome.route != nil {
		key.Mock = c.outcome.route.mock.Name
	}
	return key.Rand()
}
