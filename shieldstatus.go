package mockbase

import (
	"net/netip"
	"time"
)

// ShieldStatus is how the shield is (rule M-75).
type ShieldStatus struct {
	Store    ShieldStore
	Policies []ShieldPolicyStatus
	Client   ShieldClient
	// TopDenied are the keys that were refused most, those with the largest counts first (rule RL129).
	TopDenied []ShieldDenied
}

// ShieldDenied is a key that a rule refused often.
type ShieldDenied struct {
	Rule string `json:"rule"`
	// Key is a digest, since the key may be somebody's address.
	Key string `json:"key"`
	// Count is how often it was refused, at most; Error is how much of that may be of other keys.
	Count int64 `json:"count"`
	Error int64 `json:"error"`
}

// ShieldStoreState says whether the store of the shield decides.
type ShieldStoreState string

// A degraded store fails now and then or is not tried; one whose breaker is open is not asked at all.
const (
	ShieldStoreOK          ShieldStoreState = "ok"
	ShieldStoreDegraded    ShieldStoreState = "degraded"
	ShieldStoreBreakerOpen ShieldStoreState = "breaker-open"
)

// ShieldStore is how the store of the shield is.
type ShieldStore struct {
	// Backend is memory or redis.
	Backend string
	State   ShieldStoreState
	// Since is the beginning of the state, LastError the newest failure, which stays when it is over.
	Since     time.Time
	LastError string
	// P50 and P99 are percentiles of the time that the store takes for a check; 0 before one was timed.
	P50, P99 time.Duration
	// FailedOpen are the requests that passed because the store failed, ever since the start; FailingOpenSince is the
	// beginning of the present failure, the zero time if there is none. Fallback are those that were counted in memory.
	FailedOpen       int64
	FailingOpenSince time.Time
	Fallback         int64
	// Keys and Evictions are those of this process's memory.
	Keys, Evictions int64
}

// ShieldPolicyStatus counts what a policy decided since the start.
type ShieldPolicyStatus struct {
	Name       string `json:"name"`
	Allowed    int64  `json:"allowed"`
	Limited    int64  `json:"limited"`
	WouldLimit int64  `json:"wouldLimit"`
	FailedOpen int64  `json:"failedOpen"`
}

// ShieldClient is the client of the request that asks, as the shield finds it.
type ShieldClient struct {
	IP, Peer netip.Addr
	// HeadersSeen are the forwarding headers of the request; Trusted says that the peer is believed.
	HeadersSeen []string
	Trusted     bool
	// Hint tells of a proxy that should be trusted; it may be empty.
	Hint string
}

// ShieldProbe is a request that might come.
type ShieldProbe struct {
	// IP is the peer, ForwardedFor what it says in the header of clients, which may be empty.
	IP           netip.Addr
	ForwardedFor string
	// Path is that of the request; "" is that of a mock.
	Path string
}

// ShieldVerdict is what the shield would say to a probe.
type ShieldVerdict struct {
	// Client is whom the shield takes the request for.
	Client string `json:"client"`
	// Allowed says whether the request would pass, DecidedBy which layer says so: excluded, safelist, blocklist, bans,
	// tiers, circuit, or none.
	Allowed   bool   `json:"allowed"`
	DecidedBy string `json:"decidedBy"`
	// Policy and Remaining are those of the limit that is closest to its end, if there is one.
	Policy    string `json:"policy,omitempty"`
	Remaining *int64 `json:"remaining,omitempty"`
}

// ShieldCaller is a client of the server.
type ShieldCaller struct {
	Key      string
	Requests int64
	Limited  int64
	// FirstSeenAt and LastSeenAt enclose what is remembered of the client.
	FirstSeenAt, LastSeenAt time.Time
}
