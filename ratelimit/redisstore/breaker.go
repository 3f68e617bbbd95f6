package redisstore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// breakAfter failures in a row open the breaker.
	breakAfter = 5
	// breakOf is the smallest number of checks within breakSpan of which half must fail to open it.
	breakOf    = 20
	breakSpan  = time.Second
	breakSlots = 10
	slotSpan   = breakSpan / breakSlots
)

// breaker stands between the checks and one Redis server (rule RL51). It opens by itself, and closes when it is told
// that a probe succeeded. It reads no clock: callers pass the time.
//
// Outcomes belong to the epoch in which their check was admitted. Checks that were on their way while the breaker opened
// and closed again say nothing about the server that the probe has met since.
type breaker struct {
	// epoch is odd while the breaker is open.
	epoch atomic.Uint64

	// refused is what checks are answered while it is open.
	refused atomic.Pointer[Error]

	// heard is when the server decided a check last, in nanoseconds since the epoch; 0 is never.
	heard atomic.Int64

	mu     sync.Mutex
	row    int
	slots  [breakSlots]slot
	since  time.Time
	reason *Error
}

// slot counts the outcomes of a tenth of a second.
type slot struct {
	tenth          int64
	checks, failed int
}

// admit returns the epoch to report the outcome with, or false while the breaker is open.
func (b *breaker) admit() (epoch uint64, ok bool) {
	epoch = b.epoch.Load()
	return epoch, epoch&1 == 0
}

// isOpen says whether checks are refused.
func (b *breaker) isOpen() bool { return b.epoch.Load()&1 == 1 }

// succeed counts checks that Redis decided.
func (b *breaker) succeed(epoch uint64, checks int, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if epoch != b.epoch.Load() {
		return
	}
	b.row = 0
	b.slot(now).checks += checks
	b.heard.Store(now.UnixNano())
}

// alive says whether the server decided a check within a span before now.
func (b *breaker) alive(now time.Time, span time.Duration) bool {
	return now.UnixNano()-b.heard.Load() <= int64(span)
}

// fail counts a check that Redis did not decide, and reports whether this one opened the breaker.
func (b *breaker) fail(epoch uint64, now time.Time, reason *Error) (opened bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if epoch != b.epoch.Load() {
		return false
	}
	b.row++
	s := b.slot(now)
	s.checks++
	s.failed++
	if b.row < breakAfter && !b.halfFailed(s.tenth) {
		return false
	}
	b.openAt(now, reason)
	return true
}

// open opens the breaker without a check having failed. An open one stays as it is.
func (b *breaker) open(now time.Time, reason *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpen() {
		b.openAt(now, reason)
	}
}

// close starts afresh, if the breaker is open.
func (b *breaker) close(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOpen() {
		b.row, b.slots, b.since = 0, [breakSlots]slot{}, now
		b.epoch.Add(1)
	}
}

// state returns since when the breaker is as it is, and the failure that opened it last.
func (b *breaker) state() (since time.Time, reason *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.since, b.reason
}

// blame replaces the reason for which the breaker is open, if it is.
func (b *breaker) blame(reason *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOpen() {
		b.because(reason)
	}
}

// refusal returns the error of a check that was not admitted.
func (b *breaker) refusal() error { return b.refused.Load() }

func (b *breaker) openAt(now time.Time, reason *Error) {
	b.since = now
	b.because(reason)
	b.epoch.Add(1)
}

func (b *breaker) because(reason *Error) {
	b.reason = reason
	refused := *reason
	if refused.class != ClassClosed {
		refused.class = ClassBreaker
		refused.cause = fmt.Errorf("not asked, because it failed before: %w", reason.cause)
	}
	b.refused.Store(&refused)
}

// slot returns the slot of this tenth of a second, emptied if it was last used a round ago.
func (b *breaker) slot(now time.Time) *slot {
	tenth := now.UnixNano() / int64(slotSpan)
	s := &b.slots[tenth%breakSlots]
	if s.tenth != tenth {
		*s = slot{tenth: tenth}
	}
	return s
}

// halfFailed says whether at least half of at least breakOf checks failed within the second that ends with this tenth.
func (b *breaker) halfFailed(tenth int64) bool {
	checks, failed := 0, 0
	for _, s := range b.slots {
		if tenth-s.tenth < breakSlots {
			checks += s.checks
			failed += s.failed
		}
	}
	return checks >= breakOf && 2*failed >= checks
}
