package engine

import (
	"net"
	"net/http"
	"slices"

	"github.com/mockbase/mockbase/engine/template"
)

// asked shows the request of a call to templates.
type asked struct{ c *call }

var _ template.Request = asked{}

// Method implements template.Request.
func (a asked) Method() string { return a.c.request.Method }

// Path implements template.Request.
func (a asked) Path() string { return a.c.path.text() }

// RawPath implements template.Request.
func (a asked) RawPath() string { return a.c.target.path }

// RawQuery implements template.Request.
func (a asked) RawQuery() string { return a.c.rawQuery }

// URL implements template.Request.
func (a asked) URL() string {
	return a.Scheme() + "://" + a.c.request.Host + originForm(rawTarget(a.c.request))
}

// Host implements template.Request.
func (a asked) Host() string {
	if host, _, err := net.SplitHostPort(a.c.request.Host); err == nil {
		return host
	}
	return a.c.request.Host
}

// Port implements template.Request.
func (a asked) Port() string {
	_, port, err := net.SplitHostPort(a.c.request.Host)
	if err != nil {
		return ""
	}
	return port
}

// Scheme implements template.Request.
func (a asked) Scheme() string {
	if a.c.request.TLS != nil {
		return "https"
	}
	return "http"
}

// ClientIP implements template.Request.
func (a asked) ClientIP() string {
	address := a.c.engine.options.ClientAddress(a.c.request)
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// ID implements template.Request.
func (a asked) ID() string { return a.c.id() }

// PathParam implements template.Request.
func (a asked) PathParam(name string) (string, bool) { return first(a.c.pathParameters(), name) }

// PathParamNames implements template.Request.
func (a asked) PathParamNames() []string { return names(a.c.pathParameters()) }

// Segment implements template.Request.
func (a asked) Segment(i int) (string, bool) {
	if i < 0 || i >= len(a.c.path.segments) {
		return "", false
	}
	return a.c.path.segments[i], true
}

// Matrix implements template.Request.
func (a asked) Matrix(name string) (string, bool) {
	a.c.plainPath()
	return first(a.c.matrix, name)
}

// Query implements template.Request.
func (a asked) Query(name string) []string { return valuesOf(a.c.pairs(), name).List }

// QueryNames implements template.Request.
func (a asked) QueryNames() []string { return names(a.c.pairs()) }

// Cookie implements template.Request.
func (a asked) Cookie(name string) []string { return valuesOf(a.c.cookiePairs(), name).List }

// CookieNames implements template.Request.
func (a asked) CookieNames() []string { return names(a.c.cookiePairs()) }

// Header implements template.Request.
func (a asked) Header(name string) []string {
	return a.c.headerValues(http.CanonicalHeaderKey(name)).List
}

// Trailer implements template.Request.
func (a asked) Trailer(name string) []string {
	return a.c.request.Trailer[http.CanonicalHeaderKey(name)]
}

// TrailerNames implements template.Request.
func (a asked) TrailerNames() []string {
	list := make([]string, 0, len(a.c.request.Trailer))
	for name := range a.c.request.Trailer {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// first is the first value of a name.
func first(pairs []pair, name string) (string, bool) {
	for i := range pairs {
		if pairs[i].name == name {
			return pairs[i].value, true
		}
	}
	return "", false
}

// names are those of pairs, each once.
func names(pairs []pair) []string {
	var list []string
	for i := range pairs {
		if !slices.Contains(list, pairs[i].name) {
			list = append(list, pairs[i].name)
		}
	}
	return list
}
