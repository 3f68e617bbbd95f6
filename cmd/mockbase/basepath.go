package main

import (
	"net/http"
	"strings"
)

// below is a handler whose server stands below a path of a proxy that passes requests on as they came. What comes for
// elsewhere is not found, but for the probes: an orchestrator asks the server itself.
type below struct {
	base string
	// mocks are given the whole target, as every path of theirs may be a client's own; others the rest behind the base.
	mocks, others http.Handler
}

var _ http.Handler = (*below)(nil)

// behindBase puts a plane behind the base path, if there is one.
func behindBase(base string, p *plane) http.Handler {
	if base == "" {
		return p
	}
	return &below{base: base, mocks: p.mocks, others: p.management}
}

// administrationBehind puts the management plane, on a listener of its own, behind the base path.
func administrationBehind(base string, management http.Handler) http.Handler {
	if base == "" {
		return management
	}
	return &below{base: base, others: management}
}

// ServeHTTP judges the raw target, as plane does.
func (b *below) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target := targetOf(r)
	path, _, _ := strings.Cut(target, "?")
	switch {
	case b.mocks != nil && isMocks(r, target, b.base):
		b.mocks.ServeHTTP(w, r)
	case path == "/healthz" || path == "/readyz":
		b.others.ServeHTTP(w, r)
	case path == b.base && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		w.Header().Set("Location", b.base+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
	case strings.HasPrefix(path, b.base+"/"):
		b.others.ServeHTTP(&basedWriter{ResponseWriter: w, base: b.base}, b.stripped(r, target))
	default:
		(&mocksOnly{management: b.others, base: b.base}).ServeHTTP(w, r)
	}
}

// stripped is the request without the base path.
func (b *below) stripped(r *http.Request, target string) *http.Request {
	inner := r.Clone(r.Context())
	inner.Body = r.Body
	inner.RequestURI = target[len(b.base):]
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, b.base)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, b.base)
	return inner
}

// basedWriter puts the base path in front of the paths that an answer leads to.
type basedWriter struct {
	http.ResponseWriter

	base string
}

// WriteHeader completes Location and Link.
func (w *basedWriter) WriteHeader(status int) {
	h := w.Header()
	if at := h.Get("Location"); strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "//") {
		h.Set("Location", w.base+at)
	}
	if links := h.Get("Link"); strings.HasPrefix(links, "</") {
		h.Set("Link", "<"+w.base+links[1:])
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap leads [http.ResponseController] to the connection.
func (w *basedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
