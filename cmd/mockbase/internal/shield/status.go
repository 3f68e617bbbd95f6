package shield

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// mostDenied is how many of the keys that were refused most the status tells.
const mostDenied = 20

// StoreStatus tells how the store of the counts is.
func (s *Shield) StoreStatus() mockbase.ShieldStore { return s.storeStatus() }

// Status tells how the shield is, and whom it takes the request for.
func (s *Shield) Status(r *http.Request) mockbase.ShieldStatus {
	status := mockbase.ShieldStatus{Store: s.storeStatus(), Client: s.clientStatus(r), TopDenied: s.topDenied()}
	settings, _ := s.Settings()
	counts := s.Policies()
	for i := range settings.Policies {
		name := settings.Policies[i].Name
		now, beside := counts[name], counts[name+besideByAddress]
		status.Policies = append(status.Policies, mockbase.ShieldPolicyStatus{
			// What stands beside a policy is a part of it: it refuses some of those that the policy itself did not.
			Name: name, Allowed: now.Allowed + now.DryDenied, Limited: now.Denied + beside.Denied, WouldLimit: now.DryDenied + beside.DryDenied,
			FailedOpen: now.FailedOpen,
		})
	}
	return status
}

// topDenied returns the keys that all guards refused most (rule RL129).
func (s *Shield) topDenied() []mockbase.ShieldDenied {
	list := []mockbase.ShieldDenied{}
	for _, g := range s.Guards() {
		for _, d := range g.TopDenied(mostDenied) {
			list = append(list, mockbase.ShieldDenied{Rule: d.Rule, Key: d.Digest, Count: d.Count, Error: d.Error})
		}
	}
	slices.SortStableFunc(list, func(a, b mockbase.ShieldDenied) int { return cmp.Compare(b.Count, a.Count) })
	return list[:min(len(list), mostDenied)]
}

// storeStatus sums up the limiters: they ask the same store.
func (s *Shield) storeStatus() mockbase.ShieldStore {
	took := s.Timing()
	store := mockbase.ShieldStore{
		Backend: s.options.Backend, State: mockbase.ShieldStoreOK, P50: took.Percentile(0.5), P99: took.Percentile(0.99),
	}
	for _, l := range s.Limiters() {
		addHealth(&store, l.Health())
	}
	if known, ok := s.options.Store.(ratelimit.Availability); ok && store.State != mockbase.ShieldStoreOK && known.Available() != nil {
		store.State = mockbase.ShieldStoreBreakerOpen
	}
	return store
}

// addHealth adds what one limiter saw of the store.
func addHealth(store *mockbase.ShieldStore, h ratelimit.Health) {
	switch h.Mode {
	case ratelimit.FailOpen:
		store.FailedOpen += h.Total
		if h.Degraded {
			store.FailingOpenSince = earlier(store.FailingOpenSince, h.Since)
		}
	case ratelimit.FailMemory:
		store.Fallback += h.Total
	case ratelimit.FailClosed:
	}
	if h.LastError != "" {
		store.LastError = h.LastError
	}
	switch {
	case h.Degraded && store.State == mockbase.ShieldStoreOK:
		store.State, store.Since = mockbase.ShieldStoreDegraded, h.Since
	case h.Degraded == (store.State != mockbase.ShieldStoreOK):
		store.Since = earlier(store.Since, h.Since)
	}
}

// Timing is how long the store took for checks (rule RL128).
func (s *Shield) Timing() ratelimit.Timing {
	var all ratelimit.Timing
	for _, l := range s.Limiters() {
		all.Add(l.Timing())
	}
	return all
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// clientStatus tells whom the shield takes a request for, and what to do about a proxy that is not trusted.
func (s *Shield) clientStatus(r *http.Request) mockbase.ShieldClient {
	peer := netip.Addr{}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = at.Addr().Unmap()
	}
	trusted, header := s.addresses.Trusts(peer)
	client := mockbase.ShieldClient{IP: s.addresses.Client(r), Peer: peer, Trusted: trusted, HeadersSeen: []string{}}
	for _, name := range forwardingHeaders() {
		if len(r.Header[name]) > 0 {
			client.HeadersSeen = append(client.HeadersSeen, strings.ToLower(name))
		}
	}
	if name := strings.ToLower(header); header != "" && len(r.Header[header]) > 0 && !slices.Contains(client.HeadersSeen, name) {
		client.HeadersSeen = append(client.HeadersSeen, name)
	}
	if key, ok := s.callers.crowd(); ok && !s.trustsKey(key) {
		client.Hint = "nearly all requests come from " + key + ", which sends a forwarding header and is not trusted: " +
			"if it is your proxy, add it to trustedProxies, so that each of its clients has a count of its own"
	}
	return client
}

