package management

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// ShieldControl is the shield as administrators see and change it (rules M-74 and M-75).
type ShieldControl interface {
	// Settings returns what is in force and its version, from 1.
	Settings() (mockbase.ShieldSettings, int64)
	// ChangeSettings puts others into force if the version is still the one in force. The request is the administrator's,
	// whose own address must not be refused. Errors are CodeVersionMismatch, CodeValidationFailed, CodePinnedByConfig,
	// CodeWouldLockOut and those of a store.
	ChangeSettings(r *http.Request, wanted mockbase.ShieldSettings, version int64, by mockbase.Administrator) (mockbase.ShieldSettings, int64, error)
	// Status tells how the shield is, and whom it takes the request for.
	Status(r *http.Request) mockbase.ShieldStatus
	// Probe says what would be done with a request, and counts nothing.
	Probe(ctx context.Context, p mockbase.ShieldProbe) (mockbase.ShieldVerdict, error)
	// Callers returns the clients that a policy saw within a span; "" is every policy, 0 all that is remembered.
	Callers(policy string, span time.Duration) []mockbase.ShieldCaller
}

// BanControl keeps bans (rules RL101 and M-225).
type BanControl interface {
	// List returns the bans in force, and those of administrators that ended lately.
	List(ctx context.Context) ([]mockbase.Ban, error)
	// Find fails with CodeNotFound.
	Find(ctx context.Context, id string) (mockbase.Ban, error)
	// Add bans the subject for the reason until the end that wish states.
	Add(ctx context.Context, wish mockbase.Ban, by mockbase.Administrator) (mockbase.Ban, error)
	Change(ctx context.Context, id string, change func(*mockbase.Ban), by mockbase.Administrator) (mockbase.Ban, error)
	// Lift ends bans and returns how many were in force.
	Lift(ctx context.Context, bans []mockbase.Ban, by mockbase.Administrator) (int, error)
}

// Guardian is all that administrators do with the shield.
type Guardian interface {
	ShieldControl
	BanControl
}

// administrator is the caller as the shield wants to know them.
func (s *Server) administrator(c *call) mockbase.Administrator {
	u := c.caller.user
	name := u.Name
	if name == "" {
		name = u.Email
	}
	return mockbase.Administrator{
		Name: name, Account: u.Email, Address: s.ClientAddress(c.Request()), RequestID: RequestID(c.ctx()),
	}
}

// shieldSettings answers the settings in force (M-220).
func (s *Server) shieldSettings(c *call) error {
	settings, version := s.Guardian.Settings()
	setETag(c.header(), version)
	if c.notModified(version) {
		c.Response().WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.json(http.StatusOK, settings)
}

// changeShield puts other settings into force (M-221). Nobody may overwrite what they have not read, so that If-Match is
// needed.
func (s *Server) changeShield(c *call) error {
	p := c.params()
	force := p.flag("force")
	if err := p.err(); err != nil {
		return err
	}
	before, version := s.Guardian.Settings()
	switch cond := readCondition(c, "If-Match"); {
	case !cond.given:
		return &mockbase.Error{
			Code: mockbase.CodePreconditionRequired, Message: "the shield is changed only by who says which version they change",
			Hint: "send the ETag of GET /api/v1/admin/shield in If-Match",
		}
	case !cond.any && !slices.Contains(cond.versions, version):
		return versionMismatch(version)
	}
	wanted, err := c.readShield()
	if err != nil {
		return err
	}
	after := wanted
	after.Pinned = before.Pinned
	c.noteChange(before, after)
	by := s.administrator(c)
	by.Force = force
	settings, version, err := s.Guardian.ChangeSettings(c.Request(), wanted, version, by)
	if err != nil {
		return err
	}
	setETag(c.header(), version)
	return c.json(http.StatusOK, settings)
}

// readShield reads the settings that a body holds. Policies that it leaves out go back to what the configuration has.
func (c *call) readShield() (mockbase.ShieldSettings, error) {
	in := mockbase.ShieldSettings{Safelist: []string{}, Blocklist: []string{}, TrustedProxies: []string{}}
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		for _, p := range f.Objects("policies") {
			in.Policies = append(in.Policies, readShieldPolicy(p))
		}
		f.Texts("safelist", &in.Safelist)
		f.Texts("blocklist", &in.Blocklist)
		f.Texts("trustedProxies", &in.TrustedProxies)
		f.Text("clientHeader", &in.ClientHeader)
		f.Int("ipv6Prefix", &in.IPv6Prefix, math.MinInt32, math.MaxInt32)
		f.Bool("exposeHeaders", &in.ExposeHeaders)
		if o := f.Object("circuit"); o != nil {
			in.Circuit = readShieldCircuit(o)
		}
		if o := f.Object("projectPolicy"); o != nil {
			in.ProjectPolicy = readProjectPolicy(o)
		}
		f.ReadOnly("pinned")
		f.Required("policies", "safelist", "blocklist", "trustedProxies", "clientHeader", "ipv6Prefix", "circuit")
	})
	return in, err
}

