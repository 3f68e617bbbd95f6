package management

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// maxUserAgent is how much of a User-Agent is kept (rule M-20).
const maxUserAgent = 256

// authStatus is what the page before a sign-in asks (M-100).
func (s *Server) authStatus(c *call) error {
	users, err := s.Accounts.UserCount(c.ctx())
	if err != nil {
		return err
	}
	now := s.settings()
	return c.json(http.StatusOK, struct {
		SetupRequired  bool     `json:"setupRequired"`
		PasswordSignIn bool     `json:"passwordSignIn"`
		OIDC           bool     `json:"oidc"`
		Instance       Instance `json:"instance"`
	}{SetupRequired: users == 0, PasswordSignIn: !s.HidePasswords, OIDC: s.Federation != nil, Instance: Instance{Name: now.Name, Color: now.Color}})
}

// credentials are what a person signs in with.
type credentials struct{ email, password string }

// login signs a user in with the password (M-102). Whether the account is unknown, disabled or has another password
// makes no difference in status, body or time (rule M-36).
func (s *Server) login(c *call) error {
	var in credentials
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("email", &in.email)
		f.Text("password", &in.password)
		f.Required("email", "password")
	})
	if err != nil {
		return err
	}
	account := plainEmail(in.email)
	c.attempt = account
	done, err := s.slowdown.await(c.ctx(), account)
	if err != nil {
		return err
	}
	defer done()
	user, err := s.authenticate(c, in)
	if mockbase.ErrorCode(err) == mockbase.CodeInvalidCredentials {
		s.slowdown.failed(account)
		return s.refuseLogin(c, err)
	}
	if err != nil {
		return err
	}
	if err := s.mayUsePassword(c, user); err != nil {
		return err
	}
	return s.signIn(c, http.StatusOK, user)
}

// refuseLogin says what was wrong with a sign-in. On a server without users it is that there is nobody to sign in.
func (s *Server) refuseLogin(c *call, err error) error {
	users, countErr := s.Accounts.UserCount(c.ctx())
	if countErr != nil {
		return countErr
	}
	if users == 0 {
		return &mockbase.Error{
			Code: mockbase.CodeSetupRequired, Message: "this server has no users yet", Hint: "create the first administrator at /setup",
		}
	}
	s.note(c, slog.LevelWarn, "sign-in refused", "")
	return err
}

func invalidCredentials() error {
	return mockbase.Errorf(mockbase.CodeInvalidCredentials, "the e-mail address or the password is wrong")
}

// authenticate finds the user that credentials belong to. Every way through it computes one password hash.
func (s *Server) authenticate(c *call, in credentials) (*mockbase.User, error) {
	user, err := s.Accounts.UserByEmail(c.ctx(), plainEmail(in.email))
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		if err := s.hasher.VerifyNobody(c.ctx(), in.password); err != nil {
			return nil, err
		}
		return nil, invalidCredentials()
	}
	if err != nil {
		return nil, err
	}
	match, renew, err := s.hasher.Verify(c.ctx(), user.PasswordHash, in.password)
	if err != nil {
		return nil, err
	}
	if !match || user.Disabled {
		return nil, invalidCredentials()
	}
	if renew {
		return s.renewHash(c, user, in.password)
	}
	return user, nil
}

// renewHash replaces a stored hash that is weaker than new ones are. The user is read again, so that a change made
// while the password was checked stays.
func (s *Server) renewHash(c *call, user *mockbase.User, password string) (*mockbase.User, error) {
	hash, err := s.hasher.Hash(c.ctx(), password)
	if err != nil {
		return nil, err
	}
	fresh, err := s.Accounts.UserByID(c.ctx(), user.ID)
	if err != nil {
		return nil, err
	}
	if fresh.Disabled || fresh.PasswordHash != user.PasswordHash {
		return nil, invalidCredentials()
	}
	fresh.PasswordHash, fresh.UpdatedAt = hash, s.clock()
	// The entry about the sign-in is written when it begins.
	if err := s.Accounts.UpdateUser(mockbase.WithAudit(c.ctx(), nil), fresh); err != nil {
		return nil, err
	}
	return fresh, nil
}

// signIn begins a sign-in of a user who proved who they are, and answers with its first tokens.
func (s *Server) signIn(c *call, status int, user *mockbase.User) error {
	begun, refresh, err := s.beginSignIn(c, user, s.clock())
	if err != nil {
		return err
	}
	return s.answerSignIn(c, status, &caller{user: user, signIn: begun}, refresh)
}

