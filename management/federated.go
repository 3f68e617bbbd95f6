package management

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/federation"
)

// Where a sign-in by an identity provider begins, and where the provider sends the browser back to.
const (
	federationStart  = apiPrefix + "/auth/oidc/start"
	federationReturn = apiPrefix + "/auth/oidc/callback"
)

// The names of the cookie that a browser keeps while it is at the identity provider. It comes back from another site, so that
// it can't be as strict as the refresh cookie.
const (
	secureAwayCookie = "__Host-mb_oidc"
	plainAwayCookie  = "mb_oidc"
)

// IdentityProvider is [federation.Provider].
type IdentityProvider interface {
	Begin(ctx context.Context, s federation.Start) (federation.Journey, error)
	Finish(ctx context.Context, r federation.Return) (*federation.Identity, string, error)
}

// Federation is how people sign in by an identity provider (rule M-43).
type Federation struct {
	Provider IdentityProvider
	Issuer   string
	// Roles are what groups mean here. Without any, everybody whom the provider vouches for is a member; with some, nobody
	// signs in who has none of these groups.
	Roles []GroupRole
}

// GroupRole is what a group of the identity provider means here: a role in the server, or one in a project, whose members are
// members of the server as well.
type GroupRole struct {
	Group    string
	Instance mockbase.InstanceRole
	// Project is a slug; empty where Instance is set.
	Project string
	Role    mockbase.ProjectRole
}

// startFederated sends a browser to the identity provider.
func (s *Server) startFederated(c *call) error {
	cookie, err := s.awayCookie(c)
	if err != nil {
		return err
	}
	p := c.params()
	next, fresh := p.text("next"), p.choice("fresh", []string{"true", "false"})
	if next != "" && !ownPlace(next) {
		p.fault("next", mockbase.FieldPattern, "must be a place on this server like /projects")
	}
	if err := p.err(); err != nil {
		return err
	}
	journey, err := s.Federation.Provider.Begin(c.ctx(), federation.Start{RedirectURL: s.returnURL(c), Next: next, Fresh: fresh == "true"})
	if err != nil {
		return s.refuseFederated(c, err)
	}
	http.SetCookie(c.Response(), awayCookie(cookie, journey.Sealed, int(journey.Lasts/time.Second)))
	return c.seeOther(journey.URL)
}

// finishFederated signs in whom the identity provider vouches for.
func (s *Server) finishFederated(c *call) error {
	name, err := s.awayCookie(c)
	if err != nil {
		return err
	}
	var sealed string
	if kept, err := c.Request().Cookie(name); err == nil {
		sealed = kept.Value
	}
	http.SetCookie(c.Response(), awayCookie(name, "", -1))
	who, next, err := s.Federation.Provider.Finish(c.ctx(), federation.Return{RedirectURL: s.returnURL(c), Sealed: sealed, Query: c.Request().URL.Query()})
	if err != nil {
		return s.refuseFederated(c, err)
	}
	c.attempt = plainEmail(who.Email)
	user, err := s.federatedUser(c, who)
	if err != nil {
		return err
	}
	// What the provider does not tell counts as long ago, so that delicate changes send the person there again (rule M-40).
	provedAt := who.ProvedAt
	if now := s.clock(); provedAt.After(now) {
		provedAt = now
	}
	begun, refresh, err := s.beginSignIn(c, user, provedAt)
	if err != nil {
		return err
	}
	s.setRefresh(c, refresh.Token, begun.ExpiresAt)
	if next == "" {
		next = "/"
	}
	return c.seeOther(s.BasePath + next)
}

// seeOther sends a browser elsewhere.
func (c *call) seeOther(to string) error {
	c.header().Set("Location", to)
	c.header().Set("Content-Length", "0") // for HEAD too
	c.answer = &answer{status: http.StatusSeeOther}
	c.Response().WriteHeader(http.StatusSeeOther)
	return nil
}

// ownPlace tells whether a browser takes a text for a place on this server: no other host, no other scheme.
func ownPlace(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") && len(text) <= maxNext &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f })
}

// maxNext bounds the place that a person wanted to see, as it stands in a cookie meanwhile, in bytes.
const maxNext = 1024

