package management

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How failed attempts slow down the next ones for the same account, wherever they come from (rule M-37). One address is
// banned before it gets here; what is left are many addresses that guess together, and the owner among them, who must
// never be locked out.
const (
	// freeFailures are those that slow down nothing, and failureTime is how long a failure counts.
	freeFailures = 5
	failureTime  = 10 * time.Minute
	// firstWait doubles with each further failure up to longestWait.
	firstWait   = 250 * time.Millisecond
	longestWait = 5 * time.Second
	// maxSleepers bounds the attempts that are held back at one time. Each costs a timer. Who comes when so many are goes on
	// at once: a place that others can take would be a lock.
	maxSleepers = 4096
	// maxTurns bounds the attempts for one account whose passwords are checked at one time, so that those who guess at one
	// account leave places in the queue of the hasher to everybody else. The next ones wait for their turn.
	maxTurns = 2
	// maxSlowed bounds the accounts that are remembered.
	maxSlowed = 10_000
)

// slowdown remembers the failures of accounts.
type slowdown struct {
	clock func() time.Time
	sleep func(ctx context.Context, d time.Duration) error

	mu       sync.Mutex
	accounts map[string]*slowed
	// sleepers counts the attempts that are held back.
	sleepers atomic.Int64
}

// slowed is an account with failures.
type slowed struct {
	// failures are the instants of those that count, the oldest first, and not more than slow down anything.
	failures []time.Time
	// turns has a place for each attempt that is checked; pending counts those that wait or are checked.
	turns   chan struct{}
	pending int
}

// mostFailures is the number of failures from which on nothing gets slower.
const mostFailures = freeFailures + 6

func newSlowdown(clock func() time.Time, sleep func(context.Context, time.Duration) error) *slowdown {
	if sleep == nil {
		sleep = wait
	}
	return &slowdown{clock: clock, sleep: sleep, accounts: make(map[string]*slowed)}
}

// wait waits for a time, or for the end of the context, which it returns as an error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // It is the context's own.
	}
}

// await holds an attempt back for as long as the failures of its account ask for, and then until it is its turn. The turn
// lasts until done is called. An attempt is never refused because of others: the only error is that of the context, and
// then there is nothing to end.
func (s *slowdown) await(ctx context.Context, account string) (done func(), err error) {
	known, d := s.enter(account)
	if d > 0 {
		err = s.hold(ctx, d)
	}
	if err == nil {
		select {
		case known.turns <- struct{}{}:
			return func() { <-known.turns; s.leave(account, known) }, nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	s.leave(account, known)
	return nil, err
}

// enter returns what is known of an account, and how long to wait.
func (s *slowdown) enter(account string) (*slowed, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.know(account)
	known.pending++
	return known, known.wait(s.clock())
}

// hold waits, if not too many do.
func (s *slowdown) hold(ctx context.Context, d time.Duration) error {
	if s.sleepers.Add(1) > maxSleepers {
		s.sleepers.Add(-1)
		return nil
	}
	defer s.sleepers.Add(-1)
	return s.sleep(ctx, d)
}

// leave ends an attempt. An account without failures is not worth remembering then.
func (s *slowdown) leave(account string, known *slowed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known.pending--
	if known.pending == 0 && len(known.failures) == 0 {
		delete(s.accounts, account)
	}
}

// know returns what is remembered of an account, which may be nothing yet. The lock is held.
func (s *slowdown) know(account string) *slowed {
	known := s.accounts[account]
	if known == nil {
		s.makeRoom()
		known = &slowed{turns: make(chan struct{}, maxTurns)}
		s.accounts[account] = known
	}
	return known
}

// failed counts a failure.
func (s *slowdown) failed(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := s.clock(), s.know(account)
	if len(known.failures) == mostFailures {
		known.failures = append(known.failures[:0], known.failures[1:]...)
	}
	known.failures = append(known.failures, now)
}

// makeRoom forgets one of a few accounts that nobody waits for: the one whose last failure is the longest ago.
func (s *slowdown) makeRoom() {
	if len(s.accounts) < maxSlowed {
		return
	}
	const looks = 16
	var oldest string
	var at time.Time
	n := 0
	for account, known := range s.accounts { // The order is another one each time.
		if n++; n > looks && oldest != "" {
			break
		}
		if known.pending > 0 || len(known.failures) == 0 {
			continue
		}
		if last := known.failures[len(known.failures)-1]; oldest == "" || last.Before(at) {
			oldest, at = account, last
		}
	}
	delete(s.accounts, oldest)
}

// wait returns how long the next attempt waits.
func (s *slowed) wait(now time.Time) time.Duration {
	counted := 0
	for _, at := range s.failures {
		if now.Sub(at) < failureTime {
			counted++
		}
	}
	if counted <= freeFailures {
		return 0
	}
	return min(firstWait<<(counted-freeFailures-1), longestWait)
}
