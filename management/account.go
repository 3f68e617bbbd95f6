package management

import (
	"log/slog"
	"net/http"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// logoutEverywhere ends all sign-ins of the caller, this one too (M-105).
func (s *Server) logoutEverywhere(c *call) error {
	if err := s.endEverything(c, c.caller.user); err != nil {
		return err
	}
	s.clearRefresh(c)
	return c.nothing()
}

// endEverything ends the sign-ins of a user and the access tokens that are out (rule M-39).
func (s *Server) endEverything(c *call, u *mockbase.User) error {
	c.noteTarget(u.ID, u.Email, nil, nil)
	_, err := s.Accounts.ChangeUser(c.ctx(), mockbase.UserChange{
		ID: u.ID, EndSignIns: true, At: s.clock(),
		Change: func(u *mockbase.User) error { u.Epoch++; return nil },
	})
	return err
}

// prove compares a password with that of the caller, and holds back who guesses (rule M-37).
func (s *Server) prove(c *call, password string) error {
	u := c.caller.user
	done, err := s.slowdown.await(c.ctx(), u.Email)
	if err != nil {
		return err
	}
	defer done()
	match, _, err := s.hasher.Verify(c.ctx(), u.PasswordHash, password)
	if err != nil {
		return err
	}
	if !match {
		s.slowdown.failed(u.Email)
		s.note(c, slog.LevelWarn, "password refused", u.ID)
		return mockbase.Errorf(mockbase.CodeInvalidCredentials, "the password is wrong")
	}
	return nil
}

// reauthenticate makes the sign-in a fresh one again (M-106). The refresh token stays the one that the browser has.
func (s *Server) reauthenticate(c *call) error {
	var password string
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("password", &password)
		f.Required("password")
	})
	if err != nil {
		return err
	}
	if err := s.prove(c, password); err != nil {
		return err
	}
	who := *c.caller
	signIn := *who.signIn
	signIn.AuthTime = s.clock()
	who.signIn = &signIn
	c.noteTarget(who.user.ID, who.user.Email, nil, nil)
	if err := s.Accounts.RenewSignIn(c.ctx(), signIn.ID, signIn.AuthTime); err != nil {
		return orRevoked(err)
	}
	refresh := refreshByNone
	if s.cookieName(c.Request()) != "" {
		refresh = refreshByCookie
	}
	return s.answerTokens(c, http.StatusOK, &who, refresh)
}

// updateMe changes the caller's name and e-mail address (M-108). A new address needs a fresh sign-in (rule M-40).
func (s *Server) updateMe(c *call) error {
	before := *c.caller.user
	after := before
	err := c.object(typeMergePatch, func(f *mockbase.Fields) {
		readName(f, &after.Name)
		if f.Text("email", &after.Email) {
			checkEmail(f, after.Email)
			after.Email = plainEmail(after.Email)
		}
		ownID(f, before.ID)
		f.ReadOnly("role", "disabled", "lastSeenAt", "createdAt")
	})
	if err != nil {
		return err
	}
	if after.Email != before.Email {
		if err := s.askFresh(c); err != nil {
			return err
		}
	}
	c.noteTarget(after.ID, after.Email, viewUser(&before), viewUser(&after))
	changed, err := s.Accounts.ChangeUser(c.ctx(), mockbase.UserChange{ID: before.ID, At: s.clock(), Change: func(u *mockbase.User) error {
		u.Name, u.Email, u.UpdatedAt = after.Name, after.Email, s.clock()
		return nil
	}})
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewUser(changed))
}

// readName reads the name of a person.
func readName(f *mockbase.Fields, to *string) {
	if f.Line("name", to) && utf8.RuneCountInString(*to) > maxUserName {
		f.Fault("name", mockbase.FieldLimit, "must have at most %d characters", maxUserName)
	}
}

// changePassword gives the caller another password (M-109). All other sign-ins end; API tokens stay (rule M-82).
func (s *Server) changePassword(c *call) error {
	var current, wanted string
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("currentPassword", &current)
		f.Text("newPassword", &wanted)
		f.Required("currentPassword", "newPassword")
	})
	if err != nil {
		return err
	}
	if err := s.prove(c, current); err != nil {
		return err
	}
	u := c.caller.user
	hash, err := s.newHash(c, "#/newPassword", wanted, u.Email)
	if err != nil {
		return err
	}
	c.noteTarget(u.ID, u.Email, nil, nil)
	// The access tokens of other sign-ins end with them. Raising the epoch would end the caller's own as well.
	_, err = s.Accounts.ChangeUser(c.ctx(), mockbase.UserChange{
		ID: u.ID, EndSignIns: true, KeepSignIn: c.caller.signIn.ID, At: s.clock(), Change: setPassword(hash, s.clock()),
	})
	if err != nil {
		return err
	}
	s.note(c, slog.LevelInfo, "password changed", u.ID)
	return c.nothing()
}

