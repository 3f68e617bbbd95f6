package management

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// access is the least that a caller must be (rule M-52). Its zero value is nobody, and a route that has it is refused
// when the server is made.
type access string

const (
	// accessAnyone needs no credential; one that is sent must be good all the same (rule M-30).
	accessAnyone access = "anyone"
	// accessCookie needs the refresh cookie, which the handler reads, and refuses requests that another site caused.
	accessCookie access = "cookie"
	// accessAny needs a signed-in user or an API token.
	accessAny access = "any"
	// accessUser needs a signed-in user.
	accessUser access = "user"
	// accessViewer, accessEditor and accessOwner need that role or more in the project of the path.
	accessViewer access = "viewer"
	accessEditor access = "editor"
	accessOwner  access = "owner"
	// accessAdmin needs an administrator of the instance.
	accessAdmin access = "admin"
)

// route is one line of the table.
type route struct {
	// id is the rule of the specification.
	id     string
	method string
	path   string
	access access
	// scope is what an API token needs; without one, none may call the route (rule M-51).
	scope scope
	// fresh needs a password that was given lately (rule M-40).
	fresh bool
	// unaudited leaves what the route changes out of the audit log: it is no change that anybody made.
	unaudited bool
	// signsIn tells that reading the route begins a sign-in, which the audit log tells like a change.
	signsIn bool
	// exports tells that reading the route hands out secrets, which the audit log tells like a change.
	exports bool
	// operation is the operationId of the API document.
	operation string
	handle    func(*Server, *call) error
	// query lists the parameters that the route knows.
	query []string
	// foreignQuery tells that others add parameters of their own to the address, which are ignored.
	foreignQuery bool
	// offers lists the media types of a successful answer, the preferred first; empty offers JSON.
	offers []string
	// secret tells that the route takes a password or a code, so that the login shield counts it (rule M-37).
	secret bool
	// creates tells that an Idempotency-Key is honoured (rule M-12).
	creates bool
	// passes tells that what the route creates ends with the process, so that a later one knows no answer to it.
	passes bool
	// versioned tells that a change compares If-Match with the version of its object (rule M-10).
	versioned bool
	// absent tells that the handler copes with an object, or a whole project, that does not exist.
	absent bool
	// tickets tells that a ticket in the query is a credential (rule M-71).
	tickets bool
	// asks tells that the route asks the plane of the mocks.
	asks bool
	// body is the largest request body in bytes, patience how long the handler may take; 0 is the default.
	body     int64
	patience time.Duration
}

// The limits on input (rule M-9).
const (
	maxBody           = 1 << 20
	maxMockBody       = 16 << 20
	maxDefinitionBody = 32 << 20

	patience           = 30 * time.Second
	definitionPatience = 120 * time.Second
)

const (
	typeJSON   = "application/json"
	typeYAML   = "application/yaml"
	typeHTML   = "text/html"
	typeSchema = "application/schema+json"
	typeText   = "text/plain"
	typeEvents = "text/event-stream"
	typeLines  = "application/x-ndjson"
)

// metricsPath is where metrics are read, by whom the options say.
const metricsPath = "/metrics"

// table is the routes as the options have them: metrics are there when somebody gathers them, and free to anyone when
// they are public (M-243).
func (s *Server) table() []route {
	table := s.maintained(routes())
	if s.State == nil {
		stateful := operations(append(stateRoutes(nil), collectionRoutes(nil)...))
		table = slices.DeleteFunc(table, func(rt route) bool { return stateful[rt.operation] })
	}
	if s.Limits == nil {
		limiting := operations(limitRoutes(nil))
		table = slices.DeleteFunc(table, func(rt route) bool { return limiting[rt.operation] })
	}
	if s.Federation == nil {
		table = slices.DeleteFunc(table, func(rt route) bool { return rt.path == federationStart || rt.path == federationReturn })
	}
	if s.Connections == nil {
		streaming := operations(connectionRoutes(nil))
		table = slices.DeleteFunc(table, func(rt route) bool { return streaming[rt.operation] })
	}
	if s.Guardian == nil {
		table = slices.DeleteFunc(table, func(rt route) bool {
			return strings.HasPrefix(rt.path, adminShield) || strings.HasPrefix(rt.path, adminBans)
		})
	}
	if s.Mocks == nil {
		table = slices.DeleteFunc(table, func(rt route) bool { return rt.asks })
	}
	at := slices.IndexFunc(table, func(rt route) bool { return rt.path == metricsPath })
	switch {
	case s.Metrics == nil:
		return slices.Delete(table, at, at+1)
	case s.PublicMetrics:
		table[at].access = accessAnyone
	}
	return table
}

