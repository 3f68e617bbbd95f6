package memstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/mockbase/mockbase/ratelimit"
)

// fewRequests is the number of requests that TakeAll judges without an allocation.
const fewRequests = 8

// TakeInOrder judges the requests in order and stops after the first denial (rule RL14).
func (s *Store) TakeInOrder(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	if len(decisions) < len(requests) {
		return 0, fmt.Errorf("take in order: %d requests and %d decisions: %w", len(requests), len(decisions), ratelimit.ErrConfig)
	}
	for i := range requests {
		d, err := s.Take(ctx, requests[i])
		if err != nil {
			return i, err
		}
		decisions[i] = d
		if !d.Allowed {
			return i + 1, nil
		}
	}
	return len(requests), nil
}

// TakeAll judges every request and counts them only if all are allowed (rule RL143). It holds the locks of all their
// shards, so that nobody sees a part of it.
func (s *Store) TakeAll(_ context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	var room [fewRequests]charge
	charges, err := s.charges(room[:0], requests, decisions)
	if err != nil {
		return err
	}
	var locks [fewRequests]uint64
	held := s.lock(charges, locks[:0])
	defer s.unlock(held)
	all := true
	for i := range charges {
		c := &charges[i]
		if !c.settled {
			s.shardOf(c.hash).look(c.hash, &c.key, &c.request, &decisions[i])
		}
		all = all && decisions[i].Allowed
	}
	for i := range charges {
		c := &charges[i]
		if all && !c.settled && c.request.Cost > 0 {
			if err := s.shardOf(c.hash).judge(c.hash, &c.key, &c.request, c.now, &decisions[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// charge is one request of several and the place of its counter.
type charge struct {
	request ratelimit.Request
	key     key
	hash    uint64
	now     moment
	// settled says that its decision needs no counter.
	settled bool
}

// charges refuses requests that cannot be judged together, before any is, and fills in the decisions that need no state.
func (s *Store) charges(charges []charge, requests []ratelimit.Request, decisions []ratelimit.Decision) ([]charge, error) {
	if err := ratelimit.Together(requests, decisions); err != nil {
		return nil, err
	}
	now := s.clock() // One instant for all that give none.
	for i := range requests {
		c := charge{request: requests[i]}
		if c.request.Now.IsZero() {
			c.request.Now = now
		}
		decisions[i], c.settled, _ = ratelimit.Settle(c.request.Policy, c.request.Cost) // Together has ruled out the error.
		if !c.settled {
			c.now = s.moment(&c.request.Now)
			c.key = keyOf(&c.request.Key, c.request.Policy)
			c.hash = s.hash(&c.key)
		}
		charges = append(charges, c)
	}
	return charges, nil
}

// lock takes the locks of the shards in their order, each once, and returns which.
func (s *Store) lock(charges []charge, held []uint64) []uint64 {
	for i := range charges {
		if !charges[i].settled {
			held = append(held, s.indexOf(charges[i].hash))
		}
	}
	slices.Sort(held)
	held = slices.Compact(held)
	for _, i := range held {
		s.shards[i].mu.Lock()
	}
	return held
}

func (s *Store) unlock(held []uint64) {
	for _, i := range held {
		s.shards[i].mu.Unlock()
	}
}
