package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mockbase/mockbase/engine/chance"
	"github.com/mockbase/mockbase/engine/session"
)

// clock is the clock of the call's session.
func (c *call) clock() session.Clock { return c.session.Clock() }

// now is the time of the call's session.
func (c *call) now() time.Time { return c.clock().Now() }

// wallAt is the time of the wall clock at an instant of the session's clock (rules X3 and X5).
func (c *call) wallAt(instant time.Time) time.Time {
	return instant.Add(-c.session.Timeline().Advanced())
}

// pause waits by the clock of the session. It ends early with the context and when the engine closes (rule N13), and at
// once where the call only looks.
func (c *call) pause(ctx context.Context, d time.Duration) {
	if c.looking {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.engine.ended, cancel)()
	// Whether time or context ended it is for the caller to see.
	_ = c.clock().Sleep(ctx, d)
}

// chance draws for one purpose of this call (rule AA19).
func (c *call) chance(purpose string) *rand.Rand {
	key := chance.Key{
		Seed: c.seed(c.session), Session: c.session.Name(), Purpose: purpose, Call: c.instant.number,
	}
	if c.outcome.response != nil {
		// Limits draw before a response is chosen.
		key.Response = c.outcome.response.name
	}
	if c.outcome.route != nil {
		key.Mock = c.outcome.route.mock.Name
	}
	return key.Rand()
}
