package management

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// pages lets pages answer what is no route. It is no route of its own: Echo would prefer it to the answer for another
// method.
func (s *Server) pages(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if errors.Is(err, echo.ErrNotFound) {
			return s.elsewhere(c)
		}
		return err
	}
}

// elsewhere answers an address that is no route: with a page, or as missing.
func (s *Server) elsewhere(ec echo.Context) error {
	r := ec.Request()
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if s.Web == nil || !pagePath(echo.GetPath(r)) {
		return noSuchRoute()
	}
	if !reading && r.URL.Path == "/" {
		return s.otherMethod("GET, HEAD")(ec)
	}
	if !reading {
		return noSuchRoute()
	}
	if err := s.checkPlace(&call{Context: ec, server: s}); err != nil {
		return err
	}
	w := &pageWriter{ResponseWriter: ec.Response()}
	s.Web.ServeHTTP(w, r)
	if w.missing {
		return noSuchRoute()
	}
	return nil
}

// pagePath tells whether an address may belong to a page. What begins like an address of ours, or of the mocks, never
// does: a mistyped API address is answered as such and not with a page.
func pagePath(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch strings.ToLower(first) {
	case "api", "docs", "schemas", ".well-known", "healthz", "readyz", "version", "metrics", "m":
		return false
	}
	return true
}

// pageWriter passes a page on and holds a 404 back, so that it is answered like any other missing address.
type pageWriter struct {
	http.ResponseWriter

	missing bool
}

// WriteHeader notes that there is no such page, or passes the status on.
func (w *pageWriter) WriteHeader(status int) {
	if status == http.StatusNotFound {
		w.missing = true
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write drops the body of a missing page.
func (w *pageWriter) Write(b []byte) (int, error) {
	if w.missing {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *pageWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
