package management

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// scope is what an API token may do (rule M-51). The zero value is a route that no API token may call.
type scope string

// The scopes. Those with the same beginning include each other: who may write may read.
const (
	// scopeAny is a route that every API token may call that sees what the path names.
	scopeAny          scope = "any"
	scopeMocksRead    scope = "mocks:read"
	scopeMocksWrite   scope = "mocks:write"
	scopeTrafficRead  scope = "traffic:read"
	scopeTrafficClear scope = "traffic:clear"
	scopeVerify       scope = "verify"
	scopeSessions     scope = "sessions"
	scopeLimitsRead   scope = "limits:read"
	scopeLimitsWrite  scope = "limits:write"
	scopeImport       scope = "import"
	scopeProjectAdmin scope = "project:admin"
	scopeAdmin        scope = "admin"
)

// scopeRoles are the scopes that a token can have, with the least role in a project that each makes sense for.
func scopeRoles() map[scope]mockbase.ProjectRole {
	return map[scope]mockbase.ProjectRole{
		scopeMocksRead: mockbase.RoleViewer, scopeMocksWrite: mockbase.RoleEditor, scopeTrafficRead: mockbase.RoleViewer,
		scopeTrafficClear: mockbase.RoleEditor, scopeVerify: mockbase.RoleViewer, scopeSessions: mockbase.RoleViewer,
		scopeLimitsRead: mockbase.RoleViewer, scopeLimitsWrite: mockbase.RoleEditor, scopeImport: mockbase.RoleEditor,
		scopeProjectAdmin: mockbase.RoleOwner, scopeAdmin: mockbase.RoleOwner,
	}
}

// includedIn tells whether who has the scope held may do what asks for s.
func (s scope) includedIn(held scope) bool {
	switch held {
	case s, scopeAdmin:
		return true
	case scopeProjectAdmin:
		return s != scopeAdmin
	case scopeMocksWrite:
		return s == scopeMocksRead
	case scopeTrafficClear:
		return s == scopeTrafficRead
	case scopeLimitsWrite:
		return s == scopeLimitsRead
	default:
		return false
	}
}

// caller is who sent a request: a signed-in user, or an API token.
type caller struct {
	// user is the signed-in user or the owner of a personal token. A service token belongs to nobody: what stands here then
	// has the token's id and name, and no rights of its own.
	user *mockbase.User
	// signIn is nil for an API token.
	signIn *mockbase.SignIn
	// authTime is when the password was last given.
	authTime time.Time
	// token is nil for a signed-in user.
	token *mockbase.Token
}

// id names the caller: a user, or a token by itself, as each token has its own rights.
func (c *caller) id() string {
	if c.token != nil {
		return c.token.ID
	}
	return c.user.ID
}

// service tells whether the caller is a service token.
func (c *caller) service() bool { return c.token != nil && c.token.Kind == mockbase.TokenService }

// has tells whether the caller's token has a scope. A signed-in user needs none.
func (c *caller) has(s scope) bool {
	if c.token == nil || s == scopeAny {
		return true
	}
	return s != "" && slices.ContainsFunc(c.token.Scopes, func(held string) bool { return s.includedIn(scope(held)) })
}

// admin tells whether the caller administers the server.
func (c *caller) admin() bool { return c.user.Role == mockbase.InstanceAdmin && c.has(scopeAdmin) }

// roleIn is what the caller may do in a project, given their memberships. An administrator acts as owner everywhere; a
// token sees the projects that it lists alone (rules M-50 and M-51).
func (c *caller) roleIn(projectID string, roles map[string]mockbase.ProjectRole) mockbase.ProjectRole {
	switch {
	case c.token != nil && !slices.Contains(c.token.Projects, mockbase.AllProjects) && !slices.Contains(c.token.Projects, projectID):
		return mockbase.RoleNone
	case c.service():
		return c.serviceRole()
	case c.user.Role == mockbase.InstanceAdmin:
		return mockbase.RoleOwner
	default:
		return roles[projectID]
	}
}

// serviceRole is the role that comes next to what a service token may do. Its scopes alone decide what it may; the role is
// what handlers ask that show more to some than to others.
func (c *caller) serviceRole() mockbase.ProjectRole {
	switch {
	case c.has(scopeProjectAdmin):
		return mockbase.RoleOwner
	case slices.ContainsFunc([]scope{scopeMocksWrite, scopeTrafficClear, scopeLimitsWrite, scopeImport, scopeSessions}, c.has):
		return mockbase.RoleEditor
	default:
		return mockbase.RoleViewer
	}
}

// permit compares the caller with what the route asks for: the scope of a token, the role in the project, and how long
// ago the password was given (rules M-40 and M-50 to M-52).
func (s *Server) permit(c *call) error {
	who, rt := c.caller, c.route
	if who == nil {
		return nil
	}
	if err := permitToken(who, rt); err != nil {
		return err
	}
	if rt.access == accessAdmin && !who.admin() {
		return &mockbase.Error{
			Code: mockbase.CodeForbidden, Message: "this needs an administrator of the server", Hint: "ask an administrator",
		}
	}
	need := rt.access.role()
	if c.project != nil && !who.service() && rank(c.role) < rank(need) {
		return &mockbase.Error{
			Code: mockbase.CodeForbidden, Message: "this needs the role " + string(need) + " in the project, and you are " + string(c.role),
			Hint: "ask an owner of the project",
		}
	}
	if rt.fresh {
		return s.askFresh(c)
	}
	return nil
}