// awayCookie is the name of the cookie for a request. Where no cookie may be set there is no such sign-in.
func (s *Server) awayCookie(c *call) (string, error) {
	switch s.cookieName(c.Request()) {
	case secureCookie:
		return secureAwayCookie, nil
	case plainCookie:
		return plainAwayCookie, nil
	default:
		return "", signInRefused("signing in by the identity provider needs HTTPS, or a loopback address",
			"use the https address of this server, or let the administrator set MOCKBASE_PUBLIC_URL to it")
	}
}

func awayCookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS only on loopback, or where the operator asks for it (M-35)
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		Secure: name == secureAwayCookie, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// returnURL is where the identity provider sends the browser back to.
func (s *Server) returnURL(c *call) string { return s.ownURL(c.Request()) + federationReturn }

func signInRefused(message, hint string) error {
	return &mockbase.Error{Code: mockbase.CodeSignInRefused, Message: message, Hint: hint}
}

// refuseFederated says why a sign-in by the identity provider failed. What the provider said is for the log.
func (s *Server) refuseFederated(c *call, err error) error {
	s.log.LogAttrs(c.ctx(), slog.LevelWarn, "sign-in by the identity provider failed", slog.String(keyRequestID, RequestID(c.ctx())),
		slog.String(keyClient, s.ClientAddress(c.Request()).String()), slog.Any(keyError, err))
	switch {
	case errors.Is(err, federation.ErrUnreachable):
		return &mockbase.Error{Code: mockbase.CodeProviderFailed, Message: "the identity provider did not answer as it should", Hint: "try again, or ask an administrator to look at the log", Err: err}
	case errors.Is(err, federation.ErrLost):
		return &mockbase.Error{Code: mockbase.CodeSignInRefused, Message: "this browser did not begin this sign-in, or it took too long", Hint: "begin again at " + federationStart, Err: err}
	default:
		return &mockbase.Error{Code: mockbase.CodeSignInRefused, Message: "the identity provider vouches for nobody", Hint: "begin again at " + federationStart, Err: err}
	}
}

// federatedUser finds or makes the user whom the provider vouches for, with the roles that the groups give now.
func (s *Server) federatedUser(c *call, who *federation.Identity) (*mockbase.User, error) {
	granted, ok := s.Federation.grants(who.Groups)
	if !ok {
		return nil, signInRefused("none of your groups may sign in here", "ask an administrator to give one of your groups a role in MOCKBASE_OIDC_ROLES")
	}
	user, err := s.Accounts.UserByIdentity(c.ctx(), who.Issuer, who.Subject)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		user, err = s.welcome(c, who, granted.instance)
	}
	if err != nil {
		return nil, err
	}
	if user.Disabled {
		return nil, signInRefused("your account is disabled here", "ask an administrator")
	}
	if user, err = s.adjustRole(c, user, granted.instance); err != nil {
		return nil, err
	}
	return user, s.adjustMemberships(c, user, granted.projects)
}

// welcome ties a subject that was never seen to the user of the address, or to a new one. Only an address that the provider
// has verified says anything about who somebody is.
func (s *Server) welcome(c *call, who *federation.Identity, role mockbase.InstanceRole) (*mockbase.User, error) {
	email := plainEmail(who.Email)
	if email == "" || !who.EmailVerified {
		return nil, signInRefused("the identity provider tells no e-mail address of yours that it has verified", "verify your address there")
	}
	user, err := s.Accounts.UserByEmail(c.ctx(), email)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		user, err = s.newFederatedUser(c, email, who.Name, role)
	}
	if err != nil {
		return nil, err
	}
	err = s.Accounts.LinkIdentity(s.besides(c, "linkIdentity", user), mockbase.Identity{Issuer: who.Issuer, Subject: who.Subject, UserID: user.ID, CreatedAt: s.clock()})
	if mockbase.ErrorCode(err) == mockbase.CodeNameTaken {
		return nil, signInRefused("somebody else of the identity provider signs in with your e-mail address", "ask an administrator")
	}
	return user, err
}

// newFederatedUser makes a user who has no password, and gets none by signing in.
func (s *Server) newFederatedUser(c *call, email, name string, role mockbase.InstanceRole) (*mockbase.User, error) {
	now := s.clock()
	// The provider's words are not the user's to mend.
	name = mockbase.CleanLine(name)
	if r := []rune(name); len(r) > maxUserName {
		name = string(r[:maxUserName])
	}
	user := &mockbase.User{ID: mockbase.NewID(mockbase.PrefixUser, now), Email: email, Name: name, Role: role, Epoch: 1, CreatedAt: now, UpdatedAt: now}
	if err := s.Accounts.CreateUser(s.besides(c, "createUser", user), user); err != nil {
		return nil, err
	}
	s.note(c, slog.LevelInfo, "user made for a person of the identity provider", user.ID)
	return user, nil
}