// operations is the set of the operations of routes.
func operations(table []route) map[string]bool {
	names := make(map[string]bool, len(table))
	for i := range table {
		names[table[i].operation] = true
	}
	return names
}

// routes is every route there is. Nothing else can be reached, save what Options.Web answers.
func routes() []route {
	list := []string{"limit", "cursor", "sort", "q", "count"}
	eitherFormat := []string{typeJSON, typeYAML}
	const (
		projects   = apiPrefix + "/projects"
		project    = projects + "/{project}"
		mocks      = project + "/mocks"
		mock       = mocks + "/{mock}"
		definition = project + "/definition"
		traffic    = project + "/traffic"
	)
	return slices.Concat([]route{
		{id: "M-100", method: http.MethodGet, path: apiPrefix + "/auth/status", access: accessAnyone, operation: "getAuthStatus", handle: (*Server).authStatus},
		{id: "M-101", method: http.MethodPost, path: apiPrefix + "/auth/setup", access: accessAnyone, operation: "setUp", handle: (*Server).setUp, secret: true},
		{id: "M-102", method: http.MethodPost, path: apiPrefix + "/auth/login", access: accessAnyone, operation: "login", handle: (*Server).login, secret: true},
		{id: "M-103", method: http.MethodPost, path: apiPrefix + "/auth/refresh", access: accessCookie, operation: "refresh", handle: (*Server).refresh, unaudited: true},
		{id: "M-104", method: http.MethodPost, path: apiPrefix + "/auth/logout", access: accessCookie, operation: "logout", handle: (*Server).logout},
		{id: "M-107", method: http.MethodGet, path: apiPrefix + "/auth/me", access: accessAny, scope: scopeAny, operation: "getMe", handle: (*Server).me},

		{id: "M-130", method: http.MethodGet, path: projects, access: accessAny, scope: scopeAny, operation: "listProjects", handle: (*Server).listProjects, query: list},
		{id: "M-131", method: http.MethodPost, path: projects, access: accessAny, scope: scopeProjectAdmin, operation: "createProject", handle: (*Server).createProject, creates: true},
		{id: "M-132", method: http.MethodGet, path: project, access: accessViewer, scope: scopeAny, operation: "getProject", handle: (*Server).getProject},
		{id: "M-133", method: http.MethodPatch, path: project, access: accessOwner, scope: scopeProjectAdmin, operation: "updateProject", handle: (*Server).updateProject, versioned: true},
		{id: "M-134", method: http.MethodDelete, path: project, access: accessOwner, scope: scopeProjectAdmin, operation: "deleteProject", handle: (*Server).deleteProject, versioned: true, query: []string{"confirm"}},

		{id: "M-140", method: http.MethodGet, path: mocks, access: accessViewer, scope: scopeMocksRead, operation: "listMocks", handle: (*Server).listMocks, query: append(list, "tag", "folder", "method", "enabled", "source", "warning")},
		{id: "M-141", method: http.MethodPost, path: mocks, access: accessEditor, scope: scopeMocksWrite, operation: "createMock", handle: (*Server).createMock, offers: eitherFormat, creates: true, body: maxMockBody},
		{id: "M-142", method: http.MethodGet, path: mock, access: accessViewer, scope: scopeMocksRead, operation: "getMock", handle: (*Server).getMock, offers: eitherFormat},
		{id: "M-143", method: http.MethodPut, path: mock, access: accessEditor, scope: scopeMocksWrite, operation: "replaceMock", handle: (*Server).replaceMock, versioned: true, query: []string{"takeOver"}, offers: eitherFormat, absent: true, body: maxMockBody},
		{id: "M-144", method: http.MethodPatch, path: mock, access: accessEditor, scope: scopeMocksWrite, operation: "updateMock", handle: (*Server).updateMock, versioned: true, query: []string{"takeOver"}, offers: eitherFormat},
		{id: "M-145", method: http.MethodDelete, path: mock, access: accessEditor, scope: scopeMocksWrite, operation: "deleteMock", handle: (*Server).deleteMock, versioned: true, query: []string{"takeOver"}},

		{id: "M-160", method: http.MethodGet, path: definition, access: accessViewer, scope: scopeMocksRead, operation: "getDefinition", handle: (*Server).getDefinition, query: []string{"source", "tag"}, offers: eitherFormat, patience: definitionPatience},
		{id: "M-161", method: http.MethodPut, path: definition, access: accessEditor, scope: scopeMocksWrite, operation: "applyDefinition", handle: (*Server).applyDefinition, versioned: true, query: []string{"dryRun", "prune", "source", "adopt", "createProject"}, absent: true, body: maxDefinitionBody, patience: definitionPatience},

		{id: "M-175", method: http.MethodGet, path: traffic, access: accessViewer, scope: scopeTrafficRead, operation: "listTraffic", handle: (*Server).listTraffic, offers: []string{typeJSON, typeLines}, query: append(trafficFilters(), "limit", "cursor", "count", "facets")},
		{id: "M-176", method: http.MethodGet, path: traffic + "/{id}", access: accessViewer, scope: scopeTrafficRead, operation: "getExchange", handle: (*Server).getExchange},
		{id: "M-179", method: http.MethodDelete, path: traffic, access: accessEditor, scope: scopeTrafficClear, operation: "clearTraffic", handle: (*Server).clearTraffic, query: trafficFilters()},
	}, accountRoutes(list), peopleRoutes(list), explanationRoutes(project), stateRoutes(list), collectionRoutes(list), variableRoutes(list), describedRoutes(list), limitRoutes(list), connectionRoutes(list), historyRoutes(list), shieldRoutes(list), maintenanceRoutes(list), rootRoutes())
}

