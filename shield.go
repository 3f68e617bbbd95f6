package mockbase

import (
	"encoding/json"
	"net/netip"
	"time"
)

// Setting is a document that an administrator stored for the whole server.
type Setting struct {
	Name string
	// Version counts the changes from 1.
	Version   int64
	Document  json.RawMessage
	UpdatedAt time.Time
	UpdatedBy string
}

// ShieldSettings are what administrators see and change of the shield while it works (rule M-74).
type ShieldSettings struct {
	Policies []ShieldPolicy `json:"policies"`
	// Safelist and Blocklist hold addresses, networks and paths that begin with a slash (rule RL88).
	Safelist  []string `json:"safelist"`
	Blocklist []string `json:"blocklist"`
	// TrustedProxies are those whose ClientHeader is believed; IPv6Prefix are the bits of one client.
	TrustedProxies []string `json:"trustedProxies"`
	ClientHeader   string   `json:"clientHeader"`
	IPv6Prefix     int      `json:"ipv6Prefix"`
	// ProjectPolicy is a limit for each project's mocks; nil is none.
	ProjectPolicy *ShieldProjectPolicy `json:"projectPolicy,omitempty"`
	// ExposeHeaders puts the limit fields on each answer of a mock.
	ExposeHeaders bool          `json:"exposeHeaders"`
	Circuit       ShieldCircuit `json:"circuit"`
	// Pinned are JSON Pointers to what the configuration states, so that it cannot be changed here.
	Pinned []string `json:"pinned"`
}

// ShieldMode says whether a policy of the shield has an effect.
type ShieldMode string

// A policy in dry run refuses nothing; what it would have refused is counted (rule RL92).
const (
	ShieldEnforce  ShieldMode = "enforce"
	ShieldDryRun   ShieldMode = "dry_run"
	ShieldDisabled ShieldMode = "disabled"
)

// ShieldPolicy is one limit of the shield.
type ShieldPolicy struct {
	// Name is engine, management, login, user, endpoint or global, with -1, -2 … where the configuration states several.
	Name string `json:"name"`
	// Limit is the number of requests in Window; 0 is no limit (rule RL3). Window is a duration such as 60s.
	Limit     int64  `json:"limit"`
	Window    string `json:"window"`
	Algorithm string `json:"algorithm"`
	// Burst is that of meters; 0 is Limit.
	Burst int64 `json:"burst,omitempty"`
	// Align is that of fixed windows, clock where it is empty.
	Align string     `json:"align,omitempty"`
	Key   string     `json:"key"`
	Mode  ShieldMode `json:"mode"`
	// OnStoreFailure is open, closed or memory (rule RL63).
	OnStoreFailure string `json:"onStoreFailure"`
}

// ShieldProjectPolicy is a limit that every project has of its own. Its members are those of ShieldPolicy.
type ShieldProjectPolicy struct {
	Limit     int64  `json:"limit"`
	Window    string `json:"window"`
	Algorithm string `json:"algorithm"`
	Burst     int64  `json:"burst,omitempty"`
	Align     string `json:"align,omitempty"`
	// Key says who shares a count within a project: everybody with global, each client with ip.
	Key            string     `json:"key"`
	Mode           ShieldMode `json:"mode"`
	OnStoreFailure string     `json:"onStoreFailure"`
}

// ShieldCircuit are the settings of the circuit breaker (rule RL102).
type ShieldCircuit struct {
	// Mode is adaptive, lockdown or disabled.
	Mode string `json:"mode"`
	// Threshold and GlobalLimit are rates such as 10000/60s, Recovery is a duration.
	Threshold   string `json:"threshold"`
	Recovery    string `json:"recovery"`
	GlobalLimit string `json:"globalLimit"`
	// Force is lockdown or closed, whatever the state is, until ForceUntil; "" is neither, and no ForceUntil no end (rule
	// RL104).
	Force      string    `json:"force,omitempty"`
	ForceUntil time.Time `json:"forceUntil,omitzero"`
}

// Administrator is who asks for a change, as far as the change depends on it.
type Administrator struct {
	// Name is shown with what they did, Account is their e-mail address.
	Name, Account string
	// Address is where they call from, RequestID names their request.
	Address   netip.Addr
	RequestID string
	// Force does what would lock them out.
	Force bool
}

// BanSubject is whom a ban refuses (rule M-225).
type BanSubject struct {
	// Type is ip, cidr or account.
	Type  string `json:"type"`
	Value string `json:"value"`
	// Account is the one account that the address is kept from, by its e-mail address, or a digest where none here has it;
	// empty is everything.
	Account string `json:"account,omitempty"`
}

// The types of a BanSubject.
const (
	BanIP      = "ip"
	BanCIDR    = "cidr"
	BanAccount = "account"
)

// Ban is an address, a network or an account that is refused for a time.
type Ban struct {
	ID string
	// Rule is the rule of failed sign-ins that banned; empty for a ban by an administrator.
	Rule    string
	Subject BanSubject
	// Key is what the register of bans knows the subject by.
	Key    string
	Reason string
	// CreatedBy is the administrator's name; empty for a ban by a rule.
	CreatedBy string
	// Hits are the requests that this process refused for it.
	Hits      int64
	CreatedAt time.Time
	// ExpiresAt is the end; the zero time is never.
	ExpiresAt time.Time
}

// BanNote is what the register of bans of one process leaves to the next: a ban that failed sign-ins brought, or that bans
// were lifted, which a register that servers share has not taken yet. There is one of each kind for a rule and key.
type BanNote struct {
	// Rule and Key are those of the register; of a lift an empty Key is all bans of the rule.
	Rule, Key string
	// Lifted says that From is when bans were lifted.
	Lifted      bool
	From, Until time.Time
	// Repeat counts the bans of the key before this one.
	Repeat int64
}

// Active says whether the ban holds at an instant.
func (b *Ban) Active(now time.Time) bool { return b.ExpiresAt.IsZero() || now.Before(b.ExpiresAt) }