// besides is the context of a change that a sign-in brings with it: the change has an entry of its own in the audit log.
func (s *Server) besides(c *call, action string, user *mockbase.User) context.Context {
	entry := s.auditEntry(c, mockbase.AuditSuccess)
	entry.Action, entry.Target = action, mockbase.AuditTarget{Type: "user", ID: user.ID, Name: user.Email}
	return mockbase.WithAudit(c.ctx(), mockbase.NewAuditDraft(entry))
}

// granted is what a person's groups give: a role in the server, and one in each project that any group is about.
type granted struct {
	instance mockbase.InstanceRole
	projects map[string]mockbase.ProjectRole
}

// grants adds up what groups give. It reports false for somebody who may not sign in.
func (f *Federation) grants(groups []string) (granted, bool) {
	g := granted{instance: mockbase.InstanceMember, projects: map[string]mockbase.ProjectRole{}}
	found := len(f.Roles) == 0
	for _, r := range f.Roles {
		if _, ok := g.projects[r.Project]; !ok && r.Project != "" {
			g.projects[r.Project] = mockbase.RoleNone
		}
		if !slices.Contains(groups, r.Group) {
			continue
		}
		found = true
		if r.Instance == mockbase.InstanceAdmin {
			g.instance = mockbase.InstanceAdmin
		}
		if r.Project != "" && rank(g.projects[r.Project]) < rank(r.Role) {
			g.projects[r.Project] = r.Role
		}
	}
	return g, found
}

// adjustRole gives a user the role that the groups give. The last administrator stays one.
func (s *Server) adjustRole(c *call, user *mockbase.User, role mockbase.InstanceRole) (*mockbase.User, error) {
	if len(s.Federation.Roles) == 0 || user.Role == role {
		return user, nil
	}
	changed, err := s.Accounts.ChangeUser(s.besides(c, "updateUser", user), mockbase.UserChange{ID: user.ID, At: s.clock(), Change: func(u *mockbase.User) error {
		u.Role, u.UpdatedAt = role, s.clock()
		u.Epoch++
		return nil
	}})
	if mockbase.ErrorCode(err) == mockbase.CodeLastAdmin {
		s.note(c, slog.LevelWarn, "the last administrator keeps the role that no group gives", user.ID)
		return user, nil
	}
	return changed, err
}

// adjustMemberships makes a user's roles, in the projects that groups are about, those that the groups give. A last owner
// stays one; a project that does not exist is left out.
func (s *Server) adjustMemberships(c *call, user *mockbase.User, roles map[string]mockbase.ProjectRole) error {
	for slug, role := range roles {
		snapshot, ok := s.Catalog.Project(slug)
		if !ok {
			continue
		}
		current, err := s.Accounts.ProjectRole(c.ctx(), snapshot.Project.ID, user.ID)
		if err != nil {
			return err
		}
		switch {
		case current == role:
			continue
		case role == mockbase.RoleNone:
			err = s.Accounts.DeleteMember(s.besides(c, "deleteMember", user), snapshot.Project.ID, user.ID)
		default:
			_, err = s.Accounts.PutMember(s.besides(c, "putMember", user), snapshot.Project.ID, user.ID, role, s.clock())
		}
		if mockbase.ErrorCode(err) == mockbase.CodeLastOwner {
			s.note(c, slog.LevelWarn, "the last owner of a project keeps the role that no group gives", user.ID)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mayUsePassword refuses passwords where they are switched off. While no administrator signs in by the identity provider, an
// administrator's password still works, so that nobody is locked out (rule M-43).
func (s *Server) mayUsePassword(c *call, user *mockbase.User) error {
	if !s.HidePasswords || s.Federation == nil {
		return nil
	}
	if user.Role == mockbase.InstanceAdmin {
		admins, err := s.Accounts.FederatedAdmins(c.ctx(), s.Federation.Issuer)
		if err != nil || admins == 0 {
			return err
		}
	}
	return &mockbase.Error{Code: mockbase.CodePasswordsHidden, Message: "passwords are switched off on this server", Hint: "sign in by the identity provider at " + federationStart}
}
