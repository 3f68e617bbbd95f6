package management

import (
	"fmt"
	"net/http"

	"github.com/mockbase/mockbase"
)

// ReadyState says whether a server should get requests (rule M-242).
type ReadyState string

// The states of readiness. A degraded server serves: restarting it would mend nothing.
const (
	Ready    ReadyState = "ready"
	Degraded ReadyState = "degraded"
	NotReady ReadyState = "not_ready"
)

// Readiness is what /readyz answers.
type Readiness struct {
	Status ReadyState
	// Checks says of each part how it is, such as "limiter": "degraded".
	Checks map[string]string
	// Reason says in a sentence why the server is not ready.
	Reason string
}

// health answers while the process serves (M-241).
func (*Server) health(c *call) error {
	return c.json(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// ready answers whether the server should get requests (M-242).
func (s *Server) ready(c *call) error {
	now := s.Readiness(c.ctx())
	if now.Checks == nil {
		now.Checks = map[string]string{}
	}
	if now.Status == NotReady {
		reason := now.Reason
		if reason == "" {
			reason = "the server is not ready"
		}
		return &failure{err: mockbase.Errorf(mockbase.CodeUnavailable, "%s", reason), checks: now.Checks}
	}
	return c.json(http.StatusOK, struct {
		Status ReadyState        `json:"status"`
		Checks map[string]string `json:"checks"`
	}{now.Status, now.Checks})
}

// metrics answers the figures of the server (M-243).
func (s *Server) metrics(c *call) error {
	text, err := s.Metrics()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	c.bytes(http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", text)
	return nil
}

// version names the binary (M-244).
func (s *Server) version(c *call) error {
	return c.json(http.StatusOK, struct {
		Name string `json:"name"`
		BuildInfo
	}{"mockbase", s.Build})
}

// jwks lists the public halves of the signing keys (M-248).
func (s *Server) jwks(c *call) error { return c.json(http.StatusOK, s.Keys.JWKS()) }
