package ratelimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Never is the wait of a check that no wait can help: it costs more than its policy can ever hold (rule RL7).
const Never time.Duration = -1

// The errors of checks and stores (rule RL11). A store's error wraps one of them and its cause.
var (
	// ErrCost is a negative cost.
	ErrCost = errors.New("cost is negative")
	// ErrUnavailable says that the store cannot be reached.
	ErrUnavailable = errors.New("limiter store is unavailable")
	// ErrStoreFull says that the store is up and takes no more.
	ErrStoreFull = errors.New("limiter store is full")
	// ErrStoreData is a foreign value under one of our keys.
	ErrStoreData = errors.New("limiter store holds a foreign value")
	// ErrConfig is a policy, key or option that cannot work.
	ErrConfig = errors.New("limiter configuration is wrong")
)

// Key names one counter: who, within what. Namespaces never share a counter.
type Key struct {
	// Namespace matches [a-z0-9_-]{1,64}; it is the name of the policy or of the place it guards.
	Namespace string
	// Identifier is any text, such as a client address; see [KeyIdentifier].
	Identifier string
}

// Request is one question to one policy for one key.
type Request struct {
	Key    Key
	Policy *Policy
	// Cost is the number of units asked for. 0 is a peek, which changes nothing (rule RL6).
	Cost int64
	// Now is the instant of the check; the zero time is the store's clock.
	Now time.Time
	// Lease names the holder of a place of a Concurrency policy. Other policies do not look at it.
	Lease string
	// DryRun says that a denial has no effect: the limiter counts it apart. Stores do not look at it.
	DryRun bool
}

// Validate returns an error that wraps ErrConfig if no store can judge the request: the namespace is impossible, or a
// place is asked for without a lease.
func (r *Request) Validate() error {
	if err := r.Key.Validate(); err != nil {
		return err
	}
	if r.Lease == "" && r.Cost > 0 && r.Policy != nil && r.Policy.Algorithm == Concurrency {
		return fmt.Errorf("check %q: a place needs a lease: %w", r.Policy.Name, ErrConfig)
	}
	return nil
}

// Degradation says how a check was decided without its store.
type Degradation uint8

// None is a decision of the store itself; the others name the failure mode that decided.
const (
	None Degradation = iota
	Open
	Closed
	Memory
)

// String returns "none", "open", "closed" or "memory".
func (d Degradation) String() string {
	switch d {
	case Open:
		return "open"
	case Closed:
		return "closed"
	case Memory:
		return "memory"
	default:
		return "none"
	}
}

// MarshalText writes the name of the degradation.
func (d Degradation) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the name of a degradation.
func (d *Degradation) UnmarshalText(text []byte) error {
	for _, known := range [...]Degradation{None, Open, Closed, Memory} {
		if string(text) == known.String() {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("read degradation %q: want none, open, closed or memory", text)
}

// Decision is the answer to a check.
type Decision struct {
	// Allowed says that the action may proceed.
	Allowed bool
	// Skipped says that the policy has no limit, so that nothing was counted (rule RL3).
	Skipped bool
	// Limit is the largest Remaining: the policy's limit, or the burst of a meter.
	Limit int64
	// Remaining is what is left after the check, between 0 and Limit (rule RL8).
	Remaining int64
	// Reset is the smallest wait until Remaining equals Limit; 0 when it does.
	Reset time.Duration
	// RetryAfter is the smallest wait after which the same check is allowed if nothing else happens: 0 when it was
	// allowed, Never when no wait helps.
	RetryAfter time.Duration
	// Next is the wait until Remaining grows by one; 0 when it is full.
	Next     time.Duration
	Degraded Degradation
	Policy   *Policy
}

// decisionDocument is the one JSON form of a decision (rule RL13).
type decisionDocument struct {
	Allowed      bool        `json:"allowed"`
	Skipped      bool        `json:"skipped"`
	Limit        int64       `json:"limit"`
	Remaining    int64       `json:"remaining"`
	ResetMs      int64       `json:"resetMs"`
	RetryAfterMs int64       `json:"retryAfterMs"`
	NextMs       int64       `json:"nextMs"`
	Degraded     Degradation `json:"degraded"`
	Policy       string      `json:"policy"`
}

// MarshalJSON writes the decision in its one JSON form: camelCase, waits in milliseconds rounded up (-1 is Never), the
// policy by its name, zero values kept (rule RL13).
func (d Decision) MarshalJSON() ([]byte, error) {
	document := decisionDocument{
		Allowed: d.Allowed, Skipped: d.Skipped, Limit: d.Limit, Remaining: d.Remaining,
		ResetMs: wholeMilliseconds(d.Reset), RetryAfterMs: wholeMilliseconds(d.RetryAfter), NextMs: wholeMilliseconds(d.Next),
		Degraded: d.Degraded,
	}
	if d.Policy != nil {
		document.Policy = d.Policy.Name
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write decision: %w", err)
	}
	return text, nil
}

// wholeMilliseconds rounds a wait up and keeps Never.
func wholeMilliseconds(wait time.Duration) int64 {
	if wait < 0 {
		return -1
	}
	return roundUp(wait, time.Millisecond)
}

// RetryAfterSeconds returns a wait as the Retry-After header tells it: whole seconds, rounded up, at least 1 (rule
// RL116). It returns false where the field is absent: nothing to wait for, or no wait helps.
func RetryAfterSeconds(wait time.Duration) (seconds int64, ok bool) {
	if wait <= 0 {
		return 0, false
	}
	return roundUp(wait, time.Second), true
}

func roundUp(wait, unit time.Duration) int64 {
	whole := int64(wait / unit)
	if wait%unit > 0 {
		whole++
	}
	return whole
}

// RuleError is a rule string that cannot be read (rule RL20). It wraps [ErrConfig].
type RuleError struct {
	Input string
	// Offset is the place of the fault in bytes.
	Offset int
	// Reason says what was wanted there.
	Reason string
}

// Error names the place and what was wanted there.
func (e *RuleError) Error() string {
	return "offset " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// Unwrap returns ErrConfig.
func (*RuleError) Unwrap() error { return ErrConfig }
