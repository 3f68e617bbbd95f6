package management

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
)

// guard puts the checks before a route's handler, in the order of rule M-7. The limiter stands before all of them, as
// its fields are on every answer below /api/v1.
func (s *Server) guard(rt route) echo.HandlerFunc {
	if rt.body == 0 {
		rt.body = maxBody
	}
	if rt.patience == 0 {
		rt.patience = patience
	}
	checks := []func(*call) error{
		negotiate, s.checkPlace, checkCookieUse, s.identify, s.admit, s.permit, find, checkQuery, checkCondition, s.prepareAudit,
	}
	handle := s.handled(rt)
	inner := func(ec echo.Context) error {
		c := &call{Context: ec, route: &rt, server: s}
		ctx, cancel := context.WithTimeout(ec.Request().Context(), rt.patience)
		defer cancel()
		ec.SetRequest(ec.Request().WithContext(ctx))
		limitReading(c)
		for _, check := range checks {
			if err := check(c); err != nil {
				s.auditRefusal(c, err)
				return err
			}
		}
		return handle(c)
	}
	if rt.secret && s.LoginShield != nil {
		return echo.WrapMiddleware(func(next http.Handler) http.Handler {
			return refusedAs(refusalForm{code: mockbase.CodeRateLimited, login: true, drop: limitFields()}, s.LoginShield, next)
		})(inner)
	}
	return inner
}

// handled is the route's handler, with repeated requests answered from memory where the route creates something.
func (s *Server) handled(rt route) func(*call) error {
	plain := func(c *call) error {
		failed := true // a panic is no success either
		defer func() {
			if failed {
				s.auditFailure(c)
			}
		}()
		err := rt.handle(s, c)
		failed = err != nil
		s.auditRefusal(c, err)
		return c.advised(c.located(err))
	}
	if rt.creates {
		return s.once(plain)
	}
	return plain
}

// advised adds to a refusal what the operation that was called can do against it: the parameter that it has for that.
func (c *call) advised(err error) error {
	known, ok := errors.AsType[*mockbase.Error](err)
	if !ok {
		return err
	}
	offers := func(name string) bool { return slices.Contains(c.route.query, name) }
	switch {
	case known.Code == mockbase.CodeApplyConflict && offers("onConflict"):
		known.Hint = "send onConflict=replace to take them over, or onConflict=skip to keep them and import the others"
	case known.Code == mockbase.CodeApplyConflict && offers("adopt"):
		known.Hint = "send adopt=true to take them over"
	case errors.Is(err, catalog.ErrOwned) && offers("takeOver"):
		known.Hint += ", or send takeOver=true to take it away from the source"
	}
	return err
}

// limitReading ends the reading of a body with the handler's time (rule M-9). A writer that knows no deadlines, as in a
// test without a connection, goes without.
func limitReading(c *call) {
	if deadline, ok := c.ctx().Deadline(); ok && c.Request().ContentLength != 0 {
		_ = http.NewResponseController(c.Response().Writer).SetReadDeadline(deadline)
	}
}

// tooSlow tells whether err is the end of a body's time.
func tooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// admit finds the project of the path. A project that the caller has no role in does not exist for them: the same
// look-ups are made and the same answer is given (rule M-14).
func (s *Server) admit(c *call) error {
	name, err := pathParam(c, "project")
	if err != nil || name == "" {
		return err
	}
	found, exists := s.Catalog.Project(name)
	id := "prj_none"
	if exists {
		id = found.Project.ID
	}
	stored, err := s.Accounts.ProjectRole(c.ctx(), id, c.caller.user.ID)
	if err != nil {
		return err
	}
	role := c.caller.roleIn(id, map[string]mockbase.ProjectRole{id: stored})
	if exists && role != mockbase.RoleNone {
		c.project, c.role = found, role
		return nil
	}
	if !exists && c.route.absent && c.Param("mock") == "" && s.wouldCreate(c) {
		return nil
	}
	return noSuchProject()
}

// wouldCreate tells whether the caller asks to make the project of the path and may make projects. Everybody else learns
// nothing from a project that is not there: it is like one that they do not see (rule M-14).
func (s *Server) wouldCreate(c *call) bool {
	wish := c.Request().URL.Query().Get("createProject")
	return wish != "" && wish != "false" && permitToken(c.caller, c.route) == nil && s.mayCreateProject(c) == nil
}

func noSuchProject() error {
	return &mockbase.Error{
		Code: mockbase.CodeNotFound, Message: "there is no such project, or you have no role in it",
		Hint: "GET /api/v1/projects lists the projects that you see",
	}
}

// find looks up the mock that the path names.
func find(c *call) error {
	name, err := pathParam(c, "mock")
	if err != nil || name == "" {
		return err
	}
	for _, m := range c.project.Mocks {
		if m.Name == name || m.ID == name {
			c.mock = m
			return nil
		}
	}
	if c.route.absent {
		return nil
	}
	return noSuchMock(name)
}

func noSuchMock(name string) error {
	return mockbase.Errorf(mockbase.CodeNotFound, "the project has no mock %s", shown(name))
}

// pathParam returns a parameter of the path, decoded; "" when the route has none of that name.
func pathParam(c *call, name string) (string, error) {
	value, err := url.PathUnescape(c.Param(name))
	if err != nil {
		return "", noSuchRoute()
	}
	return value, nil
}
