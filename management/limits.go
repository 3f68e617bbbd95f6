package management

import (
	"net/http"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// LimitViews is what people see of the simulated limits of a project, in a session; the empty name is the session default.
// Limits are named as [mockbase.LimitView] says. Errors are of CodeNotFound.
type LimitViews interface {
	Limits(projectID, session string) ([]mockbase.LimitView, error)
	Limit(projectID, session, name string) (mockbase.LimitView, error)
	LimitTimeline(projectID, session, name string, span time.Duration) (mockbase.LimitTimeline, error)
	LimitKeys(projectID, session, name string) ([]mockbase.LimitKey, error)
	LimitKey(projectID, session, name, keyID string) (mockbase.LimitKey, error)
}

// Limits is what people see and change of simulated limits. Errors are of CodeNotFound and CodeValidationFailed, with
// pointers relative to what was handed in.
type Limits interface {
	LimitViews
	SetLimitUsed(projectID, session, name, keyID string, used int64) (mockbase.LimitKey, error)
	ResetLimit(projectID, session, name, keyID string) (cleared int, err error)
	SimulateLimit(projectID, name string, trial *mockbase.LimitTrial) ([]mockbase.LimitTrialDecision, error)
}

// limitRoutes are those of simulated limits. The parameters of lists are list.
func limitRoutes(list []string) []route {
	const (
		limits = apiPrefix + "/projects/{project}/rate-limits"
		one    = limits + "/{rateLimit}"
		keys   = one + "/keys"
	)
	session := []string{"session"}
	return []route{
		{id: "M-205", method: http.MethodGet, path: limits, access: accessViewer, scope: scopeLimitsRead, operation: "listRateLimits", handle: (*Server).listLimits, query: append(slices.Clip(list), "session")},
		{id: "M-206", method: http.MethodGet, path: one, access: accessViewer, scope: scopeLimitsRead, operation: "getRateLimit", handle: (*Server).getLimit, query: session},
		{id: "M-207", method: http.MethodPut, path: one, access: accessEditor, scope: scopeLimitsWrite, operation: "setRateLimit", handle: (*Server).setLimit, versioned: true},
		{id: "M-208", method: http.MethodDelete, path: one, access: accessEditor, scope: scopeLimitsWrite, operation: "deleteRateLimit", handle: (*Server).deleteLimit, versioned: true},
		{id: "M-209", method: http.MethodGet, path: one + "/usage", access: accessViewer, scope: scopeLimitsRead, operation: "getRateLimitUsage", handle: (*Server).limitUsage, query: []string{"range", "session"}},
		{id: "M-210", method: http.MethodGet, path: keys, access: accessViewer, scope: scopeLimitsRead, operation: "listRateLimitKeys", handle: (*Server).limitKeys, query: append(slices.Clip(list), "session", "key")},
		{id: "M-211", method: http.MethodGet, path: keys + "/{keyId}", access: accessViewer, scope: scopeLimitsRead, operation: "getRateLimitKey", handle: (*Server).limitKey, query: session},
		{id: "M-212", method: http.MethodPut, path: keys + "/{keyId}", access: accessEditor, scope: scopeLimitsWrite, operation: "setRateLimitKey", handle: (*Server).setLimitKey},
		{id: "M-213", method: http.MethodPost, path: one + "/reset", access: accessEditor, scope: scopeLimitsWrite, operation: "resetRateLimit", handle: (*Server).resetLimit},
		{id: "M-214", method: http.MethodPost, path: one + "/simulate", access: accessViewer, scope: scopeLimitsRead, operation: "simulateRateLimit", handle: (*Server).simulateLimit},
	}
}

// listLimits lists the limits of a project with their use in a session: the named policies and those inside mocks and
// collections (M-205).
func (s *Server) listLimits(c *call) error {
	p := c.params()
	session := p.text("session")
	l, err := p.listing("name", "limited24h", "lastHitAt")
	if err != nil {
		return err
	}
	all, err := s.Limits.Limits(c.project.Project.ID, session)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one mockbase.LimitView) bool { return !l.finds(one.Name) })
	onPage, next := cut(l, all, func(one mockbase.LimitView) key {
		switch l.sort {
		case "limited24h":
			return key{Number: one.Use.Limited, ID: one.Name}
		case "lastHitAt":
			return key{Number: unixMilli(one.Use.LastHitAt), ID: one.Name}
		default:
			return key{Text: one.Name, ID: one.Name}
		}
	})
	items := make([]policyView, len(onPage))
	for i := range onPage {
		items[i] = viewOfLimit(c.project, &onPage[i])
	}
	return c.list(l, items, len(all), next)
}

