package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mockbase/mockbase/ratelimit"
)

// maxLogCost is how many units of a sliding log one check may ask for: each is a member of a sorted set (rule RL34).
const maxLogCost = 1000

// validate refuses what Redis cannot judge.
func validate(r *ratelimit.Request) error {
	if r.Policy.Algorithm == ratelimit.SlidingLog && r.Cost > maxLogCost {
		return fmt.Errorf("check %q: cost %d: a sliding log in Redis takes up to %d a check: %w",
			r.Policy.Name, r.Cost, maxLogCost, ratelimit.ErrConfig)
	}
	return r.Validate() //nolint:wrapcheck // Validate says what is wrong.
}

// Release gives back the place that a lease holds, in one round trip (rule RL40). Other policies hold no leases.
func (s *Store) Release(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) error {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease}
	_, err := s.manage(ctx, s.space(), &r, s.target.scripts.release)
	return err
}

// Renew makes a lease live one window from now, by the server's clock, in one round trip (rule RL40).
func (s *Store) Renew(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string) (bool, error) {
	return s.RenewAt(ctx, k, p, lease, time.Time{})
}

// RenewAt is Renew at an instant.
func (s *Store) RenewAt(ctx context.Context, k ratelimit.Key, p *ratelimit.Policy, lease string, now time.Time) (bool, error) {
	r := ratelimit.Request{Key: k, Policy: p, Lease: lease, Now: now}
	return s.manage(ctx, s.space(), &r, s.target.scripts.renew)
}

// manage runs a script about a lease, and says whether it did anything.
func (s *Store) manage(ctx context.Context, in space, r *ratelimit.Request, script *redis.Script) (bool, error) {
	if _, _, err := ratelimit.Settle(r.Policy, 0); err != nil {
		return false, err //nolint:wrapcheck // Settle says what is wrong.
	}
	if err := r.Key.Validate(); err != nil {
		return false, err //nolint:wrapcheck // Validate says what is wrong.
	}
	if r.Policy.Algorithm != ratelimit.Concurrency || r.Policy.Limit == 0 {
		return false, nil
	}
	law, _ := s.target.scripts.law(r.Policy)
	q := question{key: s.key(in, r.Key, r.Policy, r.Now), script: script, args: appendArgs(nil, in, law, r)}
	numbers, err := s.put(ctx, &q)
	return err == nil && numbers[0] == 1, err
}

// put puts the question of a script to Redis and returns the numbers of the answer.
func (s *Store) put(ctx context.Context, q *question) ([]int64, error) {
	deadline := time.Now().Add(s.target.budget)
	p, err := s.admit(ctx, q.key, deadline)
	if err != nil {
		return nil, err
	}
	ride := s.rides.Get().(*ride) //nolint:errcheck,forcetypeassert // The pool holds nothing else.
	ride.pass, ride.question, ride.deadline = p, *q, deadline
	defer s.rest(ride)
	if err := s.travel(ctx, ride); err != nil {
		return nil, err
	}
	return ride.numbers, nil
}