// newHash judges a new password and hashes it.
func (s *Server) newHash(c *call, pointer, password, email string) (string, error) {
	if err := auth.CheckPassword(pointer, password, email); err != nil {
		return "", err
	}
	return s.hasher.Hash(c.ctx(), password)
}

// resetPassword gives a user another password by the secret of a link (M-110). Every sign-in ends.
func (s *Server) resetPassword(c *call) error {
	var token, wanted string
	err := c.object(typeJSON, func(f *mockbase.Fields) {
		f.Text("token", &token)
		f.Text("newPassword", &wanted)
		f.Required("token", "newPassword")
	})
	if err != nil {
		return err
	}
	secret, now := auth.ReadLinkSecret(token), s.clock()
	open, err := s.Accounts.PasswordResetByHash(c.ctx(), secret.Hash, now)
	if err != nil {
		return deadLink(err)
	}
	u, err := s.Accounts.UserByID(c.ctx(), open.UserID)
	if err != nil {
		return deadLink(err)
	}
	hash, err := s.newHash(c, "#/newPassword", wanted, u.Email)
	if err != nil {
		return err
	}
	c.noteTarget(u.ID, u.Email, nil, nil)
	set := setPassword(hash, now)
	_, err = s.Accounts.UsePasswordReset(c.ctx(), secret.Hash, mockbase.UserChange{EndSignIns: true, At: now, Change: func(u *mockbase.User) error {
		u.Epoch++
		return set(u)
	}})
	if err != nil {
		return deadLink(err)
	}
	s.note(c, slog.LevelInfo, "password reset", u.ID)
	return c.nothing()
}

// deadLink says of a link that is used up, too old or invented that it is none of the living.
func deadLink(err error) error {
	if mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		return err
	}
	return &mockbase.Error{
		Code: mockbase.CodeInvalidCredentials, Message: "this link was used already, has expired, or was never given", Hint: "ask for another one",
	}
}

// signInView is a sign-in as its user sees it (M-111).
type signInView struct {
	ID         string `json:"id"`
	CreatedAt  string `json:"createdAt"`
	LastUsedAt string `json:"lastUsedAt"`
	IP         string `json:"ip"`
	UserAgent  string `json:"userAgent"`
	Current    bool   `json:"current"`
}

// listSignIns lists where the caller is signed in (M-111).
func (s *Server) listSignIns(c *call) error {
	l, err := c.params().listing("-lastUsedAt", "createdAt")
	if err != nil {
		return err
	}
	views, err := s.signInsOf(c, c.caller.user.ID)
	if err != nil {
		return err
	}
	total := len(views)
	onPage, next := cut(l, views, func(v signInView) key {
		if l.sort == "createdAt" {
			return key{Text: v.CreatedAt, ID: v.ID}
		}
		return key{Text: v.LastUsedAt, ID: v.ID}
	})
	return c.list(l, onPage, total, next)
}

// signInsOf are the sign-ins of a user that can still be used.
func (s *Server) signInsOf(c *call, userID string) ([]signInView, error) {
	now := s.clock()
	all, err := s.Accounts.SignInsOf(c.ctx(), userID, now)
	if err != nil {
		return nil, err
	}
	views := []signInView{}
	for _, in := range all {
		if alive(in, now) == nil {
			views = append(views, signInView{
				ID: in.ID, CreatedAt: timeText(in.CreatedAt), LastUsedAt: timeText(in.LastUsedAt), IP: in.IP, UserAgent: in.UserAgent,
				Current: c.caller.signIn != nil && c.caller.signIn.ID == in.ID,
			})
		}
	}
	return views, nil
}

// endSignIn ends one sign-in of the caller (M-112). That of somebody else does not exist for them.
func (s *Server) endSignIn(c *call) error {
	id, err := pathParam(c, "id")
	if err != nil {
		return err
	}
	found, err := s.Accounts.SignIn(c.ctx(), id)
	if err != nil && mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		return err
	}
	if err != nil || found.UserID != c.caller.user.ID || alive(found, s.clock()) != nil {
		return mockbase.Errorf(mockbase.CodeNotFound, "you have no such sign-in")
	}
	if err := s.Accounts.RevokeSignIn(c.ctx(), id, s.clock()); err != nil {
		return err
	}
	return c.nothing()
}