// explanationRoutes are those by which requests are explained, made and turned into mocks.
func explanationRoutes(project string) []route {
	one := project + "/traffic/{id}"
	return []route{
		{id: "M-150", method: http.MethodPost, path: project + "/mocks/{mock}/try", access: accessViewer, scope: scopeMocksRead, operation: "tryMock", handle: (*Server).tryMock, asks: true, body: maxMockBody},
		{id: "M-151", method: http.MethodPost, path: project + "/try", access: accessViewer, scope: scopeMocksRead, operation: "try", handle: (*Server).try, asks: true, body: maxMockBody},
		{id: "M-152", method: http.MethodPost, path: project + "/send", access: accessEditor, scope: scopeSessions, operation: "send", handle: (*Server).send, asks: true, body: maxMockBody, patience: maxSeriesTime + 5*time.Second},
		{id: "M-180", method: http.MethodPost, path: project + "/verify", access: accessViewer, scope: scopeVerify, operation: "verify", handle: (*Server).verify, asks: true, patience: longestVerify + patience},
		{id: "M-181", method: http.MethodGet, path: project + "/backoff", access: accessViewer, scope: scopeVerify, operation: "getBackoff", handle: (*Server).backoff, asks: true, query: backoffQuery()},
		{id: "M-177", method: http.MethodGet, path: one + "/explain", access: accessViewer, scope: scopeTrafficRead, operation: "explainExchange", handle: (*Server).explainExchange, asks: true},
		{id: "M-182", method: http.MethodGet, path: project + "/events", access: accessViewer, scope: scopeTrafficRead, operation: "streamEvents", handle: (*Server).streamEvents, tickets: true, offers: []string{typeEvents}, patience: streamPatience, query: append(trafficFilters(), "types", "batch", "after", "ticket")},
		{id: "M-183", method: http.MethodPost, path: project + "/events/tickets", access: accessViewer, scope: scopeTrafficRead, operation: "issueTicket", handle: (*Server).issueTicket},
		{id: "M-162", method: http.MethodPost, path: project + "/imports", access: accessEditor, scope: scopeImport, operation: "importSource", handle: (*Server).importSource, query: []string{"url", "format", "dryRun", "source", "prefix", "expand", "limits", "root", "onConflict"}, body: maxDefinitionBody, patience: definitionPatience},
		{id: "M-163", method: http.MethodGet, path: project + "/exports", access: accessViewer, scope: scopeAny, operation: "exportProject", handle: (*Server).export, query: exportFilters(), offers: []string{typeJSON, typeYAML, typeLines}, patience: definitionPatience},
		{id: "M-178", method: http.MethodPost, path: one + "/draft", access: accessEditor, scope: scopeMocksRead, operation: "draftMock", handle: (*Server).draftMock},
	}
}

