package management

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Endpoint returns the path of the route that a request would meet, with its parameters unnamed by their values, so that a
// shield may count by the endpoint (rule RL80). It is empty where no route has such a path.
func (s *Server) Endpoint(r *http.Request) string {
	c := s.echo.AcquireContext()
	defer s.echo.ReleaseContext(c)
	c.Reset(r, nil)
	s.echo.Router().Find(r.Method, echo.GetPath(r), c)
	return c.Path()
}
