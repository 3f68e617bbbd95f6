package management_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// guardian is a shield that keeps what it is told, and refuses what the real one would.
type guardian struct {
	clock func() time.Time

	mu       sync.Mutex
	settings mockbase.ShieldSettings
	version  int64
	bans     []mockbase.Ban
	told     []mockbase.Administrator
}

var _ management.Guardian = (*guardian)(nil)

func newGuardian(clock func() time.Time) *guardian {
	policy := func(name string, limit int64) mockbase.ShieldPolicy {
		return mockbase.ShieldPolicy{
			Name: name, Limit: limit, Window: "60s", Algorithm: "fixed_window", Key: "ip", Mode: mockbase.ShieldEnforce, OnStoreFailure: "open",
		}
	}
	seeded := mockbase.Ban{
		ID: mockbase.NewID(mockbase.PrefixBan, clock()), Rule: "login-ban-1", Subject: mockbase.BanSubject{Type: mockbase.BanIP, Value: "198.51.100.7"},
		Reason: "5 failed attempts", Hits: 2, CreatedAt: clock(), ExpiresAt: clock().Add(time.Hour),
	}
	return &guardian{clock: clock, version: 1, bans: []mockbase.Ban{seeded}, settings: mockbase.ShieldSettings{
		Policies: []mockbase.ShieldPolicy{policy("engine", 120), policy("management", 60)}, Safelist: []string{}, Blocklist: []string{"192.0.2.0/24"},
		TrustedProxies: []string{}, ClientHeader: "x-forwarded-for", IPv6Prefix: 64, Pinned: []string{"/ipv6Prefix"},
		Circuit: mockbase.ShieldCircuit{Mode: "disabled", Threshold: "10000/60s", Recovery: "30s", GlobalLimit: "50000/60s"},
	}}
}

func (g *guardian) Settings() (mockbase.ShieldSettings, int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.settings, g.version
}

func (g *guardian) ChangeSettings(
	_ *http.Request, wanted mockbase.ShieldSettings, version int64, by mockbase.Administrator,
) (mockbase.ShieldSettings, int64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case version != g.version:
		return wanted, 0, &mockbase.Error{Code: mockbase.CodeVersionMismatch, Message: "changed", Version: g.version}
	case wanted.IPv6Prefix != g.settings.IPv6Prefix:
		return wanted, 0, mockbase.Errorf(mockbase.CodePinnedByConfig, "MOCKBASE_IPV6_PREFIX states it")
	case slices.Contains(wanted.Blocklist, "127.0.0.1") && !by.Force:
		return wanted, 0, mockbase.Errorf(mockbase.CodeWouldLockOut, "your own address")
	}
	wanted.Pinned = g.settings.Pinned
	g.settings, g.told = wanted, append(g.told, by)
	g.version++
	return wanted, g.version, nil
}

func (g *guardian) Status(r *http.Request) mockbase.ShieldStatus {
	now := g.clock()
	return mockbase.ShieldStatus{
		Store: mockbase.ShieldStore{
			Backend: "redis", State: mockbase.ShieldStoreBreakerOpen, Since: now, LastError: "refused", P50: time.Millisecond, P99: 50 * time.Millisecond,
			FailedOpen: 3, FailingOpenSince: now, Fallback: 1, Keys: 7,
		},
		Policies: []mockbase.ShieldPolicyStatus{{Name: "engine", Allowed: 5, Limited: 1}},
		Client:   mockbase.ShieldClient{HeadersSeen: []string{"x-forwarded-for"}, Hint: "trust " + r.RemoteAddr},
	}
}

func (*guardian) Probe(_ context.Context, p mockbase.ShieldProbe) (mockbase.ShieldVerdict, error) {
	left := int64(119)
	return mockbase.ShieldVerdict{Client: p.IP.String(), Allowed: true, DecidedBy: "tiers", Policy: "engine", Remaining: &left}, nil
}

func (g *guardian) Callers(policy string, span time.Duration) []mockbase.ShieldCaller {
	if policy == "none" || span == 5*time.Minute {
		return nil
	}
	now := g.clock()
	return []mockbase.ShieldCaller{
		{Key: "203.0.113.9", Requests: 130, Limited: 10, FirstSeenAt: now, LastSeenAt: now},
		{Key: "203.0.113.8", Requests: 200, FirstSeenAt: now, LastSeenAt: now.Add(time.Second)},
	}
}

func (g *guardian) List(context.Context) ([]mockbase.Ban, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.bans), nil
}

func (g *guardian) Find(ctx context.Context, id string) (mockbase.Ban, error) {
	all, err := g.List(ctx)
	for _, b := range all {
		if b.ID == id || id == "latest" {
			return b, err
		}
	}
	return mockbase.Ban{}, mockbase.Errorf(mockbase.CodeNotFound, "there is no such ban")
}

func (g *guardian) Add(_ context.Context, wish mockbase.Ban, by mockbase.Administrator) (mockbase.Ban, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if strings.HasPrefix(wish.Subject.Value, "127.") && !by.Force {
		return wish, mockbase.Errorf(mockbase.CodeWouldLockOut, "your own address")
	}
	wish.ID, wish.CreatedAt, wish.CreatedBy = mockbase.NewID(mockbase.PrefixBan, g.clock()), g.clock(), by.Name
	g.bans = append(g.bans, wish)
	return wish, nil
}

func (g *guardian) Change(_ context.Context, id string, change func(*mockbase.Ban), _ mockbase.Administrator) (mockbase.Ban, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.bans {
		if g.bans[i].ID == id {
			change(&g.bans[i])
			return g.bans[i], nil
		}
	}
	return mockbase.Ban{}, mockbase.Errorf(mockbase.CodeNotFound, "there is no such ban")
}

func (g *guardian) Lift(_ context.Context, bans []mockbase.Ban, _ mockbase.Administrator) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.bans)
	g.bans = slices.DeleteFunc(g.bans, func(b mockbase.Ban) bool {
		return slices.ContainsFunc(bans, func(other mockbase.Ban) bool { return other.ID == b.ID })
	})
	return before - len(g.bans), nil
}