func readShieldCircuit(f *mockbase.Fields) mockbase.ShieldCircuit {
	var c mockbase.ShieldCircuit
	f.Text("mode", &c.Mode)
	f.Text("threshold", &c.Threshold)
	f.Text("recovery", &c.Recovery)
	f.Text("globalLimit", &c.GlobalLimit)
	f.Text("force", &c.Force)
	var until string
	if f.Text("forceUntil", &until) {
		var err error
		if c.ForceUntil, err = time.Parse(time.RFC3339, until); err != nil {
			f.Fault("forceUntil", mockbase.FieldPattern, "write an instant such as 2026-01-31T12:00:00Z")
		}
		c.ForceUntil = c.ForceUntil.UTC().Truncate(time.Millisecond)
	}
	f.Required("mode", "threshold", "recovery", "globalLimit")
	f.Done()
	return c
}

func readShieldPolicy(f *mockbase.Fields) mockbase.ShieldPolicy {
	p := mockbase.ShieldPolicy{Mode: mockbase.ShieldEnforce}
	f.Text("name", &p.Name)
	readShieldLimit(f, &p)
	f.Required("name", "limit", "window", "algorithm", "key", "mode", "onStoreFailure")
	f.Done()
	return p
}

// readProjectPolicy reads the limit of each project, of which only the numbers must be stated.
func readProjectPolicy(f *mockbase.Fields) *mockbase.ShieldProjectPolicy {
	p := mockbase.ShieldPolicy{
		Algorithm: "fixed_window", Key: "global", Mode: mockbase.ShieldEnforce, OnStoreFailure: "open",
	}
	readShieldLimit(f, &p)
	f.Required("limit", "window")
	f.Done()
	return &mockbase.ShieldProjectPolicy{
		Limit: p.Limit, Window: p.Window, Algorithm: p.Algorithm, Burst: p.Burst, Align: p.Align, Key: p.Key, Mode: p.Mode, OnStoreFailure: p.OnStoreFailure,
	}
}

// readShieldLimit reads what every limit of the shield may state.
func readShieldLimit(f *mockbase.Fields, p *mockbase.ShieldPolicy) {
	f.Int64("limit", &p.Limit, math.MinInt64, math.MaxInt64) // The guardian knows the bounds, and tells all faults at once.
	f.Text("window", &p.Window)
	f.Text("algorithm", &p.Algorithm)
	f.Int64("burst", &p.Burst, math.MinInt64, math.MaxInt64)
	f.Text("align", &p.Align)
	f.Text("key", &p.Key)
	mode := string(p.Mode)
	modes := []string{string(mockbase.ShieldEnforce), string(mockbase.ShieldDryRun), string(mockbase.ShieldDisabled)}
	if f.Text("mode", &mode) && !slices.Contains(modes, mode) {
		f.Fault("mode", mockbase.FieldEnum, "a mode is enforce, dry_run or disabled")
	}
	p.Mode = mockbase.ShieldMode(mode)
	if f.Text("onStoreFailure", &p.OnStoreFailure) && !slices.Contains([]string{"open", "closed", "memory"}, p.OnStoreFailure) {
		f.Fault("onStoreFailure", mockbase.FieldEnum, "what follows a failure of the store is open, closed or memory")
	}
}

// shieldStatusView is the status as the API shows it (rule M-75).
type shieldStatusView struct {
	Store    shieldStoreView               `json:"store"`
	Policies []mockbase.ShieldPolicyStatus `json:"policies"`
	Client   shieldClientView              `json:"client"`
	// TopDenied is more than rule M-75 asks for: rule RL129 does.
	TopDenied []mockbase.ShieldDenied `json:"topDenied"`
}

