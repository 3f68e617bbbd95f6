package shield

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// settingName is the name under which settings are stored.
const settingName = "shield"

// The policies that are about both planes.
const (
	policyUser     = "user"
	policyEndpoint = "endpoint"
	policyGlobal   = "global"
)

// policyProject is that of each project's mocks.
const policyProject = "project"

// firstVersion is that of settings that nobody has changed.
const firstVersion = 1

// subjectOf returns what a policy is about: its name without the number or the name of one of several.
func subjectOf(name string) string {
	subject, _, _ := strings.Cut(name, "-")
	return subject
}

// configured returns the settings as the configuration has them.
func (s *Shield) configured() mockbase.ShieldSettings {
	set := s.options.Settings
	made := mockbase.ShieldSettings{
		Policies: []mockbase.ShieldPolicy{}, Safelist: texts(set.ShieldSafelist), Blocklist: texts(set.ShieldBlocklist),
		TrustedProxies: texts(set.TrustedProxies), ClientHeader: string(set.ClientAddressHeader), IPv6Prefix: int(set.IPv6Prefix),
		ExposeHeaders: set.ShieldHeadersOn == config.HeadersOn(httplimit.OnAlways),
		Circuit: mockbase.ShieldCircuit{
			Mode: string(set.CircuitMode), Threshold: set.CircuitThreshold.String(), Recovery: set.CircuitRecovery.String(),
			GlobalLimit: set.CircuitGlobalLimit.String(),
		},
		Pinned: []string{},
	}
	userAtEndpoint := guard.PartUser + "+" + guard.PartEndpoint
	for _, p := range []struct {
		name, key string
		limit     config.Limit
	}{
		{placeMocks, string(set.ShieldKey), set.EngineLimit},
		{placeManagement, string(set.ShieldKey), set.ManagementLimit},
		{placeLogin, httplimit.KeyIP, set.LoginLimit},
		{policyUser, userAtEndpoint, set.ShieldTierUser},
		{policyEndpoint, guard.PartEndpoint, set.ShieldTierEndpoint},
		{policyGlobal, guard.PartGlobal, set.ShieldTierGlobal},
	} {
		policies := p.limit.By(set.ShieldAlgorithm).Named(p.name)
		if len(policies) == 0 {
			policies = []ratelimit.Policy{{Name: p.name, Algorithm: ratelimit.Algorithm(set.ShieldAlgorithm), Window: time.Minute}}
		}
		for i := range policies {
			made.Policies = append(made.Policies, s.policyView(&policies[i], p.key))
		}
	}
	made.Pinned = s.pinned(&made)
	return made
}

// policyView shows a policy of the configuration.
func (s *Shield) policyView(p *ratelimit.Policy, key string) mockbase.ShieldPolicy {
	set := s.options.Settings
	login := subjectOf(p.Name) == placeLogin
	view := mockbase.ShieldPolicy{
		Name: p.Name, Limit: p.Limit, Window: windowText(p.Window), Algorithm: string(p.Algorithm), Burst: p.Burst, Align: string(p.Align), Key: key,
		Mode: mockbase.ShieldEnforce, OnStoreFailure: string(set.LimitStoreFailure),
	}
	switch {
	case !set.ShieldEnabled:
		view.Mode = mockbase.ShieldDisabled
	case set.ShieldDryRun && !login:
		view.Mode = mockbase.ShieldDryRun
	}
	if login && view.OnStoreFailure == string(ratelimit.FailOpen) {
		view.OnStoreFailure = string(ratelimit.FailMemory)
	}
	return view
}

// windowText writes a window in the largest unit that divides it, and a minute as 60s.
func windowText(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%u.size == 0 && (d > time.Minute || u.size <= time.Second) {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

func texts[T fmt.Stringer](list []T) []string {
	written := make([]string, 0, len(list))
	for _, item := range list {
		written = append(written, item.String())
	}
	return written
}

func parseNetwork(text string) (netip.Prefix, error) {
	var n config.Network
	err := n.UnmarshalText([]byte(text))
	return netip.Prefix(n), err
}

// load returns the settings to begin with: the stored ones, except where the configuration states something. Stored ones
// that make no sense any more are told and left alone.
func (s *Shield) load(ctx context.Context) (*state, error) {
	base := s.configured()
	begin := &state{settings: base, version: firstVersion}
	stored, err := s.options.Kept.Setting(ctx, settingName)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		_, err := s.compile(&base)
		return begin, err
	}
	if err != nil {
		return nil, fmt.Errorf("read settings of the shield: %w", err)
	}
	begin.document, begin.version = documentOf(stored), stored.Version+firstVersion
	merged, _, err := s.read(stored.Document)
	if err == nil {
		begin.settings = merged
		return begin, nil
	}
	s.options.Logger.Warn("the stored settings of the shield cannot be used with the configuration and are left out", slog.String("reason", err.Error()))
	_, err = s.compile(&base)
	return begin, err
}

// merge returns the wanted settings with what is pinned from the base.
func (s *Shield) merge(base, wanted *mockbase.ShieldSettings) mockbase.ShieldSettings {
	merged := *wanted
	merged.Pinned = base.Pinned
	merged.Policies = nil
	for i := range base.Policies {
		p := base.Policies[i]
		if w := find(wanted.Policies, p.Name); w != nil {
			p = s.mergePolicy(p, w)
		}
		merged.Policies = append(merged.Policies, p)
	}
	for pointer, keep := range map[string]func(){
		"/safelist":            func() { merged.Safelist = base.Safelist },
		"/blocklist":           func() { merged.Blocklist = base.Blocklist },
		"/trustedProxies":      func() { merged.TrustedProxies = base.TrustedProxies },
		"/clientHeader":        func() { merged.ClientHeader = base.ClientHeader },
		"/ipv6Prefix":          func() { merged.IPv6Prefix = base.IPv6Prefix },
		"/exposeHeaders":       func() { merged.ExposeHeaders = base.ExposeHeaders },
		"/circuit/mode":        func() { merged.Circuit.Mode = base.Circuit.Mode },
		"/circuit/threshold":   func() { merged.Circuit.Threshold = base.Circuit.Threshold },
		"/circuit/recovery":    func() { merged.Circuit.Recovery = base.Circuit.Recovery },
		"/circuit/globalLimit": func() { merged.Circuit.GlobalLimit = base.Circuit.GlobalLimit },
	} {
		if s.pinnedBy(pointer) != "" {
			keep()
		}
	}
	return merged
}

func (s *Shield) mergePolicy(base mockbase.ShieldPolicy, wanted *mockbase.ShieldPolicy) mockbase.ShieldPolicy {
	merged := *wanted
	at := "/policies/" + base.Name
	if s.pinnedBy(at+"/limit") != "" {
		merged.Limit, merged.Window, merged.Burst, merged.Align = base.Limit, base.Window, base.Burst, base.Align
	}
	if s.pinnedBy(at+"/algorithm") != "" {
		merged.Algorithm = base.Algorithm
	}
	if s.pinnedBy(at+"/key") != "" {
		merged.Key = base.Key
	}
	if s.pinnedBy(at+"/mode") != "" {
		merged.Mode = base.Mode
	}
	if s.pinnedBy(at+"/onStoreFailure") != "" {
		merged.OnStoreFailure = base.OnStoreFailure
	}
	return merged
}

func find(policies []mockbase.ShieldPolicy, name string) *mockbase.ShieldPolicy {
	for i := range policies {
		if policies[i].Name == name {
			return &policies[i]
		}
	}
	return nil
}
