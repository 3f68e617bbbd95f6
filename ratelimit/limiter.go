package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// Mode says what a Limiter decides while its store fails (rule RL63). The empty one is FailOpen.
type Mode string

// FailOpen lets every check pass, FailClosed none, and FailMemory keeps the same policy in process memory.
const (
	FailOpen   Mode = "open"
	FailClosed Mode = "closed"
	FailMemory Mode = "memory"
)

// DefaultProbeInterval is how often a store looks whether it works again, if nobody says otherwise.
const DefaultProbeInterval = 250 * time.Millisecond

// Options make a Limiter.
type Options struct {
	// Name is the limiter's name in logs and reports.
	Name string
	// Store is asked first.
	Store Store
	// OnFailure decides while the store fails.
	OnFailure Mode
	// Fallback is the store of FailMemory, which needs one. It belongs to this limiter alone: if it has a method
	// ResetPrefix(string) int, it is emptied when the main store works again (rule RL67).
	Fallback Store
	// Clock is the time of checks without an instant; nil is time.Now.
	Clock func() time.Time
	// Logger gets the changes of health; nil is silent.
	Logger *slog.Logger
	// OnHealth is called on each change of health, and must not block (rule RL68).
	OnHealth func(Health)
	// ProbeInterval is the longest wait until a failed store is tried again. It is what FailClosed tells callers to
	// wait; 0 is DefaultProbeInterval.
	ProbeInterval time.Duration
}

// Limiter adds to a store what a store must not know: checks that need none, the failure mode, counting and a clock
// that does not step back (rule RL9). It is safe for concurrent use and starts no goroutine.
type Limiter struct {
	store, fallback Store
	mode            Mode
	retry           time.Duration
	clock           steadyClock
	health          monitor
	tallies         tallies
	timing          timing
}

// Counts are the checks of a limiter by their outcome since it was made.
type Counts struct {
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Skipped int64 `json:"skipped"`
	// DryDenied are the denials of checks in dry run, which nobody enforced ([Request].DryRun).
	DryDenied int64 `json:"dryDenied"`
	// Degraded are the checks among them that the store did not decide, by reason.
	Degraded map[string]int64 `json:"degraded"`
	// ClockJumps counts the steps back of the clock that were too large to smooth over (rule RL15).
	ClockJumps int64 `json:"clockJumps"`
}