type shieldStoreView struct {
	Backend   string                    `json:"backend"`
	State     mockbase.ShieldStoreState `json:"state"`
	Since     *string                   `json:"since"`
	LastError *string                   `json:"lastError"`
	LatencyMs struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
	} `json:"latencyMs"`
	FailOpen struct {
		Total int64   `json:"total"`
		Since *string `json:"since"`
	} `json:"failOpen"`
	Fallback struct {
		Total int64 `json:"total"`
	} `json:"fallback"`
	Keys      int64 `json:"keys"`
	Evictions int64 `json:"evictions"`
}

type shieldClientView struct {
	IP          string   `json:"ip"`
	Peer        string   `json:"peer"`
	HeadersSeen []string `json:"headersSeen"`
	Trusted     bool     `json:"trusted"`
	Hint        string   `json:"hint,omitempty"`
}

// shieldStatus answers how the shield is (M-222).
func (s *Server) shieldStatus(c *call) error {
	now := s.Guardian.Status(c.Request())
	view := shieldStatusView{
		Store: shieldStoreView{
			Backend: now.Store.Backend, State: now.Store.State, Since: maybeTime(now.Store.Since), LastError: maybeText(now.Store.LastError),
			Keys: now.Store.Keys, Evictions: now.Store.Evictions,
		},
		Policies: now.Policies,
		Client: shieldClientView{
			IP: addressText(now.Client.IP), Peer: addressText(now.Client.Peer), HeadersSeen: now.Client.HeadersSeen,
			Trusted: now.Client.Trusted, Hint: now.Client.Hint,
		},
	}
	view.TopDenied = append([]mockbase.ShieldDenied{}, now.TopDenied...)
	view.Store.LatencyMs.P50, view.Store.LatencyMs.P99 = milliseconds(now.Store.P50), milliseconds(now.Store.P99)
	view.Store.FailOpen.Total, view.Store.FailOpen.Since = now.Store.FailedOpen, maybeTime(now.Store.FailingOpenSince)
	view.Store.Fallback.Total = now.Store.Fallback
	return c.json(http.StatusOK, view)
}

// addressText is an address for people; a client without one sits behind a unix socket.
func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return "unix"
	}
	return a.String()
}

// checkShield says what would be done with a request (M-223).
func (s *Server) checkShield(c *call) error {
	var probe mockbase.ShieldProbe
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		var ip string
		if f.Text("ip", &ip) {
			address, err := netip.ParseAddr(ip)
			if err != nil || address.Zone() != "" {
				f.Fault("ip", mockbase.FieldPattern, "write one address, such as 203.0.113.9")
			}
			probe.IP = address
		}
		f.Text("forwardedFor", &probe.ForwardedFor)
		if f.Text("path", &probe.Path) && (probe.Path == "" || probe.Path[0] != '/') {
			f.Fault("path", mockbase.FieldPattern, "a path begins with a slash")
		}
		f.Required("ip")
	})
	if err != nil {
		return err
	}
	verdict, err := s.Guardian.Probe(c.ctx(), probe)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, verdict)
}

// spans are the times that callers are counted in, by their names.
func spans() map[string]time.Duration {
	return map[string]time.Duration{"": 0, "5m": 5 * time.Minute, "1h": time.Hour, "24h": 24 * time.Hour}
}

// shieldCallers lists who calls the server (M-224).
func (s *Server) shieldCallers(c *call) error {
	p := c.params()
	span := p.choice("range", []string{"5m", "1h", "24h"})
	policy := p.text("policy")
	l, err := p.listing("-limited", "requests", "key", "lastSeenAt")
	if err != nil {
		return err
	}
	type view struct {
		Key         string `json:"key"`
		Requests    int64  `json:"requests"`
		Limited     int64  `json:"limited"`
		FirstSeenAt string `json:"firstSeenAt"`
		LastSeenAt  string `json:"lastSeenAt"`
	}
	views := []view{}
	for _, caller := range s.Guardian.Callers(policy, spans()[span]) {
		if l.finds(caller.Key) {
			views = append(views, view{caller.Key, caller.Requests, caller.Limited, timeText(caller.FirstSeenAt), timeText(caller.LastSeenAt)})
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v view) key {
		switch l.sort {
		case "key":
			return key{ID: v.Key}
		case "requests":
			return key{Number: v.Requests, ID: v.Key}
		case "lastSeenAt":
			return key{Text: v.LastSeenAt, ID: v.Key}
		default:
			return key{Number: v.Limited, ID: v.Key}
		}
	})
	return c.list(l, onPage, total, next)
}