// Where the shield and its bans are administered.
const (
	adminShield = apiPrefix + "/admin/shield"
	adminBans   = apiPrefix + "/admin/bans"
)

// shieldRoutes are those by which administrators look after the shield. The parameters of lists are list.
func shieldRoutes(list []string) []route {
	return []route{
		{id: "M-218", method: http.MethodDelete, path: adminBans, access: accessAdmin, operation: "liftBans", handle: (*Server).liftBans, query: []string{"rule", "id"}},
		{id: "M-219", method: http.MethodGet, path: adminBans + "/{id}", access: accessAdmin, operation: "getBan", handle: (*Server).getBan},
		{id: "M-220", method: http.MethodGet, path: adminShield, access: accessAdmin, operation: "getShield", handle: (*Server).shieldSettings},
		{id: "M-221", method: http.MethodPut, path: adminShield, access: accessAdmin, operation: "changeShield", handle: (*Server).changeShield, versioned: true, query: []string{"force"}},
		{id: "M-222", method: http.MethodGet, path: adminShield + "/status", access: accessAdmin, operation: "getShieldStatus", handle: (*Server).shieldStatus},
		{id: "M-223", method: http.MethodPost, path: adminShield + "/check", access: accessAdmin, operation: "checkShield", handle: (*Server).checkShield},
		{id: "M-224", method: http.MethodGet, path: adminShield + "/callers", access: accessAdmin, operation: "listCallers", handle: (*Server).shieldCallers, query: append(slices.Clone(list), "policy", "range")},
		{id: "M-225", method: http.MethodGet, path: adminBans, access: accessAdmin, operation: "listBans", handle: (*Server).listBans, query: append(slices.Clone(list), "active", "type", "rule", "source")},
		{id: "M-226", method: http.MethodPost, path: adminBans, access: accessAdmin, operation: "createBan", handle: (*Server).createBan, creates: true},
		{id: "M-227", method: http.MethodPatch, path: adminBans + "/{id}", access: accessAdmin, operation: "changeBan", handle: (*Server).changeBan},
		{id: "M-228", method: http.MethodDelete, path: adminBans + "/{id}", access: accessAdmin, operation: "deleteBan", handle: (*Server).deleteBan},
	}
}

// rootRoutes are the routes outside /api/v1. They are not counted by the shield.
func rootRoutes() []route {
	return []route{
		{id: "M-241", method: http.MethodGet, path: "/healthz", access: accessAnyone, operation: "getHealth", handle: (*Server).health},
		{id: "M-242", method: http.MethodGet, path: "/readyz", access: accessAnyone, operation: "getReadiness", handle: (*Server).ready},
		{id: "M-243", method: http.MethodGet, path: metricsPath, access: accessAdmin, operation: "getMetrics", handle: (*Server).metrics, offers: []string{typeText}},
		{id: "M-244", method: http.MethodGet, path: "/version", access: accessAnyone, operation: "getVersion", handle: (*Server).version},
		{id: "M-245", method: http.MethodGet, path: "/api/openapi.json", access: accessAnyone, operation: "getOpenAPIJSON", handle: (*Server).openAPIJSON},
		{id: "M-245", method: http.MethodGet, path: "/api/openapi.yaml", access: accessAnyone, operation: "getOpenAPIYAML", handle: (*Server).openAPIYAML, offers: []string{typeYAML}},
		{id: "M-246", method: http.MethodGet, path: "/docs", access: accessAnyone, operation: "getReference", handle: (*Server).referencePage, offers: []string{typeHTML}},
		{id: "M-246", method: http.MethodGet, path: "/docs/problems", access: accessAnyone, operation: "listProblems", handle: (*Server).problemList, offers: []string{typeHTML}},
		{id: "M-246", method: http.MethodGet, path: "/docs/problems/{code}", access: accessAnyone, operation: "getProblem", handle: (*Server).problemPage, offers: []string{typeHTML}},
		{id: "M-247", method: http.MethodGet, path: "/schemas/mock/v1.json", access: accessAnyone, operation: "getMockSchema", handle: (*Server).mockSchema, offers: []string{typeSchema, typeJSON}},
		{id: "M-248", method: http.MethodGet, path: "/.well-known/jwks.json", access: accessAnyone, operation: "getKeys", handle: (*Server).jwks},
	}
}

