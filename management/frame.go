package management

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// The keys of log attributes.
const (
	keyError     = "error"
	keyRequestID = "request_id"
	keyUser      = "user_id"
	keyClient    = "client"
)

// apiPrefix is where everything lives that the limiter counts (rules M-1 and M-16).
const apiPrefix = "/api/v1"

// maxTarget is the longest request target in bytes (rule M-9).
const maxTarget = 8 << 10

// maxRequestID is the longest request id that is taken over from a request (rule M-5).
const maxRequestID = 64

type requestIDKey struct{}

// RequestID returns the id of the request that ctx belongs to, "" if it has none. The limiter's own answer needs it for
// the members that this plane adds.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// frame gives every answer its headers and every request its id, and then lets requests below /api/v1 pass the shield.
func (s *Server) frame(shield func(http.Handler) http.Handler) http.Handler {
	router := s.banned(http.HandlerFunc(s.route))
	counted := router
	if shield != nil {
		counted = s.counted(shield, router)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := RequestIDOf(r, s.clock())
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
		setHeaders(w.Header(), r, id)
		s.share(w.Header(), r)
		if isAPI(r) {
			counted.ServeHTTP(w, r)
			return
		}
		router.ServeHTTP(w, r)
	})
}

// counted puts the shield before the API. Where it refuses what takes a secret, because its store is gone, it is signing in
// that is unavailable (rule M-37).
func (s *Server) counted(shield func(http.Handler) http.Handler, router http.Handler) http.Handler {
	plain := behind(shield, nil, router)
	signIn := refusedAs(refusalForm{code: mockbase.CodeRateLimited, login: true}, shield, router)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.secrets[r.Method+" "+echo.GetPath(r)] {
			signIn.ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

// TakesSecret tells whether requests at a path are about signing in, so that the limit and the bans of that stand before
// them.
func (s *Server) TakesSecret(path string) bool {
	for at := range s.secrets {
		if strings.HasSuffix(at, " "+path) {
			return true
		}
	}
	return false
}

// secretRoutes are the methods and paths of the routes that take a secret from a person.
func secretRoutes() map[string]bool {
	secret := make(map[string]bool)
	for _, rt := range routes() {
		if rt.secret {
			secret[rt.method+" "+rt.path] = true
		}
	}
	return secret
}

// route refuses targets that are too long and hands the rest to Echo.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if len(r.RequestURI) > maxTarget {
		s.writeProblem(w, r, mockbase.Errorf(mockbase.CodeTargetTooLong, "the request target has %d bytes, at most %d are read", len(r.RequestURI), maxTarget))
		return
	}
	if r.Method == http.MethodConnect && !strings.HasPrefix(r.RequestURI, "/") {
		s.writeProblem(w, r, withHeader(mockbase.Errorf(mockbase.CodeMethodNotAllowed, "CONNECT asks for a tunnel, and this is no proxy"), "Allow", "GET, HEAD"))
		return
	}
	s.echo.ServeHTTP(w, r)
}

// isAPI tells whether Echo would look for the request's route below /api/v1. It reads the path as Echo does, as it was
// sent: a path in other letters or with escapes meets no route on either side.
func isAPI(r *http.Request) bool {
	path := echo.GetPath(r)
	return path == apiPrefix || strings.HasPrefix(path, apiPrefix+"/")
}

// RequestIDOf is the id that a request brings, or else a new one (rule M-5).
func RequestIDOf(r *http.Request, now time.Time) string {
	if sent := r.Header.Values("X-Request-Id"); len(sent) == 1 && validRequestID(sent[0]) {
		return sent[0]
	}
	return mockbase.NewID("req_", now)
}

func validRequestID(id string) bool {
	const known = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return id != "" && len(id) <= maxRequestID && strings.Trim(id, known) == ""
}

// setHeaders sets the fields of every answer (rule M-18). A page replaces the policy by its own.
func setHeaders(h http.Header, r *http.Request, id string) {
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// recovered turns a panic of a handler into an error, so that it is answered and logged like any other. The server's
// own abort passes.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				err = fmt.Errorf("handle %s: panic: %v", c.Path(), cause)
				s.log.LogAttrs(c.Request().Context(), slog.LevelError, "handler panicked",
					slog.String(keyRequestID, RequestID(c.Request().Context())), slog.String("stack", string(debug.Stack())))
			}
		}()
		return next(c)
	}
}
