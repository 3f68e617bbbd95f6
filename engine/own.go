package engine

import (
	"context"
	"net/http"
	"strings"
)

// ownProject is the key of a request's context under which the project stands whose own port or host it came to.
type ownProject struct{}

// Own is the handler of a port or a host that is a project's own: every path there is the project's, without a base path
// before it (rule Y1). The project need not be there yet.
func (e *Engine) Own(slug string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.serve(w, r.WithContext(context.WithValue(r.Context(), ownProject{}, slug)), origin{own: slug})
	})
}

// located takes the target of a request apart; own is the project whose own port or host it came to, "" for the shared
// address, where the path names the project.
func (e *Engine) located(r *http.Request, own string) (target, bool) {
	raw := rawTarget(r)
	if own == "" {
		return parseTarget(raw, e.prefix)
	}
	location, query, asked := strings.Cut(originForm(raw), "?")
	if location == "" || location[0] != '/' {
		return target{}, false
	}
	return target{slug: own, path: location, query: query, asked: asked}, true
}

// ownBase is the path below which the project lives where the request came to.
func (c *call) ownBase() string {
	if c.own {
		return ""
	}
	return c.engine.prefix + c.target.slug
}
