package redisstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/mockbase/mockbase/ratelimit"
)

// TakeInOrder judges the requests in order and stops after the first denial (rule RL14): on one server in one round trip,
// in a cluster in one for each request that is judged (rule RL62). It is no transaction: an error leaves what was judged
// before it counted.
func (s *Store) TakeInOrder(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	return s.takeInOrder(ctx, s.space(), requests, decisions)
}

// TakeAll judges every request and counts them only if all are allowed, in one round trip (rule RL143). In a cluster more
// than one counter is ErrConfig, unless they are those of a [Tagged] store: a script cannot reach all masters.
func (s *Store) TakeAll(ctx context.Context, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	return s.takeAll(ctx, s.space(), requests, decisions)
}

// several is what one script is asked about several checks.
type several struct {
	question

	// asked are the checks, with instants where the caller's clock decides, and places where their decisions belong.
	asked  []ratelimit.Request
	places []int
	era    int64
}

// add adds a check to those that are asked about.
func (s *Store) add(v *several, in space, r ratelimit.Request, place int) {
	if onClock(r.Policy) && r.Now.IsZero() {
		r.Now = s.clock()
	}
	law, _ := s.target.scripts.law(r.Policy)
	key := s.key(in, r.Key, r.Policy, r.Now)
	if len(v.asked) == 0 {
		v.key = key
	} else {
		v.further = append(v.further, key)
	}
	v.args = appendArgs(v.args, in, law, &r)
	v.asked, v.places = append(v.asked, r), append(v.places, place)
}

// answered fills in the decisions that a script gave, and returns how many they are.
func (v *several) answered(numbers []int64, decisions []ratelimit.Decision) int {
	judged := len(numbers) / perDecision
	for i := range judged {
		decisions[v.places[i]] = decide(&v.asked[i], numbers[perDecision*i:])
	}
	return judged
}

func (s *Store) takeInOrder(ctx context.Context, in space, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	if len(decisions) < len(requests) {
		return 0, fmt.Errorf("take in order: %d requests and %d decisions: %w", len(requests), len(decisions), ratelimit.ErrConfig)
	}
	if s.target.cluster {
		return s.takeOneByOne(ctx, in, requests, decisions, 0)
	}
	v := several{era: s.denials.era()}
	end, err := s.line(&v, in, requests, decisions)
	if len(v.asked) == 0 {
		return end, err
	}
	judged, failed := s.judgeInOrder(ctx, in, &v, decisions)
	if failed != nil {
		return v.places[0], failed
	}
	last := v.places[judged-1]
	if !decisions[last].Allowed {
		denied := &v.asked[judged-1]
		if !denied.Now.IsZero() {
			s.denials.remember(s.key(in, denied.Key, denied.Policy, denied.Now), denied, denied.Now, &decisions[last], v.era)
		}
		return last + 1, nil
	}
	if judged < len(v.asked) {
		// The next one failed; asked alone, it says how.
		return s.takeOneByOne(ctx, in, requests, decisions, v.places[judged])
	}
	return end, err
}

// judgeInOrder has the checks judged by Redis and returns how many were, at least one.
func (s *Store) judgeInOrder(ctx context.Context, in space, v *several, decisions []ratelimit.Decision) (int, error) {
	if len(v.asked) == 1 { // It needs no more than other checks do.
		d, err := s.takeUnder(ctx, in, v.asked[0])
		decisions[v.places[0]] = d
		return 1, err
	}
	v.script, v.each = s.target.scripts.order, perDecision
	numbers, err := s.put(ctx, &v.question)
	if err != nil {
		return 0, err
	}
	return v.answered(numbers, decisions), nil
}

// line collects the checks that Redis must judge, up to the first that is known to be denied or is wrong. It fills in the
// decisions that need no state, and returns how many requests are judged if Redis allows what it is asked, and the error
// of the one after these.
func (s *Store) line(v *several, in space, requests []ratelimit.Request, decisions []ratelimit.Decision) (int, error) {
	for i := range requests {
		r := &requests[i]
		d, settled, err := ratelimit.Settle(r.Policy, r.Cost)
		if err == nil && !settled {
			err = validate(r)
		}
		if err != nil {
			return i, err
		}
		if !settled {
			d, settled = s.known(in, *r)
		}
		if !settled {
			s.add(v, in, *r, i)
			continue
		}
		decisions[i] = d
		if !d.Allowed {
			return i + 1, nil
		}
	}
	return len(requests), nil
}

// known returns the denial of a check that is known without Redis (rule RL61).
func (s *Store) known(in space, r ratelimit.Request) (ratelimit.Decision, bool) {
	if s.denials == nil || s.denials.held.Load() == 0 || s.shards.main.breaker.isOpen() {
		return ratelimit.Decision{}, false
	}
	if r.Now.IsZero() {
		r.Now = s.clock()
	}
	return s.repeat(&s.shards.main, s.key(in, r.Key, r.Policy, r.Now), &r, r.Now)
}

// takeOneByOne judges the requests from one on, each in a round trip of its own.
func (s *Store) takeOneByOne(
	ctx context.Context, in space, requests []ratelimit.Request, decisions []ratelimit.Decision, from int,
) (int, error) {
	for i := from; i < len(requests); i++ {
		d, err := s.takeUnder(ctx, in, requests[i])
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

func (s *Store) takeAll(ctx context.Context, in space, requests []ratelimit.Request, decisions []ratelimit.Decision) error {
	if err := ratelimit.Together(requests, decisions); err != nil {
		return err //nolint:wrapcheck // Together says what is wrong.
	}
	var v several
	all := "1"
	for i := range requests {
		d, settled, _ := ratelimit.Settle(requests[i].Policy, requests[i].Cost) // Together has ruled out the error.
		decisions[i] = d
		switch {
		case !settled:
			if err := validate(&requests[i]); err != nil {
				return err
			}
			s.add(&v, in, requests[i], i)
		case !d.Allowed:
			all = "0"
		}
	}
	if len(v.asked) == 0 {
		return nil
	}
	if s.target.cluster && len(v.asked) > 1 && !strings.Contains(in.prefix, "{") {
		return fmt.Errorf("take all: in a cluster counters are charged together only in a tagged store: %w", ratelimit.ErrConfig)
	}
	v.args = append(v.args, all)
	v.script, v.each = s.target.scripts.together, perDecision*len(v.asked)
	numbers, err := s.put(ctx, &v.question)
	if err != nil {
		return err
	}
	v.answered(numbers, decisions)
	return nil
}
