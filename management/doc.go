// Package management is the administrative HTTP API: accounts, projects, mocks and traffic, with the probes and the
// documents around it.
//
// # Routes
//
// One table, in routes.go, names every route with its rights. The router, the checks before a handler and the API
// document are held to it; a route without rights cannot be registered (rule M-22).
//
// # Order of checks
//
// A request passes the limiter, then the route is found, then [Server] checks media types, host and origin, the
// credential, whether the caller sees the project, the role, whether the object exists, and the query, in this order;
// the first step that fails answers and nothing later runs (rule M-7). A handler then checks preconditions and reads the
// body.
//
// # Errors
//
// Handlers return errors. One table says which status a [mockbase.Code] has, and one function writes the problem
// (problem.go). What is no [mockbase.Error] is logged under the request id and answered with 500, without a reason.
package management
