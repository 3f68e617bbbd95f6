package ratelimit

import (
	"net/netip"
	"time"
)

// MaxCost bounds the cost of one request, whatever a rule, a template or a handler says (rule RL91).
const MaxCost int64 = 1_000_000

// Attempt is a request as a guard judges it, without the protocol that it came by (rule RL85). Whoever received the
// request fills it; a guard completes Now and Cost and keeps nothing of it.
type Attempt struct {
	// Address is the client's. The zero address is a client without one, such as a unix socket.
	Address netip.Addr
	// Identifier is what the client's address counts as (rule RL75), and the key part "ip".
	Identifier string
	// Place is the part of the server that the request came to, such as one of its planes, for rules that are not about
	// all of it; it is empty where nobody tells them apart.
	Place  string
	Method string
	// Path is the path of the request as its handler finds it, decoded and without dot segments, Pattern the route that
	// serves it, empty where none is known.
	Path, Pattern string
	// Alias is another path that a handler may take Path for, such as one without empty segments; it is empty for none. A
	// blocklist looks at both, and what spares a request must be true of both.
	Alias string
	// IgnoreCase says that the handler compares paths without regard to letter case, so that rules do too.
	IgnoreCase bool
	// Authenticated says that this server verified who is asking; a header alone proves nothing (rule RL104).
	Authenticated bool
	// Cost is the number of units asked for; 0 is 1.
	Cost int64
	// Size is the announced length of the body in bytes; negative is unknown.
	Size int64
	// Now is the instant of the request; the zero time is the guard's clock.
	Now time.Time
	// Parts gives what else is known of the request, on demand; nil knows nothing.
	Parts Parts
}

// Parts are the parts of a request that only some rules look at.
type Parts interface {
	// Part returns the value of a part of a key, such as "user", "token" or "header:X-Tenant", as it may stand in a
	// key: secrets are digests (rule RL81). It returns false where the request has no such part (rule RL79).
	Part(name string) (value string, ok bool)
	// Header returns the first value of a header field as it was sent, and the empty text where there is none.
	Header(name string) string
}

// Layer is a part of a guard. Layers are asked in a fixed order (rule RL86).
type Layer string

// The layers in their order, and LayerTrack for the rules that only count.
const (
	LayerExcluded  Layer = "excluded"
	LayerSafelist  Layer = "safelist"
	LayerBlocklist Layer = "blocklist"
	LayerBans      Layer = "bans"
	LayerTiers     Layer = "tiers"
	LayerCircuit   Layer = "circuit"
	LayerTrack     Layer = "track"
)

// The statuses that refusals of a guard may have, besides 429: HTTP numbers in a package that does not speak HTTP.
const (
	StatusForbidden   = 403
	StatusCalm        = 420
	StatusTooMany     = 429
	StatusUnavailable = 503
)

// Verdict is the answer of a guard to an attempt.
type Verdict struct {
	// Allowed says that the request may go to its handler.
	Allowed bool
	// Layer and Rule name what ended the walk over the layers: a refusal, or an exclusion or safelist that passed the
	// request. They are empty when every layer let it through.
	Layer Layer
	Rule  string
	// Reason is the reason that a list entry or ban states, for people; it may be empty.
	Reason string
	// Status is the HTTP status of a refusal; 0 when allowed.
	Status int
	// Code is the stable code of a refusal where the rule states one, such as "login-banned".
	Code string
	// RetryAfter is the wait that a refusal tells; 0 and Never tell none.
	RetryAfter time.Duration
	// Decision is the one to report: that of the tier that denied, or of the tier with the least share left (rule
	// RL90). It has no policy where no tier has anything to report.
	Decision Decision
	// Hidden says that the numbers of Decision are not for the client.
	Hidden bool
	// WouldLimit names the rules in dry run that would have refused, as layer/rule joined with commas (rule RL92).
	WouldLimit string
	// State is the guard's own. It comes back with the outcome.
	State any
}

// Report is what a handler said of a request (rule RL94). It wins over the status.
type Report uint8

// ReportNone leaves it to the status.
const (
	ReportNone Report = iota
	ReportFailure
	ReportSuccess
)

// Outcome is what became of an allowed request.
type Outcome struct {
	// Status is the HTTP status of the answer; 0 is an answer that never began.
	Status int
	Report Report
	// Cost is what the request turned out to cost. What exceeds the cost of the attempt is charged (rule RL91).
	Cost int64
}
