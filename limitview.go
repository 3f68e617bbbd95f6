package mockbase

import "time"

// LimitScope says where a simulated limit is stated.
type LimitScope string

// The scopes: a named policy of the project, and a limit inside a mock or a collection.
const (
	LimitOfPolicy LimitScope = "policy"
	LimitOfMock   LimitScope = "mock"
)

// LimitView is a simulated limit as the management API shows it (M-205). Its name is that of the policy, or mock:{name},
// mock:{name}:2 and so on for the limits inside a mock; collections have collection:{name} in the same way.
type LimitView struct {
	Name  string
	Scope LimitScope
	// Mock is the name of the mock or collection; "" for a policy.
	Mock   string
	Policy *LimitPolicy
	// Bucket is the name that clients are told.
	Bucket string
	Use    LimitUse
	// Store names where the counts are, Degraded tells that process memory stands in for it (rule X12).
	Store    string
	Degraded bool
}

// LimitUse says how much a bucket was used in a session, over the last 24 hours of the wall clock.
type LimitUse struct {
	// PeakPercent is the largest share of its limit that any key had used.
	PeakPercent                           float64
	Allowed, Limited, WouldLimit, Delayed int64
	// LastHitAt is when a request met the limit last; the zero time is never.
	LastHitAt time.Time
}

// LimitTimeline is the use of a bucket over time (M-209), oldest point first.
type LimitTimeline struct {
	Step   time.Duration
	Points []LimitPoint
}

// LimitPoint is the use within one step from an instant on.
type LimitPoint struct {
	At                                    time.Time
	Allowed, Limited, WouldLimit, Delayed int64
}

// LimitKey is one key of a bucket (M-210).
type LimitKey struct {
	// ID names the key in paths, Label is its value for people: secrets are digests.
	ID, Label                              string
	Requests, Limited, WouldLimit, Delayed int64
	// Used and Remaining are those of the moment.
	Used, Remaining int64
	// ResetAt is when the allowance is complete again, by the wall clock; the zero time is now.
	ResetAt                 time.Time
	FirstSeenAt, LastSeenAt time.Time
	// BannedFor is the rest of the key's ban; 0 is none.
	BannedFor time.Duration
	// Decisions are the last ones, the newest first; only where one key is asked for (M-211).
	Decisions []LimitDecision
}

// LimitDecision is one decision about a key.
type LimitDecision struct {
	// At is the wall clock's time.
	At time.Time
	// Cost is what the request asked for.
	Cost                         int64
	Allowed, WouldLimit, Delayed bool
	Banned                       bool
	Remaining                    int64
	// RetryAfter is -1 where no wait helps.
	RetryAfter time.Duration
}

// LimitTrial are requests to try on a limit without consuming anything (M-214): either Requests, or Count of them at a
// pace of RatePerSecond with one key and cost.
type LimitTrial struct {
	// Policy is tried in place of the limit's own; nil keeps that.
	Policy        *LimitPolicy
	Requests      []LimitTrialRequest
	Count         int
	RatePerSecond float64
	Key           string
	// Cost is nil for the policy's own.
	Cost *int64
}

// MaxLimitTrial is the most requests of a trial.
const MaxLimitTrial = 10_000

// LimitTrialRequest is one of them.
type LimitTrialRequest struct {
	// At is the time since the beginning of the trial, which starts with empty buckets.
	At   time.Duration
	Key  string
	Cost *int64
}

// LimitTrialDecision is what would be decided.
type LimitTrialDecision struct {
	At         time.Duration
	Key        string
	Allowed    bool
	Remaining  int64
	RetryAfter time.Duration
}
