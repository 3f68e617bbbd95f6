package management

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// RouteInfo is a line of the route table as tests see it.
type RouteInfo struct {
	ID, Method, Path, Access, Operation string
	Query                               []string
	Secret                              bool
}

// Routes lists the route table.
func Routes() []RouteInfo {
	table := routes()
	list := make([]RouteInfo, len(table))
	for i := range table {
		rt := &table[i]
		list[i] = RouteInfo{rt.id, rt.method, rt.path, string(rt.access), rt.operation, rt.query, rt.secret}
	}
	return list
}

// Statuses is the table from codes to statuses.
func Statuses() map[mockbase.Code]int { return statusTable() }

// RegisterWithoutAccess registers a route that says not who may call it.
func RegisterWithoutAccess() error {
	s := &Server{echo: echo.New()}
	return s.register([]route{{method: http.MethodGet, path: "/open", operation: "open", handle: (*Server).health}})
}

// PanicAt makes a server panic in the handler of an address, below its checks.
func PanicAt(s *Server, path string, cause any) {
	s.echo.GET(path, func(echo.Context) error { panic(cause) })
}

// CutText exposes how a long text is cut in a list.
func CutText(text string) string { return cutText(text) }

// ReadCursor tells whether a text is a cursor for a list sorted by name.
func ReadCursor(text string) error {
	_, err := readCursor(text, "name")
	return err
}

// Quality is the weight that an Accept field gives a media type.
func Quality(accepted, offer string) float64 { return quality(accepted, offer) }

// Merge applies a merge patch to a JSON text.
func Merge(target, patch []byte) (string, error) {
	t, err := stored(target)
	if err != nil {
		return "", err
	}
	p, err := stored(patch)
	if err != nil {
		return "", err
	}
	return string(merge(t, p).JSON()), nil
}