// unixMilli is a time as the number that lists are sorted by; never is 0.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// getLimit shows one limit (M-206).
func (s *Server) getLimit(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	p := c.params()
	session := p.text("session")
	if err := p.err(); err != nil {
		return err
	}
	found, err := s.Limits.Limit(c.project.Project.ID, session, name)
	if err != nil {
		return err
	}
	view := viewOfLimit(c.project, &found)
	if c.notModified(view.Version) {
		return c.unchanged(view.Version)
	}
	setETag(c.header(), view.Version)
	return c.json(http.StatusOK, view)
}

// usageSpans are the times that the use of a limit is shown for (M-209).
func usageSpans() map[string]time.Duration {
	return map[string]time.Duration{"5m": 5 * time.Minute, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour}
}

// limitUsage tells how much a limit was used over time (M-209).
func (s *Server) limitUsage(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	p := c.params()
	session, span := p.text("session"), p.choice("range", []string{"5m", "1h", "24h", "7d"})
	if err := p.err(); err != nil {
		return err
	}
	if span == "" {
		span = "1h"
	}
	timeline, err := s.Limits.LimitTimeline(c.project.Project.ID, session, name, usageSpans()[span])
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfTimeline(&timeline))
}

// limitKeys lists the keys of a limit in a session, those that were refused most first (M-210).
func (s *Server) limitKeys(c *call) error {
	name, err := pathParam(c, "rateLimit")
	if err != nil {
		return err
	}
	p := c.params()
	session, only := p.text("session"), p.text("key")
	l, err := p.listing("-limited", "requests", "used", "label", "firstSeenAt", "lastSeenAt")
	if err != nil {
		return err
	}
	all, err := s.Limits.LimitKeys(c.project.Project.ID, session, name)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one mockbase.LimitKey) bool {
		return !l.finds(one.Label) || only != "" && one.Label != only && one.ID != only
	})
	onPage, next := cut(l, all, func(one mockbase.LimitKey) key { return sortedKey(l.sort, &one) })
	items := make([]limitKeyView, len(onPage))
	for i := range onPage {
		items[i] = viewOfKey(&onPage[i])
	}
	return c.list(l, items, len(all), next)
}

func sortedKey(sort string, one *mockbase.LimitKey) key {
	k := key{ID: one.ID}
	switch sort {
	case "label":
		k.Text = one.Label
	case "requests":
		k.Number = one.Requests
	case "used":
		k.Number = one.Used
	case "firstSeenAt":
		k.Number = unixMilli(one.FirstSeenAt)
	case "lastSeenAt":
		k.Number = unixMilli(one.LastSeenAt)
	default:
		k.Number = one.Limited
	}
	return k
}

// limitAndKey are the names in a path of one key.
func limitAndKey(c *call) (name, keyID string, err error) {
	if name, err = pathParam(c, "rateLimit"); err != nil {
		return "", "", err
	}
	keyID, err = pathParam(c, "keyId")
	return name, keyID, err
}

// limitKey shows one key of a limit with its last decisions (M-211).
func (s *Server) limitKey(c *call) error {
	name, keyID, err := limitAndKey(c)
	if err != nil {
		return err
	}
	p := c.params()
	session := p.text("session")
	if err := p.err(); err != nil {
		return err
	}
	found, err := s.Limits.LimitKey(c.project.Project.ID, session, name, keyID)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, viewOfKeyWithDecisions(&found))
}