var (
	errNoAccess    = errors.New("says not who may call it")
	errNoOperation = errors.New("has no handler or no operation")
)

// register hands the table to the router. Beside each route it registers what answers another method, and, behind a
// parameter that ends the longest path, what answers a longer one: Echo would take the rest of it for the parameter.
func (s *Server) register(table []route) error {
	methods := map[string][]string{}
	for _, rt := range table {
		if !rt.access.known() {
			return fmt.Errorf("route %s %s: %w", rt.method, rt.path, errNoAccess)
		}
		if rt.handle == nil || rt.operation == "" {
			return fmt.Errorf("route %s %s: %w", rt.method, rt.path, errNoOperation)
		}
		handler := s.guard(rt)
		methods[rt.path] = append(methods[rt.path], rt.method)
		s.echo.Add(rt.method, echoPath(rt.path), handler)
		if rt.method == http.MethodGet {
			methods[rt.path] = append(methods[rt.path], http.MethodHead)
			s.echo.Add(http.MethodHead, echoPath(rt.path), handler)
		}
	}
	s.shareWords(table, methods)
	for path, known := range methods {
		slices.Sort(known)
		s.echo.RouteNotFound(echoPath(path), s.otherMethod(strings.Join(known, ", ")))
		if strings.HasSuffix(path, "}") && !leadsOn(methods, path) {
			s.echo.RouteNotFound(echoPath(path)+"/*", s.elsewhere)
		}
	}
	return nil
}

// shareWords lets a path with a word of its own, such as mocks/bulk, answer for the thing of that name too where it has no such
// method itself: a mock may be called bulk.
func (s *Server) shareWords(table []route, methods map[string][]string) {
	for path := range methods {
		at := strings.LastIndexByte(path, '/') + 1
		word := path[at:]
		for _, rt := range table {
			parameter, ok := strings.CutPrefix(rt.path, path[:at]+"{")
			if !ok || strings.Contains(word, "{") || strings.Contains(parameter, "/") {
				continue
			}
			for _, method := range append([]string{rt.method}, headOf(rt.method)...) {
				if !slices.Contains(methods[path], method) {
					methods[path] = append(methods[path], method)
					s.echo.Add(method, echoPath(path), named(strings.TrimSuffix(parameter, "}"), word, s.guard(rt)))
				}
			}
		}
	}
}

// headOf is HEAD beside GET, and nothing beside other methods.
func headOf(method string) []string {
	if method == http.MethodGet {
		return []string{http.MethodHead}
	}
	return nil
}

// named gives a handler one more parameter of the path.
func named(parameter, value string, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		names, values := slices.Clone(c.ParamNames()), slices.Clone(c.ParamValues())
		c.SetParamNames(append(names, parameter)...)
		c.SetParamValues(append(values[:len(names):len(names)], value)...)
		return next(c)
	}
}

// leadsOn tells whether another path begins with this one.
func leadsOn(methods map[string][]string, path string) bool {
	for other := range methods {
		if strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}

func (a access) known() bool {
	switch a {
	case accessAnyone, accessCookie, accessAny, accessUser, accessViewer, accessEditor, accessOwner, accessAdmin:
		return true
	}
	return false
}

// echoPath writes a path with its parameters as Echo wants them.
func echoPath(path string) string {
	return regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")
}

// otherMethod answers methods that a path does not know, OPTIONS too (end of section 5 of the specification).
func (s *Server) otherMethod(allowed string) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if s.preflight(c.Response(), r, allowed) {
			return nil
		}
		return withHeader(&mockbase.Error{
			Code: mockbase.CodeMethodNotAllowed, Message: "this address does not know the method " + shown(r.Method), Hint: "it answers " + allowed,
		}, "Allow", allowed)
	}
}
