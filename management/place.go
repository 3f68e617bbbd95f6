package management

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mockbase/mockbase"
)

// csrfHeader is what a page of another origin cannot send without asking first (rule M-35).
const csrfHeader = "Mockbase-Csrf"

// checkPlace refuses requests that were sent to a name that is not ours, or by a page of another origin (rule M-17). The
// probes are answered under every name: an orchestrator asks by address, and there is nothing to learn from them.
func (s *Server) checkPlace(c *call) error {
	r := c.Request()
	if c.route != nil && (c.route.path == "/healthz" || c.route.path == "/readyz") {
		return nil
	}
	return s.refusePlace(r)
}

// refusePlace is checkPlace without regard to the route.
func (s *Server) refusePlace(r *http.Request) error {
	if len(s.AllowedHosts) > 0 && !s.knownHost(r.Host) {
		return &mockbase.Error{
			Code: mockbase.CodeHostRefused, Message: "this server is not known as " + shown(r.Host),
			Hint: "name the host in MOCKBASE_ALLOWED_HOSTS",
		}
	}
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return nil
	}
	if len(sent) > 1 || !s.knownOrigin(sent[0], r) {
		return &mockbase.Error{
			Code: mockbase.CodeOriginRefused, Message: "pages of " + shown(strings.Join(sent, ", ")) + " may not call this server",
			Hint: "name the origin in MOCKBASE_MANAGEMENT_ORIGINS",
		}
	}
	return nil
}

func (s *Server) knownHost(host string) bool {
	name := hostName(host)
	return loopbackName(name) || s.hosts[name]
}

// knownOrigin tells whether a page of this origin may call: one of ours, or a listed one.
func (s *Server) knownOrigin(text string, r *http.Request) bool {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return false
	}
	if s.origins[originOf(at)] || originOf(at) == s.publicOrigin() {
		return true
	}
	return originOf(at) == originOf(&url.URL{Scheme: s.ownScheme(r, at.Scheme), Host: r.Host})
}

// ownScheme is that of the address by which a client sees us. Behind a proxy that ends TLS only the public URL tells it; where
// that is silent, the host alone tells sites apart.
func (s *Server) ownScheme(r *http.Request, otherwise string) string {
	public, err := url.Parse(s.PublicURL)
	switch {
	case r.TLS != nil:
		return "https"
	case err == nil && public.Host != "" && originOf(public) == originOf(&url.URL{Scheme: public.Scheme, Host: r.Host}):
		return public.Scheme
	default:
		return otherwise
	}
}

func (s *Server) publicOrigin() string {
	at, err := url.Parse(s.PublicURL)
	if err != nil {
		return ""
	}
	return originOf(at)
}

// share lets a listed origin read the answer, whatever it is: a refusal by the shield is not to look like one by the
// browser. Ours needs no permission and gets no field.
func (s *Server) share(h http.Header, r *http.Request) {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	at, err := url.Parse(sent[0])
	if err != nil || len(sent) > 1 || !s.origins[originOf(at)] {
		return
	}
	h.Set("Access-Control-Allow-Origin", sent[0])
	h.Set("Access-Control-Expose-Headers", "Accept-Patch, Allow, Content-Disposition, ETag, Idempotency-Replayed, Link, Location, Mockbase-Limited-By, Mockbase-Warnings, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id")
}

// preflight answers a listed origin that asks before it calls, and tells whether it did.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request, allowed string) bool {
	sent := r.Header.Values("Origin")
	if r.Method != http.MethodOptions || len(sent) != 1 || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	at, err := url.Parse(sent[0])
	if err != nil || !s.origins[originOf(at)] {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", allowed)
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id, "+csrfHeader)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// checkCookieUse refuses a request that uses the refresh cookie and may have been caused by another site (rules M-17 and
// M-35). A browser sends the header only from a page that may send it, and says in Sec-Fetch-Site where that page is.
func checkCookieUse(c *call) error {
	if c.route.access != accessCookie {
		return nil
	}
	h := c.Request().Header
	site := h.Get("Sec-Fetch-Site")
	if site == "cross-site" || site == "same-site" {
		return &mockbase.Error{Code: mockbase.CodeOriginRefused, Message: "a page of another site caused this request"}
	}
	if h.Get(csrfHeader) != "1" {
		return &mockbase.Error{
			Code: mockbase.CodeOriginRefused, Message: "the header " + csrfHeader + " is missing", Hint: "send " + csrfHeader + ": 1",
		}
	}
	return nil
}

// hostName is the name in a Host field, without the port, in small letters.
func hostName(host string) string {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// loopbackName tells whether a name stands for this machine alone. DNS cannot point it anywhere else (RFC 6761).
func loopbackName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.Unmap().IsLoopback()
}

// originOf writes an origin in one form: small letters, no default port.
func originOf(at *url.URL) string {
	if at.Host == "" {
		return ""
	}
	port := at.Port()
	if at.Scheme == "http" && port == "80" || at.Scheme == "https" && port == "443" {
		port = ""
	}
	return at.Scheme + "://" + net.JoinHostPort(strings.ToLower(at.Hostname()), port)
}