// beginSignIn stores a sign-in of a user who gave their proof at provedAt.
func (s *Server) beginSignIn(c *call, user *mockbase.User, provedAt time.Time) (*mockbase.SignIn, auth.Refresh, error) {
	now := s.clock()
	id := mockbase.NewID(mockbase.PrefixSignIn, now)
	refresh := s.Keys.NewRefresh(id)
	agent := c.Request().UserAgent()
	if len(agent) > maxUserAgent {
		agent = strings.ToValidUTF8(agent[:maxUserAgent], "")
	}
	begun := &mockbase.SignIn{
		ID: id, UserID: user.ID, CurrentHash: refresh.Hash, CreatedAt: now, LastUsedAt: now, AuthTime: provedAt,
		ExpiresAt: now.Add(auth.RefreshLife), IP: s.ClientAddress(c.Request()).String(), UserAgent: agent,
	}
	c.noteAudit(func(e *mockbase.AuditEntry) {
		e.Actor = mockbase.AuditActor{Type: actorUser, ID: user.ID, Label: user.Email}
		e.Target = mockbase.AuditTarget{Type: "user", ID: user.ID, Name: user.Email}
	})
	if err := s.Accounts.CreateSignIn(c.ctx(), begun); err != nil {
		return nil, auth.Refresh{}, err
	}
	s.note(c, slog.LevelInfo, "user signed in", user.ID)
	return begun, refresh, nil
}

// signInAnswer is the sign-in answer of rule M-60.
type signInAnswer struct {
	AccessToken string   `json:"accessToken"`
	TokenType   string   `json:"tokenType"`
	ExpiresIn   int      `json:"expiresIn"`
	Refresh     string   `json:"refresh"`
	User        userView `json:"user"`
}

// userView is a user as the API shows one (rule M-60).
type userView struct {
	ID         string                `json:"id"`
	Email      string                `json:"email"`
	Name       string                `json:"name"`
	Role       mockbase.InstanceRole `json:"role"`
	Disabled   bool                  `json:"disabled"`
	LastSeenAt *string               `json:"lastSeenAt"`
	CreatedAt  string                `json:"createdAt"`
}

// view shows the caller, who was seen when the sign-in was last used.
func (c *caller) view() userView {
	u := *c.user
	if c.signIn != nil && c.signIn.LastUsedAt.After(u.LastSeenAt) {
		u.LastSeenAt = c.signIn.LastUsedAt
	}
	return viewUser(&u)
}

func (s *Server) answerSignIn(c *call, status int, who *caller, refresh auth.Refresh) error {
	return s.answerTokens(c, status, who, s.setRefresh(c, refresh.Token, who.signIn.ExpiresAt))
}

// answerTokens answers with an access token, and with where the refresh token is.
func (s *Server) answerTokens(c *call, status int, who *caller, refresh string) error {
	access, err := s.Keys.Issue(auth.Claims{
		UserID: who.user.ID, SignInID: who.signIn.ID, AuthTime: who.signIn.AuthTime, Epoch: who.user.Epoch,
	})
	if err != nil {
		return err
	}
	return c.json(status, signInAnswer{
		AccessToken: access, TokenType: "Bearer", ExpiresIn: int(auth.AccessLife / time.Second),
		Refresh: refresh, User: who.view(),
	})
}

// logout ends the sign-in of the cookie and that of the access token, whichever are there, and clears the cookie
// (M-104). Without either it does nothing and says so with the same answer.
func (s *Server) logout(c *call) error {
	s.clearRefresh(c)
	if c.caller != nil && c.caller.signIn != nil {
		c.noteTarget(c.caller.user.ID, c.caller.user.Email, nil, nil)
		if err := s.Accounts.RevokeSignIn(c.ctx(), c.caller.signIn.ID, s.clock()); err != nil {
			return err
		}
	}
	if token, ok := s.refreshToken(c); ok {
		if err := s.Accounts.RevokeSignIn(c.ctx(), token.SignInID, s.clock()); err != nil {
			return err
		}
	}
	return c.nothing()
}

// refresh gives new tokens for a refresh token (M-103, rule M-34).
func (s *Server) refresh(c *call) error {
	token, ok := s.refreshToken(c)
	if !ok {
		return mockbase.Errorf(mockbase.CodeUnauthenticated, "there is no refresh cookie, or none of this server")
	}
	signIn, err := s.rotate(c, token)
	if err != nil {
		return err
	}
	user, err := s.Accounts.UserByID(c.ctx(), signIn.UserID)
	if err != nil {
		return orRevoked(err)
	}
	if user.Disabled {
		return revoked()
	}
	return s.answerSignIn(c, http.StatusOK, &caller{user: user, signIn: signIn}, s.Keys.Successor(token))
}