// trustsKey says whether the client behind a key is a trusted proxy. A digest or a network is nobody's address.
func (s *Shield) trustsKey(key string) bool {
	address, err := netip.ParseAddr(key)
	if err != nil {
		return false
	}
	trusted, _ := s.addresses.Trusts(address)
	return trusted
}

// Probe says what the shield would do with a request, without counting it (rule M-223).
func (s *Shield) Probe(ctx context.Context, p mockbase.ShieldProbe) (mockbase.ShieldVerdict, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/", http.NoBody)
	if err != nil {
		return mockbase.ShieldVerdict{}, err //nolint:wrapcheck // The target is a constant.
	}
	r.RemoteAddr = netip.AddrPortFrom(p.IP, 1).String()
	if _, header := s.addresses.Trusts(p.IP); p.ForwardedFor != "" && header != "" {
		r.Header[header] = []string{p.ForwardedFor}
	}
	if p.Path == "" {
		p.Path = "/m/"
	}
	a := s.probing(r, p.Path)
	v := s.peek(ctx, a)
	verdict := mockbase.ShieldVerdict{Client: a.Address.String(), Allowed: v.Allowed, DecidedBy: string(v.Layer)}
	if d := &v.Decision; d.Policy != nil && !v.Hidden {
		verdict.Policy, verdict.Remaining = d.Policy.Name, &d.Remaining
	}
	switch {
	case verdict.DecidedBy == "" && verdict.Policy != "":
		verdict.DecidedBy = string(ratelimit.LayerTiers)
	case verdict.DecidedBy == "":
		verdict.DecidedBy = "none"
	case v.Layer == ratelimit.LayerBans:
		verdict.Policy = v.Rule
	}
	return verdict, nil
}

// probing makes the attempt of a request with this path.
func (s *Shield) probing(r *http.Request, target string) *ratelimit.Attempt {
	r.URL.Path, r.RequestURI = target, target
	if written, err := url.ParseRequestURI(target); err == nil {
		r.URL.Path, r.URL.RawPath = written.Path, written.RawPath
	}
	resolved, alias := httplimit.ResolvePath(r, s.mocksBase())
	client := s.addresses.Client(r)
	a := &ratelimit.Attempt{
		Place: placeOf(target), Address: client, Identifier: s.addresses.Identifier(client), Method: r.Method, Path: resolved, Alias: alias,
		Parts: &probeParts{shield: s, request: r},
	}
	a.Pattern = s.endpointOfManagement(r)
	if a.Place == placeMocks {
		a.Pattern, a.IgnoreCase = s.endpointOfMock(r), s.ignoresCase(r)
	}
	return a
}

// peek asks the guards that a request would meet, in their order. Of those that let it through the last one tells.
func (s *Shield) peek(ctx context.Context, a *ratelimit.Attempt) ratelimit.Verdict {
	v := s.guard.Peek(ctx, a)
	if a.Place != placeManagement || s.TakesSecret == nil || !s.TakesSecret(a.Path) {
		return v
	}
	for _, g := range []*guard.Guard{s.failures, s.signIn} {
		if !v.Allowed || v.Layer == ratelimit.LayerSafelist {
			return v
		}
		there := *a
		there.Place = placeLogin
		if next := g.Peek(ctx, &there); !next.Allowed || next.Decision.Policy != nil {
			v = next
		}
	}
	return v
}

// placeOf returns the plane that a path belongs to.
func placeOf(path string) string {
	if strings.HasPrefix(path, "/m/") {
		return placeMocks
	}
	return placeManagement
}

// probeParts are the parts of a request that might come.
type probeParts struct {
	shield  *Shield
	request *http.Request
}

// Part returns a part of a key.
func (p *probeParts) Part(name string) (string, bool) { return p.shield.mockPart(p.request, name) }

// Header returns the first value of a header field.
func (p *probeParts) Header(name string) string { return p.request.Header.Get(name) }
