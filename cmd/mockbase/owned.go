package main

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// ownedListener serves the mocks of one project at /, and nothing else (rule C-21).
type ownedListener struct {
	net.Listener

	slug string
}

// hosts sends requests for a host of a project's own to that project, and all others on.
type hosts struct {
	own  map[string]http.Handler
	rest http.Handler
}

var _ http.Handler = (*hosts)(nil)

// withHosts puts the hosts of projects before what else a listener serves.
func (s *server) withHosts(rest http.Handler) http.Handler {
	if len(s.settings.ProjectHost) == 0 {
		return rest
	}
	h := &hosts{own: map[string]http.Handler{}, rest: rest}
	for _, own := range s.settings.ProjectHost {
		h.own[own.Host] = s.engine.Own(own.Slug)
	}
	return h
}

// ServeHTTP looks at the host alone: letter case, a port and a dot at the end make no difference.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if own := h.own[plainHost(r.Host)]; own != nil {
		own.ServeHTTP(w, r)
		return
	}
	h.rest.ServeHTTP(w, r)
}

// plainHost is a host without its port, in the one form in which hosts compare.
func plainHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// ownURLs are where a project is reached at a host and a port of its own, "" where it has none.
func (s *server) ownURLs(slug string) (host, port string) {
	for _, own := range s.settings.ProjectHost {
		if own.Slug == slug {
			host = s.scheme() + "://" + own.Host + s.portOf(s.listen[0])
			break
		}
	}
	for _, own := range s.owned {
		if own.slug == slug {
			return host, reachable(s.scheme(), own.Addr(), net.InterfaceAddrs)[0]
		}
	}
	return host, ""
}

// portOf is the port of a listener as a URL holds it, "" for the one that its scheme has anyway.
func (s *server) portOf(l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || at.Port == 80 && s.tls == nil || at.Port == 443 && s.tls != nil {
		return ""
	}
	return ":" + strconv.Itoa(at.Port)
}

// projectURL is where a project's mocks answer: at its own host or port, or below the shared address.
func (s *server) projectURL(slug string) string {
	host, port := s.ownURLs(slug)
	switch {
	case port != "":
		return port
	case host != "":
		return host
	}
	return s.baseURL(s.listen[0]) + "/m/" + slug
}
