package shield

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/guard"
	"github.com/mockbase/mockbase/ratelimit/httplimit"
)

// Mocks returns what stands before the mocks; nil for a server without a shield.
func (s *Shield) Mocks() engine.Shield {
	if !s.guarding {
		return nil
	}
	return mockShield{s.mocks}
}

// Management returns what stands before the management API; nil for a server without a shield.
func (s *Shield) Management() func(http.Handler) http.Handler { return s.middleware(s.management) }

// Login returns what counts attempts to sign in, and stands before what takes a secret from a person; nil as above.
func (s *Shield) Login() func(http.Handler) http.Handler { return s.middleware(s.login) }

// LoginBan returns what bans those who guess secrets, and stands before the same; nil as above.
func (s *Shield) LoginBan() func(http.Handler) http.Handler { return s.middleware(s.loginBan) }

func (s *Shield) middleware(l *httplimit.Layers) func(http.Handler) http.Handler {
	if !s.guarding {
		return nil
	}
	return l.Middleware
}

// mockShield is the shield as the engine asks it.
type mockShield struct{ layers *httplimit.Layers }

var _ engine.Shield = mockShield{}

// Admit judges one request.
func (m mockShield) Admit(w http.ResponseWriter, r *http.Request) (engine.Admission, bool) {
	a, ok := m.layers.Admit(w, r)
	v := a.Verdict()
	admission := engine.Admission{Decision: v.Decision, WouldLimit: v.WouldLimit != "", Ticket: a}
	switch {
	case !ok && (v.Layer == ratelimit.LayerTiers || v.Layer == ratelimit.LayerBans):
		admission.Policy = v.Rule
	case admission.WouldLimit:
		first, _, _ := strings.Cut(v.WouldLimit, ", ")
		_, admission.Policy, _ = strings.Cut(first, "/")
	}
	return admission, ok
}

// Done ends a request.
func (m mockShield) Done(a engine.Admission, status int) {
	if ticket, ok := a.Ticket.(httplimit.Admission); ok {
		m.layers.Done(ticket, status)
	}
}

func (s *Shield) endpointOfMock(r *http.Request) string { return s.endpoint(s.MockEndpoint, r) }

func (s *Shield) endpointOfManagement(r *http.Request) string {
	return s.endpoint(s.ManagementEndpoint, r)
}

// ignoresCase says whether letter case makes no other path of a request's, in what limits and lists look at.
func (s *Shield) ignoresCase(r *http.Request) bool { return s.IgnoresCase != nil && s.IgnoresCase(r) }

// partProject is the part of a key that tells projects apart. Requests for mocks have it.
const partProject = "project"

// mockPart returns a part of the key of a request for a mock.
func (s *Shield) mockPart(r *http.Request, name string) (string, bool) {
	if name != partProject {
		return s.identity.Part(r, name)
	}
	resolved, _ := httplimit.ResolvePath(r, s.mocksBase())
	slug, ok := strings.CutPrefix(resolved, s.mocksBase())
	slug, _, _ = strings.Cut(slug, "/")
	return ratelimit.KeyIdentifier(slug), ok && slug != ""
}

// endpoint finds the route of a request, if a limit asks for it.
func (s *Shield) endpoint(find func(*http.Request) string, r *http.Request) string {
	if find == nil || !s.byEndpoint.Load() {
		return ""
	}
	return find(r)
}

// authenticated says whether this server knows who asks. A circuit that is closed does not want to know, and the look at a
// token costs more than everything else here.
func (s *Shield) authenticated(r *http.Request) bool {
	if s.guard.CircuitState() == ratelimit.CircuitClosed {
		return false
	}
	_, ok := s.user(r)
	return ok
}

// accountPart returns parts of the keys of those who sign in: the account, as a digest, since a key holds nobody's e-mail
// address (rule RL81), under both names that it has there.
func (s *Shield) accountPart(r *http.Request, name string) (string, bool) {
	if name != config.PartAccount && name != guard.PartUser || s.options.Account == nil {
		return "", false
	}
	account := s.options.Account(r.Context())
	if account == "" {
		return "", false
	}
	return s.accountDigest(account), true
}

// accountDigest is what stands in keys for an account.
func (s *Shield) accountDigest(account string) string {
	return s.identity.Digest(config.PartAccount, url.QueryEscape(account))
}
