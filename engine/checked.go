package engine

import (
	"sync"

	"github.com/mockbase/mockbase"
)

const (
	// maxChecked bounds the routes that wait to be stored: those of the changes that are made at one moment.
	maxChecked = 64
	// maxCheckedDocument is the longest document, in bytes, whose route waits. What takes long to compile is rare, and would be
	// held in memory where the change fails after the check.
	maxCheckedDocument = 16 << 10
)

// checkedRoutes keeps what was compiled to check mocks that are about to be stored, for the program that serves them. The
// zero value is ready to use.
type checkedRoutes struct {
	mu   sync.Mutex
	kept map[*mockbase.Mock]checkedRoute
}

// checkedRoute is a route and the settings that it was compiled under.
type checkedRoute struct {
	route    *route
	settings *settings
}

// put keeps a route. When there are too many, as the changes of some failed, all are let go of: they are compiled once more.
func (c *checkedRoutes) put(r *route, s *settings) {
	if len(r.mock.Document) > maxCheckedDocument {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxChecked {
		c.kept = make(map[*mockbase.Mock]checkedRoute, maxChecked)
	}
	c.kept[r.mock] = checkedRoute{r, s}
}

// take hands out the route of a mock, if it was compiled under these settings; nil otherwise.
func (c *checkedRoutes) take(m *mockbase.Mock, s *settings) *route {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.kept[m]
	delete(c.kept, m)
	if found.settings != s {
		return nil
	}
	return found.route
}

// checkSettings are the settings to check a mock under: those of its project as it is served, if that has this configuration.
// Kept tells that a route that is compiled under them may be served.
func (e *Engine) checkSettings(c *mockbase.Config, m *mockbase.Mock) (s *settings, kept bool) {
	if p := e.programs.Load().byID[m.ProjectID]; p != nil && m.ProjectID != "" && sameConfig(&p.project.Config, c) {
		return p.settings, true
	}
	s, err := e.compileSettings(c, &mockbase.Faults{})
	if err != nil {
		// CheckConfig reports this, with its place; the mock does not depend on it.
		return e.nowhere.settings, false
	}
	return s, false
}
