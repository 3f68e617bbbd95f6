package management

import (
	"context"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
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
	// maxSleepers bounds the attempts that wait at one time, maxSleepersEach those for one account.
	maxSleepers     = 256
	maxSleepersEach = 16
	// maxSlowed bounds the accounts that are remembered.
	maxSlowed = 10_000
)

// slowdown remembers the failures of accounts.
type slowdown struct {
	clock func() time.Time
	sleep func(ctx context.Context, d time.Duration) error

	mu       sync.Mutex
	accounts map[string]*slowed
	sleepers int
}

// slowed is an account with failures.
type slowed struct {
	// failures are the instants of those that count, the oldest first, and not more than slow down anything.
	failures []time.Time
	sleepers int
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

// await holds an attempt back for as long as the failures of its account ask for. It fails with CodeBusy when too many
// wait, and with the context's error.
func (s *slowdown) await(ctx context.Context, account string) error {
	d, err := s.enter(account)
	if err != nil || d == 0 {
		return err
	}
	defer s.leave(account)
	return s.sleep(ctx, d)
}

// enter returns how long to wait, and takes a place among those who do.
func (s *slowdown) enter(account string) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.accounts[account]
	if known == nil {
		return 0, nil
	}
	d := known.wait(s.clock())
	switch {
	case d == 0:
		return 0, nil
	case s.sleepers >= maxSleepers, known.sleepers >= maxSleepersEach:
		return 0, &mockbase.Error{Code: mockbase.CodeBusy, Message: "too many attempts to sign in are waiting", Hint: "try again in a moment"}
	}
	s.sleepers++
	known.sleepers++
	return d, nil
}

func (s *slowdown) leave(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sleepers--
	if known := s.accounts[account]; known != nil {
		known.sleepers--
	}
}

// failed counts a failure.
func (s *slowdown) failed(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock()
	known := s.accounts[account]
	if known == nil {
		s.makeRoom()
		known = &slowed{}
		s.accounts[account] = known
	}
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
		if last := known.failures[len(known.failures)-1]; known.sleepers == 0 && (oldest == "" || last.Before(at)) {
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
