package management

import (
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// identify finds out who sent the request. A credential that is sent must be good, also where none is needed (rule
// M-30). Cookies are no credential here: refresh and logout read theirs themselves.
func (s *Server) identify(c *call) error {
	sent := c.Request().Header.Values("Authorization")
	free := c.route.access == accessAnyone || c.route.access == accessCookie
	if free && (len(sent) == 0 || !isAPI(c.Request())) {
		return nil
	}
	if len(sent) == 0 {
		if taken, err := s.takeTicket(c); taken {
			return err
		}
		return &mockbase.Error{
			Code: mockbase.CodeUnauthenticated, Message: "this address needs a credential", Hint: "send Authorization: Bearer with an access token",
		}
	}
	if len(sent) > 1 {
		return mockbase.Errorf(mockbase.CodeUnauthenticated, "the header Authorization is given more than once")
	}
	scheme, token, _ := strings.Cut(sent[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return mockbase.Errorf(mockbase.CodeUnauthenticated, "only the scheme Bearer is known here")
	}
	found, err := s.holder(c, token)
	if err != nil {
		return err
	}
	c.caller, c.credential = found, token
	return nil
}

// holder finds out whose credential it is, an access token or an API token.
func (s *Server) holder(c *call, credential string) (*caller, error) {
	if auth.LooksLikeAPIToken(credential) {
		return s.apiToken(c, credential)
	}
	return s.bearer(c, credential)
}

// bearer looks up whom an access token belongs to, and whether that user and that sign-in still are what they were when
// it was issued (rule M-39).
func (s *Server) bearer(c *call, token string) (*caller, error) {
	claims, err := s.Keys.Verify(token)
	if err != nil {
		return nil, err
	}
	signIn, user, err := s.Accounts.SignedIn(c.ctx(), claims.SignInID)
	if err != nil {
		return nil, orRevoked(err)
	}
	if user.ID != claims.UserID || user.Disabled || user.Epoch != claims.Epoch || !signIn.RevokedAt.IsZero() {
		return nil, revoked()
	}
	return &caller{user: user, signIn: signIn, authTime: claims.AuthTime}, nil
}

// apiToken looks up an API token and, of a personal one, its owner (rule M-41). What has the wrong checksum, or is there
// for mocks alone, is refused without a look-up.
func (s *Server) apiToken(c *call, text string) (*caller, error) {
	read, ok := auth.ReadAPIToken(text)
	if !ok {
		return nil, mockbase.Errorf(mockbase.CodeUnauthenticated, "this is no API token: a character is wrong or missing")
	}
	if read.Kind == mockbase.TokenPublic {
		return nil, mockbase.Errorf(mockbase.CodeUnauthenticated, "a public token calls mocks, in the header Mockbase-Token, and nothing else")
	}
	found, err := s.Accounts.TokenByHash(c.ctx(), read.Hash)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return nil, &mockbase.Error{Code: mockbase.CodeTokenRevoked, Message: "this token was deleted, or is not of this server", Hint: "make another one"}
	}
	if err != nil {
		return nil, err
	}
	now, from := s.clock(), s.ClientAddress(c.Request())
	switch {
	case found.Kind != read.Kind:
		return nil, mockbase.Errorf(mockbase.CodeUnauthenticated, "this is no API token")
	case !found.ExpiresAt.IsZero() && !now.Before(found.ExpiresAt):
		return nil, &mockbase.Error{Code: mockbase.CodeTokenExpired, Message: "this token has expired", Hint: "make another one"}
	case !fromAllowed(found, from):
		return nil, mockbase.Errorf(mockbase.CodeUnauthenticated, "this token may not be used from this address")
	}
	who := &caller{token: found, user: &mockbase.User{ID: found.ID, Email: found.Name, Name: found.Name, Role: mockbase.InstanceMember}}
	if found.Kind == mockbase.TokenPersonal {
		if who.user, err = s.Accounts.UserByID(c.ctx(), found.CreatedBy); err != nil {
			return nil, orRevoked(err)
		}
		if who.user.Disabled {
			return nil, revoked()
		}
	}
	touch(c.ctx(), s.Accounts, found, now, from)
	return who, nil
}

// orRevoked turns what is not there any more into a revoked token, and leaves other failures alone.
func orRevoked(err error) error {
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		return revoked()
	}
	return err
}

func revoked() error {
	return &mockbase.Error{Code: mockbase.CodeTokenRevoked, Message: "the sign-in behind this token has ended", Hint: "sign in again"}
}
