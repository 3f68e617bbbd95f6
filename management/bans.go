package management

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// maxSignInBody is the longest body in bytes that an account is looked for in. That of a person's sign-in is far shorter.
const maxSignInBody = 16 << 10

type accountKey struct{}

// SignInAccount returns the account that a request names whose context this is, as [Options].LoginBan counts it: the
// e-mail address in the form that accounts are looked up by. It is empty where the request names none, and where its body
// is so long or so odd that no client for people would have sent it.
func SignInAccount(ctx context.Context) string {
	account, _ := ctx.Value(accountKey{}).(string)
	return account
}

// banned puts LoginBan before what takes a password or a code. It stands outside of the router, which writes answers that
// handlers only return. Requests that are refused for their place pass it by: no secret is looked at for them, and a page
// of another origin shall not get its visitors banned (rules M-17 and M-37).
func (s *Server) banned(router http.Handler) http.Handler {
	if s.LoginBan == nil {
		return router
	}
	guarded := refusedAs(refusalForm{code: mockbase.CodeLoginBanned, login: true}, s.LoginBan, router)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.secrets[r.Method+" "+echo.GetPath(r)] || s.refusePlace(r) != nil {
			router.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, withAccount(w, r))
	})
}

// withAccount reads the beginning of a body, finds the account in it and puts it back. Reading ends with the time that a
// handler has (rule M-9).
func withAccount(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.ContentLength == 0 || r.ContentLength > maxSignInBody {
		return r
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok {
		_ = http.NewResponseController(w).SetReadDeadline(deadline) // A writer that knows none goes without.
	}
	head, err := io.ReadAll(io.LimitReader(r.Body, maxSignInBody+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = brokenBody{err}
	}
	known := r.WithContext(context.WithValue(r.Context(), accountKey{}, accountOf(head)))
	known.Body = &putBack{Reader: io.MultiReader(bytes.NewReader(head), rest), Closer: r.Body}
	return known
}

// accountOf finds the account in a body by the parser that its handler uses, so that the two cannot see different ones.
func accountOf(text []byte) string {
	tree, err := mockbase.ParseNode(text, mockbase.FormatJSON, mockbase.ParseLimits{Bytes: maxSignInBody})
	if err != nil {
		return ""
	}
	email := tree.Find("email")
	if email == nil || email.Kind != mockbase.NodeText {
		return ""
	}
	return plainEmail(email.Text)
}

// putBack is a body whose beginning was read before.
type putBack struct {
	io.Reader
	io.Closer
}

// brokenBody goes on failing as a body did.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }
