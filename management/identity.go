package management

import (
	"strings"

	"github.com/mockbase/mockbase"
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
	found, err := s.bearer(c, token)
	if err != nil {
		return err
	}
	c.caller, c.credential = found, token
	return nil
}

// bearer looks up whom an access token belongs to, and whether that user and that sign-in still are what they were when
// it was issued (rule M-39).
func (s *Server) bearer(c *call, token string) (*caller, error) {
	claims, err := s.Keys.Verify(token)
	if err != nil {
		return nil, err
	}
	user, err := s.Accounts.UserByID(c.ctx(), claims.UserID)
	if err != nil {
		return nil, orRevoked(err)
	}
	signIn, err := s.Accounts.SignIn(c.ctx(), claims.SignInID)
	if err != nil {
		return nil, orRevoked(err)
	}
	if user.Disabled || user.Epoch != claims.Epoch || signIn.UserID != user.ID || !signIn.RevokedAt.IsZero() {
		return nil, revoked()
	}
	return &caller{user: user, signIn: signIn}, nil
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
