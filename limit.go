package mockbase

import "time"

// RateLimit is the simulated limit of a mock: none, or one or several limits of which the strictest decides (rule X8).
type RateLimit struct {
	// None is the text "none": it switches the project's default off.
	None   bool
	Limits []Limit
	// List tells that the author wrote a list, for the pointers of errors.
	List bool
}

// Limit is one simulated limit: a policy of its own, or a reference to a named one.
type Limit struct {
	// Use names a policy of the project; Policy is nil then.
	Use string
	// Cost is the number of units a request takes; nil is 1. CostTemplate is set instead for a templated one.
	Cost         *int64
	CostTemplate string
	Policy       *LimitPolicy
}

// NamedLimit is a policy of the project that mocks use by name.
type NamedLimit struct {
	Name   string
	Policy LimitPolicy
}

// LimitPolicy is the placement and the numbers of a simulated limit (mock format, section 6, rateLimit policy). A nil
// member is not stated, nor is an empty RetryAfter; other members hold the format's default when their author said
// nothing. Align is empty for every algorithm but fixed_window.
type LimitPolicy struct {
	Algorithm    string
	Limit        int64
	Window       time.Duration
	Burst        *int64
	Align        string
	Keys         []string
	Cost         *int64
	CostTemplate string
	Mode         string
	Bucket       string
	// Headers are dialects; HeaderNames is set instead for names of the author's own.
	Headers     []string
	HeaderNames *LimitHeaderNames
	Reset       string
	RetryAfter  string
	HideLimited bool
	WarnAt      *float64
	InitialUsed int64
	AfterAuth   bool
	OnExceed    *OnExceed
	Ban         *LimitBan
	// Unread tells that a member could not be read, so that nothing is to be made of how the others go together.
	Unread bool
}

// LimitHeaderNames are an author's own header names; "" leaves a header out.
type LimitHeaderNames struct {
	Limit, Remaining, Reset string
}

// OnExceed is what a limited request is answered.
type OnExceed struct {
	Action   string
	MaxDelay time.Duration
	Response *PlainResponse
}

// LimitBan bars a key for a time after a number of rejections (rule X11).
type LimitBan struct {
	After       int
	Within, For time.Duration
}
