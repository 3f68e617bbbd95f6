package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// settle is how long a store must not have failed before it counts as working again. Without it a store that fails
	// every other check would change health, and write a line, with each of them.
	settle = 250 * time.Millisecond
	// reminder is how often a lasting failure is logged.
	reminder = time.Minute
)

// The reasons for which a store did not decide, unless its error names one of its own with a method ErrorClass() string.
const (
	ReasonUnavailable = "unavailable"
	ReasonTimeout     = "timeout"
	ReasonFull        = "full"
	ReasonData        = "data"
	ReasonConfig      = "config"
	ReasonOther       = "other"
)

// Availability is a store that knows by itself whether it can decide, for example because it probes.
type Availability interface {
	// Available returns nil when the store can decide, and what is wrong when it cannot.
	Available() error
}

// Health is the state of a limiter's store as the limiter sees it.
type Health struct {
	// Name is the limiter's name.
	Name string `json:"name"`
	// Degraded says that checks are decided by Mode.
	Degraded bool `json:"degraded"`
	Mode     Mode `json:"mode"`
	// Since is the beginning of the present state.
	Since time.Time `json:"since"`
	// Reason and LastError describe the newest failure and stay when it is over.
	Reason    string `json:"reason"`
	LastError string `json:"lastError"`
	// Checks is the number of checks decided by Mode since Since; Total is that of all times.
	Checks int64 `json:"checks"`
	Total  int64 `json:"total"`
}

// monitor turns the errors of a store into a state: counted for each check, logged on change and once a minute.
type monitor struct {
	// failing is what a successful check reads: false costs it nothing more.
	failing atomic.Bool

	mu       sync.Mutex
	name     string
	mode     Mode
	logger   *slog.Logger
	hook     func(Health)
	fallback interface{ ResetPrefix(prefix string) int }

	since                    time.Time
	lastFailure, lastSuccess time.Time
	reason                   string
	lastError                error
	checks, total            int64
	// reported and reportedAt are the checks at the newest line and its time.
	reported   int64
	reportedAt time.Time
	byReason   map[string]int64
}

func (m *monitor) open(o Options, logger *slog.Logger) {
	m.name, m.mode, m.logger, m.hook = o.Name, o.OnFailure, logger, o.OnHealth
	m.since = o.Clock()
	m.byReason = make(map[string]int64)
	if emptied, ok := o.Fallback.(interface{ ResetPrefix(prefix string) int }); ok {
		m.fallback = emptied
	}
}

// failed counts a check that the store did not decide. A foreign value under one key says nothing of the store as a
// whole: it is counted, health stays, and the store, which knows the key, is the one to name it.
func (m *monitor) failed(now time.Time, err error) {
	m.mu.Lock()
	reason := reasonOf(err)
	m.total++
	m.byReason[reason]++
	began := false
	if !errors.Is(err, ErrStoreData) {
		began = m.begin(now, reason, err)
		m.checks++
		m.remind(now)
	}
	health := m.current()
	m.mu.Unlock()
	m.tell(began, health)
}

// begin notes a failure and reports whether it is the first of its time.
func (m *monitor) begin(now time.Time, reason string, err error) bool {
	m.lastFailure, m.reason, m.lastError = now, reason, err
	if m.failing.Load() {
		return false
	}
	m.since, m.checks, m.reported, m.reportedAt = now, 0, 0, now
	m.failing.Store(true)
	m.logger.Error("limiter store failed", slog.String("mode", string(m.mode)), slog.String("reason", reason),
		slog.String("error", m.lastError.Error()))
	return true
}

// remind writes the line of a minute.
func (m *monitor) remind(now time.Time) {
	if now.Sub(m.reportedAt) < reminder {
		return
	}
	m.logger.Warn("limiter store still fails", slog.String("mode", string(m.mode)), slog.String("reason", m.reason),
		slog.String("error", m.lastError.Error()), slog.Int64("checks", m.checks-m.reported), slog.Time("since", m.since))
	m.reported, m.reportedAt = m.checks, now
}

// succeeded notes that the store decided while it counted as failing.
func (m *monitor) succeeded(now time.Time) {
	m.mu.Lock()
	m.lastSuccess = now
	ended := m.end(now)
	health := m.current()
	m.mu.Unlock()
	m.tell(ended, health)
}

// end closes a failure that is over and reports whether it did.
func (m *monitor) end(now time.Time) bool {
	quiet := now.Sub(m.lastFailure)
	if !m.failing.Load() || quiet >= 0 && quiet < settle || !m.lastSuccess.After(m.lastFailure) {
		return false
	}
	m.failing.Store(false)
	if m.fallback != nil {
		m.fallback.ResetPrefix("")
	}
	m.logger.Info("limiter store works again", slog.String("mode", string(m.mode)),
		slog.Duration("duration", now.Sub(m.since)), slog.Int64("checks", m.checks))
	m.since, m.checks = now, 0
	return true
}

// report returns the health, after it asked the store itself where that knows.
func (m *monitor) report(now time.Time, store Store) Health {
	asked, err := available(store)
	m.mu.Lock()
	var changed bool
	switch {
	case asked && err != nil:
		changed = m.begin(now, reasonOf(err), err)
		m.remind(now)
	case asked:
		m.lastSuccess = now
		changed = m.end(now)
	default:
		changed = m.end(now)
	}
	health := m.current()
	m.mu.Unlock()
	m.tell(changed, health)
	return health
}

// available asks a store that knows by itself.
func available(store Store) (asked bool, err error) {
	known, ok := store.(Availability)
	if !ok {
		return false, nil
	}
	if err := known.Available(); err != nil {
		return true, fmt.Errorf("ask store: %w", err)
	}
	return true, nil
}

func (m *monitor) current() Health {
	h := Health{
		Name: m.name, Degraded: m.failing.Load(), Mode: m.mode, Since: m.since, Reason: m.reason,
		Checks: m.checks, Total: m.total,
	}
	if m.lastError != nil {
		h.LastError = m.lastError.Error()
	}
	return h
}

// tell calls the hook after a change, outside the lock.
func (m *monitor) tell(changed bool, h Health) { //nolint:revive // It saves each caller the same two lines.
	if changed && m.hook != nil {
		m.hook(h)
	}
}

func (m *monitor) reasons() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.byReason)
}

// reasonOf names the class of a store's error.
func reasonOf(err error) string {
	if own, ok := errors.AsType[interface {
		error
		ErrorClass() string
	}](err); ok {
		return own.ErrorClass()
	}
	for _, class := range []struct {
		err    error
		reason string
	}{
		{ErrStoreFull, ReasonFull},
		{ErrStoreData, ReasonData},
		{ErrConfig, ReasonConfig},
		{context.DeadlineExceeded, ReasonTimeout},
		{ErrUnavailable, ReasonUnavailable},
	} {
		if errors.Is(err, class.err) {
			return class.reason
		}
	}
	return ReasonOther
}
