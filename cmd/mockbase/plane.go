package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

// plane sends a request to the mock plane or to the management plane, by its raw target: no path is cleaned, decoded or
// redirected before a mock sees it (rules Y1 and M-1).
type plane struct {
	mocks, management http.Handler
}

var _ http.Handler = (*plane)(nil)

// ServeHTTP gives the mocks everything below /m/, and OPTIONS * (rule L7).
func (p *plane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isMocks(r, targetOf(r), "") {
		p.mocks.ServeHTTP(w, r)
		return
	}
	p.management.ServeHTTP(w, r)
}

// isMocks tells whether a target is the mocks' behind a base path.
func isMocks(r *http.Request, target, base string) bool {
	return strings.HasPrefix(target, base+"/m/") || target == "*" && r.Method == http.MethodOptions
}

// targetOf is the raw path and query of a request.
func targetOf(r *http.Request) string {
	if target := r.RequestURI; target != "" && target[0] == '/' {
		return target
	}
	return originForm(r.RequestURI)
}

// originForm returns the path and query of a target in absolute form, and any other target as it is.
func originForm(target string) string {
	_, rest, absolute := strings.Cut(target, "://")
	if !absolute {
		return target
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:]
	}
	return "/"
}

// mocksOnly is the management plane of a listener that leaves management to another one: it answers the two probes, and
// every other path as any unknown one (rules C-21 and Y1).
type mocksOnly struct {
	management http.Handler
	// base stands before the pages of problems; clock dates the ids of requests, nil is time.Now.
	base  string
	clock func() time.Time
}

var _ http.Handler = (*mocksOnly)(nil)

func (m *mocksOnly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path := r.URL.Path; path == "/healthz" || path == "/readyz" {
		m.management.ServeHTTP(w, r)
		return
	}
	now := time.Now
	if m.clock != nil {
		now = m.clock
	}
	id := management.RequestIDOf(r, now())
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusNotFound)
	if r.Method == http.MethodHead {
		return
	}
	body, err := json.Marshal(map[string]any{
		"type":      m.base + "/docs/problems/" + string(mockbase.CodeNotFound),
		"title":     "Not found",
		"status":    http.StatusNotFound,
		"code":      mockbase.CodeNotFound,
		"instance":  id,
		"requestId": id,
		"detail":    "this address serves mocks alone, below /m/ and the name of their project",
	})
	if err == nil {
		w.Write(body)
	}
}