// NewLimiter makes a limiter. No store, an unknown mode and FailMemory without a fallback are ErrConfig.
func NewLimiter(o Options) (*Limiter, error) {
	if o.OnFailure == "" {
		o.OnFailure = FailOpen
	}
	switch {
	case o.Store == nil:
		return nil, fmt.Errorf("make limiter %q: no store: %w", o.Name, ErrConfig)
	case o.OnFailure != FailOpen && o.OnFailure != FailClosed && o.OnFailure != FailMemory:
		return nil, fmt.Errorf("make limiter %q: failure mode %q is not open, closed or memory: %w", o.Name, o.OnFailure, ErrConfig)
	case o.OnFailure == FailMemory && o.Fallback == nil:
		return nil, fmt.Errorf("make limiter %q: failure mode memory needs a fallback store: %w", o.Name, ErrConfig)
	case o.ProbeInterval < 0:
		return nil, fmt.Errorf("make limiter %q: probe interval %s: %w", o.Name, o.ProbeInterval, ErrConfig)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ProbeInterval == 0 {
		o.ProbeInterval = DefaultProbeInterval
	}
	logger := o.Logger.With(slog.String("limiter", o.Name))
	l := &Limiter{store: o.Store, fallback: o.Fallback, mode: o.OnFailure, retry: o.ProbeInterval}
	l.clock.open(o.Clock, logger)
	l.health.open(o, logger)
	l.timing.open(o.Store)
	return l, nil
}

// Check asks whether the action may proceed. The error is misuse only: a negative cost, no policy, a policy or key that
// cannot work. An error of the store has become a decision of the failure mode, which Decision.Degraded names; it is
// counted and shown by [Limiter.Health].
func (l *Limiter) Check(ctx context.Context, r Request) (Decision, error) {
	d, settled, err := Settle(r.Policy, r.Cost)
	if err != nil {
		return Decision{}, err
	}
	if !settled {
		if d, err = l.ask(ctx, &r); err != nil {
			return Decision{}, err
		}
	}
	l.tallies.count(&r, &d)
	return d, nil
}

// ask puts the check to the store, and to the failure mode if the store does not decide.
func (l *Limiter) ask(ctx context.Context, r *Request) (Decision, error) {
	if r.Now.IsZero() {
		r.Now = l.clock.now()
	}
	began := l.timing.begin()
	d, err := l.store.Take(ctx, *r)
	l.timing.end(began)
	if err == nil {
		if l.health.failing.Load() {
			l.health.succeeded(l.clock.read())
		}
		return d, nil
	}
	if invalid := r.Validate(); invalid != nil {
		return Decision{}, invalid
	}
	l.health.failed(l.clock.read(), err)
	return l.degrade(ctx, r), nil
}

// degrade decides without the store.
func (l *Limiter) degrade(ctx context.Context, r *Request) Decision {
	if l.mode == FailMemory {
		if d, err := l.fallback.Take(ctx, *r); err == nil {
			d.Degraded = Memory
			return d
		}
	}
	return l.standIn(r)
}

// standIn is the decision of the failure mode without any store.
func (l *Limiter) standIn(r *Request) Decision {
	capacity := r.Policy.Capacity()
	if l.mode == FailClosed {
		return Decision{Limit: capacity, RetryAfter: l.retry, Degraded: Closed, Policy: r.Policy}
	}
	return Decision{Allowed: true, Limit: capacity, Remaining: capacity, Degraded: Open, Policy: r.Policy}
}

// Release gives back the place that a check took, to the store that gave it (rule RL41): the caller hands in the request
// and its decision. A check that was denied, or decided without a store, took none. The error is the store's.
func (l *Limiter) Release(ctx context.Context, r Request, d Decision) error {
	if s := l.holder(&d); s != nil {
		if err := s.Release(ctx, r.Key, r.Policy, r.Lease); err != nil {
			return fmt.Errorf("release lease: %w", err)
		}
	}
	return nil
}

// Renew makes the lease of a check live one window from now, in the store that gave it; the caller hands in the request
// and its decision. It returns false if the lease lapsed. A check that was decided without a store has nothing to lose:
// true. The error is the store's.
func (l *Limiter) Renew(ctx context.Context, r Request, d Decision) (bool, error) {
	s := l.holder(&d)
	if s == nil {
		return d.Allowed, nil
	}
	renewed, err := s.Renew(ctx, r.Key, r.Policy, r.Lease)
	if err != nil {
		return false, fmt.Errorf("renew lease: %w", err)
	}
	return renewed, nil
}

// holder returns the store that holds the place of a decision, or nil.
func (l *Limiter) holder(d *Decision) Store {
	switch {
	case !d.Allowed || d.Skipped:
		return nil
	case d.Degraded == None:
		return l.store
	case d.Degraded == Memory:
		return l.fallback
	default:
		return nil
	}
}

// Serves returns an error that wraps ErrConfig if the policy is wrong or one of the limiter's stores refuses its checks.
func (l *Limiter) Serves(p *Policy) error {
	if err := Serves(l.store, p); err != nil || l.fallback == nil {
		return err
	}
	return Serves(l.fallback, p)
}

// Mode is what the limiter decides while its store fails.
func (l *Limiter) Mode() Mode { return l.mode }

// Now returns the instant at which the limiter judges a check without one: its clock, without small steps back (rule
// RL15). A caller that needs the instant of a decision reads it here and gives it with the request.
func (l *Limiter) Now() time.Time { return l.clock.now() }

// Reset forgets the state of the key under the policy, in the fallback too. The error is the store's.
func (l *Limiter) Reset(ctx context.Context, k Key, p *Policy) error {
	var fallen error
	if l.fallback != nil {
		fallen = l.fallback.Reset(ctx, k, p)
	}
	if err := errors.Join(l.store.Reset(ctx, k, p), fallen); err != nil {
		return fmt.Errorf("reset %s in %s: %w", KeyIdentifier(k.Identifier), k.Namespace, err)
	}
	return nil
}

// Health says whether the store decides, and since when it does not. It asks a store that knows by itself
// ([Availability]), so that a failure is seen and its end is noticed without a check.
func (l *Limiter) Health() Health {
	return l.health.report(l.clock.read(), l.store)
}

// Counts returns the checks so far by their outcome.
func (l *Limiter) Counts() Counts {
	var all PolicyCounts
	for _, counts := range l.tallies.read() {
		all.Add(counts)
	}
	return Counts{
		Allowed: all.Allowed, Denied: all.Denied, Skipped: all.Skipped, DryDenied: all.DryDenied,
		Degraded: l.health.reasons(), ClockJumps: l.clock.jumps.Load(),
	}
}

// maxStepBack is the largest step back of the clock that is smoothed over (rule RL15).
const maxStepBack = 5 * time.Second

// steadyClock reads a clock that may be set back. A step back of at most maxStepBack repeats the newest instant; a
// larger one is followed at once, counted, and logged the first time.
type steadyClock struct {
	read   func() time.Time
	newest atomic.Int64
	jumps  atomic.Int64
	logger *slog.Logger
}

func (c *steadyClock) open(clock func() time.Time, logger *slog.Logger) {
	c.read, c.logger = clock, logger
	c.newest.Store(ticks(clock()))
}

func (c *steadyClock) now() time.Time {
	read := c.read()
	at := ticks(read)
	newest := c.newest.Load()
	switch {
	case at >= newest:
		c.newest.CompareAndSwap(newest, at)
		return read
	case newest-at <= int64(maxStepBack/time.Microsecond):
		return time.UnixMicro(newest)
	}
	if c.newest.CompareAndSwap(newest, at) && c.jumps.Add(1) == 1 {
		c.logger.Warn("the clock was set back", slog.Duration("by", duration(newest-at)))
	}
	return read
}
