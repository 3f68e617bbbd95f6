package management

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mockbase/mockbase/management/auth"
)

// The names of the refresh cookie (rule M-35). The prefix makes a browser demand TLS, and makes sure that no other host
// set it.
const (
	secureCookie = "__Host-mb_rt"
	plainCookie  = "mb_rt"
)

// The values of refresh in the answer to a sign-in.
const (
	refreshByCookie = "cookie"
	refreshByNone   = "none"
)

// cookieName is the name of the refresh cookie for a request, "" where none may be set: over plain HTTP on a name that
// is not loopback, everybody on the way could read it.
func (s *Server) cookieName(r *http.Request) string {
	switch {
	case r.TLS != nil:
		return secureCookie
	case loopbackName(hostName(r.Host)):
		return plainCookie
	case s.behindTLS(r):
		return secureCookie
	case s.InsecureCookies:
		return plainCookie
	default:
		return ""
	}
}

// behindTLS tells whether the request was sent to the public address and that is https: a proxy ends TLS before us.
func (s *Server) behindTLS(r *http.Request) bool {
	at, err := url.Parse(s.PublicURL)
	return err == nil && at.Scheme == "https" && hostName(at.Host) == hostName(r.Host)
}

// setRefresh hands a refresh token to the browser, where it may keep one, and tells whether it may.
func (s *Server) setRefresh(c *call, token string, until time.Time) string {
	name := s.cookieName(c.Request())
	if name == "" {
		return refreshByNone
	}
	life := min(until.Sub(s.clock()), auth.RefreshIdle)
	http.SetCookie(c.Response(), refreshCookie(name, token, int(life.Seconds())))
	return refreshByCookie
}

// clearRefresh makes the browser forget its refresh token.
func (s *Server) clearRefresh(c *call) {
	if name := s.cookieName(c.Request()); name != "" {
		http.SetCookie(c.Response(), refreshCookie(name, "", -1))
	}
}

func refreshCookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS only on loopback, or where the operator asks for it (M-35)
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		Secure: name == secureCookie, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// refreshToken reads the token that the browser sent. Only the cookie that would be set here is read: over TLS one
// without the prefix may have been planted by another host of the domain.
func (s *Server) refreshToken(c *call) (auth.Refresh, bool) {
	name := s.cookieName(c.Request())
	if name == "" {
		return auth.Refresh{}, false
	}
	sent := c.Request().CookiesNamed(name)
	if len(sent) != 1 {
		return auth.Refresh{}, false
	}
	return s.Keys.ReadRefresh(sent[0].Value)
}