// permitToken compares a token's scopes with the route's.
func permitToken(who *caller, rt *route) error {
	switch {
	case who.token == nil || rt.access == accessAnyone || rt.access == accessCookie:
		return nil
	case rt.access == accessUser || rt.fresh:
		return sessionRequired()
	case rt.access == accessAdmin && who.has(scopeAdmin), rt.access != accessAdmin && who.has(rt.scope):
		return nil
	case rt.access == accessAdmin:
		return insufficientScope(scopeAdmin)
	case rt.scope == "":
		return sessionRequired()
	}
	return insufficientScope(rt.scope)
}

func sessionRequired() error {
	return &mockbase.Error{
		Code: mockbase.CodeSessionRequired, Message: "this is for people who signed in, and not for API tokens", Hint: "sign in and send the access token",
	}
}

func insufficientScope(s scope) error {
	return &mockbase.Error{
		Code: mockbase.CodeInsufficientScope, Message: "this needs a token with the scope " + string(s), Hint: "make a token that has it",
	}
}

// freshFor is how long after the password was given the most delicate changes are allowed (rule M-40).
const freshFor = 15 * time.Minute

// askFresh refuses a caller who did not give their password lately.
func (s *Server) askFresh(c *call) error {
	switch {
	case c.caller.token != nil:
		return sessionRequired()
	case s.clock().Sub(c.caller.authTime) > freshFor:
		return &mockbase.Error{
			Code: mockbase.CodeReauthenticate, Message: "this needs a password that was given within the last 15 minutes",
			Hint: "send the password to " + apiPrefix + "/auth/reauthenticate first",
		}
	}
	return nil
}

// role is the role that an access of a project stands for.
func (a access) role() mockbase.ProjectRole {
	switch a {
	case accessViewer:
		return mockbase.RoleViewer
	case accessEditor:
		return mockbase.RoleEditor
	case accessOwner:
		return mockbase.RoleOwner
	default:
		return mockbase.RoleNone
	}
}

func rank(r mockbase.ProjectRole) int {
	switch r {
	case mockbase.RoleOwner:
		return 3
	case mockbase.RoleEditor:
		return 2
	case mockbase.RoleViewer:
		return 1
	default:
		return 0
	}
}

// mayUse tells whether a token may be used at a time and from an address.
func mayUse(t *mockbase.Token, now time.Time, from netip.Addr) bool {
	return (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt)) && fromAllowed(t, from)
}

// fromAllowed tells whether an address is among those that a token may be used from.
func fromAllowed(t *mockbase.Token, from netip.Addr) bool {
	if len(t.AllowedIPs) == 0 {
		return true
	}
	return slices.ContainsFunc(t.AllowedIPs, func(text string) bool {
		network, err := readNetwork(text)
		return err == nil && network.Contains(from.Unmap().WithZone(""))
	})
}

// readNetwork reads an address or a network in CIDR form.
func readNetwork(text string) (netip.Prefix, error) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err //nolint:wrapcheck // Callers write a message of their own.
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), nil
}

// TokenGate lets requests with a public token into projects whose mocks ask for one (rules M-41 and Y11).
type TokenGate struct {
	// Tokens finds tokens.
	Tokens Tokens
	// ClientAddress tells who sent a request.
	ClientAddress func(*http.Request) netip.Addr
	Clock         func() time.Time
}

// Admits tells whether a request carries a public token that is good for the project. A store that does not answer lets
// nobody in.
func (g TokenGate) Admits(r *http.Request, projectID string) bool {
	return g.good(r, projectID, func(t *mockbase.Token) bool { return t.Kind == mockbase.TokenPublic })
}

// Explains tells whether a request carries a token of the project with which one may know why its mocks answer as they do: a
// public one, or one of a service that may see mocks or traffic (rule AA27).
func (g TokenGate) Explains(r *http.Request, projectID string) bool {
	return g.good(r, projectID, func(t *mockbase.Token) bool {
		return t.Kind == mockbase.TokenPublic ||
			t.Kind == mockbase.TokenService && (slices.Contains(t.Scopes, string(scopeMocksRead)) || slices.Contains(t.Scopes, string(scopeTrafficRead)))
	})
}

// good tells whether a request carries a token of the project that is fit for what it asks.
func (g TokenGate) good(r *http.Request, projectID string, fit func(*mockbase.Token) bool) bool {
	sent := r.Header.Values("Mockbase-Token")
	if len(sent) != 1 {
		return false
	}
	read, ok := auth.ReadAPIToken(sent[0])
	if !ok {
		return false
	}
	found, err := g.Tokens.TokenByHash(r.Context(), read.Hash)
	if err != nil || found.Kind != read.Kind || !fit(found) || !slices.Contains(found.Projects, projectID) {
		return false
	}
	from, now := g.ClientAddress(r), g.Clock()
	if !mayUse(found, now, from) {
		return false
	}
	touch(r.Context(), g.Tokens, found, now, from)
	return true
}

// touchPace is how exactly the last use of a token is known (rule M-41).
const touchPace = time.Minute

// touch notes the use of a token, to the minute. That it could not be noted is no reason to refuse it.
func touch(ctx context.Context, tokens Tokens, t *mockbase.Token, now time.Time, from netip.Addr) {
	minute, ip := now.UTC().Truncate(touchPace), addressText(from)
	if !minute.After(t.LastUsedAt) {
		return
	}
	_ = tokens.TouchToken(mockbase.WithAudit(ctx, nil), t.ID, minute, ip)
}