// rotate uses a refresh token up. For a short time after that it still yields the same successor, for the second tab that
// sent it at the same moment, whatever became of the successor; later than that somebody has a copy, and the sign-in ends.
func (s *Server) rotate(c *call, token auth.Refresh) (*mockbase.SignIn, error) {
	// Two looks are enough: who loses the race for the first rotation finds the token among those that were used up.
	for range 2 {
		signIn, err := s.Accounts.SignInByRefreshHash(c.ctx(), token.Hash)
		if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
			return nil, s.reused(c, token)
		}
		if err != nil {
			return nil, err
		}
		rotated, err := s.rotateOnce(c, signIn, token)
		if err != nil || rotated {
			return signIn, err
		}
	}
	return nil, revoked()
}

// rotateOnce uses a token up if it is the current one, and lets one that was used up lately pass. It tells whether the
// token was good.
func (s *Server) rotateOnce(c *call, signIn *mockbase.SignIn, token auth.Refresh) (bool, error) {
	now := s.clock()
	if err := alive(signIn, now); err != nil {
		return false, err
	}
	if !bytes.Equal(signIn.CurrentHash, token.Hash) {
		return s.pass(c, token, now)
	}
	rotated, err := s.Accounts.RotateSignIn(c.ctx(), signIn.ID, token.Hash, s.Keys.Successor(token).Hash, now)
	signIn.LastUsedAt = now
	return rotated, err
}

// pass lets a token that got its successor a short time ago yield it again. Each token has a time of its own: that the
// successor was used up since then is no sign of a copy. The store remembers a bounded number of tokens; a client that
// uses up more in that time is no browser.
func (s *Server) pass(c *call, token auth.Refresh, now time.Time) (bool, error) {
	rotatedAt, err := s.Accounts.RefreshRotatedAt(c.ctx(), token.SignInID, token.Hash)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return false, s.reused(c, token)
	}
	if err != nil {
		return false, err
	}
	if now.Sub(rotatedAt) > auth.RefreshGrace {
		return false, s.reused(c, token)
	}
	return true, nil
}

// alive tells whether a sign-in may still be refreshed.
func alive(signIn *mockbase.SignIn, now time.Time) error {
	switch {
	case !signIn.RevokedAt.IsZero():
		return revoked()
	case !now.Before(signIn.ExpiresAt), now.Sub(signIn.LastUsedAt) > auth.RefreshIdle:
		return &mockbase.Error{Code: mockbase.CodeTokenExpired, Message: "the sign-in has expired", Hint: "sign in again"}
	}
	return nil
}

// reused ends the sign-in of a token that was used up before: it is genuine, so somebody kept a copy. A sign-in that
// ended before, or was deleted, is only that.
func (s *Server) reused(c *call, token auth.Refresh) error {
	signIn, err := s.Accounts.SignIn(c.ctx(), token.SignInID)
	if err != nil {
		return orRevoked(err)
	}
	if err := alive(signIn, s.clock()); err != nil {
		return err
	}
	c.attempt = signIn.UserID
	if err := s.Accounts.RevokeSignIn(c.ctx(), signIn.ID, s.clock()); err != nil {
		return err
	}
	s.note(c, slog.LevelWarn, "refresh token reused", signIn.UserID)
	return &mockbase.Error{
		Code: mockbase.CodeRefreshReused, Message: "this refresh token was used before, so its sign-in has been ended", Hint: "sign in again",
	}
}

// me tells who the caller is and which projects they see (M-107).
func (s *Server) me(c *call) error {
	roles, err := s.Accounts.Memberships(c.ctx(), c.caller.user.ID)
	if err != nil {
		return err
	}
	projects := s.membershipsOf(func(id string) mockbase.ProjectRole { return c.caller.roleIn(id, roles) })
	answer := struct {
		User     *userView        `json:"user"`
		Token    *tokenView       `json:"token,omitempty"`
		Projects []membershipView `json:"projects"`
		Scopes   []string         `json:"scopes,omitempty"`
	}{Projects: projects}
	if !c.caller.service() {
		user := c.caller.view()
		answer.User = &user
	}
	if t := c.caller.token; t != nil {
		view := s.viewToken(t)
		answer.Token, answer.Scopes = &view, view.Scopes
	}
	return c.json(http.StatusOK, answer)
}

// note logs what happened to an account: who, from where, in which request, and never a secret.
func (s *Server) note(c *call, level slog.Level, what, userID string) {
	s.log.LogAttrs(c.ctx(), level, what, slog.String(keyUser, userID), //nolint:sloglint // the callers' messages are constants
		slog.String(keyClient, s.ClientAddress(c.Request()).String()), slog.String(keyRequestID, RequestID(c.ctx())))
}
